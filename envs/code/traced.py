"""`Desk`: writes and runs programs by hand, and counts the operations: the solver of the code environments.

To write a program down takes an operation for each node of its syntax tree. To run it by hand takes one for
each statement and each expression that is evaluated, but for a constant or the name of a variable. A builtin
counts once, however much it does. Who runs a program only to see if it is right looks at the same place twice
at most: the count says how much there is to understand, not how often loops turn. Programs here are the
library's own.
"""

from __future__ import annotations

import ast
import functools
import heapq
import itertools
import math
import re
import types
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.code.interpret import Interpreter, TooLong, Unknown
from verigym.envs.code.known_python import FAILURES, FUNCTIONS, METHODS

_MOST_STEPS = 30_000
"""Steps of one run; the solver looks no further."""

_MODULES: dict[str, dict[str, Any]] = {
    "collections": {"Counter": Counter, "deque": deque},
    "functools": {"cache": functools.cache},
    "heapq": {name: getattr(heapq, name) for name in ("heapify", "heappop", "heappush")},
    "itertools": {"combinations": itertools.combinations},
    "math": {"gcd": math.gcd, "lcm": math.lcm},
}
_MOST_SHIFT = 1000
_LOOKS = 2
"""Times that the same place of a program is looked at in one run."""
_SKIPPED = (ast.Constant, ast.Name)


class Desk:
    """Values that a solver works with, and the number of operations done so far."""

    def __init__(self) -> None:
        self.operations = 0

    def write(self, source: str) -> ast.Module:
        """Write a program down, node by node."""
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if not isinstance(node, ast.expr_context):
                self.look()
        return tree

    def look(self) -> None:
        """Count one operation."""
        self.operations += 1

    def run(self, tree: ast.Module, stdin: str) -> str | None:
        """Return what a program prints; None if it fails, or goes on for too long to follow."""
        trace = Trace(tree, stdin, _MOST_STEPS, desk=self)
        try:
            trace.run()
        except (Unknown, TooLong, *FAILURES):
            return None
        return trace.printed

    def call(
        self, tree: ast.Module, function: str, args: Sequence[Any], *, exact: bool = False
    ) -> Any:
        """Return what a function of a program returns; `...` if it fails, or goes on for too long. With
        `exact`, each evaluation counts, as the value is what is asked for."""
        trace = Trace(tree, "", _MOST_STEPS, desk=self, exact=exact)
        try:
            trace.run()
            return trace.call(function, *args)
        except (Unknown, TooLong, *FAILURES):
            return ...


class Trace(Interpreter):
    """An interpreter that counts on a desk, and knows somewhat more of Python.

    With `exact`, each evaluation counts: the value is what is asked for.
    """

    functions: ClassVar[Mapping[str, Callable[..., Any]]] = FUNCTIONS | {
        function.__name__: function
        for function in (frozenset, isinstance, iter, next, pow, repr, round)
    }
    methods: ClassVar[Mapping[type, frozenset[str]]] = METHODS | {
        type: frozenset(["fromkeys"]),
        types.ModuleType: frozenset(["findall"]),
        Counter: METHODS[dict],
        str: METHODS[str]
        | {"ljust", "rjust", "title", "rfind", "splitlines", "isalnum", "islower"},
    }
    expressions = Interpreter.expressions | {
        ast.Attribute: lambda run, node, names: run._attribute(node, names),
        ast.DictComp: lambda run, node, names: dict(
            run._comprehended(
                ast.Tuple([node.key, node.value], ast.Load()), node.generators, dict(names)
            )
        ),
        ast.FormattedValue: lambda run, node, names: run._formatted(node, names),
        ast.JoinedStr: lambda run, node, names: "".join(
            [str(run._value(part, names)) for part in node.values]
        ),
    }

    def __init__(self, *args: Any, desk: Desk, exact: bool = False) -> None:
        super().__init__(*args)
        self._desk, self._exact = desk, exact
        self._looks: Counter[ast.AST] = Counter()

    def _look(self, node: ast.AST) -> None:
        """Count an operation, unless the place is known well enough."""
        self._looks[node] += 1
        if self._exact or self._looks[node] <= _LOOKS:
            self._desk.look()

    @override
    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        if type(node) not in _SKIPPED:
            self._look(node)
        return super()._value(node, names)

    @override
    def _statement(self, node: ast.stmt, names: dict[str, Any]) -> None:
        self._look(node)
        match node:
            case ast.Import(names=[ast.alias(name="re")]):
                names["re"] = re
            case ast.ImportFrom(module=str(module), names=wanted) if module in _MODULES:
                names.update((one.name, _MODULES[module][one.name]) for one in wanted)
            case ast.Delete(targets=[ast.Subscript(value=holder, slice=place)]):
                del self._value(holder, names)[self._value(place, names)]
            case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="cache")]):
                names[name] = functools.cache(self._function(node.args, node.body, names))
            case _:
                super()._statement(node, names)

    @override
    def _binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(op, ast.LShift | ast.RShift) and type(left) is type(right) is int:
            if not 0 <= right <= _MOST_SHIFT:
                raise Unknown("this shift")
            return left << right if isinstance(op, ast.LShift) else left >> right
        return super()._binary(op, left, right)

    def _attribute(self, node: ast.Attribute, names: dict[str, Any]) -> Any:
        """A method that is handed on, such as `votes.get`."""
        holder = self._value(node.value, names)
        if node.attr not in self.methods.get(type(holder), frozenset()):
            raise Unknown(f"the attribute {node.attr}")
        return getattr(holder, node.attr)

    def _formatted(self, node: ast.FormattedValue, names: dict[str, Any]) -> str:
        spec = self._value(node.format_spec, names) if node.format_spec else ""
        return format(self._value(node.value, names), spec)
