"""Tells a sentence about another quantity than the one a question asks for: "The intercept is 6", for the slope.

A sentence is refused only if its subject names a quantity of our table, the question asks for another one of it,
and neither name says the same as the other. Words such as "answer", "total" and "number" fit every question.

Not covered: quantities outside the table, other languages, and sentences that name no subject.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.question_focus import WORD, Focus, focus_of, root, roots
from verigym.verifiers.math.rivals import NAMES, asked_names, is_rival
from verigym.verifiers.math.trees import names

_QUANTITIES = {
    word.replace("_", " "): group.split("/")[0].replace("_", " ")
    for group in names(
        "slope/gradient/steepness/incline intercept/y-intercept x-intercept area perimeter/circumference volume radius diameter "
        "length width/breadth height/altitude mean/average median mode range variance standard_deviation "
        "remainder/residue discount/saving/savings/rebate price/cost/bill/charge/fee/fare/payment profit loss tax tip speed/velocity "
        "distance time/duration acceleration age weight/mass temperature probability/chance/odds/likelihood determinant trace rank eigenvalue "
        "antiderivative/primitive numerator denominator discriminant "
        "gcd/gcf/hcf/greatest_common_divisor/greatest_common_factor/highest_common_factor lcm/least_common_multiple/lowest_common_multiple "
        "interest principal rise run directrix midpoint amplitude frequency hypotenuse complement supplement diagonal circumradius inradius "
        "shadow change deposit balance salary/wage wages revenue"
    )
    for word in group.split("/")
}
_LENGTHS = frozenset(("length", "distance"))
_LINES = _LENGTHS | frozenset(
    names(
        "height width radius diameter hypotenuse diagonal perimeter rise run inradius circumradius"
    )
)
_HOW = {
    "long": "length time distance", "tall": "height", "high": "height", "far": "distance length", "fast": "speed",
    "old": "age", "wide": "width", "deep": "height length", "heavy": "weight", "likely": "probability", "steep": "slope",
    "big": "area length volume", "large": "area length volume", "quickly": "speed time", "hot": "temperature", "cold": "temperature",
}  # fmt: skip
_NAME = lazy_pattern(
    rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, _QUANTITIES), key=len, reverse=True))})(?![\w-])",
    re.IGNORECASE,
)
_IS = r"(?:is|are|was|were|equals?|=|:|will be|must be|would be|comes to|comes out (?:to|as)|amounts to|turns out to be|works out (?:to|as))"
_SUBJECT = lazy_pattern(
    rf"^(?:(?:so|thus|hence|therefore|then|and|that means|this means|we (?:see|find|conclude|get))(?: that)?,? )*(?P<subject>(?:the|its|their|his|her|this|that|our) [^,;:=]{{2,80}}?|[A-Z]?[a-z-]+(?: [a-z]+)?) {_IS} (?:therefore |thus |exactly |only |then |equal to |now )*(?P<value>[^,;]+?)[ .!]*$",
    re.IGNORECASE,
)
_HEAD_ENDS = lazy_pattern(
    r"\b(?:of|for|from|between|in|on|at|to|that|which|with|when|after|before|by|if|where)\b"
)
_BEHIND = lazy_pattern(
    r"^(?P<value>\S{1,30}(?: [a-z]{1,12})?) (?:is|are) (?P<subject>(?:the|its|an?|their) [a-z -]{3,40}?)[ .!]*$",
    re.IGNORECASE,
    needs="are|is",
)
_CONTRASTS = tuple(
    {word: side for side, group in enumerate(row.split("|")) for word in group.split("/")}
    for row in names(
        "larger/bigger/greater/largest/biggest/greatest/higher/highest/maximum/maximal/maxima/most|smaller/lesser/smallest/least/lower/lowest/minimum/minimal/minima/fewest "
        "older/oldest|younger/youngest longer/longest|shorter/shortest first|second|third|fourth|fifth|last upper|lower "
        "positive|negative even|odd real|imaginary horizontal|vertical initial|final new/reduced|original/old/previous/former/earlier/before interior|exterior winner/winning|loser/losing "
        "faster/fastest|slower/slowest taller/tallest|shorter/shortest heavier/heaviest|lighter/lightest cheaper/cheapest|dearer/dearest "
        "inner|outer male|female boys|girls men|women adult/adults|child/children left|right"
    )
)
_OPPOSED = frozenset(word for sides in _CONTRASTS for word in sides)
_SAVES = lazy_pattern(r"^(?:so |thus |therefore,? )?(?:you|he|she|they|we|it|[A-Z][a-z]+|(?:the|his|her|their|its|my|our) [a-z]+(?: [a-z]+)?) (?:(?:will|would|has|have|had) (?:have )?(?:now |already )?)?(?P<verb>saves?|saved|loses?|lost|tips?|gives? away|gave away)\b", re.IGNORECASE, needs=" away|lose|lost|save|tip")  # fmt: skip
_GETS = lazy_pattern(
    r"^(?:(?:so|thus|hence|therefore|then|and) ,?)?(?P<who>[A-Z][a-z]+)(?:'s [a-z]+(?: is)?)? (?:[a-z]+|[$€£]?\d)"
)


_ASKS_REST = lazy_pattern(
    r"\b(?:left|remain\w*|worth|still|keeps?)\b",
    re.IGNORECASE,
    needs="keep|left|remain|still|worth",
)
_LAST_REMAINDER = lazy_pattern(
    r"\blast (?:non-?zero |positive )?(?:remainder|residue)\b", re.IGNORECASE, needs="last "
)
_ASKS_GCD = lazy_pattern(
    r"\b(?:gcd|gcf|hcf|(?:greatest|highest|largest) common (?:divisor|factor))\b", re.IGNORECASE
)
_LOSS = lazy_pattern(
    r"\b(?:loss|lost|lose|loses|leak\w*|removed|evaporated)\b",
    re.IGNORECASE,
    needs="evaporated|leak|lose|loss|lost|removed",
)
_SELECTORS = frozenset(names("neither both only"))
_ONLY = lazy_pattern(
    r"\bonly ([a-z]{3,20})\b|\b([a-z]{3,20}) only\b(?! [a-z])", re.IGNORECASE, needs=" only|only "
)
_DEEDS = frozenset(names("save saves saved lose loses lost tip tips give gives gave"))


_DENIED_DEED = lazy_pattern(
    r"\b(?:do|does|did|is|are|was|were)(?: not|n't) (?P<deed>[a-z]{3,})",
    re.IGNORECASE,
    needs="not|n't",
)


def affirms_denied(near: str, clause: str) -> bool:
    """Return True if the words behind a value say "play" where a clause asks for those who do not play."""
    denied = _DENIED_DEED.search(clause)
    if denied is None or re.search(r"\b(?:not|never|non)|n't", near):
        return False
    return re.match(rf"(?: [a-z]+){{0,6}} {denied['deed']}(?:s|es|d|ed)?\b", near) is not None


def may_be_other(reply: str, question: str) -> bool:
    """Return True if the end of a reply has a word for a quantity, an opposite or a person that the question does not ask for."""
    if not question:
        return False
    words = frozenset(WORD.findall(reply[-400:]))
    denied = _DENIED_DEED.search(focus_of(question).clause)
    if denied is not None and any(word.startswith(denied["deed"]) for word in words):
        return True
    if not words.isdisjoint(focus_of(question).other_people):
        return True
    return not _telling(question).isdisjoint(word.lower() for word in words)


def gives_to_other(sentence: str, question: str) -> bool:
    """Return True if the last equation of a sentence without a verb is headed by another quantity: "savings = $30"."""
    if affirms_denied(re.split(r"\d(?:[\d.,]*\d)?", sentence)[-1], focus_of(question).clause):
        return True
    label, sign, _ = re.split(r"[,;→⇒]\s*", sentence)[-1].partition("=")
    if not sign or not re.fullmatch(r"\W*[A-Za-z][A-Za-z' -]{2,50}", label.strip()):
        return False
    label = label.strip(" *$")
    focus = focus_of(question)
    counted = frozenset(
        word.lower() for word in WORD.findall(focus.clause) if root(word) in focus.counted
    )
    last = WORD.findall(label.lower())[-1]
    return is_rival(last, counted) or is_other_subject(label, question)


@lru_cache(maxsize=4096)
def _telling(question: str) -> frozenset[str]:
    """The words that may tell of another quantity than the one that a question asks for."""
    clause = frozenset(WORD.findall(focus_of(question).clause.lower()))
    found = set(_DEEDS)
    if _asked(question) or asked_names(question) or focus_of(question).counted:
        found |= {word for name in (*_QUANTITIES, *NAMES) for word in (*name.split(), f"{name}s")}
    if not _SELECTORS.isdisjoint(clause):
        return frozenset((found | _SELECTORS) - (clause - {"only"}))
    if is_in(_ASKS_REST, focus_of(question).clause):
        found |= {"loss", "lose", "loses", "leaked", "removed", "evaporated"}
    for sides in _CONTRASTS:
        asked = {sides[word] for word in clause if word in sides}
        if asked:
            found |= {word for word, side in sides.items() if side not in asked}
    return frozenset(found - clause)


def names_other_quantity(sentence: str, question: str) -> bool:
    """Return True if a sentence with one claim gives another quantity, or another person's, than the question asks for."""
    if not question or len(sentence) > 200:
        return False
    sentence = sentence.strip(" *_`.!")
    focus = focus_of(question)
    if _is_of_other_person(sentence, focus):
        return True
    deed = _SAVES.match(sentence)
    if deed is not None:
        done = root(deed["verb"].split()[0])
        if is_in(_ASKS_REST, focus.clause):
            return done not in focus.words
        return done not in focus.known and "los" not in focus.known
    match = _SUBJECT.match(sentence) or _BEHIND.match(sentence)
    if match is None or not re.search(r"[\d$\\]|[a-z]-[a-z]|^[a-z]+$", match["value"]):
        return False
    return is_other_subject(match["subject"], question)


