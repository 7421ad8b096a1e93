"""Settles which commitments of a reply still stand: the last one, and those that nothing took back."""

from __future__ import annotations

import re

from verigym.reply import takes_back
from verigym.verifiers.math.commitments import Commitment, phrases, sentence
from verigym.verifiers.math.endings import derived_value
from verigym.verifiers.math.found import Found
from verigym.verifiers.math.hedges import SPELLED, names_another, without_warnings
from verigym.verifiers.math.marks import unmarked
from verigym.verifiers.math.mentions import uncontracted
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.rivals import of_asked
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.statements import stated

_LONG_WORK = 300
_LATER = lazy_pattern(
    r"(?:\b(?:it|this|that|which|x|value)\s+(?:is|should be|must be|equals)|\bit's|\bI meant|\bshould (?:instead )?be|\bcorrect(?:ed)? (?:answer|value|one)?\s*(?:is|:)|=)\s*",
    re.IGNORECASE,
)
_CORRECTS = lazy_pattern(
    r"\b(?:wait|actually|correction|sorry|mistake|wrong|incorrect|not right|instead|scratch that|on second thou?ght|"
    r"i mean|i meant|make that|rather|no(?=[,!.:])|hmm|let me re|re-?check|re-?consider|re-?vis|error|oops|hold on|corrected)\b",
    re.IGNORECASE,
)
_CONCLUDES = lazy_pattern(
    r"\b(?:final(?:ly)?|therefore|thus|hence|so|in conclusion|conclude|overall|to summari[sz]e|answer|total)\b",
    re.IGNORECASE,
)
_UNDONE = lazy_pattern(
    r"[\s.,;?!*$}]{0,8}(?:yes|no|true|false|(?:or|and) not)\b\W*$",
    re.IGNORECASE,
    needs="false|no|true|yes",
)
_NEGATED = lazy_pattern(
    rf"^\W{{0,8}}(?:is|was|are)?\s*(?:not\b(?!\W{{0,6}}(?:\\boxed|\\fbox|-?\d|{SPELLED}\b))|wrong|incorrect|false\b)",
    re.IGNORECASE,
    needs="false|incorrect|not|wrong",
)
_BEFORE_NEGATED = lazy_pattern(
    r"\b(?:not|isn't|cannot be|can't be|wrong answer is|never)\s*(?:equal(?: to)?\s*)?\W{0,4}$"
    r"|\b(?:not (?:true|correct|clear|certain|sure|the case)|false|doubt|unlikely|unclear|whether)\s+(?:that\s+|if\s+)?$"
    r"|\b(?:maybe|perhaps|possibly|if|unless|suppose|assuming|imagine|peut-être(?: que)?|quizás?|acaso|tal vez|vielleicht|wenn|falls|si|forse|talvez|misschien),?\s+(?:(?:that|is|ist|lautet)\s+)?$"
    r"|\bnot (?:true|vrai|cierto|verdad|vero|wahr|verdade|waar),?\s+(?:que|che|dass|dat)\s+$|\b(?:non è vero|não é verdade|niet waar) (?:che|que|dat)\s+$",
    re.IGNORECASE,
)
_PLACEHOLDER = lazy_pattern(
    r"\W*|.*\b(?:your|my|the|final|answer|here|value|number)\b\D*|[XYN]", re.IGNORECASE
)
_TEXT = lazy_pattern(r"\\(?:text|mbox|textbf|mathrm)\{([^{}]*)\}", needs="mathrm|mbox|text")
_SPACING = lazy_pattern(
    r"\\(?:q?quad|text(?:bf|rm)?|mbox|mathrm|[,;:! \[\]()&])|[${}&*]", needs="$|&|*|\\|{|}"
)
_NAME = lazy_pattern(r"(?<![\w\\])[A-Za-z](?:_\{?\w\}?)?\s*=", needs="=")
_NAMED = lazy_pattern(r"(?<![\w\\])([A-Za-z](?:_\{?\w\}?)?)\s*=\s*\$?\s*$", needs="=")
_JOINT = lazy_pattern(r"[\s,;.:()]*(?:and|or|as well as|und|oder|et|ou|y|o|[和或与及])?[\s,;.:()]*")


