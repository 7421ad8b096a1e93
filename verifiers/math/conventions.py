"""Compares answers in two notations that formulas do not cover: rates of growth, O(n log n), and cyclic groups."""

from __future__ import annotations

import re

_GROWTH = re.compile(r"(?:[Oo]|\\(?:Theta|Omega|omega|tilde ?\{? ?O ?\}?)) ?\(.*\)")
_LOG = re.compile(
    r"\\(?:lg|ln)(?![A-Za-z])|\\log ?_ ?(?:\{ ?(?:\d+|e) ?\}|\d|e)|(?<![A-Za-z\\])(?:lg|ln|log(?: ?_ ?(?:\{\d+\}|\d+))?)(?![A-Za-z])"
)
_IN_EXPONENT = re.compile(r"\^ ?(?:\{[^{}]*(?:log|lg|ln)|\(?[^ ]*(?:log|lg|ln))")
_CYCLIC = re.compile(
    r"(?:\\ZZ|Z) ?(?:_ ?\{? ?(\d{1,6}) ?\}?|/ ?\{? ?(\d{1,6}) ?\}? ?(?:\\ZZ|Z)|/ ?\( ?(\d{1,6}) ?(?:\\ZZ|Z)? ?\))|\\frac ?\{ ?\\ZZ ?\} ?\{ ?(\d{1,6}) ?\\ZZ ?\}"
    r"|(?:the |a )?cyclic group (?:of order|with) (\d{1,6})(?: elements)?|C ?_ ?\{? ?(\d{1,6}) ?\}?",
)
_TIMES = re.compile(r" ?(?:\*|\\oplus|\\otimes|\bx\b) ?")


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
    return _LOG.sub(r"\\log ", gold), _LOG.sub(r"\\log ", answer)


def same_group(gold: str, answer: str, question: str) -> bool | None:
    """Return True if two products of cyclic groups have the same factors; None if either is none.

    `C_6` is a group if the question or the reference says so.
    """
    if not gold.startswith(("\\ZZ", "Z", "C", "\\frac", "cyclic", "the cyclic", "a cyclic")):
        return None
    wanted = _orders(gold, letters="group" in question.lower())
    if wanted is None:
        return None
    found = _orders(answer, letters=True)
    if found is None:
        return None
    return sorted(wanted) == sorted(found)


def _orders(text: str, *, letters: bool) -> list[int] | None:
    found: list[int] = []
    for part in _TIMES.split(text.strip()):
        match = _CYCLIC.fullmatch(part.strip())
        if match is None or (match[6] and not letters):
            return None
        found.append(int(next(filter(None, match.groups()))))
    return found
