"""Judges the final answer of a reply against a reference: mathematics of any common form.

Extraction finds the answer (`extract.py`), a parser of our own reads it (`clean.py`, `parser.py`), and
a ladder from cheap to dear compares it (`rungs.py`, `compare.py`). Nothing that was written is evaluated by Python,
and every step is bounded in characters, tokens, depth, digits and terms before it is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import last_answer, spoken
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.math import remembered
from verigym.verifiers.math.asides import without_asides
from verigym.verifiers.math.assignments import assigned
from verigym.verifiers.math.claimed_value import claimed_value, weighed_values
from verigym.verifiers.math.claimed_word import claimed_word
from verigym.verifiers.math.claiming_sentences import claiming_sentence, may_claim
from verigym.verifiers.math.classified import classified
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.closed_sets import word_in_last_sentence
from verigym.verifiers.math.closing_value import closing_value
from verigym.verifiers.math.compact import compact
from verigym.verifiers.math.conclusions import conclusions, last_sentence
from verigym.verifiers.math.context import Context, context_of
from verigym.verifiers.math.extract import UNREAD, extract
from verigym.verifiers.math.faults import FAULTS, RESTATED, WRONG_FORM
from verigym.verifiers.math.forms import Form
from verigym.verifiers.math.found import OTHER, Found
from verigym.verifiers.math.instructions import (
    as_power_of_ten,
    asks_factors,
    asks_lowest,
    disobeys,
)
from verigym.verifiers.math.languages import reads_decimal_comma, with_points
from verigym.verifiers.math.last_steps import last_step
from verigym.verifiers.math.last_words import last_words
from verigym.verifiers.math.misfits import has_other_unit, is_share
from verigym.verifiers.math.openings import opening_value
from verigym.verifiers.math.other_quantity import gives_to_other, may_be_other
from verigym.verifiers.math.parts_by_name import parts_by_name
from verigym.verifiers.math.propositions import same_proposition
from verigym.verifiers.math.question_wordings import (
    is_money_for_count,
    is_unfitting,
    values_as_asked,
)
from verigym.verifiers.math.references import (
    cleaned_gold,
    cleaned_golds,
    form_of,
    with_answer,
    written_reference,
)
from verigym.verifiers.math.ruled_out_first import without_ruled_out
from verigym.verifiers.math.rungs import rung_of
from verigym.verifiers.math.several_parts import (
    Parts,
    in_order,
    parts_of,
    sides_in,
    sides_of,
    stretches,
)
from verigym.verifiers.math.tallies import same_counts
from verigym.verifiers.math.tongues import is_denied_abroad
from verigym.verifiers.math.trees import MAX_ANSWER_CHARS, MAX_REPLY_CHARS
from verigym.verifiers.math.verdicts_abroad import verdict_abroad
from verigym.verifiers.math.words import kind_of
from verigym.verifiers.math.zero_counts import says_none

_FAULTS = {
    WRONG_FORM: ("wrong_form", "the value is right, but not written in the form that is required"),
    RESTATED: (
        "restated",
        "the answer repeats an expression of the question in place of its value",
    ),
}


class AnswerParams(Struct, frozen=True):
    """Parameters of `AnswerVerifier`."""

    extract: Annotated[
        Literal["auto", "boxed", "tag", "bare"],
        Meta(description="Where the answer stands: auto, boxed, tag or bare."),
    ] = "auto"
    units: Annotated[
        Literal["optional", "required"], Meta(description="Whether a unit is optional or required.")
    ] = "optional"
    tolerance: Annotated[float, Meta(ge=0, lt=1, description="Relative difference allowed.")] = 0.0
    digits: Annotated[
        int, Meta(ge=0, le=15, description="Significant digits that must agree; 0: exact.")
    ] = 0
    form: Annotated[
        Form,
        Meta(
            description="Form of the answer: any, evaluated, reduced, simplified, factored or expanded."
        ),
    ] = "any"


class AnswerVerifier(Verifier[AnswerParams]):
    """Score 1 for an answer that says what the reference says, else 0.

    Judged with reason `correct` or `wrong_answer`, or, where only the value is right, `wrong_form` (not
    the form that is required) or `restated` (an expression of the question); unusable with `no_answer`, `several_answers`,
    `too_long` or `not_text`. The reference is `{"answer": text}` or `{"answers": [text, ...]}` (any of
    them is right), with the `question` where the form of the answer hangs on it (options, units,
    percent, base, rounding), and perhaps the `form`, which goes before the parameter. `{"reply": text}` in
    place of the answer is another reply, whose answer is taken for right; `group/majority` asks so.
    """

    id: ClassVar[str] = "math/answer"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "A mathematical answer, bare or at the end of a reply, must be equivalent to the reference. "
        "extract: auto, boxed, tag or bare; units: optional or required; tolerance: relative; digits: "
        "significant digits that must agree (0: exact); form: any, evaluated, reduced, simplified, factored "
        "or expanded, as far as the reference is."
    )
    evidence: ClassVar[str] = (
        "The final answer that the reply commits itself to; the work before it counts for nothing."
    )

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge the final answer of a reply against the reference of `task`."""
        reference = task.reference
        if not isinstance(reference, dict) or "reply" not in reference:
            return self._compare(task, submission)
        form_of(task)
        # The task's author is to blame for all but the reply.
        _, question = written_reference(with_answer(task, "1"))
        found = self._stated(question, reference["reply"])
        if isinstance(found, Verdict):
            return found
        try:
            return self._compare(with_answer(task, found), submission)
        except TaskError as error:
            return unusable("no_answer", f"the reply in the reference gives no answer: {error}")

    def _stated(self, question: str, reply: JSON) -> str | Verdict:
        """Return the answer of the reply that takes the place of a reference answer."""
        if not isinstance(reply, str) or len(reply) > MAX_REPLY_CHARS:
            return unusable(
                "no_answer", "the reply in the reference is not a text that can be read"
            )
        found = extract(reply, self.settings.extract, question, commas=False)
        if found.answer and reads_decimal_comma(found.answer, question):
            found = extract(reply, self.settings.extract, question, commas=True)
        if not found.answer or found.also:
            return unusable("no_answer", "the reply in the reference gives no answer, or several")
        return found.answer

    def _compare(self, task: Task, submission: JSON) -> Verdict:
        written, question = written_reference(task)
        golds = cleaned_golds(written, question)
        form = form_of(task) or self.settings.form
        if form == "any" and asks_factors(question):
            form = "factored"
        elif form == "any" and asks_lowest(question):
            form = "reduced"
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > MAX_REPLY_CHARS:
            return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
        remembered.count(len(question) + len(submission))
        several = parts_of(written[0], question) if len(written) == 1 else None
        if several is not None:
            return self._judge_parts(several, submission, question, form)
        commas = any(reads_decimal_comma(gold, question) for gold in written)
        found = extract(submission, self.settings.extract, question, commas=commas)
        ctx = self._context(question, form, question or task.prompt)
        power = as_power_of_ten(found.answer, question)
        found = found if power == found.answer else replace(found, answer=power)
        if not found.answer and not (
            (found.why in UNREAD and self._claimed(golds, written, found.text, ctx))
            or (
                found.why in (*UNREAD, OTHER)
                and (self._stepped(task, found.text, question) or self._without_aside(task, found))
            )
        ):
            unclear = "more than one" in found.why
            return unusable("several_answers" if unclear else "no_answer", found.why)
        if any(len(text) > MAX_ANSWER_CHARS for text in (found.answer, *found.also)):
            return unusable("too_long", f"an answer has at most {MAX_ANSWER_CHARS} characters")
        parts = {"extracted": 1.0}
        sides = sides_of(written[0], question) if len(written) == 1 else None
        if sides is not None:
            golds = (sides,)
            found = Found(sides_in(found.answer, submission), tuple(map(sides_in, found.also)))
        if all(disobeys(gold, found.answer, question) for gold in written) or (
            question
            and (
                is_unfitting(found.answer, question)
                or (
                    is_money_for_count(found.answer, question)
                    and not any(re.search(r"\\dollar|[€£]", gold) for gold in golds)
                )
            )
        ):
            return scored(
                0.0,
                "wrong_answer",
                "the answer does not follow the question's instruction",
                {**parts, "correct": 0.0},
            )
        rung = rung_of(golds, found.answer, ctx)
        is_paid = rung not in ("", *FAULTS)
        may_be_claimed = not is_paid and (not found.text or may_claim(golds, found.text))
        if not rung and may_be_claimed:
            rung = self._concluded(golds, found, ctx)
        if not rung and any(_is_copied(gold, found.answer, submission) for gold in written):
            rung = "text"
        if not rung and len(written) == 1 and self._is_classified(written[0], found, ctx):
            rung = "kind"
        if not rung and "0" in golds and says_none(found.text or found.answer, question):
            rung = "none"
        if not rung and len(written) == 1:
            rung = _in_words(written[0], found.line or found.answer, question)
        if not rung and len(written) == 1 and (truth := kind_of(written[0])) in ("yes", "no"):
            rung = "verdict" if verdict_abroad(spoken(submission), question) == truth else ""
        if not rung and any(
            word_in_last_sentence(gold, submission, found.answer, question) for gold in written
        ):
            rung = "word"
        if not rung and found.line and may_be_claimed:
            rung = self._said_last(golds, written, submission, ctx) or self._claimed(
                golds, written, found.text, ctx
            )
        if rung in ("", *FAULTS) and found.line and may_be_claimed:
            rung = self._stepped(task, found.text, question) or rung
        if not rung and found.line and may_be_claimed:
            rung = (
                self._closed(golds, written, submission, ctx)
                or self._without_aside(task, found)
                or self._opened(task, found)
            )
        if (
            rung
            and found.line
            and (
                self._is_of_other(golds, found.text, ctx)
                or _misfits(golds, found.text, question, submission)
            )
        ):
            return scored(
                0.0,
                "wrong_answer",
                "the reply gives this value to another quantity than the one that is asked for",
                {**parts, "correct": 0.0},
            )
        if rung in FAULTS:
            return scored(0.0, *_FAULTS[rung], {**parts, "correct": 0.0})
        if not rung:
            return scored(
                0.0,
                "wrong_answer",
                "the final answer is not the reference",
                {**parts, "correct": 0.0},
            )
        if not all(rung_of(golds, other, ctx) not in ("", *FAULTS) for other in found.also):
            return unusable(
                "several_answers", "the reply states different final answers and takes none back"
            )
        return scored(
            1.0,
            "correct",
            f"the final answer is the reference (by {rung})",
            {**parts, "correct": 1.0},
        )

    def _judge_parts(self, several: Parts, reply: str, question: str, form: str) -> Verdict:
        said = spoken(reply)
        tagged = last_answer(said)
        said = said if tagged is None else tagged
        found = stretches(several, said)
        if found is None and several.kind == "lettered":
            found = parts_by_name(several.labels, question, said)
        if found is None:
            whole = extract(reply, self.settings.extract, question)
            if whole.also:
                return unusable("several_answers", "the reply states different final answers")
            found = in_order(several, whole.answer)
        if found is None:
            return unusable(
                "no_answer", f"the reply does not answer each of: {', '.join(several.labels)}"
            )
        ctx = self._context("", form, question)
        for label, value, stretch in zip(several.labels, several.values, found, strict=True):
            answer = extract(stretch)
            gold = cleaned_gold(value)
            every = (answer.answer, *answer.also)
            if not all(a and rung_of((gold,), a, ctx) not in ("", *FAULTS) for a in every):
                return scored(
                    0.0,
                    "wrong_answer",
                    f"the answer to part {label} is not the reference",
                    {"extracted": 1.0, "correct": 0.0},
                )
        return scored(
            1.0, "correct", "every part is the reference", {"extracted": 1.0, "correct": 1.0}
        )

    def _concluded(self, golds: tuple[str, ...], found: Found, ctx: Context) -> str:
        """The rung of what the last sentence of the reply concludes, where that is more than a value."""
        line = found.line or found.answer
        concluded = conclusions(line, ctx.question) if " " in line else []
        tried = {found.answer}
        for said in concluded:
            if said not in tried and (rung := rung_of(golds, said, ctx)):
                return rung
            tried.add(said)
        for text in dict.fromkeys((found.answer.strip(" ."), last_sentence(line), *concluded)):
            for said in values_as_asked(text, ctx.question):
                if said not in tried and (rung := rung_of(golds, said, ctx)):
                    return rung
                tried.add(said)
        return ""

    def _said_last(
        self, golds: tuple[str, ...], written: tuple[str, ...], reply: str, ctx: Context
    ) -> str:
        """The rung of what the last sentence of a reply says with more behind it, or in a form of its own."""
        for said in dict.fromkeys(last_words(spoken(reply), ctx.question)):
            if all(disobeys(gold, said, ctx.question) for gold in written):
                continue
            if (rung := rung_of(golds, said, ctx)) and rung not in FAULTS:
                return rung
        return ""

    def _claimed(
        self, golds: tuple[str, ...], written: tuple[str, ...], reply: str, ctx: Context
    ) -> str:
        """The rung of the one value that the last sentence of a reply claims among others."""
        for said in _claims(reply, ctx.question):
            if not said or all(disobeys(gold, said, ctx.question) for gold in written):
                continue
            if (rung := rung_of(golds, said, ctx)) and rung not in FAULTS:
                return rung
        return ""

    def _closed(
        self, golds: tuple[str, ...], written: tuple[str, ...], reply: str, ctx: Context
    ) -> str:
        """The rung of the value that ends the last sentence of a reply."""
        said = assigned(spoken(reply), ctx.question, golds[0]) or closing_value(
            spoken(reply), ctx.question
        )
        if not said or all(disobeys(gold, said, ctx.question) for gold in written):
            return ""
        rung = rung_of(golds, said, ctx)
        return "" if rung in FAULTS else rung

    def _stepped(self, task: Task, reply: str, question: str) -> str:
        """The rung of the last step of the workings of a reply, judged as if it were all of it."""
        step = last_step(reply, question)
        is_right = bool(step) and len(step) < len(reply) and self._compare(task, step).score == 1
        return "step" if is_right else ""

    def _opened(self, task: Task, found: Found) -> str:
        """The rung of the answer that a reply opens with and then explains."""
        said = opening_value(found.text, written_reference(task)[1])
        is_right = bool(said) and self._compare(task, said).score == 1
        return "opening" if is_right else ""

    def _without_aside(self, task: Task, found: Found) -> str:
        """The rung of a reply without the aside that ends it, judged as if that were all of it."""
        is_right = any(self._compare(task, said).score == 1 for said in without_asides(found.text))
        return "aside" if is_right else ""

    def _is_of_other(self, golds: tuple[str, ...], reply: str, ctx: Context) -> bool:
        """Return True if the last sentence of a reply gives the reference as the value of another quantity alone."""
        if not may_be_other(reply, ctx.question):
            return False
        weighed = weighed_values(reply, ctx.question)
        if not weighed:
            return gives_to_other(claiming_sentence(reply), ctx.question)
        if not any(one.is_other for one in weighed):
            return False
        same = [
            one
            for one in weighed
            if any(
                rung_of(golds, said, ctx) not in ("", *FAULTS)
                for said in {one.value.whole, one.value.whole.rpartition("=")[2]}
            )
        ]
        return bool(same) and all(one.is_other for one in same)

    def _is_classified(self, gold: str, found: Found, ctx: Context) -> bool:
        """Return True if a reply gives the points of the reference and says the same of each."""
        wanted = classified(gold) if "(" in gold and gold[-1:].isalpha() else None
        said = classified(last_sentence(found.line or found.answer)) if wanted else None
        if not wanted or not said or len(wanted) != len(said):
            return False
        return all(
            any(kind == other and rung_of((clean(point),), one, ctx) for one, other in said)
            for point, kind in wanted
        )

    def _context(self, question: str, form: str, asked: str) -> Context:
        """Return what a question and the settings ask for."""
        settings = self.settings
        return context_of(
            question,
            units=settings.units,
            tolerance=settings.tolerance,
            digits=settings.digits,
            form=form,
            asked=asked,
        )


