"""`qa/answer`: a short answer against the right ones, with citations where the task wants them.

The reference is

    {"answer": value} or {"answers": [aliases]}, and perhaps
    "kind"        text (default), number, date, yes_no or list; from the type of `answer` if left out
    "units"       of a number: words that may or (`"unit_required": true`) must stand beside it
    "supporting"  [page ids], any of which supports the answer, or [[page ids], ...], of each of which
                  one must be cited (one list a hop)
    "optional"    [page ids] that may be cited and need not be
    "pages"       {page id: text}, to check quotes in

`{"reply": text}` in place of the answer is another reply, whose answer is taken for right
(`group/majority` asks so); `kind` is then text unless it is given, or that of the answers in `instead_of`.

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
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.qa.around import (
    unboxed,
    without_courtesies,
    without_formula,
    without_item_mark,
)
from verigym.verifiers.qa.asked import asks_whether, read_question
from verigym.verifiers.qa.choices import chosen_letter, read_options, right_letters
from verigym.verifiers.qa.citations import judge_citations, read_support
from verigym.verifiers.qa.claim_marks import says
from verigym.verifiers.qa.commit import hedge_in, undressed
from verigym.verifiers.qa.date_answers import judge_date, moves_the_date
from verigym.verifiers.qa.digits import with_points
from verigym.verifiers.qa.lists import judge_list
from verigym.verifiers.qa.mark import is_sign_alone, mark_signs
from verigym.verifiers.qa.normalise import known_tokens, signs, tokens
from verigym.verifiers.qa.number_answers import judge_number
from verigym.verifiers.qa.params import AnswerParams
from verigym.verifiers.qa.reference import read_reference, usual_answer, with_answer
from verigym.verifiers.qa.statement import states
from verigym.verifiers.qa.strangers import has_stranger
from verigym.verifiers.qa.submission import asks, take
from verigym.verifiers.qa.text_answers import changes_numbers, judge_text
from verigym.verifiers.qa.values import read_date
from verigym.verifiers.qa.verdicts import exact
from verigym.verifiers.qa.yes_no import yes_or_no
from verigym.verifiers.text.evidence import show

MAX_ANSWER_CHARS = 2_000
_ANYTHING_BUT = re.compile(
    r"\W*(?:any|every|no)(?:thing|one|body|where) (?:but|except|other than)\b", re.IGNORECASE
)
_BLANKS = re.compile(r"[^\S\n]{2,}")


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
        held = judge_citations(
            cited, support, self.settings.min_quote_chars, self.settings.least_precision
        )
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
        if kind == "text" and changes_numbers(right, answer):
            return exact(False)
        options = read_options(task.prompt) if kind in ("text", "number") else {}
        letters = right_letters(options, right) if options else frozenset[str]()
        if letters:
            chosen = chosen_letter(options, answer)
            if chosen is not None:
                return exact(chosen in letters)
            if kind == "text":
                right = [*right, *(options[letter] for letter in sorted(letters))]
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
            if says(answer, texts, asked, self.settings.day_first):
                return exact(True)
        if len(words) > self.settings.max_words:
            return unusable(
                "too_long", f"{len(words)} words; an answer has at most {self.settings.max_words}"
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
        if (
            not whole
            and kind != "yes_no"
            and moves_the_date(task, kind, right, answer, self.settings)
        ):
            return exact(False)
        if kind == "text":
            return judge_text(task, right, aliases, answer, words, self.settings)
        if kind == "yes_no":
            value = yes_or_no(read_question(task.prompt), answer, words)
            if value is None:
                return unusable("unreadable", "the answer must be yes or no, and not both")
            return exact(value is right[0])
        if kind == "date":
            wanted = [read_date(str(one), self.settings.day_first) for one in right]
            return judge_date(task, [one for one in wanted if one], answer, self.settings)
        return judge_number(task, reference, right, answer, self.settings)

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
