"""Functions of a list, whose wrong versions fail where something in it meets exactly."""

from __future__ import annotations

from verigym.envs.code.mutated import Mutated, several

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="longest_run",
        says="the length of the longest stretch in which neighbours differ by NEAR or less; one item is a "
        "stretch, too, but one of more than CAP items does not count, and 0 is given where no stretch counts",
        args={"xs": several(12, 0, 9999, least=2)},
        draws={"CAP": (4, 8), "NEAR": (2, 20)},
        body="""
    best = 0
    run = 1
    for i in range(1, len(xs) + 1):
        if i < len(xs) and abs(xs[i] - xs[i - 1]) <= NEAR:
            run += 1
        else:
            if run <= CAP and run > best:
                best = run
            run = 1
    return best
""",
        changes=(
            ("run <= CAP", "run < CAP", lambda CAP, **_: [[1] * CAP]),
            ("run <= CAP", "run <= CAP + 1", lambda CAP, **_: [[1] * (CAP + 1)]),
            ("- 1]) <= NEAR", "- 1]) < NEAR", lambda NEAR, **_: [[1, 1 + NEAR]]),
            ("- 1]) <= NEAR", "- 1]) <= NEAR + 1", lambda NEAR, **_: [[1, 2 + NEAR]]),
            (
                "abs(xs[i] - xs[i - 1]) <= NEAR",
                "-NEAR < xs[i] - xs[i - 1] <= NEAR",
                lambda NEAR, **_: [[1 + NEAR, 1]],
            ),
            (" and run > best", "", lambda **_: [[1, 1, 99]]),
            (
                "            run = 1",
                "                run = 1",
                lambda CAP, **_: [[1] * (CAP + 1) + [99, 99]],
            ),
        ),
    ),
    Mutated(
        name="peaks",
        says="how many items are above the item before by at least RISE and above the one after by at least "
        "FALL; items before place START (places are counted from 0) and the last item never count",
        args={"xs": several(10, -1000, 1000)},
        draws={"RISE": (1450, 1900), "FALL": (1450, 1900), "START": (2, 5)},
        body="""
    count = 0
    for i in range(START, len(xs) - 1):
        if xs[i] - xs[i - 1] >= RISE and xs[i] - xs[i + 1] >= FALL:
            count += 1
    return count
""",
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
        says="where the item nearest to GOAL stands, counted from 0, the first of those that are equally near; "
        "-1 where no item is nearer than FAR",
        args={"xs": several(9, -2000, 2000)},
        draws={"GOAL": (-1500, 1500), "FAR": (3, 6)},
        body="""
    found = -1
    best = FAR
    for i in range(len(xs)):
        gap = abs(xs[i] - GOAL)
        if gap < best:
            found = i
            best = gap
    return found
""",
        changes=(
            ("gap < best", "gap <= best", lambda GOAL, **_: [[GOAL, GOAL]]),
            ("best = FAR", "best = FAR + 1", lambda GOAL, FAR, **_: [[GOAL + FAR]]),
            ("best = FAR", "best = FAR - 1", lambda GOAL, FAR, **_: [[GOAL + FAR - 1]]),
            ("            best = gap\n", "", lambda GOAL, **_: [[GOAL, GOAL + 1]]),
            (
                "abs(xs[i] - GOAL)",
                "max(xs[i] - GOAL, GOAL - xs[i] + 1)",
                lambda GOAL, FAR, **_: [[GOAL - FAR + 1]],
            ),
            ("range(len(xs))", "range(len(xs) - 1)", lambda GOAL, **_: [[GOAL]]),
            ("range(len(xs))", "range(1, len(xs))", lambda GOAL, **_: [[GOAL, GOAL]]),
        ),
    ),
    Mutated(
        name="balance",
        says="what is left on an account that starts at 0 after the given payments in order; a payment that "
        "would bring it below FLOOR is skipped, and one that would bring it above CEILING counts half, rounded down",
        args={"payments": several(8, -1000, 1000)},
        draws={"FLOOR": (-980, -900), "CEILING": (1500, 1900)},
        body="""
    total = 0
    for p in payments:
        if total + p < FLOOR:
            continue
        if total + p > CEILING:
            p = p // 2
        total = total + p
    return total
""",
        changes=(
            ("< FLOOR", "<= FLOOR", lambda FLOOR, **_: [[FLOOR]]),
            ("< FLOOR", "< FLOOR - 1", lambda FLOOR, **_: [[FLOOR - 1]]),
            ("> CEILING", ">= CEILING", lambda CEILING, **_: [[1000, CEILING - 1000]]),
            ("> CEILING", "> CEILING + 1", lambda CEILING, **_: [[1000, CEILING - 999]]),
            ("< FLOOR", "<= FLOOR + 1", lambda FLOOR, **_: [[FLOOR + 1]]),
            ("> CEILING", ">= CEILING - 1", lambda CEILING, **_: [[1000, CEILING - 1001]]),
            (
                "total + p > CEILING",
                "total + p > CEILING and p > 0",
                lambda CEILING, **_: [[1000, CEILING - 1000, 1000, -4]],
            ),
        ),
    ),
    Mutated(
        name="in_band",
        says="how many items are from LOW to LOW + WIDE, both included, those left out that are equal to the item "
        "before them",
        args={"xs": several(10, -1000, 1000)},
        draws={"LOW": (-900, 800), "WIDE": (20, 120)},
        body="""
    count = 0
    for i in range(len(xs)):
        if LOW <= xs[i] <= LOW + WIDE and (i == 0 or xs[i] != xs[i - 1]):
            count += 1
    return count
""",
        changes=(
            ("if LOW <= ", "if LOW < ", lambda LOW, **_: [[LOW]]),
            ("if LOW <= ", "if LOW - 1 <= ", lambda LOW, **_: [[LOW - 1]]),
            ("<= LOW + WIDE", "< LOW + WIDE", lambda LOW, WIDE: [[LOW + WIDE]]),
            ("<= LOW + WIDE", "<= LOW + WIDE + 1", lambda LOW, WIDE: [[LOW + WIDE + 1]]),
            ("(i == 0 or xs[i] != xs[i - 1])", "xs[i] != xs[i - 1]", lambda LOW, **_: [[LOW + 1]]),
            (" and (i == 0 or xs[i] != xs[i - 1])", "", lambda LOW, **_: [[LOW + 1, LOW + 1]]),
            ("xs[i] != xs[i - 1]", "xs[i] not in xs[:i]", lambda LOW, **_: [[LOW + 1, 0, LOW + 1]]),
        ),
    ),
    Mutated(
        name="reach",
        says="after how many items from the left the sum of the items is GOAL or more for the first time, "
        "items below LEAST left out of the sum but counted; -1 where it never is",
        args={"xs": several(10, -1000, 1000)},
        draws={"GOAL": (4200, 4900), "LEAST": (20, 90)},
        body="""
    total = 0
    for i in range(len(xs)):
        if xs[i] >= LEAST:
            total += xs[i]
        if total >= GOAL:
            return i + 1
    return -1
""",
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


def _ending(total: int, last: int) -> list[int]:
    """A list whose items before the last have this sum."""
    return [*[1000] * 4, total - 4000, last]


def _peak(place: int, rise: int, fall: int) -> list[int]:
    """A list with one item above those before and after it by so much."""
    return [*[1000 - rise] * place, 1000, 1000 - fall]
