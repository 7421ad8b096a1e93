"""Sentences that say which numbers, as formulas: "n is even", "all positive integers", "multiples of 4"."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_SUBJECT = (
    r"(?:(?P<name>[a-z]) (?:is|are|must be|has to be|can be|may be) |(?:for )?(?:the set of )?)"
    r"(?:(?:all|any|every|each|the|an?)(?: of)?(?: the)? )*"
)
_TAIL = r"(?:,? ?(?P<late>[a-z]))?"
_SIGNS = {
    "positive": ">0",
    "negative": "<0",
    "nonnegative": ">=0",
    "nonpositive": "<=0",
    "nonzero": "!=0",
}
_SIGN = r"(?P<sign>positive|negative|non-? ?negative|non-? ?positive|non-? ?zero)"
_REAL = lazy_pattern(
    rf"{_SUBJECT}{_SIGN}(?: reals?)?(?P<noun> numbers?| values?)?{_TAIL}",
    needs="negative|positive|zero",
)
_REALS = lazy_pattern(rf"{_SUBJECT}{_SIGN} reals?(?: numbers?| values?)?{_TAIL}", needs=" real")
_WHOLE = lazy_pattern(
    rf"{_SUBJECT}(?:{_SIGN} )?(?:integers?|whole numbers?){_TAIL}", needs="integer|whole number"
)
_PARITY = lazy_pattern(
    rf"{_SUBJECT}(?P<parity>even|odd)(?P<noun> integers?| numbers?)?{_TAIL}", needs="even|odd"
)
_MULTIPLE = lazy_pattern(
    rf"{_SUBJECT}(?:(?:integers?|numbers?) )?(?:multiples? of|divisible by) (?P<of>\d{{1,9}})",
    needs="divisible by|multiple",
)
_POWER = lazy_pattern(
    rf"{_SUBJECT}(?:(?:integer|integral) )?powers? of (?P<of>\d{{1,9}})", needs="power"
)
_COMPARISONS = {
    "greater than or equal to": ">=", "at least": ">=", "no less than": ">=", "not less than": ">=",
    "greater than": ">", "more than": ">", "less than or equal to": "<=", "at most": "<=",
    "no more than": "<=", "not more than": "<=", "less than": "<", "equal to": "=",
}  # fmt: skip
_COMPARED = lazy_pattern(
    rf"(?:(?:all|any|every|for) )*(?:(?:integers?|real numbers?|values?)(?: of)? )?([a-z]) (?:that are |is |are |must be )?({'|'.join(_COMPARISONS)}) (\S+)",
    needs="at least|at most|equal to|greater than|less than|more than",
)
_RESIDUES = lazy_pattern(
    r"(?P<name>[a-z]\s*(?:\\equiv|=)\s*)?(?P<each>-?\d+(?:\s*(?:,|\bor\b|\band\b)+\s*-?\d+)+)\s*(?P<modulus>\\pmod.*)",
    needs=",|and|or",
)
_SYSTEM = lazy_pattern(
    r"\\begin\s*\{(cases|aligned|align\*?|gathered|split)\}(.*?)\\end\s*\{\1\}",
    re.DOTALL,
    needs="align|cases|gathered|split",
)


_A_WORD = lazy_pattern(r"[a-z]{3}")
_SPACES = lazy_pattern(r"\s+")


def formal(text: str) -> str:
    """A cleaned answer with sentences of known kinds written as formulas; other text as it is."""
    if "\\begin" in text:
        text = _SYSTEM.sub(_system, text)
    if "\\pmod" in text:
        return _residues(text)
    if len(text) > 100 or not _A_WORD.search(text):
        return text
    shown = _SPACES.sub(" ", text.strip(" .")).replace("- ", "-")
    return _numbers(shown[:1].lower() + shown[1:]) or text


_KNOWN = lazy_pattern(
    r"real|positive|negative|zero|integer|whole number|even|odd|at least|at most|equal to| than|divisible by|multiple|power"
)
"""Words, one of which every sentence of these kinds has."""


def _numbers(shown: str) -> str | None:
    if not _KNOWN.search(shown):
        return None
    match = _REALS.fullmatch(shown) or _REAL.fullmatch(shown)
    if match and ("real" in shown or match["name"]):
        return f"{_name(match, 'x')}{_sign(match)}"
    match = _WHOLE.fullmatch(shown)
    if match and (match["sign"] or match["name"] or "all" in shown):
        marks = f"_{{{_sign(match)}}}" if match["sign"] else ""
        return f"{_name(match, 'n')}\\in \\ZZ {marks}"
    match = _PARITY.fullmatch(shown)
    if match and (match["noun"] or match["name"]):
        return f"{_name(match, 'n')}\\equiv {int(match['parity'] == 'odd')} \\pmod 2"
    match = _COMPARED.fullmatch(shown)
    if match:
        return f"{match[1]}{_COMPARISONS[match[2]]}{match[3]}"
    match = _POWER.fullmatch(shown)
    if match:
        return f"{match['name'] or 'n'}={match['of']}^k"
    match = _MULTIPLE.fullmatch(shown)
    if match:
        return f"{match['name'] or 'n'}\\equiv 0 \\pmod {match['of']}"
    return None


def _name(match: re.Match[str], default: str) -> str:
    return match["name"] or match["late"] or default


def _sign(match: re.Match[str]) -> str:
    return _SIGNS[re.sub(r"[- ]", "", match["sign"])]


def _residues(text: str) -> str:
    """n = 1, 4 (mod 6): each residue with the modulus."""
    match = _RESIDUES.fullmatch(text)
    if match is None:
        return text
    each = re.findall(r"-?\d+", match["each"])
    return ", ".join(f"{match['name'] or ''}{value} {match['modulus']}" for value in each)


def _system(match: re.Match[str]) -> str:
    """Equations in lines as a list; cases with conditions stay."""
    body = match[2]
    if match[1] == "cases" and re.search(r"&(?!\s*=)", body):
        return match[0]
    lines = (line.replace("&", " ").strip(" ,;") for line in body.split("\\\\"))
    return ", ".join(filter(None, lines))
