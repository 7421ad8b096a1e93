"""Reads formulas in words: "two times the square root of three", "the absolute value of x", "3 out of 8".

Also measures whose number is in words ("two and a half metres") and bounds ("x is at most 3", "3 or less").
A text is read only where all of it is such a phrase.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.spelled import STARTS, number_of
from verigym.verifiers.math.units import unit_of

_MOST_CHARS = 200
_HINT = re.compile(
    r"\b(?:root|absolute|modulus|times|twice|squared|cubed|factorial|choose|plus|minus|negative|over|divided|power|pi|point|half|"
    r"reals?|numbers?|values?|most|least|than|exceeds?|above|below|up|between|greater|less|more|fewer|with|such|where)\b",
    re.IGNORECASE,
)
_OPERATORS = (
    (re.compile(r" (?:is )?divided by | over "), " / "),
    (re.compile(r" (?:times|multiplied by) "), " * "),
    (re.compile(r" plus "), " + "),
    (re.compile(r" (?:minus|less) "), " - "),
)  # fmt: skip
_ATOM = r"(?:\d[\d.]*|[a-z]|\\[a-z]+|\([^()]*\)|\\frac\{[^{}]*\}\{[^{}]*\})"
_UNARY = (
    (re.compile(rf"(?:the )?square root of ({_ATOM})"), r"\\sqrt{\1}"),
    (re.compile(rf"(?:the )?cube root of ({_ATOM})"), r"\\sqrt[3]{\1}"),
    (re.compile(rf"(?:the )?(?:absolute value|modulus|magnitude) of ({_ATOM}(?: ?[-+*/] ?{_ATOM})?)"), r"|\1|"),
    (re.compile(rf"({_ATOM}) (?:root|sqrt|rt) ({_ATOM})"), r"\1*\\sqrt{\2}"),
    (re.compile(rf"(?<![\w\\])(?:root|radical) ({_ATOM})"), r"\\sqrt{\1}"),
    (re.compile(rf"({_ATOM}) squared"), r"\1^2"),
    (re.compile(rf"({_ATOM}) cubed"), r"\1^3"),
    (re.compile(rf"({_ATOM}) (?:raised )?to the (?:power (?:of )?)?({_ATOM})(?:th power| power|th)?"), r"\1^{\2}"),
    (re.compile(rf"({_ATOM}) factorial"), r"\1!"),
    (re.compile(rf"({_ATOM}) choose ({_ATOM})"), r"\\binom{\1}{\2}"),
    (re.compile(rf"(?:twice|double) (\\sqrt\{{[^{{}}]*\}}|{_ATOM})"), r"2*\1"),
    (re.compile(r"(\d[\d.]*) (\\sqrt\{)"), r"\1*\2"),
    (re.compile(r"(\d[\d.]*) pi\b"), r"\1\\pi"),
    (re.compile(r"(?<![\w\\])pi\b"), r"\\pi"),
)  # fmt: skip
_FORMULA = re.compile(
    r"(?:[\d\s.+\-*/^(){}\[\]|!]|\\(?:sqrt|pi|frac|binom|theta|alpha|beta)|(?<![A-Za-z])[a-z](?![A-Za-z]))+"
)
_VERBS = re.compile(
    r"\b(?:root|absolute|modulus|times|twice|squared|cubed|factorial|choose|plus|minus|over|divided|power|pi)\b"
)

_SHARE = re.compile(
    r"(?:an? |about an? )?(?P<above>\d[\d,]*|[a-z]+) (?:out of|in|of|chances? (?:in|out of))(?: every| each| the| all)? (?P<below>\d[\d,]*|[a-z]+)(?: chances?| probability| times| cases| [a-z]+)?",
    re.IGNORECASE,
)
_CHANCE = re.compile(
    r"(?:an? )?(\d[\d.]* ?%|\d+/\d+|0?\.\d+) (?:chance|probability|likelihood)(?: of [a-z ]{1,40})?",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"(?:it is |it's )?(?:a )?(?:certain(?:ty)?|impossible|sure thing)", re.IGNORECASE
)
_ASKS_SHARE = re.compile(
    r"\b(?:probabilit\w+|chances?|likel\w+|fraction|proportion|what part|portion|percent\w*|odds)\b|%",
    re.IGNORECASE,
)
_ASKS_CHANCE = re.compile(r"\b(?:probabilit\w+|chances?|likel(?:y|ihood))\b", re.IGNORECASE)
_ASKS_ODDS = re.compile(r"\b(?:odds|ratio)\b", re.IGNORECASE)
_OF_ALL = re.compile(
    r"(?P<part>\d[\d,]*) (?:out )?of (?:the |all |all the )?(?P<all>\d[\d,]*)(?: (?P<noun>[a-z]+(?: [a-z]+){0,4}))?",
    re.IGNORECASE,
)

_SUBJECT = (
    r"(?:(?:all|any|every|the|for|those|set of|values? of|everything|anything|real|numbers?|reals|values?|solutions?|is|are) )*"
    r"(?:(?P<name>[a-z]|\|[a-z]\|) )?(?:(?:is|are|be|that|which|such|must|can|has to|have to|should|may|any|all|real|value|number|numbers|everything|strictly) )*"
)
_COMPARISONS = {
    r"(?:greater|larger|bigger|more|higher) than or equal to|at least|no (?:less|smaller|lower) than|not (?:less|smaller) than|not below|from": ">=",
    r"(?:greater|larger|bigger|more|higher) than|above|exceeds|exceed|exceeding|over|beyond": ">",
    r"(?:less|smaller|lower|fewer) than or equal to|at most|no (?:more|greater|larger|bigger) than|not (?:greater|more|larger|bigger) than|does not exceed|doesn't exceed|not exceeding|up to and including|not above|up to": "<=",
    r"(?:less|smaller|lower|fewer) than|below|under": "<",
}
_BOUND = rf"(?P<bound>-?(?:\d[\d./]*|\\frac ?\{{\d+\}} ?\{{\d+\}}|\\sqrt ?\{{\d+\}}|\\pi|{'|'.join(sorted(STARTS))}))"
_COMPARED = tuple(
    (re.compile(rf"{_SUBJECT}(?:{words}) {_BOUND}", re.IGNORECASE), sign)
    for words, sign in _COMPARISONS.items()
)
_ONWARDS = (
    (
        re.compile(rf"{_BOUND} (?:or|and) (?:less|fewer|smaller|lower|below|under)", re.IGNORECASE),
        "<=",
    ),
    (
        re.compile(
            rf"{_BOUND} (?:or|and) (?:more|greater|larger|bigger|above|higher|over|up)",
            re.IGNORECASE,
        ),
        ">=",
    ),
)
_BETWEEN = re.compile(
    rf"{_SUBJECT}(?P<strict>strictly )?between (?P<low>-?\d[\d./]*) and (?P<high>-?\d[\d./]*)(?:,? \(?(?P<ends>inclusive|exclusive|both inclusive|not inclusive|strictly)\)?)?",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"(?:the set of )?(?:all|any|every|those)? ?(?:the )?(?:real )?(?:numbers?|reals?|values?|x)?(?: of)?(?: real)?(?: numbers?)?(?: [a-z])?(?: \\in ?\\RR)? ?(?:with|such that|where|for which|satisfying|that satisfy)(?: the condition)? (?P<said>[^a-z]{0,6}\|?[a-z]\|?[^a-z]*)",
    re.IGNORECASE,
)
_MIXED = re.compile(r"(-?\d+) and (\d+/\d+|\\frac ?\{\d+\} ?\{\d+\})( .*)?")
_SIGNED = re.compile(r"(?:minus|negative) (\d.*)", re.IGNORECASE)
_REWRITTEN = (
    (
        re.compile(
            r"(?:the )?open interval (?:from |between )?(-?[\d./]+) (?:to|and) (-?[\d./]+)",
            re.IGNORECASE,
        ),
        r"(\1,\2)",
    ),
    (
        re.compile(
            r"(?:the )?closed interval (?:from |between )?(-?[\d./]+) (?:to|and) (-?[\d./]+)",
            re.IGNORECASE,
        ),
        r"[\1,\2]",
    ),
    (
        re.compile(
            r"(?:the )?quotient(?: is|:| =)? ([^,;]+?)(?:,| and|, and) (?:the )?remainder(?: is|:| =)? 0",
            re.IGNORECASE,
        ),
        r"\1",
    ),
    (
        re.compile(
            r"(?:it|this|that) (?:is|was|will be|would be) (?:now |then |exactly )?(-?\d.*)",
            re.IGNORECASE,
        ),
        r"\1",
    ),
)
_COUNT_AND_LIST = re.compile(
    r"(?P<count>\d+|[a-z]+)(?: [a-z]+){0,3} ?[:(,] ?(?:namely |i\.e\.,? |they are |which are )?(?:[a-z] ?= ?|at [a-z] ?= ?)?(?P<listed>-?[\d\\][^a-z=()]*(?:and [^a-z=()]*)?)\)?",
    re.IGNORECASE,
)
_PART_OF_UNIT = re.compile(
    r"(?P<number>\d+/\d+|\\frac ?\{\d+\} ?\{\d+\}|[a-z]+(?:[- ][a-z]+)?) of an? (?P<unit>[a-z]+)",
    re.IGNORECASE,
)
_UNIT_OF_STUFF = re.compile(
    r"(-?\d[\d./, ]*) ?([a-z]+) of (?!an?\b)[a-z]+(?: [a-z]+)?", re.IGNORECASE
)
_EACH = re.compile(
    r"[a-z] (?:is|equals) -?\d[\d./]*(?:(?:,| and|, and) [a-z] (?:is|equals) -?\d[\d./]*)+"
)
_FRACTION_OF = re.compile(
    r"((?:a|one|two|three|four|five|six|seven|eight|nine|ten)[ -][a-z]+) of (?:the |his |her |all |it)[a-z ]*(?: (?:is|are|was|were) [a-z]+)?",
    re.IGNORECASE,
)
_OPERATED = re.compile(
    r"\\?(?:lim|det|tr|dim|rank|deg|avg|mean|limit|ans|sum|prob|P) ?(?:[A-Z] ?)?= ?(?=-?[\d\\])(?!.*=.*=)"
)
_YEAR = re.compile(
    r"(?:[Ii]n (?:the year )?|[Tt]he year |[A-Za-z][A-Za-z \d']{3,60} in (?:the year )?)(\d{4})(?: (?:AD|CE))?"
)
_POSSIBLE = re.compile(
    r"([a-z]) (?:can|could|may|must|has to) (?:only )?(?:be|equal)(?: equal to| either| one of)? (?=[-\d{\\(])(?!.*\bnot\b)"
)
_COMPLEX = re.compile(r"complex\((-?[\d.]+), ?(-?[\d.]+)\)")
_BRACED = re.compile(r"\{ ?([a-z]) ?[|:] ?([^{}]+)\}")


def in_symbols(text: str, question: str = "") -> str:
    """A cleaned answer in words as a formula; other text as it is."""
    if len(text) > _MOST_CHARS:
        return text
    if text.startswith("{"):
        if re.fullmatch(r"\{(?: ?[a-z] ?= ?[^{}=|:<>,]+,?)+\}", text):
            return text[1:-1]
        braced = _BRACED.fullmatch(text)
        return f"\\{{{braced[1]} | {braced[2]}\\}}" if braced else text
    if text.startswith("complex("):
        return _COMPLEX.sub(r"(\1)+(\2)*i", text)
    if not re.search(r"[A-Za-z]{2}", text):
        return text
    share = _as_share(text, question)
    if share is not None:
        return share
    for pattern, written in _REWRITTEN:
        match = pattern.fullmatch(text.strip(" ."))
        if match:
            return match.expand(written)
    counted = _COUNT_AND_LIST.fullmatch(text.strip(" ."))
    if (
        counted
        and (count := _digits(counted["count"])) is not None
        and "how many" in question.lower()
    ):
        return (
            count
            if str(len(re.findall(r"[^,\s][^,]*", re.sub(r"\band\b", ",", counted["listed"]))))
            == count
            else text
        )
    part = _PART_OF_UNIT.fullmatch(text.strip(" ."))
    if part and unit_of(part["unit"]) is not None:
        number = (
            part["number"]
            if part["number"][:1].isdigit() or part["number"][:1] == "\\"
            else number_of(part["number"].replace("-", " "))
        )
        if number is not None:
            return f"{number} {part['unit']}"
    stuff = _UNIT_OF_STUFF.fullmatch(text.strip(" ."))
    if stuff and unit_of(stuff[2]) is not None:
        return f"{stuff[1]} {stuff[2]}"
    each = _EACH.fullmatch(text.strip(" ."))
    if each:
        return re.sub(r" (?:is|equals) ", " = ", text)
    fraction = _FRACTION_OF.fullmatch(text)
    if (
        fraction
        and (value := number_of(fraction[1].replace("-", " "))) is not None
        and "/" in value
    ):
        return value
    named = _OPERATED.match(text)
    if named:
        return text[named.end() :]
    if "year" in question.lower() and (year := _YEAR.fullmatch(text.strip(" ."))) is not None:
        return year[1]
    possible = _POSSIBLE.match(text)
    if possible:
        return f"{possible[1]} = {text[possible.end() :]}"
    signed = _SIGNED.fullmatch(text)
    if signed:
        return f"-{signed[1]}"
    mixed = _MIXED.fullmatch(text)
    if mixed:
        return f"{mixed[1]} {mixed[2]}{mixed[3] or ''}"
    measure = _as_measure(text)
    if measure is not None:
        return measure
    if not _HINT.search(text):
        return text
    return _as_bounds(text) or _as_formula(text) or text


@lru_cache(maxsize=512)
def asks_chance(question: str) -> bool:
    """Return True if a question asks for a probability, and not for odds or a ratio."""
    return bool(_ASKS_CHANCE.search(question)) and not _ASKS_ODDS.search(question)


def _as_share(text: str, question: str) -> str | None:
    """ "3 out of 8" as 3/8 where a share is asked for; "16 of the 40 seats" as 16 where a count is."""
    chance = _CHANCE.fullmatch(text)
    if chance:
        return chance[1]
    if asks_chance(question) and _CERTAIN.fullmatch(text):
        return "0" if "impossible" in text.lower() else "1"
    share = _SHARE.fullmatch(text)
    above, below = (_digits(share["above"]), _digits(share["below"])) if share else (None, None)
    if above is not None and below is not None and (not question or _ASKS_SHARE.search(question)):
        return f"{above}/{below}"
    part = _OF_ALL.fullmatch(text)
    if part and re.search(rf"(?<![\d.]){part['all']}(?![\d.]\d|\d)", question) and re.search(r"\bhow many\b", question, re.IGNORECASE) and int(part["part"].replace(",", "")) <= int(part["all"].replace(",", "")):  # fmt: skip
        return (
            f"{part['part']} {part['noun']}"
            if part["noun"] and not re.search(r"\b(?:not|no)\b", part["noun"])
            else part["part"]
        )
    return None


def _digits(word: str) -> str | None:
    if word[:1].isdigit():
        return word.replace(",", "")
    return number_of(word)


def _as_measure(text: str) -> str | None:
    """ "two hours and fifteen minutes" with digits; None if a part is no measure."""
    words = text.replace(",", " and ").split()
    if len(words) > 14 or words[0].lower().split("-")[0] not in STARTS:
        return None
    found: list[str] = []
    at = 0
    while at < len(words):
        if found and words[at] == "and":
            at += 1
            continue
        # The longest number, then the shortest unit behind it.
        for size in range(min(8, len(words) - at - 1), 0, -1):
            number = number_of(" ".join(words[at : at + size]))
            if number is None:
                continue
            rest = words[at + size :]
            length = next(
                (
                    k
                    for k in (3, 2, 1)
                    if len(rest) >= k and "and" not in rest[:k] and unit_of(" ".join(rest[:k]))
                ),
                0,
            )
            if length:
                found.append(f"{number} {' '.join(rest[:length])}")
                at += size + length
                break
        else:
            return None
    return " ".join(found) if found else None


def _as_bounds(text: str) -> str | None:
    text = re.sub(r"\s+", " ", text.strip(" ."))
    said = _WITH.fullmatch(text)
    if said and re.search(r"[<>=]", said["said"]):
        return said["said"].strip()
    between = _BETWEEN.fullmatch(text)
    if between and (between["name"] or "number" in text or "real" in text or "value" in text):
        ends = (between["ends"] or "").lower()
        closed = ends in ("inclusive", "both inclusive")
        return f"{'[' if closed else '('}{between['low']},{between['high']}{']' if closed else ')'}"
    for pattern, sign in (*_COMPARED, *_ONWARDS):
        match = pattern.fullmatch(text)
        if match and (value := _bound(match["bound"])) is not None:
            name = match.groupdict().get("name")
            return f"{name or 'x'}{sign}{value}"
    return None


def _bound(text: str) -> str | None:
    return number_of(text) if text[:1].isalpha() else text


def _as_formula(text: str) -> str | None:
    """A formula in words; None if words are left."""
    shown = text.strip(" .")
    if not _VERBS.search(shown.lower()):
        return None
    shown = _spelled_out(shown.lower() if not re.search(r"[A-Z]", shown[1:]) else shown)
    for pattern, sign in _OPERATORS:
        shown = pattern.sub(sign, shown)
    for _ in range(3):
        for pattern, formula in _UNARY:
            shown = pattern.sub(formula, shown)
    shown = re.sub(r"(?<![a-z])the ", "", shown)
    return shown if _FORMULA.fullmatch(shown) else None


def _spelled_out(text: str) -> str:
    """Runs of number words as digits."""
    words = text.split()
    found: list[str] = []
    at = 0
    while at < len(words):
        if words[at].split("-")[0] in STARTS and words[at] not in ("a", "an", "minus", "negative"):
            size = next(
                (
                    n
                    for n in range(min(8, len(words) - at), 0, -1)
                    if (said := number_of(" ".join(words[at : at + n]))) and "/" not in said
                ),
                0,
            )
            if size:
                found.append(str(number_of(" ".join(words[at : at + size]))))
                at += size
                continue
        found.append(words[at])
        at += 1
    return " ".join(found)
