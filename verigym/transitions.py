"""Records that an environment and its players exchange: drafts, transitions, moves and snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from verigym.canonical import JSON
from verigym.task import Task

State = TypeVar("State")

# Drafts, transitions and moves are not frozen: they are read once, and making one would take thrice as
# long.


@dataclass(slots=True, kw_only=True)
class Draft:
    """Result of `generate`: a task without its name. `reference` is hidden plain data.

    `essence` decides the split; without one the reference does, the prompt never. It is the plain data that
    makes the task, such as operands, a board, or a query, without the words that ask for it: rewording a
    prompt then moves no task to another split. Leave out what similar tasks do not share, and what is not
    known before the costly work (`Env.wants`).
    """

    prompt: str
    reference: JSON
    tags: tuple[str, ...] = ()
    essence: JSON = None


@dataclass(slots=True, kw_only=True)
class Transition(Generic[State]):
    """Effect of one action. `submission`, if not None, is judged, and its score is the reward.

    `terminated` ends the episode by the rules of the task. If the turn limit ends the episode,
    `Env.submission` gives the submission instead.
    """

    state: State
    terminated: bool = False
    valid: bool = True
    submission: JSON = None


@dataclass(slots=True, kw_only=True)
class Move(Generic[State]):
    """A proposed action (`Env.propose`) that has not been played yet."""

    task: Task
    state: State
    """The state in which the action was proposed."""
    turn: int
    """The number of moves played before it."""
    transition: Transition[State]
    truncated: bool
    """The turn limit ends the episode with this move."""
    submission: JSON
    """The submission to judge before the move can be committed; None if nothing is judged."""


@dataclass(frozen=True, kw_only=True)
class Snapshot(Generic[State]):
    """A point of play to return to with `Env.restore`; an immutable value, safe to keep and share."""

    task: Task
    state: State
    turn: int
    done: bool
    difficulty: str
    split: str
    rng: dict[str, Any]
