"""Columns of a report for which rows are played through with more than one number kept: units that leave a store in the
order in which they came or the other way round, and counters at which events wait for each other."""

from __future__ import annotations

from verigym.envs.sql.kinds import COMPARED, IS, Kind, Option

_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
_NUMBER = "ROW_NUMBER() OVER (ORDER BY e.{d.day}, e.id)"
_IN_ORDER = "in order of {d.day}, and of id on the same day"

_FIRST_IN = ("MIN(x.d, y.p)", "MAX(x.d - x.b + x.h, y.p - y.h + y.b)")
"""Units, numbered as they come, up to which and from which on those of `y` are taken by `x`."""
_LAST_IN = (
    "MIN(x.b, (SELECT MIN(z.h) FROM r z WHERE z.i >= y.i AND z.i < x.i))",
    "MAX(x.h, y.b)",
)
"""Heights in the stack up to which and from which on the units of `y` are taken by `x`."""
LAYERS = Kind(
    name="layers",
    question=f"go through the {{d.event_words}} of its {{d.thing_words}} {_IN_ORDER}, without those whose {{d.amount}} is below "
    "1. Those of {d.thing_words} whose {d.kind} {sort} '{c.kind}' bring their {d.amount} of units into a store, empty at "
    "first, each unit worth the {d.price} of the {d.thing}; the others take out their {d.amount} of units, or all that are "
    "there if those are fewer, {order}: {what}; 0 if there is none",
    query="(WITH RECURSIVE q(i, s, v, w) AS (SELECT "
    f"{_NUMBER}, CASE WHEN t.{{d.kind}} {{sort}} '{{c.kind}}' THEN 1 ELSE 0 END, e.{{d.amount}}, t.{{d.price}} {_EVENTS} "
    "AND e.{d.amount} > 0), r(i, s, w, b, h, p, d) AS (SELECT 0, 0, 0, 0, 0, 0, 0 UNION ALL SELECT q.i, q.s, q.w, r.h, "
    "CASE WHEN q.s = 1 THEN r.h + q.v ELSE r.h - MIN(q.v, r.h) END, r.p + q.s * q.v, r.d + (1 - q.s) * MIN(q.v, r.h) "
    "FROM r JOIN q ON q.i = r.i + 1), k(i, n, u) AS (SELECT x.i, y.w * ({order} - {order_tail}), 1 "
    "FROM r x JOIN r y ON y.i < x.i WHERE x.s = 0 AND y.s = 1 AND {order} > {order_tail}) SELECT COALESCE({what}, 0){what_tail})",
    steps=28,
    choices={
        "sort": IS,
        "order": (
            Option("those first that have been there longest", *_FIRST_IN),
            Option("those first that came in last", *_LAST_IN),
        ),
        "what": (
            Option("the total worth of the units taken out", "SUM(n)", " FROM k"),
            Option(
                "the total worth of the units that are left at the end",
                "(SELECT SUM(v * w) FROM q WHERE s = 1) - COALESCE(SUM(n), 0)",
                " FROM k",
            ),
            Option(
                "the highest total worth of the units that one of them takes out",
                "MAX(n)",
                " FROM (SELECT SUM(n) AS n FROM k GROUP BY i)",
            ),
            Option(
                "how many of them take out units that more than one {d.event} brought in",
                "COUNT(*)",
                " FROM (SELECT i FROM k GROUP BY i HAVING SUM(u) > 1)",
            ),
            Option(
                "the largest number of {d.event_words} whose units one of them takes out",
                "MAX(u)",
                " FROM (SELECT SUM(u) AS u FROM k GROUP BY i)",
            ),
        ),
    },
)
_TO_FIRST = "((r.a <= q.d AND r.b <= q.d) OR r.a <= r.b)"
_START = f"MAX(q.d, CASE WHEN {_TO_FIRST} THEN r.a ELSE r.b END)"
COUNTERS = Kind(
    name="counters",
    question=f"two counters are free at first, and the {{d.event_words}} of its {{d.thing_words}} come {_IN_ORDER}. Each goes to "
    "the counter that gets free first, but to counter 1 if both are free when it comes or get free on the same day. It begins "
    "on the day on which it comes or on which the counter gets free, whichever is later, and that counter gets free again {long} "
    "days after this beginning if its {d.amount} is {amount} {c.amount}, and 20 days after it otherwise: {what}; 0 if there "
    "are none",
    query="(WITH RECURSIVE q(i, d, l) AS (SELECT "
    f"{_NUMBER}, CAST(julianday(e.{{d.day}}) AS INTEGER), CASE WHEN e.{{d.amount}} {{amount}} {{c.amount}} THEN {{long}} ELSE 20 "
    f"END {_EVENTS}), r(i, a, b, w, c) AS (SELECT 0, 0, 0, 0, 0 UNION ALL SELECT q.i, "
    f"CASE WHEN {_TO_FIRST} THEN {_START} + q.l ELSE r.a END, CASE WHEN {_TO_FIRST} THEN r.b ELSE {_START} + q.l END, "
    f"{_START} - q.d, CASE WHEN {_TO_FIRST} THEN 1 ELSE 2 END FROM r JOIN q ON q.i = r.i + 1) "
    "SELECT COALESCE({what}, 0) FROM r)",
    steps=24,
    choices={
        "long": (Option("60", "60"), Option("61", "61"), Option("200", "200")),
        "amount": COMPARED,
        "what": (
            Option("the total number of days that they wait before they begin", "SUM(w)"),
            Option("the largest number of days that one of them waits before it begins", "MAX(w)"),
            Option("how many of them go to counter 2", "SUM(c = 2)"),
            Option("how many of them do not begin on the day on which they come", "SUM(w > 0)"),
        ),
    },
)
