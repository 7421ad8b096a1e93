"""Changes of a program, made at one place of its syntax tree while all else is shared with the original.

`verifiers/code/strength/mutate.py` knows what can be changed; to make a change there takes a walk through a tree
of one's own.
"""

from __future__ import annotations

import ast
import copy
from functools import cache
from typing import Any

from verigym.verifiers.code.strength.mutate import changes, places

Path = tuple[tuple[str, int | None], ...]
"""The way from the top of a tree to a node: fields, with the place in those that are lists."""


@cache
def tree_of(body: str) -> ast.Module:
    """Return the syntax tree; shared, so not to be changed."""
    return ast.parse(body)


@cache
def places_of(body: str) -> tuple[tuple[tuple[Path, int], ...], ...]:
    """Return the possible changes, grouped by kind: the path to a node and the index of its
    change."""
    paths: list[Path] = []
    _number(tree_of(body), (), paths)
    found = places(ast.parse(body))
    return tuple(tuple((paths[at], which) for at, which in found[kind]) for kind in sorted(found))


def apart(one: Path, other: Path) -> bool:
    """Return True if neither of two nodes lies in the other."""
    return one[: len(other)] != other[: len(one)]


def changed(node: Any, path: Path, which: int) -> Any:
    """Return a tree with one change; the old one stays as it is."""
    if not path:
        own = _copied(node)
        for name, value in ast.iter_fields(own):
            if isinstance(value, ast.AST):
                setattr(own, name, _copied(value))
        return list(changes(own))[which][1]()
    (name, at), *rest = path
    own, inner = _copied(node), getattr(node, name)
    if at is None:
        setattr(own, name, changed(inner, tuple(rest), which))
    else:
        setattr(own, name, [*inner[:at], changed(inner[at], tuple(rest), which), *inner[at + 1 :]])
    return own


def _copied(node: Any) -> Any:
    own = copy.copy(node)
    for name, value in ast.iter_fields(own):
        if isinstance(value, list):
            setattr(own, name, list(value))
    return own


def _number(node: ast.AST, path: Path, paths: list[Path]) -> None:
    """The ways to all nodes in the order in which a visitor comes by."""
    paths.append(path)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, ast.AST):
                    _number(item, (*path, (name, at)), paths)
        elif isinstance(value, ast.AST):
            _number(value, (*path, (name, None)), paths)
