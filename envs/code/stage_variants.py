"""The parts of `code/repo` as functions: right ones, those with a listed mistake, those with a number one off.

The sources are our own, of `envs/code/stages.py`; nothing that a model wrote comes here. A part leaves
the records that it is given as they are, and keeps nothing between calls.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from verigym.envs.code.stages import HELPERS, RepoStage

Part = Callable[[list[Any]], Any]
"""Records in, records or a report out."""
Maker = Callable[..., Part]
"""Makes the part, given the numbers that are drawn for it by name."""


@dataclass(frozen=True)
class Variants:
    """One part: the right one, one for each listed mistake, and two for each number in its source."""

    right: Maker
    mistakes: tuple[Maker, ...]
    one_off: tuple[Maker, ...]


@functools.cache
def variants(stage: RepoStage) -> Variants:
    """Return all variants of one part, compiled once."""
    whole = "\n".join([*(HELPERS[need] for need in stage.needs), stage.source])
    wrong = [stage.source.replace(old, new, 1) for old, new in stage.mistakes]
    helpers = whole.removesuffix(stage.source)
    return Variants(
        right=_maker(stage, whole),
        mistakes=tuple(_maker(stage, helpers + text) for text in wrong),
        one_off=tuple(_maker(stage, text) for text in one_off(whole, tuple(stage.draws))),
    )


def one_off(source: str, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Return `source` with each of its numbers, and of the names that stand for numbers, one less and one more."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        number = isinstance(node, ast.Constant) and type(node.value) is int
        if not (number or (isinstance(node, ast.Name) and node.id in names)):
            continue
        assert isinstance(node, ast.expr)
        at, line = node.lineno - 1, lines[node.lineno - 1]
        before, after = line[: node.col_offset], line[node.end_col_offset :]
        for change in ("- 1", "+ 1"):
            moved = f"{before}({line[node.col_offset : node.end_col_offset]} {change}){after}"
            yield "\n".join([*lines[:at], moved, *lines[at + 1 :]])


def _maker(stage: RepoStage, text: str) -> Maker:
    head = f"def make({', '.join(stage.draws)}):\n"
    program = f"{head}{textwrap.indent(text, '    ')}\n    return {stage.name}\n"
    space: dict[str, Any] = {}
    exec(compile(program, stage.name, "exec"), space)  # noqa: S102 - a source of ours
    made: Maker = space["make"]
    return made
