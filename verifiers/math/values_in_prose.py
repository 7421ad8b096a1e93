"""Finds the values in a sentence of prose, with their units and the place of each: amounts, equations, lists, bounds, points.

Numbers in words become digits, "x must be less than 5" becomes x < 5, and "3 hours and 25 minutes", "2 or 3" and
"x is 4, and then y is 3" are one value each.
"""

from __future__ import annotations

import re

from msgspec import Struct

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import STARTS, number_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import unit_of

_FORMULA = r"\$(?!\d+(?:[.,]\d+)*(?:[\s.,;?!)]|$)(?![^$]*[=^\\<>][^$]*\$))(?P<maths>[^$\n]+?)\$"
_FUNCTION = r"(?:sin|cos|tan|cot|sec|csc|ln|log|exp|sqrt|arctan|arcsin|arccos|sinh|cosh|tanh|pi|mod|infinity)(?![a-z])"
_TOKEN = lazy_pattern(
    rf"""(?P<formula>{_FORMULA})
    |(?P<number>(?:[$€£¥]\ ?)?\d(?:\d|,(?=\d\d\d(?!\d))|[.:](?=\d))*(?:\ ?[%°]\ ?(?:[CF]\b)?|\ ?(?:[ap]\.m\.?|[ap]m\b|AM\b|PM\b|[AP]\.M\.?))?)
    |(?P<group>[(\[{{](?:[^()\[\]{{}}\n]|\([^()\n]{{0,40}}\)){{1,80}}[)\]}}])
    |(?P<command>\\[A-Za-z]+(?:\{{[^{{}}\n]{{0,60}}\}})*|[∞π∅θ])
    |(?P<function>{_FUNCTION})
    |(?P<word>[^\W\d_²³⁴ⁿ₀-₉]+(?:['’-][^\W\d_²³⁴ⁿ₀-₉]+)*)
    |(?P<sign><=|>=|!=|[-+−±√*/×·÷^=<>≤≥≠≈!²³⁴ⁿ₀-₉_|∈∪∩:]+)
    |(?P<other>[^\s\w])""",
    re.VERBOSE,
)
_LETTERED = frozenset("bcdefghijklmnopqrstuvwxyzBCDEFGHJKLMNOPQRSTUVWXYZ")
"""Words that are letters of formulas."""
_WORDS = lazy_pattern(r"[A-Za-z]{3,}")
_JOINS = lazy_pattern(
    r"\s*(?:,|;|\bor\b|\band\b|&|\bund\b|\boder\b|\bet\b|\bou\b|\by\b|\bo\b)+(?:\s*(?:and|or|then|thus|hence|so|therefore)\b)*\s*"
)
_COUNTS = lazy_pattern(r"\s*(?:in all|altogether|in total)\b", needs="in all|altogether|in total")
"""Words behind the number of the members of a list."""
_BARE = lazy_pattern(r"[$€£¥]? ?\d[\d,]*(?:\.\d+)?")
_ABOVE = r"(?:greater|larger|bigger|more|higher) than or equal to|at least|no (?:less|smaller) than|not (?:less|smaller) than"
_BELOW = r"(?:less|smaller|lower) than or equal to|at most|no (?:more|greater|larger) than|not (?:more|greater|larger) than"
_SIGNS = (
    (rf"(?:{_ABOVE})", ">="),
    (rf"(?:{_BELOW})", "<="),
    (r"(?:strictly )?(?:(?:greater|larger|bigger|more|higher) than|above)", ">"),
    (r"(?:strictly )?(?:(?:less|smaller|lower|fewer) than|below)", "<"),
)
_EDGE = r"(?P<edge>-?\d[\d./]*(?<=\d)|-?√?\d+)"
_ALL = r"(?:(?:the )?(?:set of )?(?:all|any|every|each)(?: of)?(?: the)? (?:real )?(?:numbers?|values?|reals?|(?P<name>[a-z])\b)(?: (?P<late>[b-z])\b)?(?: of [a-z])?,?(?: (?:that|which) (?:is|are)| with (?P<again>[a-z]))? )"
_IS = r"(?:is|are|equals?|must be|has to be|can be|could only be|must equal|is equal to|needs to be|have to be|to be|being|will be|should be)"
_WORDED = tuple(
    (
        lazy_pattern(rf"(?:{_ALL}|\b(?P<own>[b-z]) {_IS} (?:any (?:real )?(?:number|value) )?){words} {_EDGE}(?![\d%])", re.IGNORECASE),
        sign,
    )
    for words, sign in _SIGNS
)  # fmt: skip
_UPWARDS = lazy_pattern(
    rf"\b(?:(?P<own>[b-z]) {_IS} |{_ALL})?(?:any (?:real )?number |a value )?(?:from {_EDGE} (?:upwards?|onwards?|to infinity|on up)|{_EDGE.replace('edge', 'edge2')} or (?P<side>more|greater|above|higher|larger|less|smaller|below|lower))",
    needs=" or |from ",
)
_EQUALS = lazy_pattern(
    rf"\b(?P<name>[b-z]) {_IS} (?:either |exactly |therefore |then )?(?=[-−√]?\d|[-−]?√|\$?\\(?:frac|sqrt))",
    needs="are|being|can be|could only be|equal|is|must be|should be|to be|will be",
)
_COORDINATES = lazy_pattern(
    rf"x-coordinate(?: [a-z ]{{0,30}})? (?:is|=|of) {_EDGE.replace('edge', 'x')},? (?:and|while) (?:the |its |a )?y-coordinate(?: [a-z ]{{0,30}})? (?:is|=|of)? ?{_EDGE.replace('edge', 'y')}",
    needs="x-coordinate",
)
_BOUND = lazy_pattern(r"[<>≤≥]|\\[lg]e", needs="<|>|\\|≤|≥")
_ASSIGNED = lazy_pattern(r"[a-z](?:_\w)? ?=(?!.*=)")
_MEETS = lazy_pattern(
    r"\b(?:when|where|at|if) (?=[a-z] (?:=|is) -?[\d./]+,? and [a-z] (?:=|is))", needs=" and "
)
_BETWEEN = lazy_pattern(
    rf"(?:{_ALL}(?:lying )?|\b(?P<own>[b-z]) (?:{_IS}|lies|must lie|has to lie) )(?:strictly |anywhere )?(?:in )?between (?P<low>-?[\d./√π]*[\dπ]) and (?P<high>-?[\d./√π]*[\dπ])(?P<closed>,? \(?inclusive\)?)?(?![\d%])",
    re.IGNORECASE,
    needs="between ",
)
_AREAS = lazy_pattern(
    r"\b(k|kilo|c|cent[ií]|m|mil[ií]|d|dec[ií])?(?:m[eéè]tr(?:os|es|o|e)|m) (?:cuadrad[oa]s?|carrés?|quadrati?)\b|\bQuadrat(zenti|kilo|milli)?meter\b",
    re.IGNORECASE,
    needs="m|quadrat",
)
_RATIO = lazy_pattern(r"(?<![\w.])(\d+) to (\d+)(?: to (\d+))?(?![\w.]*\d)", needs=" to ")
_AN_HOUR = lazy_pattern(
    r"(\d (?:km|m|miles?|kilomet(?:er|re)s?|met(?:er|re)s?|lit(?:er|re)s?|feet|ft|cm|gallons?)) (?:an?|each|every) (?=(?:hour|second|minute|day)\b)",
    needs="day|hour|minute|second",
)
_TIMES = dict(
    pair.split("/")
    for pair in names(
        "stunde/hour minute/minute sekunde/second tag/day heure/hour seconde/second jour/day hora/hour minuto/minute segundo/second"
    )
)
_ABROAD = lazy_pattern(
    rf"(?<=[a-z] )(?:pro|par|por) ({'|'.join(_TIMES)})\b",
    re.IGNORECASE,
    needs="heure|hora|jour|minute|minuto|seconde|segundo|sekunde|stunde|tag",
)
_ONE = lazy_pattern(
    r"(\b(?:is|are|equals|be|exactly|to) )one(?=[.,;]|$)|(?<=[a-z] )one(?= (?:dollar|euro|cent|hour|minute|second|day|week|month|year|met(?:er|re)|kilomet(?:er|re)|centimet(?:er|re)|kilogram|gram|lit(?:er|re)|foot|inch|mile|degree|pound)\b)"
)
_NO_UNITS = frozenset(
    names(
        "in a an at am pm as to of is per and for wide long tall high deep old thick away apart left"
    )
)


