"""Tells a passing mention of a number from a claim: "in chapter 12", "let me check case **4**", "my guess is 7".

A mention is a plan, the number of a case or a page, what others say, a guess, or a count of the reply's own
steps. A noun or verb that the question uses itself makes no mention: "In which chapter?".

Not covered: other languages than English.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import names

_REGULAR = names(
    "need earn save spend collect receive remain total equal exist reach weigh measure cost pay own contain hold carry produce bake plant pick "
    "arrive gather walk travel cover score gain lose share sell buy eat drink read write make take get give leave have yield obtain find count "
    "conclude compute calculate add amount come sum work end result play win visit serve fill pack build paint draw catch grow learn "
    "teach watch deliver print lift climb swim drive run ride live last wait sleep owe donate raise deserve complete finish "
    "solve remove keep"
)
_IRREGULAR = names(
    "has had got given gave made took taken found left lost sold bought ate eaten drank read wrote written won came spent paid cost held "
    "kept ran rode drove swam drew caught grew learnt taught built been be is are was were am"
)
BE = frozenset(names("is are was were be equals"))
MODALS = frozenset(names("will can must would could should has have had did does do to"))
MY_VERBS = frozenset(
    names(
        "get got gets have had has obtain obtained find found count counted conclude concluded compute computed calculate calculated need see "
        "end come add arrive arrived reach reached answer earn spend pay owe save are is"
    )
)
"""Verbs that state a result if the writer is the subject: "I get 7", but not "we write 7"."""
NO_SUBJECTS = frozenset(
    names(
        "in on at by from for with as see via during like upon under into per according using what how why where"
    )
)
LABELS = frozenset(
    names(
        "case step chapter page table figure equation theorem lemma part section question problem exercise row column line rule item note "
        "corollary proposition definition version example option paragraph appendix volume verse lesson level stage phase round task hint "
        "approach method attempt try iteration claim remark axiom property formula diagram graph footnote reference scenario bullet test "
        "subcase candidate guess hypothesis assumption choice possibility trial slide exhibit annex article clause"
    )
)
"""Nouns that a number behind them names and does not count: "case 4"."""
_WORK = frozenset(
    names(
        "case step chapter equation theorem lemma unknown variable answer approach method attempt candidate option hypothesis assumption "
        "scenario hint subcase digit idea part"
    )
)
"""Things that a reply counts on its way: "there are 3 cases"."""
WORK_FORMS = _WORK.union(f"{word}s" for word in _WORK)
PLANS = frozenset(
    names(
        "let lets let's consider check verify suppose assume try test look see note recall start begin substitute plug pick choose turn handle "
        "examine review imagine remember revisit compare take back proceed continue use apply move go define denote insert enter write put"
    )
)
"""Words that open a sentence of work still to be done."""
DOUBTS = frozenset(
    names(
        "might may maybe perhaps possibly guess doubt unclear unsure suppose supposing pretend imagine likely unlikely improbable conceivable plausible"
    )
)
_LEAVING = frozenset(
    names("leaving giving making yielding totaling totalling getting obtaining equaling remaining")
)
_CONDITIONS = frozenset(names("if when whenever for where unless given set solve"))
_UNPROVED = frozenset(names("guess bound candidate hypothesis assumption estimate"))
LISTING = frozenset(names("include includes including try tried use used using shown pick picked"))
UNTRUE = frozenset(
    names(
        "wrong incorrect false naive naively mistaken mistake error tempting rejected extraneous invalid seems appears sight often usually "
        "typically people many others someone errada errado falsa falsche falscher sbagliata incorrecta"
    )
)
"""Words about results that are not the writer's own."""
CONCLUDES = lazy_pattern(
    r"(?:^|[,;:.]\s*|\s[-–—]+\s|\band\s+)(?:so|therefore|thus|hence|consequently|which means|that means|this means)\b(?:\s+that\b)?,?\s*"
    r"|\s*(?:[→⇒⟹]|=+>|-+>)\s*",
    re.IGNORECASE,
    needs="-|>|consequently|hence|so|that means|therefore|this means|thus|which means|→|⇒|⟹",
)
_SHORT = lazy_pattern(
    r"\b(it|that|this|there|here|answer|result|total|sum|value|solution)'s\b|\b(they|these|those)'re\b",
    re.IGNORECASE,
    needs="'re|'s",
)
_SAYS = lazy_pattern(
    r"^(?:i'd say|i would say|i think|i believe)(?: that)?\s+",
    re.IGNORECASE,
    needs=" believe| think| would say|'d say",
)
WORD = lazy_pattern(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


def _forms(stem: str) -> set[str]:
    if stem.endswith("e"):
        return {stem, f"{stem}s", f"{stem}d"}
    if stem.endswith("y") and stem[-2] not in "aeiou":
        return {stem, f"{stem[:-1]}ies", f"{stem[:-1]}ied"}
    return {stem, f"{stem}{'es' if stem.endswith(('s', 'sh', 'ch', 'x')) else 's'}", f"{stem}ed"}


VERBS = frozenset(_IRREGULAR).union(*map(_forms, _REGULAR))


def uncontracted(text: str) -> str:
    """`text` with "is" and "are" written out, and without "I think": "I'd say it's 7" is "it is 7"."""
    if "'" not in text and "’" not in text:
        return _SAYS.sub("", text)
    text = _SAYS.sub("", text.replace("’", "'"))
    return _SHORT.sub(lambda match: f"{match[1]} is" if match[1] else f"{match[2]} are", text.replace("’", "'"))  # fmt: skip


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(word.lower() for word in WORD.findall(text))


def mentions(before: list[str], asked: frozenset[str]) -> bool:
    """Return True if the words before a number make it a passing mention: a plan, or the number of a case."""
    if not before:
        return False
    if before[0] in PLANS - asked:
        return True
    return is_label(before[-1], asked)


def leads_to(before: list[str], asked: frozenset[str]) -> bool:
    """Return True if words without a verb before a number may name its value: "the total", but not "in chapter"."""
    if mentions(before, asked) or not DOUBTS.isdisjoint(before) or before[0] in ("i", "we", "you"):
        return False
    if before[0] in NO_SUBJECTS and len(before) > 1 and before[-1] not in ("total", "all", "of"):
        return before[-1] in asked
    if before[0].endswith("ing") and before[0] not in _LEAVING:
        return False
    return LISTING.isdisjoint(before)


def labels(before: list[str], asked: frozenset[str]) -> bool:
    """Return True if the words before "is" or a colon may name a value: "the sum", but not "step" or "one option"."""
    if not DOUBTS.isdisjoint(before) or ("could" in before and "could" not in asked):
        return False
    plans = PLANS - asked
    first = (
        before[1]
        if before[0:1] in (["i"], ["we"], ["now"], ["first"], ["next"]) and len(before) > 1
        else "".join(before[:1])
    )
    if first in plans or first in _CONDITIONS:
        return False
    if any(one == "to" and word in plans for one, word in pairwise(before)):
        return False
    if not (UNTRUE - asked).isdisjoint(before):
        return False
    before = [word for word in before if word not in MODALS]
    if not before or before[-1] in asked:
        return True
    return before[-1] not in _UNPROVED and (before[0] == "the" or not is_label(before[-1], asked))


def claims(before: str, said: str, asked: frozenset[str] = frozenset()) -> bool:
    """Return True if what stands before the marked end `said` of a sentence makes that end its claim."""
    lead = CONCLUDES.split(before)[-1].rstrip(" \"'“")
    words = list(map(str.lower, WORD.findall(uncontracted(lead))))
    if mentions(words, asked) or not (UNTRUE - asked).isdisjoint(words):
        return False
    if not (any(map(str.isdigit, said)) or number_of(said)):
        return True
    if not words or lead.endswith((":", "=", ",", "-", "–", "—")) or not before[-1:].isspace():
        return True
    if words[-1] in BE and not labels(words[:-1], asked):
        return False
    if words[0] in ("i", "we"):
        return bool(MY_VERBS.intersection(words))
    if not VERBS.isdisjoint(words):
        return True
    if words[0].endswith("ing") and words[0] not in _LEAVING:
        return False
    return len(words) > 1 and words[0] not in NO_SUBJECTS and words[-1].endswith(("s", "ed", "to"))


def counts_work(noun: str, asked: frozenset[str]) -> bool:
    """Return True if a noun behind a number names what the reply itself is made of: "4 cases", "4 digits"."""
    return any(
        singular(word) in _WORK and not {word, singular(word)} & asked for word in noun.split()
    )


def is_label(word: str, asked: frozenset[str]) -> bool:
    return singular(word) in LABELS and not {word, singular(word)} & asked


def singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
