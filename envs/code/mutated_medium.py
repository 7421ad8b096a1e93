"""Functions of a list whose wrong versions fail only at exact boundary values."""

from __future__ import annotations

from verigym.envs.code.mutated import Mutated, several

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="longest_run",
        says="the length of the longest run of consecutive items in which EACH times the rise from each item "
        "to the next is between NEAR and FAR, both included; a single item is a run, a run of more than "
        "CAP items does not count, and the value is 0 if no run counts",
        args={"xs": several(12, 0, 9999, least=2)},
        draws={"CAP": (4, 8), "EACH": (3, 9), "RISE": (150, 900), "ROOM": (4, 12)},
        computed={
            "NEAR": lambda EACH, RISE, **_: EACH * RISE,
            "FAR": lambda EACH, RISE, ROOM, **_: EACH * (RISE + ROOM),
        },
        changes=(
            ("run <= CAP", "run < CAP", lambda CAP, RISE, **_: [_rising(CAP, RISE)]),
            ("run <= CAP", "run <= CAP + 1", lambda CAP, RISE, **_: [_rising(CAP + 1, RISE)]),
            ("<= FAR", "< FAR", lambda RISE, ROOM, **_: [[0, RISE + ROOM]]),
            ("<= FAR", "<= FAR + EACH", lambda RISE, ROOM, **_: [[0, RISE + ROOM + 1]]),
            ("NEAR <= ", "NEAR < ", lambda RISE, **_: [[0, RISE]]),
            ("NEAR <= ", "NEAR - EACH <= ", lambda RISE, **_: [[0, RISE - 1]]),
            (" and run > best", "", lambda RISE, **_: [[0, RISE, 0]]),
            (
                "            run = 1",
                "                run = 1",
                lambda CAP, RISE, **_: [[*_rising(CAP + 1, RISE), 0, RISE]],
            ),
        ),
    ),
    Mutated(
        name="peaks",
        says="the number of items that exceed the item before them by at least RISE and the item after them "
        "by at least FALL; items with an index below START (counted from 0) and the last item never "
        "count",
        args={"xs": several(10, -1000, 1000)},
        draws={"RISE": (1450, 1900), "FALL": (1450, 1900), "START": (2, 5)},
        changes=(
            ("range(START,", "range(START + 1,", lambda START, **_: [_peak(START, 2000, 2000)]),
            ("range(START,", "range(START - 1,", lambda START, **_: [_peak(START - 1, 2000, 2000)]),
            (">= RISE", "> RISE", lambda START, RISE, **_: [_peak(START, RISE, 2000)]),
            (">= RISE", ">= RISE - 1", lambda START, RISE, **_: [_peak(START, RISE - 1, 2000)]),
            (">= FALL", "> FALL", lambda START, FALL, **_: [_peak(START, 2000, FALL)]),
            (">= FALL", ">= FALL - 1", lambda START, FALL, **_: [_peak(START, 2000, FALL - 1)]),
        ),
    ),
    Mutated(
        name="nearest",
        says="the index, counted from 0, of the item for which EACH times the item is nearest to GOAL, and "
        "of the first such item if several are equally near; -1 if none is nearer than FAR",
        args={"xs": several(9, -2000, 2000)},
        draws={"EACH": (3, 9), "AIM": (200, 1800), "REACH": (3, 6)},
        computed={
            "GOAL": lambda EACH, AIM, **_: EACH * AIM,
            "FAR": lambda EACH, REACH, **_: EACH * REACH,
        },
        changes=(
            ("gap < best", "gap <= best", lambda AIM, **_: [[AIM, AIM]]),
            ("best = FAR", "best = FAR + EACH", lambda AIM, REACH, **_: [[AIM + REACH]]),
            ("best = FAR", "best = FAR - EACH", lambda AIM, REACH, **_: [[AIM + REACH - 1]]),
            ("            best = gap\n", "", lambda AIM, **_: [[AIM, AIM + 1]]),
            (
                "abs(EACH * xs[i] - GOAL)",
                "max(EACH * xs[i] - GOAL, GOAL + EACH - EACH * xs[i])",
                lambda AIM, REACH, **_: [[AIM - REACH + 1]],
            ),
            ("range(len(xs))", "range(len(xs) - 1)", lambda AIM, **_: [[AIM]]),
            ("range(len(xs))", "range(1, len(xs))", lambda AIM, **_: [[AIM, AIM]]),
        ),
    ),
    Mutated(
        name="balance",
        says="the balance of an account that starts at 0, after the given payments in order, each worth RATE "
        "times its number; a payment that would bring the balance below FLOOR is skipped, and one that "
        "would bring it above CEILING counts only half, rounded down",
        args={"payments": several(8, -1000, 1000)},
        draws={"RATE": (3, 9), "LEAST": (900, 980), "MOST": (1500, 1900)},
        computed={
            "FLOOR": lambda RATE, LEAST, **_: -RATE * LEAST,
            "CEILING": lambda RATE, MOST, **_: RATE * MOST,
        },
        changes=(
            ("< FLOOR", "<= FLOOR", lambda LEAST, **_: [[-LEAST]]),
            ("< FLOOR", "< FLOOR - RATE", lambda LEAST, **_: [[-LEAST - 1]]),
            ("> CEILING", ">= CEILING", lambda MOST, **_: [[1000, MOST - 1000]]),
            ("> CEILING", "> CEILING + RATE", lambda MOST, **_: [[1000, MOST - 999]]),
            ("< FLOOR", "<= FLOOR + RATE", lambda LEAST, **_: [[-LEAST + 1]]),
            ("> CEILING", ">= CEILING - RATE", lambda MOST, **_: [[1000, MOST - 1001]]),
            (
                "total + p > CEILING",
                "total + p > CEILING and p > 0",
                lambda MOST, **_: [[1000, MOST - 1000, 1000, -4]],
            ),
        ),
    ),
    Mutated(
        name="in_band",
        says="the number of items for which EACH times the item is between LOW and HIGH, both included, "
        "where an item that equals the item right before it is not counted",
        args={"xs": several(10, -1000, 1000)},
        draws={"EACH": (3, 9), "FIRST": (100, 850), "WIDE": (20, 120)},
        computed={
            "LOW": lambda EACH, FIRST, **_: EACH * FIRST,
            "HIGH": lambda EACH, FIRST, WIDE: EACH * (FIRST + WIDE),
        },
        changes=(
            ("if LOW <= ", "if LOW < ", lambda FIRST, **_: [[FIRST]]),
            ("if LOW <= ", "if LOW - EACH <= ", lambda FIRST, **_: [[FIRST - 1]]),
            ("<= HIGH", "< HIGH", lambda FIRST, WIDE, **_: [[FIRST + WIDE]]),
            ("<= HIGH", "<= HIGH + EACH", lambda FIRST, WIDE, **_: [[FIRST + WIDE + 1]]),
            (
                "(i == 0 or xs[i] != xs[i - 1])",
                "xs[i] != xs[i - 1]",
                lambda FIRST, **_: [[FIRST + 1]],
            ),
            (
                " and (i == 0 or xs[i] != xs[i - 1])",
                "",
                lambda FIRST, **_: [[FIRST + 1, FIRST + 1]],
            ),
            (
                "xs[i] != xs[i - 1]",
                "xs[i] not in xs[:i]",
                lambda FIRST, **_: [[FIRST + 1, 0, FIRST + 1]],
            ),
        ),
    ),
    Mutated(
        name="reach",
        says="the number of items, counted from the left, after which the sum of the items is GOAL or more "
        "for the first time, where items below LEAST are left out of the sum but are still counted; -1 "
        "if the sum never gets there",
        args={"xs": several(10, -1000, 1000)},
        draws={"GOAL": (4200, 4900), "LEAST": (20, 90)},
        changes=(
            (">= GOAL", "> GOAL", lambda GOAL, **_: [[1000] * 4 + [GOAL - 4000]]),
            (">= GOAL", ">= GOAL - 1", lambda GOAL, **_: [[1000] * 4 + [GOAL - 4001]]),
            (">= LEAST", "> LEAST", lambda GOAL, LEAST: [_ending(GOAL - LEAST, LEAST)]),
            (
                ">= LEAST",
                ">= LEAST - 1",
                lambda GOAL, LEAST: [_ending(GOAL - LEAST + 1, LEAST - 1)],
            ),
            ("range(len(xs))", "range(len(xs) - 1)", lambda **_: [[1000] * 5]),
        ),
    ),
)


def _rising(count: int, rise: int) -> list[int]:
    """A list of items that rise by so much each."""
    return [rise * i for i in range(count)]


def _ending(total: int, last: int) -> list[int]:
    """A list whose items before the last have this sum."""
    return [*[1000] * 4, total - 4000, last]


def _peak(place: int, rise: int, fall: int) -> list[int]:
    """A list with one item above those before and after it by so much."""
    return [*[1000 - rise] * place, 1000, 1000 - fall]
