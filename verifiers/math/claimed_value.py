"""Picks the one value that the last sentence of a reply claims, from all values that stand in it.

Each value is weighed by its clause (a conclusion, a statement, a reason or a step on the way), by the words around it
(those of the question, another quantity's, a preposition), by its unit and noun, and by whether the question shows it.
The heaviest is the claim if no other comes near it. The reference is not looked at, so that a sentence is read alike
whether its answer is right or wrong; a doubt, a denial or a bound makes no claim.

Not covered: claims spread over sentences, and clauses of other languages than English (a sole new value is read).
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from verigym.verifiers.math.claiming_sentences import claiming_sentence
from verigym.verifiers.math.clauses import clauses_of
from verigym.verifiers.math.mentions import (
    BE,
    MODALS,
    VERBS,
)
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.question_focus import WORD, focus_of
from verigym.verifiers.math.rivals import of_asked
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.value_weights import ASKS_EARLIER, IS_SUPPOSED, Weighed, weigh
from verigym.verifiers.math.values_in_prose import Value, plain_sentence, values_in

HEDGES = lazy_pattern(
    r"\b(?:maybe|perhaps|possibly|probably|likely|unlikely|might|guess\w*|unsure|sure|either|suppose|supposing|assum\w+|if|unless|otherwise|else|whether|seems?|appears?|claims?|claimed|says?|said|thinks?|believes?|"
    r"wrong\w*|incorrect\w*|mistak\w*|tempting|naive\w*|try|trying|vielleicht|peut-être|quizás|should|may|almost|nearly|contradict\w*|could be|or both|imagine|hopes?|hoped|nobody|someone|false|estimates?|(?:lower|upper) bound|in (?:one )?case|one reading|according|often|ought|better|used to|had better|option|to (?:test|check|try|verify|consider)|(?:now|will|us|me) (?:check|test|try|verify|consider|turn)|proceed|continue[ds]?|or so|(?:he|she|they|it|we)'d\b|^once\b|or both|fails?|wait|actually|oder|ou|hypothetical\w*|example|e\.g)\b|\?|\.\.\.|…",
    re.IGNORECASE,
)
_BOTH = lazy_pattern(
    r"\b(?:(?:stand|go) (?:by|with) both|both (?:are|of (?:them|these) are|count as|stand as|remain) (?:(?:my|our|the|a|valid|equally|possible|correct|right|acceptable|final) )*(?:answers?|valid|possible|correct|right|fine|acceptable))\b",
    re.IGNORECASE,
    needs="both",
)
_LISTS = lazy_pattern(r",|\b(?:and|or)\b|±|\\pm", needs=",|and|or|±|\\pm")
_VERBS = lazy_pattern(
    r"\b(?:is|are|was|were|be|will|can|must|has|have|had|gets?|gives?|equals?|needs?|makes?|takes?|took|costs?|pays?|spends?|leaves?|remains?|comes?|becomes?|'s|we|you|he|she|they|it)\b|=|’s\b|[a-z]{2}(?:s|ed)\b"
)
_SETS = lazy_pattern(
    r"\b(?:inequalit|domain|range|interval|for (?:which|what)|values? of|find all|solve|solution set|possible)\b|[<>≤≥]|\\[lg]e",
    re.IGNORECASE,
)
_PLANS = lazy_pattern(
    r"^\W*(?:let|let's|next|suppose|consider|check|assume|case|try|maybe|could)\b",
    re.IGNORECASE,
    needs="assume|case|check|consider|could|let|maybe|next|suppose|try",
)
_ALL_VERBS = (
    VERBS | MODALS | BE | frozenset(names("satisfy satisfies works holds hold solves solve"))
)
_LIKE_VERB = lazy_pattern(
    r"\b[a-z]{3,}(?:ed (?:#|the|an?)|(?<!s)s (?:#|the|an?|to|up|down|out|into|in|at|for|by|on|it|us|his|her|its))(?!\w)|\b(?:ist|sind|beträgt|lautet|ergibt|erhält|hat|es|son|est|sont|vaut|obtient|fährt|kostet|coûte|cuesta|tiene|é|è)\b|'s\b|[\u4e00-\u9fff]"
)
_ADJUNCTS = frozenset(
    names(
        "the next following same day more in total altogether left morning afternoon evening remaining away overall"
    )
)
_NO_VALUE = lazy_pattern(
    r"\b(?:does not exist|doesn't exist|undefined|diverges|no (?:limit|solutions?|answer)|candidates?)\b",
    re.IGNORECASE,
    needs="candidate|diverges|does not exist|doesn't exist|no |undefined",
)
_AND_OTHER = lazy_pattern(r"\b(?:and|but|while) [A-Z][a-z]+ (?:has |had )?#", needs="and|but|while")
_ABROAD = lazy_pattern(
    r"[à-ÿ]|\b(?:der|die|das|ein|man|wir|el|los|las|un|una|une|le|la|les|des|du|il|on|se|son|sono|ist|war|est|es)\b",
    re.IGNORECASE,
)
_ENGLISH = lazy_pattern(
    r"\b(?:the|is|are|and|of|has|have|it|that|there|we|so|for|with|to|by|which|gives?|makes?)\b",
    re.IGNORECASE,
)
_ORDER = "smaller|smallest|lesser|first|one|lower|larger|largest|greater|bigger|second|other|higher"
_ONE_OF_TWO = lazy_pattern(
    rf"\b(?:{_ORDER})\b",
    re.IGNORECASE,
    needs="bigger|first|greater|higher|larger|largest|lesser|lower|one|other|second|smaller|smallest",
)
_TWO = lazy_pattern(
    rf"\b[Tt]he (?:{_ORDER})(?: (?:one|number|integer|root|solution|value))? (?:is|=|was) (?P<one>-?[\d./]*\d),? (?:and|while) the (?:{_ORDER})(?: (?:one|number|integer|root|solution|value))?(?: (?:is|=|was))? (?P<other>-?[\d./]*\d)",
    needs=" the ",
)
_DENIED_WORD = lazy_pattern(
    r"\b(?P<verb>is|are|was|were|do|does|did)(?:n't| not)(?: (?P<word>[a-z]+)|(?=\W*$))",
    re.IGNORECASE,
    needs="n't|not",
)
_ASKS_RATIO = lazy_pattern(r"\bratio\b|\d ?: ?\d", needs="ratio|:")
_MARGIN = 0.6


def claimed_value(reply: str, question: str) -> list[str]:
    """The spellings (with and without its unit) of the value that the last sentence of `reply` claims; empty if none."""
    weighed = weighed_values(reply, question)
    if not weighed:
        return []
    best = max(weighed, key=lambda one: (one.weight, one.value.start))
    said = claiming_sentence(reply)
    if _BOTH.search(said) and not _LISTS.search(best.value.whole):
        return []  # two answers at once, of which this is but one
    if of_asked(said, question) != said:
        return []  # `extract` has read it
    near = (
        one
        for one in weighed
        if one.weight > best.weight - _MARGIN and (one.concludes or not best.concludes)
    )
    if best.weight < 0 or not all(_is_same(one.value, best.value) for one in near):
        return []
    return [best.value.whole]


@lru_cache(maxsize=64)
def weighed_values(reply: str, question: str) -> tuple[Weighed, ...]:
    """The values of the last sentence of `reply` with their weights; none if it is in doubt, or no statement."""
    sentence = said = claiming_sentence(reply)
    if not is_in(_ONE_OF_TWO, focus_of(question).clause):
        sentence = _TWO.sub(r"they are \g<one> and \g<other>", sentence)
    if len(WORD.findall(sentence)) < 2 or _PLANS.match(sentence) or _NO_VALUE.search(sentence):
        return ()
    if "n't" in sentence or " not" in sentence:
        sentence = _DENIED_WORD.sub(partial(_as_asked, question=question.lower()), sentence)
    ratio = is_in(_ASKS_RATIO, question)
    sentence = plain_sentence(sentence, bounds=is_in(_SETS, question), ratio=ratio)
    values = values_in(sentence)
    prose = _prose(sentence, values)
    if not focus_of(question).asked_people and _AND_OTHER.search(prose):
        return ()
    hedged = HEDGES.search(prose)
    if hedged is not None and is_in(ASKS_EARLIER, question):
        hedged = HEDGES.search(re.sub(r"\bused to\b", "", prose))
    if hedged is not None and is_in(IS_SUPPOSED, question):
        hedged = HEDGES.search(re.sub(r"'d\b", "", prose))
    if not values or hedged is not None or not (_is_statement(prose) or _is_statement(said)):
        return ()
    if not question and len(values) > 1:
        return ()
    clauses = clauses_of(sentence, values)
    return tuple(
        weigh(
            value,
            next(one for one in reversed(clauses) if one.start <= value.start),
            values,
            sentence,
            question,
        )
        for value in values
    )


def _as_asked(match: re.Match[str], question: str) -> str:
    """A denial that the question makes too, "isn't blue" for "not blue" and "don't play", as a word; others as they are."""
    word = (match["word"] or "").lower()
    asked = f"not {word}" in question or f"n't {word}" in question
    return f"{match['verb']} non{word}" if asked else match[0]


def _is_statement(prose: str) -> bool:
    """Return True if a sentence has a verb, or a word that looks like one: "averages #", "brings the"."""
    words = list(map(str.lower, WORD.findall(prose)))
    if prose.startswith("#") and prose.count("#") == 1 and _ADJUNCTS.issuperset(words):
        return True
    if _ABROAD.search(prose) and not _ENGLISH.search(prose):
        return True
    return not _ALL_VERBS.isdisjoint(words) or _LIKE_VERB.search(prose) is not None


def _prose(sentence: str, values: list[Value]) -> str:
    for value in reversed(values):
        sentence = f"{sentence[: value.start]}#{sentence[value.end :]}"
    return sentence


def _is_same(one: Value, other: Value) -> bool:
    return one.whole.replace(" ", "").lower() == other.whole.replace(" ", "").lower()
