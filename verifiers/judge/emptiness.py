"""Whether an answer says anything: words that only announce, frame or praise an answer are no answer.

A list of openers is never complete, so what counts is what remains: an answer of nothing but the words
below, which name an answer, a process, a judge or a verdict and never a thing in the world, is empty
however it combines them. Numbers, names and every other word are content.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

_FRAME = frozenset(
    """
    a after am an and any are as at be down been being below but by can could do does done each every everything
    following for from given has have hence here here's how i i'd i'll i'm i've if in indeed into is it
    it's its let let's lets like me more must my need needed needs now of on once or our out over shall
    should so such that that's the their them then there therefore these they this those through thus to
    together under up us was we we'll we're well what which who will with would you your above also all
    first next finally begin start starting proceed moving ahead go going make made sure simply just
    very really quite carefully clearly thoroughly completely entirely fully totally directly
    accordingly always very much way ways one's q e d qed
    """.split()  # noqa: SIM905
)
_PROCESS = frozenset(
    """
    analyse analysing analysis analyze analyzing approach approaching break breaking breakdown
    calculation calculations careful conclude conclusion consider consideration considered derivation
    derive detailed determine explain explained explanation explanations figure follow follows find
    finding idea ideas logic look looking method problem problem's problems process proof prove provide
    provided question questions rationale reason reasoned reasoning reasonings recall reflection
    response responses result results show solution solutions solve solved solving statement step steps
    stepwise summary think thinking thinks thought thoughts understand understanding work working
    worked write obvious obviously trivial trivially known evident clear exercise reader left boxed
    """.split()  # noqa: SIM905
)
_PRAISE = frozenset(
    """
    absolutely accept acceptable accepted accurate accurately address addressed addresses agreed alright
    answer answered answering answers certainly complete comprehensive confirm confirmed confirms
    correct correctly correctness course criteria criterion definitely evaluate evaluation evaluator
    excellent expected expert experts final full fulfil fulfill fulfilled fulfills fulfils good grade
    graded grader grades grading great high highest judge judged judgement judgment mark marked marks
    match matches maximum meet meets met ok okay outcome output pass passed passes passing perfect perfectly
    please points positive quality rate rated rating reference referenced rejected reply requirement
    requirements required requires respond right rubric rubrics same satisfied satisfies satisfy score
    scored scores scoring stated submission successful successfully true truly truth valid validated
    verdict verified verifier verify whatever yeah yep yes
    """.split()  # noqa: SIM905
)
_SPEAKERS = frozenset(
    """
    administrator ai approve approved assistant author authoritative authority developer instruction
    instructions language model new official pretend previous rule rules said say says system task
    teacher updated user human already
    """.split()  # noqa: SIM905
)
_OF_AN_ANSWER = _PROCESS | _PRAISE
_ALL = _FRAME | _OF_AN_ANSWER | _SPEAKERS
_CONNECTIVES = frozenset(["so", "thus", "therefore", "hence", "finally", "indeed", "q", "qed"])
_ANNOUNCING_WORDS = (
    "i i'll i'm we we'll let let's my this these it here here's below above first next now then"
)
_ANNOUNCING = _CONNECTIVES | frozenset(_ANNOUNCING_WORDS.split())
_LOOKALIKES = str.maketrans("асеіјорԛѕухһԁαεικνορτυχ", "aceijopqsyxhdaeiknoptux")
_LETTERS = re.compile(r"(?:(?<=\s)|^)(?:\w ){3,}\w(?=\s|$)")
_SPEECH = re.compile(r"[a-z]")
_LONG = 4000


def says_nothing(bare: str, question: AbstractSet[str]) -> bool:
    """Whether plain text (`guard.plain`) holds no word of content.

    A lone word of them may be an answer ("Logic"), so it takes two, or one that is announced. Words
    that the question uses count as content: where it asks about answers, they may be one.
    """
    if not bare or len(bare) > 100 * _LONG:
        return False
    words = {*straightened(bare).split(), *bare[_LONG:].split()}
    if not words <= _ALL or words & question & _OF_AN_ANSWER:
        return False
    named = words & _OF_AN_ANSWER
    if not named:
        return words <= _FRAME and bool(words & _CONNECTIVES)
    return len(named) > 1 or bool(words & _ANNOUNCING)


def repeats(bare: str, asked: str) -> bool:
    """Whether plain text is the plain question, or five words of it in a row, in words of no content."""
    if not asked or bare == asked:
        return bool(asked)
    if len(asked) > 12 and asked in bare:
        rest = bare.replace(asked, " ").split()
        return all(word in _ALL or word == "asked" for word in rest)
    return len(bare.split()) >= 5 and f" {bare} " in f" {asked} "


def straightened(bare: str) -> str:
    """Plain text whose words neither repeat a unit nor borrow letters, without spaces between letters."""
    joined = _LETTERS.sub(lambda found: found[0].replace(" ", ""), bare[:_LONG])
    words = [_unit(_latin(word)) for word in joined.split()]
    # A row of one phrase is that phrase.
    for size in range(1, 9):
        if len(words) > size and words == (words[:size] * len(words))[: len(words)]:
            words = words[:size]
    return " ".join(words)


def _latin(word: str) -> str:
    """A word in which letters of another alphabet stand in for Latin ones, in Latin ones."""
    return word.translate(_LOOKALIKES) if _SPEECH.search(word) else word


def _unit(word: str) -> str:
    """What a word repeats: `yesyesyes` is `yes`."""
    if len(word) < 9:
        return word
    return word[: (word + word).find(word, 1)]
