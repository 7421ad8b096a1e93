"""Questions in several parts: a later part has numbers that follow from the results of earlier ones.

A part is drawn as any question is. Then numbers in its text are written in terms of earlier results, with a
remainder so that they keep their size: 613 becomes `((R2 mod 700) + 148)`. So each part is right by construction,
whatever its kind. The answer is a checksum of the results of all parts: none of them can be left out, and
one who gets a part right with probability p gets n parts right with probability p^n.
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

PARTS = {7: 1, 8: 2, 9: 4, 10: 8}
"""Number of parts of a question, by level."""
_LONGEST = 6000
_HEAD = (
    "This question has {} parts, and later parts need the results of earlier ones. R1 is the result of part 1, R2 "
    "that of part 2, and so on. For whole numbers a and m > 0, a mod m is the remainder from 0 to m - 1 when a is "
    "divided by m. Fractions are taken in lowest terms with a positive denominator, which is 1 for a whole number."
)
_BE_WHOLE = "the answer."
_BE_SUM = "the numerator of the answer plus its denominator."
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
        value = Fraction(problem.answer)
        result = int(value) if kind.is_whole else value.numerator + value.denominator
        parts.append(Part(kind, text, essence, result))
    return parts


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
    lines = [_HEAD.format(len(parts))]
    for i, part in enumerate(parts, 1):
        what = _BE_WHOLE if part.kind.is_whole else _BE_SUM
        lines.append(f"Part {i}: {part.text} Let R{i} be {what}")
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
        is_sum = what == _BE_SUM
        results.append(paper.add(answer.numerator, answer.denominator) if is_sum else int(answer))
    *factors, modulus = numbers(re.sub(r"R\d+", "R", text.rpartition("What is ")[2]))
    total = 0
    for factor, result in zip(factors, results, strict=True):
        total = paper.add(total, paper.multiply(factor, result))
    return str(paper.divide(total, modulus)[1])


def _value(paper: Paper, found: re.Match[str], results: list[int]) -> int:
    factor, first, second, alone, modulus, sign, rest = found.groups()
    total = results[int(alone or first) - 1]
    if second:
        total = paper.add(total, results[int(second) - 1])
    _, value = paper.divide(total, int(modulus))
    if factor:
        value = paper.multiply(int(factor), value)
    return paper.add(value, int(f"{sign}{rest}"))
