"""Finds a marked word, name or number that ends the last sentence of a reply: "... Monday is **Thursday**."."""

from __future__ import annotations

import re

from verigym.verifiers.math.mentions import claims, counts_work, words_of
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of

_MARKED = (
    r"(?:(?P<sign>\*{1,3}|_{1,3}|`{1,2}|==)(?=[^\s*_`=])(?P<said>[^*_`=\n]{1,80}?)(?<=[^\s*_`=])(?P=sign)"
    r"|<(?P<tag>b|strong|em|i|u|mark|code)>\s*(?P<within>[^<>\n]{1,80}?)\s*</(?P=tag)>"
    r"|\\(?:textbf|textit|emph|underline|mathbf)\{(?P<bold>[^{}\n]{1,80})\})"
)
_ENDING = lazy_pattern(
    rf"(?<![\w*_`\\]){_MARKED}(?P<noun>(?: [a-z]{{2,20}}){{0,2}})\s*[.!]?\s*[^\w\s.,;:!?*)\]}}]{{0,3}}$",
    needs="*|<|==|\\|_|`",
)
_ANY = lazy_pattern(rf"(?<![\w*_`\\]){_MARKED}", needs="*|</|==|\\|_|`")
_SENTENCE = lazy_pattern(r"(?<=[a-z\d$)*_`>}])[.!?:;]\s+(?=[A-Z\d])", needs="!|.|:|;|?")
_CONCLUDES = lazy_pattern(
    r"(?:[,;:]\s*|\s-+\s|\s[–—]\s)?(?:\b(?:so|therefore|thus|hence|consequently|which means|that means|this means|and so)\b(?: that\b)?"
    r"|[→⇒⟹]|=+>|-+>|\\(?:Rightarrow|implies|to|rightarrow|therefore)(?![a-z]))",
    re.IGNORECASE,
    needs="-|=|\\|consequently|hence|so|that means|therefore|this means|thus|which means|→|⇒|⟹",
)
_CLAUSE = lazy_pattern(r"[,;:]\s+|\b(?:which|that|and)\s+")
_DOUBTS = lazy_pattern(
    r"\b(?:doubt\w*|unlikely|unclear|unsure|sure|wrong|incorrect|mistaken|if|unless|whether|suppose|assum\w+|might|may|could|would|"
    r"perhaps|maybe|possibly|probably|likely|guess\w*|claims?|claimed|says?|said|believes?|thinks?|opposite|contrary|contradict\w*|false|not|isn't|sometimes|either|instead)\b",
    re.IGNORECASE,
)
_DENIES = lazy_pattern(
    r"\b(?:not|never|cannot|neither|nor|no|none|nobody|nothing|without|except|but|hardly|false|wrong|incorrect|between|least|most|over|under|"
    r"above|below|exceeds?|about|or|any|other|unlike|rather|than)\b|n't\b",
    re.IGNORECASE,
)
_OPEN = lazy_pattern(
    r"(?:\b(?:to|and|or|of|by|than|from|with|for|after|before|until|at|minus|plus|times|over|per|between|like|as|mod|modulo)|[\d$)}\]<>≤≥+*/^(=≠≈-])\s*(?:an? |the )?$",
    re.IGNORECASE,
)
_REACHES = lazy_pattern(
    r"\b(?:equal|equals|comes?|up|leads?|simplif\w+|sums?|reduces?|amounts?|evaluates?|rounds?|works out|corresponds?) to (?:an? |the )?$",
    re.IGNORECASE,
    needs="amount|come|correspond|equal|evaluate|lead|reduce|round|simplif|sum|up|works out",
)
_EMPTY = lazy_pattern(
    r"(?:q\.?e\.?d|done|proved|proven|required|desired|checked|verified|exactly|only|not|note|answer|(?:the )?final answer|in total)\W*",
    re.IGNORECASE,
    needs="answer|checked|desired|done|exactly|in total|not|only|proved|proven|q|verified",
)
_HEDGED = lazy_pattern(
    r"\b(?:or|not|wrong|incorrect|false|too|also|maybe|perhaps|more|less|minus|plus|times|if)\b"
)


