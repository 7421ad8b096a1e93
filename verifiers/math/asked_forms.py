"""Brings an answer and its reference to one form that the question allows: "50 ± 3.92" for a confidence interval,
"390 cents" beside "€3.90", "4:48 per km" beside "4 min 48 s per km", "4m - 3" for the numbers 4k + 1.

Each rule looks at both texts and the question, and leaves all others as they are.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import is_in, lazy_pattern

_NUMBER = r"-?\d+(?:\.\d+)?"
_CONFIDENCE = lazy_pattern(
    r"\b(?:confidence|credible|prediction) intervals?\b|% CI\b",
    re.IGNORECASE,
    needs=" interval|% ci",
)
_AROUND = lazy_pattern(
    rf"(?P<middle>{_NUMBER}) ?(?:\\pm|\+/-|\+-) ?(?P<margin>\d+(?:\.\d+)?)",
    re.IGNORECASE,
    needs="\\pm|+/-|+-",
)
_EQUALS = lazy_pattern(r"(?<![<>])=", needs="=")
_INTERVAL_IS = lazy_pattern(
    r"^(?:(?:so|thus|hence|therefore),? )?(?:the |a )?(?:\d+(?:\.\d+)?% )?(?:(?:confidence|prediction|credible) )?interval (?:is|runs|goes|extends|ranges|reaches)(?: then)?:? ",
    re.IGNORECASE,
    needs="interval ",
)
_ENDS = lazy_pattern(
    rf"[\[(]? ?(?P<low>{_NUMBER}) ?[,;] ?(?P<high>{_NUMBER}) ?[\])]?"
    rf"|(?:from |between )?(?P<from>{_NUMBER}) (?:to|and) (?P<to>{_NUMBER})"
    rf"|(?P<above>{_NUMBER}) ?<=? ?(?:\\mu|\\theta|mu|[a-z]) ?<=? ?(?P<below>{_NUMBER})",
    needs=",|;|<|to|and",
)
_CENTS = lazy_pattern(r"\b(?:cents?|ct)\b", needs="cent|ct")
_PENCE = lazy_pattern(r"(?<=\d) ?(?:pence|p|penny|pennies)\b", needs="p")
_POUNDS = lazy_pattern(r"\b(?:pounds?|GBP)(?= (?:and )?\d)", needs="pound|GBP")
_RATE = lazy_pattern(r" ?(?:/|\bper) ?(?P<unit>(?:\d+ ?)?[a-z]{1,12})$", needs="/|per")
_LONG = lazy_pattern(
    r"\d ?(?:h|hrs?|hours?|min|mins|minutes?),? (?:and )?\d+ ?(?:min|mins|minutes?|s|secs?|seconds?)",
    needs="h|min",
)
_SHORT = lazy_pattern(
    r"(?P<first>\d{1,3})(?::|'|')(?P<second>[0-5]\d)(?:''|\")? ?(?P<unit>h|hrs?|hours?|min|mins|minutes)?",
    needs=":|'",
)
_FUNCTION = lazy_pattern(
    r"(?P<name>[a-z]) ?(?:\( ?(?P<of>[a-z]) ?\))? ?= ?(?P<body>[^=]+)", needs="="
)
_LETTER = lazy_pattern(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_WHOLE = lazy_pattern(
    r",? ?\(?(?:(?:where|with|for|and) )?(?:(?:an?|any|all|some|every) )?(?:integers? )?(?P<name>[a-z])(?: (?:is |being )?(?:an? |any )?)?(?:integers?|whole(?: numbers?)?|\\in ?\\ZZ|\\in ?Z)\)?$"
    r"|,? (?:where|with|for|and) (?:any|all|every|an) integers? (?P<other>[a-z])$",
    needs="integer|whole|\\in",
)
_NOT_WHOLE = lazy_pattern(
    r"\b(?:real|rational|positive|negative|natural|non-?negative|nonzero|even|odd|prime)\b|\\(?:RR|QQ|NN)|[<>]",
    needs="real|ational|tive|natural|nonzero|even|odd|prime|\\RR|\\QQ|\\NN|<|>",
)
_LINEAR = lazy_pattern(
    r"(?:[a-zN] ?= ?)?-?\d* ?\*? ?[a-z] ?(?:[-+] ?\d+)?|\d+ ?\+ ?\d+ ?\*? ?[a-z]"
)
_ASKS_FORM = lazy_pattern(
    r"\bgeneral (?:form|expression|formula) (?:of|for) (?:all )?(?:the )?(?:set of )?(?:(?:positive|negative|all|odd|even|such) )*(?:integers|whole numbers|odd numbers|even numbers|multiples)\b"
    r"|\bgeneral form of an? (?:odd|even) (?:integer|number)\b",
    re.IGNORECASE,
    needs="general ",
)


def in_one_form(gold: str, answer: str, question: str) -> tuple[str, str]:
    """The reference and an answer, both cleaned, in one form where the question takes them for the same."""
    if is_in(_CONFIDENCE, question):
        gold = _interval(gold) or gold
        return gold, (_interval(answer) or answer) if _ENDS.fullmatch(gold) else answer
    if "€" in gold or "£" in gold or gold.endswith("p"):
        gold, answer = _in_money(gold, answer)
    elif ("min" in gold or "h" in gold) and _LONG.match(gold):
        gold, answer = _in_units_of_time(gold, answer)
    if "(" in answer and "=" in gold and "=" in answer:
        answer = _with_letter(gold, answer, question)
    if "integer" in gold or "\\in" in gold or is_in(_ASKS_FORM, question):
        gold, answer = _over_integers(gold, answer, question)
    return gold, answer


def _with_letter(gold: str, answer: str, question: str) -> str:
    """y(t) = 2e^{3t} as y = 2e^{3x} beside y = 2e^{3x}, where the question names no letter for the argument."""
    said, wanted = _FUNCTION.fullmatch(answer), _FUNCTION.fullmatch(gold)
    if said is None or wanted is None or said["name"] != wanted["name"] or not said["of"]:
        return answer
    letters = set(_LETTER.findall(wanted["body"])) - {"e", "i", "C", "c", "K", "k", "A", "B", "t"}
    name = next(iter(letters)) if len(letters) == 1 else ""
    if not name or said["of"] == name or name in _LETTER.findall(said["body"] + question):
        return answer
    body = re.sub(rf"(?<![A-Za-z\\]){said['of']}(?![A-Za-z])", name, said["body"])
    return f"{said['name']} = {body}"


def _interval(text: str) -> str | None:
    """Two ends as [low, high], for 50 ± 4, "46 to 54" and 46 < mu < 54; None for other text."""
    text = _INTERVAL_IS.sub("", text)
    *others, last = (side.strip() for side in _EQUALS.split(text))
    if others:
        known = [found for side in others if (found := _interval(side)) is not None]
        found = _interval(last)
        return found if found is not None and all(one == found for one in known) else None
    around = _AROUND.fullmatch(text)
    if around is not None:
        return _spread(around["middle"], around["margin"])
    ends = _ENDS.fullmatch(text)
    if ends is None:
        return None
    low, high = (one for one in ends.groups() if one is not None)
    return f"[{low}, {high}]" if float(low) < float(high) else None


def _spread(middle: str, margin: str) -> str:
    places = max(len(text.partition(".")[2]) for text in (middle, margin))
    one, two = (round(float(text) * 10**places) for text in (middle, margin))
    return f"[{_decimal(one - two, places)}, {_decimal(one + two, places)}]"


def _decimal(value: int, places: int) -> str:
    digits = str(abs(value)).rjust(places + 1, "0")
    whole, rest = (digits[:-places], digits[-places:]) if places else (digits, "")
    return f"{'-' if value < 0 else ''}{whole}{'.' if rest else ''}{rest}"


def _in_money(gold: str, answer: str) -> tuple[str, str]:
    """Cents beside euros, and pence beside pounds, as parts of them."""
    if "€" in gold:
        answer = re.sub(r"\beuro cents?\b", "eurocents", answer)
        return gold, _CENTS.sub("eurocents", answer) if "\\dollar" not in answer else answer
    if "£" in gold or re.fullmatch(r"\d+ ?p", gold):
        gold, answer = (_PENCE.sub(" pence", text) for text in (gold, answer))
        return gold, _POUNDS.sub("GBP", answer)
    return gold, answer


def _in_units_of_time(gold: str, answer: str) -> tuple[str, str]:
    """4:48 per km beside "4 min 48 s per km", each without the rate that both are of."""
    rates = [_RATE.search(text) for text in (gold, answer)]
    shown = answer if rates[1] is None else answer[: rates[1].start()]
    short = _SHORT.fullmatch(shown.strip())
    first, second = ("h", "min") if re.match(r"\d+ ?h", gold) else ("min", "s")
    if short is not None and (short["unit"] or first)[0] == first[0]:
        shown = f"{short['first']} {first} {short['second']} {second}"
    elif rates[0] is None or re.search(rf"\d ?{first}", shown) is None:
        return gold, answer
    if rates[0] is None:
        return gold, shown if rates[1] is None else answer
    if rates[1] is not None and rates[0]["unit"] != rates[1]["unit"]:
        return gold, answer
    return gold[: rates[0].start()], shown


def _over_integers(gold: str, answer: str, question: str) -> tuple[str, str]:
    """A linear form with "k in Z" behind it where it says in words that its letter is whole, or the question does."""
    declared = _declared(gold)
    if declared is None and is_in(_ASKS_FORM, question) and _LINEAR.fullmatch(gold):
        declared = f"{gold}, {_letter(gold)} \\in \\ZZ "
    if declared is None or (_NOT_WHOLE.search(answer) and not _NOT_WHOLE.search(gold)):
        return gold, answer
    return declared, _declared(answer) or answer


def _declared(text: str) -> str | None:
    whole = _WHOLE.search(text)
    if whole is None:
        return None
    name = whole["name"] or whole["other"]
    body = text[: whole.start()].strip(" ,(")
    if re.search(rf"(?<![a-z\\]){name}(?![a-z])", body) is None:
        return None
    if name in "ms" and "k" not in body:
        body, name = re.sub(rf"(?<![a-z\\]){name}(?![a-z])", "k", body), "k"  # 2m is no length
    return f"{body}, {name} \\in \\ZZ "


def _letter(text: str) -> str:
    return next(filter(str.isalpha, text.rpartition("=")[2]))


def rising(gold: str, answer: str) -> str:
    """A chain of "<" the other way round where the reference is one of ">", and so too for ">"."""
    sign, other = ("<", ">") if "<" in gold else (">", "<")
    if other not in answer or sign in answer:
        return answer
    return sign.join(reversed(answer.split(other)))


_FORM = lazy_pattern(r"\bform (?:of )?(?:\$|\\\()?([^$,.?\\]{3,20})", needs="form ")


def of_form(answer: str, question: str) -> str:
    """The right side of "a + bi = 2 + i" where a question asks for the form a + bi."""
    shape = _FORM.search(question)
    left, _, right = answer.partition("=")
    if shape is None or not right or not left.strip() or "=" in right:
        return answer
    wanted = re.sub(r"\s", "", shape[1])
    return (
        right.strip() if re.sub(r"\s", "", left) in (wanted, wanted.split("where")[0]) else answer
    )
