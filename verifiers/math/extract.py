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
from functools import lru_cache

from verigym.reply import spoken
from verigym.verifiers.math.commitments import phrases, strong
from verigym.verifiers.math.endings import without_rest
from verigym.verifiers.math.final_commitment import settle
from verigym.verifiers.math.found import Found
from verigym.verifiers.math.languages import has_decimal_commas, to_english, with_points
from verigym.verifiers.math.last_line import UNSTATED, last_line
from verigym.verifiers.math.marks import unmarked
from verigym.verifiers.math.parts import asked_part, sections
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.phrasings import with_fractions, with_percents
from verigym.verifiers.math.ruled_out_first import without_ruled_out
from verigym.verifiers.math.shapes import joined_rows, value_of_object

UNREAD = (UNSTATED,)
"""Reasons for no answer after which the last sentence is read once more, clause by clause."""


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
    text = without_ruled_out(value_of_object(text, question) or joined_rows(text))
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
        return last_line(stretches[-1].strip(" :*\n"), question)
    verdict = _verdict(text) if question and _asks_verdict(question) else ""
    if verdict:
        return Found(verdict)
    found = last_line(text, question)
    if " " not in text:
        return found
    return Found(found.answer, found.also, found.why, text.rpartition("\n")[2], text)


@lru_cache(maxsize=4096)
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
        return settle(text, firm, question, boxes=True)
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
    return settle(text, said, question, boxes=False) if said else None
