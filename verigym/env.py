"""`Env`: a `gymnasium.Env` of text over a functional core that an author writes.

An author subclasses `Env[State]`, names `difficulties` and `max_turns`, and writes `generate`,
`initial`, `observe`, `transition` and `solve`. States are immutable values; `Env` keeps the
current one, so a step happens completely or not at all, and snapshots cost nothing.
"""

from __future__ import annotations

import string
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic

import gymnasium
import numpy as np
from gymnasium.envs import registration
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Text
from gymnasium.utils import seeding

from verigym.canonical import JSON, digest, is_encodable
from verigym.errors import RequestError, TaskError, suggestion
from verigym.judge import Judge
from verigym.judge_finder import judge_for
from verigym.levels import HIGHEST, Difficulty, Scale, scale
from verigym.seeds import checked_seed, generator_of
from verigym.splits import checked_split, split_by_essence, split_of_essence
from verigym.task import Task
from verigym.transitions import Draft, Move, Snapshot, State, Transition
from verigym.verdict import Verdict, VerifierFault

__all__ = ["CHARSET", "Draft", "Env", "Move", "Snapshot", "Transition"]

_MAX_DRAWS = 1000

CHARSET = frozenset(string.printable)

TASK_OVER = "The task is over."
NO_TURNS_LEFT = "The task is over: no turns are left."
"""Last observations that stand in for one that is empty or the same as before the action."""


