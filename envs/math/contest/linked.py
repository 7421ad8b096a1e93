"""Questions in several parts: a later part has numbers that follow from the results of earlier ones.

A part is drawn as any question is. Then numbers in its text are written in terms of earlier results, with a
remainder so that they keep their size: 613 becomes `((R2 mod 700) + 148)`. So each part is right by construction,
whatever its kind. The answer is a checksum of the results of all parts: none of them can be left out, and
one who gets a part right with probability p gets n parts right with probability p^n.

A long answer enters as a weighted sum of its digits. Of a remainder one could say more: sums and products keep it, so
that all steps could be done modulo a small number. The digits need the exact answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest.kind import SMALLEST, WHOLE, Kind, among, numbers
from verigym.envs.math.paper import Paper
from verigym.question import Ask

PARTS = {7: 1, 8: 2, 9: 4, 10: 4}
"""Number of parts of a question, by level."""
_LONGEST = 6500
_HEAD = (
    "This question has {} parts, and later parts need the results of earlier ones. R1 is the result of part 1, R2 "
    "that of part 2, and so on. For whole numbers a and m > 0, a mod m is the remainder from 0 to m - 1 when a is "
    "divided by m. Fractions are taken in lowest terms with a positive denominator, which is 1 for a whole number."
)
_WEIGHED = (
    " For a whole number n, D(n) is the sum of the products of its digits in base ten, without the sign, with their places, "
    "counted from the last digit: D(-407) = 7 * 1 + 0 * 2 + 4 * 3 = 19."
)
_BE_WHOLE = "the answer."
_BE_SUM = "the numerator of the answer plus its denominator."
_BE_WEIGHED = "D(n), where n is the answer."
_BE_WEIGHED_SUM = "D(numerator of the answer) + D(denominator of the answer)."
_FROM = 8
_LONG = 10**9
"""From this size on, digits are weighed, from level `_FROM` on."""
_PART = re.compile(r"^Part \d+: (.*?) Let R\d+ be ([^\n]*)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\((?:(\d+) \* )?\((?:\(R(\d+) \+ R(\d+)\)|R(\d+)) mod (\d+)\) ([+-]) (\d+)\)")
_NUMBER = re.compile(r"(?:^|(?<=[ \[(]))-?\d+(?=[ ,)\]?^xyzn]|\.(?: |$)|$)", re.MULTILINE)
# Coefficients, coordinates, and right sides of equations: numbers that may be small.
_AFTER = re.compile(r"[xyzn]| \* [a-z](?:\b|_)(?!\^)|(?:, -?\d+)+\)")
_BEFORE = re.compile(r"(?:[^ki] = |\((?:-?\d+, )+)$")
_NEAR = 2
_FEWEST = 10
_LINKS = 2
_LARGE = 10**6


@dataclass(frozen=True)
class Part:
    """A part: its kind, its text with links, the data that decide it, and its result."""

    kind: Kind
    text: str
    essence: list[JSON]
    result: int
    what: str


def ask(pools: Sequence[tuple[Kind, ...]], rng: np.random.Generator, level: int) -> Ask:
    """Return a question with one part for each pool, of a kind from it; no kind comes twice before all of its pool
    came once."""
    while True:
        parts = _draw_parts(pools, rng, level)
        factors = [among(rng, 2, 9) for _ in parts]
        modulus = among(rng, 10**5, 10**6)
        text = _write(parts, factors, modulus)
        total = sum(f * part.result for f, part in zip(factors, parts, strict=True)) % modulus
        if len(text) <= _LONGEST and total >= SMALLEST and total not in numbers(text):
            break
    return Ask(
        prompt=f"{text}\n{WHOLE}",
        answer=str(total),
        answer_form="evaluated",
        tags=tuple(part.kind.name for part in parts),
        essence=[[part.essence for part in parts], [*factors, modulus]],
    )


def _draw_parts(
    pools: Sequence[tuple[Kind, ...]], rng: np.random.Generator, level: int
) -> list[Part]:
    """Draw a part again, of another kind, if it has no number for a link."""
    parts: list[Part] = []
    for pool in pools:
        some = contest.of_level(pool, level)
        counts = [sum(part.kind is kind for part in parts) for kind in some]
        fresh = [kind for kind, n in zip(some, counts, strict=True) if n == min(counts)]
        while True:
            kind = fresh[int(rng.integers(len(fresh)))]
            problem = contest.draw_problem(kind, rng, level)
            places = find_free(kind, problem.text)
            if places or not parts:
                break
            fresh = some
        essence = [kind.name, *problem.operands]
        text = problem.text
        if parts:
            text, links = _link(rng, text, places, [part.result for part in parts])
            essence += links
        what, result = _take(kind, Fraction(problem.answer), level)
        parts.append(Part(kind, text, essence, result, what))
    return parts


def _take(kind: Kind, answer: Fraction, level: int) -> tuple[str, int]:
    """Return what is taken of an answer as the result of its part, in words, and the result."""
    above, below = answer.numerator, answer.denominator
    is_long = level >= _FROM and max(abs(above), below) >= _LONG
    if kind.is_whole:
        return (_BE_WEIGHED, weigh(above)) if is_long else (_BE_WHOLE, above)
    if is_long:
        return _BE_WEIGHED_SUM, weigh(above) + weigh(below)
    return _BE_SUM, above + below


def weigh(n: int) -> int:
    """Return the sum of the digits, each times its place from the last one on."""
    return sum(place * int(digit) for place, digit in enumerate(reversed(str(abs(n))), 1))


def find_free(kind: Kind, text: str) -> list[tuple[int, int]]:
    """Return the places of the numbers for which a link can stand, because no other number of the text tells them.

    Small numbers are often counts of what is listed, so they must be coefficients, coordinates or entries.
    """
    if kind.free:
        return [found.span() for found in re.finditer(kind.free, text, re.MULTILINE)]
    sizes = Counter(map(abs, numbers(text)))
    places = []
    for found in _NUMBER.finditer(text):
        size = abs(int(found[0]))
        near = sum(sizes.get(size + far, 0) for far in range(-_NEAR, _NEAR + 1))
        is_alone = size >= _FEWEST and near == 1
        if size and (is_alone or _may_be_small(text, *found.span())):
            places.append(found.span())
    return places


def _may_be_small(text: str, start: int, end: int) -> bool:
    is_listed = text.rfind("[", 0, start) > text.rfind("]", 0, start)
    before = text[max(0, start - 20) : start]
    return is_listed or bool(_AFTER.match(text, end) or _BEFORE.search(before))


def _link(
    rng: np.random.Generator, text: str, places: list[tuple[int, int]], results: list[int]
) -> tuple[str, list[JSON]]:
    """Write up to two numbers of a text in terms of the results so far, one of them in terms of the last one."""
    essence = list[JSON]()
    chosen = sorted(int(i) for i in rng.permutation(len(places))[:_LINKS])
    for count, (start, end) in enumerate(places[i] for i in reversed(chosen)):
        last = len(results)
        used = sorted({among(rng, 1, last), among(rng, 1, last) if count else last})
        link, drawn = _express(rng, int(text[start:end]), used, results)
        text = text[:start] + link + text[end:]
        essence.append([start, *used, *drawn])
    return text, essence


def _express(
    rng: np.random.Generator, value: int, used: list[int], results: list[int]
) -> tuple[str, list[int]]:
    """Return a number in terms of some results, and the numbers drawn for that.

    Another remainder gives a number that is quite different: the modulus is about as large as the value, or a
    large factor stands before it.
    """
    total = sum(results[i - 1] for i in used)
    size = abs(value)
    rest = 0
    while not rest:
        if size < _LARGE:
            factor, modulus = 1, among(rng, max(31, size // 4), max(97, size))
        else:
            modulus = among(rng, 100, 999)
            factor = size // among(rng, modulus, 2 * modulus)
        rest = value - factor * (total % modulus)
    shown = f"R{used[0]}" if len(used) == 1 else f"(R{used[0]} + R{used[1]})"
    before = f"{factor} * " if factor > 1 else ""
    link = f"({before}({shown} mod {modulus}) {'+' if rest > 0 else '-'} {abs(rest)})"
    return link, [factor, modulus, rest]


def _write(parts: list[Part], factors: list[int], modulus: int) -> str:
    is_weighed = any(part.what in (_BE_WEIGHED, _BE_WEIGHED_SUM) for part in parts)
    lines = [_HEAD.format(len(parts)) + (_WEIGHED if is_weighed else "")]
    for i, part in enumerate(parts, 1):
        lines.append(f"Part {i}: {part.text} Let R{i} be {part.what}")
    total = " + ".join(f"{factor} * R{i}" for i, factor in enumerate(factors, 1))
    return "\n".join([*lines, f"What is the remainder when {total} is divided by {modulus}?"])


def work_out(
    kinds: tuple[Kind, ...], paper: Paper, question: str, names: Sequence[str]
) -> str | None:
    """Return the answer to a question of `ask`, whose first tags are `names`; None if it is no such question."""
    if not question.startswith(_HEAD.partition("{")[0]):
        return None
    text = question.rpartition("\n")[0]
    results: list[int] = []
    for (body, what), name in zip(_PART.findall(text), names, strict=False):
        paper.look()
        body = _LINK.sub(lambda found: str(_value(paper, found, results)), body)
        kind = contest.find(kinds, name)
        assert kind is not None, f"no kind {name!r} for part {len(results) + 1}"
        answer = Fraction(kind.solve(paper, numbers(body), body))
        results.append(_work_result(paper, answer, what))
    *factors, modulus = numbers(re.sub(r"R\d+", "R", text.rpartition("What is ")[2]))
    total = 0
    for factor, result in zip(factors, results, strict=True):
        total = paper.add(total, paper.multiply(factor, result))
    return str(paper.divide(total, modulus)[1])


def _work_result(paper: Paper, answer: Fraction, what: str) -> int:
    above, below = answer.numerator, answer.denominator
    if what == _BE_SUM:
        return paper.add(above, below)
    if what == _BE_WHOLE:
        return above
    total = 0
    for n in (above,) if what == _BE_WEIGHED else (above, below):
        for place, digit in enumerate(reversed(str(abs(n))), 1):
            total = paper.add(total, paper.multiply(int(digit), place))
    return total


def _value(paper: Paper, found: re.Match[str], results: list[int]) -> int:
    factor, first, second, alone, modulus, sign, rest = found.groups()
    total = results[int(alone or first) - 1]
    if second:
        total = paper.add(total, results[int(second) - 1])
    _, value = paper.divide(total, int(modulus))
    if factor:
        value = paper.multiply(int(factor), value)
    return paper.add(value, int(f"{sign}{rest}"))
