"""Commands of an agent that explores a database, and how results are shown to it.

A command stands in tags, one in each reply: `<tables></tables>`, `<describe>TABLE</describe>`,
`<query>SELECT ...</query>`, `<answer>...</answer>`. Two in one reply are none: the second would be
guessed before the first was seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from verigym.env import CHARSET

if TYPE_CHECKING:
    from sqlglot import exp

    from verigym.verifiers.sql.engine import Rows
    from verigym.verifiers.sql.schema import Schema

    class Engine(Protocol):
        """Part of the engine of `sql/query` that is needed here."""

        def printed(self, tree: exp.Expr) -> str:
            """Return the query in the engine's words."""

        def run(self, sql: str) -> tuple[Sequence[str], Rows]:
            """Return the names and rows of a result."""


SHOWN_ROWS = 20
MAX_ROWS = 2000
"""A query that gives more is refused rather than cut."""
SHOWN_CHARS = 30_000
"""More than 20 rows of 20 full cells; only a wider result is cut below the rows that the prompt promises."""
CELL_CHARS = 60
NOW = "2024-02-15 12:00:00"
"""The moment that now() and its kin mean, as `sql/query` has it."""

HELP = "Give one command in each reply: {}."

_COMMAND = re.compile(
    r"<(tables|describe|query|answer)>(.*?)</\1>|<(tables) ?/>", re.IGNORECASE | re.DOTALL
)
_FENCES = re.compile(r"^\s*```\w*\s*|\s*```\s*$")

_MOMENTS = frozenset({"datetime", "time", "julianday", "unixepoch"})
_WITHOUT_MOMENT = frozenset({"subsec", "subsecond"})
_ZONES = frozenset({"localtime", "utc"})


@dataclass(frozen=True)
class Command:
    """`name` is tables, describe, query or answer."""

    name: str
    text: str


def read_command(action: str) -> Command | None:
    """Return the one command of a reply, or None."""
    found = _COMMAND.findall(action)
    if len(found) != 1:
        return None
    name, text, bare = found[0]
    return Command((name or bare).lower(), _FENCES.sub("", text).strip())


def run_query(
    text: str,
    schema: Schema,
    dialect: str,
    engine: Engine,
    admit: Callable[[exp.Expr, str], None] = lambda tree, printed: None,
) -> tuple[str, bool]:
    """Run a query and return what is shown, and True if it ran; gated and translated as in `sql/query`. `admit` is given the
    query before it runs, and its text for the engine; it may raise what an engine raises."""
    from sqlglot import exp

    from verigym.verifiers.sql.engine import QueryFailed
    from verigym.verifiers.sql.read import RefusedQuery, read_query
    from verigym.verifiers.sql.translate import Untranslatable

    try:
        query = read_query(text, dialect, schema, NOW)
        if query.tree.find(exp.TableSample):
            raise RefusedQuery("refused_syntax", "samples are refused: no two runs agree")
        for call in query.tree.find_all(exp.Anonymous):
            if _depends_on_machine(call.name.lower(), [arg.name for arg in call.expressions]):
                raise RefusedQuery("refused_syntax", f"{call.name} without a moment is refused")
        printed = engine.printed(query.tree)
        admit(query.tree, printed)
        names, rows = engine.run(printed)
    except (RefusedQuery, Untranslatable, QueryFailed) as error:
        return plain(f"The query failed: {error}."), False
    return as_text(names, rows), True


def _depends_on_machine(name: str, args: list[str]) -> bool:
    """Return True if a function asks the clock, the time zone or the engine's version, as far as can be seen:
    a text that becomes 'now' as it is put together is not."""
    if name in _MOMENTS:
        return not args or args[0] in _WITHOUT_MOMENT or bool(_ZONES & set(args))
    return name.startswith("sqlite_") or name == "version"


def as_text(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a result with its header, at most `SHOWN_ROWS` rows and `SHOWN_CHARS` characters."""
    lines = [_line(names)]
    size = 0
    for row in rows[:SHOWN_ROWS]:
        line = _line(row)
        size += len(line)
        if size > SHOWN_CHARS:
            break
        lines.append(line)
    shown = len(lines) - 1
    told = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    lines.append(f"({told})" if shown == len(rows) else f"({told}, the first {shown} shown)")
    return plain("\n".join(lines))


def plain(text: str) -> str:
    """Return `text` within the characters that observations may have."""
    return "".join(c if c in CHARSET else "?" for c in text)


def _line(cells: Iterable[Any]) -> str:
    return " | ".join(map(_cell, cells))


def _cell(cell: Any) -> str:
    text = "NULL" if cell is None else cell.hex() if isinstance(cell, bytes) else str(cell)
    text = " ".join(text[: 4 * CELL_CHARS].split())
    return text if len(text) <= CELL_CHARS else f"{text[:CELL_CHARS]}..."
