"""Draw who imports whom, read from the code, into the page docs/architecture.md.

    python -P docs/architecture.py

A folder is a box, an import an arrow. `verigym` is drawn as three boxes: the contracts, the client and
the command line. Covers: imports at module level, under TYPE_CHECKING and in functions. Does not cover:
plug-ins, which the registry finds by entry points, and programs that are started as processes.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- picture: begin -->", "<!-- picture: end -->"
FOLDERS = ("verigym", "sandbox", "verifiers", "envs", "agents", "trainers", "server")
BOXES = {
    "verigym": "verigym/<br/>contracts",
    "verigym/client": "verigym/client/<br/>HTTP client",
    "verigym/cli": "verigym/cli/<br/>command line",
    "sandbox": "sandbox/<br/>untrusted programs",
    "verifiers": "verifiers/<br/>verdicts, worker processes",
    "envs": "envs/<br/>environments",
    "agents": "agents/<br/>policies, episode loop",
    "trainers": "trainers/<br/>credit, losses, training",
    "server": "server/<br/>HTTP service",
}


class Import(NamedTuple):
    """One name that a file imports."""

    module: str
    """The module with the name behind it: `verigym.task.Task` for `from verigym.task import Task`."""
    line: int
    at_import: bool
    """False in a function and under `if TYPE_CHECKING`."""


@cache
def read_imports(path: Path) -> tuple[Import, ...]:
    """Return everything that a file imports. Raises ValueError for a relative import."""
    found = []
    for node, at_import in _statements(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{path}:{node.lineno}: a relative import")
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [Import(name, node.lineno, at_import) for name in names]
    return tuple(found)


def _statements(node: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the statements in `node`, and True for those that run when the module is imported."""
    yield node, at_import
    # What stands under `if TYPE_CHECKING:` is never run.
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ):
        at_import = False
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        inside = getattr(node, block, ())
        for inner in inside if isinstance(inside, list) else ():
            yield from _statements(inner, at_import)


def find_modules() -> dict[str, Path]:
    """Map the name of every module of the package to its file."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join(parts if folder == "verigym" else ("verigym", *parts))] = path
    return found


def read_arrows() -> dict[str, dict[str, bool]]:
    """Map each module to the modules of the package that it imports, True if at module level."""
    modules = find_modules()
    arrows: dict[str, dict[str, bool]] = {}
    for name, path in modules.items():
        mine = arrows[name] = {}
        for found in read_imports(path):
            whole = found.module
            target = whole if whole in modules else whole.rpartition(".")[0]
            if target in modules and target != name:
                mine[target] = mine.get(target, False) or found.at_import
    return arrows


def draw() -> str:
    """Return the Mermaid picture: solid arrows for imports at module level, dotted ones for others."""
    modules, between = find_modules(), {}
    for name, targets in read_arrows().items():
        for target, at_import in targets.items():
            arrow = (box_of(modules[name]), box_of(modules[target]))
            if arrow[0] != arrow[1]:
                between[arrow] = between.get(arrow, False) or at_import
    boxes = list(BOXES)
    lines = ["```mermaid", "flowchart BT"]
    lines += [f'    {_node(box)}["{text}"]' for box, text in BOXES.items()]
    for start, end in sorted(between, key=lambda arrow: tuple(map(boxes.index, arrow))):
        line = "-->" if between[start, end] else "-.->"
        lines.append(f"    {_node(start)} {line} {_node(end)}")
    return "\n".join([*lines, "```"])


def box_of(path: Path) -> str:
    """Return the box of the picture that a file belongs to."""
    parts = path.relative_to(ROOT).parts
    inner = "/".join(parts[:2])
    return inner if inner in BOXES else parts[0]


def insert(page: str, picture: str) -> str:
    """Return the page with `picture` between its two markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{picture}\n{END}{after}"


def _node(box: str) -> str:
    return box.rpartition("/")[2]


if __name__ == "__main__":
    PAGE.write_text(insert(PAGE.read_text(encoding="utf-8"), draw()), encoding="utf-8")
    sys.stdout.write(f"wrote the picture in {PAGE.relative_to(ROOT)}\n")
