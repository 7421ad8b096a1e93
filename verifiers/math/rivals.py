"""Tells the quantity that a question asks for from the others that an answer may name beside or in its place.

"quotient 7" is no remainder of 7, "median = 5" no mean of 5, "girls : boys = 2 : 3" no ratio of boys to
girls; of "quotient 4, remainder 7" the remainder counts. Only quantities of one family are distinguished.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.asked import (
    asked_letter,
    count_of_asked,
    is_other_deed,
    is_other_derivative,
    is_rate,
    value_of_letter,
)
from verigym.verifiers.math.mentions import VERBS
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.people import amount_asked, people_of
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.targets import targets_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import COUNTING

_FAMILIES = tuple(
    {word.replace("_", " "): row.split("/")[0].replace("_", " ") for row in family for word in row.split("/")}
    for family in map(names, (
        "quotient remainder/residue divisor dividend",
        "area/surface_area perimeter/circumference volume hypotenuse base legs/leg side/edge semiperimeter diagonal inradius circumradius height/altitude",
        "mean/average sum/total median mode range/spread variance standard_deviation midrange",
        "numerator denominator",
        "x-intercept y-intercept slope/gradient",
        "radius diameter circumference/perimeter area volume",
        "length width/breadth height/depth area perimeter volume",
        "minimum/min/smallest/least maximum/max/largest/greatest",
        "sum/total difference product quotient ratio",
        "profit loss cost/cost_price revenue/selling_price/sale_price/price discount",
        "speed/velocity acceleration distance/displacement time",
        "base exponent/power coefficient/leading_coefficient constant_term degree discriminant",
        "eigenvalue/eigenvalues eigenvector determinant/det trace rank nullity",
        "amplitude period phase frequency/midline",
        "interest principal rate amount",
        "sine/sin cosine/cos tangent/tan",
        "lcm/least_common_multiple/lowest_common_multiple gcd/gcf/hcf/greatest_common_divisor/greatest_common_factor/highest_common_factor",
        "units_digit/ones_digit/last_digit tens_digit hundreds_digit thousands_digit", "vertex focus/foci directrix center/centre",
        "midpoint endpoint/endpoints", "edges sides vertices/corners faces diagonals angles",
        "median hypotenuse altitude", "complement supplement", "domain codomain range/image",
        "vertices/vertex edges faces", "permutation/permutations combination/combinations", "real_part imaginary_part modulus argument",
    ))
)  # fmt: skip
NAMES = frozenset(word for family in _FAMILIES for word in family)
_ALL = sorted(NAMES, key=len, reverse=True)
_NAME = rf"(?<![\w\\-])(?:{'|'.join(map(re.escape, _ALL))})(?![\w-])"
_NAMED = lazy_pattern(_NAME, re.IGNORECASE)
_ASKS = lazy_pattern(
    r"\b(?:what(?:'s| is| was| are| will be| would be)|find|compute|calculate|determine|give|state|evaluate|write down|work out)\s+(?:me )?(?:the (?:exact |possible )?(?:coordinates?|values?|measure|size) of )?(.{0,160})",
    re.IGNORECASE | re.DOTALL,
    needs="calculate|compute|determine|evaluate|find|give|state|what|work out|write down",
)
_CLAUSE = lazy_pattern(
    r"[.?!;]\s|[?]|\b(?:if|when|where|given|whose|with|for which|such that|so that|using|knowing)\b|\b(?:of|for|between|from|in)\s",
    re.IGNORECASE,
)
_LEAD = r"(?:(?:so|thus|therefore|hence|then|and|we get|giving|with)[, ]+)*(?:the |its |their |our |a |an )?"
_VALUE = r"(?P<value>\\?\$?-?\d[\d.,/]*(?<=[\d])(?: ?[a-z%]{1,12})?|[a-z]+(?:-[a-z]+)?)"
_ONE = lazy_pattern(
    rf"{_LEAD}(?P<name>{_NAME})(?: of [^=:,;]{{1,60}}?)?\s*(?:=|:|\bis\b|\bequals\b|\bof\b|\s)\s*(?P<rest>\S.*)",
    re.IGNORECASE,
)
_PART = lazy_pattern(
    rf"{_LEAD}(?P<name>{_NAME})\s*(?:=|:|\bis\b|\bequals\b|\bof\b|\s)\s*{_VALUE}", re.IGNORECASE
)
_LETTERS = {
    "r": "radius", "d": "diameter", "x": "x-intercept", "y": "y-intercept", "A": "area", "P": "perimeter", "C": "circumference",
    "V": "volume", "m": "slope", "b": "y-intercept",
}  # fmt: skip

_LETTER = lazy_pattern(r"([rdxyAPCVmb])\s*=\s*-?[\d\\][^,;=]*$", needs="=")
_SPLIT = lazy_pattern(
    r"\s*(?:[,;]\s*(?:and |with )?|\band\b|\bwith\b)\s*(?:a )?", needs=",|;|and|with"
)
_DIVIDED = lazy_pattern(
    r"(?:(?P<quotient>-?\d[\d,]*)\s*,?\s*)?\b(?:[Rr]|rem\.?|remainder|with (?:a )?remainder(?: of)?)\s*[:=]?\s*(?P<remainder>\d[\d,]*)",
    needs="R|r",
)
_RATIO = lazy_pattern(
    r"(?:the )?(?:ratio (?:of )?)?(?:the )?(?:number of )?(?P<first>[a-z]+)\s*(?::|/|to|\\to)\s*(?:the )?(?:number of )?(?P<second>[a-z]+)(?: ratio)?\s*(?:=|is|:)\s*(?P<a>\d[\d.]*)\s*(?P<sign>:|to|/)\s*(?P<b>\d[\d.]*)",
    re.IGNORECASE,
    needs="/|:|to",
)
_ASKED_RATIO = lazy_pattern(
    r"\bratio of (?:the )?(?:number of |amount of )?([a-z]+)(?: [a-z]+)? to (?:the )?(?:number of |amount of )?([a-z]+)|\bratio ([a-z]+) ?: ?([a-z]+)",
    re.IGNORECASE,
    needs="ratio ",
)
_COUNTED = lazy_pattern(
    r"(?P<a>\d+) (?P<first>[a-z]+)(?: to| for(?: every)?| and|:|,) (?P<b>\d+) (?P<second>[a-z]+)",
    needs=" and| for| to|,|:",
)


@lru_cache(maxsize=4096)
def asked_names(question: str) -> frozenset[str]:
    """The names of quantities that a question asks for, in lower case; empty if it asks for none by name."""
    found: set[str] = set()
    for match in _ASKS.finditer(question[-4000:]):
        clause = _CLAUSE.split(match[1], maxsplit=1)[0]
        named = {name[0].lower() for name in _NAMED.finditer(clause)}
        if named:
            found |= named
    return frozenset(found)


def is_rival(name: str, asked: frozenset[str]) -> bool:
    """Return True if a quantity is another one than those asked for, of a family with one of them."""
    name = name.lower()
    if name in asked:
        return False
    for family in _FAMILIES:
        own = family.get(name)
        wanted = {family[one] for one in asked if one in family}
        if own is not None and wanted:
            return own not in wanted
    return False


@lru_cache(maxsize=64)
def of_asked(answer: str, question: str) -> str | None:
    """The answer as the value of the quantity that is asked for; None if it names another one in its place.

    Text that names no quantity comes back as it is.
    """
    if not question or len(answer) > 300:
        return answer
    if (
        is_rate(answer, question)
        or is_other_deed(answer, question)
        or is_other_derivative(answer, question)
    ):
        return None
    lettered = value_of_letter(answer, question)
    lettered = None if lettered is None else count_of_asked(lettered, question)
    told = None if lettered is None else amount_asked(lettered, question)
    if (
        told is None
        or _gives_place(told, question)
        or _gives_part(told, question)
        or _is_other_term(told, question)
        or _counts_other(told, question)
    ):
        return None
    answer = told
    asked = asked_names(question)
    if ("remainder" in asked or "quotient" in asked) and (
        divided := _DIVIDED.fullmatch(answer.strip(" .()"))
    ) is not None:
        if "remainder" in asked and "quotient" not in asked:
            return divided["remainder"]
        if "quotient" in asked and "remainder" not in asked and divided["quotient"]:
            return divided["quotient"]
    swapped = _in_asked_order(answer, question)
    if swapped is not None:
        return swapped or None
    if _is_of_other_initial(answer, question):
        return None
    letter = _LETTER.match(answer)
    if (
        letter
        and asked
        and is_rival(_LETTERS[letter[1]], asked)
        and not re.search(rf"(?<![\w\\]){letter[1]}(?![\w])(?! [a-z])", question)
    ):
        return None
    if not asked or not _NAMED.search(answer):
        return (
            answer
            if asked.isdisjoint(("x-intercept", "y-intercept"))
            else _intercept(answer, asked)
        )
    if not asked.isdisjoint(("x-intercept", "y-intercept")) and (on := _INTERCEPT.search(answer)):
        return answer[: on.start()] + _intercept(on[0], asked)
    parts = [
        _PART.fullmatch(part.strip(" ."))
        for part in _SPLIT.split(answer.strip(" ."))
        if part.strip(" .")
    ]
    pairs = [part for part in parts if part is not None and _is_value(part["value"])]
    if len(pairs) == len(parts) > 1:
        own = [part["value"] for part in pairs if part["name"].lower() in asked]
        if len(own) == 1 and len({part["name"].lower() for part in pairs}) == len(pairs):
            return own[0]
    is_the = _IS_THE.search(answer)
    if is_the is not None and is_rival(is_the["name"], asked):
        return None
    one = _ONE.fullmatch(answer.strip(" ."))
    if one is not None and _CALLS.match(answer):
        return answer  # sin x + C is a formula
    if one is not None and len(one["rest"]) < 40 and is_rival(one["name"], asked):
        concluded = _THEN.search(one["rest"])
        if concluded is not None:  # "The radius is 5, so A = 25\pi"
            return answer if of_asked(concluded["end"], question) is not None else None
        others = {name[0].lower() for name in _NAMED.finditer(one["rest"])}
        return answer if others & asked else None
    return answer


_THEN = lazy_pattern(
    r",? (?:so|thus|hence|therefore)(?: that)?,? (?P<end>\S.*)",
    re.DOTALL,
    needs="hence|so|therefore|thus",
)
_CALLS = lazy_pattern(r"\W*(?:sin|cos|tan)\b(?!.*(?:=|\bis\b))", re.IGNORECASE, needs="cos|sin|tan")
_IS_THE = lazy_pattern(
    rf"\d is (?:the|its|a|an) (?P<name>{_NAME})[ .]*$", re.IGNORECASE, needs=" is "
)
_VALUE_OF = lazy_pattern(
    r"\b(?:minimum|maximum|minimal|maximal|smallest|largest|least|greatest|min|max)(?: possible)? value of (?:the (?:expression|function|sum|product) )?\$?([^.?]{2,60})",
    re.IGNORECASE,
    needs=" value of ",
)
_ROOTS = lazy_pattern(
    r"\bhow many (?:[a-z]+ ){0,3}(?:roots|solutions|zeros|zeroes)\b(.{0,200})",
    re.IGNORECASE | re.DOTALL,
    needs="how many ",
)
_INITIAL = lazy_pattern(r"\$?([A-Za-z])\s*=\s*-?\$?\d[\d./]*(?: [a-z]{1,12})?", needs="=")
_ASSIGNED = lazy_pattern(r"\$?([a-z])\s*=\s*[^=<>,;]{1,30}", needs="=")


_INTERCEPT = lazy_pattern(r"\(\s*([^(),]{1,30}),\s*([^(),]{1,30})\)\.?$", needs="(")


def intercept_of(gold: str, question: str) -> str:
    """The number of a reference that is the point of an intercept: -7 of (0, -7)."""
    asked = asked_names(question) & {"x-intercept", "y-intercept"}
    return _intercept(gold, asked) if asked else gold


def _intercept(answer: str, asked: frozenset[str]) -> str:
    """The number of (0, -7) where the y-intercept alone is asked for; other text as it is."""
    point = _INTERCEPT.fullmatch(answer.strip(" $"))
    if point is None or {"x-intercept", "y-intercept"} <= asked:
        return answer
    place, value = point.groups() if "y-intercept" in asked else point.groups()[::-1]
    return value.strip() if place.strip() == "0" else answer


def _gives_place(answer: str, question: str) -> bool:
    """Return True for "a = 2" where the least value of a + 1/a is asked for, or how many roots there are."""
    assigned = _ASSIGNED.fullmatch(answer.strip(" .$")) if "=" in answer else None
    if assigned is None:
        return False
    asked = _VALUE_OF.search(question)
    if asked is not None:
        body = re.split(r"\b(?:for|if|when|where|such|given|over|on|subject)\b", asked[1])[0].strip(
            " $"
        )
    else:
        roots = _ROOTS.search(question)
        body = roots[1] if roots else ""
    return (
        len(body) > 2
        and re.search(r"[-+*/^=]", body) is not None
        and re.search(rf"(?<![A-Za-z\\]){assigned[1]}(?![A-Za-z])", body) is not None
    )


def _is_of_other_initial(answer: str, question: str) -> bool:
    """Return True for "A = 13" where Ben's age is asked for, and Anna is the other person."""
    assigned = _INITIAL.fullmatch(answer.strip(" .$")) if "=" in answer else None
    if assigned is None or re.search(rf"(?<!\w){assigned[1]}(?![\w'])", question):
        return False
    everyone, asked = people_of(question)
    others = {name[0].upper() for name in everyone - asked}
    own = {name[0].upper() for name in asked}
    return bool(own) and assigned[1].upper() in others - own


