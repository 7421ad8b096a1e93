"""`Program`: runs programs of the library's own in this process, step by step, without handing them to Python.

`code/predict` takes its answers from it, `code/repair` uses it to find out if a changed program still behaves
as it should, and solvers (traced.py) count their operations by it. It is the verifiers' step-counting
interpreter (verifiers/code/counted) with another library (known_python.py) and more syntax: input and output,
starred items, slices as values, f-strings, `del` of an item, a few imports and `@cache`. Steps, sizes of
numbers and lengths are bounded. It is for programs that are written or changed here; programs of a policy run
in the sandbox alone.
"""

from __future__ import annotations

import ast
import bisect
import functools
import heapq
import itertools
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.code.known_python import KNOWN, MAX_ITEMS, check_items, check_size
from verigym.verifiers.code.counted.library import ProgramLibrary
from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.scope import Scope, refuse
from verigym.verifiers.code.counted.state import (
    CallFrame,
    Evaluate,
    Function,
    Meter,
    RefusedProgram,
)
from verigym.verifiers.code.counted.statements import Compiler

_UNBOUNDED = 1 << 62
_MODULES: dict[str, dict[str, Any]] = {
    "collections": {"Counter": Counter, "deque": deque},
    "functools": {"cache": functools.cache, "cmp_to_key": functools.cmp_to_key},
    "bisect": {"bisect_left": bisect.bisect_left},
    "heapq": {name: getattr(heapq, name) for name in ("heapify", "heappop", "heappush")},
    "itertools": {"combinations": itertools.combinations},
    "math": {"gcd": math.gcd, "lcm": math.lcm},
}


class Program(Machine):
    """A program, which finds `constants` defined. It may run several times, each time from its start.

    `run()` and `call_named()` raise RefusedProgram, OutOfSteps, or what the program failed with, one of
    FAILURES (known_python.py). A step is a statement, an expression, or a round of a loop; functions and
    methods of the library take none.
    """

    max_depth: ClassVar[int] = 40
    """So that Python's own stack has room."""

    def __init__(
        self,
        tree: ast.Module,
        constants: Mapping[str, int | str] | None = None,
        *,
        library: ProgramLibrary = KNOWN,
        is_watched: bool = False,
    ) -> None:
        super().__init__(library, _UNBOUNDED)
        self.builtins = {**library.functions, "print": self._print, "input": self._input}
        self.printed = ""
        self.seen = Meter(0)
        self.looks: Counter[ast.AST] | None = Counter() if is_watched else None
        """Number of times that each statement and expression was evaluated, but for constants and names."""
        self._constants = dict(constants or {})
        self._lines: Iterator[str] = iter(())
        self._frame = CallFrame(None)
        scope = Scope(None)
        scope.names.update(self._constants)
        scope.declare(tree.body)
        self._body = _Compiler(self).block(tree.body, scope)

    @property
    def steps(self) -> int:
        """Number of steps of the last run."""
        return self.seen.used

    def run(self, stdin: str = "", most_steps: int = 20_000) -> None:
        """Run the program."""
        self.printed = ""
        self.seen.used, self.seen.limit, self.meter.depth = 0, most_steps, 0
        if self.looks is not None:
            self.looks.clear()
        self._lines = iter(stdin.removesuffix("\n").split("\n") if stdin else ())
        self._frame.names = dict(self._constants)
        self._body(self._frame)

    def call_named(self, name: str, *args: Any) -> Any:
        """Call a function that the program has defined, in the same run."""
        return self.call(self._frame.names[name], list(args), {})

    @override
    def call(self, function: Any, args: list[Any], named: Mapping[str, Any]) -> Any:
        if not callable(function):
            raise TypeError("it cannot be called")
        for one in args:
            check_items(len(one) if isinstance(one, range) else 0)
        if isinstance(function, Function):
            found = super().call(function, args, named)
        else:
            found = function(*args, **named)
        check_size(found)
        return found

    @override
    def items(self, value: Any) -> Iterator[Any]:
        return iter(value)

    def method(self, holder: Any, name: str) -> Callable[..., Any]:
        """Return a function that calls a method of `holder`."""
        known = self.library.methods.get(type(holder), {})
        if name in known:
            return partial(known[name], holder)
        if known and hasattr(holder, name):
            raise RefusedProgram(f"the method {name} is not available")
        raise AttributeError(name)

    def _print(self, *values: Any, sep: str = " ", end: str = "\n") -> None:
        self.printed += sep.join(map(str, values)) + end
        check_items(len(self.printed))

    def _input(self) -> str:
        line = next(self._lines, None)
        if line is None:
            raise EOFError("no more input")
        return line


