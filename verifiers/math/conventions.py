"""Compares answers in two notations that formulas do not cover: rates of growth, O(n log n), and cyclic groups."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_GROWTH = lazy_pattern(r"(?:[Oo]|\\(?:Theta|Omega|omega|tilde ?\{? ?O ?\}?)) ?\(.*\)", needs="(")
_LOG = lazy_pattern(
    r"\\(?:lg|ln)(?![A-Za-z])|\\log ?_ ?(?:\{ ?(?:\d+|e) ?\}|\d|e)|(?<![A-Za-z\\])(?:lg|ln|log(?: ?_ ?(?:\{\d+\}|\d+))?)(?![A-Za-z])"
)
_IN_EXPONENT = lazy_pattern(r"\^ ?(?:\{[^{}]*(?:log|lg|ln)|\(?[^ ]*(?:log|lg|ln))")
_CYCLIC = lazy_pattern(
    r"(?:\\ZZ|Z) ?(?:_ ?\{? ?(\d{1,6}) ?\}?|/ ?\{? ?(\d{1,6}) ?\}? ?(?:\\ZZ|Z)|/ ?\( ?(\d{1,6}) ?(?:\\ZZ|Z)? ?\))|\\frac ?\{ ?\\ZZ ?\} ?\{ ?(\d{1,6}) ?\\ZZ ?\}"
    r"|(?:the |a )?cyclic group (?:of order|with) (\d{1,6})(?: elements)?|C ?_ ?\{? ?(\d{1,6}) ?\}?",
)
_TIMES = lazy_pattern(r" ?(?:\*|\\oplus|\\otimes|\bx\b) ?", needs="*|\\oplus|\\otimes|x")


def with_plain_logs(gold: str, answer: str) -> tuple[str, str] | None:
    """Both rates of growth with logarithms of no base, as a base changes no rate; None if either is no rate,
    or has a logarithm in an exponent, where the base counts."""
    if (
        not gold.startswith(("O", "o", "\\"))
        or not _GROWTH.fullmatch(gold)
        or not _GROWTH.fullmatch(answer)
    ):
        return None
    if _IN_EXPONENT.search(gold) or _IN_EXPONENT.search(answer):
        return None
    if gold[0] == "O" and answer.startswith("\\Theta"):
        answer = "O" + answer.removeprefix("\\Theta").lstrip()  # a tight bound is a bound
    return _LOG.sub(r"\\log ", gold), _LOG.sub(r"\\log ", answer)


def same_group(gold: str, answer: str, question: str) -> bool | None:
    """Return True if two products of cyclic groups have the same factors; None if either is none.

    `C_6` is a group if the question or the reference says so.
    """
    if not gold.startswith(("\\ZZ", "Z", "C", "\\frac", "cyclic", "the cyclic", "a cyclic")):
        return None
    letters = "group" in question.lower()
    wanted = [_orders(part, letters=letters) for part in _LISTED.split(gold)]
    found = [_orders(part, letters=True) for part in _LISTED.split(_BRACED.sub(r"\1", answer))]
    if None in wanted or None in found:
        return None
    if len(wanted) == 1:
        return len(found) == 1 and sorted(wanted[0] or ()) == sorted(found[0] or ())
    # In a list up to isomorphism the factors of each may be written in any way.
    return sorted(map(_primary, wanted)) == sorted(map(_primary, found))


_BRACED = lazy_pattern(r"\\\{(.*)\\\}", needs="\\{")
_LISTED = lazy_pattern(r"\s*(?:,\s*(?:and\s+)?|;|\band\b|\bor\b)\s*", needs=",|;|and|or")


def _primary(orders: list[int] | None) -> list[int]:
    """The orders of the cyclic factors of prime powers, which tell a finite abelian group."""
    found: list[int] = []
    for order in orders or ():
        prime = 2
        while order > 1 and prime * prime <= order:
            power = 1
            while order % prime == 0:
                order, power = order // prime, power * prime
            found += [power] if power > 1 else []
            prime += 1
        found += [order] if order > 1 else []
    return sorted(found)


def _orders(text: str, *, letters: bool) -> list[int] | None:
    found: list[int] = []
    for part in _TIMES.split(text.strip()):
        match = _CYCLIC.fullmatch(part.strip())
        if match is None or (match[6] and not letters):
            return None
        found.append(int(next(filter(None, match.groups()))))
    return found


_ANGLE = lazy_pattern(
    r"(?:the )?\\?angle ?\{? ?(?P<name>[A-Z]|[A-Z]{3}) ?\}?(?: is the (?:largest|smallest|greatest|least)(?: angle)?)?[ .]*",
    re.IGNORECASE,
)


def same_angle(gold: str, answer: str) -> bool | None:
    """Return True if two names are of one angle: Q and PQR, PQR and RQP; None if either is no angle's name alone."""
    wanted, found = _ANGLE.fullmatch(gold), _ANGLE.fullmatch(answer)
    if wanted is None or found is None or not (wanted["name"] + found["name"]).isupper():
        return None
    first, second = wanted["name"], found["name"]
    if len(first) == len(second):
        return first in (second, second[::-1])
    return first[len(first) // 2] == second[len(second) // 2]
