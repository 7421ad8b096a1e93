"""Reads a sentence that states one number, "Tom has 7 apples left.", and tells it from a passing mention.

A statement has a verb that gives or holds an amount, and right behind it the only number of the sentence.
Hedges, conditions, denials and bounds state nothing, and neither do premises ("he started with 7"), plans
("let me try 7") and labels ("in chapter 7"). Premises that the question asks for are answers.

Not covered: sentences with two numbers, rare verbs with a long subject, and other languages than English.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from verigym.verifiers.math.directions import CHANGED
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import names

_MOST_CHARS = 240
_REGULAR = names(
    "need earn save spend collect receive remain total equal reach weigh measure cost pay own contain hold carry produce bake plant pick "
    "arrive gather walk travel cover score gain lose share sell buy eat drink read write make take get give leave have yield obtain find count "
    "conclude compute calculate add amount come sum work end result play win visit serve fill pack build paint draw catch grow learn "
    "teach watch deliver print lift climb swim drive run ride live last wait sleep owe donate raise deserve complete finish "
    "solve remove keep"
)
_IRREGULAR = names(
    "has had got given gave made took taken found left lost sold bought ate eaten drank read wrote written won came spent paid cost held "
    "kept ran rode drove swam drew caught grew learnt taught built been be is are was were am"
)
_MY_VERBS = frozenset(
    names(
        "get got gets have had has obtain obtained find found count counted conclude concluded compute computed calculate calculated need see "
        "end come add arrive arrived reach reached answer earn spend pay owe save are is"
    )
)
"""Verbs that state a result where the writer speaks of himself: "I get 7", but not "we write 7"."""
_BE = frozenset(names("is are was were be equals"))
_ADVERBS = frozenset(
    names(
        "exactly precisely only just now still then simply therefore thus equal to up out with left us him her them it me you back in a an the "
        "of total all altogether already currently finally clearly indeed"
    )
)
VALUES = frozenset(
    names(
        "value values answer result total sum solution solutions count minimum maximum min max amount quantity area length perimeter "
        "circumference volume surface radius diameter height width depth weight mass price cost distance speed velocity "
        "rate time age average mean median mode range difference product quotient remainder ratio score probability chance probabilities "
        "odds expectation angle measure slope degree size temperature limit rank dimension order period determinant integral supply"
    )
)
"""Names of amounts: "an area of 24"."""
_MODALS = frozenset(names("will can must would could should has have had did does do to"))
_ARTICLES = frozenset(names("the a an each every his her my their our your this that all"))
_NO_SUBJECTS = frozenset(
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
_WORK_FORMS = _WORK.union(f"{word}s" for word in _WORK)
PLANS = frozenset(
    names(
        "let lets let's consider check verify suppose assume try test look see note recall start begin substitute plug pick choose turn handle "
        "examine review imagine remember revisit compare take back proceed continue use apply move go define denote insert enter write put"
    )
)
"""Words that open a sentence of work still to be done."""
DOUBTS = frozenset(
    names(
        "might may maybe perhaps possibly guess doubt unclear unsure suppose supposing pretend imagine"
    )
)
_LEAVING = frozenset(
    names("leaving giving making yielding totaling totalling getting obtaining equaling remaining")
)
_UNPROVED = frozenset(names("guess bound candidate hypothesis assumption estimate"))
_LISTING = frozenset(names("include includes including try tried use used using shown pick picked"))
_UNTRUE = frozenset(
    names(
        "wrong incorrect false naive naively mistaken mistake error tempting rejected extraneous invalid seems appears sight often usually "
        "typically people many others someone errada errado falsa falsche falscher sbagliata incorrecta"
    )
)
"""Words about results that are not the writer's own."""
_PREMISES = frozenset(
    names(
        "would could start starts started begin begins began originally initially previously yesterday first want wants wanted hope hopes "
        "hoped plan plans planned wish wishes expect expects expected try tries tried say says said claim claims claimed believes thinks"
    )
)
_BOUNDS = frozenset(
    names(
        "if unless whether when whenever either or otherwise else sometimes not never no none nobody nothing neither nor cannot without hardly "
        "barely except but wrong incorrect false rather than least most between about around approximately roughly nearly almost over under "
        "above below as more less fewer extra additional another half twice cent percent"
    )
)
_ASKABLE = frozenset(names("more less fewer extra additional as than"))
_TAIL_ALTERS = frozenset(
    names(
        "power base binary hexadecimal octal decimal root factorial modulo mod logarithm infinity percent hundredths tenths ratio odds one"
    )
)
_STOP = frozenset(
    names(
        "left in of to for on at from after before with by altogether total remaining overall now today that which who together because since "
        "and tall long wide high deep old each during until"
    )
)
_UP = re.compile(r"(?<=\b(?:end|add|sum)s) up\b|(?<=\bended) up\b|(?<=\b(?:end|add)) up\b")
_IN_TIME = frozenset(
    names(
        "way ways order orders manner manners second seconds minute minutes hour hours day days week weeks month months year years"
    )
)
_BREAK = re.compile(r"(?<=[a-z\d$)%}*])[.!?][\"')*]*\s+(?=[A-Z\d\"$(])")
_CONCLUDES = re.compile(
    r"(?:^|[,;:.]\s*|\s[-–—]+\s|\band\s+)(?:so|therefore|thus|hence|consequently|which means|that means|this means)\b(?:\s+that\b)?,?\s*"
    r"|\s*(?:[→⇒⟹]|=+>|-+>)\s*",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\b(it|that|this|there|here|answer|result|total|sum|value|solution)'s\b|\b(they|these|those)'re\b",
    re.IGNORECASE,
)
_SAYS = re.compile(r"^(?:i'd say|i would say|i think|i believe)(?: that)?\s+", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:now|finally|altogether|overall|in total|in all|in the end|at the end|in summary|in conclusion|then|and|ok|okay|well|yes"
    r"|(?:since|because|as|after|before|during|by|at|on|with) [a-z' \d]{2,60}),\s+|(?:now|then|finally|altogether|overall|and)\s+)",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?:\\?\$|€|£)?-?\d[\d,]*(?:\.\d+)?(?:/\d+)?(?:\\?%)?")
