"""Finds the one answer that a reply commits itself to.

The answer is the inside of the last `<answer>` tag; else what follows `Answer:` (also `Final answer:`,
`The answer is`, or either in another language) in the last line of the last 200 that has it; else the whole reply. Thoughts before `</think>` do not
count. A later answer takes the place of an earlier one; a line that is taken back ("No, ...") is read with
what follows.

A list of candidates, an alternative ("or", "either") and a hedge ("maybe", "I am not sure") are no
answer, whatever they contain: otherwise naming everything would be paid.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from verigym.reply import last_answer, spoken
from verigym.verifiers.qa.abroad import with_english_labels
from verigym.verifiers.qa.normalise import tokens

_LABEL = re.compile(
    r"^(?P<label>[\s>*_#-]{0,8}(?:(?:based\s+on|according\s+to|given)\s[^:.!?\n]{1,60},\s+)?(?:(?:so|therefore|thus|hence|finally|in\s+short|in\s+conclusion|overall),?\s+)?(?:my\s+|the\s+)?(?:final\s+|short\s+|correct\s+)?answer(?:\s+is)?"
    r"[*_]{0,3}\s*(?::|(?<=is)\s)[*_]{0,3})\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_BEFORE = " \t\r\n\f\v\u00a0\"'“”‘’`*_"
_AFTER = _BEFORE + ".!;,:"
_LINES = 200
_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|likely|unsure|uncertain|unclear"
    r"|not\s+(?:sure|certain)|can(?:no|')?t\s+(?:say|tell|be\s+sure)|could\s+be|might\s+be|may\s+be"
    r"|i\s+(?:guess|suppose|think|believe|assume)|i'd\s+say|(?:a|my|best|wild)\s+guess|guess(?=\))|hopefully"
    r"|supposedly|allegedly|depends|one\s+of|either|alternatively|both|any\s+of)\b",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"\s*(?:[,;/|\n]|\s(?:or|and/or|and|versus|vs\.?|but|if\s+not|otherwise)\s)\s*", re.IGNORECASE
)
# "The answer is correct" praises an answer and gives none; "Answer: correct" gives one.
_PRAISE = re.compile(r"\W*(?:(?:in)?correct|right|wrong|true and right)\W*", re.IGNORECASE)
# A line or sentence that takes back what was said before.
_TAKEN_BACK = re.compile(
    r"(?:^|[.!?]\s)\W{0,4}(?:no|wait|not|actually|sorry|oops|hmm|correction|rather|instead|scratch\s+that"
    r"|on\s+second\s+thought|i\s+(?:mean|meant|was\s+wrong)|my\s+mistake|non|nein|não|нет|постой|подожди|исправл\w+|pardon|attendez|en\s+fait|erreur|moment|warte|falsch|korrektur|perd[óo]n|espera|correcci[óo]n"
    r"|不对|不是|等等|更正|其实|いいえ|訂正|아니\w*|정정|(?:that|this|it)\s+(?:is|was)\s+wrong)\b",
    re.IGNORECASE | re.MULTILINE,
)
_COPULAS = frozenset({"is", "was", "are", "were", "equals"})
_FRAME_WORDS = (
    "it this that he she they we there these those of in on at to for by from with and answer final "
    "correct right my question here called named as so therefore thus hence s who which what when "
    "where"
)
_FRAME = frozenset(_FRAME_WORDS.split())


def final_answer(reply: str) -> str:
    """Return the text of the one answer of a reply, as it stands there; maybe empty."""
    text = spoken(reply)
    answer = last_answer(text)
    if answer is None:
        answer = text = with_english_labels(text)
        lines = text.splitlines() if "answer" in text.lower() else []
        for i in range(len(lines) - 1, max(len(lines) - _LINES, 0) - 1, -1):
            match = _LABEL.match(lines[i][:10_000])
            if match and (":" in match["label"] or not _PRAISE.fullmatch(match["rest"])):
                behind = "\n".join(lines[i + 1 :])
                answer = (
                    f"{match['rest']}\n{behind}" if _TAKEN_BACK.search(behind) else match["rest"]
                )
                break
    return answer


def undressed(text: str) -> str:
    """Return `text` without quotes, emphasis and closing marks around it."""
    return text.lstrip(_BEFORE).rstrip(_AFTER)


def hedge_in(text: str) -> str | None:
    """Return the first words that hedge, or None."""
    match = _HEDGES.search(text)
    return match[0].lower() if match else None


def pieces(text: str) -> list[str]:
    """Return the pieces that a list of candidates falls into; one piece if there is no list."""
    return [piece for piece in _SEPARATOR.split(text) if piece.strip()]


def unframed(given: list[str], question: AbstractSet[str]) -> list[str] | None:
    """Return the tokens after the last copula, where all before it repeat the question or say nothing.

    "The capital of France is Paris" gives `paris`. None if there is no such frame. Only what
    follows the copula is the answer, so a frame can hold no second candidate that is paid.
    """
    for at in range(len(given) - 2, -1, -1):
        if given[at] in _COPULAS:
            before = given[:at]
            if all(word in question or word in _FRAME or word in _COPULAS for word in before):
                return given[at + 1 :]
            return None
    return None


NEGATIONS = frozenset({"not", "no", "never", "nor", "neither", "or", "isnt", "wasnt", "without"})


@lru_cache(maxsize=256)
def question_words(prompt: str) -> frozenset[str]:
    """Return the words of a question that an answer may repeat; no negation and no "or" among them."""
    return frozenset(tokens(prompt[:20_000])) - NEGATIONS
