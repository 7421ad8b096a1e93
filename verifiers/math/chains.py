"""The end of a chain of equal signs: "f(g(x)) = 3(x^2+1) - 4 = 3x^2 - 1" answers with its last member."""

from __future__ import annotations

import re

_WORDS = re.compile(
    r"(?<![\\A-Za-z])[A-Za-z]{4,}|\b(?:or|and|so|not|if|is|o|y|ou|oder|let|set|try|for|say)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_TEXT = re.compile(r"\\(?:text|mathrm|mbox)\{[^{}]*\}")
_OTHERS = re.compile(
    r"[<>,;:≤≥≠≈±]|\\(?:leq?|geq?|neq?|approx|begin|angle|pm)(?![a-z])|!=|==|\\equiv"
)


def end_of_chain(answer: str) -> tuple[str, list[str]] | None:
    """Return `name = value` or the value that a chain ends in, and its members without letters, which must
    all be equal if it ends in one; None if the answer is no chain.

    What the chain starts with stays if it has letters that the end has not, so that "y = 2 + 3 = 5" does not
    answer for x. A number on the way that is not the last one makes it no chain: "7 = 8" is a contradiction.
    """
    text = answer.strip().strip("$").rstrip(" .$")
    plain = _TEXT.sub("", text)
    if not 1 <= text.count("=") <= 8 or _WORDS.search(plain) or _OTHERS.search(plain):
        return None
    members = [member.strip(" $") for member in text.split("=")]
    first, last = members[0], members[-1]
    if not all(members) or any(member.count("{") != member.count("}") for member in members):
        return None
    if any(_NUMBER.fullmatch(member) and member != last for member in members[:-1]):
        return None
    plain_numbers = [member for member in members if not _letters(member)]
    same = plain_numbers if not _letters(last) else []
    if _letters(first) <= _letters(last):
        return last, same
    return (f"{first} = {last}", same) if len(members) > 2 else None


def _letters(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]", _COMMAND.sub(" ", _TEXT.sub(" ", text))))