class Value(Struct, frozen=True):
    """A value of a sentence: its text, its unit (empty if it has none), and where it stands."""

    text: str
    unit: str
    start: int
    end: int

    @property
    def whole(self) -> str:
        """The value with its unit."""
        return f"{self.text} {self.unit}".strip()


def plain_sentence(sentence: str, *, bounds: bool = False, ratio: bool = False) -> str:
    """A sentence without marks, with numbers in digits and "x is 5" as an equation.

    `bounds`: also write "all numbers less than 5" as an inequality; `ratio`: "3 to 4" as 3:4.
    """
    text = sentence.replace("\u00a0", " ").replace("**", "").replace("`", "")
    if "\\" in sentence:
        text = re.sub(r"\\(?:text|mathrm|textbf)\s?\{([^{}]*)\}", r" \1 ", sentence)
        text = re.sub(r"\*\*|`|\\[,;! ]", "", text.replace("\\$", "$").replace("\u00a0", " "))
        text = re.sub(r"\\[()\[\]]", "$", text).replace("\\%", "%")
    text = text.replace("$$", "$").replace(" percent", "%")
    if "\\circ" in text:
        text = re.sub(r"(\d)\s?\^?\{?\\circ\}?", r"\1°", text)
    text = _AREAS.sub(_area, text)
    text = _ABROAD.sub(lambda match: f"per {_TIMES[match[1].lower()]}", text)
    text = _ONE.sub(lambda match: f"{match[1] or ''}1", text) if " one" in text else text
    text = _with_digits(text)
    if "pi" in text:
        text = re.sub(r"(?<=\d) ?pi\b", "π", text)
    text = _AN_HOUR.sub(r"\1 per ", text)
    if "minus " in text:
        text = re.sub(r"\bminus (?=\d)", "-", text)
    if " percent" in text:
        text = re.sub(r"(?<=\d) percent\b", "%", text)
    if "coordinate" in text:
        text = _COORDINATES.sub(r"point is (\g<x>, \g<y>)", text)
    if bounds:
        for pattern, sign in _WORDED:
            text = pattern.sub(lambda match, sign=sign: f"{_letter(match)} {sign} {match['edge']}", text)  # type: ignore[misc]  # fmt: skip
        text = _UPWARDS.sub(_upwards, text)
        text = _BETWEEN.sub(_between, text)
    text = _MEETS.sub("is ", text)
    if ratio:
        text = _RATIO.sub(lambda match: ":".join(filter(None, match.groups())), text)
    return _EQUALS.sub(r"\g<name> = ", text)


