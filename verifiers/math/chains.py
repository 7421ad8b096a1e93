"""The end of a chain of equal signs: "f(g(x)) = 3(x^2+1) - 4 = 3x^2 - 1" answers with its last member."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_WORDS = lazy_pattern(
    r"(?<![\\A-Za-z])[A-Za-z]{4,}|\b(?:or|and|so|not|if|is|o|y|ou|oder|let|set|try|for|say)\b",
    re.IGNORECASE,
)
_NUMBER = lazy_pattern(r"[-+−]?\d+(?:\.\d+)?")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_TEXT = lazy_pattern(r"\\(?:text|mathrm|mbox)\{[^{}]*\}", needs="\\")
_OTHERS = lazy_pattern(
    r"[<>,;:≤≥≠≈±]|\\(?:leq?|geq?|neq?|approx|begin|angle|pm)(?![a-z])|!=|==|\\equiv",
    needs="!=|,|:|;|<|==|>|\\|±|≈|≠|≤|≥",
)


_OPERATOR = lazy_pattern(
    r"(?:\\frac ?\{ ?(?:d|\\partial) ?\} ?\{ ?(?:d|\\partial) ?[a-z] ?\}|\(?(?:d|\\partial) ?/ ?(?:d|\\partial) ?[a-z]\)?|\\(?:int|iint|sum|lim|prod)(?![a-z])|lim(?![a-z])|[\[(\\{].{1,60}?[\])|] ?_ ?\{?-?\w)",
    needs="/|\\|_|lim",
)
_APPROXIMATED = lazy_pattern(
    r"\s*(?:≈|\\approx)\s*(?P<near>-?\d+(?:\.\d+)?%?)\s*$", needs="\\approx|≈"
)
_BETWEEN = lazy_pattern(r"\s*(?:,\s*(?:and\s+)?|\band\b)\s*(?=[^,;]*=)", needs=",|and")


def end_of_chain(answer: str) -> tuple[str, list[str]] | None:
    """Return `name = value` or the value that a chain ends in, and its members without letters, which must
    all be equal if it ends in one; None if the answer is no chain.

    What the chain starts with stays if it has letters that the end has not, so that "y = 2 + 3 = 5" does not
    answer for x. A number on the way that is not the last one makes it no chain: "7 = 8" is a contradiction.
    """
    text = answer.strip().strip("$").rstrip(" .$")
    approximated = _APPROXIMATED.search(text)
    if approximated is not None and "=" in text[: approximated.start()]:
        exact, _, near = text[: approximated.start()], "", approximated["near"]
        found = end_of_chain(exact)
        return None if found is None else (f"{found[0]} \\approx {near}", found[1])
    plain = _TEXT.sub("", text)
    if not 1 <= text.count("=") <= 8 or _WORDS.search(plain) or _OTHERS.search(plain):
        return None
    members = [member.strip(" $") for member in text.split("=")]
    first, last = members[0], members[-1]
    if not all(members) or any(member.count("{") != member.count("}") for member in members):
        return None
    numbers = [member for member in members[:-1] if _NUMBER.fullmatch(member) and member != last]
    if numbers and (numbers != members[:1] or _NUMBER.fullmatch(last)):
        return None  # but 360 = 2^3 * 3^2 * 5
    plain_numbers = [member for member in members if not _letters(member)]
    same = plain_numbers if not _letters(last) else []
    if _letters(first) <= _letters(last) or _OPERATOR.match(first):
        return last, same
    return (f"{first} = {last}", same) if len(members) > 2 else None


_MATRIX = lazy_pattern(
    r"\[ ?\[.*\] ?\]|(?:\\left ?)?[\[(|]? ?\\begin ?\{[bpvBV]?matrix\}.*\\end ?\{[bpvBV]?matrix\}.*",
    re.DOTALL,
)
_MATRIX_NAME = lazy_pattern(
    r"(?:[A-Z](?:_\{?\w\}?)?(?: ?\^ ?\{? ?(?:-? ?\d|T|\\top) ?\}?|[²³ᵀ]|⁻¹)? ?(?:[*·+-]|\\cdot)? ?){1,4}"
)


def end_of_matrix_chain(answer: str) -> tuple[str, list[str]] | None:
    """The matrix that "AB = [[1*4 + 2*2, 1], [6, 0]] = [[8, 1], [6, 0]]" ends in, and the members that must equal it;
    None for another answer. Names such as AB may stand in front alone."""
    text = answer.strip().strip("$").rstrip(" .$")
    if (
        text.count("=") < 1
        or text.count("=") > 8
        or len(text) > 2000
        or ("[" not in text and "\\begin" not in text)
    ):
        return None
    members = [member.strip(" $&") for member in text.split("=")]
    if not all(members) or not _MATRIX.fullmatch(members[-1]):
        return None
    if len(members) == 2 and _MATRIX_NAME.fullmatch(members[0]):
        return None  # a matrix with its name is read as it is
    rest = [
        member
        for k, member in enumerate(members)
        if not all(map(_MATRIX_NAME.fullmatch, members[: k + 1]))
    ]
    return (members[-1], rest) if all("begin" in one or "[" in one for one in rest) else None


def _letters(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]", _COMMAND.sub(" ", _TEXT.sub(" ", text))))


def ends_of_chains(answer: str) -> tuple[str, list[list[str]]] | None:
    """A list of `name = value` from chains, "sin A = BC/AB = 12/13 and cos A = AC/AB = 5/13", with the members of each
    that must be equal; None if the answer is no such list."""
    text = answer.replace("$", " ").strip(" .")
    if "=" not in text or len(text) > 300:
        return None
    parts = _BETWEEN.split(text)
    if not 2 <= len(parts) <= 4 or not any(part.count("=") > 1 for part in parts):
        return None
    if parts[-1].count("=") > 1 and len({part.partition("=")[0].strip() for part in parts}) == len(
        parts
    ):
        last = end_of_chain(parts[-1])
        alone = all(part.count("=") == 1 for part in parts[:-1])
        if last is not None and alone and "," in text and not re.search(r"\band\b", text):
            return last[0], [last[1]]  # n = 10, S = 10(2 + 29)/2 = 155
    ends, same = [], []
    for part in parts:
        found = end_of_chain(part) if part.count("=") > 1 else (part, [])
        if found is None:
            return None
        name = part.partition("=")[0].strip()
        ends.append(found[0] if "=" in found[0] else f"{name} = {found[0]}")
        same.append(found[1])
    return ", ".join(ends), same
