"""Functions of a number or two, whose wrong versions fail at single numbers."""

from __future__ import annotations

from collections.abc import Callable

from verigym.envs.code.mutated import TRUTH, Mutated, whole

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="clamp",
        says="TIMES times the amount by which x exceeds SHIFT, changed in two ways: a value whose distance "
        "from 0 is less than DEAD becomes 0, and a value outside the range from LOW to HIGH becomes the "
        "nearer end of that range",
        args={"x": whole(-2000, 2000)},
        draws={
            "TIMES": (3, 9),
            "SHIFT": (30, 300),
            "NEAR": (20, 300),
            "LEFT": (400, 1500),
            "RIGHT": (400, 1500),
        },
        computed={
            "DEAD": lambda TIMES, NEAR, **_: TIMES * NEAR,
            "LOW": lambda TIMES, LEFT, **_: -TIMES * LEFT,
            "HIGH": lambda TIMES, RIGHT, **_: TIMES * RIGHT,
        },
        changes=(
            ("abs(y) < DEAD", "abs(y) <= DEAD", lambda SHIFT, NEAR, **_: [SHIFT + NEAR]),
            (
                "abs(y) < DEAD",
                "abs(y) < DEAD - TIMES",
                lambda SHIFT, NEAR, **_: [SHIFT + NEAR - 1],
            ),
            ("abs(y) < DEAD", "-DEAD <= y < DEAD", lambda SHIFT, NEAR, **_: [SHIFT - NEAR]),
            ("abs(y) < DEAD", "-DEAD < y <= DEAD", lambda SHIFT, NEAR, **_: [SHIFT + NEAR]),
            ("y < LOW", "y < LOW - TIMES", lambda SHIFT, LEFT, **_: [SHIFT - LEFT - 1]),
            ("y > HIGH", "y > HIGH + TIMES", lambda SHIFT, RIGHT, **_: [SHIFT + RIGHT + 1]),
        ),
    ),
    Mutated(
        name="postage",
        says="the price of a parcel with some scoops of SCOOP grams each, in a box of BOX grams: SMALL for "
        "at most LIGHT grams in all, LARGE for more; express doubles this price; from HEAVY grams on, "
        "FEE is added at the end, with or without express",
        args={"scoops": whole(0, 5000), "express": TRUTH},
        draws={
            "SCOOP": (3, 19),
            "BOX": (101, 999),
            "FEW": (420, 980),
            "MANY": (1500, 4500),
            "SMALL": (50, 150),
            "LARGE": (200, 400),
            "FEE": (30, 90),
        },
        computed={
            "LIGHT": lambda SCOOP, BOX, FEW, **_: BOX + SCOOP * FEW,
            "HEAVY": lambda SCOOP, BOX, MANY, **_: BOX + SCOOP * MANY,
        },
        changes=(
            ("grams > LIGHT", "grams >= LIGHT", lambda FEW, **_: [FEW, False]),
            ("grams > LIGHT", "grams > LIGHT + SCOOP", lambda FEW, **_: [FEW + 1, True]),
            (
                "grams > LIGHT",
                "grams > LIGHT or express and grams == LIGHT",
                lambda FEW, **_: [FEW, True],
            ),
            ("grams >= HEAVY", "grams > HEAVY", lambda MANY, **_: [MANY, False]),
            ("grams >= HEAVY", "grams >= HEAVY - SCOOP", lambda MANY, **_: [MANY - 1, True]),
            (
                "grams >= HEAVY",
                "grams > HEAVY or grams == HEAVY and not express",
                lambda MANY, **_: [MANY, True],
            ),
        ),
    ),
    Mutated(
        name="is_special",
        says="True if a year is special in a calendar that began START years before ours, else False: the "
        "number of the year in that calendar must be divisible by 7, and if it is divisible by MIDDLE "
        "it must also be divisible by TIMES times MIDDLE",
        args={"year": whole(1, 20000)},
        draws={"START": (200, 3000), "WEEKS": (14, 28), "DAYS": (1, 6), "TIMES": (2, 4)},
        computed={"MIDDLE": lambda WEEKS, DAYS, **_: 7 * WEEKS + DAYS},
        changes=(
            (
                " or n % (MIDDLE * TIMES) == 0",
                "",
                lambda START, WEEKS, DAYS, TIMES: [
                    _year(START, 7 * (7 * WEEKS + DAYS) * TIMES, lambda n: True)
                ],
            ),
            (
                "MIDDLE * TIMES",
                "MIDDLE * (TIMES + 1)",
                lambda START, WEEKS, DAYS, TIMES: [
                    _year(
                        START,
                        7 * (7 * WEEKS + DAYS) * TIMES,
                        lambda n: n % ((7 * WEEKS + DAYS) * (TIMES + 1)),
                    )
                ],
            ),
            (
                "MIDDLE * TIMES",
                "MIDDLE + TIMES",
                lambda START, WEEKS, DAYS, TIMES: [
                    _year(
                        START,
                        7 * (7 * WEEKS + DAYS) * TIMES,
                        lambda n: n % (7 * WEEKS + DAYS + TIMES),
                    )
                ],
            ),
            (
                "n % MIDDLE != 0",
                "n % (MIDDLE + 1) != 0",
                lambda START, WEEKS, DAYS, TIMES: [
                    _year(
                        START,
                        7 * (7 * WEEKS + DAYS),
                        lambda n: n % ((7 * WEEKS + DAYS) * TIMES) and n % (7 * WEEKS + DAYS + 1),
                    )
                ],
            ),
            (
                "n % MIDDLE != 0",
                "n % MIDDLE > 1",
                lambda START, WEEKS, DAYS, **_: [
                    _year(START, 7, lambda n: n % (7 * WEEKS + DAYS) == 1)
                ],
            ),
        ),
    ),
    Mutated(
        name="grade",
        says="the grade for a number of correct answers worth EACH points each: A from FIRST points on, B "
        "from SECOND on, C from THIRD on, else F; if there is a bonus, BONUS points are added first",
        args={"answers": whole(0, 3000), "bonus": TRUTH},
        draws={
            "EACH": (4, 9),
            "TOP": (2400, 2800),
            "GOOD": (1600, 2200),
            "FAIR": (850, 1400),
            "MORE": (3, 12),
        },
        computed={
            "FIRST": lambda EACH, TOP, **_: EACH * TOP,
            "SECOND": lambda EACH, GOOD, **_: EACH * GOOD,
            "THIRD": lambda EACH, FAIR, **_: EACH * FAIR,
            "BONUS": lambda EACH, MORE, **_: EACH * MORE,
        },
        changes=(
            (">= FIRST", "> FIRST", lambda TOP, MORE, **_: [TOP - MORE, True]),
            (">= SECOND", "> SECOND", lambda GOOD, **_: [GOOD, False]),
            (">= THIRD", "> THIRD", lambda FAIR, MORE, **_: [FAIR - MORE, True]),
            (">= FIRST", ">= FIRST - EACH", lambda TOP, **_: [TOP - 1, False]),
            (
                "points + BONUS",
                "points + BONUS - EACH",
                lambda TOP, MORE, **_: [TOP - MORE, True],
            ),
            (
                "if bonus",
                "if bonus and points < SECOND",
                lambda TOP, MORE, **_: [TOP - MORE, True],
            ),
            (
                "if bonus",
                "if bonus and points >= THIRD",
                lambda FAIR, MORE, **_: [FAIR - MORE, True],
            ),
        ),
    ),
    Mutated(
        name="round_to",
        says="n rounded to the nearest number that is SHIFT more than a multiple of WIDTH, where the exact "
        "middle is rounded up; but if n is more than TIMES and a half times WIDTH away from SHIFT, it "
        "returns n unchanged",
        args={"n": whole(-9999, 9999)},
        draws={"SHIFT": (20, 480), "HALF": (120, 380), "TIMES": (3, 12)},
        computed={"WIDTH": lambda HALF, **_: 2 * HALF},
        changes=(
            (
                "rest >= WIDTH // 2",
                "rest > WIDTH // 2",
                lambda SHIFT, HALF, **_: [SHIFT + 3 * HALF],
            ),
            (
                "rest >= WIDTH // 2",
                "rest >= WIDTH // 2 - 1",
                lambda SHIFT, HALF, **_: [SHIFT + HALF - 1],
            ),
            (
                "rest >= WIDTH // 2",
                "rest > WIDTH // 2 or rest == WIDTH // 2 and m > 0",
                lambda SHIFT, HALF, **_: [SHIFT - HALF],
            ),
            (
                "abs(m) > most",
                "abs(m) >= most",
                lambda SHIFT, HALF, TIMES: [SHIFT + (2 * TIMES + 1) * HALF],
            ),
            (
                "abs(m) > most",
                "abs(m) > most + 1",
                lambda SHIFT, HALF, TIMES: [SHIFT + (2 * TIMES + 1) * HALF + 1],
            ),
            (
                "abs(m) > most",
                "m > most or m <= -most",
                lambda SHIFT, HALF, TIMES: [SHIFT - (2 * TIMES + 1) * HALF],
            ),
        ),
    ),
    Mutated(
        name="wait",
        says="the minutes until the next bus, where the argument is the time in minutes after midnight: the "
        "first bus goes MINUTE minutes after HOUR o'clock, then one every EVERY minutes, and the last "
        "one COUNT times EVERY minutes after the first; it returns -1 after the last bus, and -2 at a "
        "time more than half of EVERY minutes before the first one",
        args={"minute": whole(0, 6000)},
        draws={"HOUR": (5, 14), "MINUTE": (11, 58), "HALF": (45, 125), "COUNT": (5, 15)},
        computed={"EVERY": lambda HALF, **_: 2 * HALF},
        changes=(
            (
                "minute < first - EVERY // 2",
                "minute <= first - EVERY // 2",
                lambda HOUR, MINUTE, HALF, **_: [60 * HOUR + MINUTE - HALF],
            ),
            (
                "minute < first - EVERY // 2",
                "minute < first - EVERY // 2 - 1",
                lambda HOUR, MINUTE, HALF, **_: [60 * HOUR + MINUTE - HALF - 1],
            ),
            (
                "minute > last",
                "minute >= last",
                lambda HOUR, MINUTE, HALF, COUNT: [60 * HOUR + MINUTE + COUNT * 2 * HALF],
            ),
            (
                "minute > last",
                "minute > last + 1",
                lambda HOUR, MINUTE, HALF, COUNT: [60 * HOUR + MINUTE + COUNT * 2 * HALF + 1],
            ),
            (
                "(first - minute) % EVERY",
                "EVERY - (minute - first) % EVERY",
                lambda HOUR, MINUTE, HALF, **_: [60 * HOUR + MINUTE + 2 * HALF],
            ),
        ),
    ),
)


def _year(start: int, step: int, fits: Callable[[int], int]) -> int:
    """The first year whose number in the calendar is a multiple of `step` that fits."""
    n = start + step - start % step
    while not fits(n):
        n += step
    return n - start
