"""Evaluations: a policy on several environments, several answers to each task, in a folder that resumes.

FOLDER/evaluation.json  the settings, and when it was started
FOLDER/episodes.jsonl   each episode, as soon as it ends
FOLDER/result.json      the figures, once every episode has been played

An episode that is recorded is not played again, unless it faulted. So an evaluation that was killed
continues where it was, and its folder is refused to one with other settings.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from verigym import __version__
from verigym.agents.loop import play
from verigym.agents.plan import Plan, Settings, plan_groups
from verigym.agents.policy import Policy
from verigym.agents.prompts import PromptChoices, encoding_for
from verigym.agents.record import append_episodes
from verigym.agents.scores import (
    EPISODES,
    EpisodeScore,
    count_tokens,
    latest,
    read_samples,
    sample_of,
    summarise_samples,
)
from verigym.canonical import digest, to_json
from verigym.episode import Episode
from verigym.errors import PolicyError, RequestError
from verigym.levels import Difficulty
from verigym.making import make

SETTINGS = "evaluation.json"
RESULT = "result.json"


@dataclass(frozen=True, kw_only=True)
class EvaluatedEnv:
    """One environment at one level. `env` is its id, or the path of the file that describes it."""

    env: str
    difficulty: str
    verifier: str


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Settings of an evaluation; equal settings give equal tasks, prompts and samples.

    Each world has `tasks` tasks, of the seeds from `seed` on, and each task `samples` answers.
    `policy_digest` is that of the policy's files, so that another model in the same place is noticed.
    """

    worlds: tuple[EvaluatedEnv, ...]
    policy: str
    policy_digest: str = ""
    tasks: int
    samples: int
    seed: int = 0
    split: str = "test"
    prompts: PromptChoices = field(default_factory=PromptChoices)
    think: str | None = None
    env_options: dict[str, Any] = field(default_factory=dict)
    max_turns: int | None = None
    temperature: float | None = None
    max_new_tokens: int | None = None
    tools: bool = False
    token_ids: bool | None = None
    verigym: str = __version__

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return len(self.worlds) * self.tasks * self.samples

    def plans(self, world: EvaluatedEnv, env_kwargs: Mapping[str, Any]) -> list[Plan]:
        """Return the plans of one world. What a policy samples does not depend on the other worlds."""
        name = f"{world.env.removeprefix('verigym/')}@{world.difficulty}"
        return plan_groups(
            world.env,
            range(self.seed, self.seed + self.tasks),
            members=self.samples,
            run_key=(self.seed, zlib.crc32(name.encode())),
            prefix=f"{name}/",
            env_kwargs={**env_kwargs, **self.env_options, "max_turns": self.max_turns},
            difficulty=world.difficulty,
            split=self.split,
        )

    def default_folder(self) -> Path:
        """Return a folder whose name is the policy's and a digest of the settings."""
        name = self.policy.partition("@")[0].rstrip("/")
        name = re.sub(r"[^\w.-]+", "-", name.rpartition("/")[2]).strip("-.")
        return Path("runs", "eval", f"{name[:60]}-{digest(self)[:8]}")


def find_worlds(
    env: str,
    difficulties: Sequence[Difficulty],
    *,
    policy: str,
    split: str,
    env_kwargs: Mapping[str, Any],
) -> list[EvaluatedEnv]:
    """Return one environment's worlds; without difficulties, the one of its default.

    Raises RequestError if it lacks a difficulty, cannot be made here, or cannot be played by `policy`.
    """
    made = make(env, split=split, **env_kwargs)
    try:
        if policy == "oracle" and made.oracle_absent:
            raise RequestError(f"{made.id} has no oracle: {made.oracle_absent}")
        levels = [made.written(one) for one in difficulties] or [made.difficulty]
        verifier = made.verifier.name
    finally:
        made.close()
    return [
        EvaluatedEnv(env=env, difficulty=level, verifier=verifier)
        for level in dict.fromkeys(levels)
    ]


def digest_policy(spec: str) -> str:
    """Return a digest of the files that the policy `spec` names; empty if it names none."""
    kind, _, rest = spec.partition(":")
    place = Path(rest)
    if kind not in ("hf", "scripted", "vllm") or not place.exists():
        return ""
    found = hashlib.sha256()
    for path in sorted(place.iterdir()) if place.is_dir() else [place]:
        if path.is_file():
            with path.open("rb") as file:
                found.update(
                    f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
                )
    return found.hexdigest()