_HAS_NUMBER = re.compile(r"[-\\$€£]*\d")
_UNIT = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+|\^\{?[23]\}?|[²³])+")
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_MATHS = re.compile(r"\$(\\?\$?-?[\d,./]+)\$|\\\((-?[\d,./]+)\\\)")


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


def stated(line: str, question: str = "") -> str | None:
    """The number with its noun that the last sentence of `line` states: "7 apples".

    Empty if that sentence has one number and does not state it; None if it is no such sentence.
    """
    line = line.strip("*_` ")
    if " " not in line:
        return None
    asked = words_of(question) if question else frozenset()
    found = _amount(_BREAK.split(line[-4 * _MOST_CHARS :])[-1], question)
    if found is None:
        return None
    before, number, after, asks = found
    if not before:
        return _counted(number, after, asked) if after else number if _WORD.search(line) else None
    if before[-1] == "at" and before[-2:-1] and before[-2].startswith("arriv"):
        before = before[:-1]
    said = {*before, *after}
    premises = {word for word in said & _PREMISES if not any(word[:4] == one[:4] for one in asked)}
    if before[-2:] == ["would", "be"]:
        premises.discard("would")
    if (
        {"he'd", "she'd", "they'd", "it'd", "that'd"} & said
        and not {"would", "had"} & asked
        and "be" not in said
    ):
        return ""
    if asks or said & (DOUBTS | _UNTRUE - asked) or premises or before[0] in PLANS - asked:
        return ""
    if said & (_BOUNDS - (_ASKABLE & asked)) or any(word.endswith("n't") for word in said):
        return None
    if CHANGED.search(_UP.sub("", " ".join(before))):
        return None  # `directions.py` reads these
    if before[-1] == "in" and after and _IN_TIME.intersection(after[:3]) and len(before) > 2:
        # "They can sit in 24 ways", where any verb will do.
        done = not VERBS.union(_MODALS).isdisjoint(before) or before[-2].endswith(("s", "ed"))
        noun = _noun(after, asked)
        return (
            f"{number}{noun}"
            if done and noun is not None and noun != "-" and before[0] not in _NO_SUBJECTS
            else None
        )
    at = len(before) - 1
    while at >= 0 and (before[at] in _ADVERBS or (before[at] in VALUES and "of" in before[at:])):
        at -= 1
    if at < 0:
        if before[-1] not in ("of", "exactly", "only", "just"):
            return None
    else:
        held = _holds(before[: at + 1], asked)
        if not held:
            return "" if held is False else None
    noun = _noun(after, asked)
    return None if noun is None else f"{number}{noun}" if noun != "-" else ""


