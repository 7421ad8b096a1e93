"""`doors/replay`: the actions of an episode, replayed in the other library's game from its hidden
seed.

The submission is a list of texts, one per turn, valid or not: each game decides how to treat an
invalid action. The score is the game's score at its end; claims in the submission do not count.
The verifier needs the library that plays the game; without it the verdict is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError, SandboxError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.doors.game import start


class DoorReplayParams(Struct, frozen=True):
    """Parameters of `DoorReplayVerifier`."""

    max_chars: Annotated[int, Meta(ge=1, description="Characters of one action at most.")] = 4096


class DoorReplayVerifier(Verifier[DoorReplayParams]):
    """Score of the game at its end; for a game that is not over, the score for giving up there.

    Judged with `won`, `part` (between 0 and 1) and `not_won`; unusable with `not_moves`, `too_long`,
    `too_many_moves` and `moves_after_the_end`.
    """

    id: ClassVar[str] = "doors/replay"
    version: ClassVar[int] = 1
    about: ClassVar[str] = (
        "Replays the actions of an episode, a list of texts, in a game of another library."
    )
    evidence: ClassVar[str] = (
        "The actions and the game they lead to; words beside them do not count."
    )

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not isinstance(submission, list | tuple):
            return unusable("not_moves", "the submission must be a list of texts, one a turn")
        moves: list[str] = []
        for number, move in enumerate(submission, 1):
            if not isinstance(move, str):
                return unusable("not_moves", f"move {number} is no text")
            if len(move) > self.settings.max_chars:
                return unusable("too_long", f"move {number} has {len(move)} characters")
            moves.append(move)
        try:
            game = start(task.reference)
        except RequestError as error:
            raise SandboxError(str(error)) from error
        assert isinstance(task.reference, Mapping)
        if len(moves) > int(str(task.reference["turns"])):
            return unusable("too_many_moves", f"{len(moves)} moves; the task gives fewer turns")
        for number, move in enumerate(moves, 1):
            if game.over:
                return unusable("moves_after_the_end", f"the game ended before move {number}")
            game.act(move)
        score = min(1.0, max(0.0, float(game.score)))
        reason = "won" if score == 1.0 else "part" if score else "not_won"
        return scored(score, reason, f"after {len(moves)} moves the game gives {score:g}")
