"""Columns of a report for which rows are put in order: medians, neighbours, running totals, runs and gaps.

They take window functions. Equal values and equal days are the trap, so each question says what becomes of them.
"""

from __future__ import annotations

from verigym.envs.sql.kinds import COMPARED, IS, JOINT, Choice, Kind, Option

_OWN = "FROM {d.thing} t WHERE t.{d.owner}_id = o.id"
_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
_IN_ORDER = "ordered by {d.day}, and by id on the same day"
_BY_DAY = "ORDER BY e.{d.day}, e.id"
_UP_OR_DOWN: Choice = (Option("highest", "DESC"), Option("lowest", "ASC"))
_SAME: Choice = (
    Option("all its {d.thing_words} together", "o.id"),
    Option("each of its {d.thing_words} on its own", "t.id"),
)

NTH = Kind(
    name="nth",
    question="the {place} {best} {d.price} of its {d.thing_words} whose {d.kind} {sort} '{c.kind}', where equal values "
    "{once}; null if there are too few",
    query=f"(SELECT {{once}}t.{{d.price}} {_OWN} AND t.{{d.kind}} {{sort}} '{{c.kind}}' "
    "ORDER BY t.{d.price} {best} LIMIT 1 OFFSET {place})",
    steps=6,
    choices={
        "place": (Option("second", "1"), Option("third", "2"), Option("fourth", "3")),
        "best": _UP_OR_DOWN,
        "sort": IS,
        "once": (
            Option("count once", "DISTINCT "),
            Option("count as often as they occur", ""),
        ),
    },
)
MEDIAN = Kind(
    name="median",
    question="the median {d.price} of its {d.thing_words} whose {d.kind} {sort} '{c.kind}' {joint} whose {d.price} is "
    "{price} {c.price} (for an even number of them, {what} the two middle values); null if there are none",
    query="(SELECT {what}(v) FROM (SELECT t.{d.price} AS v, ROW_NUMBER() OVER (ORDER BY t.{d.price}) AS i, "
    f"COUNT(*) OVER () AS n {_OWN} AND (t.{{d.kind}} {{sort}} '{{c.kind}}' {{joint}} "
    "t.{d.price} {price} {c.price})) WHERE 2 * i BETWEEN n AND n + 2)",
    steps=9,
    choices={
        "sort": IS,
        "joint": JOINT,
        "price": COMPARED,
        "what": (
            Option("the average of", "AVG"),
            Option("the lower of", "MIN"),
            Option("the higher of", "MAX"),
        ),
    },
)
MODE = Kind(
    name="mode",
    question="the {d.kind} that has the {by} its {d.thing_words} whose {d.price} is {price} {c.price}; if several "
    "share it, the alphabetically {ties} of them; null if there are none",
    query=f"(SELECT t.{{d.kind}} {_OWN} AND t.{{d.price}} {{price}} {{c.price}} GROUP BY t.{{d.kind}} "
    "ORDER BY {by}, t.{d.kind} {ties} LIMIT 1)",
    steps=7,
    choices={
        "by": (
            Option("most of", "COUNT(*) DESC"),
            Option("fewest (but at least one) of", "COUNT(*)"),
            Option("highest total {d.price} over", "SUM(t.{d.price}) DESC"),
            Option("lowest total {d.price} over", "SUM(t.{d.price})"),
        ),
        "price": COMPARED,
        "ties": (Option("first", "ASC"), Option("last", "DESC")),
    },
)
CHANGED = Kind(
    name="changed",
    question=f"take {{same}}, with their {{d.event_words}} {_IN_ORDER}: {{what}} those {{d.event_words}} that "
    "have another just {beside} them, and whose {d.amount} is {amount} that other's",
    query="(SELECT {what} FROM (SELECT e.{d.amount} AS v, "
    f"{{beside}}(e.{{d.amount}}) OVER (PARTITION BY {{same}} {_BY_DAY}) AS w {_EVENTS}) WHERE v {{amount}} w)",
    steps=9,
    choices={
        "same": _SAME,
        "what": (Option("the number of", "COUNT(*)"), Option("the total {d.amount} of", "SUM(v)")),
        "amount": COMPARED,
        "beside": (Option("before", "LAG"), Option("after", "LEAD")),
    },
)
RUNNING = Kind(
    name="running",
    question="go through the {d.event_words} of its {d.thing_words} whose {d.kind} {sort} '{c.kind}', {order}, on the "
    "same day by {ties} id, and add up {d.amount}: the {what} of the {d.event} at which the sum first is {bound} "
    "{c.total}; null if it never is",
    query="(SELECT {what} FROM (SELECT e.id AS i, e.{d.amount} AS w, e.{d.day} AS u, SUM(e.{d.amount}) OVER "
    "(ORDER BY e.{d.day} {order}, e.id {ties} ROWS UNBOUNDED PRECEDING) AS v "
    f"{_EVENTS} AND t.{{d.kind}} {{sort}} '{{c.kind}}') WHERE v {{bound}} {{c.total}} "
    "ORDER BY u {order}, i {ties} LIMIT 1)",
    steps=10,
    choices={
        "sort": IS,
        "order": (Option("from the earliest on", "ASC"), Option("from the latest back", "DESC")),
        "ties": (Option("ascending", "ASC"), Option("descending", "DESC")),
        "what": (Option("id", "i"), Option("{d.amount}", "w")),
        "bound": (Option("at least", ">="), Option("above", ">")),
    },
)
RUNS = Kind(
    name="runs",
    question=f"take {{same}}, with their {{d.event_words}} {_IN_ORDER}, and call {{d.event_words}} with {{d.amount}} "
    "{amount} {c.amount} that directly follow each other a run (one alone is a run too): {what}; 0 if there is none",
    query="(SELECT COALESCE({what}, 0) FROM (SELECT COUNT(*) AS n FROM (SELECT {same} AS s, e.{d.amount} AS v, "
    f"ROW_NUMBER() OVER (PARTITION BY {{same}} {_BY_DAY}) - ROW_NUMBER() OVER (PARTITION BY {{same}}, "
    f"e.{{d.amount}} {{amount}} {{c.amount}} {_BY_DAY}) AS g {_EVENTS}) "
    "WHERE v {amount} {c.amount} GROUP BY s, g))",
    steps=13,
    choices={
        "same": _SAME,
        "amount": COMPARED,
        "what": (
            Option("the length of the longest run", "MAX(n)"),
            Option("the length of the shortest run", "MIN(n)"),
            Option("the number of runs", "COUNT(*)"),
        ),
    },
)
GAPS = Kind(
    name="gaps",
    question="take {same}, with their {d.event_words} whose {d.amount} is {amount} {c.amount} in order of {d.day}: the "
    "{most} number of days between two that follow each other (0 for two on the same day); null if none follows another",
    query="(SELECT {most}(w) FROM (SELECT CAST(julianday(e.{d.day}) - julianday(LAG(e.{d.day}) OVER "
    f"(PARTITION BY {{same}} ORDER BY e.{{d.day}})) AS INTEGER) AS w {_EVENTS} "
    "AND e.{d.amount} {amount} {c.amount}))",
    steps=10,
    choices={
        "same": _SAME,
        "amount": COMPARED,
        "most": (
            Option("largest", "MAX"),
            Option("smallest", "MIN"),
        ),
    },
)