class Env(ABC, gymnasium.Env[str, str], Generic[State]):
    """Base of every environment. Gymnasium 1.x: text in, text out, five-tuple steps.

    `difficulty` is a level, 7 or "7", or a name of `difficulties`; `split` is one of `SPLITS`.
    `reset(options=...)` takes both too, and `task` to play a given `Task`. `max_turns` None takes the task's own limit.
    `verifier` is None (the environment's own, in process), a `Judge`, or the URL of a service.
    `info` always carries `task_id`, `state_key`, `valid_action` and `legal_actions` (None if they
    cannot be listed), and `verdict` (None if nothing was judged).
    `step` raises VerifierFault if there is no score; the state is then unchanged and the same step may
    be repeated. It calls `propose`, which changes nothing, then the verifier, then `commit`. To step
    many environments at once, propose all moves, judge them in one batch, and commit them.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own name and type

    id: ClassVar[str]
    """Full id with version, as registered."""
    verifier_id: ClassVar[str]
    """Id of the default verifier."""
    verifier_params: ClassVar[Mapping[str, JSON]] = {}
    """Parameters of that verifier, if they differ from the defaults."""
    difficulties: ClassVar[tuple[str, ...]]
    """Names of the difficulties from easy to hard; at least three. The first is the default."""
    levels: ClassVar[int] = HIGHEST
    """Highest level, at least that of the last name. An environment whose problems cannot grow so far says
    less, and its docstring why."""
    only_named: ClassVar[bool] = False
    """If True, only the levels that `difficulties` names exist: rows and settings that others made."""
    max_observation_chars: ClassVar[int] = 8192
    max_action_chars: ClassVar[int] = 4096
    judges_reply: ClassVar[bool] = False
    """If True, `transition` gets whole replies, thoughts and tags included, so that a verifier may judge
    their form; otherwise it gets the action in the reply (`verigym.reply.action`)."""
    oracle_absent: ClassVar[str | None] = None
    """Reason why there is no solver; None if there is one."""
    chance: ClassVar[float] = 0.05
    """Maximum mean reward of random play at any difficulty; `verigym check` measures it."""
    recoverable: ClassVar[bool] = True
    """True if full marks can be reached from every state; False for games with dead ends, in which
    `solve` raises RequestError."""
    costly: ClassVar[bool] = False
    """True if each verdict runs programs; `verigym check` then plays fewer seeds."""
    made_with: Mapping[str, Any] | None = None
    """Arguments given to `verigym.make`; None if the class was called directly."""
    waived: ClassVar[Mapping[str, str]] = {}
    """Laws of `verigym check` that the environment does not claim to keep, with the reason, by name; for
    adapters to environments of other libraries."""

    def __init__(
        self,
        *,
        difficulty: Difficulty | None = None,
        split: str = "train",
        max_turns: int | None = None,
        verifier: Judge | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise RequestError(f"render_mode must be None or 'ansi', got {render_mode!r}")
        if max_turns is not None and (type(max_turns) is not int or max_turns < 1):
            raise RequestError(f"max_turns must be a whole number of at least 1, got {max_turns!r}")
        self.render_mode = render_mode
        self.difficulty = self.written(self.difficulties[0] if difficulty is None else difficulty)
        """The level, written as its name or as a decimal string."""
        self.split = checked_split(self.id, split)
        self.max_turns = max_turns
        self.verifier: Judge = judge_for(self.verifier_id, self.verifier_params, verifier)
        self._drawing = split
        """Split for which a task is being drawn."""

    # Before the first `reset`; kept in the class, so that an instance holds no more than it must.
    _task: Task | None = None
    _state: State | None = None
    _turn: int = 0
    _done: bool = True
    _rng: np.random.Generator | None = None
    _spec: EnvSpec | None = None
    verify_s: float = 0.0
    """Seconds that the last step spent in its verifier; for ledgers, never part of the play."""

    # Made when they are asked for: both together take seven times as much memory as the rest.

    @cached_property
    def observation_space(self) -> Text:  # type: ignore[override]
        """Text of at most `max_observation_chars` characters."""
        return Text(self.max_observation_chars, min_length=0, charset=CHARSET)

    @cached_property
    def action_space(self) -> Text:  # type: ignore[override]
        """Text of at most `max_action_chars` characters."""
        return Text(self.max_action_chars, min_length=0, charset=CHARSET)

    # As are these two, which Gymnasium looks for under their names.

    @property
    def _np_random(self) -> np.random.Generator:
        if self._rng is None:
            self._rng, self._np_random_seed = seeding.np_random(self._np_random_seed)
        return self._rng

    @_np_random.setter
    def _np_random(self, value: np.random.Generator) -> None:
        self._rng = value

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's spec to make the environment again; None if the class was called directly."""
        if self._spec is None and self.made_with is not None:
            self._spec = replace(registration.registry[self.id], kwargs=dict(self.made_with))
        return self._spec

    @spec.setter
    def spec(self, value: EnvSpec | None) -> None:
        self._spec = value

    # What an author writes.

    @abstractmethod
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Return a problem of `level` (1 is the easiest), drawn from `rng` alone. Called again until its
        content falls in the split."""

    @abstractmethod
    def initial(self, task: Task) -> State:
        """Return the immutable state in which `task` starts."""

    @abstractmethod
    def observe(self, state: State) -> str:
        """Return the observation of `state`, without the prompt; may be empty.

        If an episode ends in a state that shows nothing new, `commit` returns `TASK_OVER` or
        `NO_TURNS_LEFT` instead."""

    @abstractmethod
    def transition(self, state: State, action: str) -> Transition[State]:
        """Return the effect of `action` in `state`. Pure; any text is an action, most of it invalid.

        `action` is the part of the policy's reply that `action_in` returns: without thoughts."""

    @abstractmethod
    def solve(self, state: State) -> str:
        """Return an optimal next action in `state` (the oracle)."""

    @abstractmethod
    def turns_allowed(self, task: Task) -> int:
        """Return the turn limit of `task`."""

    def judged(self, moved: Transition[State], verdict: Verdict) -> Transition[State]:
        """Return `moved` updated with the verdict on its submission; by default unchanged.

        If the policy is shown the verdict, the new state carries it; `terminated` may be set. Pure.
        """
        return moved

    def submission(self, state: State) -> JSON:
        """Return the submission to judge if the turn limit ends the episode in `state`; None for none."""
        return None

    def key(self, state: State) -> JSON:
        """Return the part of `state` that decides the future, without history; plain data."""
        raise TaskError(f"{type(self).__name__} must define key(state)")

    def legal_actions(self, state: State) -> list[str] | None:
        """Return the valid actions in `state`; None if they cannot be listed."""
        return None

    def candidates(self, task: Task) -> list[str]:
        """Return all plausible answers to `task`, if they can be listed; naming all must earn nothing."""
        return []

    def work(self, state: State) -> int:
        """Return how many elementary operations it takes to find `solve(state)`.

        An elementary operation is what a person writes down in one go: to add two digits, to look up a
        cell, to compare two numbers, to follow a reference. `work` runs a solver that performs each
        operation and counts it there; it neither calculates the number by a formula nor keeps it. `verigym
        check` counts the lines that run meanwhile, which must be at least as many, and checks that the
        sum over the oracle's play rises with the level.
        """
        return 1

    # What everyone calls.

    @property
    def task(self) -> Task:
        """Current task. Raises RequestError before the first `reset`."""
        if self._task is None:
            raise RequestError("call reset() first")
        return self._task

    @property
    def state(self) -> State:
        """Current state, an immutable value. Raises RequestError before the first `reset`."""
        if self._state is None:
            raise RequestError("call reset() first")
        return self._state

    def view(self) -> str:
        """Return the current observation without the prompt that `reset` puts before it."""
        return self.observe(self.state)

    def oracle(self) -> str:
        """Return an optimal next action. Raises RequestError if there is no solver."""
        if self.oracle_absent:
            raise RequestError(f"{self.id} has no oracle: {self.oracle_absent}")
        return self.solve(self.state)

    def state_key(self) -> str:
        """Return the digest of the true state and the task's content, without history; 32 hex characters. Equal keys
        mean that the same actions lead to the same future."""
        return digest(self.id, self.task.content, self.key(self.state))[:32]

    @classmethod
    def scale(cls) -> Scale:
        """Return the levels that the environment has, with their names."""
        return scale(cls.difficulties, cls.levels, cls.only_named)

    @classmethod
    def written(cls, difficulty: Difficulty) -> str:
        """Return a level as tasks and ids write it: its name, or a decimal string if it has none. Raises
        RequestError if the environment has no such level."""
        known = cls.scale()
        if (form := known.form(difficulty)) is None:
            raise RequestError(
                f"{cls.id} has no difficulty {difficulty!r}; {known.wanted(difficulty)}"
            )
        return form

    @classmethod
    def level_of(cls, difficulty: Difficulty) -> int:
        """Return the number of a level or name. Raises RequestError if the environment has no such level."""
        return cls.scale().levels[cls.written(difficulty)]

    def sample_task(
        self, seed: int, difficulty: Difficulty | None = None, split: str | None = None
    ) -> Task:
        """Return the task that `reset(seed=seed)` plays, without playing it."""
        seed = checked_seed(seed)
        return self._draw(
            generator_of(seed),
            seed,
            self.difficulty if difficulty is None else self.written(difficulty),
            checked_split(self.id, split or self.split),
        )

    def split_of(self, draft: Draft) -> str:
        """Return the split of `draft`, by its essence or reference; each is in one split only."""
        return split_by_essence(draft)

    def wants(self, essence: JSON) -> bool:
        """Return True if a draft with this `essence` falls in the split that is being drawn.

        `generate` can call it before costly work, and draw again if it returns False: at least half of
        all drafts are discarded.
        """
        return split_of_essence(essence) == self._drawing

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start a task; the same seed and options give the same one on any machine (law 2).

        Without a seed the next one is drawn from `np_random`. `options` may hold `difficulty`,
        `split` and `task` (a `Task` of this environment, played as it is).
        """
        difficulty, split, task = self._chosen(options)  # before anything changes
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        else:
            seed = checked_seed(seed)
            self._rng, self._np_random_seed = None, seed
        self.difficulty = difficulty
        self.split = split
        if task is None:
            task = self._draw(generator_of(seed), seed, difficulty, split)
        self._task = task
        self._state = state = self.initial(task)
        self._turn = 0
        self._done = False
        view = self.observe(state)
        return f"{task.prompt}\n\n{view}" if view else task.prompt, self._info(True, None)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one action. The reward is the verdict's score if a submission was judged, else 0.

        Raises VerifierFault if there is no score; the state is unchanged, so repeat the step or give up.
        """
        move = self.propose(action)
        self.verify_s = 0.0
        if move.submission is None:
            return self.commit(move)
        began = time.perf_counter()
        verdict = self.verifier.verify(move.task, move.submission)
        self.verify_s = time.perf_counter() - began
        return self.commit(move, verdict)

    def propose(self, action: str) -> Move[State]:
        """Return the effect of `action` in the current state and the submission to judge. Changes nothing.

        Raises RequestError before `reset`, after the end of the episode, and if `action` is not a string.
        """
        task = self.task
        if self._done:
            raise RequestError("the episode is over; call reset()")
        if not isinstance(action, str):
            raise RequestError(f"an action is text, got {type(action).__name__}")
        action = self.action_in(action)
        state = self.state
        if len(action) > self.max_action_chars or not (action.isascii() or is_encodable(action)):
            moved = Transition(state=state, valid=False)
        else:
            moved = self.transition(state, action)
        submission, truncated = moved.submission, False
        if not moved.terminated:
            truncated = self._turn + 1 >= (self.max_turns or self.turns_allowed(task))
            if truncated and submission is None:
                submission = self.submission(moved.state)
        return Move(
            task=task,
            state=state,
            turn=self._turn,
            transition=moved,
            truncated=truncated,
            submission=submission,
        )

    def commit(
        self, move: Move[State], verdict: Verdict | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play a proposed move with the verdict on its submission; return the same as `step`.

        Raises VerifierFault if the verdict has no score, RequestError if it is missing or the move was
        proposed in another state. The state is then unchanged.
        """
        if (
            move.state is not self._state
            or move.turn != self._turn
            or move.task is not self._task
            or self._done
        ):
            raise RequestError("the move was proposed in another state; propose it again")
        moved, truncated, reward = move.transition, move.truncated, 0.0
        if (verdict is None) != (move.submission is None):
            missing = "a verdict" if verdict is None else "no verdict, nothing was submitted"
            raise RequestError(f"the move needs {missing}")
        if verdict is not None:
            if verdict.score is None:
                raise VerifierFault(verdict)
            reward = verdict.score
            moved = self.judged(moved, verdict)
            truncated = truncated and not moved.terminated
        view = self.observe(moved.state)
        if (moved.terminated or truncated) and (not view or view == self.observe(move.state)):
            view = NO_TURNS_LEFT if truncated else TASK_OVER
        self._state = moved.state
        self._turn += 1
        self._done = moved.terminated or truncated
        return view, reward, moved.terminated, truncated, self._info(moved.valid, verdict)

    def action_in(self, reply: str) -> str:
        """Return the part of a reply that `transition` gets, by `judges_reply`. A whole reply of more than
        `max_action_chars` characters is judged without its thoughts."""
        if self.judges_reply and len(reply) <= self.max_action_chars:
            return reply
        # Imported where it is needed: its patterns take a tenth of the time that importing Verigym may.
        from verigym.reply import action

        return action(reply)

    def render(self) -> str | None:
        """Return the current observation for a person in mode `ansi`, else None."""
        return self.view() or self.task.prompt if self.render_mode == "ansi" else None

    def snapshot(self) -> Snapshot[State]:
        """Return this point of play, to `restore` any number of times, here or in another instance."""
        return Snapshot(
            task=self.task,
            state=self.state,
            turn=self._turn,
            done=self._done,
            difficulty=self.difficulty,
            split=self.split,
            rng=dict(self.np_random.bit_generator.state),
        )

    def restore(self, snapshot: Snapshot[State]) -> None:
        """Continue from `snapshot` exactly like the instance that took it."""
        self._task = snapshot.task
        self._state = snapshot.state
        self._turn = snapshot.turn
        self._done = snapshot.done
        self.difficulty, self.split = snapshot.difficulty, snapshot.split
        self.np_random.bit_generator.state = snapshot.rng

    # Internals.

    def _chosen(self, options: Mapping[str, Any] | None) -> tuple[str, str, Task | None]:
        """Return difficulty, split and task from the options of `reset`."""
        if options is None:
            options = {}
        elif not isinstance(options, Mapping):
            raise RequestError(f"options must be a dictionary, got {options!r}")
        known = ("difficulty", "split", "task")
        for name in options:
            if name not in known:
                raise RequestError(f"unknown reset option {name!r}; {suggestion(name, known)}")
        task = options.get("task")
        if task is not None and (not isinstance(task, Task) or task.env_id != self.id):
            raise RequestError(f"options['task'] must be a Task of {self.id}, got {task!r}")
        return (
            self.written(options.get("difficulty", self.difficulty)),
            checked_split(self.id, options.get("split", self.split)),
            task,
        )

    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        self._drawing, level = split, self.level_of(difficulty)
        for _ in range(_MAX_DRAWS):
            draft = self.generate(rng, level)
            if self.split_of(draft) == split:
                return Task(
                    id=f"{self.id}:{split}:{difficulty}:{seed}",
                    env_id=self.id,
                    seed=seed,
                    prompt=sys.intern(draft.prompt),  # many differ in the first observation only
                    difficulty=difficulty,
                    split=split,
                    tags=draft.tags,
                    reference=draft.reference,
                )
        raise TaskError(
            f"{self.id}: no task of split {split!r} in {_MAX_DRAWS} draws at difficulty "
            f"{difficulty!r}; the environment has too few different tasks"
        )

    def _info(self, valid: bool, verdict: Verdict | None) -> dict[str, Any]:
        return {
            "task_id": self.task.id,
            "state_key": self.state_key(),
            "valid_action": valid,
            "verdict": verdict,
            "legal_actions": None if self._done else self.legal_actions(self.state),
        }