def _letter(match: re.Match[str]) -> str:
    found = match.groupdict()
    return found["own"] or found["again"] or found["late"] or found["name"] or "x"


def _between(match: re.Match[str]) -> str:
    sign = "<=" if match["closed"] else "<"
    return f"{match['low']} {sign} {_letter(match)} {sign} {match['high']}"


def _area(match: re.Match[str]) -> str:
    prefix = {"k": "k", "c": "c", "z": "c", "m": "m", "d": "d"}.get(
        (match[1] or match[2] or "")[:1].lower(), ""
    )
    return f"{prefix}m^2"


def _upwards(match: re.Match[str]) -> str:
    below = match["side"] in ("less", "smaller", "below", "lower")
    return f"{_letter(match)} {'<=' if below else '>='} {match['edge'] or match['edge2']}"


_LETTERS = lazy_pattern(r"[a-z]+")
_SPELLED = STARTS - {"a", "an"}


def _with_digits(text: str) -> str:
    """`text` with numbers in words as digits; "one" alone and "a half" stay."""
    if _SPELLED.isdisjoint(_LETTERS.findall(text.lower())):
        return text
    words = re.findall(r"\s+|[^\s]+", text)
    k = 0
    while k < len(words):
        lead = re.match(r"[A-Za-z]+", words[k])
        if lead is None or lead[0].lower() not in STARTS or lead[0].lower() in ("a", "an"):
            k += 1
            continue
        for size in range(min(15, len(words) - k), 0, -1):
            if size % 2 == 0:
                continue
            phrase = "".join(words[k : k + size])
            bare = phrase.rstrip(".,;:!?)")
            value = number_of(bare)
            if value is None or bare.lower() in ("one", "half", "hundred", "dozen", "thousand"):
                continue
            words[k : k + size] = [value + phrase[len(bare) :]]
            break
        k += 1
    return "".join(words)


