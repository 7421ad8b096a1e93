"""Functions with wrong versions of themselves: what `code/tests` asks for inputs to.

Upper-case words of a source stand for numbers that are drawn for each task. A wrong version is the
source with one place changed. tests/envs/code/test_tests_env.py shows that each wrong version is told
from the right one by some input within the bounds, whatever the numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Bound = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Mutated:
    """One function. `draws` gives each number's range, both ends included."""

    name: str
    says: str
    args: dict[str, Bound]
    draws: dict[str, tuple[int, int]]
    body: str
    changes: tuple[tuple[str, str], ...]

    def program(self, numbers: dict[str, int], change: int | None = None) -> str:
        """The right source, or that with the change of a given number, ready to run."""
        body = self.body.strip("\n")
        if change is not None:
            old, new = self.changes[change]
            body = body.replace(old, new, 1)
        head = f"def {self.name}({', '.join(self.args)}):\n"
        return filled(head + body + "\n", numbers)


def filled(text: str, numbers: dict[str, int]) -> str:
    """`text` with its upper-case words that are names of numbers replaced."""
    return re.sub(r"\b[A-Z]+\b", lambda m: str(numbers.get(m.group(), m.group())), text)


def whole(low: int, high: int) -> Bound:
    """A whole number."""
    return {"kind": "int", "low": low, "high": high}


def several(most: int, low: int = -20, high: int = 20, least: int = 0) -> Bound:
    """A list of whole numbers."""
    return {"kind": "list", "low": least, "high": most, "of": whole(low, high)}


def text(most: int, alphabet: str) -> Bound:
    """A text."""
    return {"kind": "text", "low": 0, "high": most, "alphabet": alphabet}


_TRUTH: Bound = {"kind": "bool"}

_EASY = (
    Mutated(
        name="clamp",
        says="x, or the nearer end of LOW to HIGH where it is outside",
        args={"x": whole(-60, 60)},
        draws={"LOW": (-40, -3), "HIGH": (4, 40)},
        body="""
    if x < LOW:
        return LOW
    if x > HIGH:
        return HIGH
    return x
""",
        changes=(
            ("return LOW", "return LOW + 1"),
            ("return HIGH", "return HIGH - 1"),
            ("x < LOW", "x < LOW - 1"),
            ("x > HIGH", "x > HIGH + 1"),
            ("return x", "return abs(x)"),
            ("x > HIGH", "x == HIGH + 1"),
        ),
    ),
    Mutated(
        name="fare",
        says="the price of a ride: children below CHILD ride free, everyone else pays BASE, members half of it "
        "rounded down, and those of SENIOR years or more DISCOUNT less, but never below 0",
        args={"age": whole(0, 110), "member": _TRUTH},
        draws={"CHILD": (3, 14), "SENIOR": (58, 72), "BASE": (11, 29), "DISCOUNT": (6, 9)},
        body="""
    if age < CHILD:
        return 0
    price = BASE
    if member:
        price = price // 2
    if age >= SENIOR:
        price = price - DISCOUNT
    return max(price, 0)
""",
        changes=(
            ("age < CHILD", "age <= CHILD"),
            ("age < CHILD", "age < CHILD - 1"),
            ("age >= SENIOR", "age > SENIOR"),
            ("age >= SENIOR", "age >= SENIOR - 1"),
            ("price - DISCOUNT", "price - DISCOUNT + 1"),
            ("price = price // 2", "price = price // 2 + (age == CHILD)"),
        ),
    ),
    Mutated(
        name="is_special",
        says="whether a year is special: divisible by SHORT, but not by MIDDLE unless by TIMES times MIDDLE as well",
        args={"year": whole(1, 4000)},
        draws={"SHORT": (4, 5), "MIDDLE": (25, 47), "TIMES": (2, 4)},
        body="""
    return year % SHORT == 0 and (year % MIDDLE != 0 or year % (MIDDLE * TIMES) == 0)
""",
        changes=(
            (" or year % (", " and year % ("),
            (" or year % (MIDDLE * TIMES) == 0", ""),
            ("year % MIDDLE != 0 or ", ""),
            ("MIDDLE * TIMES", "MIDDLE * (TIMES + 1)"),
            ("year % SHORT", "year % (SHORT + 1)"),
        ),
    ),
    Mutated(
        name="grade",
        says="the grade of a score: A from FIRST points, B from SECOND, C from THIRD, else F; a bonus of "
        "BONUS points is added first where there is one",
        args={"score": whole(0, 100), "bonus": _TRUTH},
        draws={"FIRST": (85, 95), "SECOND": (65, 80), "THIRD": (40, 60), "BONUS": (2, 9)},
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
            (">= FIRST", "> FIRST"),
            (">= SECOND", "> SECOND"),
            (">= THIRD", "> THIRD"),
            (">= SECOND", ">= SECOND - 1"),
            ("score + BONUS", "score + BONUS - 1"),
            ("if bonus", "if bonus and score < SECOND"),
        ),
    ),
    Mutated(
        name="round_to",
        says="n rounded to the nearest multiple of STEP, the exact middle upwards, that is to the "
        "larger one",
        args={"n": whole(-99, 99)},
        draws={"STEP": (4, 20)},
        body="""
    rest = n % STEP
    if 2 * rest >= STEP:
        return n - rest + STEP
    return n - rest
""",
        changes=(
            ("2 * rest >= STEP", "2 * rest >= STEP + 2"),
            ("2 * rest >= STEP", "2 * rest >= STEP - 2"),
            ("n % STEP", "abs(n) % STEP"),
            ("2 * rest", "3 * rest"),
            ("return n - rest + STEP", "return n + rest"),
            ("2 * rest >= STEP", "n >= 0 and 2 * rest >= STEP"),
        ),
    ),
    Mutated(
        name="digit_score",
        says="the sum of the decimal digits of n, those above LIMIT counted twice",
        args={"n": whole(0, 99999)},
        draws={"LIMIT": (2, 7)},
        body="""
    total = 0
    while n > 0:
        digit = n % 10
        if digit > LIMIT:
            total += digit
        total += digit
        n = n // 10
    return total
""",
        changes=(
            ("digit > LIMIT", "digit >= LIMIT"),
            ("digit > LIMIT", "digit > LIMIT + 1"),
            ("while n > 0", "while n > 1"),
            ("n % 10", "n % 10 % 9"),
            ("total = 0", "total = n // 99999"),
        ),
    ),
)