def settle(text: str, found: list[Commitment], question: str, *, boxes: bool) -> Found:
    """Return the last commitment, with those before and after it that still stand."""
    shown = [one for one in found if one.shown and not _PLACEHOLDER.fullmatch(one.text[:60])]
    found = [
        one
        for one in found
        if not one.shown and not _BEFORE_NEGATED.search(text[max(0, one.start - 40) : one.start])
    ]
    if not found:
        return Found("", (), "the reply takes its answer back")
    last = found[-1]
    tail = without_warnings(text[last.end :], last.text)
    joined = _joined(text, found) if boxes else []
    if len(joined) > 1:
        return Found(", ".join(joined))
    if not unmarked(last.text):
        return Found("", (), "the final answer is empty")
    if not boxes and (derived := derived_value(tail, question)):
        return Found(derived)
    after = _after(last, tail)
    if after is not None:
        return after
    also: list[str] = []
    distinct = {_key(one.text) for one in found}
    for k, one in enumerate(found[:-1]):
        following = found[k + 1]
        between = text[one.end : last.start]
        near = text[one.end : following.start]
        taken_back = _NEGATED.match(near) or _CORRECTS.search(text[one.start : last.start])
        moved_on = len(between) > _LONG_WORK or _CONCLUDES.search(
            text[max(one.end, last.start - 60) : last.end]
        )
        if len(distinct) > 3 and len(between) < _LONG_WORK and not taken_back:
            moved_on = None
        if re.search(
            r"\b(?:or|alternatively|maybe|perhaps|possibly|candidate|either)\b",
            near[:80],
            re.IGNORECASE,
        ):
            moved_on = None
        if not taken_back and not moved_on and _key(one.text) != _key(last.text) and one.text:
            also.append(one.text)
    later = [
        one.text
        for one in phrases(tail, 0)
        if (re.search(r"\d", one.text) or number_of(one.text))
        and len(one.text) < 60
        and "\\boxed" not in one.text
    ]
    later += [one.text for one in shown if one.start > last.end]
    also += [one for one in later if _key(one) != _key(last.text)]
    return Found(_said(last.text, question), tuple(dict.fromkeys(also))[:4])


def _said(text: str, question: str) -> str:
    """A commitment without its marks, or the number that it states in a sentence."""
    text = uncontracted(unmarked(re.sub(r"^\s*1[.)] +(?=[^\n]+$)", "", text)))
    whole = _TEXT.fullmatch(text)
    shown = whole[1] if whole else text
    if question and of_asked(shown, question) != shown:
        return text  # it names a quantity, asked for or not
    return stated(shown, question) or text


def _key(text: str) -> str:
    return re.sub(r"[\s${}]|\\text|\\left|\\right", "", text).rstrip(".")


def _joined(text: str, found: list[Commitment]) -> list[str]:
    """The texts of the last commitments if they stand side by side, as one list; with their names
    where each has another ("x = [2], y = [6]")."""
    run = [found[-1]]
    names = [_NAMED.search(text[max(0, found[-1].start - 20) : found[-1].start])]
    for one in reversed(found[:-1]):
        between = text[one.end : run[0].start]
        if len(between) > 60 or not _JOINT.fullmatch(_SPACING.sub(" ", _NAME.sub(" ", between))):
            break
        run.insert(0, one)
        names.insert(0, _NAMED.search(text[max(0, one.start - 20) : one.start]))
    distinct = list(dict.fromkeys(one.text for one in run))
    if len(distinct) < 2:
        return []
    letters = [name[1] for name in names if name is not None]
    if len(set(letters)) == len(run) and not any(
        "=" in one.text or "_" in name for one, name in zip(run, letters, strict=True)
    ):
        return [f"{name}={one.text}" for name, one in zip(letters, run, strict=True)]
    return distinct


def _after(last: Commitment, tail: str) -> Found | None:
    """Return the answer as changed by a remark after the last commitment; None if no remark changes it."""
    if names_another(last.text, tail) or _UNDONE.match(tail):
        return Found("", (), "the reply names more than one answer and commits to none")
    corrects = _CORRECTS.search(tail)
    taken_back = takes_back(tail)
    if not (_NEGATED.match(tail) or corrects or taken_back):
        return None
    if (
        not (_NEGATED.match(tail) or taken_back)
        and re.search(r"\b(?:check|verif|match|confirm|indeed|correct\b)", tail, re.IGNORECASE)
        and not re.search(
            r"\b(?:wrong|mistake|incorrect|should be|scratch|sorry|oops|meant)\b",
            tail,
            re.IGNORECASE,
        )
    ):
        return None
    later = phrases(tail, 0)
    if later:
        return Found(later[-1].text)
    matches = list(_LATER.finditer(tail, corrects.start() if corrects else 0))
    for match in reversed(matches):
        body = sentence(tail[match.end() : match.end() + 300])
        if (
            (re.search(r"\d|\\|\b[a-z]\b|^\(?[A-J]\)?$", body) or number_of(body))
            and len(body) < 80
            and not re.match(r"(?:wrong|incorrect|not)\b", body)
        ):
            return Found(body)
    number = re.search(
        r"(?:instead|rather|correction|actually|sorry|no|i meant?|make that)[,:]?\s*(?:it's |it is )?\$?(-?\d[\d./]*|\(?[A-J]\)?(?=\W*$)|[a-z]+(?:-[a-z]+)?(?=\W*$))",
        tail,
        re.IGNORECASE,
    )
    if number and (not number[1].isalpha() or len(number[1]) == 1 or number_of(number[1])):
        return Found(number[1].rstrip("."))
    if (
        taken_back
        or _NEGATED.match(tail)
        or re.search(r"\b(?:wrong|incorrect|mistake|scratch that)\b", tail[:120], re.IGNORECASE)
    ):
        return Found("", (), "the reply takes its answer back")
    return None