def mentions(before: list[str], asked: frozenset[str]) -> bool:
    """Whether the words before a number make it a passing mention: a plan, or the number of a case."""
    if not before:
        return False
    if before[0] in PLANS - asked:
        return True
    return _is_label(before[-1], asked)


def leads_to(before: list[str], asked: frozenset[str]) -> bool:
    """Whether words without a verb before a number may name its value: "the total", but not "in chapter"."""
    if mentions(before, asked) or not DOUBTS.isdisjoint(before) or before[0] in ("i", "we", "you"):
        return False
    if before[0] in _NO_SUBJECTS and len(before) > 1 and before[-1] not in ("total", "all", "of"):
        return before[-1] in asked
    if before[0].endswith("ing") and before[0] not in _LEAVING:
        return False
    return _LISTING.isdisjoint(before)


def labels(before: list[str], asked: frozenset[str]) -> bool:
    """Whether the words before "is" or a colon may name a value: "the sum", but not "step" or "one option"."""
    if not DOUBTS.isdisjoint(before) or ("could" in before and "could" not in asked):
        return False
    plans = PLANS - asked
    if any(one == "to" and word in plans for one, word in pairwise(before)):
        return False
    if not (_UNTRUE - asked).isdisjoint(before):
        return False
    before = [word for word in before if word not in _MODALS]
    if not before or before[-1] in asked:
        return True
    return before[-1] not in _UNPROVED and (before[0] == "the" or not _is_label(before[-1], asked))


def claims(before: str, said: str, asked: frozenset[str] = frozenset()) -> bool:
    """Whether what stands before the marked end `said` of a sentence makes that end its claim."""
    lead = _CONCLUDES.split(before)[-1].rstrip(" \"'“")
    words = [word.lower() for word in _WORD.findall(uncontracted(lead))]
    if mentions(words, asked) or not (_UNTRUE - asked).isdisjoint(words):
        return False
    if not (any(map(str.isdigit, said)) or number_of(said)):
        return True
    if not words or lead.endswith((":", "=", ",", "-", "–", "—")) or not before[-1:].isspace():
        return True
    if words[-1] in _BE and not labels(words[:-1], asked):
        return False
    if words[0] in ("i", "we"):
        return bool(_MY_VERBS.intersection(words))
    if not VERBS.isdisjoint(words):
        return True
    if words[0].endswith("ing") and words[0] not in _LEAVING:
        return False
    return len(words) > 1 and words[0] not in _NO_SUBJECTS and words[-1].endswith(("s", "ed", "to"))


@lru_cache(maxsize=256)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def _counted(number: str, after: list[str], asked: frozenset[str]) -> str | None:
    """The number and noun of "45 pages are left to read"; None where the sentence goes on otherwise."""
    verb = next(
        (k for k, word in enumerate(after) if word in _BE or word in ("remain", "remains")), 0
    )
    if not 0 < verb < 5 or after[verb + 1 : verb + 2] not in (
        ["left"],
        ["needed"],
        ["required"],
        ["still"],
        ["remaining"],
    ):
        return None
    if (
        not (_BOUNDS | DOUBTS | _PREMISES | _WORK_FORMS - asked).isdisjoint(after)
        or len(after) > 12
    ):
        return None
    return f"{number} {' '.join(after[:verb])}"


