"""Answers in words: yes and no, names, "no solution", "the series diverges", and sentences that say them."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.grammar import FUNCTIONS
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of, ordinal_of
from verigym.verifiers.math.trees import names

_SAME = {
    **dict.fromkeys(
        ("yes", "true", "correct", "y", "t", "yep", "yeah", "yup", "indeed", "affirmative"), "yes"
    ),
    **dict.fromkeys(("no", "false", "incorrect", "n", "f", "nope", "nah", "negative answer"), "no"),
}
_SOUGHT = r"(?:solutions?|roots?|values?|limits?|answers?|integers?|numbers?|functions?|pairs?|triples?|primes?|points?|x|n)"
_NONE = lazy_pattern(
    rf"(?:there (?:is|are|exists?) )?(?:no|none|zero)(?: such| real| integer| valid| possible| positive| other)*(?: {_SOUGHT})?"
    r"(?: exists?| found)?|none of (?:them|these|the above)|"
    r"(?:it is |it's )?non-?existent|(?:no )?(?:(?:the|this) )?limit does not exist|the empty set|empty set|null set|none|dne|(?:(?!if |when |or |either |no |yes )[^ ]+ ){0,4}(?:does not exist|doesn't exist|has no limit)|"
    rf"(?:(?:there (?:is|are) )?no(?: such| real| integer| positive| possible)* {_SOUGHT}|nothing|none) (?:that )?(?:satisf(?:y|ies)|fulfills?|solves?|works?)(?: (?:this|it|that|(?:the|this|that|these|both|all)(?: given)? (?:equations?|inequality|inequalities|conditions?|systems?|constraints?)))?|"
    rf"(?:do|does) not exist|not? exists?|(?:(?!if |when |or |either |may |might )[^ ]+ ){{0,4}}(?:has|have|admits) no(?: such| real| integer| valid| possible| positive)* {_SOUGHT}",
    needs=" exist|dne|empty set|existent|fulfill|no|null set|satisf|solve|work|zero",
)
_INFINITE = lazy_pattern(
    r"(?:(?!no |not |if |or |either |finitely )[^ ]+ ){0,4}?(?:an )?(?:infinity|infinitely many|infinite(?: number(?: of)?)?|unlimited|endless(?:ly many)?)"
    rf"(?: real| integer| positive| distinct| such)*(?: {_SOUGHT})?(?: exists?)?",
    needs="endless|infinite|infinity|unlimited",
)
_TENDS = lazy_pattern(
    r"(?:(?:the|this|that|given|improper|infinite|series|sequence|integral|limit|sum|it|\$?[a-z]_n) ){0,5}(?:is )?(converg|diverg)(?:es|ent|e|ing)",
    needs="converg|diverg",
)
_TENDS_NOT = lazy_pattern(
    r"(?:(?:the|this|that|given|improper|infinite|series|sequence|integral|limit|sum|it|\$?[a-z]_n) ){0,5}(?:does not|doesn't|do not|don't|fails to|is not|isn't|cannot) (converge|diverge|convergent|divergent)",
    needs="converge|diverge",
)
_HOW = r"(absolutely|conditionally|uniformly|pointwise|absolute|conditional|uniform)"
_SUBJECT = r"(?:(?:the|this|that|given|improper|infinite|series|sequence|integral|sum|it) ){0,5}"
_CONVERGES = lazy_pattern(
    rf"{_SUBJECT}(?:is )?(?:converges|convergent|converge) (?:but |and )?(?:only |just |merely )?{_HOW}(?: only)?(?: (?:but |and )?not (?P<not>\w+))?"
    rf"|{_SUBJECT}(?:is )?(?:only )?{_HOW} (?:convergent|convergence)(?: only)?(?: (?:but |and )?not (?P<nor>\w+))?"
    rf"|{_SUBJECT}(?:is )?(?:not (?:absolutely|uniformly) (?:convergent )?but )(?:only )?{_HOW}(?: convergent)?"
)
_ASIDE = lazy_pattern(
    r"\s*(?:\((?:because |since |as |the |it |by )[a-zA-Z ,'-]{3,80}\)|,? (?:because|since) [a-zA-Z ,'-]{3,120})\s*\.?$",
    needs="(|because|since",
)
_TEST = lazy_pattern(
    r"\s*,?\s*\(?(?:by|using|via|from|because|since|as an?|p-series|geometric|alternating|harmonic|ratio|root|integral|comparison)\b[^()]*(?:\([^()]*\))?[^()]*\)?\s*\.?$",
    re.IGNORECASE,
    needs="alternating|as a|because|by|comparison|from|geometric|harmonic|integral|p-series|ratio|root|since|using|via",
)
_UNSURE = lazy_pattern(
    r"\b(?:if|unless|or|maybe|perhaps|might|may|could|possibly|probably|but|except|otherwise|think|guess|unsure|assum\w+)\b",
    re.IGNORECASE,
)
_REALS = lazy_pattern(
    r"(?:all|any|every|the set of(?: all)?)?(?: of)?(?: the)? ?real(?: numbers?| values?| x)*s?",
    needs="real",
)
_STOP = frozenset(
    names(
        "a an the is are all any every each be that of for such to it its this as set numbers number where with "
        "and only if then equals equal value values wins win winner winning strategy has have always can will"
    )
)


_COMMANDS = lazy_pattern(r"\\[a-zA-Z]+|[{}$\\]", needs="$|\\|{|}")
_MARKS = lazy_pattern(r"[.,;:!?\"()*_]+", needs='!|"|(|)|*|,|.|:|;|?|_')


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Words in lower case, without marks."""
    return " ".join(_MARKS.sub(" ", _COMMANDS.sub(" ", text.lower())).split())