def _claims(reply: str, question: str) -> Iterator[str]:
    """The value and the word that the last sentence of a reply claims, each read when it is asked for."""
    yield from claimed_value(reply, question)
    yield claimed_word(reply, question)


def _in_words(gold: str, said: str, question: str) -> str:
    """The rung of a last sentence that gives the counts of the reference, or is the same statement of logic."""
    if same_counts(gold, said, question):
        return "counts"
    return "statement" if same_proposition(gold, said, question) else ""


def _misfits(golds: tuple[str, ...], reply: str, question: str, submission: str) -> bool:
    """Return True if the last sentence of a reply denies its value, or makes it another one than every reference.

    `reply` is the submission with fixed phrases in English, without thoughts."""
    if all(map(str.isdigit, golds)):
        said = claiming_sentence(without_ruled_out(spoken(submission)))
        if said and all(is_denied_abroad(gold, said) for gold in golds):
            return True
    said = claiming_sentence(reply)
    return all(has_other_unit(gold, said) for gold in golds) or (
        is_share(said, question) and not any("of" in gold for gold in golds)
    )


def _is_copied(gold: str, answer: str, reply: str) -> bool:
    """Return True if a reply has the reference as it is written where its answer was read with a decimal comma."""
    if "," not in gold or gold.strip() not in reply:
        return False
    pointed = with_points(gold)
    return (
        pointed != gold
        and pointed not in reply
        and compact(clean(pointed)) == compact(clean(answer))
    )
