"""Functions whose wrong versions fail only where several things in the arguments meet."""

from __future__ import annotations

from verigym.envs.code.mutated import Mutated, several, whole

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="covered",
        says="how long a line is covered by the given pieces, each from the smaller to the larger of its two "
        "ends; pieces shorter than SHORT are left out, and a gap of up to GAP between two others counts as covered, too",
        args={
            "pieces": {"kind": "list", "low": 0, "high": 6, "of": several(2, -5000, 5000, least=2)}
        },
        draws={"GAP": (3, 90), "SHORT": (100, 600)},
        body="""
    long = [p for p in pieces if abs(p[0] - p[1]) >= SHORT]
    total = 0
    end = None
    for a, b in sorted([[min(p[0], p[1]), max(p[0], p[1])] for p in long]):
        if end is None or a > end + GAP:
            total += b - a
            end = b
        elif b > end:
            total += b - end
            end = b
    return total
""",
        changes=(
            (">= SHORT", "> SHORT", lambda SHORT, **_: [[[0, SHORT]]]),
            (">= SHORT", ">= SHORT - 1", lambda SHORT, **_: [[[0, SHORT - 1]]]),
            (
                "abs(p[0] - p[1]) >= SHORT",
                "p[1] - p[0] >= SHORT or p[0] - p[1] > SHORT",
                lambda SHORT, **_: [[[SHORT, 0]]],
            ),
            ("a > end + GAP", "a >= end + GAP", lambda GAP, **_: [[[0, 999], [999 + GAP, 2000]]]),
            (
                "a > end + GAP",
                "a > end + GAP + 1",
                lambda GAP, **_: [[[0, 999], [1000 + GAP, 2000]]],
            ),
            (
                "a > end + GAP",
                "a > end + GAP or a == end + 1",
                lambda **_: [[[0, 999], [1000, 2000]]],
            ),
            ("elif b > end", "elif b > end + 1", lambda **_: [[[0, 999], [5, 1000]]]),
        ),
    ),
    Mutated(
        name="pairs",
        says="how many pairs of items with the sum 2 * HALF can be taken, an item in one pair at most and the two of a "
        "pair at most WIDTH places apart: from the left, each item not yet taken is taken together with the first "
        "item after it, not yet taken, that it makes a pair with",
        args={"xs": several(10, -5000, 5000)},
        draws={"WIDTH": (2, 6), "HALF": (-900, 900)},
        body="""
    count = 0
    used = []
    for i in range(len(xs)):
        for j in range(i + 1, min(i + WIDTH + 1, len(xs))):
            if xs[i] + xs[j] == 2 * HALF and i not in used and j not in used:
                used += [i, j]
                count += 1
    return count
""",
        changes=(
            ("WIDTH + 1", "WIDTH", lambda WIDTH, HALF, **_: [_apart(HALF, WIDTH)]),
            ("WIDTH + 1", "WIDTH + 2", lambda WIDTH, HALF, **_: [_apart(HALF, WIDTH + 1)]),
            (
                "xs[i] + xs[j] == 2 * HALF",
                "abs(xs[i] + xs[j] - 2 * HALF) <= 1",
                lambda HALF, **_: [[HALF, HALF + 1]],
            ),
            ("i not in used and ", "", lambda HALF, **_: [[HALF - 1, HALF + 1, HALF + 1]]),
            (" and j not in used", "", lambda HALF, **_: [[HALF - 1, HALF - 1, HALF + 1]]),
            ("range(i + 1,", "range(i,", lambda HALF, **_: [[HALF]]),
            ("used += [i, j]", "used += [i]", lambda HALF, **_: [[HALF - 1, HALF + 1, HALF - 1]]),
            (
                "WIDTH + 1, len(xs))",
                "WIDTH + 1, len(xs) - 1)",
                lambda HALF, **_: [[HALF - 1, HALF + 1]],
            ),
        ),
    ),
    Mutated(
        name="sums_to",
        says="the first place, counted from 0, from which the sum of some neighbours to the right, itself "
        "included, at least one and at most WIDTH of them, is exactly GOAL; -1 where there is none",
        args={"xs": several(10, -5000, 5000)},
        draws={"WIDTH": (3, 6), "GOAL": (100, 4000)},
        body="""
    for i in range(len(xs)):
        total = 0
        for j in range(i, min(i + WIDTH, len(xs))):
            total += xs[j]
            if total == GOAL:
                return i
    return -1
""",
        changes=(
            ("i + WIDTH", "i + WIDTH - 1", lambda WIDTH, GOAL: [_together(GOAL, WIDTH)]),
            ("i + WIDTH", "i + WIDTH + 1", lambda WIDTH, GOAL: [_together(GOAL, WIDTH + 1)]),
            ("total == GOAL", "abs(total - GOAL) <= 1", lambda GOAL, **_: [[GOAL + 1]]),
            ("range(len(xs))", "range(len(xs) - 1)", lambda GOAL, **_: [[GOAL]]),
            ("range(len(xs))", "range(1, len(xs))", lambda GOAL, **_: [[GOAL]]),
            ("total == GOAL", "total == GOAL and i < j", lambda GOAL, **_: [[GOAL]]),
            ("return i", "return j", lambda GOAL, **_: [[GOAL - 1, 1]]),
        ),
    ),
    Mutated(
        name="rising",
        says="the length of the longest choice of items, in their order and not only of neighbours, in which "
        "each is above the one before by STEP to STEP + SLACK",
        args={"xs": several(10, -5000, 5000)},
        draws={"STEP": (50, 900), "SLACK": (2, 9)},
        body="""
    best = []
    for i in range(len(xs)):
        longest = 0
        for j in range(i):
            if STEP <= xs[i] - xs[j] <= STEP + SLACK and best[j] > longest:
                longest = best[j]
        best.append(longest + 1)
    return max(best, default=0)
""",
        changes=(
            ("if STEP <= ", "if STEP < ", lambda STEP, **_: [[0, STEP]]),
            ("if STEP <= ", "if STEP - 1 <= ", lambda STEP, **_: [[0, STEP - 1]]),
            ("<= STEP + SLACK", "< STEP + SLACK", lambda STEP, SLACK, **_: [[0, STEP + SLACK]]),
            (
                "<= STEP + SLACK",
                "<= STEP + SLACK + 1",
                lambda STEP, SLACK, **_: [[0, STEP + SLACK + 1]],
            ),
            (
                " and best[j] > longest",
                "",
                lambda STEP, **_: [[0, STEP, STEP - 1, 2 * STEP]],
            ),
            ("for j in range(i)", "for j in range(i - 1)", lambda STEP, **_: [[0, STEP]]),
            ("for j in range(i)", "for j in range(1, i)", lambda STEP, **_: [[0, STEP]]),
            (
                "for j in range(i)",
                "for j in range(max(i - 3, 0), i)",
                lambda STEP, **_: [[0, -STEP, -STEP, -STEP, STEP]],
            ),
            ("max(best, default=0)", "(best or [0])[-1]", lambda STEP, **_: [[0, STEP, 0]]),
        ),
    ),
    Mutated(
        name="ahead",
        says="how many different items lie from goal + NEAR to goal + NEAR + WIDE, both included",
        args={"xs": several(10, -5000, 5000), "goal": whole(-4000, 3000)},
        draws={"NEAR": (-900, 900), "WIDE": (9, 50)},
        body="""
    seen = []
    for x in xs:
        if NEAR <= x - goal <= NEAR + WIDE and x not in seen:
            seen.append(x)
    return len(seen)
""",
        changes=(
            ("if NEAR <= ", "if NEAR < ", lambda NEAR, **_: [[NEAR], 0]),
            ("if NEAR <= ", "if NEAR - 1 <= ", lambda NEAR, **_: [[NEAR - 1], 0]),
            ("<= NEAR + WIDE", "< NEAR + WIDE", lambda NEAR, WIDE: [[NEAR + WIDE], 0]),
            ("<= NEAR + WIDE", "<= NEAR + WIDE + 1", lambda NEAR, WIDE: [[NEAR + WIDE + 1], 0]),
            (" and x not in seen", "", lambda NEAR, **_: [[NEAR + 1, NEAR + 1], 0]),
            (
                "x not in seen",
                "x not in seen[-1:]",
                lambda NEAR, **_: [[NEAR + 1, NEAR + 2, NEAR + 1], 0],
            ),
        ),
    ),
    Mutated(
        name="stops",
        says="how many stops a bus needs for passengers who come one by one, each with a weight (its size, "
        "a negative one counts as positive): they board in order until SEATS are aboard or the next one would bring the "
        "load above LOAD, and one who alone is above LOAD is left behind",
        args={"weights": several(10, -5000, 5000)},
        draws={"SEATS": (5, 7), "LOAD": (3500, 4900)},
        body="""
    trips = 0
    aboard = 0
    load = 0
    for w in weights:
        w = abs(w)
        if w > LOAD:
            continue
        if aboard == 0 or aboard == SEATS or load + w > LOAD:
            trips += 1
            aboard = 0
            load = 0
        aboard += 1
        load += w
    return trips
""",
        changes=(
            ("if w > LOAD", "if w >= LOAD", lambda LOAD, **_: [[LOAD]]),
            ("if w > LOAD", "if w > LOAD + 1", lambda LOAD, **_: [[LOAD + 1]]),
            ("load + w > LOAD", "load + w >= LOAD", lambda LOAD, **_: [[1, LOAD - 1]]),
            ("load + w > LOAD", "load + w > LOAD + 1", lambda LOAD, **_: [[1, LOAD]]),
            ("aboard == SEATS", "aboard == SEATS + 1", lambda SEATS, **_: [[1] * (SEATS + 1)]),
            ("aboard == SEATS", "aboard == SEATS - 1", lambda SEATS, **_: [[1] * SEATS]),
            ("            load = 0", "            load = 1", lambda LOAD, **_: [[1, LOAD - 1]]),
        ),
    ),
)


def _apart(half: int, places: int) -> list[int]:
    """Two items that make a pair, so many places apart."""
    return [half - 1, *[4999] * (places - 1), half + 1]


def _together(goal: int, count: int) -> list[int]:
    """Items of which all, and no fewer neighbours, have the sum `goal`."""
    return [goal - count + 1, *[1] * (count - 1)]
