"""Input and cost of the episode loop: plans, settings and the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from verigym.agents.fork import Fork
from verigym.env import Env
from verigym.episode import Episode
from verigym.errors import RequestError, VerigymError
from verigym.levels import Difficulty

EnvFactory: TypeAlias = Callable[..., Env[Any]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One episode to play.

    `env` is an id or a factory, called with `env_kwargs`. Plans of one `group_id` (the plan's own id
    if empty) must have the same `world`. `key` and the turn determine a policy's samples; give each
    member of a group its own key. `hint` is shown beside the task in every prompt. `fork` is a point of
    another episode of the same world to begin at; None to reset the environment.
    """

    id: str
    env: str | EnvFactory
    seed: int
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    difficulty: Difficulty | None = None
    split: str | None = None
    group_id: str = ""
    key: tuple[int, ...] = ()
    hint: str = ""
    fork: Fork | None = None

    @cached_property
    def world(self) -> tuple[Any, ...]:
        """Identity of the world: equal for plans that one environment instance may serve in turn."""
        kwargs = tuple(sorted((name, repr(value)) for name, value in self.env_kwargs.items()))
        return (self.env, kwargs, self.difficulty, self.split)


def plan_groups(
    env: str | EnvFactory,
    seeds: Iterable[int],
    *,
    members: int = 1,
    run_key: tuple[int, ...] = (0,),
    prefix: str = "",
    env_kwargs: Mapping[str, Any] | None = None,
    difficulty: Difficulty | None = None,
    split: str | None = None,
) -> list[Plan]:
    """Return `members` plans per seed, one group per seed; keys are `run_key` and the plan's index."""
    if members < 1:
        raise RequestError(f"members must be at least 1, got {members}")
    plans: list[Plan] = []
    for group, seed in enumerate(seeds):
        for member in range(members):
            plans.append(
                Plan(
                    id=f"{prefix}{group}.{member}",
                    env=env,
                    seed=seed,
                    env_kwargs=dict(env_kwargs or {}),
                    difficulty=difficulty,
                    split=split,
                    group_id=f"{prefix}{group}",
                    key=(*run_key, len(plans)),
                )
            )
    return plans


def check_plans(plans: Sequence[Plan]) -> None:
    """Raise RequestError if two plans have one id, or members of a group different worlds."""
    worlds: dict[str, tuple[Any, ...]] = {}
    ids: set[str] = set()
    for plan in plans:
        if plan.id in ids:
            raise RequestError(f"two plans have the id {plan.id!r}")
        ids.add(plan.id)
        world = (*plan.world, plan.seed)
        if worlds.setdefault(plan.group_id or plan.id, world) != world:
            raise RequestError(
                f"plan {plan.id!r} asks for another world than its group {plan.group_id!r}; members "
                "of a group share environment, arguments, seed, difficulty and split"
            )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the episode loop. Defaults suit a small model and a verifier on the same machine."""

    batching: Literal["ready", "cohorts"] = "ready"
    """`ready`: generate for all waiting episodes. `cohorts`: fixed sets in lockstep, so that the batches,
    and thus all rounding errors, are the same in each run."""
    n_cohorts: int = 2
    """Number of cohorts; one generates while the environments of the others step."""
    max_live: int = 256
    """Maximum number of running episodes over all cohorts."""
    env_workers: int = 16
    """Threads for environment steps and the verifier calls within."""
    generate_deadline_s: float = 600.0
    """Maximum seconds for one batch; a slower policy is abandoned and its episodes fault."""
    step_deadline_s: float = 120.0
    """Maximum seconds for one environment step, verifier included, once a thread has started it."""
    patience_s: float = 60.0
    """Maximum seconds that a step waits for an unavailable verifier, or a batch for a model server."""
    error_retries: int = 2
    """Number of retries after `verifier_error`, which is rarely temporary."""
    backoff_s: float = 0.25
    """Seconds before the first retry; the pause doubles, with jitter, up to `backoff_max_s`."""
    backoff_max_s: float = 5.0
    fault_limit: float = 0.5
    """Share of faulted episodes above which `play` raises FaultLimit; 1.0 never does."""

    def __post_init__(self) -> None:
        if self.batching not in ("ready", "cohorts"):
            raise RequestError(f"batching must be 'ready' or 'cohorts', got {self.batching!r}")
        for name in ("n_cohorts", "max_live", "env_workers"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("generate_deadline_s", "step_deadline_s", "backoff_s", "backoff_max_s"):
            if not getattr(self, name) > 0:
                raise RequestError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("patience_s", "error_retries", "fault_limit"):
            if not getattr(self, name) >= 0:
                raise RequestError(f"{name} must be 0 or more, got {getattr(self, name)}")


@dataclass(kw_only=True)
class Ledger:
    """Cost of playing; `play` adds to it. Seconds are wall time unless stated otherwise."""

    wall_s: float = 0.0
    generate_s: float = 0.0
    """Seconds in the policy, encoding included; overlaps environment steps."""
    step_s: float = 0.0
    """Seconds in environment steps, summed over threads."""
    idle_s: float = 0.0
    """Seconds without any generation running."""
    turns: int = 0
    batches: int = 0
    verifier_retries: int = 0
    policy_retries: int = 0
    abandoned_threads: int = 0
    """Threads abandoned in a call that exceeded its deadline; Python cannot kill them."""


class FaultLimit(VerigymError):
    """Too many episodes have no outcome. `causes` counts the faults, `episodes` holds all episodes."""

    def __init__(self, episodes: list[Episode], limit: float) -> None:
        faults = [e.fault for e in episodes if e.fault is not None]
        self.episodes = episodes
        self.causes = Counter(f.cause for f in faults)
        named = ", ".join(f"{cause} ({n})" for cause, n in self.causes.most_common())
        super().__init__(
            f"{len(faults)} of {len(episodes)} episodes faulted, above the limit of {limit:.0%}: "
            f"{named}; the first: {faults[0].detail if faults else ''}"
        )