_NUMBERS = lazy_pattern(r"[-+*/^=\d.,() ]*\d[-+*/^=\d.,() ]*", re.ASCII)


@lru_cache(maxsize=4096)
def kind_of(text: str) -> str | None:
    """The class of a conventional answer in words: yes, no, none, undefined, reals, infinite, convergent
    or divergent; also at the end of a sentence that says no more."""
    if _NUMBERS.fullmatch(text):
        return None
    shown = _LINK.sub("", plain(text)) if len(text) <= 200 else ""
    found = _kind(shown)
    if found is None and (said := complement(text)) is not None:
        found = _kind(said)
    if found is None and len(text) <= 200 and (test := _TEST.search(text)) is not None:
        by_test = _kind(_LINK.sub("", plain(text[: test.start()])))
        if by_test in ("convergent", "divergent") and not _UNSURE.search(test[0]):
            return by_test
    if found is None and len(text) <= 200 and (reason := _ASIDE.search(text)) is not None:
        found = _kind(_LINK.sub("", plain(text[: reason.start()])))
        return None if found in ("yes", "no") or _UNSURE.search(reason[0]) else found
    return found


def _kind(shown: str) -> str | None:
    if shown in _SAME:
        return _SAME[shown]
    if shown in (
        "undefined",
        "not defined",
        "is undefined",
        "indeterminate",
        "dne",
        "does not exist",
    ):
        return "undefined" if "defin" in shown or "indet" in shown else "none"
    if _NONE.fullmatch(shown) and shown not in ("zero", "no"):
        return "none"
    if shown and _REALS.fullmatch(shown):
        return "reals"
    if _INFINITE.fullmatch(shown):
        return "infinite"
    if "converg" in shown and (how := _CONVERGES.fullmatch(shown)) is not None:
        way = (how[1] or how[3] or how[5]).removesuffix("ly")
        return None if (how["not"] or how["nor"] or "").startswith(way) else way
    tends = _TENDS.fullmatch(shown)
    if tends is not None:
        return f"{tends[1]}ent"
    opposite = _TENDS_NOT.fullmatch(shown)
    if opposite is None:
        return None
    return "convergent" if opposite[1].startswith("div") else "divergent"


@lru_cache(maxsize=4096)
def _words_of_gold(gold: str) -> list[str]:
    return _content(gold)


