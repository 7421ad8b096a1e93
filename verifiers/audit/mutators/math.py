r"""Maths answers: other spellings of the same value, near misses, hedges, lists and conflicts.

Works on seeds whose right submission is a plain number, a fraction, a tuple, a set or an interval in
ordinary notation; of others only the wrapping is varied.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"math/answer"})

_INTEGER = re.compile(r"-?\d{1,12}")
_DECIMAL = re.compile(r"-?\d{1,9}\.\d{1,9}")
_RATIO = re.compile(r"(-?\d{1,9})/(\d{1,9})|(-?)\\d?frac\{(\d{1,9})\}\{(\d{1,9})\}")
_TUPLE = re.compile(r"([(\[{]|\\\{)\s*(-?\d+(?:\s*,\s*-?\d+)+)\s*([)\]}]|\\\})")
_WRAPPED = ("\\boxed{{{0}}}", "${0}$", "The answer is {0}.", "<answer>{0}</answer>", "Answer: {0}")
_STORY = "We add what is given and simplify.\nSo the value follows.\n\n"
_PRIMES = (7, 11, 13)


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield other spellings of a right answer, and answers that must fail."""
    text = case.submission
    if not isinstance(text, str) or not case.label or not 0 < len(text) <= 60 or "\n" in text:
        return
    if "boxed" in text or "answer" in text.lower():
        return
    bare = text.strip().strip("$").strip()
    yield from _wrappings(case, bare)
    for wrong in _near(bare, rng):
        yield _made(case, "near-miss", wrong, 0)
        yield _made(case, "near-miss-wrapped", rng.choice(_WRAPPED).format(wrong), 0)
        yield from _commitments(case, bare, wrong, rng)
        break
    for wrong in list(_near(bare, rng))[1:]:
        yield _made(case, "near-miss", wrong, 0)
    for same in _spellings(bare):
        yield _made(case, "spelling", same, 1)
        yield _made(case, "spelling-wrapped", rng.choice(_WRAPPED).format(same), 1)


def _wrappings(case: Case, bare: str) -> Iterator[Case]:
    for form in _WRAPPED:
        yield _made(case, "wrapped", form.format(bare), 1)
        yield _made(case, "wrapped-after-work", _STORY + form.format(bare), 1)
    yield _made(case, "wrapped", f"Therefore, the final answer is $\\boxed{{{bare}}}$.", 1)
    yield _made(case, "wrapped", f"**Final answer:** {bare}", 1)


def _commitments(case: Case, right: str, wrong: str, rng: random.Random) -> Iterator[Case]:
    """Yield replies that commit to one answer at the end, which count, and replies that give two,
    which do not."""
    yield _made(
        case,
        "correction",
        f"The answer is {wrong}. Wait, that is wrong. The correct answer is \\boxed{{{right}}}.",
        1,
    )
    yield _made(
        case,
        "correction-to-wrong",
        f"The answer is {right}. Wait, that is wrong. The correct answer is \\boxed{{{wrong}}}.",
        0,
    )
    yield _made(case, "hedge", f"The answer is either {right} or {wrong}.", 0)
    yield _made(case, "hedge", f"\\boxed{{{right} \\text{{ or }} {wrong}}}", 0)
    yield _made(case, "hedge", f"It is \\boxed{{{wrong}}} or perhaps \\boxed{{{right}}}.", 0)
    candidates = [wrong, right, *(f"{p}{i}" for i, p in enumerate(_PRIMES))]
    rng.shuffle(candidates)
    boxes = " ".join(f"\\boxed{{{one}}}" for one in candidates)
    yield _made(case, "candidate-list", boxes, 0)
    yield _made(case, "candidate-list", f"Possible answers: {', '.join(candidates)}", 0)
    yield _made(case, "conflict", f"<answer>{right}</answer>\n<answer>{wrong}</answer>", 0)
    yield _made(case, "denied", f"The answer is not {right}. The answer is {wrong}.", 0)


def _spellings(bare: str) -> Iterator[str]:
    value = _value(bare)
    if value is not None:
        yield from _numbers(value, bare)
        return
    match = _TUPLE.fullmatch(bare)
    if match:
        items = re.split(r"\s*,\s*", match[2])
        opened, closed = match[1], match[3]
        yield f"{opened}{','.join(items)}{closed}"
        yield f"\\left{_latex(opened)} {', '.join(items)} \\right{_latex(closed)}"


def _numbers(value: Fraction, bare: str) -> Iterator[str]:
    p, q = value.numerator, value.denominator
    sign, size = ("-" if p < 0 else ""), abs(p)
    if q == 1:
        yield f"{p}.0"
        yield f"{sign}\\frac{{{size * 3}}}{{3}}"
        yield f"{p * 2}/2"
        if size >= 1000:
            yield f"{p:,}"
            yield f"{p:,}".replace(",", "{,}")
            if size % 100 == 0:
                digits = str(size).rstrip("0")
                power = len(str(size)) - 1
                mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
                yield f"{sign}{mantissa} \\times 10^{{{power}}}"
                yield f"{sign}{mantissa}e{power}"
    else:
        yield f"{p}/{q}"
        yield f"{sign}\\frac{{{size}}}{{{q}}}"
        yield f"{sign}\\dfrac{{{size}}}{{{q}}}"
        yield f"{sign}\\frac{{{size * 2}}}{{{q * 2}}}"
        finite = _finite_decimal(value)
        if finite:
            yield finite
            yield finite + "0"
        if size > q and p > 0 and "." not in bare:
            yield f"{size // q}\\frac{{{size % q}}}{{{q}}}"
    if sign:
        yield "\u2212" + bare.lstrip("-") if bare.startswith("-") else bare


def _near(bare: str, rng: random.Random) -> Iterator[str]:
    """Answers that differ in value, of the same look."""
    value = _value(bare)
    if value is not None:
        p, q = value.numerator, value.denominator
        if q == 1:
            yield str(p + rng.choice((-1, 1)))
            if p:
                yield str(-p)
            if abs(p) >= 10:
                yield str(p * 10)
                yield f"{p // 10}"
        elif "." in bare:
            step = Fraction(1, 10 ** len(bare.partition(".")[2]))
            yield _finite_decimal(value + step) or str(value + step)
            yield _finite_decimal(-value) or str(-value)
            yield _finite_decimal(value * 10) or str(value * 10)
        else:
            yield f"{p + q}/{q}" if p + q != p else f"{p + 1}/{q}"
            yield f"{-p}/{q}"
            if abs(p) != q and p > 0:
                yield f"{q}/{p}"
        return
    match = _TUPLE.fullmatch(bare)
    if match:
        items = re.split(r"\s*,\s*", match[2])
        changed = [*items[:-1], str(int(items[-1]) + 100)]
        yield f"{match[1]}{','.join(changed)}{match[3]}"
        yield f"{match[1]}{','.join([*items, '977'])}{match[3]}"


def _value(text: str) -> Fraction | None:
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text):
        return Fraction(text)
    match = _RATIO.fullmatch(text)
    if not match:
        return None
    over, under = match[1] or (match[3] + match[4]), match[2] or match[5]
    return Fraction(int(over), int(under)) if int(under) else None


def _finite_decimal(value: Fraction) -> str:
    """Return `value` in decimals if it has at most 9 of them, else an empty string."""
    for places in range(10):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            whole, rest = (digits[:-places], digits[-places:]) if places else (digits, "")
            sign = "-" if value < 0 else ""
            return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"
    return ""


def _latex(bracket: str) -> str:
    return "\\" + bracket if bracket in "{}" else bracket


def _made(case: Case, category: str, submission: str, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