def _amount(sentence: str, question: str) -> tuple[list[str], str, list[str], bool] | None:
    """The words before the only number of a sentence, the number, the words behind it, and whether it asks."""
    if len(sentence) > 2 * _MOST_CHARS:
        return None
    shown = _CONCLUDES.split(uncontracted(sentence))[-1].strip()
    asks = shown.rstrip("*_ ").endswith("?")
    shown = _MATHS.sub(lambda match: match[1] or match[2], shown).replace("*", "").strip(" .!?_`")
    shown = _LEAD.sub("", shown)
    parts = shown.replace(",", " , ") if ", " in shown else shown
    words = parts.split()
    if not 1 <= len(words) <= 30:
        return None
    if "left over" in shown:
        words = [
            word
            for k, word in enumerate(words)
            if k == 0 or word != "over" or words[k - 1] != "left"
        ]
    if words[0].lower() == "at" or (
        "at" in words and re.search(r"\d [A-Za-z]+(?:/| per )|\d mph\b", shown)
    ):
        words = [word for word in words if word != "at"]
    places = [k for k, word in enumerate(words) if _HAS_NUMBER.match(word)]
    if len(places) > 1 and question:
        # The numbers of the question may stand beside that of the answer: "3 dogs have 12 legs".
        given = frozenset(_NUMERAL.findall(question))
        new = [k for k in places if words[k] not in given]
        words = ["those" if k in places and k not in new else word for k, word in enumerate(words)]
        places = new
        if not places:
            return None
    if len(places) > 1:
        return None
    size = 1
    if not places:
        places, size = _spelled_place(words)
        if not places:
            return None
    at = places[0]
    number = " ".join(words[at : at + size])
    before, after = words[:at], words[at + size :]
    if size == 1 and not _NUMERAL.fullmatch(number) and number_of(number) is None:
        return None
    if not all(
        _WORD.fullmatch(word) or (k == len(before) and _UNIT.fullmatch(word))
        for k, word in enumerate((*before, *after))
    ):
        return None
    if any(number_of(word) for word in before if word.lower() != "one"):
        return None
    if not (after and _UNIT.fullmatch(after[0])):
        after = [word.lower() for word in after]
    return [word.lower() for word in before], number, after, asks


def _spelled_place(words: list[str]) -> tuple[list[int], int]:
    """The place and length of the only number in words; none if there are several."""
    found: list[tuple[int, int]] = []
    k = 0
    while k < len(words):
        size = max(
            (
                n
                for n in range(1, 5)
                if number_of(" ".join(words[k : k + n])) and k + n <= len(words)
            ),
            default=0,
        )
        if size:
            found.append((k, size))
        k += size or 1
    return ([found[0][0]], found[0][1]) if len(found) == 1 else ([], 0)


def _holds(before: list[str], asked: frozenset[str]) -> bool | None:
    """Whether the words up to a verb make a statement; False for a mention, None if that cannot be told."""
    verb, subject = before[-1], before[:-1]
    if _is_label(verb, asked) or verb in _LISTING:
        return False
    while subject and subject[-1] in _MODALS:
        subject = subject[:-1]
    if verb in _BE and not labels(subject, asked):
        return False
    if not subject:
        return (
            True
            if verb in ("equals", "is", "are", "be", "gives", "makes", "leaves", "yields", "equal")
            else None
        )
    if subject[0] in _NO_SUBJECTS:
        return False
    if subject[0] in ("i", "we"):
        return verb in _MY_VERBS or verb in asked
    if verb in VERBS:
        return None if subject[-1] in ("the", "a", "an") else subject[0] not in PLANS
    if subject[0] not in _ARTICLES:
        is_verb = len(subject) == 1 and (verb.endswith(("s", "ed")) or subject[0] == "they")
    elif 1 < len(subject) <= 3:
        is_verb = verb.endswith(("s", "ed")) or subject[-1].endswith("s")  # the hens lay
    else:
        is_verb = False
    return True if is_verb and _singular(verb) not in LABELS else None


def _noun(after: list[str], asked: frozenset[str]) -> str | None:
    """The counted noun behind a number, "" without one; "-" for the work of the reply itself, None where
    the words behind it change the number."""
    at = next((k for k, word in enumerate(after) if word in _STOP), len(after))
    noun, tail = after[:at], after[at:]
    if len(noun) > 5 or len(tail) > 10:
        return None
    if (
        _TAIL_ALTERS.intersection(tail)
        or any(number_of(word) for word in tail)
        or tail[:2] == ["to", "the"]
    ):
        return None
    if counts_work(" ".join(noun), asked):
        return "-"
    return f" {' '.join(noun)}" if noun else ""


def counts_work(noun: str, asked: frozenset[str]) -> bool:
    """Whether a noun behind a number names what the reply itself is made of: "4 cases", "4 digits"."""
    return any(
        _singular(word) in _WORK and not {word, _singular(word)} & asked for word in noun.split()
    )


def _is_label(word: str, asked: frozenset[str]) -> bool:
    return _singular(word) in LABELS and not {word, _singular(word)} & asked


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
