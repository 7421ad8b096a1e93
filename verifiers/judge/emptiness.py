"""Detection of answers that say nothing: words that only announce, frame or praise an answer.

A list of openers is never complete, so what remains after them counts: an answer made only of the
words below, which name an answer, a process, a judge or a verdict and never a thing in the world,
is empty however it combines them. Numbers, names and every other word are content. `languages.py`
has such words of other languages.

A bare "yes", "true", "correct" or "QED" is an answer if the question asks for one (`wants`).
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from verigym.verifiers.judge.languages import FRAMES, NAMES, is_phrases, without_accents
from verigym.verifiers.text.lookalikes import folded

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
_LETTERS = re.compile(r"(?:(?<=\s)|^)(?:\w ){3,}\w(?=\s|$)")
_STEPS = re.compile(
    r"\b(?:step|etape|étape|schritt|paso|passo|шаг|крок|krok|adim|adım|buoc|bước|langkah|steg|stap|خطوة|الخطوة"
    r"|चरण|part|phase)\s?\d{1,2}\b"
)
_VERDICTS = frozenset(
    """
    yes no true false correct incorrect right wrong yeah yep nope agree disagree valid invalid qed oui non
    vrai faux ja nein richtig falsch wahr si sí verdadero falso cierto vero sim nao verdade verdadeiro да нет верно
    неверно правда ложь 是 是的 不是 对 不对 否 正确 错误 はい いいえ 正しい 네 예 아니요 نعم لا صحيح خطأ हाँ नहीं nee tak nie evet hayir
    absolutely certainly definitely indeed pass
    """.split()  # noqa: SIM905
)
_AROUND_VERDICTS = frozenset(
    """
    it is was are were it's that that's this the they he she do does did has have can will would not isn't wasn't
    doesn't don't didn't of course a statement claim answer i
    """.split()  # noqa: SIM905
)
_EITHER_OR = re.compile(
    r"\b(?:true (?:or|/) ?false|t/f|yes (?:or|/) ?no|yes/no|true/false|correct or incorrect|right or wrong"
    r"|valid or invalid|agree or disagree|whether|ja oder nein|oui ou non|vrai ou faux|s[ií] o no|verdadero o falso"
    r"|да или нет|sim ou n[aã]o)\b|是否|对不对|是不是|吗",
    re.IGNORECASE,
)
_ASKS_FOR_A_THING = re.compile(
    r"\b(?:wh(?:o|at|en|ere|y|ich|ose|om)|how|qui|que|quoi|quels?|quelles?|où|quand|comment|pourquoi|combien|wer|was"
    r"|wann|wo|warum|wie|welche[rsnm]?|wieso|qu[eé]|qui[eé]n(?:es)?|cu[aá]ndo|d[oó]nde|c[oó]mo|cu[aá]l(?:es)?"
    r"|cu[aá]nt[oa]s?|cosa|quando|dove|come|perch[eé]|quale|quanto|onde|qual|quem|кто|что|когда|где|почему|как|какой"
    r"|какая|какие|сколько|зачем|من|ما|متى|أين|لماذا|كيف|كم|क्या|कौन|कब|कहाँ|क्यों|कैसे)\b"
    r"|什么|谁|哪|何|怎|为何|多少|几|誰|いつ|どこ|なぜ|どう|いくつ|무엇|누구|언제|어디|왜|어떻게|얼마|몇",
    re.IGNORECASE,
)
# Questions about words and values, whose answer may be any word.
_ABOUT_WORDS = re.compile(
    r"\b(?:means?|meaning|translat\w+|opposite|antonym|synonym|words?|spell\w*|abbreviation|acronym|letters|phrase"
    r"|term|keyword|boolean|outputs?|prints?|returns?|evaluates?|value|expression)\b",
    re.IGNORECASE,
)
_SPEECH = re.compile(r"[a-z]")
_LONG = 4000


def says_nothing(bare: str, question: AbstractSet[str]) -> bool:
    """Return True if plain text (`guard.plain`) holds no word of content.

    A single word from the lists may be an answer ("Logic"), so it takes two, or one that is
    announced. Words that the question uses count as content, because a question about answers may
    be answered with them.
    """
    if not bare or len(bare) > 100 * _LONG:
        return False
    if is_phrases(bare):
        return True
    straight = _STEPS.sub(" step steps ", straightened(bare))
    words = {*straight.split(), *bare[_LONG:].split()}
    if not words <= _ALL:
        plain_words = {*without_accents(straight).replace("'", " ").split()}
        plain_words |= {*straight.split()} & _ALL
        plain_words -= {word for word in ("ll", "ve", "m", "re", "s", "t") if "'" in straight}
        talk = plain_words <= _ALL | FRAMES | NAMES and bool(plain_words & (NAMES | _OF_AN_ANSWER))
        return talk and not words & question & (NAMES | _OF_AN_ANSWER)
    if words & question & _OF_AN_ANSWER:
        return False
    named = words & _OF_AN_ANSWER
    if not named:
        return words <= _FRAME and bool(words & _CONNECTIVES)
    return len(named) > 1 or bool(words & _ANNOUNCING)


def wants(bare: str, question: str) -> bool:
    """Return True if a question wants a bare answer of plain words such as "yes", "it is true" or "qed"."""
    words = without_accents(bare).replace("q e d", "qed").split()
    given = [word for word in words if word in _VERDICTS]
    if not given or len(words) > 6 or len(set(given)) != len(given):
        return False
    if not all(word in _VERDICTS or word in _AROUND_VERDICTS for word in words):
        return False
    if len(words) < 3 and _ABOUT_WORDS.search(question):
        return True
    if given == ["qed"]:
        return False
    if _EITHER_OR.search(question):
        return True
    sentences = re.findall(r"[^.!?？؟。\n]*+[.!?？؟。\n]?", question)
    asked = [one for one in sentences if one.endswith(("?", "？", "؟"))]
    return any(not _ASKS_FOR_A_THING.search(one) for one in asked)


def repeats(bare: str, asked: str) -> bool:
    """Return True if plain text is the plain question, or five words of it in a row, among words
    without content."""
    if not asked or bare == asked:
        return bool(asked)
    if len(asked) > 12 and asked in bare:
        rest = bare.replace(asked, " ").split()
        return all(word in _ALL or word == "asked" for word in rest)
    return len(bare.split()) >= 5 and f" {bare} " in f" {asked} "


def straightened(bare: str) -> str:
    """Return plain text whose words neither repeat a unit nor borrow letters, without spaces between letters."""
    joined = _LETTERS.sub(lambda found: found[0].replace(" ", ""), bare[:_LONG])
    words = [_unit(_latin(word)) for word in joined.split()]
    # A row of one phrase is that phrase.
    for size in range(1, 9):
        if len(words) > size and words == (words[:size] * len(words))[: len(words)]:
            words = words[:size]
    return " ".join(words)


def _latin(word: str) -> str:
    """A word in which letters of another alphabet stand in for Latin ones, in Latin ones."""
    return folded(word) if _SPEECH.search(word) else word


def _unit(word: str) -> str:
    """Return the unit that a word repeats: `yesyesyes` is `yes`."""
    if len(word) < 9:
        return word
    return word[: (word + word).find(word, 1)]
