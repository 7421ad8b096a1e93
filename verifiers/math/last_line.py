"""Reads the answer from the last line of a reply without a commitment: the value that its last sentence gives."""

from __future__ import annotations

import re

from verigym.verifiers.math.bullets import ends_elsewhere, last_items, without_mark
from verigym.verifiers.math.choice import options_of
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.dates import date_of
from verigym.verifiers.math.endings import marked_ending
from verigym.verifiers.math.found import OTHER, Found
from verigym.verifiers.math.marks import unmarked, value_of_line
from verigym.verifiers.math.mentions import uncontracted
from verigym.verifiers.math.other_quantity import names_other_quantity
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.phrasings import of_a_share
from verigym.verifiers.math.rivals import of_asked
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.statements import differs, stated
from verigym.verifiers.math.targets import value_of_target
from verigym.verifiers.math.worded_cases import in_cases
from verigym.verifiers.math.workings import result_of

_END_CHARS = 300
UNSTATED = "the reply states no final answer"
_MAYBE = lazy_pattern(
    r"\b(?:not sure|no idea|don't know|cannot (?:be )?determine|unknown|can't tell|unsure)\b",
    re.IGNORECASE,
    needs="can't tell|cannot |don't know|no idea|not sure|unknown|unsure",
)
_MAYBE_ABROAD = lazy_pattern(
    r"^\W*(?:vielleicht|misschien|peut-être|quizás?|acaso|forse|talvez|kanske|(?:wenn|falls) die antwort|als het antwoord|om svaret|(?:es|il) is not true)\b",
    re.IGNORECASE,
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
_BREAK = lazy_pattern(r"[.!](?<=[a-z\d$)][.!])\s+(?=[A-Z\d$])")
_CONDITION = lazy_pattern(
    r"\b(?:when|at|iff|if|where|equality|check|since|because)[ $(\\]*$", re.IGNORECASE
)
_BOUND = lazy_pattern(r">\s?-?[\d.,/]+", needs=">")
_ASKS_EXTREME = lazy_pattern(
    r"\b(?:minimum|maximum|minimal|maximal|least|greatest|smallest|largest|inequality|for which|range of|lowest|highest)\b",
    re.IGNORECASE,
)
_NEXT = lazy_pattern(r"(?<=[a-z])\. [A-Z]")
_END_OF_SENTENCE = lazy_pattern(r"(?<=[a-z\d$)])\. (?=[A-Z])")
_WORDS = lazy_pattern(r"[A-Za-z]{2,}")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+", needs="\\")
_PAIR = lazy_pattern(
    r"(?:it|that|this|the ratio) (?:is|makes|gives) (\d+(?: to \d+){1,3})\.?",
    re.IGNORECASE,
    needs=" to ",
)
_SUM = lazy_pattern(
    r"(?:[-\d\s+*/×·÷().,^!]{3,80}|\d+!) (?:is|makes|gives|equals|yields|comes to|totals) (-?\d[\d.,/]*)\.?"
    r"|\d[\d.,]{0,12}(?: [a-z]{2,20})?(?: [-+*/×·÷x] \d[\d.,]{0,12}(?: [a-z]{2,20})?){1,5} = (-?\d[\d.,]{0,12} [a-z]{2,20})\.?"
)
_ANSWER = lazy_pattern(r"A\s*:\s*(?=\S)", needs=":")
_SO = lazy_pattern(r"^(?:so|then|hence|thus|therefore),? (?=\$?[a-z] ?=)", re.IGNORECASE, needs="=")


def last_line(text: str, question: str) -> Found:
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
        return Found(said, (), "" if said else UNSTATED)
    if len(lines) == 1 and len(line) <= 120 and not (". " in line and _NEXT.search(line)):
        if _MAYBE_ABROAD.search(line):
            return Found("", (), "the reply commits to no answer")
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
    match = _EITHER.search(line[-_END_CHARS:])
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
    if " " in line and in_cases(line) is not None:
        return line
    sum_of = _SUM.fullmatch(line) if len(line) < 160 else None
    if sum_of:
        return sum_of[1] or sum_of[2]
    line = line.strip("* `")
    line = _END_OF_SENTENCE.split(line)[-1] if ". " in line else line
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
    if len(_WORDS.findall(_COMMAND.sub("", prose))) < 4:
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
