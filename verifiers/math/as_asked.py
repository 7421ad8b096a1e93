"""Reads a cleaned answer as a formula for what the question asks: without trials and workings, the larger of two, the next term."""

from __future__ import annotations

import re

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.points import sole_point
from verigym.verifiers.math.rivals import of_asked
from verigym.verifiers.math.spoken_formulas import in_symbols
from verigym.verifiers.math.trials import without_trials
from verigym.verifiers.math.wholes import spelled_out
from verigym.verifiers.math.workings import result_of

_DECLARED = lazy_pattern(
    r"(?:\s*[,;]\s*|\s+)\(?(?:where |with |for )?(?:(?:any |arbitrary )?[A-Za-z](?:_\{?\w\}?)?\s*(?:,|and)\s*)+[A-Za-z](?:_\{?\w\}?)?\s*(?:\\in\s*\\(?:RR|CC)|(?:are |is |being )?(?:an? |any |arbitrary |real |complex )*constants?)\)?$"
    r"|\s*[,;]\s*(?:where |with |for )?[CcKkABD](?:_\{?\w\}?)?\s*\\in\s*\\(?:RR|CC)$",
    needs="\\|constant",
)
_ASKS_LARGER = lazy_pattern(
    r"\bwhich\b[^?]*?\b(larger|greater|bigger|largest|greatest|biggest|smaller|less|lesser|smallest|least)\b",
    re.IGNORECASE,
    needs="which",
)
_WORDY = lazy_pattern(
    r"(?<![\\A-Za-z])[A-Za-z]{2}|[=<>,]|^\{|\\(?:approx|equiv)|[Rr] ?\d|\(.*,.*\)|:"
)


def as_asked(gold: str, answer: str, ctx: Context) -> str | None:
    """Return the answer as a formula for what is asked, without trials and workings; None if it names another quantity,
    or only values that fail."""
    if not _WORDY.search(answer):
        return answer
    kept = without_trials(answer)
    told = of_asked(kept, ctx.question) if kept is not None else None
    if told is None:
        return None
    read = in_symbols(result_of(told, ctx.question, equation="=" in gold), ctx.question)
    if "\\in" not in gold:
        read = _DECLARED.sub("", read)
    point = sole_point(read) if gold[:1] == "(" else None
    if point == "":
        return None
    compared = _compared(read, ctx.question)
    if compared == "":
        return None
    return spelled_out(point or compared or _continued(read, ctx.question), ctx.question)


_LARGE = frozenset(("larger", "greater", "bigger", "largest", "greatest", "biggest"))
_IS_LARGER = lazy_pattern(
    r"(?P<one>[^<>]{1,80}?) is (?:the )?(?P<how>larger|greater|bigger|largest|greatest|biggest|smaller|less|lesser|smallest|least)"
    r"(?: (?:one|number|value|fraction|quantity|of the two))*(?: than (?P<other>.{1,80}))?",
    needs="bigger|biggest|greater|greatest|larger|largest|least|less|smaller|smallest",
)


def _compared(answer: str, question: str) -> str | None:
    """The larger of "3^20 > 2^30" or "3^20 is larger" where a question asks which is larger, or the smaller; empty if
    only the other one is named, None if nothing is compared."""
    said = _IS_LARGER.fullmatch(answer) if " is " in answer else None
    asked = _ASKS_LARGER.search(question) if said or "<" in answer or ">" in answer else None
    if said is not None:
        if asked is None or re.search(r"\bnot\b", answer):
            return None
        same = (said["how"] in _LARGE) == (asked[1].lower() in _LARGE)
        return (said["one"] if same else said["other"] or "").strip()
    if asked is None or len(set(re.findall("[<>]=?", answer))) != 1 or re.search("[<>]=", answer):
        return None
    parts = re.split("[<>]", answer)
    rising = "<" in answer
    wants_large = asked[1].lower() in _LARGE
    return (parts[-1] if rising == wants_large else parts[0]).partition("=")[0].strip()


def _continued(answer: str, question: str) -> str:
    """The last of the terms that continue those of the question, where the next one is asked for."""
    terms = [term.strip() for term in answer.split(",")]
    if len(terms) < 4 or not re.search(r"\bnext (?:term|number|one|value|element)\b", question):
        return answer
    shown = re.sub(r"[\s$]", "", question)
    return terms[-1] if ",".join(terms[:-1]) in shown and ",".join(terms) not in shown else answer
