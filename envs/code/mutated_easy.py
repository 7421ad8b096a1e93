"""Functions of a number or two, whose wrong versions fail at single numbers."""

from __future__ import annotations

from verigym.envs.code.mutated import TRUTH, Mutated, whole

FUNCTIONS: tuple[Mutated, ...] = (
    Mutated(
        name="clamp",
        says="0 where x is nearer to 0 than DEAD, else x, or the nearer end of LOW to HIGH where it is outside",
        args={"x": whole(-2000, 2000)},
        draws={"LOW": (-1500, -400), "HIGH": (400, 1500), "DEAD": (20, 300)},
        body="""
    if abs(x) < DEAD:
        return 0
    if x < LOW:
        return LOW
    if x > HIGH:
        return HIGH
    return x
""",
        changes=(
            ("abs(x) < DEAD", "abs(x) <= DEAD", lambda DEAD, **_: [DEAD]),
            ("abs(x) < DEAD", "abs(x) < DEAD - 1", lambda DEAD, **_: [DEAD - 1]),
            ("abs(x) < DEAD", "-DEAD <= x < DEAD", lambda DEAD, **_: [-DEAD]),
            ("abs(x) < DEAD", "-DEAD < x <= DEAD", lambda DEAD, **_: [DEAD]),
            ("x < LOW", "x < LOW - 1", lambda LOW, **_: [LOW - 1]),
            ("x > HIGH", "x > HIGH + 1", lambda HIGH, **_: [HIGH + 1]),
        ),
    ),
    Mutated(
        name="postage",
        says="the price of a parcel: SMALL up to a weight of LIGHT, LARGE above that, twice as much by express; "
        "FEE more from a weight of HEAVY on, by express or not",
        args={"weight": whole(0, 5000), "express": TRUTH},
        draws={
            "LIGHT": (100, 900),
            "HEAVY": (1500, 4500),
            "SMALL": (50, 150),
            "LARGE": (200, 400),
            "FEE": (30, 90),
        },
        body="""
    price = SMALL
    if weight > LIGHT:
        price = LARGE
    if express:
        price = price * 2
    if weight >= HEAVY:
        price = price + FEE
    return price
""",
        changes=(
            ("weight > LIGHT", "weight >= LIGHT", lambda LIGHT, **_: [LIGHT, False]),
            ("weight > LIGHT", "weight > LIGHT + 1", lambda LIGHT, **_: [LIGHT + 1, True]),
            (
                "weight > LIGHT",
                "weight > LIGHT or express and weight == LIGHT",
                lambda LIGHT, **_: [LIGHT, True],
            ),
            ("weight >= HEAVY", "weight > HEAVY", lambda HEAVY, **_: [HEAVY, False]),
            ("weight >= HEAVY", "weight >= HEAVY - 1", lambda HEAVY, **_: [HEAVY - 1, True]),
            (
                "weight >= HEAVY",
                "weight > HEAVY or weight == HEAVY and not express",
                lambda HEAVY, **_: [HEAVY, True],
            ),
        ),
    ),
    Mutated(
        name="is_special",
        says="whether a year is special: counted from START, it is divisible by 7, but not by MIDDLE unless by "
        "TIMES times MIDDLE as well; years before START never are",
        args={"year": whole(1, 20000)},
        draws={"START": (200, 3000), "MIDDLE": (60, 99), "TIMES": (2, 4)},
        body="""
    if year < START:
        return False
    n = year - START
    return n % 7 == 0 and (n % MIDDLE != 0 or n % (MIDDLE * TIMES) == 0)
""",
        changes=(
            ("year < START", "year <= START", lambda START, **_: [START]),
            ("year < START", "year < START - 7", lambda START, **_: [START - 7]),
            (
                " or n % (MIDDLE * TIMES) == 0",
                "",
                lambda START, MIDDLE, TIMES, **_: [START + 7 * MIDDLE * TIMES],
            ),
            (
                "MIDDLE * TIMES",
                "MIDDLE * (TIMES + 1)",
                lambda START, MIDDLE, TIMES, **_: [START + 7 * MIDDLE * TIMES],
            ),
            (
                "n % MIDDLE != 0",
                "n % (MIDDLE + 1) != 0",
                lambda START, MIDDLE, **_: [START + 7 * MIDDLE],
            ),
        ),
    ),
    Mutated(
        name="grade",
        says="the grade of a score: A from FIRST points, B from SECOND, C from THIRD, else F; a bonus of "
        "BONUS points is added first where there is one",
        args={"score": whole(0, 3000), "bonus": TRUTH},
        draws={
            "FIRST": (2400, 2800),
            "SECOND": (1600, 2200),
            "THIRD": (800, 1400),
            "BONUS": (3, 12),
        },
        body="""
    if bonus:
        score = score + BONUS
    if score >= FIRST:
        return "A"
    if score >= SECOND:
        return "B"
    if score >= THIRD:
        return "C"
    return "F"
""",
        changes=(
            (">= FIRST", "> FIRST", lambda FIRST, BONUS, **_: [FIRST - BONUS, True]),
            (">= SECOND", "> SECOND", lambda SECOND, **_: [SECOND, False]),
            (">= THIRD", "> THIRD", lambda THIRD, BONUS, **_: [THIRD - BONUS, True]),
            (">= FIRST", ">= FIRST - 1", lambda FIRST, **_: [FIRST - 1, False]),
            (
                "score + BONUS",
                "score + BONUS - 1",
                lambda FIRST, BONUS, **_: [FIRST - BONUS, True],
            ),
            (
                "if bonus",
                "if bonus and score < SECOND",
                lambda FIRST, BONUS, **_: [FIRST - BONUS, True],
            ),
            (
                "if bonus",
                "if bonus and score >= THIRD",
                lambda THIRD, BONUS, **_: [THIRD - BONUS, True],
            ),
        ),
    ),
    Mutated(
        name="round_to",
        says="n rounded to the nearest multiple of 2 * HALF, the exact middle upwards, that is to the "
        "larger one; a number further than (2 * TIMES + 1) * HALF from 0 stays as it is",
        args={"n": whole(-9999, 9999)},
        draws={"HALF": (50, 380), "TIMES": (3, 12)},
        body="""
    most = (2 * TIMES + 1) * HALF
    if abs(n) > most:
        return n
    rest = n % (2 * HALF)
    if rest >= HALF:
        return n - rest + 2 * HALF
    return n - rest
""",
        changes=(
            ("rest >= HALF", "rest > HALF", lambda HALF, **_: [HALF]),
            ("rest >= HALF", "rest >= HALF - 1", lambda HALF, **_: [HALF - 1]),
            ("rest >= HALF", "rest > HALF or rest == HALF and n > 0", lambda HALF, **_: [-HALF]),
            (
                "abs(n) > most",
                "abs(n) >= most",
                lambda TIMES, HALF: [(2 * TIMES + 1) * HALF],
            ),
            (
                "abs(n) > most",
                "abs(n) > most + 1",
                lambda TIMES, HALF: [(2 * TIMES + 1) * HALF + 1],
            ),
            (
                "abs(n) > most",
                "n > most or n <= -most",
                lambda TIMES, HALF: [-(2 * TIMES + 1) * HALF],
            ),
        ),
    ),
    Mutated(
        name="wait",
        says="how many minutes it is to the next bus: one goes at FIRST and every EVERY minutes after it, the last one "
        "COUNT times EVERY minutes after FIRST; -1 after the last has gone, and -2 before OPEN, when nobody is let in",
        args={"minute": whole(0, 6000)},
        draws={"FIRST": (300, 900), "EVERY": (90, 250), "COUNT": (5, 15), "OPEN": (20, 250)},
        body="""
    last = FIRST + COUNT * EVERY
    if minute < OPEN:
        return -2
    if minute > last:
        return -1
    if minute < FIRST:
        return FIRST - minute
    return (FIRST - minute) % EVERY
""",
        changes=(
            ("minute < OPEN", "minute <= OPEN", lambda OPEN, **_: [OPEN]),
            ("minute < OPEN", "minute < OPEN - 1", lambda OPEN, **_: [OPEN - 1]),
            (
                "minute > last",
                "minute >= last",
                lambda FIRST, EVERY, COUNT, **_: [FIRST + COUNT * EVERY],
            ),
            (
                "minute > last",
                "minute > last + 1",
                lambda FIRST, EVERY, COUNT, **_: [FIRST + COUNT * EVERY + 1],
            ),
            (
                "(FIRST - minute) % EVERY",
                "EVERY - (minute - FIRST) % EVERY",
                lambda FIRST, EVERY, **_: [FIRST + EVERY],
            ),
        ),
    ),
)