def same_words(gold: str, answer: str) -> bool:
    """Return True if two answers in words say the same: the same words in the same order, but for articles,
    plural endings and the like. A real word must be among them. The answer may be a short sentence
    that ends with them, "The winner is Anna"."""
    first = _words_of_gold(gold)
    if not any(len(word) > 2 and word.isalpha() and word not in FUNCTIONS for word in first):
        return False
    if answer.rstrip().endswith("?") and not gold.rstrip().endswith("?"):
        return False
    answer = _NOT_AN.sub("", _WORKED_ASIDE.sub("", answer))
    if (numbered := _numbered(gold)) is not None and numbered == _numbered(answer):
        return True
    if len(first) == 1:
        answer = re.sub(r"^on (?:an? )?(?=[A-Z])", "", answer)
    shown = answer.strip(" .").lower()
    if len(first) == 1 and _FULL.get(_IT_IS.sub("", shown)) == gold.strip(" .").lower():
        return True
    if first == _content(answer) or first == _content(_LINK.sub("", answer.lstrip())):
        return True
    said = complement(answer)
    return said is not None and first == _content(said)


_NOT_AN = lazy_pattern(r"\s*\(not (?:necessarily )?an? [a-z ]{3,30}\)\.?$", needs="(not ")
_NUMBERED = lazy_pattern(
    r"(?:the )?(?P<noun>player|person|team|bag|box|group|case|class|option|figure|set|store|plan|car|train|pipe|number|term|equation|statement|row|column|machine|student|child|dataset|line|curve|function) (?:number |no\. ?|\# ?)?(?P<number>\d{1,3}|[a-z]+)(?: (?:wins|has .{1,30}))?[ .]*",
    re.IGNORECASE,
    needs=" ",
)
_NTH = lazy_pattern(
    r"(?:the )?(?P<number>\d{1,3}(?:st|nd|rd|th)|[a-z]+) (?P<noun>[a-z]+)(?: (?:wins|has .{1,30}))?[ .]*",
    re.IGNORECASE,
    needs=" ",
)


def _numbered(text: str) -> tuple[str, str] | None:
    """The noun and number of "Player 2" and "the second player"; None for other text."""
    nth = _NTH.fullmatch(text)
    place = ordinal_of(nth["number"]) if nth is not None else None
    if nth is not None and place is not None:
        return nth["noun"].lower(), str(place)
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return None
    number = match["number"] if match["number"].isdecimal() else number_of(match["number"])
    return None if number is None else (match["noun"].lower(), number)


_WORKED_ASIDE = lazy_pattern(r"\s*\([\d\s+\-*/=^%.,]+\)\.?$", needs="(")
_FULL = {
    short: name
    for name in names(
        "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
        "september october november december"
    )
    for short in (
        name[:3],
        name[:4] if name in ("september", "tuesday", "wednesday", "thursday") else name[:3],
    )
} | {"weds": "wednesday", "thurs": "thursday"}
"""Days and months by their abbreviations."""
_IT_IS = lazy_pattern(
    r"^(?:so )?(?:(?:it|that|the day|this) (?:is|will be|was)|it's|(?:it|that) (?:falls|fell) on|on)(?: an?)? "
)
_LINK = lazy_pattern(
    r"^(?:(?:so|thus|therefore|hence|then|finally|in conclusion|consequently|we conclude that|this means that|it follows that)\b[, ]*)+",
    re.IGNORECASE,
    needs="consequently|finally|hence|in conclusion|it follows that|so|then|therefore|this means that|thus|we conclude that",
)
_STATED = lazy_pattern(
    r"((?:[^ ]+ ){1,7}?)(?:is|are|was|were|must be|has to be|will be|should be|represents|describes|falls on|fell on|was on|is on)"
    r"(?: (?:therefore|thus|indeed|called|exactly|always|simply))? (?:an? |the )?(.{1,80})",
    needs="are|describes|falls on|fell on|has to be|is|must be|represents|should be|was|were|will be",
)
_DOUBTFUL = frozenset(
    names(
        "not no never nobody nothing none neither nor cannot isn't wasn't aren't if whether unless when doubt unclear unknown "
        "unsure might may could would perhaps maybe possibly probably likely either or but suppose assume say says claims think thinks believe "
        "believes guess opposite converse contrary reverse false wrong incorrect loser sometimes depends who which what "
        "that how why is are was were unlikely hardly other second"
    )
)