def values_in(sentence: str) -> list[Value]:
    """The values of a plain sentence, in order, lists and compound measures as one."""
    tokens = list(_TOKEN.finditer(sentence))
    kinds = [_kind(tokens, k) for k in range(len(tokens))]
    found: list[Value] = []
    k = 0
    while k < len(tokens):
        if found and tokens[k].start() < found[-1].end:
            k += 1  # of the unit of the last value
            continue
        size = _run(tokens, kinds, k) if kinds[k] else 0
        if size:
            end = tokens[k + size - 1].end()
            text = sentence[tokens[k].start() : end].lstrip("= ")
            start = end - len(text)
            if _says_something(text) and not re.match(r"-[a-z]{2}", sentence[end : end + 3]):
                unit, end = _unit_behind(sentence, end)
                found.append(Value(_bare(text.strip()), unit, start, end))
        k += size or 1
    return _merged(found, sentence)


def _run(tokens: list[re.Match[str]], kinds: list[str], k: int) -> int:
    """The number of tokens from `k` on that make one formula; 0 if none starts there."""
    size = 0
    for j in range(k, len(tokens)):
        if not kinds[j]:
            break
        if j > k and kinds[j] == kinds[j - 1] == "operand":
            spaced = tokens[j].start() > tokens[j - 1].end()
            if spaced and not (
                tokens[j - 1].lastgroup == "function" or tokens[j].lastgroup == "function"
            ):
                break
        size = j - k + 1
    while size and _is_loose(tokens[k + size - 1][0]):
        size -= 1
    return size if "operand" in kinds[k : k + size] else 0


_LOOSE = lazy_pattern(r"[-+−±√*/×·÷^=<>≤≥≠≈_|∈∪∩:]+|!=")
_SAYS = lazy_pattern(
    r"\d|[π∞∅]|\\(?:pi|infty|emptyset|frac|sqrt)|[=<>≤≥]|[²³^]|(?:sin|cos|tan|ln|log) ?[a-z(]"
)


def _is_loose(sign: str) -> bool:
    return _LOOSE.fullmatch(sign) is not None


def _kind(tokens: list[re.Match[str]], k: int) -> str:
    token = tokens[k]
    group = token.lastgroup
    if group in ("maths", "formula", "number", "command", "function"):
        return "operand"
    if group == "group":
        return "operand" if not _WORDS.search(re.sub(_FUNCTION, "", token[0])) else ""
    if group == "sign":
        return "sign" if not (token[0] == ":" and not _between_digits(tokens, k)) else ""
    if group == "word" and token[0] in _LETTERED:
        return "operand"
    return ""