_MEDIUM = (
    Mutated(
        name="longest_run",
        says="the length of the longest stretch of equal neighbours, but at most CAP; 0 for an empty list",
        args={"xs": several(12, 0, 4)},
        draws={"CAP": (3, 6)},
        body="""
    best = 0
    run = 0
    for i in range(len(xs)):
        if i > 0 and xs[i] == xs[i - 1]:
            run += 1
        else:
            run = 1
        if run > best:
            best = run
    return min(best, CAP)
""",
        changes=(
            ("        if run > best:\n            best = run", "        best = run"),
            ("range(len(xs))", "range(len(xs) - 1)"),
            ("min(best, CAP)", "best"),
            ("min(best, CAP)", "min(best, CAP - 1)"),
            ("xs[i] == xs[i - 1]", "xs[i] >= xs[i - 1]"),
            ("            run = 1", "            best = run = 1"),
        ),
    ),
    Mutated(
        name="peaks",
        says="how many items are above both neighbours by at least RISE; the first and the last item have "
        "one neighbour and never count",
        args={"xs": several(10)},
        draws={"RISE": (2, 9)},
        body="""
    count = 0
    for i in range(1, len(xs) - 1):
        if xs[i] - xs[i - 1] >= RISE and xs[i] - xs[i + 1] >= RISE:
            count += 1
    return count
""",
        changes=(
            ("range(1,", "range(2,"),
            ("range(1,", "range(0,"),
            ("len(xs) - 1)", "len(xs) - 2)"),
            ("xs[i - 1] >= RISE", "xs[i - 1] > RISE"),
            ("xs[i + 1] >= RISE", "xs[i + 1] > RISE"),
            ("xs[i] - xs[i - 1] >= RISE", "xs[i] - xs[i - 1] >= RISE - 1"),
            ("count += 1", "count = 1"),
        ),
    ),
    Mutated(
        name="runner_up",
        says="the second largest of the different values in the list, FALLBACK where there are fewer than two",
        args={"xs": several(8)},
        draws={"FALLBACK": (-90, -40)},
        body="""
    first = None
    second = None
    for x in xs:
        if first is None or x > first:
            second = first
            first = x
        elif x != first and (second is None or x > second):
            second = x
    if second is None:
        return FALLBACK
    return second
""",
        changes=(
            ("            second = first\n", ""),
            ("x != first and ", ""),
            ("second is None or x > second", "second is None"),
            ("second is None or x > second", "second is not None and x > second"),
            ("x > first", "x >= first"),
            ("second is None or x > second", "second is None or x < second"),
            ("return FALLBACK", "return FALLBACK + 1"),
            ("for x in xs", "for x in xs[1:]"),
        ),
    ),
    Mutated(
        name="balance",
        says="what is left on an account that starts at 0 after the given payments in order; a payment that "
        "would bring it below FLOOR is skipped, and above CEILING it stays at CEILING",
        args={"payments": several(8)},
        draws={"FLOOR": (-15, -4), "CEILING": (12, 32)},
        body="""
    total = 0
    for p in payments:
        if total + p < FLOOR:
            continue
        total = min(total + p, CEILING)
    return total
""",
        changes=(
            ("< FLOOR", "<= FLOOR"),
            ("< FLOOR", "< FLOOR - 1"),
            ("continue", "break"),
            ("min(total + p, CEILING)", "total + p"),
            ("min(total + p, CEILING)", "min(total + p, CEILING + 1)"),
            ("total + p < FLOOR", "p < FLOOR"),
            ("            continue", "            total = FLOOR\n            continue"),
        ),
    ),
    Mutated(
        name="squeeze",
        says="the text with each stretch of one letter replaced by the letter and, where the stretch has "
        "LEAST letters or more, its length; a shorter stretch stays as it is",
        args={"s": text(14, "abc")},
        draws={"LEAST": (3, 5)},
        body="""
    out = []
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        if j - i >= LEAST:
            out.append(s[i] + str(j - i))
        else:
            out.append(s[i:j])
        i = j
    return "".join(out)
""",
        changes=(
            (">= LEAST", "> LEAST"),
            (">= LEAST", ">= LEAST - 1"),
            ("str(j - i)", "str(j - i - 1)"),
            ("str(j - i)", "str(j - i)[-1]"),
            (">= LEAST", "== LEAST"),
            ("j < len(s) and", "j < len(s) and j - i < 9 and"),
            ("s[i:j]", 's[i:j].replace("cc", "c")'),
            ("str(j - i))", "str(j - i) if j < len(s) else s[i:j])"),
        ),
    ),
    Mutated(
        name="reach",
        says="after how many items from the left the sum of the items is GOAL or more for the first time, "
        "negative items left out of the sum but counted; -1 where it never is",
        args={"xs": several(10)},
        draws={"GOAL": (9, 40)},
        body="""
    total = 0
    for i in range(len(xs)):
        if xs[i] > 0:
            total += xs[i]
        if total >= GOAL:
            return i + 1
    return -1
""",
        changes=(
            (">= GOAL", "> GOAL"),
            (">= GOAL", ">= GOAL - 1"),
            ("return i + 1", "return i"),
            ("if xs[i] > 0", "if xs[i] > 1"),
            ("total += xs[i]", "total = xs[i]"),
            ("return -1", "return len(xs)"),
            ("xs[i] > 0", "xs[i] != 0"),
            ("range(len(xs))", "range(len(xs) - 1)"),
        ),
    ),
)