def complement(text: str) -> str | None:
    """Anna in "Therefore, the winner is Anna."; None for a long, doubtful or other sentence."""
    if len(text) > 200 or text.rstrip().endswith("?"):
        return None
    match = _STATED.fullmatch(_LINK.sub("", plain(text)))
    if match is None:
        return None
    subject, said = match[1].split(), match[2].split()
    if len(said) > 6 or not _DOUBTFUL.isdisjoint(subject):
        return None
    if len(said) == 1 and said[0] in _SAME:
        return said[0]
    return None if not _DOUBTFUL.isdisjoint(said) else match[2]


_TAKEN_BACK = lazy_pattern(
    r"\b(?:if|unless|but|sometimes|some cases|depends?|depending|partly|partially|maybe|perhaps|probably|possibly|only when|"
    r"not always|not necessarily|in general not|otherwise|might|could be|may be|or|yet|mostly|half|when)\b"
)
_VERDICT = lazy_pattern(
    r"(?:^|\b(?:and|or|also|both|nor|then|is|are|it's|,|;|/)\s*|[,;/.]\s*)(?P<word>yes|no|true|false|correct|incorrect)\b(?=\s*(?:$|[,;./)]|\b(?:and|or|for|in|if|when)\b))"
)
# "no idea", "no comment": the word denies a noun.
_NOTHING = lazy_pattern(
    r" (?!(?:it|it's|this|that|these|they|he|she|we|you|i|because|since|as|for|the|there|not|a|an|if|when|only|and|but|so|in|is|are|by|with|every|all|any|some|one of|x|n|k|f|its|his|her|their|what|no|indeed|sir|way,|neither|none|actually|of course|never|never,|thanks|at)\b)[a-z]+"
    r"| (?:one|body) (?:knows|can)| way\b(?! ?[.,!]| ?$)| (?:for|of) (?:sure|certain)"
)
_REASON = lazy_pattern(
    r"\b(?:because|since|as|for example|for instance|e\.g|indeed)\b|:",
    needs=":|as|because|e.g|for example|for instance|indeed|since",
)


def begins_with_verdict(gold: str, answer: str) -> bool | None:
    """For a gold of yes or no: whether the answer starts with it and leaves it at that; None if it
    starts with neither."""
    wanted = kind_of(gold)
    if wanted not in ("yes", "no"):
        return None
    shown = re.sub(r"\\[a-zA-Z]+|[{}$\\*_\"()]", " ", answer.lower())
    shown = _LINK.sub("", re.sub(r"\s+", " ", shown).strip())
    first = re.match(r"[a-z]+", shown)
    verdict = _SAME.get(first[0]) if first and len(first[0]) > 1 else None
    if first is None or verdict is None:
        return None
    rest = shown[first.end() :]
    if verdict == "no" and _NOTHING.match(rest):
        return False
    if answer.rstrip().endswith("?"):
        return False
    later = {_SAME[match["word"]] for match in _VERDICT.finditer(rest)}
    reason = _REASON.search(rest)
    remark = rest[: reason.start()] if reason else rest
    if (
        later - {verdict}
        or re.match(r"\W*(?:yes|no|true|false)\b\W*$", rest)
        or _TAKEN_BACK.search(remark)
    ):
        return False
    return verdict == wanted


def _content(text: str) -> list[str]:
    shown = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\b", " ", text)
    shown = re.sub(r"[{}$]|\\(?![A-Za-z])", " ", shown.replace("^", " ^ "))
    found = re.findall(
        r"\\[A-Za-z]+|[A-Za-z']+|\d+(?:\.\d+)?|[^\sA-Za-z\d.,;:!?\"'()*_\[\]]", shown
    )
    words = [word.lower() if len(word) > 1 else word for word in found]
    return [
        _stem(word)
        for word in words
        if word.lower() not in _STOP or (len(word) == 1 and word != "a")
    ]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
