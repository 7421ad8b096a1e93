"""Writes set phrases as formulas: "from 1 (inclusive) to 4 (exclusive)", "5 degrees below zero", `np.array([[1, 2]])`.

Each phrase is read only where it is all of an answer. What a phrase leaves open (which of "two boys for every
three girls" comes first) is taken from the question; without it the text stays as it is.
"""

from __future__ import annotations

import re
import unicodedata

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.spelled_abroad import number_abroad

_MOST_CHARS = 300
_VALUE = r"-?(?:\\[a-z]+|[\d.,/^{}*()a-z])(?:[^\s,;]{0,40})"
_CLOSED = r"inclusive|included|closed|including|incl\.?"
_OPEN = r"exclusive|excluded|open|excluding|not included|excl\.?"
_ENDS = lazy_pattern(
    rf"(?:(?:all |the )?(?:real )?(?:numbers?|values?|reals?|interval|x|x is|x in)? ?)?(?:from|between) ({_VALUE}),? ?\(?({_CLOSED}|{_OPEN})\)?,? (?:up )?(?:to|and|until) ({_VALUE}),? ?\(?({_CLOSED}|{_OPEN})\)?",
    re.IGNORECASE,
    needs="between|from",
)
_BELOW_ZERO = lazy_pattern(
    r"(?:it is |it's )?(?P<number>\d[\d.]*|[a-z -]+?)(?P<degrees> ?\^? ?\{? ?\\circ ?\}?(?: ?[CF])?| degrees?(?: (?:celsius|fahrenheit|C|F))?)? (?P<side>below|above|under) (?:zero|0)",
    re.IGNORECASE,
    needs="above|below|under",
)
_ARRAY = lazy_pattern(
    r"(?:(?:np|numpy|sp|sympy|torch|jnp|tf)\. ?)?(?:array|matrix|Matrix|tensor|asarray|ImmutableMatrix) ?\( ?(\[.*\]) ?(?:, ?dtype ?=[\w. ]+)?\)",
    re.DOTALL,
    needs="(",
)
_MAPS = lazy_pattern(
    r"(?:([a-zA-Z]) ?: ?)?(?:[^:,;]{1,40}\\(?:to|rightarrow) ?[^:,;]{1,30}[,;:] ?)?([a-z]) ?(?:\\(?:mapsto|longmapsto)|\|-+>|↦) ?(.+)"
)
_CONSTANT = lazy_pattern(
    r"\+ ?(?:an? |some |any )?(?:arbitrary )?(?:real )?(?:constant|const\.?)(?: of integration)?(?: C)?$",
    re.IGNORECASE,
    needs="const",
)
_GAMMA = lazy_pattern(r"\\Gamma ?\( ?(\d{1,3}) ?\)", needs="\\Gamma")
_LOG = lazy_pattern(r"(?<![A-Za-z\\])log(2|10) ?\(")
_OR_ASIDE = lazy_pattern(r"^(.*?[=\d}]\S*) \( ?or ([^()]*=[^()]*)\)$", needs=")")
_HOURS = lazy_pattern(r"(\d{1,3}) ?h ?([0-5]?\d)(?: ?(?:m|mn|min|mins))?", needs="h")
_SHARE = lazy_pattern(
    r"(?:\d+/\d+|\\frac ?\{\d+\} ?\{\d+\}|\d[\d.]* ?%|a (?:half|third|quarter)|half|two thirds|three quarters) of (?:the |all |all the |his |her |their |those )*[a-z]+(?: [a-z]+){0,4},? ?(?:i\.e\.|that is|that's|which is|which means|so|meaning|in other words|namely),? (.+)",
    re.IGNORECASE,
    needs=" of ",
)
_RATIO = lazy_pattern(
    r"(?:there are )?(?P<one>\d+|[a-z]+(?:-[a-z]+)?) (?P<first>[a-z]+) (?:for (?:every|each)|to(?: every| each)?|per) (?P<other>\d+|[a-z]+(?:-[a-z]+)?) (?P<second>[a-z]+)",
    re.IGNORECASE,
    needs="for e|per|to",
)
_ASKED_RATIO = lazy_pattern(
    r"\bratio of (?:the )?(?:number of |amount of )?([a-z]+)(?: [a-z]+)? to (?:the )?(?:number of |amount of )?([a-z]+)",
    re.IGNORECASE,
    needs="ratio of ",
)
_NAMES_REPEATS = lazy_pattern(
    r"\bmult|(?:double|triple|repeated|simple) (?:root|eigenvalue|zero)|(?:,| and |&).*\((?:double|triple|twice|thrice|once|simple|repeated)\)|\((?:double|triple|twice|thrice|once|simple|repeated)\).*(?:,| and |&)",
    needs="(|eigenvalue|mult|root|zero",
)
_REPEATED = lazy_pattern(
    r"\s*,?\s*\(?,?\s*(?:(?:with |of |has )?(?:algebraic )?(?:multiplicity|mult\.?)(?: of)? (?P<times>[1-9]|one|two|three|four|five)|a? ?(?P<word>double|triple|simple|repeated)(?: root| eigenvalue| zero)?|(?P<often>twice|thrice|once))\)?(?=\s*(?:$|,|;|\band\b|&|\\\}))"
)
_TIMES = {"double": 2, "repeated": 2, "triple": 3, "simple": 1, "twice": 2, "thrice": 3, "once": 1}
_MOST_TIMES = 9


_WORDY = lazy_pattern(r"[a-z]{2}|\dh|\\mapsto|↦")