def _gives_part(answer: str, question: str) -> bool:
    """Return True for "x = 24" where 4x is asked for, or x + y."""
    assigned = _ASSIGNED.fullmatch(answer.strip(" .$")) if "=" in answer else None
    targets = targets_of(question) if assigned is not None else ()
    if assigned is None or not targets or asked_letter(question):
        return False
    letter = rf"(?<![A-Za-z\\]){assigned[1]}(?![A-Za-z(])"
    return all(re.search(letter, target) for target in targets)


_TERM = lazy_pattern(r"[a-zT]_\{?(\d{1,4})\}? ?=", needs="_")
_NTH = lazy_pattern(
    r"\b(\d{1,4})(?:\^?\{?\\?(?:text\{)?)?(?:st|nd|rd|th)\b[^.?]{0,40}\bterm\b",
    re.IGNORECASE,
    needs="term",
)
_HOW_MANY = lazy_pattern(
    r"\bhow many ((?:[a-z-]+ ){0,3}?)([a-z]{3,})\b([^.?]*)", re.IGNORECASE, needs="how many "
)
_DO = VERBS | frozenset(
    names(
        "play like study speak prefer enjoy do does did take takes took belong use own choose pass fail attend join know love hate want "
        "of were both neither dislike sing dance plays liked studied speaks chose failed passed joined knew"
    )
)
_AUXILIARIES = frozenset(names("do does did are were is was have has had will can must should"))
_FIRST_COUNTED = lazy_pattern(r"\b\d[\d,]* ([a-z]{3,20})", re.IGNORECASE)
_ONLY_COUNT = lazy_pattern(r"\d[\d,]* ([a-z]{3,20})")