_HARD = (
    Mutated(
        name="covered",
        says="how long a line is covered by the given pieces, each from the smaller to the larger of its two "
        "ends; a gap of up to GAP between two pieces counts as covered, too",
        args={"pieces": {"kind": "list", "low": 0, "high": 6, "of": several(2, -20, 20, least=2)}},
        draws={"GAP": (1, 5)},
        body="""
    ordered = sorted([[min(p[0], p[1]), max(p[0], p[1])] for p in pieces])
    total = 0
    end = None
    for a, b in ordered:
        if end is None or a > end + GAP:
            total += b - a
            end = b
        elif b > end:
            total += b - end
            end = b
    return total
""",
        changes=(
            ("a > end + GAP", "a >= end + GAP"),
            ("a > end + GAP", "a > end"),
            ("a > end + GAP", "a > end + GAP + 1"),
            ("min(p[0], p[1])", "p[0]"),
            ("max(p[0], p[1])", "p[1]"),
            ("elif b > end", "elif b > end + 1"),
            (
                "        elif b > end:\n            total += b - end\n            end = b",
                "        else:\n            total += b - end\n            end = b",
            ),
            ("total += b - end", "total += b - a"),
            ("sorted([", "(["),
        ),
    ),
    Mutated(
        name="best_window",
        says="the largest sum of WIDTH or fewer neighbours, of at least one; 0 for an empty list",
        args={"xs": several(10)},
        draws={"WIDTH": (3, 6)},
        body="""
    best = None
    for i in range(len(xs)):
        total = 0
        for j in range(i, min(i + WIDTH, len(xs))):
            total += xs[j]
            if best is None or total > best:
                best = total
    if best is None:
        return 0
    return best
""",
        changes=(
            ("i + WIDTH", "i + WIDTH - 1"),
            ("i + WIDTH", "i + WIDTH + 1"),
            ("min(i + WIDTH, len(xs))", "len(xs)"),
            ("range(len(xs))", "range(len(xs) - 1)"),
            ("range(len(xs))", "range(1, len(xs))"),
            ("    best = None", "    best = 0"),
            ("        total = 0\n        for", "        total = 0 if i else 1\n        for"),
            ("total > best", "total > best + 1"),
            ("return 0", "return -1"),
        ),
    ),
    Mutated(
        name="depth",
        says="the deepest nesting of round and square brackets, or -1 where they do not match, and where the "
        "nesting is deeper than MOST",
        args={"s": text(14, "()[]")},
        draws={"MOST": (3, 6)},
        body="""
    stack = []
    deepest = 0
    for c in s:
        if c == "(" or c == "[":
            stack.append(c)
            deepest = max(deepest, len(stack))
        else:
            if not stack:
                return -1
            opened = stack.pop()
            if opened == "(" and c != ")" or opened == "[" and c != "]":
                return -1
    if stack or deepest > MOST:
        return -1
    return deepest
""",
        changes=(
            ("deepest > MOST", "deepest >= MOST"),
            ("deepest > MOST", "deepest > MOST + 1"),
            (' or opened == "[" and c != "]"', ""),
            ('opened == "(" and c != ")" or ', ""),
            ("if stack or deepest", "if deepest"),
            (
                "            if not stack:\n                return -1",
                "            if not stack:\n                continue",
            ),
            ("max(deepest, len(stack))", "len(stack)"),
            ("len(stack))", "s.count(c))"),
            ('c == "(" or c == "["', 'c == "("'),
        ),
    ),
    Mutated(
        name="rising",
        says="the length of the longest choice of items, in their order and not only of neighbours, in which "
        "each is above the one before by STEP or more",
        args={"xs": several(10)},
        draws={"STEP": (2, 6)},
        body="""
    best = []
    for i in range(len(xs)):
        longest = 0
        for j in range(i):
            if xs[i] - xs[j] >= STEP and best[j] > longest:
                longest = best[j]
        best.append(longest + 1)
    return max(best, default=0)
""",
        changes=(
            (">= STEP", "> STEP"),
            (">= STEP", ">= STEP - 1"),
            (" and best[j] > longest", ""),
            ("for j in range(i)", "for j in range(i - 1)"),
            ("for j in range(i)", "for j in range(1, i)"),
            ("max(best, default=0)", "max(best, default=1)"),
            ("max(best, default=0)", "(best or [0])[-1]"),
            ("for j in range(i)", "for j in range(max(i - 3, 0), i)"),
        ),
    ),
    Mutated(
        name="first_at_least",
        says="where in the sorted list the first item of goal or more stands, counted from 0; its length "
        "where all are below; items are compared after adding SHIFT to them",
        args={"xs": several(10), "goal": whole(-30, 30)},
        draws={"SHIFT": (2, 9)},
        body="""
    ordered = sorted(xs)
    low = 0
    high = len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] + SHIFT < goal:
            low = middle + 1
        else:
            high = middle
    return low
""",
        changes=(
            ("SHIFT < goal", "SHIFT <= goal"),
            ("SHIFT < goal", "SHIFT - 1 < goal"),
            ("ordered = sorted(xs)", "ordered = xs"),
            ("high = len(ordered)", "high = len(ordered) - 1"),
            ("low = 0", "low = 1"),
            ("low = middle + 1", "low = middle + 2"),
            ("high = middle", "high = middle - 1"),
            ("while low < high", "while low < high - 1"),
            ("sorted(xs)", "sorted(set(xs))"),
        ),
    ),
    Mutated(
        name="stops",
        says="how many stops a bus needs for passengers who come one by one, each with a weight (its size, "
        "a negative one counts as positive): they board in order until SEATS are aboard or the next one would bring the "
        "load above LOAD, and one who alone is above LOAD is left behind",
        args={"weights": several(10)},
        draws={"SEATS": (2, 4), "LOAD": (14, 19)},
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
            ("if w > LOAD", "if w >= LOAD"),
            ("aboard == SEATS", "aboard == SEATS + 1"),
            ("load + w > LOAD", "load + w >= LOAD"),
            ("load + w > LOAD", "load + w > LOAD + 1"),
            ("aboard += 1", "aboard += 1 if w else 0"),
            ("            load = 0\n", ""),
            (" or aboard == SEATS", ""),
            ("            aboard = 0\n", ""),
        ),
    ),
)

LEVELS: dict[str, tuple[Mutated, ...]] = {"easy": _EASY, "medium": _MEDIUM, "hard": _HARD}
FUNCTIONS: dict[str, Mutated] = {one.name: one for level in LEVELS.values() for one in level}
