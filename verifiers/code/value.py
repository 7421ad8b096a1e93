"""`code/value`: one value, written as Python writes it; what a program returns, foretold.

The answer is read by a small reader of literals, never by Python: whole numbers, fractions with a point,
texts in quotes, True, False, None, lists, tuples, sets and dictionaries. Two values are the same where
Python would print the same type and value: 1 is not 1.0 nor True, a list is not a tuple; the order in sets
and dictionaries does not matter, nor does white space, the kind of quotes, or marks of code around the answer.
Covers: lists of candidates, two different answers, expressions in place of values, answers of any depth or
length. Does not cover: escapes in texts, exponents, complex numbers, bytes.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, TypeAlias

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import answers as answers_in
from verigym.reply import last_answer, spoken
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.text.evidence import show

Value: TypeAlias = tuple[Any, ...]
"""A type's name and what stands for the value; equal for equal values alone."""

MAX_DEPTH = 50
_TOKEN = re.compile(
    r"\s*+(?:(?P<number>-?(?:\d++(?:\.\d++)?+))(?![\w.])"
    r"|'(?P<single>[^'\\\n]*+)'|\"(?P<double>[^\"\\\n]*+)\""
    r"|(?P<word>True|False|None|set\(\s*+\))(?!\w)"
    r"|(?P<sign>[\[\](){},:]))",
    re.ASCII,
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class NotALiteral(Exception):
    """A text is not one value as Python writes it; the message says why."""


def read_literal(text: str) -> Value:
    """Return the value that `text` stands for. Raises NotALiteral."""
    tokens: list[tuple[str, str]] = []
    place, text = 0, text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotALiteral(f"{show(text[place:])} is no part of a value")
        kind = str(match.lastgroup)
        tokens.append((kind, match[kind]))
        place = match.end()
    tokens.append(("end", ""))
    reader = _Reader(tokens)
    value = reader.value(0)
    if reader.next()[0] != "end":
        raise NotALiteral("more than one value")
    return value


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def next(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _sees(self, sign: str) -> bool:
        if self._tokens[self._at] == ("sign", sign):
            self._at += 1
            return True
        return False

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise NotALiteral(f"nested more than {MAX_DEPTH} deep")
        kind, text = self.next()
        if kind == "number":
            return _number(text)
        if kind in ("single", "double"):
            return ("text", text)
        if kind == "word":
            return ("set", frozenset()) if text.startswith("set") else ("constant", text)
        if text not in _CLOSING:
            raise NotALiteral("a value is missing")
        return self._many(text, depth + 1)

    def _many(self, opening: str, depth: int) -> Value:
        closing = _CLOSING[opening]
        items: list[Value] = []
        values: list[Value] = []
        comma = True
        while not self._sees(closing):
            if not comma:
                raise NotALiteral("a comma or a closing bracket is missing")
            items.append(self.value(depth))
            if opening == "{" and self._sees(":"):
                values.append(self.value(depth))
            comma = self._sees(",")
        if opening == "[":
            return ("list", tuple(items))
        if opening == "(":
            # (1) is 1; (1,) is a tuple; (,) is nothing, and was refused above.
            return items[0] if len(items) == 1 and not comma else ("tuple", tuple(items))
        if len(values) not in (0, len(items)):
            raise NotALiteral("a dictionary with an item that is no pair")
        if values or not items:
            if len(set(items)) < len(items):
                raise NotALiteral("a key stands twice in a dictionary")
            return ("dict", frozenset(zip(items, values, strict=True)))
        return ("set", frozenset(items))


def _number(text: str) -> Value:
    digits = text.lstrip("-")
    if "." in text:
        return ("float", float(text).hex())
    if len(digits) > 1 and digits[0] == "0":
        raise NotALiteral("a whole number with a leading zero")
    return ("int", "0" if digits == "0" else text)


class ValueParams(Struct, frozen=True):
    """Parameters of `ValueVerifier`."""

    max_chars: Annotated[int, Meta(ge=1, description="Characters of an answer at most.")] = 4000


class ValueVerifier(Verifier[ValueParams]):
    """Score 1 for the wanted value in the `<answer>` tags of a reply, else 0.

    `Task.reference` is `{"literal": text}`, a value as Python writes it. Reasons: `correct`, `wrong_value`;
    `no_answer` (no tag, an empty one, or one that is taken back behind it), `several_answers` (an earlier tag
    holds another value than the last), `not_a_literal`,
    `too_long`, `not_text`.
    """

    id: ClassVar[str] = "code/value"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "One value as Python writes it, in <answer> tags, which must equal the wanted one in type and "
        "value; the submission is the reply."
    )
    evidence: ClassVar[str] = "The value in the answer tags; all else counts for nothing."

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        wanted = _wanted(task)
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a reply")
        text = spoken(submission)
        last = (last_answer(text) or "").strip()
        if not last:
            return unusable("no_answer", "the reply has no value in answer tags")
        most = self.settings.max_chars
        if len(last) > most:
            return unusable("too_long", f"an answer has at most {most} characters")
        try:
            value = read_literal(_bare(last))
        except NotALiteral as error:
            return unusable("not_a_literal", f"the answer is not one value: {error}")
        if any(_differs(answer, value) for answer in answers_in(text)[:-1] if len(answer) <= most):
            return unusable("several_answers", "there are different values in answer tags")
        if value == wanted:
            return scored(1.0, "correct", "the value is right")
        return scored(0.0, "wrong_value", f"{show(last)} is another value")


def _bare(answer: str) -> str:
    """An answer without the marks of code in Markdown, which say nothing of its value."""
    text = answer.strip()
    for mark in ("```", "`"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            inner = text[len(mark) : -len(mark)]
            return inner.removeprefix("python") if mark == "```" else inner
    return text


def _differs(answer: str, value: Value) -> bool:
    """Return True if an earlier answer is a different value; text about tags is not a value."""
    try:
        return read_literal(_bare(answer)) != value
    except NotALiteral:
        return False


def _wanted(task: Task) -> Value:
    reference = task.reference
    if not isinstance(reference, dict) or not isinstance(reference.get("literal"), str):
        raise TaskError('the reference must be {"literal": text}')
    try:
        return read_literal(str(reference["literal"]))
    except NotALiteral as error:
        raise TaskError(f"the reference cannot be read: {error}") from error
