"""Finds what a question asks for: its asking clause, the quantity, the thing that is counted and the person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verigym.verifiers.math.measures import asked_dims
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.people import people_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import Dims

_SENTENCE = lazy_pattern(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z¿\"'$(\d])|\n+")
_ASKS = lazy_pattern(
    r"\b(?:what|which|who|whom|whose|when|where|how|find|compute|calculate|determine|evaluate|solve|simplify|give|state|convert|express|write|differentiate|integrate|factor|estimate|work out|name|list|round|is|are|does|do|can)\b",
    re.IGNORECASE,
)
_NOT_ASKED = lazy_pattern(
    r"^\W*(?:give|write|put|express|round|state|leave|simplify|show|explain|report|present|use|assume|answer)\b[^?]*\b(?:answer|work|form|decimals?|places?|steps?|terms|nearest|fraction|percent|unit|units|box|boxed|digits?)\b",
    re.IGNORECASE,
    needs="answer|box|decimal|digit|form|fraction|nearest|percent|place|step|terms|unit|work",
)
_SUPPOSES = lazy_pattern(
    r"^(?:\W*(?:if|when|given|after|suppose|since|for|in|on|at|with)\b[^?]{0,200}?,\s+(?=(?:what|how|which|who|find|is|are|does|when|where)\b))",
    re.IGNORECASE,
    needs=",",
)
_COUNT = lazy_pattern(
    r"\bhow many\b(?: (?:more|fewer|less|different|distinct|whole|full|possible|total|extra|additional|of (?:the|his|her|their|these)))*(?P<noun>(?: [a-z-]+){1,4})",
    re.IGNORECASE,
    needs="how many",
)
_NOUN_ENDS = frozenset(
    names(
        "are is were was do does did can could will would have has had must should there in on at of to with from the a an he she they it you we i "
        "that which who remain left per each for by his her their only if between less than greater begin"
    )
)
WORD = lazy_pattern(r"[A-Za-z]+(?:-[a-z]+)*")
_IRREGULAR = dict(
    pair.split("/")
    for pair in names(
        "sold/sell bought/buy paid/pay spent/spend left/leave made/make won/win ate/eat gave/give took/take ran/run drove/drive got/get found/find "
        "grew/grow built/build held/hold went/go read/read wrote/write kept/keep lost/lose said/say drew/draw rode/ride drank/drink began/begin "
        "met/meet cost/cost higher/high highest/high taller/tall tallest/tall longer/long longest/long bigger/big older/old faster/fast "
        "children/child people/person men/man women/woman feet/foot wide/width high/height deep/depth long/length tall/height far/distance "
        "fast/speed old/age heavy/weight quickly/speed feets/foot vertices/vertex indices/index halves/half leaves/leave leaving/leave "
        "matches/match dice/die losses/loss money/cost velocity/speed gradient/slope chance/probability odds/probability breadth/width "
        "average/mean altitude/height duration/time weigh/weight weighs/weight percentage/percent center/centre "
        "greater/large greatest/large larger/large largest/large biggest/big smaller/small smallest/small remain/leave remains/leave remainder/leave remaining/leave rest/leave wins/win winner/win"
    )
)
_EMPTY = frozenset(
    names(
        "the a an of to in on at for by with from and or is are was were be been do does did will would can could what which who how many much find "
        "compute calculate determine evaluate give state it he she they his her their its this that there if when then so we you i as not "
        "number value values answer result total get has have had"
    )
)


@dataclass(frozen=True, slots=True)
class Focus:
    """The quantity, thing or person that a question asks for. `words` are roots; `counted` is the root of the noun behind "how many"."""

    clause: str
    words: frozenset[str]
    known: frozenset[str]
    counted: frozenset[str]
    dims: frozenset[Dims] | None
    asked_people: frozenset[str]
    other_people: frozenset[str]


@lru_cache(maxsize=4096)
def root(word: str) -> str:
    """The root that forms of a word share: "needs", "needed" and "need"; "tall" and "height"."""
    word = word.lower()
    if word in _IRREGULAR:
        return _stem(_IRREGULAR[word])
    for ending in ("ings", "ing", "ies", "ied", "ers", "ed", "ly", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return _stem(_IRREGULAR.get(word, word))


def _stem(word: str) -> str:
    return word.removesuffix("e") if len(word) > 3 else word


def roots(text: str) -> frozenset[str]:
    """The roots of the words of a text that say something."""
    return frozenset(root(word) for word in WORD.findall(text) if word.lower() not in _EMPTY)


@lru_cache(maxsize=4096)
def focus_of(question: str) -> Focus:
    """The focus of a question, from its last sentence that asks something."""
    question = question[-3000:].strip()
    clause = asking_clause(question)
    counts = _COUNT.findall(clause)
    counted: list[str] = []
    for word in counts[-1].split() if counts else ():
        if word.lower() in _NOUN_ENDS:
            break
        counted.append(root(word))
    everyone, asked = people_of(question) if "?" in question else (frozenset(), frozenset())
    return Focus(
        clause,
        roots(clause),
        roots(question),
        frozenset(counted[-1:]),
        asked_dims(question),
        asked,
        _others(question, everyone, asked),
    )


def asking_clause(question: str) -> str:
    """The part of a question that asks, without what it supposes before a comma."""
    sentences = [one for one in _SENTENCE.split(question) if one.strip()] or [question]
    asking = [one for one in sentences if one.rstrip(" \"')").endswith("?")]
    if not asking:
        asking = [one for one in sentences if _ASKS.search(one) and not _NOT_ASKED.match(one)]
    clause = asking[-1] if asking else sentences[-1]
    return _SUPPOSES.sub("", clause)


def _others(question: str, everyone: frozenset[str], asked: frozenset[str]) -> frozenset[str]:
    """The people whose amount is not asked for: all but those of the asking clause, or, where it says "she" or
    "he", those who only receive something."""
    if asked:
        return everyone - asked
    return frozenset(
        name
        for name in everyone
        if not re.search(
            rf"(?<!\bto )(?<!\bwith )(?<!\bfrom )(?<!\bfor )(?<!\bthan )(?<!\bhis )(?<!\bher )\b{name}\b",
            question,
        )
    )
