"""The notes on the tables of an old system: rules on which rows count and what they mean, each with its readings.

All of them are defined for any rows, so that a query is right or wrong on every database.
"""

from __future__ import annotations

from verigym.envs.sql.kinds import Choice, Option

AS_OF = "2023-07-01"
"""The day on which prices have to be valid."""

_MERGED = (
    "A row of {d.owner_words} with a merged_into does not count, but its {d.thing_words} do: they are those of the row whose id "
    "is in merged_into, which may be merged into another in turn, and so on, up to a row without a merged_into."
)
_CIRCLE = "If the way leads round in a circle or to an id that is not there, the {d.thing_words} do not count."
_REVERSED = (
    "A row of {d.event_words} with a reverses_id is a reversal and does not count itself. It reverses the row whose id is in "
    "reverses_id if that is below its own id, and otherwise nothing; of several reversals of one row, only the one with the "
    "lowest id does so."
)
_NOTHING_ELSE = "Nothing else that a reversal says, its state for example, matters for this."

RULES: dict[str, Choice] = {
    "closed": (
        Option(
            "A row of {d.owner_words} with a closed_on does not count, whatever the day.",
            "s.closed_on IS NULL",
        ),
        Option(
            "A row of {d.owner_words} does not count if its closed_on is before 2023-01-01; a later closed_on is only "
            "planned.",
            "(s.closed_on IS NULL OR s.closed_on >= '2023-01-01')",
        ),
    ),
    "test": (
        Option("Rows of {d.owner_words} with is_test = 1 do not count.", "s.is_test <> 1"),
        Option(
            "Only rows of {d.owner_words} with is_test = 0 count; 1 is a test and 2 a training case.",
            "s.is_test = 0",
        ),
    ),
    "deleted": (
        Option("A row of {d.thing_words} does not count if deleted is 1.", "p.deleted <> 1"),
        Option(
            "A row of {d.thing_words} does not count if deleted is 1 or above.", "p.deleted < 1"
        ),
    ),
    "price": (
        Option(
            "The {d.price} of a {d.thing} is that of its row in {d.thing}_rates which is valid on "
            + AS_OF
            + ": from valid_from on and until the day before valid_to (without end if that is null). If several are, the "
            "one with the highest id counts; if none is, the {d.thing} does not count. {d.thing_words}.{d.price} is what "
            "was planned once, and counts for nothing.",
            f"w.valid_from <= '{AS_OF}' AND (w.valid_to IS NULL OR w.valid_to > '{AS_OF}')",
        ),
        Option(
            "The {d.price} of a {d.thing} is that of its row in {d.thing}_rates which is valid on "
            + AS_OF
            + ": from valid_from on up to and including valid_to (without end if that is null). If several are, the one "
            "with the highest id counts; if none is, the {d.thing} does not count. {d.thing_words}.{d.price} is what was "
            "planned once, and counts for nothing.",
            f"w.valid_from <= '{AS_OF}' AND (w.valid_to IS NULL OR w.valid_to >= '{AS_OF}')",
        ),
    ),
    "state": (
        Option("Only {d.event_words} with the state 'F' (final) count.", "e.state = 'F'"),
        Option(
            "All {d.event_words} count but those with the state 'X' (cancelled).", "e.state <> 'X'"
        ),
    ),
    "day": (
        Option(
            "The {d.day} of a {d.event} is its corrected_on, or, if that is null, what stands in {d.day}.",
            "COALESCE(e.corrected_on, e.{d.day})",
        ),
        Option(
            "The {d.day} of a {d.event} is what stands in {d.day}; corrected_on is the day on which somebody looked at it.",
            "e.{d.day}",
        ),
    ),
    "unit": (
        Option(
            "The {d.amount} of a {d.event} is what stands there times the factor of its unit in the table units; if its "
            "unit is not in that table, it does not count.",
            "u.factor",
        ),
        Option(
            "The {d.amount} of a {d.event} is what stands there times the factor of its unit in the table units, or ten "
            "times that if the row is bulk (is_bulk = 1); if its unit is not in that table, it does not count.",
            "u.factor * CASE WHEN e.is_bulk = 1 THEN 10 ELSE 1 END",
        ),
    ),
    "change": (
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the latest made_on stands in "
            "place of its own (of several on that day, the one with the highest id); its unit stays.",
            "ORDER BY h.made_on DESC, h.id DESC",
        ),
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the latest made_on stands in "
            "place of its own (of several on that day, the one with the lowest id); its unit stays.",
            "ORDER BY h.made_on DESC, h.id",
        ),
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the highest id stands in place of "
            "its own, whatever its made_on; its unit stays.",
            "ORDER BY h.id DESC",
        ),
    ),
    "merged": (
        Option(
            f"{_MERGED} Only this last row has to count; the rows before it may be closed or tests. {_CIRCLE}",
            "",
        ),
        Option(
            f"{_MERGED} If the notes on closed_on and is_test rule out any of these rows, the first and the last included, "
            f"the {{d.thing_words}} do not count. {_CIRCLE}",
            " WHERE {kept}",
        ),
    ),
    "reversed": (
        Option(
            f"{_REVERSED} A {{d.event}} that is reversed does not count, unless its reversal is itself reversed: then it counts "
            f"again, unless that one is reversed in turn, and so on. {_NOTHING_ELSE}",
            "EXISTS (SELECT 1 FROM standing y WHERE y.id = e.id AND y.stands = 1)",
        ),
        Option(
            f"{_REVERSED} A {{d.event}} that is reversed does not count, even if its reversal is itself reversed. {_NOTHING_ELSE}",
            "NOT EXISTS (SELECT 1 FROM {d.event_words} x WHERE x.reverses_id = e.id AND x.id > e.id)",
        ),
    ),
    "twice": (
        Option(
            "Rows of {d.event_words} with the same source_key are one {d.event}, entered several times: the row with the "
            "lowest id counts, if the other rules let it, and the others do not in any case.",
            "MIN",
        ),
        Option(
            "Rows of {d.event_words} with the same source_key are one {d.event}, entered several times: the row with the "
            "highest id counts, if the other rules let it, and the others do not in any case.",
            "MAX",
        ),
    ),
}
"""Rules on the tables: what the notes say, and its text in a query."""
FIXED = (
    "{d.region}_code and {d.kind}_code are codes; the table codes has the {d.region} and the {d.kind} that they stand for, "
    "as label, in the rows whose list is '{d.region}' or '{d.kind}'. A code that is not in its list is an unknown "
    "{d.region}; a {d.thing} whose {d.kind} is unknown does not count.",
    "{D.thing_words} of {d.owner_words} that do not count do not count either, and neither do the {d.event_words} of "
    "{d.thing_words} that do not count.",
)
"""Notes that hold for all."""
