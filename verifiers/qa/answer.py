"""`qa/answer`: a short answer against the right ones, with citations where the task wants them.

The reference is

    {"answer": value} or {"answers": [aliases]}, and perhaps
    "kind"        text (default), number, date, yes_no or list; from the type of `answer` if left out
    "units"       of a number: words that may or (`"unit_required": true`) must stand beside it
    "supporting"  [page ids], any of which supports the answer, or [[page ids], ...], of each of which
                  one must be cited (one list a hop)
    "pages"       {page id: text}, to check quotes in

`{"reply": text}` in place of the answer is another reply, whose answer is taken for right
(`group/majority` asks so); `kind` is then text unless it is given.

The submission is text (`commit.py` says where its answer is) or `{"answer", "citations"}`.

- text: equal to an alias in the form of `normalise.py`; signs as they are where an alias has no words
  (`+`); by value where it is a number, an amount with a unit or a whole date; in other spellings of a
  name (`names.py`); as a list where it is one (`members.py`). `score="f1"` pays token F1 instead.
- number: by value, within `tolerance` (relative) or `abs_tolerance`; thousands separators, exponents,
  percent, scale words and numbers in words are read.
- date: as precise as the reference: `1969-07-20`, `July 20, 1969`, `20 July 1969`; all numbers only
  where `day_first` is set or one cannot be a month.
- yes_no: by the first word, where nothing says the contrary.
- list: every item (each a text or a list of its aliases), no other, in any order, unless the question wants one.

With `sentence`, all kinds but list also take sentences that state the answer ("It was written by Mary Shelley in 1818."):
`claims.py` reads the place at which the answer stands. Names in small letters are read by `statement.py`, word by word.

Covers: lists of candidates, alternatives, hedges, the answer inside a long text, the question repeated,
two numbers or dates, pages cited by the dozen, invented quotes. Does not cover: right answers in words
that no alias has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.qa.abroad import with_english_dates
from verigym.verifiers.qa.amounts import currencies_in, is_asked_unit, mark_amount, money_words
from verigym.verifiers.qa.around import (
    unboxed,
    without_courtesies,
    without_formula,
    without_item_mark,
    without_time,
)
from verigym.verifiers.qa.asked import (
    asks_when,
    asks_whether,
    has_words,
    read_question,
    repeats_question,
)
from verigym.verifiers.qa.citations import (
    judge_citations,
    read_support,
)
from verigym.verifiers.qa.claim_marks import says
from verigym.verifiers.qa.commit import (
    NEGATIONS,
    hedge_in,
    pieces,
    question_words,
    undressed,
    unframed,
)
from verigym.verifiers.qa.digits import with_minus, with_points
from verigym.verifiers.qa.lists import judge_list
from verigym.verifiers.qa.mark import (
    is_sign_alone,
    mark_given,
    mark_signs,
    mark_texts,
    once,
    says_yes_or_no,
    states_unspaced,
)
from verigym.verifiers.qa.members import (
    members,
    without_tale,
)
from verigym.verifiers.qa.names import in_usual_order, is_pair_turned, spellings
from verigym.verifiers.qa.normalise import f1, known_tokens, plain, signs, tokens
from verigym.verifiers.qa.persons import is_same_person, is_surname
from verigym.verifiers.qa.places import asks_person
from verigym.verifiers.qa.reference import (
    known_date,
    known_number,
    read_reference,
    unit_words,
    usual_answer,
    wanted_number,
    with_answer,
)
from verigym.verifiers.qa.roles import has_role
from verigym.verifiers.qa.sentence_words import without_marks
from verigym.verifiers.qa.statement import counts_something, states
from verigym.verifiers.qa.strangers import has_stranger
from verigym.verifiers.qa.submission import asks, take
from verigym.verifiers.qa.values import (
    Number,
    dates_in,
    is_day,
    is_yes_or_no,
    moves_date,
    numbers_in,
    read_date,
    read_number,
    read_yes_no,
)
from verigym.verifiers.qa.verdicts import both, exact
from verigym.verifiers.qa.yes_no import yes_or_no
from verigym.verifiers.text.evidence import show

MAX_ANSWER_CHARS = 2_000
_CURRENCIES = frozenset("$€£¥")
_ANYTHING_BUT = re.compile(
    r"\W*(?:any|every|no)(?:thing|one|body|where) (?:but|except|other than)\b", re.IGNORECASE
)
_BLANKS = re.compile(r"[^\S\n]{2,}")
_PERCENT = frozenset({"percent", "percentage", "%"})
_ABOUT = frozenset({"about", "approximately", "around", "roughly", "circa", "ca", "~", "≈"})


class AnswerParams(Struct, frozen=True):
    """Parameters of `AnswerVerifier`."""

    score: Annotated[
        Literal["exact", "f1"],
        Meta(description="1 for an exact match alone, or token F1 of texts and lists."),
    ] = "exact"
    sentence: Annotated[bool, Meta(description="Take sentences that state the answer.")] = True
    max_words: Annotated[int, Meta(ge=1, description="Words of an answer at most.")] = 40
    tolerance: Annotated[
        float, Meta(ge=0, description="Relative difference allowed of numbers.")
    ] = 0.0
    abs_tolerance: Annotated[
        float, Meta(ge=0, description="Absolute difference allowed of numbers.")
    ] = 0.0
    day_first: Annotated[
        bool | None, Meta(description="How 03/04/2020 is read; null: not at all.")
    ] = None
    citations: Annotated[
        Literal["auto", "ignore"],
        Meta(description="auto: wanted where the task lists supporting pages."),
    ] = "auto"
    min_quote_chars: Annotated[int, Meta(ge=0, description="Shorter quotes show nothing.")] = 12
    least_precision: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of the cited pages that must support the answer."),
    ] = 1.0


class AnswerVerifier(Verifier[AnswerParams]):
    """Score 1 for the right answer, committed to and, where the task says so, supported; else 0.

    Judged with `correct`, `partial` (F1), `wrong_answer`, `no_citation`, `unsupported`, `false_quote`;
    unusable with `no_answer`, `several_answers`, `hedged`, `too_long`, `unreadable` (no number, date or
    yes/no), `not_text`. `parts`: `exact`, `f1`, and `citation_precision`, `citation_recall` where
    pages are listed.
    """

    id: ClassVar[str] = "qa/answer"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "A short answer must equal one of the right ones (text, number, date, yes/no, list) and cite "
        "pages that support it; the submission is text or {answer, citations}."
    )

    evidence: ClassVar[str] = (
        "One committed answer and the pages cited for it; reasoning and style count for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {
        "exact": 1.0,
        "f1": 0.0,
        "citation_precision": 0.0,
        "citation_recall": 0.0,
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._day_first = self.settings.day_first
        self._max_words = self.settings.max_words
        self._tolerance = Decimal(repr(self.settings.tolerance))
        self._abs_tolerance = Decimal(repr(self.settings.abs_tolerance))
        self._min_quote_chars = self.settings.min_quote_chars
        self._least_precision = self.settings.least_precision

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        if not isinstance(reference, dict) or "reply" not in reference:
            return self._compare(task, submission)
        usual = usual_answer(task)  # the task's author is to blame for all but the reply
        read_support(read_reference(usual)[0])
        given = take(reference["reply"])
        if isinstance(given, Verdict):
            return given
        answer = undressed(without_courtesies(unboxed(given[0])))
        try:
            return self._compare(with_answer(usual, answer), submission)
        except TaskError as error:
            return unusable("no_answer", f"the reply in the reference gives no answer: {error}")

    def _compare(self, task: Task, submission: JSON) -> Verdict:
        reference, kind, right = read_reference(task)
        support = read_support(reference)
        given = take(submission)
        if isinstance(given, Verdict):
            return given
        whole, cited = given
        whole = without_formula(unboxed(whole))
        if len(whole) <= MAX_ANSWER_CHARS:
            whole = _BLANKS.sub(" ", whole)
        answer = undressed(without_courtesies(whole))
        if kind == "text" and answer[:1] in "1-•":
            answer = without_item_mark(answer, task.prompt)
        if kind == "list" and not all(known_tokens(str(one)) for one in right):
            answer = whole.strip().strip("`")  # a sign at its end may be an item
        verdict = self._judge_signs(task, kind, right, whole)
        if kind == "list" and ("..." in whole or "…" in whole):
            verdict = unusable("several_answers", "give the items, and do not leave the list open")
        if kind != "list" and tuple(tokens(answer)) not in map(known_tokens, map(str, right)):
            answer = with_points(answer)
        if verdict is None:
            verdict = self._judge_answer(task, reference, kind, right, answer)
        named = [str(one) for one in right] if isinstance(right, (list, tuple)) else [str(right)]
        if (
            verdict.score
            and _ANYTHING_BUT.match(answer)
            and not any(map(_ANYTHING_BUT.match, named))
        ):
            verdict = scored(0.0, "wrong_answer", "the reply excludes what it names")
        if verdict.score and answer.endswith("?") and not asks(right):
            verdict = unusable("hedged", "the answer is a question")
        if self.settings.citations == "ignore" or (not support.groups and not cited):
            return verdict
        held = judge_citations(cited, support, self._min_quote_chars, self._least_precision)
        parts = dict(verdict.parts)
        if support.groups:
            parts["citation_precision"] = held.precision
            parts["citation_recall"] = held.recall
        if held.reason and verdict.score:
            return scored(0.0, held.reason, held.evidence, parts)
        return (
            scored(verdict.score, verdict.reason, verdict.evidence, parts)
            if verdict.score is not None
            and verdict.reason in ("correct", "partial", "wrong_answer")
            else verdict
        )

    def _judge_answer(
        self,
        task: Task,
        reference: Mapping[str, JSON],
        kind: str,
        right: Sequence[JSON],
        answer: str,
    ) -> Verdict:
        if not answer:
            return unusable("no_answer", "the reply holds no answer")
        if len(answer) > MAX_ANSWER_CHARS:
            return unusable("too_long", f"an answer has at most {MAX_ANSWER_CHARS} characters")
        words = tokens(answer)
        if not words and not (kind == "list" and signs(answer).strip(".,;")):
            return unusable("no_answer", "the answer has no words")
        if self.settings.sentence and kind in ("text", "number", "date"):
            asked = read_question(task.prompt)
            if kind != "text" and has_stranger(answer, asked):
                return unusable("several_answers", "give one answer, not a list of candidates")
            texts = [str(one) for one in right]
            if isinstance(listed := reference.get("units"), list | tuple):
                texts += [f"{one} {unit}" for one in texts for unit in listed]
            if says(answer, texts, asked, self._day_first):
                return exact(True)
        if len(words) > self._max_words:
            return unusable(
                "too_long", f"{len(words)} words; an answer has at most {self._max_words}"
            )
        if kind == "list":
            return self._list(task, right, answer)
        aliases = [list(known_tokens(str(one))) for one in right]
        # An alias may itself have a comma or an "or"; then the answer may, too.
        whole = kind == "text" and words in aliases
        hedge = None if whole else hedge_in(answer)
        if hedge == "both" and asks_whether(read_question(task.prompt)):
            hedge = None  # "Both were American"
        if hedge and not set(hedge.split()) <= set(read_question(task.prompt).row):
            return unusable("hedged", f"the answer hedges: {show(hedge)}")
        if not whole and kind != "yes_no" and self._is_another_date(task, kind, right, answer):
            return exact(False)
        if kind == "text":
            return self._judge_text(task, right, aliases, answer, words)
        if kind == "yes_no":
            value = yes_or_no(read_question(task.prompt), answer, words)
            if value is None:
                return unusable("unreadable", "the answer must be yes or no, and not both")
            return exact(value is right[0])
        if kind == "date":
            wanted = [read_date(str(one), self._day_first) for one in right]
            return self._judge_date(task, [one for one in wanted if one], answer)
        return self._judge_number(task, reference, right, answer)

    def _judge_signs(
        self, task: Task, kind: str, right: Sequence[JSON], answer: str
    ) -> Verdict | None:
        """The verdict on a text where a right one has no words, as `+`; None if words decide."""
        aliases = [str(one) for one in right if kind == "text" and not known_tokens(str(one))]
        if not aliases or len(answer) > MAX_ANSWER_CHARS or not answer.strip():
            return None
        if is_sign_alone(answer, aliases):
            return exact(True)
        masked = mark_signs(answer, aliases) if self.settings.sentence else None
        asked = read_question(task.prompt)
        if masked is not None and hedge_in(answer) is None:
            in_question = any(signs(one) in signs(task.prompt) for one in aliases)
            if states(masked, asked, in_question):
                return exact(True)
        return None if tokens(answer) else exact(False)

    def _list(self, task: Task, right: Sequence[JSON], answer: str) -> Verdict:
        return judge_list(
            task.prompt,
            right,
            answer,
            sentence=self.settings.sentence,
            partly=self.settings.score == "f1",
        )

    def _is_another_date(self, task: Task, kind: str, right: Sequence[JSON], answer: str) -> bool:
        """Return True if a date is wanted and the reply moves it with "since", "before" or the like."""
        if kind != "date":
            days = [known_date(str(one), self._day_first) for one in right]
            if not any(days) or not (
                asks_when(read_question(task.prompt)) or any(len(day) > 1 for day in days if day)
            ):
                return False
        return moves_date(plain(answer), frozenset(read_question(task.prompt).row))

    def _judge_date(self, task: Task, wanted: Sequence[tuple[int, ...]], answer: str) -> Verdict:
        answer = with_english_dates(without_time(answer, task.prompt))
        found = read_date(answer, self._day_first)
        if found is None and self.settings.sentence:
            text = without_marks(plain(answer))
            mentions = dates_in(text, self._day_first, years=any(len(one) == 1 for one in wanted))
            asked = read_question(task.prompt)
            given = {day for _, _, day in dates_in(" ".join(asked.row), self._day_first, True)}
            values = {day for _, _, day in mentions if day not in given} or {
                day for _, _, day in mentions
            }
            if len(values) == 1:
                masked = mark_given(text, [(s, e, day in values) for s, e, day in mentions])
                if states(masked, asked, bool(values & given), frozenset(["ad", "ce"])):
                    found = values.pop()
        if found is None:
            return unusable("unreadable", "the answer is not one date that can be read")
        return exact(is_day(found, wanted))

    def _judge_text(
        self,
        task: Task,
        right: Sequence[JSON],
        aliases: Sequence[list[str]],
        answer: str,
        words: list[str],
    ) -> Verdict:
        body = words
        is_right = words in aliases
        if is_right:
            return exact(True)
        asked = read_question(task.prompt)
        truths = {read_yes_no(alias) for alias in aliases if is_yes_or_no(alias)}
        if truths and asks_whether(asked):
            is_right = yes_or_no(asked, answer, words) in truths
        elif self.settings.sentence:
            body = unframed(words, question_words(task.prompt)) or words
            is_right = self._states_text(task, right, aliases, answer, words) or self._is_named(
                task, right, answer, words
            )
        best = 1.0 if is_right else max(f1(body, alias) for alias in aliases)
        parts = {"exact": float(is_right), "f1": best}
        if is_right:
            return scored(1.0, "correct", "the answer is right", parts)
        listed = [tokens(piece) for piece in pieces(answer)]
        if len(listed) > 1 and any(piece in aliases for piece in listed):
            return unusable("several_answers", "give one answer, not a list of candidates")
        denied = NEGATIONS.intersection(body).difference(*aliases)
        if self.settings.score == "f1" and best > 0 and len(listed) == 1 and not denied:
            return scored(best, "partial", "the answer is right in part", parts)
        if len(listed) > 1 or denied:
            parts["f1"] = 0.0
        return scored(0.0, "wrong_answer", "the answer is not one of the right ones", parts)

    def _states_text(
        self,
        task: Task,
        right: Sequence[JSON],
        aliases: Sequence[list[str]],
        answer: str,
        words: Sequence[str],
    ) -> bool:
        """Return True if the reply says in a sentence, or by value, what one of the texts says."""
        texts = [str(one) for one in right]
        held = set(words)
        named = any(alias and held.issuperset(alias) for alias in aliases)
        if not named and answer.isascii() and not any(map(_is_value, texts)):
            return False  # no word of it stands there
        asked = read_question(task.prompt)
        if len(words) > 1 and repeats_question(answer, asked):
            return False
        paid = _CURRENCIES.intersection(answer)
        if paid and not currencies_in(" ".join(texts)) and not money_words(asked, frozenset()):
            return False  # "$42" for "42"
        masked = mark_texts(answer, aliases) if named else None
        if masked is not None and any(map(is_yes_or_no, aliases)) and not says_yes_or_no(masked):
            return False
        in_question = any(has_words(asked, alias) for alias in aliases if alias)
        if masked is not None and not has_role(masked, asked):
            return False
        if masked is not None and states(once(masked), asked, in_question):
            return True
        amount = mark_amount(answer, texts, asked)
        if amount is not None and states(once(amount), asked, in_question):
            return True
        if states_unspaced(answer, texts, task.prompt):
            return True
        alone = read_number(answer)
        if (
            alone is not None
            and alone.around
            and is_asked_unit(" ".join(alone.around), task.prompt)
        ):
            return not alone.percent and any(
                one is not None and not one.around and one.value == alone.value
                for one in map(known_number, texts)
            )
        numbers = [number for number in map(known_number, texts) if number]
        if len(numbers) == len(texts) and not any(one.around or one.percent for one in numbers):
            said = self._number_said(task, answer, frozenset())
            told = without_tale(answer, asked)
            if said is None and told != answer:
                said = self._number_said(task, told, frozenset())
            if said is not None:
                return not said.percent and said.value in {number.value for number in numbers}
        dates = [day for text in texts if (day := known_date(text, self._day_first))]
        if len(dates) == len(texts) and (asks_when(asked) or all(len(day) > 1 for day in dates)):
            return self._judge_date(task, dates, answer).score == 1.0
        return False

    def _is_named(self, task: Task, right: Sequence[JSON], answer: str, words: list[str]) -> bool:
        """Return True if the reply has a right answer in another spelling, or as a list in another order."""
        asked = read_question(task.prompt)
        texts = [str(one) for one in right]
        turned = in_usual_order(answer, texts).replace(" & ", " and ")
        words = words if turned == answer else tokens(turned)
        aliases = [alias for text in texts for alias in spellings(text, asked)]
        if tuple(words) in aliases or any(
            tuple(words) == alias[1:] and alias[0] in asked.kinds for alias in aliases if alias
        ):
            return True  # "D" for "Vitamin D"
        held = set(words)
        present = [alias for alias in aliases if held.issuperset(alias)]
        is_new = turned != answer or not {known_tokens(text) for text in texts}.issuperset(present)
        if turned != answer and says(turned, texts, asked, self._day_first):
            return True
        if is_new and self._states_text(task, right, list(map(list, aliases)), turned, words):
            return True
        if asks_person(asked) and any(
            is_same_person(answer, text) or is_surname(answer, text) for text in texts
        ):
            return True
        several = asks_person(asked) or "two" in asked.row
        if several and any(is_pair_turned(answer, text) for text in texts):
            return True
        lists = [items for text in texts if (items := members(text, asked))]
        return any(self._list(task, items, answer).score == 1.0 for items in lists)

    def _number_said(self, task: Task, answer: str, extra: frozenset[str]) -> Number | None:
        """The one number that a sentence states; numbers of the question may stand beside it."""
        text = with_minus(without_marks(plain(answer)))
        mentions = numbers_in(text)
        asked = read_question(task.prompt)
        given = {one.value for _, _, one in numbers_in(" ".join(asked.row)) if one}
        if any(number is None for _, _, number in mentions):
            return None
        values = {one.value for _, _, one in mentions if one} - given
        in_question = not values
        if in_question:
            values = {mentions[-1][2].value} if mentions and mentions[-1][2] else set()
            if len(mentions) > 1:
                return None
        if len(values) != 1:
            return None
        spans = [(s, e, one is not None and one.value in values) for s, e, one in mentions]
        masked = counts_something(mark_given(text, spans), asked)
        if not states(masked, asked, in_question, extra):
            return None
        return next(one for _, _, one in mentions if one and one.value in values)

    def _judge_number(
        self, task: Task, reference: Mapping[str, JSON], right: Sequence[JSON], answer: str
    ) -> Verdict:
        listed: Sequence[str] = reference.get("units") or []  # type: ignore[assignment]
        units = {word for unit in listed for word in unit_words(unit)}
        asked = read_question(task.prompt)
        named = currencies_in(" ".join(map(str, (*right, *units))))
        said_in = currencies_in(answer)
        # "5 dollars per pound" has one currency
        two = len(said_in) > 1 and "per" not in tokens(answer) and not asked.knows("pound")
        if two or (named and not said_in <= named):
            return unusable("unreadable", "the answer is in another currency, or in two")
        money = money_words(asked, named)
        allowed = units | _CURRENCIES | _ABOUT | money | question_words(task.prompt)
        number = read_number(answer)
        if number is not None and all(word in allowed for word in number.around):
            if units and reference.get("unit_required") and not units & {*number.around}:
                return scored(0.0, "wrong_answer", "the number has no unit", both(0.0))
            return self._compare_number(task, right, number)
        if self.settings.sentence:
            amounts = [f"{one} {unit}" for one in right for unit in listed]
            amount = mark_amount(answer, amounts, asked)
            if amount is not None and states(once(amount), asked):
                return exact(True)  # "330 m (1,083 ft)"
            extra = frozenset(units | _ABOUT | money)
            said = self._number_said(task, answer, extra)
            told = without_tale(answer, asked)
            if said is None and told != answer:
                said = self._number_said(task, told, extra)
            if said is not None:
                words = re.findall(r"[^\W\d_]+|[^\s\w.,;:()]", answer.lower())
                if units and reference.get("unit_required") and not units.intersection(words):
                    return scored(0.0, "wrong_answer", "the number has no unit", both(0.0))
                return self._compare_number(task, right, said)
            years = [known_date(str(one), None) for one in right]
            if asks_when(asked) and all(years):
                verdict = self._judge_date(task, [one for one in years if one], answer)
                if verdict.score:
                    return verdict
        if len(pieces(answer)) > 1 and read_number(answer) is None:
            return unusable("several_answers", "give one number, not a list of candidates")
        return unusable("unreadable", "the answer is not one number that can be read")

    def _compare_number(self, task: Task, right: Sequence[JSON], number: Number) -> Verdict:
        asks_percent = bool(question_words(task.prompt) & _PERCENT)
        for one in right:
            wanted, percent = wanted_number(one)
            values = [number.value]
            if number.percent and not percent:
                # "5%" is 0.05; where a percentage is asked for, the task may have it as 5.
                values = [number.value / 100, *(values if asks_percent else [])]
            elif percent and not number.percent:
                values.append(number.value * 100)  # 0.05 for "5%", or 5 without the sign
            if any(abs(value - wanted) <= self._slack(wanted) for value in values):
                return exact(True)
        return exact(False)

    def _slack(self, wanted: Decimal) -> Decimal:
        return max(self._abs_tolerance, self._tolerance * abs(wanted))


@lru_cache(maxsize=4096)
def _is_value(text: str) -> bool:
    """Return True if a right answer may be said in other words of the same value: a number, amount or date."""
    return any(map(str.isdigit, text)) or known_number(text) is not None
