"""Reads the value at the very end of a last sentence of any language: "Podmnožin je 2^6 = 64", "o grau do polinômio é 7".

A value counts in two cases. It ends a chain of numbers that is true, so that the sentence works it out; or its
sentence is in another language that is known here (`tongues.py`), and has no word that doubts, denies or bounds it.

Not covered: English sentences without such a chain, and values with words of another kind behind them.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.claimed_value import HEDGES
from verigym.verifiers.math.claiming_sentences import claiming_sentence
from verigym.verifiers.math.languages import with_points
from verigym.verifiers.math.last_steps import CHOICES, plain_numbers
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import WORD, focus_of, root
from verigym.verifiers.math.tongues import is_asian, is_english, is_known, turns_meaning
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import unit_of
from verigym.verifiers.math.values_in_prose import Value, plain_sentence, values_in
from verigym.verifiers.math.workings import is_true

_CHAIN = lazy_pattern(
    r"(?<![\w^_)}\]|])(?<![-+*/·×÷−^=] )(?P<way>[-−(√\d][-\d\s.,+*/^·×÷−=≈()√!{}²³⁴]*)=\s*(?P<end>[-−$€£]*\d[\d.,]*(?:/\d+)?)(?=[^\d]|$)",
    needs="=",
)
"""Equal members of numbers alone, and the last of them."""
_WORKED = lazy_pattern(r"\d\s*(?:[-+*/^·×÷−!]|\()|\)|√|[²³⁴]")
_TAIL = lazy_pattern(r"[^\W\d_]+(?:[²³]|/[^\W\d_]+)?(?:\s+[^\W\d_]+){0,3}|%|°|")
_DENIES = lazy_pattern(
    r"\b(?:not|never|neither|nor|cannot|without|except|no|instead|than|least|most|half|twice|times|double|root|square|cube|wrong|each|per|more|less|fewer|about|around|first|next|still|let|case|step|before|try)\b|n't\b|≠|!=|\\ne|[?…]|\.\.\.",
    re.IGNORECASE,
)
_UNIT_ABROAD = lazy_pattern(
    r"(?:[kcmdzh]|kilo|k[iy]lo|cent[iyí]|zenti|senti|mil+[iyí]|de[ckz][iyí])?(?:m[eé]t\w*|m[eè]tr\w*|gram\w*|lit\w*|л|м|г|т)$|[кс]м\w*|мм|кг|км|(?:кило|санти|милли|мілі)?(?:метр|грамм?|литр|літр)\w*"
    r"|heures?|horas?|or[ae]$|stunden?|uur|timm\w+|timer?$|tun\w+|godzin\w*|hodin\w*|ór\w+|saat\w*|час\w*|годин\w*|ώρ\w+|jam$|giờ|secon\w+|segund\w+|sekund\w*|секунд\w*|minut\w*|perc\w*|dakika\w*|минут\w*|хвилин\w*"
    r"|jours?|d[ií]as?$|tag\w*|dag\w*|giorn\w+|dni$|dní|päiv\w+|nap\w*|gün\w*|д(?:ень|ня|ней|нів|ні)$|zile?$|hari$|ngày|semain\w*|seman\w+|wochen?|wek\w+|week\w*|veck\w+|uger?$|tygodni\w*|týdn\w*|недел\w*|тижн\w*"
    r"|ann\w+|años?|anos?$|jahr\w*|jaar|år|vuot\w+|lat$|rok\w*|let$|év\w*|yıl\w*|год\w*|лет$|рок\w*|ani$|tahun|năm|gra[du]\w*|stopn\w*|stup\w*|astet\w*|derec\w*|fok\w*|градус\w*|μοίρ\w*|euros?|dollar\w*|dólar\w*|рубл\w*|kron\w*|zł\w*",
    re.IGNORECASE,
)
_NEUTRAL = frozenset(
    map(
        root,
        names(
            "common part together gives makes leaves have hence thus therefore that there ways which altogether yields exactly namely"
        ),
    )
)
_LABEL = lazy_pattern(r"[\w)\]}|]\s*[=<>≤≥≈≠]\s*$")


def closing_value(reply: str, question: str) -> str:
    """The value that ends the last sentence of a reply; empty if there is none, or the sentence may not claim it."""
    sentence = claiming_sentence(reply.replace("**", "").replace("`", ""))
    if not sentence or not question:
        return ""
    english = is_english(sentence)
    if HEDGES.search(sentence) if english else turns_meaning(sentence):
        return ""
    if not (english or is_asian(sentence)):
        sentence = with_points(sentence)
    if worked := _worked_out(sentence, question, english=english):
        return worked
    return _last_value(sentence) if not english and is_known(sentence) else ""


def _worked_out(sentence: str, question: str, *, english: bool) -> str:
    """The end of a true chain of numbers that ends a sentence, with its unit."""
    sentence = CHOICES.sub(lambda match: f"({plain_numbers(match[0])})", sentence)
    chains = list(_CHAIN.finditer(sentence))
    if not chains:
        return ""
    chain = chains[-1]
    before, after = sentence[: chain.start()], sentence[chain.end() :].strip(" .,!*$)。、")
    if _LABEL.search(before) or not _TAIL.fullmatch(after) or _DENIES.search(sentence):
        return ""
    members = [plain_numbers(member) for member in re.split(r"[=≈]", chain["way"])]
    end = chain["end"].rstrip(".,")
    if not _WORKED.search(chain["way"]) or not all(map(str.strip, members)):
        return ""
    if not is_true(" = ".join((*members, plain_numbers(end)))):
        return ""
    if english and not _is_of_asked(before, after, question):
        return ""
    return f"{end} {after}".strip() if english else _with_unit(end, after)


def _is_of_asked(before: str, after: str, question: str) -> bool:
    """Return True if the words beside a chain are of the question, or there are none."""
    focus = focus_of(question)
    last = re.split(r"[,;:]", before)[-1]
    words = [root(word) for word in (*WORD.findall(last), *WORD.findall(after)) if len(word) > 3]
    return all(word in focus.known or word in _NEUTRAL for word in words)


def _last_value(sentence: str) -> str:
    """The last value of a sentence if only a noun stands behind it."""
    plain = plain_sentence(sentence)
    values: list[Value] = values_in(plain)
    if not values:
        return ""
    last = values[-1]
    behind = plain[last.end :].strip(" .,!*$)。、")
    if not _TAIL.fullmatch(behind) or _LABEL.search(plain[: last.start]):
        return ""
    return _with_unit(last.text, f"{last.unit} {behind}")


def _with_unit(value: str, behind: str) -> str:
    """A value with the unit that stands behind it; empty if a unit of another language does."""
    words = behind.split()
    if not words:
        return value
    unit = unit_of(words[0].replace("²", "^2").replace("³", "^3"))
    if unit is not None and not unit.noun:
        return f"{value} {words[0]}"
    return "" if _UNIT_ABROAD.match(words[0]) else value
