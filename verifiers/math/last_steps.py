"""Reads the last step of workings alone: "x < 6" of "Add 5: 2x < 12. Divide by 2: x < 6.", "area = 81 cm²" of
"Side = 36/4 = 9 cm; area = 9² = 81 cm²".

A chain of equal signs is one claim: its left end names the quantity and its right end is the value, if the numbers
between agree with it. What only checks or limits the value ("with equality at x = 3", "(x ≠ 2)") is left off.
The step is judged as if it were the reply, so that it says no more than it would alone.

Not covered: steps in doubt, denied or supposed; two steps that give one name two values; steps whose left end is words
that the question does not have.
"""

from __future__ import annotations

import math
import re

from verigym.verifiers.math.claimed_value import HEDGES
from verigym.verifiers.math.claiming_sentences import claiming_sentence
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.other_quantity import is_other_subject
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import WORD, focus_of, root
from verigym.verifiers.math.targets import targets_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.workings import is_true

_MOST_CHARS = 400
_ASIDE = lazy_pattern(
    r"\s*\(\s*(?:and |with |since |where |as )?[a-z] ?(?:≠|!=|\\neq?(?![a-z])) ?-?\d[^()=]{0,40}\)$"
    r"|\s*\((?:and |with |since |as )?[a-z] ?[<>≤≥] ?\d{1,6}[^()=]{0,20}\)$",
    needs="(",
)
_EQUALITY = lazy_pattern(
    r",? (?:with|and) equality (?:holds |attained |occurs |occurring |reached |holding )?(?:exactly |only |precisely )?(?:at|when|for|iff|if and only if|if) \$?[a-z] ?= ?[^\s,;.<>?]{1,20}$"
    r"|,? (?:which is )?(?:attained|reached|achieved) (?:at|when|for) \$?[a-z] ?= ?[^\s,;.<>?]{1,20}$",
    re.IGNORECASE,
)
_CHECKED = lazy_pattern(
    r"[,;:]? (?:and )?(?:checking|check|verifying|substituting back|plugging (?:it |this )?(?:back )?in)[,:]? (?P<work>[^:;]*)$"
    r"|,? (?:and|as|since) (?P<indeed>[^,;]*)\bindeed\b[^,;]{0,40}$",
    re.IGNORECASE,
)
_FAILS = lazy_pattern(
    r"\b(?:not|never|no|nor|cannot|fails?|wrong|mistake\w*|incorrect|wait|actually|hmm|however|but|instead|contradict\w*|doubt\w*|reject\w*|discard\w*|extraneous|invalid|impossible|too|except|unlike|"
    r"let|case|try|say|oops|sorry|false|so far|next|still|remains? to|yet|when|where|unless|about|or so|at (?:least|most)|(?:more|less|fewer) than)\b|n't\b|≠|!=|\\ne|✗|❌|\?",
    re.IGNORECASE,
)
_STEP = lazy_pattern(
    r"\s*(?:;|→|⇒|⟹|⟺|⇔|=>|->|\\(?:implies|Rightarrow|Longrightarrow|iff)(?![a-z]))\s*(?:so |hence |thus |then |and |therefore )*"
    r"|(?:,|\s)\s*(?:and )?\b(?:so|hence|thus|therefore|then|which gives|giving|which means|meaning|i\.e\.|that is)\b(?: that)?[,:]? "
    r"|,\s+(?:and )?(?=(?:[A-Za-zσμπθλ][\w' ^²³()+-]{0,40}?)\s*[=<>≤≥])"
)
_LEAD = lazy_pattern(
    r"(?:(?:so|hence|thus|therefore|then|and|finally|altogether|overall|donc|also|somit|now)\b,? (?:that |we (?:get|have|find|see)(?: that)? )?|(?:I|we) (?:get|have|find|obtain)(?: that)? (?=[a-z]\b ?[=<>≤≥])"
    r"|(?:add|subtract|divid|multipl|tak|squar|factor|expand|simplif|substitut|combin|collect|cancel|isolat|solv|rearrang|mov|distribut|integrat|differentiat|evaluat|rais|plugg?|set|by|using|from)[a-z]*\b[^:,=<>]{0,60}[:,] )+",
    re.IGNORECASE,
)
_RELATION = lazy_pattern(
    r"(<=|>=|\\leq?(?![a-z])|\\geq?(?![a-z])|[=<>≤≥≈])", needs="<|=|>|\\ge|\\le|≈|≤|≥"
)
_ASSIGNED = lazy_pattern(
    r"(?<![\w)+\-−*/·^])(?<![+\-−*/·^] )(?P<name>[A-Za-z]\w{0,2}) ?= ?(?P<value>-?[\d./]*\d)(?!\s*[-+*/^−(\w√·.])",
    needs="=",
)
_NUMBERS = lazy_pattern(r"[-+*/^·×÷−√\d\s.,()²³%!$€£]+")
_UNIT = lazy_pattern(r"(?<=[\d)²³]) ?(?:[a-z]{1,12}(?:/[a-z]{1,4})?[²³]?|°)(?=\s*(?:[-+*/·×÷−]|$))")
_LITERAL = lazy_pattern(r"[-−$€£]*\d[\d.,/]*(?: ?[%°]| ?[A-Za-z]{1,12}[²³]?(?:/[a-z]{1,4})?)?")
_WORDS_LEFT = lazy_pattern(r"[A-Za-z][A-Za-z' -]{3,60}")
_SEVERAL = lazy_pattern(
    r"[,:;]|\b(?:and|or|und|oder|et|ou)\b|(?<=\w )(?:y|o|e)(?= \w)", needs=",|:|;|and|e|o|und|y"
)
_MATRIX = lazy_pattern(r"\[ ?\[|\\begin|matrix")
_SUM = lazy_pattern(
    r"\d*[A-Za-z](?:_?\w)? ?[-+−] ?(?:\d|[A-Za-z]\b)|\d[\d.]* ?[-+−] ?\d*[A-Za-z]$|[2-9]\d*[A-Za-z]$",
    needs="+|-|2|3|4|5|6|7|8|9|−",
)
_GOES_ON = lazy_pattern(r"(?:\.\.\.|…|\?)[\s*]*$", needs="...|?|…")
CHOICES = lazy_pattern(
    r"\bC\((?P<n>\d{1,3}), ?(?P<k>\d{1,3})\)|\\d?binom\{(?P<n1>\d{1,3})\}\{(?P<k1>\d{1,3})\}|(?<!\d)(?P<n2>\d{1,3}) ?(?:C|choose) ?(?P<k2>\d{1,3})(?!\d)",
    needs="C|binom|choose",
)
_POWER = lazy_pattern(r"(\d+)\^\{?(\d+)", needs="^")
_AT_LEAST = frozenset(("≥", ">=", "\\ge", "\\geq"))
_AT_MOST = frozenset(("≤", "<=", "\\le", "\\leq"))
_ASKS_LEAST = lazy_pattern(r"\b(?:minimum|minimal|least|smallest|lowest)\b", re.IGNORECASE)
_ASKS_MOST = lazy_pattern(r"\b(?:maximum|maximal|greatest|largest|highest)\b", re.IGNORECASE)
_SELECTS = frozenset(
    names(
        "neither both either only exactly none all each every first second third last new old more less fewer other same "
        "remaining left initial final before after original half average"
    )
)
_EMPTY = frozenset(names("the a an of in who which that to number total people answer is are do"))


