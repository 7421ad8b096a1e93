"""Replays recorded episodes in fresh environments and proves that the same happens again (law 2).

An environment is made with the recorded arguments and started with the recorded seed, difficulty and split;
the recorded actions are played and judged. Compared are the task, its tags, the versions of environment and verifier,
and of each turn the state key, the observation, the reward, the validity of the action, the verdict (all but
its evidence, which may name times) and the end of the episode.

Not compared: texts of the policy other than its actions, tokens, times and retries. An episode that the
policy's context ended is truncated in the record only; its last observation still proves where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from verigym.canonical import digest
from verigym.env import Env
from verigym.episode import Episode, Turn
from verigym.errors import RequestError, TaskError, VerigymError
from verigym.judge import Judge
from verigym.making import make
from verigym.verdict import Verdict, VerifierFault

Outcome = Literal["same", "different", "fault", "unplayable", "empty"]


@dataclass(frozen=True, kw_only=True)
class ReplayDifference:
    """First difference between a record and its replay; `turn` is None if the start differs."""

    turn: int | None
    field: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        place = "at the start" if self.turn is None else f"in turn {self.turn}"
        return (
            f"{self.field} {place}: recorded {_short(self.recorded)}, now {_short(self.replayed)}"
        )


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Outcome of one replay.

    `fault`: the verifier gave no score this time, so nothing is proved. `unplayable`: the environment
    cannot be made here; `detail` says why in a sentence. `empty`: it faulted before its first turn.
    """

    episode: str
    env_id: str
    outcome: Outcome
    turns: int
    difference: ReplayDifference | None = None
    detail: str = ""

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        found = self.difference
        return {
            "episode": self.episode,
            "env_id": self.env_id,
            "outcome": self.outcome,
            "turns": self.turns,
            "detail": self.detail,
            "difference": None
            if found is None
            else {
                "turn": found.turn,
                "field": found.field,
                "recorded": found.recorded,
                "replayed": found.replayed,
            },
        }


def once_per_judge(make_judge: Callable[[Judge], Judge]) -> Callable[[Judge], Judge]:
    """Return `make_judge`, called once for all judges of equal id, version and parameters."""
    made: dict[str, Judge] = {}

    def judge_for(own: Judge) -> Judge:
        key = digest(own.name, own.params)
        if key not in made:
            made[key] = make_judge(own)
        return made[key]

    return judge_for


def make_world(episode: Episode) -> tuple[Env[Any], str, dict[str, Any]]:
    """Return the environment of an episode, started, with its first observation and info.

    Raises TaskError if it cannot be made or started. The caller closes it.
    """
    kwargs = episode.env_kwargs
    if kwargs is None:
        # An old record. One that ended by its own rules must not be cut short; a limit cuts where it did.
        n = len(episode.turns)
        kwargs = {"max_turns": n if episode.status == "truncated" else n + 1}
    # Nothing in a file of records decides who judges.
    kwargs = {name: value for name, value in kwargs.items() if name != "verifier"}
    name = episode.versions.get("env_file", episode.env_id)
    try:
        env = make(name, **kwargs)
    except RequestError as error:
        raise TaskError(f"environment {name} cannot be made: {error}") from error
    try:
        options = {"difficulty": episode.difficulty, "split": episode.split}
        shown, info = env.reset(seed=episode.seed, options=options)
    except (VerigymError, ValueError) as error:
        env.close()
        raise TaskError(f"the task cannot be made again: {error}") from error
    return env, shown, info


def replay(episode: Episode, judge_for: Callable[[Judge], Judge] = lambda own: own) -> Replayed:
    """Play the recorded actions of an episode again and compare.

    `judge_for` returns the judge to ask in place of the environment's own, such as one in a pool with a
    deadline. It must be of the same id, version and parameters.
    """
    if episode.status == "fault" and not episode.turns:
        return _replayed(episode, "empty")
    try:
        env, shown, info = make_world(episode)
    except TaskError as error:
        return _replayed(episode, "unplayable", detail=str(error))
    number = 0
    try:
        env.verifier = judge_for(env.verifier)
        difference = _first(None, _start_of(episode, env, info))
        for number, turn in enumerate(episode.turns):
            difference = difference or _first(number, _before(turn, env, shown))
            if difference is None:
                shown, reward, terminated, truncated, info = env.step(turn.action)
                difference = _first(number, _after(turn, reward, info))
                is_last = number + 1 == len(episode.turns)
                difference = difference or _first(
                    number, _end_of(episode, is_last, terminated, truncated, shown)
                )
            if difference is not None:
                return _replayed(episode, "different", difference=difference)
        if not episode.turns:
            difference = ReplayDifference(
                turn=None, field="end", recorded=episode.status, replayed="going on"
            )
            return _replayed(episode, "different", difference=difference)
    except VerifierFault as error:
        return _replayed(episode, "fault", detail=str(error))
    except (VerigymError, ValueError) as error:
        return _replayed(episode, "unplayable", detail=f"turn {number} cannot be played: {error}")
    finally:
        env.close()
    return _replayed(episode, "same")


def _replayed(
    episode: Episode, outcome: Outcome, difference: ReplayDifference | None = None, detail: str = ""
) -> Replayed:
    return Replayed(
        episode=episode.id,
        env_id=episode.env_id,
        outcome=outcome,
        turns=len(episode.turns),
        difference=difference,
        detail=detail,
    )


Compared = Iterator[tuple[str, Any, Any]]
"""Fields with what was recorded and what is found now."""


def _start_of(episode: Episode, env: Env[Any], info: dict[str, Any]) -> Compared:
    yield "environment", episode.env_id, env.id
    yield "task", episode.task_id, info["task_id"]
    if episode.env_kwargs is not None:  # an older record has no tags either
        yield "tags", episode.tags, list(env.task.tags)
    for name, now in (("env", env.id), ("verifier", env.verifier.name)):
        if name in episode.versions:
            yield f"version of {name}", episode.versions[name], now


def _before(turn: Turn, env: Env[Any], shown: str) -> Compared:
    yield "state key", turn.state_key, env.state_key()
    yield "observation", turn.observation, shown


def _after(turn: Turn, reward: float, info: dict[str, Any]) -> Compared:
    verdict = info["verdict"]
    now = verdict if isinstance(verdict, Verdict) else None
    yield "validity of the action", turn.valid_action, bool(info["valid_action"])
    yield "verdict", turn.verdict is not None, now is not None
    if turn.verdict is not None and now is not None:
        for name in ("digest", "verifier", "status", "score", "reason"):
            yield f"verdict's {name}", getattr(turn.verdict, name), getattr(now, name)
        yield "verdict's parts", dict(turn.verdict.parts), dict(now.parts)
    yield "reward", turn.reward, float(reward)


def _end_of(
    episode: Episode, is_last: bool, terminated: bool, truncated: bool, shown: str
) -> Compared:
    now = "done" if terminated else "truncated" if truncated else "going on"
    if not is_last:
        yield "end", "going on", now
        return
    if episode.final_observation is not None:
        yield "last observation", episode.final_observation, shown
    if episode.status == "fault":
        yield "end", "going on", now
    elif not (episode.status == "truncated" and now == "going on"):
        yield "end", episode.status, now


def _first(turn: int | None, compared: Compared) -> ReplayDifference | None:
    for field, recorded, replayed in compared:
        if recorded != replayed:
            return ReplayDifference(turn=turn, field=field, recorded=recorded, replayed=replayed)
    return None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return repr(text) if len(text) <= 120 else f"{text[:120]!r}..."
