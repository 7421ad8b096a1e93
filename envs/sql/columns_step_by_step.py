"""Columns of a report in which what becomes of a row depends on the rows before it: spells with a tolerance, days covered,
a tank that fills and runs empty, events that keep apart.

The last two have no closed form over a window; they take a query that goes from row to row.
"""

from __future__ import annotations

from verigym.envs.sql.kinds import COMPARED, IS, Choice, Kind, Option

_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
_IN_ORDER = "in order of {d.day}, and of id on the same day"
_BY_DAY = "ORDER BY e.{d.day}, e.id"
_SAME: Choice = (
    Option("all its {d.thing_words} together", "o.id"),
    Option("each of its {d.thing_words} on its own", "t.id"),
)

SPELLS = Kind(
    name="spells",
    question="take {same}, with their {d.event_words} whose {d.amount} is {amount} {c.amount} in order of {d.day}, and "
    "begin a new spell with the first one and with each that comes {near} days after the one before it: {what}; 0 if "
    "there is none",
    query="(SELECT COALESCE({what}, 0) FROM (SELECT COUNT(*) AS n, SUM(v) AS w, MAX(d) - MIN(d) AS l FROM (SELECT s, d, v, "
    "SUM(b) OVER (PARTITION BY s ORDER BY d, i) AS g FROM (SELECT {same} AS s, e.id AS i, e.{d.amount} AS v, "
    "CAST(julianday(e.{d.day}) AS INTEGER) AS d, CASE WHEN julianday(e.{d.day}) - julianday(LAG(e.{d.day}) OVER "
    f"(PARTITION BY {{same}} {_BY_DAY})) {{near}} THEN 0 ELSE 1 END AS b {_EVENTS} "
    "AND e.{d.amount} {amount} {c.amount})) GROUP BY s, g))",
    steps=17,
    choices={
        "same": _SAME,
        "amount": COMPARED,
        "near": (Option("more than 30", "<= 30"), Option("30 or more", "< 30")),
        "what": (
            Option("the number of spells", "COUNT(*)"),
            Option("the largest number of {d.event_words} in one spell", "MAX(n)"),
            Option("the largest total {d.amount} of one spell", "MAX(w)"),
            Option("the largest number of days from the first to the last of one spell", "MAX(l)"),
        ),
    },
)
COVER = Kind(
    name="cover",
    question="each of the {d.event_words} of its {d.thing_words} whose {d.amount} is {amount} {c.amount} goes on for {long} "
    "days, of which its {d.day} is the first: {what}; 0 if there are none",
    query="(SELECT COALESCE({what}, 0) FROM (SELECT d, {long} AS z, LAG(d) OVER (ORDER BY d, i) AS x, "
    "LEAD(d) OVER (ORDER BY d, i) AS y, COUNT(*) OVER (ORDER BY d RANGE BETWEEN {long_tail} PRECEDING AND CURRENT ROW) AS n "
    f"FROM (SELECT e.id AS i, CAST(julianday(e.{{d.day}}) AS INTEGER) AS d {_EVENTS} "
    "AND e.{d.amount} {amount} {c.amount})))",
    steps=17,
    choices={
        "amount": COMPARED,
        "long": (Option("31", "31", "30"), Option("30", "30", "29"), Option("61", "61", "60")),
        "what": (
            Option(
                "the number of days on which at least one of them goes on",
                "SUM(CASE WHEN y - d < z THEN y - d ELSE z END)",
            ),
            Option(
                "the number of days on which at least two of them go on",
                "SUM(CASE WHEN x IS NULL OR x + z <= d THEN 0 WHEN y < x + z THEN y - d ELSE x + z - d END)",
            ),
            Option("the largest number of them that go on on one day", "MAX(n)"),
        ),
    },
)
_NUMBERED = (
    "WITH RECURSIVE q(i, s, v) AS (SELECT ROW_NUMBER() OVER ("
    f"{_BY_DAY}), CASE WHEN t.{{d.kind}} {{sort}} '{{c.kind}}' THEN 1 ELSE 0 END, e.{{d.amount}} {_EVENTS})"
)
_FILLS = "CASE WHEN q.s = 1 THEN CASE WHEN r.h + q.v > {c.total} THEN r.h + q.v - {c.total} ELSE 0 END ELSE 0 END"
_LACKS = "CASE WHEN q.s = 0 THEN CASE WHEN q.v > r.h THEN q.v - r.h ELSE 0 END ELSE 0 END"
TANK = Kind(
    name="tank",
    question=f"a tank that holds {{c.total}} is empty at first. Go through the {{d.event_words}} of its {{d.thing_words}} "
    f"{_IN_ORDER}. Those of {{d.thing_words}} whose {{d.kind}} {{sort}} '{{c.kind}}' pour their {{d.amount}} in, and what "
    "does not fit is lost; the others draw their {d.amount}, or all that is there if that is less: {what}",
    query=f"({_NUMBERED}, r(i, h, a, b, m) AS (SELECT 0, 0, 0, 0, 0 UNION ALL SELECT q.i, "
    f"CASE WHEN q.s = 1 THEN r.h + q.v - ({_FILLS}) ELSE r.h - q.v + ({_LACKS}) END, r.a + {_FILLS}, r.b + {_LACKS}, "
    "r.m + CASE WHEN q.s = 0 AND q.v >= r.h THEN 1 ELSE 0 END FROM r JOIN q ON q.i = r.i + 1) SELECT {what})",
    steps=22,
    choices={
        "sort": IS,
        "what": (
            Option(
                "what is in the tank at the end, 0 if nothing is",
                "h FROM r ORDER BY i DESC LIMIT 1",
            ),
            Option("the total that is lost, 0 if nothing is", "MAX(a) FROM r"),
            Option("the total that is asked for in vain, 0 if nothing is", "MAX(b) FROM r"),
            Option("the highest that the tank ever holds, 0 if it stays empty", "MAX(h) FROM r"),
            Option("how many of those that draw leave it empty", "MAX(m) FROM r"),
        ),
    },
)
_NEXT = (
    "(SELECT e.id "
    f"{_EVENTS} AND e.{{d.amount}} {{amount}} {{c.amount}}{{after}} ORDER BY e.{{d.day}}, e.id LIMIT 1)"
)
APART = Kind(
    name="apart",
    question="of the {d.event_words} of its {d.thing_words} whose {d.amount} is {amount} {c.amount}, pick the earliest, then "
    "always the earliest one that is {gap} days after the one picked last, as long as there is one (on the same day the "
    "one with the lowest id): {what}",
    query=f"(WITH RECURSIVE r(i) AS (SELECT {_NEXT.replace('{after}', '')} UNION ALL SELECT "
    + _NEXT.replace("{after}", " AND e.{d.day} {gap}")
    + " FROM r JOIN {d.event} x ON x.id = r.i) SELECT {what} FROM r JOIN {d.event} x ON x.id = r.i)",
    steps=18,
    choices={
        "amount": COMPARED,
        "gap": (
            Option("at least 60", ">= date(x.{d.day}, '+60 days')"),
            Option("more than 60", "> date(x.{d.day}, '+60 days')"),
            Option("at least 30", ">= date(x.{d.day}, '+30 days')"),
        ),
        "what": (
            Option("the number of those picked", "COUNT(*)"),
            Option(
                "the total {d.amount} of those picked; null if there are none", "SUM(x.{d.amount})"
            ),
            Option("the {d.day} of the last one picked; null if there are none", "MAX(x.{d.day})"),
        ),
    },
)
