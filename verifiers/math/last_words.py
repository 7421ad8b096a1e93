"""Reads the value in a last sentence that goes on behind it, or has it in a form of its own.

"The z-score is -12/8 = -1.5, i.e. below the mean", "F_1(3,0) and F_2(-3,0)", "it is a regular 15-gon", "x_1 = 5 ... x_2 = 2".
Asked only where nothing else of the reply is the reference. A sentence that doubts, denies the value or supposes gives
nothing, and a remark behind the sentence (in brackets, or without a number) is passed over.

Not covered: values that stand in another sentence, and other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.conclusions import DOUBTS, conclusions, last_sentence
from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.mentions import words_of
from verigym.verifiers.math.other_quantity import opposes
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.question_focus import focus_of
from verigym.verifiers.math.rivals import asked_names, is_rival
from verigym.verifiers.math.statements import stated
from verigym.verifiers.math.trees import TooBig, Unreadable, names

_MOST_CHARS = 600
_REMARK = lazy_pattern(r"(?:\(.*\)|(?:This|It|These|They|That|The (?:series|curve|graph|set|answer|check)) (?!(?:is|are) (?:not|no|wrong)\b)[^\d$\\=<>]*)[.!]?", re.DOTALL)  # fmt: skip
_TAIL = lazy_pattern(
    r",? (?:i\.\s?e\.|that is,|(?:in other words|which (?:is|cannot be|can't be|means|makes|equals|are|gives|agrees|lies)|although|though|while|whereas|so that|as (?:required|expected|desired|claimed))\b).*$",
    re.DOTALL,
    needs="as |i.|in other words|so that|that is,|though|whereas|which |while",
)
_LEAD = lazy_pattern(
    r"^(?:[A-Z][a-z]+ing|Since|Because|As|For|From|By|With|In|Using|After|Hence|So|Thus|Therefore)\b[^.]{0,200}?,\s(?=[a-z])"
)
_NUMBER = r"-?(?:\\?\$\s?)?-?\d[\d,]*(?:\.\d+)?(?:/\d+)?"
_RANGE = lazy_pattern(
    rf",? (?:from|between|among)(?: the)? ({_NUMBER}) (?:to|and|through) ({_NUMBER})(?:,? inclusive)?$",
    needs="among|between|from",
)
_COMES = lazy_pattern(
    rf"\b(?:comes? out (?:as|at|to be|to)|works? out (?:at|as|to be|to)|turns? out to be|amounts? to|totals?) (?P<value>{_NUMBER}(?: [a-z]+)?)$",
    needs=" out |amount|total",
)
_OF = lazy_pattern(rf"\b(?P<noun>[a-z]+) of (?P<value>{_NUMBER}(?: [a-z]+)?)$", needs=" of ")
_PARTS = frozenset(
    names(
        "root square cube power half third quarter multiple factor divisor remainder out sum product difference"
    )
)
_HAS = lazy_pattern(
    rf"(?P<subject>{_NUMBER}) (?:has|have) (?:exactly |only |just |a total of )?(?P<value>\d[\d,]*) (?P<noun>[a-z]+(?: [a-z]+){{0,2}})",
    needs=" ha",
)
_PER = lazy_pattern(r" (?:per|a|an|for each|for every) ([a-z]+)$", needs="a|for every|per")
_GON = lazy_pattern(r"\b(\d+)-(?:gon|sided polygon)s?\b", needs="gon")
_DAY = lazy_pattern(
    r"\b(?:falls|fell|lands|landed|is|was|be) (?:on )?(?:an? )?\**([A-Z][a-z]+day)\**$", needs="day"
)
_POINT = lazy_pattern(
    r"(?<![A-Za-z\\])[A-Z](?:_\{?\w\}?|')?\s*(?:\\left)?\(\s*(?P<x>[^(),;|]{1,40}?)\s*(?:,|;|\\mid|\\vert|\|)\s*(?P<y>[^(),;|]{1,40}?)\s*(?:\\right)?\)",
    needs="(",
)
_POINTS = lazy_pattern(r"(?:[\s,;$.]|\band\b|\([^()]*\))+")
_SOLUTION = lazy_pattern(
    r"(?<![A-Za-z\\])(?P<name>[a-z])_\{?(?P<index>[1-9])\}?\s*=\s*(?P<value>[^=,;$]+?)\s*(?=[,;$]|\.?$|\s(?:and|or)\s)",
    needs="_",
)
_EXCEPT = lazy_pattern(
    r"(?:all|every|any) (?:real )?(?:numbers?|values?|reals?)?(?: of)? ?\$?(?P<bound>[a-z]\s*(?:\\geq?|\\leq?|≥|≤|>=?|<=?)\s*[^$\s,]+)\$?,? (?:except|but|other than)(?: for)? \$?(?P<gap>(?:[a-z]\s*=\s*)?[^$\s,]+)\$?",
    re.IGNORECASE,
    needs="but|except|other than",
)
_BEFORE = lazy_pattern(
    r"^|\$|(?<![A-Za-z\\])[A-Za-z]\s?=\s?|\b(?:is|are|makes?|gives?|get|have|so|that)\s"
)
_CHAIN = lazy_pattern(
    r"(?P<way>[^=$]{3,80}(?:=[^=$]{1,60})*)=\s*(?P<end>[^=$]{1,60}?)\$?(?: of [a-z]+)?"
)
_NOUNS = lazy_pattern(r"(?<=\d) ?(?:[a-zA-Z]{1,14})(?= ?(?:[-+*/×·÷=)]|$))")
_SET = lazy_pattern(r"=\s*(?P<end>\\?\{[^{}=]*\\?\})\$?$", needs="=")
_IDLE = lazy_pattern(
    r",? (?:as well|too|again|in total|altogether|in all|overall|exactly|respectively|at all|left over|this way|only)$",
    needs="again|altogether|as well|at all|exactly|in all|in total|left over|only|overall|respectively|this way|too",
)
_NAMELY = lazy_pattern(
    r"\b(?:namely|that is|i\.e\.):? (?:at )?\$?([^a-z].{0,80})$", needs="i.e.|namely|that is"
)
_ASKS_ZEROS = lazy_pattern(
    r"\b(?:zeros|zeroes|roots|solutions|poles|intercepts|vertices|intersect\w*|meets?|cross\w*|extrema|critical points?)\b",
    needs="zero|roots|solutions|poles|intercepts|vertices|intersect|meet|cross|extrema|critical point",
)
_DENIED = lazy_pattern(
    r"\b(?:not|never|no|undefined|except)\b|n't\b", needs="not|never|no|undefined|except|n't"
)
_PLACES = lazy_pattern(
    r"(?<![a-z]) ?\bat ((?:[a-z] ?= ?)?[-−\d\\π√][^,;a-z]{0,40}(?:, (?:at )?[^,;]{1,40})*?,? and at .{1,40})$",
    needs="and at ",
)
_WHERE = lazy_pattern(
    r"\b(?:for|when|if|on|where)(?: exactly| precisely)?(?: all| every| any)? (\$?(?:[a-z]\s?(?:[<>≤≥]|\\[lg]e)|[\[(]-?[\d\\∞-]|-?\d+\s?(?:[<>≤≥]|\\[lg]e))[^,;]{1,60})$",
    needs="for|if|on|when|where",
)
_PRECISELY = frozenset(("exactly", "precisely", "only", "true", "and", "if"))
_HOLDS = frozenset(("holds", "hold", "satisfied", "fulfilled", "works"))
_ASKS_WHERE = lazy_pattern(
    r"\b(?:where|for (?:which|what)|on (?:which|what)|intervals?|values? of|domain|find all|solve)\b",
    re.IGNORECASE,
    needs="domain|find all|for wh|interval|on wh|solve|value|where",
)
_COUNTED = lazy_pattern(
    r"(?:^|\b(?:so|thus|are|is|in|have|gives?|leaves|makes|exactly|only|that)\b,? )(?P<way>[-\d\s+*/×·÷−().!^{}]{3,60}?)\s*=\s*(?P<end>\d[\d,]*) (?:different |distinct |such |possible )?(?P<noun>[a-z]{3,})\b",
    re.IGNORECASE,
    needs="=",
)
_VALUE = lazy_pattern(
    r"\$[^$]+\$|\\\(.+?\\\)|(?<![\w.^_])-?(?:\\?\$|€|£)?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\s?(?:%|°|π|√\d+))?(?![\w^]|\.\d)"
)
_BOUNDS = lazy_pattern(
    r"\b(?:at (?:least|most)|(?:less|more|fewer|greater|larger|smaller|bigger|higher|lower|other) than|between|about|around|approximately|roughly|up to|under|over|above|below|step|case|part|equation|method|figure|chapter|example|exercise|problem|line|try|check|not|never|no|cannot|neither|nor|without|except|half|twice|times|root|square|cube|power|started?|begins?|began|initially|originally|first|add|adding|subtract\w*|multiply\w*|divid\w+|original|once|before|by)\b|n't\b",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(r": ((?:so |then )?(?:it|this|they|the [a-z]+) .+)$", needs=": ")
_SPACES = lazy_pattern(r"[\s$\\,{}()]")
_KIND = lazy_pattern(r"\b(?:is|are) (?:an? |the )?(?P<kind>[a-z]+) [a-z]+$", needs="are|is")


def last_words(reply: str, question: str) -> Iterator[str]:
    """The answers that the last sentence of a reply may give in one of these forms."""
    reply = reply[-4 * _MOST_CHARS :]
    last = last_sentence(reply.strip())
    for sentence in dict.fromkeys(_sentences(reply)):
        follows = sentence != last
        sentence = sentence.replace("**", "").strip(" !*\n")
        if sentence.endswith(("...", "…")):
            continue
        sentence = sentence.rstrip(" .")
        if not sentence or len(sentence) > _MOST_CHARS:
            continue
        plain = _TAIL.sub("", sentence).strip(" .,;")
        if DOUBTS.search(plain):
            continue
        yield from _forms(plain, question)
        if plain != sentence or follows:
            yield plain
            yield from _said(plain, question)


def _sentences(reply: str) -> Iterator[str]:
    """The last sentence, and the one before it if the last is but a remark."""
    lines = [line.strip() for line in reply.strip().split("\n") if line.strip(" *`~$-_>")]
    while len(lines) > 1 and _REMARK.fullmatch(lines[-1]):
        lines.pop()
        yield last_sentence(lines[-1])
    if lines:
        last = last_sentence(lines[-1])
        yield last
        before = lines[-1].removesuffix(last).strip()
        if before and _REMARK.fullmatch(last):
            yield last_sentence(before)


def _said(text: str, question: str) -> Iterator[str]:
    if said := stated(text, question):
        yield said
    yield from conclusions(text, question)


def _forms(text: str, question: str) -> Iterator[str]:
    asked = words_of(question)
    lowered = question.lower()
    counts = "how many" in lowered
    span = _RANGE.search(text)
    if span is not None and all(_shown(number, question) for number in span.groups()):
        text = text[: span.start()]
        yield text
        yield from _said(text, question)
    per = _PER.search(text)
    if per is not None and re.search(rf"\b(?:per|an?|each|every) {per[1]}\b", lowered):
        text = text[: per.start()]
        yield from _said(text, question)
    while (idle := _IDLE.search(text)) is not None:
        text = text[: idle.start()]
        yield from _said(text, question)
    if named_list := _NAMELY.search(text):
        yield re.sub(r"\band at\b", "and", named_list[1])
    places = _PLACES.search(text)
    if places is not None and (is_in(_ASKS_WHERE, question) or is_in(_ASKS_ZEROS, question)):
        before = text[: places.start(1)]
        if not (_DENIED.search(before) or opposes(before, focus_of(question).clause)):
            yield re.sub(r"\bat\b", "", places[1])
    where = _WHERE.search(text) if is_in(_ASKS_WHERE, question) else None
    if where is not None and _is_asked_of(text[: where.start()], lowered):
        yield where[1].strip(" $")
    work = _COUNTED.search(text)
    if (
        work is not None
        and work["noun"].rstrip("s") in lowered
        and _agree([work["way"], work["end"]])
    ):
        yield work["end"]
    if sole := _sole(text, question):
        yield sole
    if comes := _COMES.search(text):
        yield comes["value"]
    amount = _OF.search(text)
    if amount is not None and amount["noun"] in asked and amount["noun"] not in _PARTS:
        yield amount["value"]
    has = _HAS.fullmatch(text)
    if (
        has is not None
        and counts
        and _shown(has["subject"], question)
        and has["noun"].split()[-1] in asked
    ):
        yield has["value"]
    gons = _GON.findall(text)
    if len(set(gons)) == 1 and counts and "side" in lowered:
        yield gons[0]
    if day := _DAY.search(text):
        yield day[1]
    if named := _POINT.search(text):
        points = _POINT.sub(r"(\g<x>,\g<y>)", text[named.start() :])
        if _POINTS.fullmatch(points):
            yield points.replace("$", "")
    yield from _listed(text)
    gap = _EXCEPT.search(text)
    if gap is not None:
        name = gap["bound"].strip()[0]
        value = gap["gap"].rpartition("=")[2].strip(" .")
        yield f"{gap['bound']} and {name} \\ne {value}"
    yield from _ends(text)
    if "\\" in text and (whole := _SET.search(text)):
        yield whole["end"]
    if clause := _CLAUSE.search(text):
        yield clause[1]
    if kind := _KIND.search(text):
        yield kind["kind"]


def _shown(number: str, question: str) -> bool:
    bare = number.replace("$", "").replace("\\", "").replace(",", "").strip()
    return _has_number(bare, question.replace(",", ""))


def _listed(text: str) -> Iterator[str]:
    """x_1 = 5 and x_2 = 2 as a list, wherever they stand in a sentence."""
    found = list(_SOLUTION.finditer(text))
    indices = [int(match["index"]) for match in found]
    if (
        len(found) > 1
        and indices == list(range(1, len(found) + 1))
        and len({match["name"] for match in found}) == 1
    ):
        yield ", ".join(match["value"] for match in found)


def _ends(text: str) -> Iterator[str]:
    """The end of a chain of equal values with nouns: "that makes 10 * 75 g = 750 grams of flour"."""
    if "=" not in text:
        return
    for before in _BEFORE.finditer(text):
        chain = _CHAIN.fullmatch(text, before.end())
        if chain is not None and _agree([*chain["way"].split("="), chain["end"]]):
            yield chain["end"]
            return


def _agree(sides: list[str]) -> bool:
    """Return True if all sides of a chain, without nouns and units, have one value."""
    try:
        values = [exact(parse(_NOUNS.sub("", clean(side)).strip())) for side in sides]
    except (Unreadable, TooBig, ZeroDivisionError):
        return False
    return values[0] is not None and all(value == values[0] for value in values)


def _sole(text: str, question: str) -> str:
    """The value at the end of a sentence behind a word of the question, "leaves the remainder 1", if it is the only one that
    the question does not show; empty if the sentence bounds it or names another quantity."""
    values = [match for match in _VALUE.finditer(text) if not _is_given(match[0], question)]
    if len(values) != 1 or _BOUNDS.search(text) or "=" in text or "?" in text:
        return ""
    value = values[0]
    if text[value.end() :].strip(" .$"):
        return ""
    asked = asked_names(question)
    before = re.findall(r"[a-z-]{2,}", text[: value.start()].lower())
    if not before or any(is_rival(word, asked) for word in before):
        return ""
    led = before[-1] in words_of(question) and len(before[-1]) > 3
    return (
        value[0]
        if led or before[-2:] in (["the", "value"], ["the", "point"], ["given", "by"])
        else ""
    )


def _is_given(value: str, question: str) -> bool:
    return _has_number(_SPACES.sub("", value), _SPACES.sub("", question))


def _has_number(number: str, text: str) -> bool:
    """Return True if a text has a number that is no part of a longer one."""
    at = text.find(number)
    while at >= 0:
        end = at + len(number)
        if text[end : end + 1].isdigit() or (
            at and (text[at - 1].isdigit() or text[at - 1] == ".")
        ):
            at = text.find(number, at + 1)
        else:
            return True
    return False


def _is_asked_of(clause: str, question: str) -> bool:
    """Return True if a clause ends with what the question asks a condition for: "converges", "is concave down", "holds"."""
    words = [word for word in re.findall(r"[a-z]+", clause.lower()) if word not in _PRECISELY]
    return bool(words) and (words[-1] in _HOLDS or words[-1].rstrip("s")[:6] in question)
