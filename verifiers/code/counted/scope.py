"""Scopes: the names that each part of a program binds, and the refusal of syntax that is not available."""

from __future__ import annotations

import ast

from verigym.verifiers.code.counted.state import RefusedProgram


class Scope:
    """The names that a function, lambda, comprehension or the program's top level binds."""

    def __init__(self, outer: Scope | None) -> None:
        self.outer = outer
        self.names: set[str] = set()

    def declare(self, body: list[ast.stmt]) -> None:
        """Add what the statements bind, not what functions and comprehensions in them do."""
        for node in body:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.bind(target)
            elif isinstance(node, ast.AugAssign | ast.AnnAssign):
                self.bind(node.target)
            elif isinstance(node, ast.For):
                self.bind(node.target)
                self.declare(node.body)
                self.declare(node.orelse)
            elif isinstance(node, ast.If | ast.While):
                self.declare(node.body)
                self.declare(node.orelse)
            elif isinstance(node, ast.FunctionDef):
                self.names.add(node.name)

    def bind(self, target: ast.expr) -> None:
        """Add the names that a target of an assignment binds."""
        if isinstance(target, ast.Name):
            self.names.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self.bind(one)
        elif isinstance(target, ast.Starred):
            self.bind(target.value)


def refuse(node: ast.AST, what: str = "") -> RefusedProgram:
    line = getattr(node, "lineno", 0)
    return RefusedProgram(f"line {line}: {what or type(node).__name__} is not available")
