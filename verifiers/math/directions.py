"""Words that say which way a number goes: a gain of 5 % is no loss of 5 %."""

from __future__ import annotations

import re

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
    axis: tuple(re.compile(rf"(?<![\w\\-])(?:{words})(?![\w(-])", re.IGNORECASE) for words in both)
    for axis, both in _AXES.items()
}


_ANY = re.compile("|".join(words for both in _AXES.values() for words in both), re.IGNORECASE)


def opposed(gold: str, answer: str, question: str) -> bool:
    """Whether an answer goes the other way than the reference, or leaves open the way that is asked for."""
    if not (_ANY.search(gold) or _ANY.search(answer)):
        return False
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

    None where they are no such pair.
    """
    if not {"-", "+"} & {gold[:1], answer[:1]}:
        return None
    for k, (first, second) in enumerate(((gold, answer), (answer, gold))):
        signed = re.fullmatch(r"([-+])\s*([\d.,\\% {}]+)", second)
        way = _way("change", first)
        if signed and way == (1 if signed[1] == "+" else -1) and not re.search(r"-\s*\d", first):
            return (first, signed[2]) if k == 0 else (signed[2], first)
    return None


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
