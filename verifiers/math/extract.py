"""Finds what a reply commits to as its final answer.

In order of weight: boxes and answer tags; "the answer is", "Answer:", "####"; the last line. The last
commitment counts. An earlier, different one of the same weight is dropped where the reply corrects
itself between the two, or works on at length; otherwise both stand, and both must be right, so that
a list of candidates is no answer. A remark after a box that takes it back replaces it.

Covered: reasoning in <think>, boxes side by side (one list), hedges (`hedges.py`), retractions, sentences
that state a number (`statements.py`), lists of values (`bullets.py`), unclosed tags; French, German, Spanish
and Chinese (`languages.py`), labels of other languages (`answer_labels.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verigym.reply import spoken, takes_back
from verigym.verifiers.math.bullets import ends_elsewhere, last_items, without_mark
from verigym.verifiers.math.choice import options_of
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.commitments import Commitment, phrases, sentence, strong
from verigym.verifiers.math.dates import date_of
from verigym.verifiers.math.endings import derived_value, marked_ending, without_rest
from verigym.verifiers.math.hedges import SPELLED, names_another, without_warnings
from verigym.verifiers.math.languages import has_decimal_commas, to_english, with_points
from verigym.verifiers.math.marks import unmarked, value_of_line
from verigym.verifiers.math.mentions import uncontracted
from verigym.verifiers.math.other_quantity import names_other_quantity
from verigym.verifiers.math.parts import asked_part, sections
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.phrasings import of_a_share, with_fractions, with_percents
from verigym.verifiers.math.rivals import of_asked
from verigym.verifiers.math.shapes import joined_rows, value_of_object
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.statements import differs, stated
from verigym.verifiers.math.targets import value_of_target
from verigym.verifiers.math.workings import result_of

OTHER = "the reply names another quantity than the one that is asked for"
_UNSTATED = "the reply states no final answer"
UNREAD = (_UNSTATED,)
"""Reasons for no answer after which the last sentence is read once more, clause by clause."""
_LONG_WORK = 300
_LATER = lazy_pattern(
    r"(?:\b(?:it|this|that|which|x|value)\s+(?:is|should be|must be|equals)|\bit's|\bI meant|\bshould (?:instead )?be|\bcorrect(?:ed)? (?:answer|value|one)?\s*(?:is|:)|=)\s*",
    re.IGNORECASE,
)
_CORRECTS = lazy_pattern(
    r"\b(?:wait|actually|correction|sorry|mistake|wrong|incorrect|not right|instead|scratch that|on second thou?ght|"
    r"i mean|i meant|make that|rather|no(?=[,!.:])|hmm|let me re|re-?check|re-?consider|re-?vis|error|oops|hold on|corrected)\b",
    re.IGNORECASE,
)
_CONCLUDES = lazy_pattern(
    r"\b(?:final(?:ly)?|therefore|thus|hence|so|in conclusion|conclude|overall|to summari[sz]e|answer|total)\b",
    re.IGNORECASE,
)
_UNDONE = lazy_pattern(
    r"[\s.,;?!*$}]{0,8}(?:yes|no|true|false|(?:or|and) not)\b\W*$",
    re.IGNORECASE,
    needs="false|no|true|yes",
)
_NEGATED = lazy_pattern(
    rf"^\W{{0,8}}(?:is|was|are)?\s*(?:not\b(?!\W{{0,6}}(?:\\boxed|\\fbox|-?\d|{SPELLED}\b))|wrong|incorrect|false\b)",
    re.IGNORECASE,
    needs="false|incorrect|not|wrong",
)
_BEFORE_NEGATED = lazy_pattern(
    r"\b(?:not|isn't|cannot be|can't be|wrong answer is|never)\s*(?:equal(?: to)?\s*)?\W{0,4}$"
    r"|\b(?:not (?:true|correct|clear|certain|sure|the case)|false|doubt|unlikely|unclear|whether)\s+(?:that\s+|if\s+)?$",
    re.IGNORECASE,
    needs="can't be|doubt|false|isn't|never|not|unclear|unlikely|whether|wrong answer is",
)
_MAYBE = lazy_pattern(
    r"\b(?:not sure|no idea|don't know|cannot (?:be )?determine|unknown|can't tell|unsure)\b",
    re.IGNORECASE,
    needs="can't tell|cannot |don't know|no idea|not sure|unknown|unsure",
)
_MATHS = lazy_pattern(
    r"\$\$(.+?)\$\$|\$([^$]+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL, needs="$|\\(|\\["
)
_DENIES = lazy_pattern(
    r"\b(?:not|never|cannot|neither|nor|wrong|incorrect|(?:less|greater|more|fewer|smaller|larger|bigger) than|at (?:least|most)|between|exceeds?"
    r"|instead of|unless|maybe|perhaps|possibly|might|may|could|should|ought|had better)\b|n't\b",
    re.IGNORECASE,
    needs=" than|between|could|exceed|had better|incorrect|instead of|least|may|might|most|n't|neither|never|nor|not|ought|perhaps|possibly|should|unless|wrong",
)
_AMOUNT = r"(?:\\?\$|€|£)? ?-?\d[\d.,]*(?<=\d)(?:/\d+)?(?: ?\\?%)?"
_EITHER = lazy_pattern(
    rf"\beither (?:[a-z]+ ){{0,3}}?[*$(]{{0,3}}(?P<one>{_AMOUNT})\*{{0,2}}\$?(?: [a-z]{{1,14}}){{0,3}},? or (?:[a-z]+ ){{0,3}}?[*$(]{{0,3}}(?P<other>{_AMOUNT})",
    re.IGNORECASE,
    needs="either ",
)
_RULES_OUT = lazy_pattern(
    r"\b(?:so|therefore|thus|hence|but|only|must|since|because)\b|[→⇒]", re.IGNORECASE
)
_ADVERB = lazy_pattern(
    r"(?:exactly|precisely|only|just|a total of|in total|therefore|thus|then)\s+", re.IGNORECASE
)
_VERB = lazy_pattern(
    r"\b(?:is|are|(?<!or )equals?|get|gives?|have|obtain|be|was|=|:)\s+(?!not\b)", re.IGNORECASE
)
_PLACEHOLDER = lazy_pattern(
    r"\W*|.*\b(?:your|my|the|final|answer|here|value|number)\b\D*|[XYN]", re.IGNORECASE
)
_BREAK = lazy_pattern(r"[.!](?<=[a-z\d$)][.!])\s+(?=[A-Z\d$])")
_CONDITION = lazy_pattern(
    r"\b(?:when|at|iff|if|where|equality|check|since|because)[ $(\\]*$", re.IGNORECASE
)
_BOUND = lazy_pattern(r">\s?-?[\d.,/]+", needs=">")
_ASKS_EXTREME = lazy_pattern(
    r"\b(?:minimum|maximum|minimal|maximal|least|greatest|smallest|largest|inequality|for which|range of|lowest|highest)\b",
    re.IGNORECASE,
)
_PAIR = lazy_pattern(
    r"(?:it|that|this|the ratio) (?:is|makes|gives) (\d+(?: to \d+){1,3})\.?",
    re.IGNORECASE,
    needs=" to ",
)
_SUM = lazy_pattern(
    r"(?:[-\d\s+*/×·÷().,^!]{3,80}|\d+!) (?:is|makes|gives|equals|yields|comes to|totals) (-?\d[\d.,/]*)\.?"
    r"|\d[\d.,]{0,12}(?: [a-z]{2,20})?(?: [-+*/×·÷x] \d[\d.,]{0,12}(?: [a-z]{2,20})?){1,5} = (-?\d[\d.,]{0,12} [a-z]{2,20})\.?"
)
_TEXT = lazy_pattern(r"\\(?:text|mbox|textbf|mathrm)\{([^{}]*)\}", needs="mathrm|mbox|text")
_ANSWER = lazy_pattern(r"A\s*:\s*(?=\S)", needs=":")
_SO = lazy_pattern(r"^(?:so|then|hence|thus|therefore),? (?=\$?[a-z] ?=)", re.IGNORECASE, needs="=")
_SPACING = lazy_pattern(
    r"\\(?:q?quad|text(?:bf|rm)?|mbox|mathrm|[,;:! \[\]()&])|[${}&*]", needs="$|&|*|\\|{|}"
)
_NAME = lazy_pattern(r"(?<![\w\\])[A-Za-z](?:_\{?\w\}?)?\s*=", needs="=")
_NAMED = lazy_pattern(r"(?<![\w\\])([A-Za-z](?:_\{?\w\}?)?)\s*=\s*\$?\s*$", needs="=")
_JOINT = lazy_pattern(r"[\s,;.:()]*(?:and|or|as well as|und|oder|et|ou|y|o|[和或与及])?[\s,;.:()]*")


@dataclass(frozen=True, slots=True)
class Found:
    """The answer that a reply commits to. `answer` is empty if there is none, and `why` then gives the reason;
    `also` holds other commitments that nothing took back."""

    answer: str
    also: tuple[str, ...] = ()
    why: str = ""
    line: str = ""
    """The last line of a reply without a commitment, from which `answer` is read."""
    text: str = ""
    """All of such a reply, without its thoughts and with fixed phrases in English."""


_GENERAL = lazy_pattern(r"\b(?:general|homogeneous|complementary|particular)\b", re.IGNORECASE)
_ASKS_VERDICT = lazy_pattern(
    r"(?:^|[.!?]\s|\n)\W*(?:is|are|was|were|does|do|did|can|could|will|has|have|must|should)\b[^.!?]{1,600}\?|\btrue or false\b|\byes or no\b|\bwhether\b",
    re.IGNORECASE,
)
_VERDICT = lazy_pattern(
    r"\W*(?:(?:so|thus|therefore|hence)\b,? )?(?:the (?:statement|claim|assertion) is )?(?:yes|no|true|false)\b(?=[.,:;!* ]|$)",
    re.IGNORECASE,
)


_STATEMENT = lazy_pattern(
    r"^\W*(?:(?:so|thus|therefore|hence)\b,? )?the (?:statement|claim|assertion) is ",
    re.IGNORECASE,
    needs="assertion|claim|statement",
)


def extract(reply: str, how: str = "auto", question: str = "", *, commas: bool = False) -> Found:
    """The final answer in a reply. `how`: auto, boxed, tag or bare (the whole reply is the answer).

    `commas`: the reference is a decimal with a comma, so that every 2,5 in the reply is one.

    A `question` that asks for one part, "(b)", makes the answers to its other parts count for nothing.
    """
    text = reply.strip()
    if how == "bare":
        text = with_points(text, sure=True) if commas else text
        return Found(unmarked(text), (), "" if text else "the reply is empty")
    if not text:
        return Found("", (), "the reply is empty")
    text = spoken(text).strip()
    if not text:
        return Found("", (), "the reply holds thoughts alone")
    text = value_of_object(text, question) or joined_rows(text)
    text = with_percents(with_fractions(without_rest(text)))
    text = to_english(with_points(text, sure=True) if commas else text, question)
    if question and "," in text and has_decimal_commas(question):
        text = with_points(text)
    part = asked_part(question) if question else None
    stretches = (sections(text, part) or []) if part else []
    for section in reversed(stretches):
        found = _committed(section, how, question)
        if found is not None:
            return found
    found = _committed(text, how, question)
    if found is not None:
        return found
    if how != "auto":
        return Found("", (), f"no {how} in the reply")
    if stretches and stretches[-1].strip(" :.-*\n"):
        return _last_line(stretches[-1].strip(" :*\n"), question)
    verdict = _verdict(text) if question and _asks_verdict(question) else ""
    if verdict:
        return Found(verdict)
    found = _last_line(text, question)
    if " " not in text:
        return found
    return Found(found.answer, found.also, found.why, text.rpartition("\n")[2], text)


@lru_cache(maxsize=512)
def _asks_verdict(question: str) -> bool:
    """Return True if a question is answered by yes or no."""
    return _ASKS_VERDICT.search(question[-2000:]) is not None


def _verdict(text: str) -> str:
    """The last paragraph, or a short reply, that starts with yes or no; empty if there is none."""
    paragraphs = re.split(r"\n\s*\n", text[-4000:])
    for said in (paragraphs[-1], text):
        if len(said) <= 600 and _VERDICT.match(said):
            return _STATEMENT.sub("", said)
    return ""


def _committed(text: str, how: str, question: str) -> Found | None:
    """Return the answer in boxes, tags or phrases; None if there are none."""
    firm = strong(text, how)
    if firm:
        return _settle(text, firm, question, boxes=True)
    said = phrases(text, 0) if how == "auto" else None
    if said and question and not _GENERAL.search(question):
        said = [
            one
            for one in said
            if not (
                _GENERAL.search(text[one.start : one.end - len(one.text)])
                and "=" in text[one.end :]
            )
        ]
    return _settle(text, said, question, boxes=False) if said else None


def _settle(text: str, found: list[Commitment], question: str, *, boxes: bool) -> Found:
    """The last commitment, with those before and after it that still stand."""
    shown = [one for one in found if one.shown and not _PLACEHOLDER.fullmatch(one.text[:60])]
    found = [
        one
        for one in found
        if not one.shown and not _BEFORE_NEGATED.search(text[max(0, one.start - 40) : one.start])
    ]
    if not found:
        return Found("", (), "the reply takes its answer back")
    last = found[-1]
    tail = without_warnings(text[last.end :], last.text)
    joined = _joined(text, found) if boxes else []
    if len(joined) > 1:
        return Found(", ".join(joined))
    if not unmarked(last.text):
        return Found("", (), "the final answer is empty")
    if not boxes and (derived := derived_value(tail, question)):
        return Found(derived)
    after = _after(last, tail)
    if after is not None:
        return after
    also: list[str] = []
    distinct = {_key(one.text) for one in found}
    for k, one in enumerate(found[:-1]):
        following = found[k + 1]
        between = text[one.end : last.start]
        near = text[one.end : following.start]
        taken_back = _NEGATED.match(near) or _CORRECTS.search(text[one.start : last.start])
        moved_on = len(between) > _LONG_WORK or _CONCLUDES.search(
            text[max(one.end, last.start - 60) : last.end]
        )
        if len(distinct) > 3 and len(between) < _LONG_WORK and not taken_back:
            moved_on = None
        if re.search(
            r"\b(?:or|alternatively|maybe|perhaps|possibly|candidate|either)\b",
            near[:80],
            re.IGNORECASE,
        ):
            moved_on = None
        if not taken_back and not moved_on and _key(one.text) != _key(last.text) and one.text:
            also.append(one.text)
    later = [
        one.text
        for one in phrases(tail, 0)
        if (re.search(r"\d", one.text) or number_of(one.text))
        and len(one.text) < 60
        and "\\boxed" not in one.text
    ]
    later += [one.text for one in shown if one.start > last.end]
    also += [one for one in later if _key(one) != _key(last.text)]
    return Found(_said(last.text, question), tuple(dict.fromkeys(also))[:4])


def _said(text: str, question: str) -> str:
    """A commitment without its marks, or the number that it states in a sentence."""
    text = uncontracted(unmarked(re.sub(r"^\s*1[.)] +(?=[^\n]+$)", "", text)))
    whole = _TEXT.fullmatch(text)
    shown = whole[1] if whole else text
    if question and of_asked(shown, question) != shown:
        return text  # it names a quantity, asked for or not
    return stated(shown, question) or text


def _key(text: str) -> str:
    return re.sub(r"[\s${}]|\\text|\\left|\\right", "", text).rstrip(".")


def _joined(text: str, found: list[Commitment]) -> list[str]:
    """The texts of the last commitments if they stand side by side, as one list; with their names
    where each has another ("x = [2], y = [6]")."""
    run = [found[-1]]
    names = [_NAMED.search(text[max(0, found[-1].start - 20) : found[-1].start])]
    for one in reversed(found[:-1]):
        between = text[one.end : run[0].start]
        if len(between) > 60 or not _JOINT.fullmatch(_SPACING.sub(" ", _NAME.sub(" ", between))):
            break
        run.insert(0, one)
        names.insert(0, _NAMED.search(text[max(0, one.start - 20) : one.start]))
    distinct = list(dict.fromkeys(one.text for one in run))
    if len(distinct) < 2:
        return []
    letters = [name[1] for name in names if name is not None]
    if len(set(letters)) == len(run) and not any(
        "=" in one.text or "_" in name for one, name in zip(run, letters, strict=True)
    ):
        return [f"{name}={one.text}" for name, one in zip(letters, run, strict=True)]
    return distinct


def _after(last: Commitment, tail: str) -> Found | None:
    """Return the answer as changed by a remark after the last commitment; None if no remark changes it."""
    if names_another(last.text, tail) or _UNDONE.match(tail):
        return Found("", (), "the reply names more than one answer and commits to none")
    corrects = _CORRECTS.search(tail)
    taken_back = takes_back(tail)
    if not (_NEGATED.match(tail) or corrects or taken_back):
        return None
    if (
        not (_NEGATED.match(tail) or taken_back)
        and re.search(r"\b(?:check|verif|match|confirm|indeed|correct\b)", tail, re.IGNORECASE)
        and not re.search(
            r"\b(?:wrong|mistake|incorrect|should be|scratch|sorry|oops|meant)\b",
            tail,
            re.IGNORECASE,
        )
    ):
        return None
    later = phrases(tail, 0)
    if later:
        return Found(later[-1].text)
    matches = list(_LATER.finditer(tail, corrects.start() if corrects else 0))
    for match in reversed(matches):
        body = sentence(tail[match.end() : match.end() + 300])
        if (
            (re.search(r"\d|\\|\b[a-z]\b|^\(?[A-J]\)?$", body) or number_of(body))
            and len(body) < 80
            and not re.match(r"(?:wrong|incorrect|not)\b", body)
        ):
            return Found(body)
    number = re.search(
        r"(?:instead|rather|correction|actually|sorry|no|i meant?|make that)[,:]?\s*(?:it's |it is )?\$?(-?\d[\d./]*|\(?[A-J]\)?(?=\W*$)|[a-z]+(?:-[a-z]+)?(?=\W*$))",
        tail,
        re.IGNORECASE,
    )
    if number and (not number[1].isalpha() or len(number[1]) == 1 or number_of(number[1])):
        return Found(number[1].rstrip("."))
    if (
        taken_back
        or _NEGATED.match(tail)
        or re.search(r"\b(?:wrong|incorrect|mistake|scratch that)\b", tail[:120], re.IGNORECASE)
    ):
        return Found("", (), "the reply takes its answer back")
    return None


def _last_line(text: str, question: str) -> Found:
    """The last line, or what its last sentence says a value is. A short reply is all answer."""
    if (
        len(text) <= 1500
        and ("\\begin{" in text or text.startswith(("$$", "\\[")))
        and not re.search(r"[a-z]{4,} [a-z]{2,} [a-z]{2,}", text)
    ):
        return Found(text)
    lines = [
        line.strip()
        for line in text.split("\n")
        if line.strip(" *`~$-_>") and not line.startswith("```")
    ]
    if not lines:
        return Found("", (), "the reply holds no answer")
    if (listed := last_items(lines)) is not None:
        return Found(listed)
    if question and len(lines) > 1 and ends_elsewhere(lines, question):
        return Found("", (), OTHER)
    lines[-1] = without_mark(lines[-1])
    lines[-1] = _without_letter(lines, question)
    worked = lines[-1].strip("*` ")
    if worked.count("=") > 1:
        cleaned = clean(worked)
        if (result := result_of(cleaned)) != cleaned:
            named = re.split(r"[,;→]", _BREAK.split(worked)[-1])[-1].partition("=")[0].strip()
            if question and _is_other(f"{named} = {result}", question):
                return Found("", (), OTHER)
            return Found(result)
    if question:
        last = _SO.sub("", _BREAK.split(worked)[-1])
        told = of_asked(last, question)
        if told is None:
            return Found("", (), OTHER)
        if told != last:
            return Found(told)
        if len(lines) == 1 and _BOUND.fullmatch(text) and _ASKS_EXTREME.search(question):
            return Found(text)
    value = (
        value_of_target(lines[-1], question)
        or of_a_share(unmarked(lines[-1]))
        or _either(lines[-1])
    )
    if value is not None:
        return Found(value)
    if any(differs(line, lines[-1], question) for line in lines[-4:-1]):
        return Found("", (), "the reply says the same of different numbers")
    ending = marked_ending(lines[-1], question)
    if ending:
        ending = unmarked(ending)
        return Found((" " in ending and stated(ending, question)) or ending)
    line = uncontracted(unmarked(value_of_line(unmarked(lines[-1]))))
    if date_of(line) is not None:
        return Found(line)
    pair = _PAIR.fullmatch(line)
    if pair:
        return Found(pair[1])
    said = stated(line, question)
    if said is not None:
        return Found(said, (), "" if said else _UNSTATED)
    if len(lines) == 1 and len(line) <= 120 and not re.search(r"(?<=[a-z])\. [A-Z]", line):
        return Found(unmarked(_clause(line)))
    if len(line) > 2000:
        line = line[-2000:]
    if _MAYBE.search(line):
        return Found("", (), "the reply commits to no answer")
    return Found(unmarked(_clause(line)))


def _is_other(claim: str, question: str) -> bool:
    return of_asked(claim, question) is None or names_other_quantity(claim, question)


def _either(line: str) -> str | None:
    """Both numbers of "it costs either $8 or $6 ..."; None if the line has no such pair."""
    match = _EITHER.search(line[-_LONG_WORK:])
    if match is None or match["one"] == match["other"] or _RULES_OUT.search(line):
        return None
    return f"{match['one']} or {match['other']}"


def _without_letter(lines: list[str], question: str) -> str:
    """The last line without the "A:" that answers a "Q:", or a question without options."""
    line = lines[-1]
    match = _ANSWER.match(line)
    if match is None:
        return line
    asked = len(lines) > 1 and lines[-2].startswith("Q")
    return line[match.end() :] if asked or (question and not options_of(question)) else line


def _clause(line: str) -> str:
    """The value that the last clause of a sentence gives something; the line itself if it gives none."""
    sum_of = _SUM.fullmatch(line) if len(line) < 160 else None
    if sum_of:
        return sum_of[1] or sum_of[2]
    line = re.split(r"(?<=[a-z\d$)])\. (?=[A-Z])", line.strip("* `"))[-1]
    prose = _MATHS.sub(" ", line)
    shown = [next(filter(None, match.groups())) for match in _MATHS.finditer(line)]
    if (
        len(shown) == 1
        and re.search("[A-Za-z]{2}", prose)
        and "=" in shown[0]
        and not _DENIES.search(prose)
        and not _CONDITION.search(line[: line.find(shown[0])])
    ):
        return str(shown[0])
    if len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\\[A-Za-z]+", "", prose))) < 4:
        return line
    if _DENIES.search(prose):
        return line
    verbs = list(_VERB.finditer(line))
    body = _ADVERB.sub("", line[verbs[-1].end() :].strip()) if verbs else ""
    if len(shown) == 1 and not (re.search(r"\d", body) and "$" not in body and "\\" not in body):
        return str(shown[0])
    if len(shown) > 1 and all("=" in one for one in shown):
        return ", ".join(map(str, shown))
    if re.search(r"\d|\\|\$", body):
        return body
    return _counted(body) or line


def _counted(body: str) -> str:
    """The number in words that `body` starts with: "twelve of them"."""
    words = body.rstrip(".!").split()[:8]
    for k in range(len(words), 0, -1):
        if number_of(" ".join(words[:k])) is not None:
            return (
                ""
                if words[k : k + 1] and words[k] in ("or", "to", "and", "point")
                else " ".join(words[:k])
            )
    return ""