def last_step(reply: str, question: str) -> str:
    """The last step of the workings of a reply, as a reply of its own; empty if there is none, or it is in doubt."""
    said = claiming_sentence(reply.replace("**", "").replace("`", ""))
    if not said or not question or _GOES_ON.search(reply):
        return ""
    sentence, bound = _without_asides(said)
    if not sentence or HEDGES.search(sentence):
        return ""
    if _FAILS.search(sentence) and _FAILS.search(_LEAD.sub("", sentence, count=1)):
        return ""
    steps = [step.strip(" ,.") for step in _STEP.split(sentence) if step.strip(" ,.")]
    if not steps or _gives_two(steps):
        return ""
    lead = _LEAD.match(steps[-1])
    step = steps[-1][lead.end() :] if lead is not None else steps[-1]
    found = _end_of(step.strip(), question, bound=bound)
    return "" if found is None or found == said else found


def _without_asides(sentence: str) -> tuple[str, bool]:
    """A sentence without what limits or checks its value, and whether it says where a bound is reached; an empty
    text if the check fails."""
    bound = False
    for _ in range(3):
        before = sentence
        checked = _CHECKED.search(sentence)
        if checked is not None:
            work = (checked["work"] or checked["indeed"] or "").strip(" ✓✔.✅")
            if _FAILS.search(work) or not _agrees(work):
                return "", False
            sentence = sentence[: checked.start()]
        sentence, reached = _EQUALITY.subn("", _ASIDE.sub("", sentence))
        bound = bound or bool(reached)
        sentence = sentence.strip(" ,.;")
        if sentence == before:
            break
    return sentence, bound