class EvaluationFolder:
    """The folder of an evaluation, opened for writing by one process at a time. Use `with`.

    Raises RequestError if it belongs to other settings or another process is writing to it.
    """

    def __init__(self, path: Path, evaluation: Evaluation) -> None:
        self.path = path
        self.evaluation = evaluation
        path.mkdir(parents=True, exist_ok=True)
        # A lock of the process, not of the open file, so that no child process inherits it.
        self._lock = (path / ".lock").open("a")
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise RequestError(f"another process is evaluating in {path}; wait for it") from error
        try:
            self._claim()
            self.samples: list[EpisodeScore] = (
                read_samples(path) if (path / EPISODES).exists() else []
            )
        except BaseException:
            self._lock.close()
            raise
        self.n_recorded = sum(one.score is not None for one in latest(self.samples))

    def __enter__(self) -> EvaluationFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()

    @property
    def is_complete(self) -> bool:
        """True if every episode has an outcome."""
        return self.n_recorded == self.evaluation.episodes

    def play(
        self,
        policy: Policy,
        *,
        env_kwargs: Mapping[str, Any] | None = None,
        settings: Settings | None = None,
        on_world: Callable[[EvaluatedEnv], None] = lambda world: None,
        on_episode: Callable[[Episode], None] = lambda episode: None,
        on_wait: Callable[[str], None] | None = None,
    ) -> None:
        """Play and record the episodes that have no outcome yet, one world after the other.

        Raises PolicyError, before the next world, if all of one waited for the policy in vain.
        """
        done = {one.id for one in self.samples if one.score is not None}

        def record(episode: Episode) -> None:
            append_episodes(self.path / EPISODES, [episode])
            self.samples.append(sample_of(episode))
            on_episode(episode)

        for world in self.evaluation.worlds:
            plans = self.evaluation.plans(world, env_kwargs or {})
            left = [plan for plan in plans if plan.id not in done]
            if left:
                played = play(
                    left,
                    policy,
                    encoding_for(policy, self.evaluation.prompts),
                    settings if settings is not None else Settings(fault_limit=1.0),
                    on_episode=record,
                    on_wait=on_wait,
                )
                on_world(world)
                _stop_if_unreachable(world, played)

    def finish(
        self, price_in: float | None = None, price_out: float | None = None
    ) -> dict[str, Any]:
        """Write the figures to result.json and return them."""
        head = read_json(self.path / SETTINGS)
        last = max(
            (path.stat().st_mtime for path in [self.path / EPISODES] if path.exists()), default=0.0
        )
        result = {
            **head,
            "finished": _written_time(datetime.fromtimestamp(last, UTC)),
            **summarise_samples(latest(self.samples), self.evaluation.samples),
            "tokens": count_tokens(self.samples, price_in, price_out),
        }
        write_json(self.path / RESULT, result)
        return result

    def _claim(self) -> None:
        path = self.path / SETTINGS
        settings = msgspec.to_builtins(self.evaluation)
        if path.exists():
            differing = differences(read_json(path).get("settings", {}), settings)
            if differing:
                raise RequestError(
                    f"{self.path} holds an evaluation with other settings ({'; '.join(differing)}); "
                    "choose another --out"
                )
        elif (self.path / EPISODES).exists():
            raise RequestError(
                f"{self.path} holds {EPISODES} but no {SETTINGS}; choose another --out"
            )
        else:
            write_json(path, {"settings": settings, "started": _written_time(datetime.now(UTC))})


def _stop_if_unreachable(world: EvaluatedEnv, played: Sequence[Episode]) -> None:
    """Raise PolicyError if each episode was repeated and still got no answer.

    A policy that refuses is not repeated: it may well answer in another world.
    """
    faults = [
        one.fault
        for one in played
        if one.fault is not None
        and one.fault.cause.startswith("policy")
        and (one.retries or one.fault.cause == "policy_timeout")
    ]
    if len(faults) == len(played):
        detail = faults[0].detail.rstrip(".")
        raise PolicyError(
            f"no episode of {world.env} got an answer: {detail}; run the same evaluation again to resume"
        )


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a phrase for each setting that differs."""
    found = []
    for name in sorted({*old, *new}):
        before, now = old.get(name), new.get(name)
        if name == "worlds":
            before, now = _named(before or []), _named(now or [])
            missing = [f"without {one}" for one in before if one not in now]
            extra = [f"with {one}" for one in now if one not in before]
            found += [f"now {one}" for one in (*missing, *extra)]
        elif before != now:
            found.append(f"{name} was {_shown(before)}, now {_shown(now)}")
    return found


def _named(worlds: Sequence[Mapping[str, str]]) -> list[str]:
    return [f"{one['env']} {one['difficulty']}, {one['verifier']}" for one in worlds]


def _shown(value: Any) -> str:
    text = str(to_json(value), "utf-8")
    return text if len(text) < 70 else f"{text[:20]}..."


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file. Raises RequestError if it cannot be read or is no object."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise RequestError(f"{path} must hold a JSON object")
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a file, whole or not at all."""
    aside = path.with_name(f"{path.name}.part")
    with aside.open("wb") as file:
        file.write(msgspec.json.format(to_json(value), indent=1) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def _written_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