class _Callable(Function):
    """A function of the program that functions of the library may call."""

    __slots__ = ("machine",)
    machine: Machine

    def __call__(self, *args: Any) -> Any:
        return self.machine.call(self, list(args), {})


class _Compiler(Compiler):
    """More syntax, and a step for each node. What is not available is refused when it is reached."""

    machine: Program

    def __init__(self, machine: Program) -> None:
        super().__init__(machine)
        self.spend_round = machine.seen.spend

    @override
    def statement(self, node: ast.stmt, scope: Scope) -> Evaluate:
        return self._stepped("do_", node, scope)

    @override
    def expression(self, node: ast.expr, scope: Scope) -> Evaluate:
        return self._stepped("get_", node, scope)

    def _stepped(self, prefix: str, node: ast.AST, scope: Scope) -> Evaluate:
        kind = type(node)
        try:
            compile = getattr(self, prefix + kind.__name__, None)
            if compile is None:
                raise refuse(node)
            evaluate: Evaluate = compile(node, scope)
        except RefusedProgram as error:
            evaluate = _raising(error)
        seen, looks = self.machine.seen, self.machine.looks
        if looks is None or kind is ast.Constant or kind is ast.Name:

            def run(frame: CallFrame) -> Any:
                seen.used += 1
                if seen.used > seen.limit:
                    seen.spend(0)
                return evaluate(frame)

            return run

        def run_watched(frame: CallFrame) -> Any:
            looks[node] += 1
            seen.spend(1)
            return evaluate(frame)

        return run_watched

    # Statements.

    @override
    def do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> Evaluate:
        # Who does it by hand looks at the place twice: to read it, and to write it.
        read, value = self.expression(node.target, scope), self.expression(node.value, scope)
        put, operate, meter = (
            self.target(node.target, scope),
            self.operator(node.op, node),
            self.meter,
        )

        def run(frame: CallFrame) -> None:
            put(frame, operate(meter, read(frame), value(frame)))

        return run

    def do_Delete(self, node: ast.Delete, scope: Scope) -> Evaluate:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            raise refuse(node)
        holder = self.expression(target.value, scope)
        place = self.expression(target.slice, scope)

        def run(frame: CallFrame) -> None:
            del holder(frame)[place(frame)]

        return run

    @override
    def do_FunctionDef(self, node: ast.FunctionDef, scope: Scope) -> Evaluate:
        names = [one.id for one in node.decorator_list if isinstance(one, ast.Name)]
        if not node.decorator_list or names != ["cache"]:
            return super().do_FunctionDef(node, scope)
        define = super().do_FunctionDef(ast.FunctionDef(node.name, node.args, node.body, []), scope)

        def run(frame: CallFrame) -> None:
            define(frame)
            frame.names[node.name] = functools.cache(frame.names[node.name])

        return run

    def do_Import(self, node: ast.Import, scope: Scope) -> Evaluate:
        if [one.name for one in node.names] != ["re"]:
            raise refuse(node)
        return self._bind({"re": re}, scope)

    def do_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> Evaluate:
        module = _MODULES.get(str(node.module), {})
        if not all(one.name in module and one.asname is None for one in node.names):
            raise refuse(node)
        return self._bind({one.name: module[one.name] for one in node.names}, scope)

    def _bind(self, values: dict[str, Any], scope: Scope) -> Evaluate:
        scope.names.update(values)
        return lambda frame: frame.names.update(values)

    @override
    def function(
        self, name: str, args: ast.arguments, inner: Scope, scope: Scope, node: ast.AST
    ) -> Callable[[CallFrame, Evaluate], Function]:
        make = super().function(name, args, inner, scope, node)

        def define(frame: CallFrame, body: Evaluate) -> Function:
            made = make(frame, body)
            found = _Callable(made.name, made.params, made.defaults, made.body, made.frame)
            found.machine = self.machine
            return found

        return define

    @override
    def target(self, node: ast.expr, scope: Scope) -> Callable[[CallFrame, Any], None]:
        if not isinstance(node, ast.Tuple | ast.List):
            return super().target(node, scope)
        parts = node.elts
        rest = bool(parts) and isinstance(parts[-1], ast.Starred)
        puts = [
            self.target(one.value if isinstance(one, ast.Starred) else one, scope) for one in parts
        ]

        def put_each(frame: CallFrame, value: Any) -> None:
            items = list(islice(value, MAX_ITEMS + 1))
            check_items(len(items))
            if rest and len(items) >= len(puts) - 1:
                items[len(puts) - 1 :] = [items[len(puts) - 1 :]]
            for put, item in zip(puts, items, strict=True):
                put(frame, item)

        return put_each

    # Expressions.

    @override
    def get_Constant(self, node: ast.Constant, scope: Scope) -> Evaluate:
        value = node.value
        return lambda frame: value

    @override
    def get_Name(self, node: ast.Name, scope: Scope) -> Evaluate:
        try:
            return super().get_Name(node, scope)
        except RefusedProgram:
            return _raising(NameError(node.id))

    @override
    def get_Subscript(self, node: ast.Subscript, scope: Scope) -> Evaluate:
        holder, place = self.expression(node.value, scope), self.expression(node.slice, scope)
        return lambda frame: holder(frame)[place(frame)]

    def get_Slice(self, node: ast.Slice, scope: Scope) -> Evaluate:
        parts = [
            _nothing if bound is None else self.expression(bound, scope)
            for bound in (node.lower, node.upper, node.step)
        ]
        return lambda frame: slice(*(part(frame) for part in parts))

    def get_Attribute(self, node: ast.Attribute, scope: Scope) -> Evaluate:
        """A method that is handed on, such as `votes.get`."""
        holder, name, machine = self.expression(node.value, scope), node.attr, self.machine
        return lambda frame: machine.method(holder(frame), name)

    def get_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Evaluate:
        values = self.values(node.values, scope)
        return lambda frame: "".join(map(str, values(frame)))

    def get_FormattedValue(self, node: ast.FormattedValue, scope: Scope) -> Evaluate:
        value = self.expression(node.value, scope)
        if node.format_spec is None:
            return lambda frame: format(value(frame))
        spec = self.expression(node.format_spec, scope)

        def get(frame: CallFrame) -> str:
            wanted = spec(frame)
            return format(value(frame), wanted)

        return get

    @override
    def values(self, nodes: list[ast.expr], scope: Scope) -> Evaluate:
        parts = [
            (self.expression(node.value, scope), True)
            if isinstance(node, ast.Starred)
            else (self.expression(node, scope), False)
            for node in nodes
        ]
        if not any(is_starred for _, is_starred in parts):
            plain = [part for part, _ in parts]
            return lambda frame: [part(frame) for part in plain]

        def get(frame: CallFrame) -> list[Any]:
            found: list[Any] = []
            for part, is_starred in parts:
                if is_starred:
                    found.extend(islice(part(frame), MAX_ITEMS + 1))
                    check_items(len(found))
                else:
                    found.append(part(frame))
            return found

        return get

    @override
    def arguments(self, node: ast.Call, scope: Scope) -> Evaluate:
        return self.values(node.args, scope)

    @override
    def method_call(
        self, node: ast.Attribute, args: Evaluate, named: Mapping[str, Evaluate], scope: Scope
    ) -> Evaluate:
        holder, name, machine = self.expression(node.value, scope), node.attr, self.machine

        def get(frame: CallFrame) -> Any:
            thing = holder(frame)
            method = machine.method(thing, name)
            found = machine.call(method, args(frame), {k: v(frame) for k, v in named.items()})
            check_size(thing)
            return found

        return get


def _nothing(frame: CallFrame) -> None:
    """Return the value of a bound that a slice does not have."""


def _raising(error: Exception) -> Evaluate:
    def get(frame: CallFrame) -> Any:
        raise error

    return get
