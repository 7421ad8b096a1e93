"""`doors/reasoning-gym`: replies to the tasks of reasoning-gym, judged safely and for full marks only.

The library's own scorers run `eval` on answers (n_queens, string_insertion, spiral_matrix,
binary_matrix; through sympy: countdown, puzzle24, polynomial_multiplication and both integrations), pay
for junk ("0" on coin_flip, any text on game_of_life_halting, any four numbers that make 24 on puzzle24)
and for a part of the way. So each task is judged in the way that `JUDGES` says:

- `exact`: the answer is the reference, blanks and empty lines aside; `nocase`: letter case aside too;
- `one_of`: exactly one of several; `json`: the same JSON; `items`: the same list, whatever its quotes; `factors`, `reals`: the same numbers in any
  order, reals to 0.001; `near`: one decimal number or fraction to 0.0001;
- `theirs`: the library's scorer, where it only compares and replays, gives 1; where it would pick the
  answer out of any text, that must have the answer's form (`_FORMS`). The question is made again
  from its seed for it, so this needs the library; the others do not.

Tasks whose answer is a number or a formula are judged by `math/answer`, countdown and puzzle24 by
`math/countdown`; they are not listed here. Arithmetic on answers is bounded: numbers of at most 40
characters, and 65,536 characters of answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import DecimalException
from fractions import Fraction
from typing import Any, ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError, SandboxError, TaskError
from verigym.reply import last_answer, spoken
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.doors.reasoning_items import NotMade, item
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.strict_json import NotJson, read_json

_MOST_CHARS = 1 << 16
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:/\d{1,30})?", re.ASCII)
# What an answer must look like before their scorer sees it: these pick what they want out of any text, and
# the cube takes seconds for repetitions in brackets and for long rows.
_FORMS = {
    task: re.compile(form, re.ASCII | re.IGNORECASE)
    for task, form in {
        "advanced_geometry": r"\(?\s*-?[\d.]{1,30}\s*(?:,\s*-?[\d.]{1,30}\s*)?\)?\s*°?",
        "fraction_simplification": r"\$?\s*(?:\\[dt]?frac\{\d{1,30}\}\{\d{1,30}\}|\d{1,30}\s*/\s*\d{1,30})\s*\$?",
        "kakurasu": r"[01\s,|\[\]]{1,2000}",
        "knights_knaves": r"\w+ is an? \w+(?:[\s,.]+(?:and\s+)?\w+ is an? \w+){0,30}\.?",
        "quantum_lock": r"[A-C](?:[\s,→>-]{0,5}[A-C]){0,40}",
        # Nothing is tried twice (++): letters in a row could be split in countless ways.
        "rubiks_cube": r"(?:[A-Z]{1,2}+['2]{0,2}+\s*+){1,200}+",
        "sokoban": r"[UDLR\s,]{1,2000}",
    }.items()
}
# What a scorer may raise on junk; anything else is a fault of the verifier.
_RAISED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DecimalException,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def _squeezed(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _exact(answer: str, right: str) -> bool:
    return _squeezed(answer) == _squeezed(right)


def _nocase(answer: str, right: str) -> bool:
    return _squeezed(answer).casefold() == _squeezed(right).casefold()


def _json(answer: str, right: str) -> bool:
    try:
        return bool(_typed(read_json(answer)) == _typed(json.loads(right)))
    except NotJson:
        return False


def _typed(value: Any) -> Any:
    """Lists as they are, numbers and texts apart: True is not 1."""
    if isinstance(value, list):
        return [_typed(one) for one in value]
    if isinstance(value, dict):
        return {key: _typed(one) for key, one in value.items()}
    return (isinstance(value, bool), value)


def _items(answer: str, right: str) -> bool:
    """Texts of a list, in order, whatever their quotes."""
    strip = " \t\n\"'"
    listed = [
        [one.strip(strip) for one in text.strip().removeprefix("[").removesuffix("]").split(",")]
        for text in (answer, right)
    ]
    return listed[0] == listed[1]


def _numbers(text: str, separator: str) -> list[Fraction] | None:
    parts = [part.strip() for part in re.split(separator, text) if part.strip()]
    if len(parts) > 200 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        return sorted(Fraction(part) for part in parts)
    except ZeroDivisionError:
        return None


def _near(answer: str, right: str, separator: str = r"\n", most: str = "1/10000") -> bool:
    ours, wanted = _numbers(answer, separator), _numbers(right, separator)
    if ours is None or wanted is None or len(ours) != len(wanted):
        return False
    return all(abs(a - b) <= Fraction(most) for a, b in zip(ours, wanted, strict=True))


JUDGES: Mapping[str, Callable[[str, str], bool]] = {
    "exact": _exact,
    "nocase": _nocase,
    "json": _json,
    "items": _items,
    "factors": lambda answer, right: _near(answer, right, r"[×x*·\n]", "0"),
    "reals": lambda answer, right: _near(answer, right, r"[,;\n]", "1/1000"),
    "near": _near,
}


class ReasoningVerifier(Verifier):
    """Score 1 for the right answer inside `<answer>` tags, else 0.

    The reference is `{"task": name, "judge": kind, "answer": text}`, or `answers` for `one_of`, or for
    `theirs` `level` and `seed`. Reasons: `correct`, `wrong_answer`; unusable `no_answer`, `too_long`.
    """

    id: ClassVar[str] = "doors/reasoning-gym"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Judges the answer in the last <answer> tag of a reply to a task of reasoning-gym."
    )
    evidence: ClassVar[str] = (
        "The text in the last answer tag; the rest of the reply does not count."
    )

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        if not isinstance(reference, Mapping) or not isinstance(reference.get("judge"), str):
            raise TaskError('the reference must be {"task": name, "judge": kind, ...}')
        if not isinstance(submission, str):
            return unusable("no_answer", "a reply is text")
        answer = last_answer(spoken(submission))
        if answer is None or not answer.strip():
            return unusable("no_answer", "there is nothing in <answer> tags")
        if len(answer) > _MOST_CHARS:
            return unusable("too_long", f"the answer has {len(answer)} characters")
        right = _is_right(reference, answer.strip("\n"))
        return scored(float(right), "correct" if right else "wrong_answer", show(answer))


def _is_right(reference: Mapping[str, Any], answer: str) -> bool:
    kind = reference["judge"]
    if kind == "one_of":
        return any(_exact(answer, one) for one in reference["answers"])
    if kind == "theirs":
        return _their_score(reference, answer.strip()) >= 1.0
    if kind not in JUDGES or not isinstance(reference.get("answer"), str):
        raise TaskError(f"judge {kind!r} is unknown, or there is no answer")
    return JUDGES[kind](answer, reference["answer"])


def _their_score(reference: Mapping[str, Any], answer: str) -> float:
    form = _FORMS.get(reference["task"])
    if form is not None and not form.fullmatch(answer):
        return 0.0
    try:
        dataset, entry = item(reference["task"], reference["level"], reference["seed"])
    except (NotMade, RequestError) as error:
        raise SandboxError(str(error)) from error
    try:
        return float(dataset.score_answer(answer, entry))
    except _RAISED:
        return 0.0