def _agrees(work: str) -> bool:
    """Return False for an equation of numbers that is not true."""
    for part in re.split(r"[,;]| and ", work):
        plain = clean(re.sub(r"[^\d=+\-−*/^()²³.√·×÷ ]+", " ", part)).strip(" .")
        if "=" in plain and re.search(r"\d", plain):
            plain = re.sub(r"(?<=\d) ?\(", "*(", plain)
            if _NUMBERS.fullmatch(part.replace("=", " ").strip()) and not is_true(plain):
                return False
    return True


def _gives_two(steps: list[str]) -> bool:
    """Return True if steps give one name two values: they are a list, or contradict each other."""
    found: dict[str, str] = {}
    for step in steps:
        for match in _ASSIGNED.finditer(step.replace("−", "-").replace("$", "")):
            value = match["value"].rstrip(".")
            if found.setdefault(match["name"], value) != value:
                return True
    return False


def _end_of(step: str, question: str, *, bound: bool) -> str | None:
    """The left end of a chain with its right end, or the right end alone where the left one is what is asked for.

    None if the chain does not agree with itself."""
    if len(step) > _MOST_CHARS:
        return None
    parts = [part.strip(" $") for part in _RELATION.split(step.replace("$$", "$"))]
    members, signs = parts[::2], parts[1::2]
    if not signs:
        return None if _is_of_other_power(step, question) else step
    bounds = [sign for sign in signs if sign not in ("=", "≈")]
    if not all(members) or len(bounds) > 1:
        return step
    first, last = members[0], members[-1]
    if any(map(_SEVERAL.search, members[:-1])) or any(map(_MATRIX.search, members[1:-1])):
        return None
    behind = 1 + max((k for k, sign in enumerate(signs) if sign in bounds), default=0)
    for member in members[behind:-1]:
        plain = plain_numbers(member)
        if (
            _NUMBERS.fullmatch(plain)
            and "≈" not in signs
            and not is_true(f"{plain} = {plain_numbers(last)}")
        ):
            return None
    asked = _is_asked(first, question)
    if bounds:
        wanted = _ASKS_LEAST if bounds[0] in _AT_LEAST else _ASKS_MOST
        if (
            bound
            and bounds[0] in _AT_LEAST | _AT_MOST
            and wanted.search(question)
            and _is_shown(first, question)
        ):
            return last
        return step if len(members) == 2 else f"{first} {bounds[0]} {last}"
    if not asked and _SUM.match(first) and not _is_shown(first, question):
        return None
    if asked or (_LITERAL.fullmatch(last) and _says_asked(first, question)):
        return last
    if len(members) == 2:
        return step
    return f"{first} = {last}" if re.search(r"[A-Za-zσμπθλ]", first) else None


def _is_of_other_power(step: str, question: str) -> bool:
    """Return True for a sentence about 7^99 where the question shows 7^100."""
    given = set(_POWER.findall(clean(question).replace(" ", "")))
    bases = {base for base, _ in given}
    return any(
        base in bases and (base, power) not in given
        for base, power in _POWER.findall(clean(step).replace(" ", ""))
    )


def plain_numbers(member: str) -> str:
    """Numbers without units, in ASCII, with the values of numbers of choices."""
    member = CHOICES.sub(_chosen, member)
    text = _UNIT.sub("", re.sub(r"[$€£]", "", member).strip())
    text = re.sub(r"(?<=\d)√", "*√", text)
    return re.sub(r"(?<=\d) ?\(", "*(", clean(text))


def _chosen(match: re.Match[str]) -> str:
    n, k = (int(number) for number in match.groups() if number is not None)
    return str(math.comb(n, k))


def _is_asked(left: str, question: str) -> bool:
    """Return True for an expression that the question asks for."""
    return _bare(left) in set(map(_bare, targets_of(question)))


def _is_shown(left: str, question: str) -> bool:
    """Return True for an expression with letters of the question, written its way or with a slash."""
    plain = _bare(left)
    return len(plain) > 2 and plain in _bare(question)


def _bare(text: str) -> str:
    text = re.sub(r"\\[dt]?frac ?\{([^{}]*)\} ?\{([^{}]*)\}", r"\1/\2", clean(text))
    return re.sub(r"[\s{}$*]|\\cdot", "", text)


def _says_asked(left: str, question: str) -> bool:
    """Return True for words that name what the question counts: "People who like neither"."""
    if not _WORDS_LEFT.fullmatch(left):
        return False
    focus = focus_of(question)
    words = list(map(str.lower, WORD.findall(left)))
    said = frozenset(root(word) for word in words if word not in _EMPTY)
    asked = set(map(str.lower, WORD.findall(focus.clause)))
    if not said or not said <= focus.known or said.isdisjoint(focus.words):
        return False
    if _SELECTS & set(words) != _SELECTS & asked:
        return False
    return 2 * len(said & focus.words) >= len(said) and not is_other_subject(left, question)