def _is_other_term(answer: str, question: str) -> bool:
    """Return True for a_9 = 39 where the tenth term is asked for."""
    term = _TERM.match(answer)
    asked = _NTH.search(question) if term is not None else None
    return term is not None and asked is not None and term[1] != asked[1]


def _counts_other(answer: str, question: str) -> bool:
    """Return True if an answer counts another thing of the question than the one that is asked for, or of its family."""
    count = _ONLY_COUNT.fullmatch(answer.strip(" ."))
    asked = list(_HOW_MANY.finditer(question)) if count is not None else []
    if count is None or not asked:
        return False
    if f"{asked[-1][1]}{asked[-1][2]}".split(maxsplit=1)[0].lower() in _DO:
        # "How many play both?" is about those that the question counts first.
        counted = _FIRST_COUNTED.search(question)
        if counted is not None and _singular(counted[1].lower()) == _singular(count[1].lower()):
            return False
    if f"{asked[-1][1]}{asked[-1][2]}".split(maxsplit=1)[0].lower() in _AUXILIARIES:
        return _singular(count[1].lower()) not in question.lower()
    clause = re.sub(r"\d+-[a-z]+", " ", f"{asked[-1][1]}{asked[-1][2]}{asked[-1][3]}".lower())
    noun = count[1].lower()
    if re.search(rf"\bfor \d[\d,]* {noun}\b", clause):
        return noun not in f"{asked[-1][1]}{asked[-1][2]}".lower()
    if _singular(noun) in clause:
        return False
    named = frozenset(name[0].lower() for name in _NAMED.finditer(f"{asked[-1][1]}{asked[-1][2]}"))
    if is_rival(noun, named):
        return True
    rest = question[: asked[-1].start()].lower()
    return (
        noun.endswith("s")
        and re.search(rf"\b(?:\d+|each|every|of|per|an?|the) {_singular(noun)}(?:s|es)?\b", rest)
        is not None
        and noun not in COUNTING
    )


def _is_value(text: str) -> bool:
    return not text[:1].isalpha() or number_of(text) is not None


def _in_asked_order(answer: str, question: str) -> str | None:
    """ "girls : boys = 2 : 3" as 3:2 where the ratio of boys to girls is asked for; None if it is no such text, empty
    for the ratio of other things of the question."""
    text = answer.strip(" .")
    asked = _ASKED_RATIO.search(question) if is_in(_ASKED_RATIO, question) else None
    match = None if asked is None else _RATIO.fullmatch(text) or _COUNTED.fullmatch(text)
    if match is None or asked is None:
        return None
    wanted = [_singular(word) for word in asked.groups() if word]
    said = [_singular(match["first"]), _singular(match["second"])]
    if sorted(said) != sorted(wanted) or said[0] == said[1]:
        shown = question.lower()
        others = (
            said[0] != said[1]
            and all(word in shown for word in said)
            and not set(said) >= set(wanted)
        )
        return "" if others and len(set(said) & set(wanted)) == 1 else None
    numbers = (match["a"], match["b"]) if said == wanted else (match["b"], match["a"])
    return ":".join(numbers)


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")
