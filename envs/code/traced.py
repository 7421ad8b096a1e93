"""`Solver`: writes and runs programs by hand, and counts the operations: the solver of the code environments.

To write a program down takes an operation for each node of its syntax tree. To run it by hand takes one for
each statement and each expression that is evaluated, but for a constant or the name of a variable. A builtin
counts once, however much it does. Who runs a program only to see if it is right looks at the same place twice
at most: the count says how much there is to understand, not how often loops turn. Programs here are the
library's own.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from verigym.envs.code.follow import Program
from verigym.envs.code.known_python import FAILURES, KNOWN_TO_SOLVERS
from verigym.verifiers.code.counted.state import RefusedProgram

_MOST_STEPS = 300_000
"""Steps of one run; the solver looks no further."""

_LOOKS = 2
"""Times that the same place of a program is looked at in one run."""


class Solver:
    """Follows programs by hand; `operations` counts what it did so far."""

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

    def read(self, tree: ast.Module) -> Program:
        """Return the program of a syntax tree, to be run."""
        return Program(tree, library=KNOWN_TO_SOLVERS, is_watched=True)

    def run(self, program: Program, stdin: str) -> str | None:
        """Return what a program prints; None if it fails, or goes on for too long to follow."""
        try:
            program.run(stdin, _MOST_STEPS)
        except (RefusedProgram, *FAILURES):
            return None
        finally:
            self._count_looks(program, _LOOKS)
        return program.printed

    def call(
        self, program: Program, function: str, args: Sequence[Any], *, exact: bool = False
    ) -> Any:
        """Return what a function of a program returns; `...` if it fails, or goes on for too long. With
        `exact`, each evaluation counts, as the value is what is asked for."""
        try:
            program.run("", _MOST_STEPS)
            return program.call_named(function, *args)
        except (RefusedProgram, *FAILURES):
            return ...
        finally:
            self._count_looks(program, _MOST_STEPS if exact else _LOOKS)

    def _count_looks(self, program: Program, most: int) -> None:
        assert program.looks is not None
        self.operations += sum(min(count, most) for count in program.looks.values())