@lru_cache(maxsize=4096)
def is_other_subject(subject: str, question: str) -> bool:
    """Return True if a noun phrase names another quantity than the one that a question asks for."""
    focus = focus_of(question)
    if opposes(subject, focus.clause):
        return True
    if _selects_other(subject, focus.clause):
        return True
    if _LAST_REMAINDER.search(subject) and _ASKS_GCD.search(focus.clause):
        return False  # of Euclid's algorithm
    head = _HEAD_ENDS.split(subject)[0].strip()
    if _LOSS.search(head) and is_in(_ASKS_REST, focus.clause) and not _LOSS.search(focus.clause):
        return True
    last = re.findall(r"[a-z-]+", head.lower())[-1:]
    if last and last[0] not in _QUANTITIES and is_rival(last[0], asked_names(question)):
        return True
    named = [match[0].lower() for match in _NAME.finditer(head)]
    if not named or not head.lower().endswith(named[-1]):
        return False
    asked = _asked(question)
    said = _QUANTITIES[named[-1]]
    if not asked or said in asked or roots(named[-1]) <= focus.words:
        return False
    if (
        said not in focus.known
        and not _LENGTHS.isdisjoint((said, *asked))
        and (said in _LINES or not asked.isdisjoint(_LINES))
    ):
        return False
    return asked.isdisjoint(_QUANTITIES[name] for name in named)


