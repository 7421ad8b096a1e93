"""Slips in a query over the tables of an old system: what a note or a column asks for, nearly.

A slip does not swap one reading for another, as a twin does, but breaks how parts of the query act together: a filter
within a subquery that belongs outside it, a factor inside a bracket, a null in place of a 0. Each is a text of the right
query and what stands in its place; where the text is missing, the slip cannot be made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from verigym.envs.sql.domains import Domain
from verigym.envs.sql.notes import AS_OF


@dataclass(frozen=True)
class Slip:
    """A pattern, and the replacement of its first match, as `re.sub` takes it."""

    name: str
    pattern: str
    replacement: str

    def made(self, query: str) -> str:
        """Return the query with the slip; the same query if it has no place for it."""
        return re.sub(self.pattern, self.replacement, query, count=1)


def slips_for(d: Domain) -> list[Slip]:
    """Return the slips that a query about a domain may have: those against notes, then those in columns."""
    return [
        Slip("owners of unknown regions drop out", r"LEFT JOIN codes c", "JOIN codes c"),
        Slip("reversals count", r"e\.reverses_id IS NULL AND ", ""),
        Slip("earlier rows reverse", r"x\.reverses_id < x\.id", "x.reverses_id <> x.id"),
        Slip("earlier rows reverse at once", r"x\.reverses_id = e\.id AND x\.id > e\.id", "x.reverses_id = e.id"),
        Slip("filter before duplicates", r"(= e\.source_key)\)", r"\1 AND g.state <> 'X')"),
        Slip("reversals before duplicates", r"(= e\.source_key)\)", r"\1 AND g.reverses_id IS NULL)"),
        Slip("a state of the reversal", r"(x\.reverses_id = e\.id AND x\.id > e\.id)\)", r"\1 AND x.state <> 'X')"),
        Slip("the last reversal", r"MIN\(x\.id\)", "MAX(x.id)"),
        Slip("changes up to the day", rf"(WHERE h\.{d.event}_id = e\.id) ", rf"\1 AND h.made_on >= e.{d.day} "),
        Slip("units before duplicates", r"(= e\.source_key)\)", r"\1 AND g.unit = e.unit)"),
        Slip(
            "change in another unit",
            rf"(LIMIT 1\), e\.{d.amount})\) \* (u\.factor(?: \* CASE .*? END)?)",
            r"\1 * \2)",
        ),
        Slip(
            "last price of any day",
            r"(= p\.id) AND w\.valid_from <= (\S+) AND \(w\.valid_to IS NULL OR w\.valid_to (>=?) ([^)]+)\)\)",
            r"\1) AND v.valid_from <= \2 AND (v.valid_to IS NULL OR v.valid_to \3 \4)",
        ),
        Slip("price from the day after", rf"w\.valid_from <= '{AS_OF}'", f"w.valid_from < '{AS_OF}'"),
        Slip("null for none", r"COALESCE\((\w+\([nwl]\)|SUM\(CASE .*? END\)), 0\)", r"\1"),
        Slip("one middle value", r"BETWEEN n AND n \+ 2", "BETWEEN n AND n + 1"),
        Slip("a year is missing", r"'\+4 years'", "'+3 years'"),
        Slip("empty before it is", r"q\.v >= r\.h", "q.v > r.h"),
        Slip("first of any amount", rf"(r\(i\) AS \(SELECT \(SELECT .*? = o\.id) AND e\.{d.amount} \S+ \d+", r"\1"),
        Slip("itself is another", r"q\.id <> o\.id AND ", ""),
        Slip("runs go on", rf"(PARTITION BY [ot]\.id), e\.{d.amount} \S+ \d+", r"\1"),
        Slip("none has no rank", rf"LEFT JOIN {d.thing} t ON", rf"JOIN {d.thing} t ON"),
        Slip("not once each", r"COUNT\(DISTINCT t\.id\)", "COUNT(t.id)"),
        Slip("the other counter", r"OR r\.a <= r\.b", "OR r.a < r.b"),
        Slip("taken while it is full", r"x\.d - x\.b \+ x\.h", "x.d - x.b"),
        Slip("lowest since the next", r"z\.i < x\.i", "z.i <= x.i"),
        Slip("worth nothing taken", r"- COALESCE\(SUM\(n\), 0\)", "- SUM(n)"),
        Slip("things run together", r"OVER \(PARTITION BY t\.id ORDER", "OVER (ORDER"),
    ]  # fmt: skip
