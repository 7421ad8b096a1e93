"""Columns of a report for which rows are played through with a memory: a desk that has room for two things, units that are
thrown away when they are old, and a counter at which those leave that would have to wait too long."""

from __future__ import annotations

from verigym.envs.sql.kinds import COMPARED, IS, Kind, Option

_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
_NUMBER = "ROW_NUMBER() OVER (ORDER BY e.{d.day}, e.id)"
_IN_ORDER = "in order of {d.day}, and of id on the same day"
_DAY = "CAST(julianday(e.{d.day}) AS INTEGER)"

_THERE = "q.v IN (r.a, r.b)"
DESK = Kind(
    name="desk",
    question="a desk has room for two of its {d.thing_words} and is empty at first. Go through the {d.event_words} of its "
    f"{{d.thing_words}} {_IN_ORDER}, without those whose {{d.amount}} is {{amount}} {{c.amount}}. Each needs its {{d.thing}} on the "
    "desk: if it is not there, it is fetched, and if there is no room for it, the one of the two {order} goes back: {what}; 0 if there "
    "is none",
    query=f"(WITH RECURSIVE q(i, v) AS (SELECT {_NUMBER}, t.id {_EVENTS} AND NOT e.{{d.amount}} {{amount}} {{c.amount}}), "
    "r(i, a, b, m, n, x) AS (SELECT 0, NULL, NULL, 0, 0, 0 UNION ALL SELECT q.i, {order}, {order_tail}, "
    f"r.m + CASE WHEN {_THERE} THEN 0 ELSE 1 END, CASE WHEN {_THERE} THEN r.n + 1 ELSE 0 END, "
    f"CASE WHEN {_THERE} THEN MAX(r.x, r.n + 1) ELSE r.x END FROM r JOIN q ON q.i = r.i + 1) SELECT {{what}} FROM r)",
    steps=20,
    choices={
        "amount": COMPARED,
        "order": (
            Option(
                "that was needed longest ago", "q.v", "CASE WHEN q.v = r.a THEN r.b ELSE r.a END"
            ),
            Option(
                "that was fetched before the other",
                f"CASE WHEN {_THERE} THEN r.a ELSE q.v END",
                f"CASE WHEN {_THERE} THEN r.b ELSE r.a END",
            ),
        ),
        "what": (
            Option("how often a {d.thing} is fetched", "MAX(m)"),
            Option("how many of them find their {d.thing} on the desk", "MAX(i) - MAX(m)"),
            Option(
                "the largest number of them, one directly after another, that find their {d.thing} on the desk",
                "MAX(x)",
            ),
        ),
    },
)
_OLD = "MAX(r.g, q.x)"
_TAKEN = f"MIN(q.v, q.p - {_OLD})"
SPOILT = Kind(
    name="spoilt",
    question=f"go through the {{d.event_words}} of its {{d.thing_words}} {_IN_ORDER}, without those whose {{d.amount}} is below "
    "1. Those of {d.thing_words} whose {d.kind} {sort} '{c.kind}' bring their {d.amount} of units into a store, empty at "
    "first; the others take out their {d.amount} of units, or all that are there if those are fewer, those first that have been there "
    "longest. Before each of them, the units in the store that came in {age} days before its {d.day} or earlier are thrown away: "
    "{what}; 0 if there is none",
    query=f"(WITH RECURSIVE q(i, s, v, p, x) AS (SELECT i, s, v, SUM(s * v) OVER (ORDER BY i), COALESCE(SUM(s * v) OVER (ORDER BY d "
    "RANGE BETWEEN UNBOUNDED PRECEDING AND {age} PRECEDING), 0) FROM "
    f"(SELECT {_NUMBER} AS i, CASE WHEN t.{{d.kind}} {{sort}} '{{c.kind}}' THEN 1 ELSE 0 END AS s, e.{{d.amount}} AS v, {_DAY} AS d "
    f"{_EVENTS} AND e.{{d.amount}} > 0)), r(i, g, w, u, n, h) AS (SELECT 0, 0, 0, 0, 0, 0 UNION ALL SELECT q.i, "
    f"{_OLD} + (1 - q.s) * {_TAKEN}, r.w + {_OLD} - r.g, r.u + (1 - q.s) * (q.v - {_TAKEN}), "
    f"r.n + CASE WHEN q.s = 0 AND {_TAKEN} < q.v THEN 1 ELSE 0 END, q.p - {_OLD} - (1 - q.s) * {_TAKEN} "
    "FROM r JOIN q ON q.i = r.i + 1) SELECT {what})",
    steps=27,
    choices={
        "sort": IS,
        "age": (Option("60", "60"), Option("61", "61"), Option("30", "30")),
        "what": (
            Option("the total number of units thrown away", "MAX(w) FROM r"),
            Option("the total number of units that are asked for in vain", "MAX(u) FROM r"),
            Option("how many of those that take out get fewer units than they ask for", "MAX(n) FROM r"),
            Option("the largest number of units in the store after one of them", "MAX(h) FROM r"),
        ),
    },
)  # fmt: skip
_STAYS = "r.a - q.d <= {patience}"
_BEGINS = "MAX(r.a, q.d)"
LEAVING = Kind(
    name="leaving",
    question=f"one counter is free at first, and the {{d.event_words}} of its {{d.thing_words}} come {_IN_ORDER}. One that would have "
    "to wait more than {patience} days for the counter to get free leaves at once. Each of the others begins on the day on which it comes "
    "or on which the counter gets free, whichever is later, and the counter gets free again {long} days after this beginning if its "
    "{d.amount} is {amount} {c.amount}, and 15 days after it otherwise: {what}; 0 if there are none",
    query=f"(WITH RECURSIVE q(i, d, l) AS (SELECT {_NUMBER}, {_DAY}, CASE WHEN e.{{d.amount}} {{amount}} {{c.amount}} THEN {{long}} "
    f"ELSE 15 END {_EVENTS}), r(i, a, n, w) AS (SELECT 0, 0, 0, 0 UNION ALL SELECT q.i, "
    f"CASE WHEN {_STAYS} THEN {_BEGINS} + q.l ELSE r.a END, r.n + CASE WHEN {_STAYS} THEN 0 ELSE 1 END, "
    f"r.w + CASE WHEN {_STAYS} THEN {_BEGINS} - q.d ELSE 0 END "
    "FROM r JOIN q ON q.i = r.i + 1) SELECT MAX({what}) FROM r)",
    steps=23,
    choices={
        "patience": (Option("30", "30"), Option("29", "29"), Option("10", "10")),
        "long": (Option("60", "60"), Option("61", "61"), Option("90", "90")),
        "amount": COMPARED,
        "what": (
            Option("how many of them leave", "n"),
            Option("the total number of days that the others wait before they begin", "w"),
            Option("how many of them do not leave", "i - n"),
        ),
    },
)
