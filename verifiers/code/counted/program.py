"""Runs programs in a small part of Python and counts what they do; for the sandbox.

A program is turned into closures over an allow-list of syntax (statements.py, expressions.py): nothing
that it says becomes Python code, so it has no way to reach the counter, other modules or the
interpreter's own objects. There are no attributes (but methods of texts, lists, dicts and sets that
stand in methods.py), imports, classes, exceptions, generators by `yield`, floats or names that begin
with `__`. Values are None, truth values, whole numbers, texts, lists, tuples, dicts, sets, ranges and
functions.

Each node of the syntax tree that is evaluated counts one step, and whatever touches many items or
characters at once counts one for each (library.py). Steps bound time and memory: a program is
stopped at its limit. What is left to the sandbox: time for colliding hashes.
This folder uses only the standard library, since it is sent into the sandbox.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.scope import Scope
from verigym.verifiers.code.counted.state import CallFrame, FailedProgram, Function, RefusedProgram
from verigym.verifiers.code.counted.statements import Compiler


def load(machine: Machine, source: str) -> CallFrame:
    """Run the top level of a program. Raises RefusedProgram, FailedProgram."""
    try:
        tree = ast.parse(source)
        scope = Scope(None)
        scope.declare(tree.body)
        body = Compiler(machine).block(tree.body, scope)
    except (SyntaxError, ValueError, MemoryError) as error:
        raise RefusedProgram(f"it does not parse: {type(error).__name__}") from error
    except RecursionError as error:
        raise RefusedProgram("it is nested too deep") from error
    frame = CallFrame(None)
    _run(machine, lambda: body(frame))
    return frame


def call_named(machine: Machine, frame: CallFrame, name: str, args: list[Any]) -> Any:
    """Call the function `name` of a loaded program and return its result. Raises
    FailedProgram."""
    function = frame.names.get(name)
    if not isinstance(function, Function):
        raise FailedProgram(f"there is no function {name}")
    return _run(machine, lambda: machine.call(function, args, {}))


def _run(machine: Machine, run: Callable[[], Any]) -> Any:
    machine.meter.depth = 0
    try:
        return run()
    except RecursionError as error:
        raise FailedProgram("calls or values are nested too deep") from error
    except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as error:
        raise FailedProgram(f"{type(error).__name__}: {str(error)[:100]}") from error
