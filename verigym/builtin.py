"""Reads the tables of built-in environments and verifiers, one table beside each family.

A row names one environment or verifier: its id, and the module beside the table with the class in it.

    # envs/games/envs.txt
    games/keydoor-v0 = keydoor:KeyDoor

    # verifiers/games/verifiers.txt
    games/keydoor = keydoor:KeyDoorVerifier

    # verifiers/group/group_verifiers.txt
    group/majority = majority:MajorityVerifier

Modules that lie directly in `verifiers/` have their rows in `verifiers/verifiers.txt`. Reading the tables
imports nothing, and works from a zip file too.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.util import find_spec, module_from_spec
from typing import Literal, TypeAlias

from verigym.errors import TaskError

_ROW = re.compile(r"(?P<id>[\w./-]+) = (?P<target>[A-Za-z_][\w.]*:[A-Za-z_]\w*)")

Kind: TypeAlias = Literal["envs", "verifiers", "group_verifiers"]


def read_tables(kind: Kind) -> dict[str, EntryPoint]:
    """Return the rows of all tables of one kind as entry points, by id.

    Raises TaskError if a line is neither a row nor a comment, or an id has two rows.
    """
    room = f"verigym.{'envs' if kind == 'envs' else 'verifiers'}"
    spec = find_spec(room)
    assert spec is not None, f"{room} is not installed"
    top = files(module_from_spec(spec))  # the module is not executed: nothing is imported
    inner = sorted((one.name, one) for one in top.iterdir() if one.is_dir())
    families = {room: top, **{f"{room}.{name}": folder for name, folder in inner}}
    points: dict[str, EntryPoint] = {}
    for package, folder in families.items():
        table = folder / f"{kind}.txt"
        if not table.is_file():
            continue
        for line in table.read_text(encoding="utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            row = _ROW.fullmatch(line.rstrip())
            if row is None:
                raise TaskError(f"{table}: a row must read '<id> = <module>:<class>', got {line!r}")
            point = EntryPoint(row["id"], f"{package}.{row['target']}", f"verigym.{kind}")
            other = points.setdefault(point.name, point)
            if other is not point:
                raise TaskError(
                    f"{table}: {line!r}, but {point.name} is already the id of {other.value}; "
                    "choose another id, or remove one of the rows"
                )
    return points
