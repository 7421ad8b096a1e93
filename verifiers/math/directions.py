"""Words that say which way a number goes: a gain of 5 % is no loss of 5 %."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern

_AXES = {
    "change": (
        r"increas\w*|gain\w*|rise[sn]?|rising|rose|grow\w*|grew|profit\w*|up|upwards?|higher|above|surplus|"
        r"appreciat\w*|climb\w*|deposit\w*|mark-?up|warmer",
        r"decreas\w*|loss(?:es)?|lose[sn]?|losing|lost|fall\w*|fell|drop\w*|declin\w*|reduc\w*|down|downwards?|"
        r"lower|below|deficit|depreciat\w*|discount\w*|shr[aiu]nk\w*|withdr[ae]w\w*|mark-?down|colder|under",
    ),
    "north": (r"north\w*", r"south\w*"),
    "east": (r"east\w*", r"west\w*"),
    "right": (r"right(?:wards?)?", r"left(?:wards?)?"),
    "turn": (r"clockwise", r"(?:anti|counter)-?clockwise"),
    "time": (r"later|after(?:wards)?|ahead|late|fast", r"earlier|before|behind|ago|early|slow"),
    "depth": (r"inwards?|into|inside", r"outwards?|out of|outside"),
    "extreme": (r"max(?:imum|imal)?", r"min(?:imum|imal)?"),
}  # fmt: skip
_WORDS = {
    axis: tuple(
        lazy_pattern(rf"(?<![\w\\-])(?:{words})(?![\w(-])", re.IGNORECASE) for words in both
    )
    for axis, both in _AXES.items()
}


_ANY = lazy_pattern(
    "|".join(words for both in _AXES.values() for words in both),
    re.IGNORECASE,
    needs="above|after|ago|ahead|appreciat|before|behind|below|climb|clockwise|colder|declin|decreas|deficit|deposit|depreciat|discount|down|drop|earlier|early|east|fall|fast|fell|gain|grew|grow|higher|increas|inside|into|inward|late|left|lose|losing|loss|lost|lower|mark|max|min|north|out of|outside|outward|profit|reduc|right|rise|rising|rose|shr|slow|south|surplus|under|up|warmer|west|withdr",
)


_CHANGE = "|".join(_AXES["change"])
CHANGED = lazy_pattern(rf"(?<![\w-])(?:{_CHANGE})(?![\w-])", re.IGNORECASE)
"""Words that say that a value went up or down."""
_NUMBER = r"(?:\\dollar|[\d.€£¥\-(]|\\frac|half\b|zero\b|an? )"
# 12 is what is left: "decreases to 12". 12 is what is lost: "a decrease of 12".
_TO = lazy_pattern(
    rf"(?<![\w-])(?:{_CHANGE})(?![\w-])(?: (?!by\b|of\b)[^ ]+){{0,5}}? (?:to|at) (?:about |only |just |exactly )?(?={_NUMBER})",
    re.IGNORECASE,
    needs="at|to",
)
_BY = lazy_pattern(
    rf"(?<![\w-])(?:{_CHANGE})(?![\w-])(?: in(?: [a-z]+){{1,4}}?)? (?:by|of) |^[^a-z]{{0,4}}(?:an? )?\d[^ ]*(?: [a-z%]+)? (?:{_CHANGE})$",
    re.IGNORECASE,
)
_ASKS_BY = lazy_pattern(
    rf"\bby how (?:much|many)\b|\bby what\b|\bhow much (?:does|did|do|has|have|is|was|will)\b[^.?]*\b(?:chang\w*|{_CHANGE})\b"
    rf"|\b(?:what (?:is|was)|find|give|compute|calculate) the (?:[a-z]+ )?(?:change|increase|decrease|gain|loss|rise|fall|drop|reduction|growth)\b",
    re.IGNORECASE,
    needs=" the |by how m|by what|how much ",
)
_ASKS_TO = lazy_pattern(
    rf"\bto (?:what|which)\b[^.?]*\b(?:chang\w*|{_CHANGE})\b"
    r"|\bwhat (?:is|was|will be) (?:the|its|his|her|their) (?:sale|new|final|discounted|reduced|current|resulting) (?:price|cost|value|salary|population|weight|temperature)\b",
    re.IGNORECASE,
    needs="to wh|what ",
)
_STATED = lazy_pattern(
    rf"(?:(?:[a-z']+ ){{0,6}}?)(?:{_CHANGE})(?: in(?: [a-z]+){{1,4}}?)?(?: by| of)? (?:about |exactly )?(?P<after>{_NUMBER}.*)"
    rf"|(?:(?:[a-z']+ ){{0,4}}?an? )?(?P<before>\d[\d.,/]*(?: ?%| [a-z]{{1,12}})?) (?:increase|decrease|rise|fall|drop|gain|loss|reduction|decline|profit|growth)",
    re.IGNORECASE,
)
_DOUBTED = lazy_pattern(
    r"\b(?:not?|never|without|neither|less|more|if|or|may|might|maybe|perhaps|than|under|over|above|below)\b|n't\b",
    re.IGNORECASE,
)


def changed_by(text: str) -> str:
    """The amount in "a decrease of 12" and "a 12 % rise"; other text as it is."""
    match = _STATED.fullmatch(text) if len(text) <= 200 and _names_way(text) else None
    if match is None:
        return text
    amount = match["after"] or match["before"]
    return text if _DOUBTED.search(text.removesuffix(amount)) else amount


def _measured(text: str) -> str:
    """Return "to" if the number is the amount left, "by" if it is the amount gained or lost, else an empty text."""
    if _TO.search(text):
        return "" if _BY.search(text) else "to"
    return "by" if _BY.search(text) else ""


@lru_cache(maxsize=4096)
def _names_way(text: str) -> bool:
    return _ANY.search(text) is not None


@lru_cache(maxsize=4096)
def _asks_way(question: str) -> bool:
    return any(pattern.search(question) for pattern in (_ANY, _ASKS_BY, _ASKS_TO))


def opposed(gold: str, answer: str, question: str) -> bool:
    """Return True if an answer goes the other way than the reference, or leaves open the way that is asked for."""
    if answer.startswith("to ") and _ASKS_BY.search(question):
        return True
    if not (_names_way(gold) or (_asks_way(question) and _names_way(answer))):
        return False
    asks = "by" if _ASKS_BY.search(question) else "to" if _ASKS_TO.search(question) else ""
    wanted_as, found_as = _measured(gold) or asks, _measured(answer)
    if wanted_as and found_as and wanted_as != found_as:
        return True
    for axis in _WORDS:
        wanted, found = _way(axis, gold), _way(axis, answer)
        if wanted and found:
            if wanted != found:
                return True
        elif wanted or found:
            asked = _way(axis, question)
            if found and asked and asked != found:
                return True
            if (
                wanted
                and question
                and asked != wanted
                and axis == "change"
                and _asks_change(question)
            ):
                return True
    return False


def unsigned(gold: str, answer: str) -> tuple[str, str] | None:
    """Both without the sign of one, where the other says it in words: -10 % is a loss of 10 %.

    None if they are no such pair.
    """
    if not {"-", "+"} & {gold[:1], answer[:1]}:
        return None
    for k, (first, second) in enumerate(((gold, answer), (answer, gold))):
        signed = re.fullmatch(r"([-+])\s*([\d.,\\% {}]+)", second)
        way = _way("change", first)
        if signed and way == (1 if signed[1] == "+" else -1) and not re.search(r"-\s*\d", first):
            return (first, signed[2]) if k == 0 else (signed[2], first)
    return None


@lru_cache(maxsize=4096)
def _way(axis: str, text: str) -> int:
    """1 or -1 for the one way that a text names; 0 if it names none or both."""
    ways = {sign for sign, words in zip((1, -1), _WORDS[axis], strict=True) if words.search(text)}
    return ways.pop() if len(ways) == 1 else 0


def _asks_change(question: str) -> bool:
    return (
        re.search(
            r"\bchang\w*|\bgain or|\bprofit or|\bincrease or|\brise or", question, re.IGNORECASE
        )
        is not None
    )