def _selects_other(subject: str, clause: str) -> bool:
    """Return True for "neither" where a question asks for both, and "German only" where it asks for French only."""
    said, asked = (
        set(map(str.lower, WORD.findall(text))) & _SELECTORS for text in (subject, clause)
    )
    if said and asked and said.isdisjoint(asked):
        return True
    own, wanted = (
        {(match[1] or match[2]).lower() for match in _ONLY.finditer(text)}
        for text in (subject, clause)
    )
    return bool(own and wanted) and own.isdisjoint(wanted)


@lru_cache(maxsize=4096)
def _asked(question: str) -> frozenset[str]:
    clause = focus_of(question).clause.lower()
    found = {_QUANTITIES[match[0].lower()] for match in _NAME.finditer(clause)}
    if (how := re.search(r"\bhow ([a-z]+)", clause)) is not None:
        found |= frozenset(names(_HOW.get(how[1], "")))
        if how[1] == "much" and found.isdisjoint(("time", "distance", "weight", "area")):
            money = re.search(r"[$€£]|\b(?:dollars?|cents?|euros?|pounds?|cost|pay|spend)\b", question.lower())  # fmt: skip
            paid = re.search(r"\b(?:cost|pay|spend|spent|charged?|owes?)\b", clause)
            found |= frozenset(("price",)) if money and paid else frozenset()
            if not paid and found <= {"price"}:
                return frozenset()
    return frozenset(found)


@lru_cache(maxsize=4096)
def _words_of_clause(clause: str) -> frozenset[str]:
    return frozenset(map(str.lower, WORD.findall(clause)))


def opposes(phrase: str, clause: str) -> bool:
    """Return True if a phrase has "smaller" where a clause has "larger", or another pair of opposites."""
    wanted = _words_of_clause(clause)
    if wanted.isdisjoint(_OPPOSED):
        return False
    told = _OPPOSED.intersection(map(str.lower, WORD.findall(phrase)))
    if not told:
        return False
    for sides in _CONTRASTS:
        own = {sides[word] for word in told if word in sides}
        asked = {sides[word] for word in wanted if word in sides}
        if own and asked and own.isdisjoint(asked):
            return True
    return False


def _is_of_other_person(sentence: str, focus: Focus) -> bool:
    gets = _GETS.match(sentence)
    return gets is not None and gets["who"] in focus.other_people
