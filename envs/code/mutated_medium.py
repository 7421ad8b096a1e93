"""Functions of a list whose wrong versions fail only at exact boundary values."""

from __future__ import annotations

from verigym.envs.code.mutated import Mutated, several

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="longest_run",
        says="the length of the longest stretch in which EACH times the rise from an item to the next one is NEAR "
        "to FAR, both included; one item is a stretch, too, but one of more than CAP items does not count, and 0 is "
        "given where no stretch counts",
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
        says="how many items are above the item before by at least RISE and above the one after by at least "
        "FALL; items before place START (places are counted from 0) and the last item never count",
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
        says="where the item stands that is nearest to GOAL if multiplied by EACH, counted from 0, the first of those "
        "that are equally near; -1 where none is nearer than FAR",
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
        says="what is left on an account that starts at 0 after the given payments in order, each worth RATE times its "
        "number; a payment that would bring it below FLOOR is skipped, and one that would bring it above CEILING counts "
        "half, rounded down",
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
        says="how many items are from LOW to HIGH if multiplied by EACH, both included, those left out that are equal "
        "to the item before them",
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
        says="after how many items from the left the sum of the items is GOAL or more for the first time, "
        "items below LEAST left out of the sum but counted; -1 where it never is",
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
