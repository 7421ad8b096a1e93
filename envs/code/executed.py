"""`Execution`: runs generated programs of the library's own in Python itself, and counts their steps.

The interpreter of `follow.py` knows no classes, generators or exceptions; the long programs of `code/predict`
have them. A step is a statement or an expression that is evaluated, but for constants and names, as solvers
(traced.py) count them: the program's syntax tree is changed so that each of them is counted. The number of
steps is bounded. Only what is generated here may come here, never what a policy wrote or a task file holds.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType
from typing import Any, TypeVar

from typing_extensions import override

from verigym.verifiers.code.counted.state import OutOfSteps

_STATEMENT, _EXPRESSION = "_count_statement", "_count_expression"
_UNCOUNTED = (ast.Constant, ast.Name, ast.Starred, ast.Slice, ast.FormattedValue)

_Value = TypeVar("_Value")


class Execution:
    """A program, which may run several times, each time from its start; `steps` counts those of the last run.

    It is given as the source of its last function, and before it parts, each with the values of names of its own.
    """

    def __init__(
        self,
        source: str,
        parts: Sequence[tuple[str, Mapping[str, Any]]] = (),
        most_steps: int = 20_000,
    ) -> None:
        self.steps = 0
        self._left, self._most_steps = 0, most_steps
        self._parts = [(_compiled_part(text), values) for text, values in parts]
        self._code = _compiled(source)

    def call(self, function: str, *args: Any) -> Any:
        """Run the program and call one of its functions. Raises OutOfSteps, or what the program fails with."""
        self.steps, self._left = 0, self._most_steps
        names = self._counters()
        for code, values in self._parts:
            own = {**self._counters(), **values}
            exec(code, own)  # noqa: S102 - a source of ours
            names.update(own)
        exec(self._code, names)  # noqa: S102 - generated here
        return names[function](*args)

    def _counters(self) -> dict[str, Any]:
        return {"__name__": "program", _STATEMENT: self._count, _EXPRESSION: self._pass_on}

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._left:
            # Blocks that run in the end go on unhindered.
            self._left = sys.maxsize
            raise OutOfSteps(f"it took more than {self._most_steps} steps")

    def _pass_on(self, value: _Value) -> _Value:
        self.steps += 1
        return value


def _compiled(source: str) -> CodeType:
    tree = _Counting().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), "program", "exec", dont_inherit=True)


_compiled_part = cache(_compiled)


class _Counting(ast.NodeTransformer):
    """Puts a call before each statement and around each expression."""

    @override
    def generic_visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [part for one in block for part in (_call(_STATEMENT), one)])
        if not isinstance(node, ast.expr) or isinstance(node, _UNCOUNTED):
            return node
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        return _call(_EXPRESSION, node).value

    def visit_Call(self, node: ast.Call) -> Any:
        """Count a call of a method as one, with no step for the method's name."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
            node.args = [self.visit(one) for one in node.args]
            node.keywords = [self.visit(one) for one in node.keywords]
            return _call(_EXPRESSION, node).value
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """Count a text with fields as one."""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return _call(_EXPRESSION, node).value


def _call(name: str, *args: ast.expr) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), list(args), []))