def marked_ending(line: str, question: str = "") -> str:
    """The marked words that end the last sentence of `line` and that it states; empty if there are none."""
    line = line.strip()
    ending = _ENDING.search(line[-200:])
    if ending is None:
        return ""
    said = (ending["said"] or ending["within"] or ending["bold"]).strip()
    noun = ending["noun"]
    if not re.match(r"[\w$\\-]", said) or _EMPTY.fullmatch(said) or said.endswith((":", "?")):
        return ""
    if noun and (not (re.search(r"\d", said) or number_of(said)) or _HEDGED.search(noun)):
        return ""
    before = line[: len(line) - len(line[-200:]) + ending.start()]
    before = _SENTENCE.split(before)[-1]
    if not re.search(r"\w", before):
        return ""
    if _DOUBTS.search(before) and not _concluded(before):
        return ""
    clause = _last_clause(before)
    stated = before[max((match.end() for match in _CONCLUDES.finditer(before)), default=0) :]
    if _ANY.search(stated) or _DENIES.search(clause) or _DOUBTS.search(clause):
        return ""
    lead = before.rstrip(" \"'“")
    if lead.endswith((",", ";")) and not _CONCLUDES.search(lead[-15:]):
        return ""  # the last of a list
    if _OPEN.search(f"{lead} ") and not _REACHES.search(f"{lead} ") and not _arrow(lead):
        return ""
    asked = words_of(question) if question else frozenset()
    if not claims(before, said, asked) or counts_work(noun, asked):
        return ""
    return f"{said.rstrip('.!')}{noun}"


def _concluded(before: str) -> bool:
    """Return True if doubts stand only in front of a conclusion: "0 = 1 is false, so"."""
    found = list(_CONCLUDES.finditer(before))
    return bool(found) and not re.search(
        r"\b(?:if|doubt\w*|unclear|unsure|unless|suppose|claim\w*|says?|said|guess\w*|thinks?|believes?|maybe|perhaps|contrary|wrong|mistaken)\b",
        before[: found[-1].start()],
        re.IGNORECASE,
    )  # fmt: skip


def _last_clause(before: str) -> str:
    """The clause that the marked words end: behind the last comma or conclusion."""
    starts = [match.end() for match in _CONCLUDES.finditer(before)]
    starts += [match.end() for match in _CLAUSE.finditer(before)]
    return before[max(starts, default=0) :]


def _arrow(lead: str) -> bool:
    return bool(re.search(r"(?:[→⇒⟹]|[=-]+>|\\(?:Rightarrow|implies|to|rightarrow))$", lead))


_DERIVED = lazy_pattern(
    r"[.;,]?\s*(?:(?:[Ss]o|[Tt]hus|[Hh]ence|[Tt]herefore),? )?(?:[Tt]heir|[Tt]he|[Ii]ts) (?P<name>sum|product|difference|quotient|average|mean|ratio) (?:is|equals) (?P<value>-?[\d$\\][^\s;=]*?)[.$]{0,2}\s*",
    needs="sum|product|difference|quotient|average|mean|ratio",
)
_REST = lazy_pattern(
    r",? (?:which|and) (?:cannot|can't) be (?:reduced|simplified)(?: any)?(?: further)?$"
    r"|,? so (?:those|these|they) are (?:the|both) [a-z ]{0,30}(?:solutions|roots|values|zeros)$"
    r"|(?<=\d) \((?:an?|the|since|because|as) (?![^()]*\b(?:or|not|may|if|but|should|almost|about)\b)[^()]*\)$",
    needs=" be |(|are ",
)
"""Words that a sentence may have behind its claim."""
_REST_ENDS = (
    ")",
    "any",
    "further",
    "reduced",
    "simplified",
    "solutions",
    "roots",
    "values",
    "zeros",
)
_END_CHARS = 400


def derived_value(tail: str, question: str) -> str:
    """Return the value of "Their sum is 9." behind a list of solutions if the question asks for it; empty if not."""
    found = _DERIVED.fullmatch(tail)
    return found["value"] if found is not None and found["name"] in question.lower() else ""


def without_rest(text: str) -> str:
    """Return a text without what its last sentence says behind the claim: ", which cannot be reduced"."""
    shown = text.rstrip(" .!")
    if not shown.endswith(_REST_ENDS):
        return text
    end = shown[-_END_CHARS:]
    kept = _REST.sub("", end)
    return shown[: -len(end)] + kept if kept != end else text
