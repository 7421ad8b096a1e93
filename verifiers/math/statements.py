"""Reads a sentence that states one number, "Tom has 7 apples left.", and tells it from a passing mention.

A statement has a verb that gives or holds an amount, and right behind it the only number of the sentence.
Hedges, conditions, denials and bounds state nothing, and neither do premises ("he started with 7"), plans
("let me try 7") and labels ("in chapter 7"). Premises that the question asks for are answers.

Not covered: sentences with two numbers, rare verbs with a long subject, and other languages than English.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from verigym.verifiers.math.directions import CHANGED
from verigym.verifiers.math.mentions import (
    BE,
    CONCLUDES,
    DOUBTS,
    LABELS,
    LISTING,
    MODALS,
    MY_VERBS,
    NO_SUBJECTS,
    PLANS,
    UNTRUE,
    VERBS,
    WORD,
    WORK_FORMS,
    counts_work,
    is_label,
    labels,
    singular,
    uncontracted,
    words_of,
)
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import STARTS, number_of
from verigym.verifiers.math.trees import names

_MOST_CHARS = 240
_ADVERBS = frozenset(
    names(
        "exactly precisely only just now still then simply therefore thus equal to up out with left us him her them it me you back in a an the "
        "of total all altogether already currently finally clearly indeed"
    )
)
VALUES = frozenset(
    names(
        "value values answer result total sum solution solutions count minimum maximum min max amount quantity area length perimeter "
        "circumference volume surface radius diameter height width depth weight mass price cost distance speed velocity "
        "rate time age average mean median mode range difference product quotient remainder ratio score probability chance probabilities "
        "odds expectation angle measure slope degree size temperature limit rank dimension order period determinant integral supply"
    )
)
"""Names of amounts: "an area of 24"."""
_ARTICLES = frozenset(names("the a an each every his her my their our your this that all"))
_PREMISES = frozenset(
    names(
        "would could start starts started begin begins began originally initially previously yesterday first want wants wanted hope hopes "
        "hoped plan plans planned wish wishes expect expects expected try tries tried say says said claim claims claimed believes thinks "
        "should ought used once"
    )
)
BOUNDS = frozenset(
    names(
        "if unless whether when whenever either or otherwise else sometimes not never no none nobody nothing neither nor cannot without hardly "
        "barely except but wrong incorrect false rather than least most between about around approximately roughly nearly almost over under "
        "above below as more less fewer extra additional another half twice cent percent few many enough too lacks lack missing better exceeds exceed exceeding"
    )
)
_ASKABLE = frozenset(names("more less fewer extra additional as than"))
_TAIL_ALTERS = frozenset(
    names(
        "power base binary hexadecimal octal decimal root factorial modulo mod logarithm infinity percent hundredths tenths ratio odds one"
    )
)
_STOP = frozenset(
    names(
        "left in of to for on at from after before with by altogether total remaining overall now today that which who together because since "
        "and tall long wide high deep old each during until"
    )
)
_UP = lazy_pattern(
    r"(?<=\b(?:end|add|sum)s) up\b|(?<=\bended) up\b|(?<=\b(?:end|add)) up\b", needs=" up|ended"
)
_IN_TIME = frozenset(
    names(
        "way ways order orders manner manners second seconds minute minutes hour hours day days week weeks month months year years"
    )
)
_BREAK = lazy_pattern(r"[.!?](?<=[a-z\d$)%}*][.!?])[\"')*]*\s+(?=[A-Z\d\"$(])", needs="!|.|?")
_ABBREVIATED = lazy_pattern(
    r"\b(?:figs?|eqn?s?|no|nr|ref|thm|prop|cor|ch|chap|sec|pp?|pg|def|ex|tab|vol|art|fn)\.[\s*(\[]{1,4}\d{1,3}[\s*)\].:]*$",
    re.IGNORECASE,
    needs=".",
)
_MEASURES = lazy_pattern(
    r"((?:[A-Za-z']+ ){1,6}?(?:is|was|lasts?|lasted|takes?|took|costs?|weighs?|weighed|needs?|needed|paid|pays|earns?|earned|spent|spends|has|have|makes|gives|gets?|equals))"
    r" ((?:\d[\d.]* (?:hours?|minutes?|seconds?|days?|weeks?|years?|months?|feet|foot|inch(?:es)?|dollars?|cents?|euros?|pounds?|ounces?|kg|g|m|cm|km|meters?|centimeters?|grams?|kilograms?|h|hrs?|mins?|s|secs?)"
    r"(?:,? and |, | )?){2,3})(?: long| tall| old| in total| altogether| left| remaining| now)?[.! ]*"
)
_REMAINING = (["left"], ["needed"], ["required"], ["still"], ["remaining"])
_READINGS = frozenset(
    names(
        "reading readings case cases view views interpretation theory opinion hypothesis assumption guess"
    )
)
_WOULD = frozenset(names("he'd she'd they'd it'd that'd"))
_RATE = lazy_pattern(r"\d [A-Za-z]+(?:/| per )|\d mph\b", needs=" per |/|mph")
_REASON = lazy_pattern(
    r"(?<=[a-z]),? (?:because|since|after|as) (?=.*\d).{3,80}$",
    re.IGNORECASE,
    needs="after|as|because|since",
)
_LEAD = lazy_pattern(
    r"^(?:(?:(?-i:[Bb]y|[Uu]sing|[Ff]rom|[Vv]ia) (?:the )?(?-i:[A-Z])[A-Za-z'-]+(?: [a-z]+){0,2}?,?\s+(?=the |we |it |there ))|(?:for (?:a|the) (?:grand )?total of|leaving(?: (?:him|her|them|us|it|[A-Z][a-z]+))?(?: with)?|making(?: it)?|totall?ing|giving(?: us)?)\s+|(?:now|finally|altogether|overall|in total|in all|in the end|at the end|in summary|in conclusion|then|and|ok|okay|well|yes|either way|accordingly|ultimately|eventually|clearly|obviously|evidently|certainly|as a result|all in all"
    r"|(?:since|because|as|after|before|during|by|at|on|with) [a-z' \d]{2,60}),\s+|(?:now|then|finally|altogether|overall|and)\s+)",
    re.IGNORECASE,
)
_EURO_BEHIND = lazy_pattern(r"(?<![\w€.,])(\d[\d.,]*(?<=\d)) ?€", needs="€")
_NUMERAL = lazy_pattern(r"(?:\\?\$|€|£)?-?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\\?%)?")
_SYMBOL = lazy_pattern(
    r"[kMGmc]?(?:[NJWVAKFHTCL]|Pa|Hz|Wh)"
)  # units whose capital letter is their name
_HAS_NUMBER = lazy_pattern(r"[-\\$€£]*\d")
_UNIT = lazy_pattern(r"[A-Za-z]+(?:/[A-Za-z]+|\^\{?[23]\}?|[²³])+", needs="/|^|²|³")
_MATHS = lazy_pattern(r"\$(\\?\$?-?[\d,./]+)\$|\\\((-?[\d,./]+)\\\)", needs="$|\\(")


class _Amount(Struct, frozen=True):
    """The only number of a sentence, with the words before and behind it in lower case."""

    before: list[str]
    number: str
    after: list[str]
    asks: bool = False
    """True if the sentence is a question."""
    led: bool = False
    """True if words such as "in all," were taken off its start."""


def stated(line: str, question: str = "") -> str | None:
    """The number with its noun that the last sentence of `line` states: "7 apples".

    Empty if that sentence has one number and does not state it, or says of another number the same as the
    sentence before; None if it is no such sentence.
    """
    line = line.strip("*_` ")
    if " " not in line:
        return None
    asked = words_of(question) if question else frozenset()
    if _ABBREVIATED.search(line):
        return ""
    sentences = _BREAK.split(line[-4 * _MOST_CHARS :])
    measures = _MEASURES.fullmatch(sentences[-1])
    if measures is not None:
        held = _holds(list(map(str.lower, WORD.findall(measures[1]))), asked)
        return measures[2] if held else None
    found = _amount(sentences[-1], question)
    if found is None:
        return None
    for earlier in sentences[:-1]:
        if differs(earlier, sentences[-1], question):
            return ""
    return _stated(found, line, asked)


def differs(earlier: str, later: str, question: str = "") -> bool:
    """Return True if two sentences say the same of two numbers: "5 are left", "6 are left"."""
    second = _amount(later, question)
    first = None if second is None else _amount(earlier, question)
    return (
        first is not None
        and second is not None
        and (first.before, first.after) == (second.before, second.after)
        and bool(first.before or first.after)
        and first.number != second.number
    )


def _stated(found: _Amount, line: str, asked: frozenset[str]) -> str | None:
    before, after = found.before, found.after
    if not before:
        return _counted(found, asked) if after else found.number if WORD.search(line) else None
    if before[-1] == "at" and before[-2:-1] and before[-2].startswith("arriv"):
        before = before[:-1]
    if found.asks or is_doubtful(before, after, asked):
        return ""
    said = {*before, *after}
    if said & (BOUNDS - (_ASKABLE & asked)) or any(word.endswith("n't") for word in said):
        return None
    if CHANGED.search(_UP.sub("", " ".join(before))):
        return None  # `directions.py` reads these
    noun = _noun(after, asked)
    if before[-1] == "in" and len(before) > 2 and _IN_TIME.intersection(after[:3]):
        # "They can sit in 24 ways", where any verb will do.
        verb = not VERBS.union(MODALS).isdisjoint(before) or before[-2].endswith(("s", "ed"))
        return f"{found.number}{noun}" if verb and noun and before[0] not in NO_SUBJECTS else None
    at = len(before) - 1
    while at >= 0 and (before[at] in _ADVERBS or (before[at] in VALUES and "of" in before[at:])):
        at -= 1
    if at < 0 and before[-1] not in ("of", "exactly", "only", "just"):
        return None
    if at >= 0:
        held = _holds(before[: at + 1], asked, near=at + 1 == len(before))
        if not held:
            return "" if held is False else None
    if counts_work(noun or "", asked):
        return ""
    return None if noun is None else f"{found.number}{noun}"


def is_doubtful(before: list[str], after: list[str], asked: frozenset[str]) -> bool:
    """Return True if a sentence is a hedge, a premise, a plan, or what others say."""
    said = {*before, *after}
    premises = {word for word in said & _PREMISES if not any(word[:4] == one[:4] for one in asked)}
    if before[-2:] == ["would", "be"]:
        premises.discard("would")
    if said & _WOULD and not {"would", "had"} & asked and "be" not in said:
        return True
    if before[:4] == ["it", "is", "possible", "that"]:
        return True
    return bool(
        said & DOUBTS or (UNTRUE - asked) & set(before) or premises or before[0] in PLANS - asked
    )


def _counted(found: _Amount, asked: frozenset[str]) -> str | None:
    """The number and noun of "45 pages are left to read"; None if the sentence goes on otherwise."""
    after = found.after
    if not (BOUNDS | DOUBTS | _PREMISES | WORK_FORMS - asked).isdisjoint(after) or len(after) > 12:
        return None
    if found.led:
        return f"{found.number}{_noun(after, asked) or ''}"
    verb = next(
        (k for k, word in enumerate(after) if word in BE or word in ("remain", "remains")), 0
    )
    if not 0 < verb < 5 or after[verb + 1 : verb + 2] not in _REMAINING:
        return None
    return f"{found.number} {' '.join(after[:verb])}"


@lru_cache(maxsize=4096)
def _amount(sentence: str, question: str) -> _Amount | None:
    """The only number of a sentence, but for those of the question; None if there is none, or signs are beside it."""
    if len(sentence) > 2 * _MOST_CHARS:
        return None
    shown = CONCLUDES.split(uncontracted(sentence))[-1].strip()
    if " May" in shown:
        shown = re.sub(r"(?<=[a-z,\d] )May\b", "Mai", shown)  # the month, and no doubt
    asks = shown.rstrip("*_ ").endswith("?")
    shown = _MATHS.sub(lambda match: match[1] or match[2], shown).replace("*", "").strip(" .!?_`")
    shown = _EURO_BEHIND.sub(r"€\1", shown)
    reason = _REASON.search(shown)
    if reason is not None and DOUBTS.isdisjoint(words_of(reason[0])) and " or " not in reason[0]:
        shown = shown[: reason.start()]
    lead = _LEAD.match(shown)
    if lead is not None:
        if not _READINGS.isdisjoint(lead[0].lower().replace(",", "").split()):
            return None
        shown = shown[lead.end() :]
    words = shown.replace("left over", "left").replace(", ", " , ").split()
    if not 1 <= len(words) <= 30:
        return None
    if words[0].lower() == "at" or ("at" in words and _RATE.search(shown)):
        words = [word for word in words if word != "at"]
    places = [k for k, word in enumerate(words) if not word.isalpha() and _HAS_NUMBER.match(word)]
    if len(places) > 1 and question:
        # The numbers of the question may stand beside that of the answer: "3 dogs have 12 legs".
        if any({*words[a + 1 : b]} <= {"and", "or", ",", "&"} for a, b in pairwise(places)):
            return None  # a list: "2 and 3"
        given = frozenset(_NUMERAL.findall(question))
        new = [k for k in places if words[k] not in given]
        words = ["those" if k in places and k not in new else word for k, word in enumerate(words)]
        places = new
    size = 1
    if not places:
        places, size = _spelled_place(words)
    if len(places) != 1:
        return None
    at = places[0]
    number = " ".join(words[at : at + size])
    before, after = words[:at], words[at + size :]
    if size == 1 and not _NUMERAL.fullmatch(number) and number_of(number) is None:
        return None
    unit = after[:1] if after and _UNIT.fullmatch(after[0]) else []
    if not all(map(WORD.fullmatch, (*before, *after[len(unit) :]))):
        return None
    if any(
        number_of(word)
        for word in before
        if word.lower() != "one" and not STARTS.isdisjoint(word.lower().split("-"))
    ):
        return None
    lower = [w if _SYMBOL.fullmatch(w) else w.lower() for w in after[len(unit) :]]
    return _Amount([word.lower() for word in before], number, unit + lower, asks, lead is not None)


def _spelled_place(words: list[str]) -> tuple[list[int], int]:
    """The place and length of the only number in words; no place if there are several."""
    found: list[tuple[int, int]] = []
    k = 0
    while k < len(words):
        size = 0
        if words[k].lower().split("-")[0] in STARTS:
            ends = range(min(4, len(words) - k), 0, -1)
            size = next((n for n in ends if number_of(" ".join(words[k : k + n]))), 0)
        if size and words[k : k + 2] != ["One", "can"]:
            found.append((k, size))
        k += size or 1
    return ([found[0][0]], found[0][1]) if len(found) == 1 else ([], 0)


def _holds(before: list[str], asked: frozenset[str], *, near: bool = True) -> bool | None:
    """Return True if the words up to a verb make a statement; False for a mention, None if that cannot be told.

    `near`: the number stands right behind the verb, so that it may be a rare one.
    """
    if not before:
        return None
    verb, subject = before[-1], before[:-1]
    if is_label(verb, asked) or verb in LISTING:
        return False
    modal = False
    while subject and subject[-1] in MODALS:
        modal = modal or subject[-1] in ("will", "can", "must", "could", "would")
        subject = subject[:-1]
    if verb in BE and not labels(subject, asked):
        return False
    if not subject:
        return (
            True if verb in BE or verb in ("gives", "makes", "leaves", "yields", "equal") else None
        )
    if subject[0] in NO_SUBJECTS:
        return False
    if subject[0] in ("i", "we"):
        return verb in MY_VERBS or verb in asked
    if verb in VERBS or (verb.endswith("ed") and any(verb[:4] == one[:4] for one in asked)):
        return None if subject[-1] in ("the", "a", "an") else subject[0] not in PLANS
    if not near or singular(verb) in LABELS:
        return None
    if subject[0] not in _ARTICLES:
        is_verb = len(subject) == 1 and (
            modal or verb.endswith(("s", "ed")) or subject[0] == "they"
        )
    else:
        # "the hens lay"
        is_verb = 1 < len(subject) <= 3 and (
            modal or verb.endswith(("s", "ed")) or subject[-1].endswith("s")
        )
    return True if is_verb else None


def _noun(after: list[str], asked: frozenset[str]) -> str | None:
    """The counted noun behind a number, "" without one; None if the words behind it change the number."""
    at = next((k for k, word in enumerate(after) if word in _STOP), len(after))
    noun, tail = after[:at], after[at:]
    if len(noun) > 5 or len(tail) > 10:
        return None
    if _TAIL_ALTERS.intersection(tail) or any(map(number_of, tail)) or tail[:2] == ["to", "the"]:
        return None
    return f" {' '.join(noun)}" if noun else ""
