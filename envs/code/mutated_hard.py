"""Functions whose wrong versions fail only if several conditions on the arguments hold at once."""

from __future__ import annotations

from verigym.envs.code.mutated import Mutated, several, whole

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="covered",
        says="the length of a line that the given pieces cover, where a piece reaches from the smaller of "
        "its two ends to the larger; a piece is ignored if EACH times its length is below SHORT, and a "
        "gap between the others counts as covered if EACH times its length is at most GAP",
        args={
            "pieces": {"kind": "list", "low": 0, "high": 6, "of": several(2, -5000, 5000, least=2)}
        },
        draws={"EACH": (3, 9), "HOLE": (11, 90), "LENGTH": (100, 600)},
        computed={
            "GAP": lambda EACH, HOLE, **_: EACH * HOLE,
            "SHORT": lambda EACH, LENGTH, **_: EACH * LENGTH,
        },
        changes=(
            (">= SHORT", "> SHORT", lambda LENGTH, **_: [[[0, LENGTH]]]),
            (">= SHORT", ">= SHORT - EACH", lambda LENGTH, **_: [[[0, LENGTH - 1]]]),
            (
                "EACH * abs(p[0] - p[1]) >= SHORT",
                "EACH * (p[1] - p[0]) >= SHORT or EACH * (p[0] - p[1]) > SHORT",
                lambda LENGTH, **_: [[[LENGTH, 0]]],
            ),
            ("> GAP", ">= GAP", lambda HOLE, **_: [[[0, 999], [999 + HOLE, 2000]]]),
            ("> GAP", "> GAP + EACH", lambda HOLE, **_: [[[0, 999], [1000 + HOLE, 2000]]]),
            (
                "EACH * (a - end) > GAP",
                "EACH * (a - end) > GAP or EACH * (a - end) == GAP - EACH",
                lambda HOLE, **_: [[[0, 999], [998 + HOLE, 2000]]],
            ),
            (
                "elif b > end",
                "elif b > end and EACH * (b - end) != GAP",
                lambda HOLE, **_: [[[0, 999], [5, 999 + HOLE]]],
            ),
        ),
    ),
    Mutated(
        name="pairs",
        says="the number of pairs that are taken from a list as follows: two items make a pair if the "
        "earlier one plus TIMES times the later one is SUM and they are at most WIDTH places apart; "
        "from left to right, each item that is not in a pair yet is paired with the first later item "
        "that is not in a pair yet and makes a pair with it",
        args={"xs": several(10, -5000, 5000)},
        draws={"WIDTH": (2, 6), "TIMES": (2, 9), "EVEN": (2000, 4500)},
        computed={"SUM": lambda TIMES, EVEN, **_: (TIMES + 1) * EVEN},
        changes=(
            ("WIDTH + 1", "WIDTH", lambda EVEN, TIMES, WIDTH: [_apart(EVEN, TIMES, WIDTH)]),
            ("WIDTH + 1", "WIDTH + 2", lambda EVEN, TIMES, WIDTH: [_apart(EVEN, TIMES, WIDTH + 1)]),
            (
                "xs[i] + TIMES * xs[j] == SUM",
                "abs(xs[i] + TIMES * xs[j] - SUM) <= 1",
                lambda EVEN, **_: [[EVEN + 1, EVEN]],
            ),
            (
                "i not in used and ",
                "",
                lambda EVEN, TIMES, **_: [[EVEN - TIMES * TIMES, EVEN + TIMES, EVEN - 1]],
            ),
            (
                " and j not in used",
                "",
                lambda EVEN, TIMES, **_: [[EVEN - TIMES, EVEN - TIMES, EVEN + 1]],
            ),
            ("range(i + 1,", "range(i,", lambda EVEN, **_: [[EVEN]]),
            (
                "used += [i, j]",
                "used += [i]",
                lambda EVEN, TIMES, **_: [[EVEN - TIMES, EVEN - TIMES, EVEN + 1]],
            ),
            (
                "WIDTH + 1, len(xs))",
                "WIDTH + 1, len(xs) - 1)",
                lambda EVEN, TIMES, **_: [_apart(EVEN, TIMES, 1)],
            ),
        ),
    ),
    Mutated(
        name="sums_to",
        says="the index, counted from 0, of the first item at which a run of 1 to WIDTH consecutive items "
        "starts whose sum times EACH is exactly GOAL, or -1 if there is none",
        args={"xs": several(10, -5000, 5000)},
        draws={"WIDTH": (3, 6), "EACH": (3, 9), "AIM": (500, 4000)},
        computed={"GOAL": lambda EACH, AIM, **_: EACH * AIM},
        changes=(
            ("i + WIDTH", "i + WIDTH - 1", lambda WIDTH, AIM, **_: [_together(AIM, WIDTH)]),
            ("i + WIDTH", "i + WIDTH + 1", lambda WIDTH, AIM, **_: [_together(AIM, WIDTH + 1)]),
            ("total == GOAL", "abs(total - GOAL) <= EACH", lambda AIM, **_: [[AIM + 1]]),
            ("range(len(xs))", "range(len(xs) - 1)", lambda AIM, **_: [[AIM]]),
            ("range(len(xs))", "range(1, len(xs))", lambda AIM, **_: [[AIM]]),
            ("total == GOAL", "total == GOAL and i < j", lambda AIM, **_: [[AIM]]),
            ("return i", "return j", lambda AIM, **_: [[AIM - 1, 1]]),
        ),
    ),
    Mutated(
        name="rising",
        says="the length of the longest subsequence (items in their order, not necessarily adjacent) in "
        "which EACH times the rise from each item to the next is between STEP and STOP, both included",
        args={"xs": several(10, -5000, 5000)},
        draws={"EACH": (3, 9), "RISE": (150, 900), "SLACK": (2, 9)},
        computed={
            "STEP": lambda EACH, RISE, **_: EACH * RISE,
            "STOP": lambda EACH, RISE, SLACK: EACH * (RISE + SLACK),
        },
        changes=(
            ("if STEP <= ", "if STEP < ", lambda RISE, **_: [[0, RISE]]),
            ("if STEP <= ", "if STEP - EACH <= ", lambda RISE, **_: [[0, RISE - 1]]),
            ("<= STOP", "< STOP", lambda RISE, SLACK, **_: [[0, RISE + SLACK]]),
            ("<= STOP", "<= STOP + EACH", lambda RISE, SLACK, **_: [[0, RISE + SLACK + 1]]),
            (
                " and best[j] > longest",
                "",
                lambda RISE, **_: [[0, RISE, RISE - 1, 2 * RISE]],
            ),
            ("for j in range(i)", "for j in range(i - 1)", lambda RISE, **_: [[0, RISE]]),
            ("for j in range(i)", "for j in range(1, i)", lambda RISE, **_: [[0, RISE]]),
            (
                "for j in range(i)",
                "for j in range(max(i - 3, 0), i)",
                lambda RISE, **_: [[0, -RISE, -RISE, -RISE, RISE]],
            ),
            ("max(best, default=0)", "(best or [0])[-1]", lambda RISE, **_: [[0, RISE, 0]]),
        ),
    ),
    Mutated(
        name="ahead",
        says="the number of different items that exceed goal by an amount that, times EACH, is between NEAR "
        "and FAR, both included",
        args={"xs": several(10, -5000, 5000), "goal": whole(-4000, 3000)},
        draws={"EACH": (3, 9), "FIRST": (500, 1500), "WIDE": (9, 50)},
        computed={
            "NEAR": lambda EACH, FIRST, **_: EACH * FIRST,
            "FAR": lambda EACH, FIRST, WIDE: EACH * (FIRST + WIDE),
        },
        changes=(
            ("if NEAR <= ", "if NEAR < ", lambda FIRST, **_: [[FIRST], 0]),
            ("if NEAR <= ", "if NEAR - EACH <= ", lambda FIRST, **_: [[FIRST - 1], 0]),
            ("<= FAR", "< FAR", lambda FIRST, WIDE, **_: [[FIRST + WIDE], 0]),
            ("<= FAR", "<= FAR + EACH", lambda FIRST, WIDE, **_: [[FIRST + WIDE + 1], 0]),
            (" and x not in seen", "", lambda FIRST, **_: [[FIRST + 1, FIRST + 1], 0]),
            (
                "x not in seen",
                "x not in seen[-1:]",
                lambda FIRST, **_: [[FIRST + 1, FIRST + 2, FIRST + 1], 0],
            ),
        ),
    ),
    Mutated(
        name="trips",
        says="the number of trips that a bus makes for passengers who come one by one. A passenger is given "
        "by a size, whose sign is ignored, and weighs EACH for each unit of size. They board in order; "
        "a new trip begins if the next passenger would bring the load above LOAD, or needs a seat when "
        "all SEATS are taken. Only a passenger who weighs ADULT or more needs a seat. One who weighs "
        "more than LOAD alone is left behind",
        args={"sizes": several(10, -5000, 5000)},
        draws={"EACH": (3, 9), "SEATS": (5, 7), "BIG": (350, 500), "MOST": (4200, 4900)},
        computed={
            "ADULT": lambda EACH, BIG, **_: EACH * BIG,
            "LOAD": lambda EACH, MOST, **_: EACH * MOST,
        },
        changes=(
            ("if w > LOAD", "if w >= LOAD", lambda MOST, **_: [[MOST]]),
            ("if w > LOAD", "if w > LOAD + EACH", lambda MOST, **_: [[MOST + 1]]),
            ("load + w > LOAD", "load + w >= LOAD", lambda MOST, **_: [[1, MOST - 1]]),
            ("load + w > LOAD", "load + w > LOAD + EACH", lambda MOST, **_: [[1, MOST]]),
            (
                "seated == SEATS",
                "seated == SEATS + 1",
                lambda SEATS, BIG, **_: [[BIG] * (SEATS + 1)],
            ),
            ("seated == SEATS", "seated == SEATS - 1", lambda SEATS, BIG, **_: [[BIG] * SEATS]),
            ("            load = 0", "            load = EACH", lambda MOST, **_: [[1, MOST - 1]]),
            ("if w >= ADULT:", "if w > ADULT:", lambda SEATS, BIG, **_: [[BIG] * (SEATS + 1)]),
            (
                "w >= ADULT and",
                "w > ADULT and",
                lambda SEATS, BIG, **_: [[BIG] * (SEATS + 1)],
            ),
        ),
    ),
)


def _apart(even: int, times: int, places: int) -> list[int]:
    """Two items that make a pair, so many places apart."""
    return [even - times, *[4999] * (places - 1), even + 1]


def _together(goal: int, count: int) -> list[int]:
    """Items of which all, and no fewer neighbours, have the sum `goal`."""
    return [goal - count + 1, *[1] * (count - 1)]