def _between_digits(tokens: list[re.Match[str]], k: int) -> bool:
    return (
        0 < k < len(tokens) - 1
        and tokens[k - 1][0][-1:].isdigit()
        and tokens[k + 1][0][:1].isdigit()
    )


def _says_something(text: str) -> bool:
    return _SAYS.search(text) is not None


def _bare(text: str) -> str:
    if text.startswith("$") and text.endswith("$") and text.count("$") == 2:
        return text[1:-1].strip()
    return re.sub(r"\$(?=[^\d\s])|(?<=[^\s])\$", "", text) if text.count("$") > 1 else text


def _unit_behind(sentence: str, end: int) -> tuple[str, int]:
    """The unit that follows a value, and where it ends."""
    behind = re.match(
        r"[ -]?((?:(?:[^\W\d_]|[°µΩ€£])+(?:[²³]|\^[23])?(?:/[A-Za-z]+[²³]?)?)(?: (?:per |of |[^\W\d_]+[²³]?))?(?:[^\W\d_]+[²³]?)?)",
        sentence[end : end + 60],
    )
    if behind is None:
        return "", end
    words = re.findall(r"\S+", behind[1])
    if words[0].lower() in _NO_UNITS:
        return "", end
    if sentence[end] == "-":
        return "", end
    for size in range(len(words), 0, -1):
        phrase = " ".join(words[:size])
        if words[size - 1].lower() in _NO_UNITS:
            continue
        unit = unit_of(phrase.replace("²", "^2").replace("³", "^3"))
        if unit is not None and not unit.noun:
            place = sentence.index(phrase, end)
            return phrase, place + len(phrase)
    return "", end


def _merged(found: list[Value], sentence: str) -> list[Value]:
    """Values that stand side by side as one: parts of a measure, and the members of a list."""
    merged: list[Value] = []
    for value in found:
        last = merged[-1] if merged else None
        between = sentence[last.end : value.start] if last is not None else ""
        if last is not None and _is_compound(last, value, between):
            merged[-1] = Value(f"{last.whole} {value.text}", value.unit, last.start, value.end)
        elif (
            last is not None
            and _is_listed(last, value, between)
            and not _COUNTS.match(sentence, value.end)
        ):
            name = (
                last.text.partition("=")[0] + "= "
                if "=" in last.text and "=" not in value.text
                else ""
            )
            joined = (
                f"{last.whole}{between if _BOUND.search(last.text) else ', '}{name}{value.text}"
            )
            merged[-1] = Value(joined, value.unit, last.start, value.end)
        else:
            merged.append(value)
    return merged


def _is_compound(one: Value, other: Value, between: str) -> bool:
    """Return True for 3 hours (and) 25 minutes: the same dimension, the second unit smaller."""
    if between.strip() not in ("", "and", ",", ", and") or not (one.unit and other.unit):
        return False
    first, second = unit_of(one.unit), unit_of(other.unit)
    return (
        first is not None
        and second is not None
        and first.dims == second.dims
        and second.factor < first.factor
        and bool(re.fullmatch(r"[\d.]+", other.text))
    )


def _is_listed(one: Value, other: Value, between: str) -> bool:
    if not _JOINS.fullmatch(between) or (one.unit and _BARE.fullmatch(one.text) and not other.unit):
        return False
    if re.search(r"then|thus|hence|so|therefore", between):
        return _ASSIGNED.match(one.text) is not None and _ASSIGNED.match(other.text) is not None
    if (one.text[:1] == "(") != (other.text[:1] == "("):
        return False
    if "=" in one.text and "=" not in other.text:
        return _ASSIGNED.match(one.text) is not None and " or " in between
    if "=" in one.text and bool(_ASSIGNED.match(one.text)) != bool(_ASSIGNED.match(other.text)):
        return False
    return not (other.text.count("=") > 1 or ("=" in other.text) != ("=" in one.text))
