"""`games/replay`: the moves of a submission, replayed one by one by the game's own rules, to its goal.

The reference is `{"game": name, ...}` with what that game's `start` reads (`rules.py`; other packages
publish rules, see `find_rules.py`), and perhaps
`max_moves` (a budget, part of the task) and `shortest` (the fewest moves, for the part `efficiency`).

The submission is a list of moves, or text: the inside of the last `<answer>` tag, else the one fenced
block, else the whole reply; a JSON list, or moves separated by commas, semicolons or new lines, else
by spaces. Thoughts before `</think>` do not count.

With `"opponent": "self"` a game of two is replayed with the moves of both sides in turn, and the score is
that of the side which began: 1, 1/2 for a draw, or 0 (`contests.py`).

Covers: illegal moves, moves after the goal, budgets, moves in masses, junk between moves. Nothing that
was submitted is run; every move costs about a microsecond to some ten of them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import fenced, program, scope
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.games.contests import CONTESTS, SELF, Contest, judged
from verigym.verifiers.games.find_rules import rules_of
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.strict_json import NotJson, read_json

MAX_CHARS = 1 << 20

_SEPARATORS = re.compile(r"[,;\n]")
_BRACKETS = re.compile(r"[\[(][^\[\]()]{0,20}[\])]")
_NUMBERING = re.compile(r"^\s*\d+[.)]\s+")


class MoveReader(Protocol):
    """Reader that recognises moves in text."""

    def read(self, move: JSON) -> Hashable | None:
        """Return a move in canonical form; None if the text is not a move."""


class ReplayParams(Struct, frozen=True):
    """Parameters of `ReplayVerifier`."""

    after_goal: Annotated[
        Literal["refuse", "ignore"],
        Meta(description="Whether moves after the goal spoil it or are not looked at."),
    ] = "refuse"
    max_moves: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Moves that are replayed at most; the task's own budget is in its reference.",
        ),
    ] = 10_000


class ReplayVerifier(Verifier[ReplayParams]):
    """Score 1 for moves that are legal one after the other and end at the goal, else 0.

    Judged with `goal_reached`, `goal_not_reached`, `illegal_move`, `moves_after_goal`, `over_budget`
    (the task's `max_moves`); unusable with `no_moves`, `unknown_move`, `too_many_moves`, `bad_json`,
    `duplicate_key`, `too_deep`, `too_long`, `not_moves`. Moves are counted from 1. `parts`: `legal`,
    the share of moves made before the replay ended, `efficiency` where `shortest` is given, and
    `progress` where the rules say how much of the goal is reached (`share`).
    With opponent `self`: `first_wins`, `draw`, `second_wins`, `first_forfeits`, `second_forfeits`,
    `not_over`; unusable with `moves_after_end`.
    """

    id: ClassVar[str] = "games/replay"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Replays moves by the rules of a named game (2048, hanoi, sokoban and others); they must "
        "all be legal and reach the goal. The submission is a list of moves, or text."
    )

    evidence: ClassVar[str] = (
        "The moves and the state they lead to; words beside them count for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"legal": 0.0, "efficiency": 0.0, "progress": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._most = self.settings.max_moves

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        rules, reference = rules_of(task)
        game = str(reference["game"])
        if reference.get("opponent") == SELF and game in CONTESTS:
            return self._contest(CONTESTS[game], reference, submission)
        state = rules.start(reference)
        budget, shortest = _optional(reference, "max_moves"), _optional(reference, "shortest")
        if rules.won(state):
            raise TaskError(f"{game}: the start is the goal, so no move would be paid")
        moves = self._read(submission, rules)
        if isinstance(moves, Verdict):
            return moves
        for number, written in enumerate(moves, 1):
            if rules.won(state):
                if self.settings.after_goal == "ignore":
                    return self._reached(number - 1, len(moves), budget, shortest)
                return scored(
                    0.0,
                    "moves_after_goal",
                    f"the goal was reached before move {number}",
                    _parts(number - 1, len(moves)),
                )
            move = rules.read(written)
            if move is None:
                return unusable(
                    "unknown_move", f"move {number}, {show(written)}, is none of {game}"
                )
            if not rules.legal(state, move):
                return scored(
                    0.0,
                    "illegal_move",
                    f"move {number}, {show(written)}, is illegal",
                    _parts(number - 1, len(moves)) | _progress(rules, state),
                )
            state = rules.apply(state, move)
        if rules.won(state):
            verdict = self._reached(len(moves), len(moves), budget, shortest)
            return replace(verdict, parts={**verdict.parts, **_progress(rules, state)})
        return scored(
            0.0,
            "goal_not_reached",
            f"{len(moves)} legal moves do not reach the goal",
            _parts(len(moves), len(moves)) | _progress(rules, state),
        )

    def _contest(
        self, contest: Contest, reference: Mapping[str, JSON], submission: JSON
    ) -> Verdict:
        moves = self._read(submission, contest)
        return moves if isinstance(moves, Verdict) else judged(contest, reference, moves)

    def _read(self, submission: JSON, rules: MoveReader) -> Sequence[JSON] | Verdict:
        moves = _moves(submission, rules)
        if isinstance(moves, Verdict):
            return moves
        if not moves:
            return unusable("no_moves", "the submission holds no moves")
        if len(moves) > self._most:
            return unusable("too_many_moves", f"{len(moves)} moves, {self._most} are replayed")
        return moves

    def _reached(self, used: int, given: int, budget: int | None, shortest: int | None) -> Verdict:
        parts = _parts(used, given) | {"legal": 1.0}
        if shortest is not None:
            parts["efficiency"] = min(1.0, shortest / used)
        if budget is not None and used > budget:
            return scored(0.0, "over_budget", f"{used} moves, {budget} are allowed", parts)
        return scored(1.0, "goal_reached", f"in {used} moves", parts)


def _progress(rules: Any, state: Any) -> dict[str, float]:
    """Return the share of the goal reached; empty if the rules do not measure it."""
    return {"progress": rules.share(state)} if hasattr(rules, "share") else {}


def _parts(made: int, given: int) -> dict[str, float]:
    return {"legal": made / given}


def _moves(submission: JSON, rules: MoveReader) -> Sequence[JSON] | Verdict:
    """The moves as written, or the verdict on a submission without any that can be read."""
    if isinstance(submission, list | tuple):
        return submission
    if not isinstance(submission, str):
        return unusable("not_moves", "the submission must be a list of moves, or text")
    if len(submission) > MAX_CHARS:
        return unusable("too_long", f"{len(submission)} characters, {MAX_CHARS} are read")
    blocks = len(fenced(scope(submission)))
    if blocks > 1:
        return unusable("not_moves", f"{blocks} fenced blocks; give the moves once")
    text = program(submission).strip()
    if text.startswith(("[[", '["')) or (text.startswith("[") and not _BRACKETS.match(text)):
        return _from_json(text)
    if text.startswith("[") and text.endswith("]") and text.count("[") == 1 and '"' not in text:
        # [1, 3] may be one move of two numbers or two moves of one: JSON says two.
        return _from_json(text)
    pairs = _BRACKETS.findall(text)
    if pairs and not _BRACKETS.sub("", text).strip(" ,;\n\t"):
        return pairs
    if rules.read(text) is not None:
        return [text]
    parts = _SEPARATORS.split(text) if _SEPARATORS.search(text) else text.split()
    return [_NUMBERING.sub("", part).strip(" .") for part in parts if part.strip(" .")]


def _from_json(text: str) -> Sequence[JSON] | Verdict:
    try:
        value = read_json(text)
    except NotJson as error:
        return unusable(error.reason, str(error))
    if not isinstance(value, list):
        return unusable("not_moves", "the JSON is not a list of moves")
    return value


def _optional(reference: Mapping[str, JSON], name: str) -> int | None:
    value = reference.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TaskError(f"{name} must be a whole number above 0, got {value!r}")
    return value