def in_formulas(text: str, question: str) -> str:
    """A cleaned answer with a phrase of these kinds as a formula; other text as it is."""
    if len(text) > _MOST_CHARS:
        return text
    abroad = number_abroad(text, question)
    if abroad is not None:
        return abroad
    if "log" in text or "Gamma" in text:
        text = _LOG.sub(r"\\log_{\1}(", _GAMMA.sub(_factorial, text))
    if not _WORDY.search(text):
        return text
    text = with_fractions(_CONSTANT.sub("+ C", text))
    match = _HOURS.fullmatch(text)
    if match:
        return f"{match[1]} hours {match[2]} minutes"
    match = _ENDS.fullmatch(text)
    if match:
        low, high = ((re.fullmatch(_CLOSED, match[k], re.IGNORECASE) is not None) for k in (2, 4))
        return f"{'[' if low else '('}{match[1]},{match[3]}{']' if high else ')'}"
    match = _BELOW_ZERO.fullmatch(text)
    if match and (number := _digits(match["number"])) is not None:
        return f"{'' if match['side'].lower() == 'above' else '-'}{number}{match['degrees'] or ''}"
    match = _ARRAY.fullmatch(text)
    if match:
        return re.sub(r"(?<=\d)\.(?!\d)", "", match[1])
    match = _MAPS.fullmatch(text)
    if match:
        return f"{match[1] or 'f'}({match[2]}) = {match[3]}"
    match = _OR_ASIDE.fullmatch(text)
    if match:
        return f"{match[1]} or {match[2]}"
    return of_a_share(text) or _as_ratio(text, question)


_AND_A_HALF = lazy_pattern(
    r"(?<![\d./])(\d{1,6}) and (?:a|one|three)[ -](half|third|quarter|quarters|fourths?)\b",
    needs="fourth|half|quarter|third",
)
_PART = {"half": "1/2", "third": "1/3", "quarter": "1/4", "fourth": "1/4"}


def with_fractions(text: str) -> str:
    """A text with numbers such as "7 and a half" and "7½" as "7 1/2"."""
    if not text.isascii():
        text = _VULGAR.sub(_written_out, text)
    return _AND_A_HALF.sub(_with_fraction, text) if " and " in text else text


_VULGAR = lazy_pattern(r"(?<=\d)\s?[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]", needs="¼|½|¾|⅓|⅔|⅕|⅖|⅗|⅘|⅙|⅚|⅛|⅜|⅝|⅞")


def _written_out(match: re.Match[str]) -> str:
    return " " + unicodedata.normalize("NFKC", match[0].strip()).replace("\u2044", "/")


def _with_fraction(match: re.Match[str]) -> str:
    part = "3/4" if "three" in match[0] else _PART.get(match[2])
    return match[0] if part is None else f"{match[1]} {part}"


_PERCENT = lazy_pattern(r"(?P<words>(?:[a-z]+[ -]){1,4})(?P<sign>per ?cent\b|%)", re.IGNORECASE)


def with_percents(text: str) -> str:
    """A text with "twenty-five percent" as "25 percent"."""
    return _PERCENT.sub(_with_percent, text) if "cent" in text or " %" in text else text


def _with_percent(match: re.Match[str]) -> str:
    words = match["words"].split()
    for k in range(len(words)):
        value = (
            number_of(" ".join(words[k:])) if words[k].lower() not in ("and", "a", "an") else None
        )
        if value is None or not value.isdigit():
            continue
        if k and words[k - 1].lower() in ("and", "point", "or", "to", "by"):
            break
        return f"{' '.join([*words[:k], value])} {match['sign']}"
    return match[0]


def of_a_share(text: str) -> str | None:
    """The amount in "16/40 of the seats are free, i.e. 16 seats"; None if `text` is no such sentence."""
    match = _SHARE.fullmatch(text.strip(" .")) if len(text) <= _MOST_CHARS else None
    return None if match is None else match[1]


def _digits(text: str) -> str | None:
    text = text.strip()
    return text if text[:1].isdigit() else number_of(text)


def _factorial(match: re.Match[str]) -> str:
    value = int(match[1])
    return f"({value - 1})!" if value else match[0]


def _as_ratio(text: str, question: str) -> str:
    """ "two boys for every three girls" as 2:3 where the ratio of boys to girls is asked for."""
    match = _RATIO.fullmatch(text)
    asked = _ASKED_RATIO.search(question) if match else None
    if match is None or asked is None:
        return text
    numbers = [_digits(match["one"]), _digits(match["other"])]
    if None in numbers:
        return text
    said = (_singular(match["first"]), _singular(match["second"]))
    wanted = (_singular(asked[1]), _singular(asked[2]))
    if said == wanted[::-1] and wanted[0] != wanted[1]:
        numbers.reverse()
    elif said != wanted:
        return text
    return f"{numbers[0]}:{numbers[1]}"


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")


def with_repeats(text: str) -> tuple[str, str] | None:
    """A list with each member as often as its multiplicity says, and the list without multiplicities:
    "1 and 3 (with multiplicity 2)" as "1, 3, 3" and "1, 3". None if no multiplicity is named."""
    if len(text) > _MOST_CHARS or not _NAMES_REPEATS.search(text):
        return None
    written: list[str] = []
    at = 0
    for match in _REPEATED.finditer(text):
        before = re.split(r",|;|\band\b|&", text[at : match.start()])
        member = before[-1].strip()
        if not re.search(r"\d|\\", member):
            return None
        word = match["times"] or match["word"] or match["often"]
        times = _TIMES.get(word) or int(number_of(word) or word)
        written += [one.strip() for one in before[:-1] if one.strip()]
        written += [member] * min(times, _MOST_TIMES)
        at = match.end()
    if not written:
        return None
    written += [one.strip() for one in re.split(r",|;|\band\b|&", text[at:]) if one.strip()]
    return ", ".join(written), ", ".join(dict.fromkeys(written))
