"""Reads clauses that say of a value that it works or fails: "n = 42 works, n = 43 fails", "42 (43 fails)".

What fails is no answer, and does not spoil the one that works.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_NOT = r"(?:does not|doesn't|do not|don't|did not|didn't|cannot|can't|is not|isn't|are not|aren't|was not|will not|won't|never)"
_WORKS = r"works?|holds?|suffices?|is (?:valid|a solution|possible|achievable|attainable|fine|ok(?:ay)?|enough|sufficient|allowed|feasible)|satisf(?:y|ies)(?: [a-z ]{1,40})?|does(?: the job)?"
_FAILS = lazy_pattern(
    rf"(?:\b(?:already |clearly |also |itself |still )?)?\b(?:fails?|failed|violates?|contradicts?|breaks?|{_NOT}(?: (?:work|hold|suffice|satisfy|valid|possible|enough|a solution|fit|divide|do|achievable|allowed|feasible|attainable|an? [a-z]+|on|in|the [a-z]+)\b[^,;()]*)?"
    r"|(?:is|are|was|were|would be|gets?|can be) (?:too (?:large|small|big|low|high|many|few)|impossible|ruled out|excluded|wrong|incorrect|false|invalid|eliminated|rejected|extraneous|unattainable|impermissible|out)"
    r"|(?:gives?|leads? to|yields?|produces?|is) (?:an? )?(?:contradiction|absurdity|extraneous root|counter-?example|error)|has to be rejected|must be rejected)\b[^,;()]*$",
    re.IGNORECASE,
)
_HINT = lazy_pattern(
    rf"fail|violat|contradict|\bbreaks?\b|too (?:large|small|big|low|high|many|few)|impossible|ruled out|exclu|reject|extraneous|\bworks?\b|suffices?\b|\bholds\b|satisf|possible|{_NOT} (?:work|hold|suffice|satisfy|fit|on|a solution)|does not$|doesn't$|\bout$|invalid|eliminated",
    re.IGNORECASE,
    needs="break|does not|doesn't|eliminated|exclu|extraneous|fail|fit|hold|invalid|on|out|possible|reject|satisf|suffice|too |violat|work",
)
_VALUE = r"(?:[A-Za-z](?:_\{?\w\}?)?\s*=\s*)?-?(?:\d[\d.,/]*(?<=\d)|\\[a-z]+\{?[^\s,;]*|\([^()]*\))"
_CLAUSE = lazy_pattern(
    rf"(?:so |but |and |while |whereas |since |because |as |for |however,? |therefore )*(?P<value>{_VALUE})(?P<said> [^,;()]*)?",
    re.IGNORECASE,
)
_WORKING = lazy_pattern(
    rf" (?:{_WORKS}|is the (?:largest|smallest|greatest|least|maximum|minimum|answer)[a-z ]{{0,30}})",
    re.IGNORECASE,
    needs="does|hold|is |satisf|suffice|work",
)
_SPLIT = lazy_pattern(
    r"\s*(?:[,;]\s*(?:but|and|while|whereas|since|because|as)?\b|\bbut\b|\bwhile\b|\bwhereas\b|\bsince\b|\bbecause\b|\band\b(?= [A-Za-z]? ?=? ?\d)|[()])\s*",
    needs="(|)|,|;|and|because|but|since|whereas|while",
)


def without_trials(answer: str) -> str | None:
    """The answer without the clauses on what works or fails; None if all that it names fails."""
    if len(answer) > 300 or not _HINT.search(answer):
        return answer
    parts = [part.strip(" .") for part in _SPLIT.split(answer)]
    parts = [part for part in parts if part]
    kept: list[str] = []
    failing = 0
    for part in parts:
        clause = _CLAUSE.fullmatch(part)
        said = clause["said"] if clause else None
        if clause is None or not said:
            if _FAILS.search(part):
                # A lead with a value of its own is not read here.
                return answer
            kept.append(part)
        elif _FAILS.search(said):
            failing += 1
        elif _WORKING.fullmatch(said):
            kept.append(clause["value"])
        else:
            kept.append(part)
    if not kept:
        return None if failing else answer
    if not failing and len(parts) > 1:
        return answer
    return ", ".join(dict.fromkeys(kept))
