"""Columns of a report that set an owner beside the others or beside a calendar: pairs, ranks, coverage, empty months."""

from __future__ import annotations

from verigym.envs.sql.kinds import COMPARED, IS, JOINT, Kind, Option

PAIRS = Kind(
    name="pairs",
    question="the number of pairs of {two} whose {d.kind} {same} the same {joint} whose {d.price} values differ by "
    "{price} {c.price}",
    query="(SELECT COUNT(*) FROM {d.thing} t JOIN {d.thing} s ON {two} WHERE t.{d.owner}_id = o.id "
    "AND (t.{d.kind} {same} s.{d.kind} {joint} ABS(t.{d.price} - s.{d.price}) {price} {c.price}))",
    steps=8,
    choices={
        "two": (
            Option(
                "two of its {d.thing_words} (each pair once)",
                "s.{d.owner}_id = t.{d.owner}_id AND t.id < s.id",
            ),
            Option(
                "one of its {d.thing_words} and one {d.thing} of another {d.owner}",
                "s.{d.owner}_id <> t.{d.owner}_id",
            ),
        ),
        "same": IS,
        "joint": JOINT,
        "price": (
            Option("more than", ">"),
            Option("at least", ">="),
            Option("less than", "<"),
            Option("at most", "<="),
        ),
    },
)
RANK = Kind(
    name="rank",
    question="its rank among {among} by {what} its {d.thing_words} whose {d.price} is {price} {c.price} (0 if it has "
    "none), the {first} being rank 1; equal ones share a rank, and {after}",
    query="(SELECT r FROM (SELECT q.id AS i, {after}() OVER (PARTITION BY {among} ORDER BY {what} {first}) AS r "
    "FROM {d.owner} q LEFT JOIN {d.thing} t ON t.{d.owner}_id = q.id AND t.{d.price} {price} {c.price} "
    "GROUP BY q.id, q.{d.region}) WHERE i = o.id)",
    steps=11,
    choices={
        "among": (
            Option("all {d.owner_words}", "0"),
            Option(
                "the {d.owner_words} of the same {d.region} (an unknown one counts as one more {d.region})",
                "q.{d.region}",
            ),
        ),
        "what": (
            Option("the number of", "COUNT(t.id)"),
            Option("the total {d.price} of", "COALESCE(SUM(t.{d.price}), 0)"),
        ),
        "price": COMPARED,
        "first": (Option("highest", "DESC"), Option("lowest", "ASC")),
        "after": (
            Option("two on rank 1 are followed by rank 3", "RANK"),
            Option("two on rank 1 are followed by rank 2", "DENSE_RANK"),
        ),
    },
)
_HAS = "(SELECT 1 FROM {d.thing} t WHERE t.{d.owner}_id = q.id AND t.{d.kind} = k.{d.kind} AND t.{d.price} {price} {c.price})"
COVERAGE = Kind(
    name="coverage",
    question="look at every {d.kind} that {own} have: the number of other {d.owner_words} that have {any} {d.thing} with "
    "{d.price} {price} {c.price}",
    query="(SELECT COUNT(*) FROM {d.owner} q WHERE q.id <> o.id AND {any} (SELECT 1 FROM {d.thing} k "
    f"WHERE k.{{d.owner}}_id = o.id{{own}} AND {{any_tail}} {_HAS}))",
    steps=12,
    choices={
        "own": (
            Option("its own {d.thing_words}", ""),
            Option(
                "those of its own {d.thing_words} that have {d.event_words}",
                " AND EXISTS (SELECT 1 FROM {d.event} e WHERE e.{d.thing}_id = k.id)",
            ),
        ),
        "any": (
            Option(
                "for each of them (all others, if it has no such {d.kind}) some",
                "NOT EXISTS",
                "NOT EXISTS",
            ),
            Option(
                "for none of them (all others, if it has no such {d.kind}) any",
                "NOT EXISTS",
                "EXISTS",
            ),
            Option("for at least one of them some", "EXISTS", "EXISTS"),
            Option("for at least one of them no", "EXISTS", "NOT EXISTS"),
        ),
        "price": COMPARED,
    },
)
_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
CALENDAR = Kind(
    name="calendar",
    question="in the four years that begin on {c.year}-01-01, the number of calendar {unit} with {has} {d.event} of its "
    "{d.thing_words} whose {d.amount} is {amount} {c.amount}",
    query="(WITH RECURSIVE m(a) AS (SELECT date('{c.year}-01-01') UNION ALL SELECT date(a, {unit_tail}) FROM m "
    "WHERE date(a, {unit_tail}) < date('{c.year}-01-01', '+4 years')) "
    f"SELECT COUNT(*) FROM m WHERE {{has}} (SELECT 1 {_EVENTS} "
    "AND strftime({unit}, e.{d.day}) = a AND e.{d.amount} {amount} {c.amount}))",
    steps=14,
    choices={
        "unit": (
            Option("months", "'%Y-%m-01'", "'+1 month'"),
            Option("years", "'%Y-01-01'", "'+1 year'"),
        ),
        "has": (Option("no", "NOT EXISTS"), Option("at least one", "EXISTS")),
        "amount": COMPARED,
    },
)
