"""Judges countdown answers: an expression over given numbers that must equal a target.

The answer in a reply is the last `<answer>...</answer>` (the closing tag may be missing, as where
generation stopped on it); without a tag, the last line that is nothing but an expression, perhaps
after a label such as `Answer:`. One answer is judged, once; earlier ones in the reply do not count.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/") signed)*
    signed  = "-"? (digits | "(" sum ")")
    answer  = sum ("=" target)?

`×`, `·` and `÷`, `−` of Unicode stand for `*`, `/` and `-`. One unary minus may stand before a number
or a parenthesis: with positive numbers and a positive target it makes nothing reachable that was not
(every sign can be moved into a subtraction). The number below it counts as used without its sign.
Values are exact rationals.

Covered: code and names, powers, floor division, decimals, exponents, joined digits, implicit
products, chains of `=`, a false `= claim`, lists of candidates, deep nesting, long and binary text.
Every input costs time linear in its length: nothing is evaluated by Python, nothing recurses, and an
answer is at most 1,024 characters of literals of at most 9 digits.
Not covered: LaTeX (`\\times`, `\\frac`, `\\boxed`), which is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, TypeGuard

from msgspec import Meta, Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import last_answer, spoken, takes_back
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.math.patterns import lazy_pattern

MAX_REPLY_CHARS = 1 << 20
MAX_ANSWER_CHARS = 1024
MAX_DIGITS = 9

_ASCII = str.maketrans("×·⋅∗÷∕−\u00a0\u2009\u202f", "****//-   ")
_BARE_LINE = lazy_pattern(r"[0-9+\-*/()= \t]+", re.ASCII)
_SEVERAL = lazy_pattern(r"[\n\r,;]|\b(?:or|and)\b", re.IGNORECASE | re.ASCII)
_CLAIM = lazy_pattern(r"[ \t]*-?[0-9]{1,9}", re.ASCII)
_TOKEN = lazy_pattern(r"[ \t]*(?:([0-9]+)|([-+*/()]))", re.ASCII)
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3}


@dataclass(frozen=True)
class Answer:
    """A reply that could be read: the expression in postfix order, and the claimed value if any."""

    postfix: tuple[int | str, ...]
    claim: int | None

    @property
    def numbers(self) -> list[int]:
        """The literals of the expression, sorted."""
        return sorted(item for item in self.postfix if isinstance(item, int))

    def value(self) -> Fraction:
        """The exact value. Raises ZeroDivisionError."""
        stack: list[Fraction] = []
        for item in self.postfix:
            if isinstance(item, int):
                stack.append(Fraction(item))
            elif item == "neg":
                stack.append(-stack.pop())
            else:
                right = stack.pop()
                left = stack.pop()
                stack.append(_apply(item, left, right))
        return stack[0]


def read(reply: str) -> Answer | Verdict:
    """The answer in a reply, or the verdict on one that cannot be judged."""
    if len(reply) > MAX_REPLY_CHARS:
        return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
    text = _last_answer(reply)
    if not text:
        return unusable("no_answer", "no <answer>...</answer> and no line that is an expression")
    if len(text) > MAX_ANSWER_CHARS:
        return unusable("too_long", f"an answer has at most {MAX_ANSWER_CHARS} characters")
    if _SEVERAL.search(text):
        return unusable("several_answers", "give one expression, not a list")
    expression, equals, right = text.partition("=")
    claim = None
    if equals:
        if not _CLAIM.fullmatch(right):
            return unusable("refused_syntax", "only the target may stand after '='")
        claim = int(right)
    postfix = _postfix(expression)
    return postfix if isinstance(postfix, Verdict) else Answer(postfix, claim)


def _last_answer(reply: str) -> str:
    """The text of the last tag, else the last line that is an expression, else nothing."""
    text = spoken(reply)
    answer = last_answer(text)
    if answer is not None:
        return _undressed(answer)
    lines = text.splitlines()
    for at in range(len(lines) - 1, -1, -1):
        text = _undressed(lines[at].rpartition(":")[2])
        if _BARE_LINE.fullmatch(text) and any(map(str.isdigit, text)):
            return "" if takes_back("\n".join(lines[at + 1 :])) else text
    return ""


def _undressed(text: str) -> str:
    """`text` in ASCII signs, without a final full stop and marks of code, mathematics or bold type."""
    text = text.translate(_ASCII).strip().removesuffix(".").strip("`$ \t\r\n")
    return text.removeprefix("**").removesuffix("**").strip("`$ \t\r\n")


def _postfix(text: str) -> tuple[int | str, ...] | Verdict:
    """The expression in postfix order, by operator precedence with a stack of its own."""
    out: list[int | str] = []
    stack: list[str] = []
    wants_operand = True
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None:
            shown = text[at:end].lstrip()[:1]
            return _refused(f"only whole numbers, + - * / and parentheses, not {shown!r}")
        at = match.end()
        digits, sign = match.groups()
        if digits is not None:
            if not wants_operand:
                return _refused(f"an operator is missing before {digits[:20]}")
            if len(digits) > MAX_DIGITS:
                return _refused(f"a number has at most {MAX_DIGITS} digits")
            out.append(int(digits))
            wants_operand = False
        elif sign == "(":
            if not wants_operand:
                return _refused("an operator is missing before '('")
            stack.append(sign)
        elif wants_operand:
            if sign != "-" or (stack and stack[-1] == "neg"):
                return _refused(f"a number is missing before {sign!r}")
            stack.append("neg")
        elif sign == ")":
            while stack and stack[-1] != "(":
                out.append(stack.pop())
            if not stack:
                return _refused("a ')' has no '('")
            stack.pop()
        else:
            while stack and stack[-1] != "(" and _BINDING[stack[-1]] >= _BINDING[sign]:
                out.append(stack.pop())
            stack.append(sign)
            wants_operand = True
    if wants_operand:
        return _refused("the expression breaks off")
    while stack:
        sign = stack.pop()
        if sign == "(":
            return _refused("a '(' has no ')'")
        out.append(sign)
    return tuple(out)


def _refused(evidence: str) -> Verdict:
    return unusable("refused_syntax", evidence)


def _apply(sign: str, left: Fraction, right: Fraction) -> Fraction:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return left / right


class CountdownParams(Struct, frozen=True):
    """Parameters of `CountdownVerifier`."""

    use_all: Annotated[
        bool, Meta(description="Whether each number must be used once, else at most once.")
    ] = True


class CountdownVerifier(Verifier[CountdownParams]):
    """Score 1 for an expression that uses the numbers as asked and equals the target, else 0.

    Judged with reason `correct`, `wrong_value`, `wrong_claim`, `wrong_numbers` or
    `division_by_zero`; unusable with `no_answer`, `several_answers`, `refused_syntax`, `too_long` or
    `not_text`. The reference is `{"numbers": [whole numbers], "target": whole number}`.
    """

    id: ClassVar[str] = "math/countdown"
    version: ClassVar[int] = 2
    evidence: ClassVar[str] = (
        "The exact value of the last expression in the reply and the numbers in it; work before it and "
        "earlier expressions count for nothing."
    )
    about: ClassVar[str] = (
        "An expression in <answer> tags over the given numbers must equal the target exactly; "
        "use_all: each number once, else at most once."
    )

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge the expression in a reply against the numbers and the target of `task`."""
        numbers, target = reference_of(task)
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        answer = read(submission)
        if isinstance(answer, Verdict):
            return answer
        wrong = self._misused(answer.numbers, numbers)
        if wrong:
            return scored(0.0, "wrong_numbers", wrong)
        try:
            value = answer.value()
        except ZeroDivisionError:
            return scored(0.0, "division_by_zero", "the expression divides by zero")
        if value != target:
            return scored(0.0, "wrong_value", f"the expression is {value}, not {target}")
        if answer.claim is not None and answer.claim != target:
            return scored(0.0, "wrong_claim", f"it claims {answer.claim}, but is {value}")
        return scored(1.0, "correct", f"the expression is {target}")

    def _misused(self, used: list[int], given: list[int]) -> str:
        """Return the fault in the numbers used as a sentence; empty if there is none."""
        extra = Counter(used) - Counter(given)
        if extra:
            return f"used more often than given: {_listed(extra)}"
        left = Counter(given) - Counter(used)
        if left and self.settings.use_all:
            return f"not used: {_listed(left)}"
        return ""


def _listed(numbers: Counter[int]) -> str:
    shown = sorted(numbers.elements())
    return ", ".join(map(str, shown[:8])) + (", ..." if len(shown) > 8 else "")


def reference_of(task: Task) -> tuple[list[int], int]:
    """The numbers and the target of `task`. Raises TaskError if they cannot be used."""
    reference = task.reference
    if not isinstance(reference, dict):
        raise TaskError(f"task {task.id}: the reference must be an object with numbers and target")
    numbers, target = reference.get("numbers"), reference.get("target")
    if not isinstance(numbers, list | tuple) or not numbers:
        raise TaskError(f"task {task.id}: numbers must be a list of at least one, got {numbers!r}")
    if not _whole(target) or not all(map(_whole, numbers)):
        raise TaskError(
            f"task {task.id}: numbers and target must be whole, got {numbers!r} and {target!r}"
        )
    if min(numbers) < 0:
        raise TaskError(f"task {task.id}: numbers must not be negative, got {min(numbers)}")
    return list(numbers), target


def _whole(value: JSON) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
