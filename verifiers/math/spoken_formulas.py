"""Reads formulas in words: "two times the square root of three", "the absolute value of x", "3 out of 8".

Also measures whose number is in words ("two and a half metres") and bounds ("x is at most 3", "3 or less").
A text is read only where all of it is such a phrase.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import STARTS, number_of
from verigym.verifiers.math.units import unit_of

_MOST_CHARS = 200
_HINT = lazy_pattern(
    r"\b(?:root|absolute|modulus|times|twice|squared|cubed|factorial|choose|plus|minus|negative|over|divided|power|pi|point|half|"
    r"reals?|numbers?|values?|most|least|than|exceeds?|above|below|up|between|greater|less|more|fewer|with|such|where)\b",
    re.IGNORECASE,
    needs="above|absolute|below|between|choose|cubed|divided|exceed|factorial|fewer|greater|half|least|less|minus|modulus|more|most|negative|number|over|pi|plus|point|power|real|root|squared|such|than|times|twice|up|value|where|with",
)
_OPERATORS = (
    (lazy_pattern(r" (?:is )?divided by | over ", needs="divided by |over "), " / "),
    (lazy_pattern(r" (?:times|multiplied by) ", needs="multiplied by|times"), " * "),
    (lazy_pattern(r" plus ", needs=" plus "), " + "),
    (lazy_pattern(r" (?:minus|less) ", needs="less|minus"), " - "),
)  # fmt: skip
_ATOM = r"(?:\d[\d.]*|[a-z]|\\[a-z]+|\([^()]*\)|\\frac\{[^{}]*\}\{[^{}]*\})"
_UNARY = (
    (lazy_pattern(rf"(?:the )?square root of ({_ATOM})", needs="square root of "), r"\\sqrt{\1}"),
    (lazy_pattern(rf"(?:the )?cube root of ({_ATOM})", needs="cube root of "), r"\\sqrt[3]{\1}"),
    (lazy_pattern(rf"(?:the )?(?:absolute value|modulus|magnitude) of ({_ATOM}(?: ?[-+*/] ?{_ATOM})?)", needs="absolute value|magnitude|modulus"), r"|\1|"),
    (lazy_pattern(rf"({_ATOM}) (?:root|sqrt|rt) ({_ATOM})", needs="root|rt"), r"\1*\\sqrt{\2}"),
    (lazy_pattern(rf"(?<![\w\\])(?:root|radical) ({_ATOM})", needs="adical|oot"), r"\\sqrt{\1}"),
    (lazy_pattern(rf"({_ATOM}) squared", needs=" squared"), r"\1^2"),
    (lazy_pattern(rf"({_ATOM}) cubed", needs=" cubed"), r"\1^3"),
    (lazy_pattern(rf"({_ATOM}) (?:raised )?to the (?:power (?:of )?)?({_ATOM})(?:th power| power|th)?", needs="to the "), r"\1^{\2}"),
    (lazy_pattern(rf"({_ATOM}) factorial", needs=" factorial"), r"\1!"),
    (lazy_pattern(rf"({_ATOM}) choose ({_ATOM})", needs=" choose "), r"\\binom{\1}{\2}"),
    (lazy_pattern(rf"(?:twice|double) (\\sqrt\{{[^{{}}]*\}}|{_ATOM})", needs="double|twice"), r"2*\1"),
    (lazy_pattern(r"(\d[\d.]*) (\\sqrt\{)", needs="\\sqrt{"), r"\1*\2"),
    (lazy_pattern(r"(\d[\d.]*) pi\b", needs=" pi"), r"\1\\pi"),
    (lazy_pattern(r"(?<![\w\\])pi\b"), r"\\pi"),
)  # fmt: skip
_FORMULA = lazy_pattern(
    r"(?:[\d\s.+\-*/^(){}\[\]|!]|\\(?:sqrt|pi|frac|binom|theta|alpha|beta)|(?<![A-Za-z])[a-z](?![A-Za-z]))+"
)
_VERBS = lazy_pattern(
    r"\b(?:root|absolute|modulus|times|twice|squared|cubed|factorial|choose|plus|minus|over|divided|power|pi)\b"
)

_SHARE = lazy_pattern(
    r"(?:an? |about an? )?(?P<above>\d[\d,]*|[a-z]+) (?:out of|in|of|chances? (?:in|out of))(?: every| each| the| all)? (?P<below>\d[\d,]*|[a-z]+)(?: chances?| probability| times| cases| [a-z]+)?",
    re.IGNORECASE,
    needs="chance|in|of",
)
_CHANCE = lazy_pattern(
    r"(?:an? )?(\d[\d.]* ?%|\d+/\d+|0?\.\d+) (?:chance|probability|likelihood)(?: of [a-z ]{1,40})?",
    re.IGNORECASE,
    needs="chance|likelihood|probability",
)
_CERTAIN = lazy_pattern(
    r"(?:it is |it's )?(?:a )?(?:certain(?:ty)?|impossible|sure thing)",
    re.IGNORECASE,
    needs="certain|impossible|sure thing",
)
_ASKS_SHARE = lazy_pattern(
    r"\b(?:probabilit\w+|chances?|likel\w+|fraction|proportion|what part|portion|percent\w*|odds)\b|%",
    re.IGNORECASE,
)
_ASKS_CHANCE = lazy_pattern(
    r"\b(?:probabilit\w+|chances?|likel(?:y|ihood))\b",
    re.IGNORECASE,
    needs="chance|likel|probabilit",
)
_ASKS_ODDS = lazy_pattern(r"\b(?:odds|ratio)\b", re.IGNORECASE, needs="odds|ratio")
_OF_ALL = lazy_pattern(
    r"(?P<part>\d[\d,]*) (?:out )?of (?:the |all |all the )?(?P<all>\d[\d,]*)(?: (?P<noun>[a-z]+(?: [a-z]+){0,4}))?",
    re.IGNORECASE,
    needs="of ",
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
    (lazy_pattern(rf"{_SUBJECT}(?:{words}) {_BOUND}", re.IGNORECASE), sign)
    for words, sign in _COMPARISONS.items()
)
_ONWARDS = (
    (
        lazy_pattern(
            rf"{_BOUND} (?:or|and) (?:less|fewer|smaller|lower|below|under)",
            re.IGNORECASE,
            needs="below|fewer|less|lower|smaller|under",
        ),
        "<=",
    ),
    (
        lazy_pattern(
            rf"{_BOUND} (?:or|and) (?:more|greater|larger|bigger|above|higher|over|up)",
            re.IGNORECASE,
            needs="above|bigger|greater|higher|larger|more|over|up",
        ),
        ">=",
    ),
)
_BETWEEN = lazy_pattern(
    rf"{_SUBJECT}(?P<strict>strictly )?between (?P<low>-?\d[\d./]*) and (?P<high>-?\d[\d./]*)(?:,? \(?(?P<ends>inclusive|exclusive|both inclusive|not inclusive|strictly)\)?)?",
    re.IGNORECASE,
    needs="between ",
)
_BOUND_WORDS = (
    "than", "least", "most", "between", "no ", "not ", "n't ", "from", "above", "below", "under", "over", "beyond", "exceed", "up to",
    "or ", "and ",
)  # fmt: skip
"""Every sentence of a bound has one of these."""
_WITH = lazy_pattern(
    r"(?:the set of )?(?:all|any|every|those)? ?(?:the )?(?:real )?(?:numbers?|reals?|values?|x)?(?: of)?(?: real)?(?: numbers?)?(?: [a-z])?(?: \\in ?\\RR)? ?(?:with|such that|where|for which|satisfying|that satisfy)(?: the condition)? (?P<said>[^a-z]{0,6}\|?[a-z]\|?[^a-z]*)",
    re.IGNORECASE,
    needs="for which|satisfying|such that|that satisfy|where|with",
)
_MIXED = lazy_pattern(r"(-?\d+) and (\d+/\d+|\\frac ?\{\d+\} ?\{\d+\})( .*)?", needs=" and ")
_SIGNED = lazy_pattern(r"(?:minus|negative) (\d.*)", re.IGNORECASE, needs="minus|negative")
_REWRITTEN = (
    (
        lazy_pattern(
            r"(?:the )?open interval (?:from |between )?(-?[\d./]+) (?:to|and) (-?[\d./]+)",
            re.IGNORECASE,
            needs="open interval ",
        ),
        r"(\1,\2)",
    ),
    (
        lazy_pattern(
            r"(?:the )?closed interval (?:from |between )?(-?[\d./]+) (?:to|and) (-?[\d./]+)",
            re.IGNORECASE,
            needs="closed interval ",
        ),
        r"[\1,\2]",
    ),
    (
        lazy_pattern(
            r"(?:the )?quotient(?: is|:| =)? ([^,;]+?)(?:,| and|, and) (?:the )?remainder(?: is|:| =)? 0",
            re.IGNORECASE,
            needs="quotient",
        ),
        r"\1",
    ),
    (
        lazy_pattern(
            r"(?:it|this|that) (?:is|was|will be|would be) (?:now |then |exactly )?(-?\d.*)",
            re.IGNORECASE,
            needs="it|that|this",
        ),
        r"\1",
    ),
)
_FIRST_REWRITTEN = frozenset("OoCcTtQqIi\u0130\u0131")
"""First letters of these phrases, in any case."""
_COUNT_AND_LIST = lazy_pattern(
    r"(?P<count>\d+|[a-z]+)(?: [a-z]+){0,3} ?[:(,] ?(?:namely |i\.e\.,? |they are |which are )?(?:[a-z] ?= ?|at [a-z] ?= ?)?(?P<listed>-?[\d\\][^a-z=()]*(?:and [^a-z=()]*)?)\)?",
    re.IGNORECASE,
    needs="(|,|:",
)
_PART_OF_UNIT = lazy_pattern(
    r"(?P<number>\d+/\d+|\\frac ?\{\d+\} ?\{\d+\}|[a-z]+(?:[- ][a-z]+)?) of an? (?P<unit>[a-z]+)",
    re.IGNORECASE,
    needs=" of a",
)
_UNIT_OF_STUFF = lazy_pattern(
    r"(-?\d[\d./, ]*) ?([a-z]+) of (?!an?\b)[a-z]+(?: [a-z]+)?",
    re.IGNORECASE,
    needs=" of ",
)
_EACH = lazy_pattern(
    r"[a-z] (?:is|equals) -?\d[\d./]*(?:(?:,| and|, and) [a-z] (?:is|equals) -?\d[\d./]*)+",
    needs="equals|is",
)
_FRACTION_OF = lazy_pattern(
    r"((?:a|one|two|three|four|five|six|seven|eight|nine|ten)[ -][a-z]+) of (?:the |his |her |all |it)[a-z ]*(?: (?:is|are|was|were) [a-z]+)?",
    re.IGNORECASE,
    needs=" of ",
)
_OPERATED = lazy_pattern(
    r"\\?(?:lim|det|tr|dim|rank|deg|avg|mean|limit|ans|sum|prob|P) ?(?:[A-Z] ?)?= ?(?=-?[\d\\])(?!.*=.*=)",
    needs="=",
)
_YEAR = lazy_pattern(
    r"(?:[Ii]n (?:the year )?|[Tt]he year |[A-Za-z][A-Za-z \d']{3,60} in (?:the year )?)(\d{4})(?: (?:AD|CE))?"
)
_POSSIBLE = lazy_pattern(
    r"([a-z]) (?:can|could|may|must|has to) (?:only )?(?:be|equal)(?: equal to| either| one of)? (?=[-\d{\\(])(?!.*\bnot\b)",
    needs="can|could|has to|may|must",
)
_COMPLEX = lazy_pattern(r"complex\((-?[\d.]+), ?(-?[\d.]+)\)")
_BRACED = lazy_pattern(r"\{ ?([a-z]) ?[|:] ?([^{}]+)\}")


_A_WORD = lazy_pattern(r"[A-Za-z]{2}")


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
    if not _A_WORD.search(text):
        return text
    share = _as_share(text, question)
    if share is not None:
        return share
    bare = text.strip(" .")
    if bare[:1] in _FIRST_REWRITTEN:
        for pattern, written in _REWRITTEN:
            match = pattern.fullmatch(bare)
            if match:
                return match.expand(written)
    counted = _COUNT_AND_LIST.fullmatch(bare)
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
    part = _PART_OF_UNIT.fullmatch(bare)
    if part and unit_of(part["unit"]) is not None:
        number = (
            part["number"]
            if part["number"][:1].isdigit() or part["number"][:1] == "\\"
            else number_of(part["number"].replace("-", " "))
        )
        if number is not None:
            return f"{number} {part['unit']}"
    is_number = text.lstrip(" .-")[:1].isdecimal()
    stuff = _UNIT_OF_STUFF.fullmatch(bare) if is_number else None
    if stuff and unit_of(stuff[2]) is not None:
        return f"{stuff[1]} {stuff[2]}"
    is_name = bare[1:2] == " "
    each = _EACH.fullmatch(bare) if is_name else None
    if each:
        return re.sub(r" (?:is|equals) ", " = ", text)
    fraction = None if is_number else _FRACTION_OF.fullmatch(text)
    if (
        fraction
        and (value := number_of(fraction[1].replace("-", " "))) is not None
        and "/" in value
    ):
        return value
    named = _OPERATED.match(text)
    if named:
        return text[named.end() :]
    if "year" in question.lower() and (year := _YEAR.fullmatch(bare)) is not None:
        return year[1]
    possible = _POSSIBLE.match(text) if text[1:2] == " " else None
    if possible:
        return f"{possible[1]} = {text[possible.end() :]}"
    signed = _SIGNED.fullmatch(text)
    if signed:
        return f"-{signed[1]}"
    mixed = _MIXED.fullmatch(text) if is_number else None
    if mixed:
        return f"{mixed[1]} {mixed[2]}{mixed[3] or ''}"
    measure = _as_measure(text)
    if measure is not None:
        return measure
    if not _HINT.search(text):
        return text
    return _as_bounds(text) or _as_formula(text) or text


@lru_cache(maxsize=4096)
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
    part = _OF_ALL.fullmatch(text) if text[:1].isdecimal() else None
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
    said = _WITH.fullmatch(text) if "<" in text or ">" in text or "=" in text else None
    if said and re.search(r"[<>=]", said["said"]):
        return said["said"].strip()
    lowered = text.lower()
    if not any(word in lowered for word in _BOUND_WORDS):
        return None
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
        before = shown
        for pattern, formula in _UNARY:
            shown = pattern.sub(formula, shown)
        if shown == before:
            break
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
