"""Reads what the last sentence of a reply concludes: "the area is 4 - 8/3 = 4/3" in "They meet at 0 and 2. So the area is ...".

The conclusion is what stands behind the last "so", "hence" or "which gives", without its reasons. Sentences
that doubt, deny or suppose conclude nothing, and neither do plans and labels ("step 3 is 7").

Not covered: conclusions in another place than the last sentence, and other languages than English.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.mentions import VERBS, labels, mentions, words_of
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.statements import stated
from verigym.verifiers.math.trees import names

_MOST_CHARS = 1200
_FORMULA = lazy_pattern(
    r"\$\$.+?\$\$|\$(?!\d+(?:\.\d\d)?(?:[\s,.;]|$)(?![^$]*[=^\\<>][^$]*\$))[^$\n]+?\$|\\\(.+?\\\)|\\\[.+?\\\]|\\begin\{(\w+\*?)\}.*?\\end\{\1\}|\([^()\n]*\)|\[[^\[\]\n]*\]|\{[^{}\n]*\}",
    re.DOTALL,
    needs="$|(|[|{",
)
_BREAK = lazy_pattern(r"(?<![ .](?:i\.e|e\.g))(?<=[a-z\d¤%°!²³π])[.!]\s+(?=[A-Z¤\d\\∫√∠π(])|\n+")
_CUT = lazy_pattern(
    r"(?:(?:^|[,;:.]|\s[-–—])\s*(?:and |but )?|\s(?:and )?)(?:so|therefore|thus|hence|consequently|accordingly|as a result|which (?:means|gives|factors (?:as|into|to)|reduces to|works out (?:as|to|at)|comes to|rounds to|amounts to|simplifies to|equals|leads to|yields|implies|makes|leaves)"
    r"|i\.e\.|that is|that means|meaning|giving(?: us)?|we (?:get|have|obtain|find|conclude|see)|it follows|this (?:gives|means|implies|yields|leaves|shows|simplifies to))(?: that)?(?:,|:)?\s+"
    r"|^(?:then|now|finally|altogether|overall|and)\b,?\s+|\s*(?:[→⇒⟹⟺]|=+>|-+>)\s*",
    re.IGNORECASE,
)
_LEAD = lazy_pattern(
    r"(?:(?:since|because|as|using|by|from|with|altogether|in total|in all|finally|overall|thus|adding|subtracting|dividing|multiplying|solving|factoring|expanding|simplifying|combining|substituting|taking|applying|computing|evaluating|integrating|differentiating|counting|after|then|now|in the end|in conclusion|to summarize|consequently|quotient rule|product rule|chain rule|power rule)\b[^,:]*[,:]\s+){1,2}",
    re.IGNORECASE,
    needs=",|:",
)
_CAPTION = lazy_pattern(r"[A-Z][a-z]+[^:.=\d]{0,60}:\s+(?=[¤\d\\(-])", needs=":")
_PREMISE = lazy_pattern(
    r"\b(?:if|suppose|supposing|assum\w+|unless|maybe|perhaps|might|guess\w*)\b",
    re.IGNORECASE,
    needs="assum|guess|if|maybe|might|perhaps|suppose|supposing|unless",
)
_REASON = lazy_pattern(
    r",? (?:since|because|as) (?:(?<![A-Za-z])[A-Za-z]{1,2}(?![A-Za-z])|and|[^A-Za-z])+$",
    needs="as|because|since",
)
_ONE_NUMBER = lazy_pattern(r"[-$€£]*\d[\d.,:/]*%?(?: (?![-−] ?[\dA-Za-z\\(])[^=+*/×·÷<>^\\]*)?")
_LIST = lazy_pattern(r"-?\d[\d.]*(?:, -?\d[\d.]*)*,? and -?\d[\d.]*", needs=" and ")
_EXPLAINS = lazy_pattern(
    r"(?<=¤)[:;] (?:the|this|as|it|we|because|since|both|all|each) .*$", needs=":|;"
)
_DAY = lazy_pattern(
    r"\b(?:on|is|be|was) ((?:[A-Z][a-z]+day,? )?(?:[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?|(?:the )?\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z][a-z]{2,8})(?:,? \d{4})?)$"
    r"|(?:\b(?:at|is|be|until|get|gives|makes|takes|takes \w+)|=) (\d{1,2}:\d{2}(?: ?[apAP]\.?[mM]\.?)?)$"
)
_ASKS_WHEN = lazy_pattern(
    r"\bfor (?:which|what)\b|\bvalues? of\b|\bwhen (?:is|does|do|are)\b",
    re.IGNORECASE,
    needs="for wh|value|when ",
)
_WHEN = lazy_pattern(
    r"\b(?:converges|holds|is (?:true|defined|valid|satisfied|convergent|continuous|invertible|real|possible)|works)(?: exactly| precisely| only| if and only)? (?:when|if|for|iff)(?: all)? (?P<when>[^,;]*(?:[<>=≤≥≠]|\\(?:le|ge|ne|in)).{1,60})$",
    needs="for|if|when",
)
_REMAIN = lazy_pattern(
    r"(?<![\w.,$])(\$?\d[\d,.]*(?: [a-z]+){0,2}) (?:remain|remains|are left|is left|are needed|are left over)$",
    needs="are left|are needed|is left|remain",
)
_SOLVED = lazy_pattern(
    r"(?![a-zA-Z]\s*=)[^=<>]{2,60}=[^=<>]{1,40},? (?:and|or equivalently)(?: so| then| hence)? (?P<end>\$?[a-zA-Z]\s*=\s*[^=<>]{1,40})",
    needs="and|or equivalently",
)
_SINCE = lazy_pattern(r"(?:Since|Because|As) ¤+(?: and ¤+)*,? (?=[a-z])", needs="As|Because|Since")
DOUBTS = lazy_pattern(
    r"\b(?:might|may|maybe|perhaps|possibly|probably|likely|unlikely|whether|unless|guess\w*|suppose\w*|supposing|assum\w+|if|or else|otherwise|could|would|should|"
    r"wrong\w*|incorrect\w*|mistak\w*|false|instead|claims?|claimed|says?|said|believes?|thinks?|doubt\w*|sure|unclear|seems?|appears?|however|although|though|try|trying|let|let's|check\w*|verify|"
    r"naive|tempting|someone|people think|nearly|almost|either|fails?|failed|contradict\w*|impossible)\b|\?",
    re.IGNORECASE,
)
_DENIES = lazy_pattern(
    r"\b(?:not|never|cannot|neither|nor|no|none|without|except|but|hardly|rather|unlike)\b|n't\b",
    re.IGNORECASE,
    needs="but|except|hardly|n't|neither|never|no|rather|unlike|without",
)
_WORDS = lazy_pattern(r"(?<![\\A-Za-z])[A-Za-z]+(?:'[a-z]+)?")
_BE = "is|are|was|were|be|equals?|gives?|gets?|becomes?|has|have|had|yields?|makes?|leaves?|totals?"
_TO = (
    "(?:simplif|telescop|reduc|evaluat|com|amount|sum|add|round|work|sums|lead|turn|decreas|increas|fall|drop|ris|grow|equal|cancel|integrat|converg|tend|expand|factor)[a-z]{0,4}"
    "(?: (?:out|up|down))?(?: (?:to|by|as|at|out to))"
)
_CLAIM = lazy_pattern(
    rf"\b(?:{_BE}|{_TO}|(?P<other>[a-z]+))(?: (?:exactly|only|just|then|therefore|thus|hence|equal to|up to|a total of|simply|precisely|now|also|out to|to be|at|therefore exactly))*\s+(?=[¤\d\\√π∞∠(\[+−-]|[a-zA-Z](?:\b|_)(?!')|(?:ln|log|sin|cos|tan|sqrt|exp|arctan|arcsin)\b|\$\d|€|£)"
)
_RELATIVE = lazy_pattern(
    r",? (?:that|which|who|whose) (?:(?:is|are|was|were|do|does|did|can|have|has) )?[a-z' -]{2,60}$",
    needs="that|which|who",
)
_FUNCTIONS = frozenset(
    names(
        "sin cos tan cot sec csc log ln exp lim max min gcd lcm det mod and or pi sqrt arcsin arccos arctan sinh cosh tanh var cov rank dim tr deg arg re im"
    )
)
_JOINS = frozenset(names("and the for from with between than into all each first least most only"))
_EMPTY = frozenset(
    names("not the a an of to in that which who are is was were do does did it they them its")
)


def conclusions(line: str, question: str) -> list[str]:
    """The clause that the last sentence of `line` concludes with, and the value that this clause states; none if it is
    in doubt, or is the line itself."""
    text = last_sentence(line[-_MOST_CHARS:].replace("**", "").replace("`", "")).rstrip(" .")
    masked = _masked(text)
    asked = words_of(question)
    cuts = [match for match in _CUT.finditer(masked) if match.end() < len(masked.rstrip())]
    if cuts:
        if _PREMISE.search(masked[: cuts[-1].start()]):
            return []
        text, masked = text[cuts[-1].end() :], masked[cuts[-1].end() :]
    lead = _SINCE.match(masked) or _LEAD.match(masked) or _CAPTION.match(masked)
    if lead is not None and lead.end() < len(masked):
        named = list(map(str.lower, _WORDS.findall(lead[0])))
        if lead.re.pattern == _CAPTION.pattern and (
            mentions(named, asked) or not labels(named, asked)
        ):
            return []
        text, masked = text[lead.end() :], masked[lead.end() :]
    when = _WHEN.search(text) if is_in(_ASKS_WHEN, question) else None
    if when is not None and not _DENIES.search(masked):
        return [when[1].strip(" $")]
    if DOUBTS.search(masked):
        return []
    for pattern in (_EXPLAINS, _REASON, _RELATIVE):
        tail = pattern.search(masked)
        if tail is None or tail.start() == 0:
            continue
        if (
            pattern is not _RELATIVE
            or set(map(str.lower, _WORDS.findall(tail[0]))) - _EMPTY <= asked
        ):
            text, masked = text[: tail.start()], masked[: tail.start()]
    text = text.strip(" .,;:*")
    found = [] if text == line.strip(" .,;:*") else [text]
    day = _DAY.search(text)
    if day is not None and not _DENIES.search(masked):
        return [*found, day[1] or day[2]]
    rest = _REMAIN.search(text)
    if rest is not None and not _DENIES.search(masked):
        found.append(rest[1])
    said = stated(text, question) if found else None
    if said == "":
        return []
    if said:
        found.append(said)
    solved = _SOLVED.fullmatch(text)
    if solved is not None:
        found.append(solved["end"])
    value = _claimed(text, masked, asked).strip(" .,;:*")
    if value and (_LIST.fullmatch(value) or not _ONE_NUMBER.fullmatch(value)):
        found.append(value)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=64)
def last_sentence(text: str) -> str:
    """The last sentence of a text; all of it if it has one."""
    text = text.strip()
    masked = _masked(text)
    for match in reversed(list(_BREAK.finditer(masked))):
        if match.end() < len(masked) and " " in masked[: match.start()].strip():
            return text[match.end() :]
    return text


def _masked(text: str) -> str:
    """`text` with formulas and brackets as signs of the same length."""
    return _FORMULA.sub(lambda match: "¤" * len(match[0]), text)


def _claimed(text: str, masked: str, asked: frozenset[str]) -> str:
    """The value with its noun that a clause states; empty if it states none, or another's."""
    for match in _CLAIM.finditer(masked):
        verb = match["other"]
        if verb is not None and (
            len(verb) < 3
            or verb in _FUNCTIONS
            or verb in _JOINS
            or not (verb in VERBS or verb in asked)
        ):
            continue
        subject = list(map(str.lower, _WORDS.findall(masked[: match.start()])))
        if mentions(subject, asked) or (subject and not labels(subject, asked)):
            return ""
        if _DENIES.search(masked[: match.end()]):
            return ""
        rest, shown = text[match.end() :], masked[match.end() :]
        if _RELATIVE.search(shown):
            return ""
        return "" if _DENIES.search(shown) else rest
    return ""
