"""Reads yes and no in replies of other languages: "Svaret är nej", "Ja, sie konvergiert", "143 nie jest liczbą pierwszą".

A verdict is the word at the start of a reply or at its end behind "is" or a colon, or a clause that says or denies the
property that the question asks for, in a word of the table. Doubts and conditions give none.

Not covered: other properties, and languages that `tongues.py` does not know.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.affirming import asked_words
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.tongues import Tongue, tongues_of
from verigym.verifiers.text.answer_labels import YES_OR_NO

_MOST_CHARS = 600
_WORDS = "|".join(
    sorted((re.escape(word) for word in YES_OR_NO if word.isalpha()), key=len, reverse=True)
)
_FIRST = lazy_pattern(rf"\W*(?P<word>{_WORDS})(?:[,.!:;]| [–—-] )", re.IGNORECASE)
_LAST = lazy_pattern(
    rf"(?:[:=]|\b(?:är|er|is|est|es|è|é|jest|je|on|ist|lautet|este|adalah|là|ответ|відповідь|cevap|válasz)\b:?)\s*[*\"„»]*(?P<word>{_WORDS})[\s.!*\"“«]*$",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(r"(?<=[\w)])[.!]\s+|\n+")
_CLAUSE = lazy_pattern(
    r"[,;:]\s+|\b(?:alltså|altså|więc|zatem|tedy|proto|tehát|portanto|logo|quindi|dunque|dus|siis|joten|deci|donc|also|daher|somit|entonces|por tanto|yani|jadi|maka|значит|поэтому|следовательно|отже|тому)\b"
    r"|\b(?:sillä|koska|for|fordi|eftersom|want|omdat|ponieważ|gdyż|protože|neboť|mert|mivel|çünkü|porque|pois|perché|poiché|parce que|car|puisque|weil|denn|pentru că|karena|vì|потому что|так как|бо|оскільки)\b"
)
_PROPERTIES = {
    "prime": r"prim(?!e\b|itiv)\w*|priem\w*|alkulu\w*|pierwsz\w+|prvočís\w+|prvočísl\w*|asal\w*|прост\w+|prímszám\w*|premier|πρώτος|nguyên tố",
    "divisible": r"teilbar|deelbaar|delbar\w*|delelig\w*|divis[ií]\w+|podzieln\w+|dělitel\w+|deliteľ\w+|oszthat\w+|bölün\w+|делится|ділиться|jaollinen|chia hết",
    "even": r"gerade|jämn\w*|lige(?!\s+så)|like tall|parillinen|parzyst\w+|sud[éáý]|páros|çift|чётн\w+|четн\w+|парн\w+|pares?|pari|paire?",
    "odd": r"ungerade|oneven|udda|ulige|oddetall|pariton|nieparzyst\w+|lich[éáý]|páratlan|нечётн\w+|нечетн\w+|непарн\w+|ímpar\w*|impar\w*|dispari|impaire?",
    "rational": r"rational\w*|rationaal|rationell\w*|rationaali\w*|wymiern\w+|racionáln\w+|racionális|рациональн\w+|раціональн\w+|racional\w*|razional\w+|rationnel\w*",
    "irrational": r"irrational\w*|irrationaal|irrationell\w*|niewymiern\w+|iracionáln\w+|irracionális|иррациональн\w+|ірраціональн\w+|irracional\w*|irrazional\w+|irrationnel\w*",
    "converge": r"konverg\w+|converg\w+|suppene\w+|zbieżn\w+|сходит\w+|збіга\w+|yakınsa\w+",
    "continuou": r"stetig|continu\w*|kontinuerlig\w*|jatkuva\w*|ciągł\w+|spojit\w+|folytonos\w*|непрерывн\w+|неперервн\w+|sürekli",
}
_OPPOSED = {"even": "odd", "odd": "even", "rational": "irrational", "irrational": "rational"}


def verdict_abroad(reply: str, question: str) -> str:
    """The "yes" or "no" of a reply in another language than English; empty if it gives none."""
    text = reply.replace("**", "").strip()
    asked = asked_words(question) if len(text) <= _MOST_CHARS else []
    if not asked or text.endswith("?"):
        return ""
    told = tongues_of(text)
    first = _FIRST.match(text)
    if not told and not (first is not None and not text.isascii()):
        return ""
    sentences = [one for one in _SENTENCE.split(text) if one.strip()]
    found = {_at_end(sentences[-1])} - {""}
    if first is not None:
        found.add(_said(first["word"]))
    if found and _is_turned(text, told):
        return ""
    found |= {_of_property(one, asked, told) for one in (sentences[0], sentences[-1])} - {""}
    return found.pop() if len(found) == 1 else ""


def _said(word: str) -> str:
    return "yes" if YES_OR_NO[word.lower()] else "no"


def _at_end(sentence: str) -> str:
    last = _LAST.search(sentence)
    return _said(last["word"]) if last is not None else ""


def _is_turned(text: str, told: tuple[Tongue, ...]) -> bool:
    """Return True if a text has a word that doubts or sets a condition, denials apart."""
    return any(
        not tongue.denies.fullmatch(match[0])
        for tongue in told
        for match in tongue.turns.finditer(text)
    )


def _of_property(sentence: str, asked: list[str], told: tuple[Tongue, ...]) -> str:
    """The verdict of a sentence with a clause that says or denies the property that is asked for."""
    name = next((word for word in asked if word in _PROPERTIES), "")
    if not name or _is_turned(sentence, told):
        return ""
    found = set()
    for clause in _CLAUSE.split(sentence):
        denials = max((len(tongue.denies.findall(clause)) for tongue in told), default=0)
        denied = denials == 1
        if denials > 1:
            return ""
        if _has(name, clause):
            found.add("no" if denied else "yes")
        elif name in _OPPOSED and _has(_OPPOSED[name], clause) and not denied:
            found.add("no")
    return found.pop() if len(found) == 1 else ""


def _has(name: str, clause: str) -> bool:
    return re.search(rf"\b(?:{_PROPERTIES[name]})\b", clause, re.IGNORECASE) is not None
