"""Reads a cleaned answer as items: trees with units, in a list or alone; ambiguous text in several ways."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from verigym.verifiers.math.parser import parse, plain_number
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.phrasings import with_repeats
from verigym.verifiers.math.scales import multiplied
from verigym.verifiers.math.sentences import formal
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import MAX_ITEMS, Node, TooBig, Unreadable
from verigym.verifiers.math.units import Unit, split_unit


class Item(Struct, frozen=True):
    """One answer of a list: a tree (None if it is words), its unit if it shows one, its text."""

    node: Node | None
    unit: Unit | None
    text: str
    formula: Node | None = None
    """The text read without a unit, where its unit may be letters: 2m."""


class Reading(Struct, frozen=True):
    """One way to read an answer: groups of items ("x=1, y=2 or x=3, y=4" has two groups)."""

    groups: tuple[tuple[Item, ...], ...]
    constant: bool = False
    """True if the text lets a letter stand for any constant."""
    tail: str = ""
    """The remark or condition behind the answer that was dropped to read it (`conditions.py`)."""

    @property
    def items(self) -> tuple[Item, ...]:
        """All items."""
        if len(self.groups) == 1:
            return self.groups[0]
        return tuple(item for group in self.groups for item in group)


_QUALIFIER = lazy_pattern(
    r"[,;]?\s*\(?(?:\bfor (?:all|any|every|each|some|an? |integers?|real|constants?|arbitrary|positive|non|n\b|k\b|x\b|\\?[a-z]{0,6} ?[a-z] ?(?:\\in|>|<|!=|=))|"
    r"\b(?:where|with|when|whenever|provided|such that|as required|respectively|in total|in simplest form|"
    r"rounded|correct to|to (?:\w+ )?(?:decimal|significant|d\.? ?p\b|s\.? ?f\b)|approximately|which|because|since|inclusive|units?\b$|if [a-z] ?(?:!=|>|<)|reject|discard|disregard|not (?=-?[\d\\]|[a-z] ?=)|rather than|(?:with )?(?:equality|attained|achieved|reached|occurring|occurs)(?: holds| occurs)? (?:at|when|for|if|iff)|at (?=\(?[a-z]\b.{0,3}=))|(?:[,;]\s*(?=[a-z] ?(?:!=|[<>]=? ?-?\d))|[,;]?\s*\((?=[a-z] ?(?:!=|<|>|\\in)[^()]*\)\s*$))|(?<=[,;] )[a-zA-Z] (?=an? |any |some |is an? |being an? )).*$",
    needs="!=|(|,|;|<|>|achieved|approximately|as required|at |attained|because|correct to|discard|disregard|equality|for |if |in simplest form|in total|inclusive|not |occurring|occurs|provided|rather than|reached|reject|respectively|rounded|since|such that|to |unit|when|where|which|with",
)
_CONSTANT = lazy_pattern(
    r"\b(?:constants?|arbitrary|any|some|every|all|each|real|integer)\b|\\in\s*\\[RZQNC]|\b[cCkK]\b",
    needs="C|K|\\in|all|any|arbitrary|c|every|integer|k|real|some",
)
_LABEL = lazy_pattern(
    r"^(?:(?:hence|so|thus|therefore|we (?:get|have)|and)[,:]? )?"
    r"([A-Za-z][A-Za-z' ()-]{2,60}?)\s*(?:=|:|\b(?:is|are|equals|will be|was)\b)\s*(?:equal to |approximately |about |simply )?(.+)$",
    needs=":|=|are|equals|is|was|will be",
)
_NEGATIVE = lazy_pattern(
    r"\b(?:not|never|cannot|neither|at (?:least|most)|(?:less|more|fewer|greater|larger|smaller) than|between)\b|n't\b",
    re.IGNORECASE,
    needs=" than|between|least|most|n't|neither|never|not",
)
_PART_OF = lazy_pattern(
    r"\b(?:roots?|squares?|cubes?|half|halves|thirds?|quarters?|twice|double|triple|multiples?|powers?|factors?|divisors?"
    r"|reciprocal|inverse|opposite|logarithm|factorial)(?: of)? $",
    re.IGNORECASE,
)
_LEAD = lazy_pattern(
    r"^(?:for (?=all|any|every))?(?:(?:hence|so|thus|therefore|then),?|for(?= [a-z] ?[<>])|either|both|only|exactly|approximately|about|roughly|around|just|the (?:values?|numbers?|pairs?|solutions?|functions?) (?:is|are|of)?|all (?=\()|(?:all|any|every)(?: the)?(?: real| positive| non-?negative)?(?: integers?| numbers?| values?| reals?)?(?: of)?(?=\s+[a-z]\s*(?:<|>|=|!|\\in)))\s+",
    re.IGNORECASE,
    needs="<|>|about|all|any|approximately|around|both|either|every|exactly|hence|just|only|roughly|so|the |then|therefore|thus",
)
_REVERSED = (
    (lazy_pattern(r"\]([^\[\],;()]+)[,;]([^\[\],;()]+)\["), r"(\1,\2)"),
    (lazy_pattern(r"([\[(])([^\[\],;()]+)[,;]([^\[\],;()]+)\["), r"\1\2,\3)"),
    (lazy_pattern(r"\]([^\[\],;()]+)[,;]([^\[\],;()]+)([\])])"), r"(\1,\2\3"),
)
_EXCEPT = lazy_pattern(
    r"^(?:all |the )*(?:(?:real )?numbers?|reals?|real values?|\\RR|x)?(?: of)?(?: [a-z])?,? ?(?:except|but|other than)(?: for| at| when)? (?:[a-z]\s*=)?(.+)$"
)
_EXCEPTS = lazy_pattern("except|but|other than", needs="but|except|other than")
_IMPLIES = lazy_pattern(
    r"\\(?:implies|Rightarrow|Longrightarrow|therefore)(?![A-Za-z])", needs="\\"
)
_ASSIGNED = lazy_pattern(r"([A-Za-z](?:_\{?\w\}?)?)\s*=", needs="=")
_TO = lazy_pattern(r"^(\d+)[ -]to[ -](\d+)(?:[ -]to[ -](\d+))?$", needs="to")
_SEPARATOR = lazy_pattern(r"[,;&]|\b(?:and|or)\b")
_MARK = lazy_pattern(
    r"\\[{}]|\\begin|\\end|[(\[{)\]}]|\s*(?:,\s*)?(?:\b(?:and|or)\b|&)\s*|\s*[,;]\s*"
)
_OPENS = ("\\{", "\\begin", "(", "[", "{")
_CLOSES = ("\\}", "\\end", ")", "]", "}")
_THOUSAND = lazy_pattern(r"\d{3}(?!\d)")
_EXPLICIT_AND = lazy_pattern(r"\band\b|&")
_ASIDE = lazy_pattern(
    r"\s*\((?:[^()]*\b(?:approx|about|rounded|decimal|d\. ?p\.?|dp\b|s\. ?f\.?|sig|equality|in |or |i\.e\.|that is|which|simplified)[^()]*|\\approx[^()]*|exact[^()]*|[\d\s.+\-*/^!]+(?:\([\d\s+\-*/]+\)[\d\s.+\-*/^!]*)?|[^()]*\b(?:rejected|extraneous|invalid|discarded|inadmissible)[^()]*|\s*-?\d[\d.]*\s*%\s*|\s*=[^()]*|[A-Za-z][a-z]*(?:[ -][a-z]+){0,5}\s*|(?:by|using|via|from|see) [A-Za-z' -]{3,40})\)\s*$",
    needs="(",
)


_GROUPS = lazy_pattern(r"\d,\d{3}|\d \d{3}")


@lru_cache(maxsize=64)
def readings(text: str, *, strict: bool = False) -> tuple[Reading, ...]:
    """The ways to read a cleaned answer, the likeliest first. Raises TooBig past the bounds.

    `strict`: "x < 1 and x > 4" holds for no x. In a reference it may be meant for the union.
    """
    number = plain_number(text)
    if number is not None:
        return (Reading(((Item(number, None, text),),)),)
    found: list[Reading] = []
    for pattern, plain in _REVERSED:
        if "]" in text or "[" in text:
            text = pattern.sub(plain, text)
    text = formal(_concluded(text))
    for thousands in (True, False):
        for body, tail in _bodies(text):
            reading = _read(body, thousands, bool(_CONSTANT.search(text)), tail)
            if reading is not None and reading not in found:
                found.append(reading)
                both = _both(reading)
                if both is not None and not re.search(r"\bor\b", body):
                    found.append(both)
                    if strict and _EXPLICIT_AND.search(body):
                        found.remove(reading)
        if not _GROUPS.search(text):
            break
    return tuple(found)


def _concluded(text: str) -> str:
    """Return the end of a chain of implications if it is a formula, else the text."""
    last = _IMPLIES.split(text)[-1].strip()
    return last if last != text and re.search(r"[=<>]", last) else text


def _both(reading: Reading) -> Reading | None:
    """x > 1 and x < 3 as one set: what all its inequalities hold for."""
    nodes = [item.node for item in reading.items]
    first = nodes[0]
    if (
        first is not None
        and first.kind == "rel"
        and first.value == ("!=",)
        and len(first.args) == 2
    ):
        # x != -1, 1
        nodes = [
            first if k == 0 else Node("rel", (first.args[0], node), ("!=",))
            if node is not None and node.kind != "rel" and not node.variables() else node
            for k, node in enumerate(nodes)
        ]  # fmt: skip
    if len(nodes) < 2 or any(
        node is None or node.kind != "rel" or not set(node.value) <= {"<", "<=", ">", ">=", "!="}
        or len(node.variables()) != 1 for node in nodes
    ):  # fmt: skip
        return None
    joined = nodes[0]
    for node in nodes[1:]:
        joined = Node("inter", tuple(part for part in (joined, node) if part is not None))
    return Reading(((Item(joined, None, ""),),), tail=reading.tail)


def _bodies(text: str) -> list[tuple[str, str]]:
    """The text, and the text without what only explains it, with the tail that was dropped."""
    text = _TO.sub(lambda m: ":".join(filter(None, m.groups())), text)
    found = [(_EXCEPT.sub(r"x != \1", text) if _EXCEPTS.search(text) else text, "")]
    repeats = with_repeats(text)
    if repeats is not None:
        return [(body, "") for body in repeats]
    for pattern in (_LEAD, _QUALIFIER, _ASIDE):
        for body, tail in list(found):
            match = pattern.search(body)
            if match is None or len(found) >= 6:
                continue
            shorter = (body[: match.start()] + body[match.end() :]).strip()
            if shorter and shorter != body:
                dropped = "" if pattern is _LEAD else f"{match[0]} {tail}"
                found.append((shorter, dropped or tail))
    return found


def split(text: str, thousands: bool) -> list[tuple[str, str]]:
    """`text` at its commas, semicolons, "and" and "or" outside brackets: pairs of separator and part."""
    parts: list[tuple[str, str]] = []
    depth = start = 0
    before = ""
    for match in _MARK.finditer(text) if _SEPARATOR.search(text) else ():
        mark = match[0]
        if mark in _OPENS:
            depth += 1
        elif mark in _CLOSES:
            depth -= 1
        elif depth <= 0:
            at, end = match.span()
            number = (
                thousands and mark == "," and _THOUSAND.match(text, end)
                and text[at - 1 : at].isdecimal()
            )  # fmt: skip
            if not number:
                parts.append((before, text[start:at].strip()))
                before = mark.strip(" ,") or ","
                start = end
    parts.append((before, text[start:].strip()))
    parts = [(sign, part) for sign, part in parts if part]
    if len(parts) > MAX_ITEMS:
        raise TooBig(f"a list has at most {MAX_ITEMS} items")
    return parts


def _read(text: str, thousands: bool, constant: bool, tail: str) -> Reading | None:
    compound = _compound(text)
    if compound is not None:
        return Reading(((compound,),), tail=tail)
    spelled = number_of(text) if " and " in text else None
    if spelled is not None:
        return Reading(((Item(parse(spelled), None, text),),), tail=tail)
    parts = split(text, thousands)
    if not parts:
        return None
    groups: list[list[Item]] = [[]]
    grouped = any(sign in ("or", ";") for sign, _ in parts) and any(
        sign not in ("or", ";") for sign, _ in parts[1:]
    )
    if grouped and _is_one_name(parts):
        grouped = False  # n = 1, n = 2 or n = 3
    for sign, part in parts:
        item = item_of(part, thousands)
        if item is None:
            return None
        if grouped and sign in ("or", ";") and groups[-1]:
            groups.append([])
        groups[-1].append(item)
    return Reading(tuple(map(tuple, groups)), constant, tail)


def _is_one_name(parts: list[tuple[str, str]]) -> bool:
    """Return True for values of one name, the last behind "or": they are one list."""
    names = {match[1] if (match := _ASSIGNED.match(part)) else "" for _, part in parts}
    return (
        len(names) == 1
        and "" not in names
        and [sign for sign, _ in parts[1:]].index("or") == len(parts) - 2
        if "or" in [sign for sign, _ in parts[1:]]
        else False
    )


def item_of(text: str, thousands: bool = True, labels: int = 2) -> Item | None:
    """One item; words only if nothing else can be read, None if even that is empty."""
    spelled = number_of(text)
    if spelled is not None:
        return Item(parse(spelled), None, text)
    if text.endswith("%") and (counted := number_of(text[:-1].strip())) is not None:
        return Item(parse(f"{counted}%"), None, text)
    text = multiplied(text)
    node = _tree(text, thousands)
    simple = node is not None and not node.variables() and not _degree(text)
    if node is not None and (simple or len(text) == 1 or node.calls(*_ANGLES)):
        return Item(node, None, text)
    for body, unit in split_unit(text):
        inner = _tree(body, thousands) or _labelled_tree(body, thousands)
        if inner is None:
            counted = number_of(body)
            inner = parse(counted) if counted else None
        if (
            node is not None
            and inner is not None
            and inner.kind == "rel"
            and not unit.degree
            and " " not in text[len(body) :]
        ):
            continue  # n=4m: a letter, where h = 4 m is a length
        if inner is None or ((node is not None or unit.noun) and _loose(inner)):
            continue
        return Item(inner, unit, text, node if unit.dims and len(text) - len(body) < 4 else None)
    if node is not None:
        return Item(node, None, text)
    compound = _compound(text)
    if compound is not None:
        return compound
    computed = _OPERATOR.match(text)
    if computed:
        return item_of(computed[1].strip(), thousands, labels)
    labelled = _LABEL.match(text)
    if labels and labelled and labelled[2] != text and not _NEGATIVE.search(labelled[0]):
        inside = item_of(labelled[2], thousands, labels - 1)
        if inside is not None and inside.node is not None:
            return replace(inside, text=text)
    words = re.match(r"^(?:[A-Za-z]{2,} ){1,4}(?=[\d\\(])(.*)$", text)
    if (
        words
        and text[:3].lower() not in ("not", "mod")
        and not _NEGATIVE.search(words[0][: -len(words[1])])
        and not _PART_OF.search(words[0][: -len(words[1])])
    ):
        inner = _tree(words[1], thousands)
        if inner is not None and not re.match(
            r"(?i)(?:not|less|more|at|over|under|between|greater|fewer|no|un|minus|negative|base|mod|if|for)\b",
            text,
        ):
            return Item(inner, None, text)
    return Item(None, None, text) if text.strip() else None


@lru_cache(maxsize=4096)
def _tree(text: str, thousands: bool) -> Node | None:
    try:
        return parse(text, thousands=thousands)
    except Unreadable:
        return None


def _labelled_tree(text: str, thousands: bool) -> Node | None:
    match = _LABEL.match(text)
    return _tree(match[2], thousands) if match and not _NEGATIVE.search(match[0]) else None


def _degree(text: str) -> bool:
    return "\\circ" in text and bool(re.search(r"\^\s*\{?\\circ\}?\s*$", text))


def _loose(body: Node) -> bool:
    """Return True if a body before a possible unit is itself no plain number: "2x m" may be a product."""
    return bool(body.args[-1].variables() if body.kind == "rel" else body.variables())


_ANGLES = ("sin", "cos", "tan", "cot", "sec", "csc", "cis")
_COMPOUND = lazy_pattern(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+\.?)\s*(?:,|and)?\s*")
_FEET = lazy_pattern(r"^(\d+)\s*'\s*(\d{1,2}(?:\.\d+)?)\s*(?:''|\")?$", needs="'")
_OPERATOR = lazy_pattern(
    r"^\\(?:lim|int|iint|oint|iiint|sum|prod|min|max|sup|inf)(?![a-z]).*=([^=]+)$",
    re.DOTALL,
    needs="\\",
)


def _compound(text: str) -> Item | None:
    """2 hours 30 minutes, 5 feet 6 inches: the sum, in the first unit's dimension."""
    text = _FEET.sub(r"\1 feet \2 inches", text)
    total: Node | None = None
    first: Unit | None = None
    at = 0
    for match in _COMPOUND.finditer(text):
        if match.start() != at:
            return None
        at = match.end()
        found = split_unit(f"{match[1]} {match[2]}")
        if not found or found[0][1].noun or (first and found[0][1].dims != first.dims):
            return None
        unit = found[0][1]
        first = first or unit
        term = Node("mul", (parse(match[1]), Node("num", value=unit.factor / first.factor)))
        total = term if total is None else Node("add", (total, term), "compound")
    if at != len(text) or total is None or first is None or total.kind != "add":
        return None
    return Item(total, first, text)
