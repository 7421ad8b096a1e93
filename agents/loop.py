"""`play` and `play_stream`: play many episodes at once, as `Game` (game.py) does it.

`play` has a fixed list of plans, `play_stream` takes plans from a source until it closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from verigym.agents.chat import Encoding, StepRows
from verigym.agents.envpool import EnvPool
from verigym.agents.fork import Fork
from verigym.agents.game import Game
from verigym.agents.parsing import parser
from verigym.agents.plan import (
    FaultLimit,
    Ledger,
    Plan,
    Settings,
    check_plans,
    plan_groups,
)
from verigym.agents.policy import Policy
from verigym.agents.source import PlanSource
from verigym.episode import Episode, Turn

__all__ = [
    "EnvPool",
    "FaultLimit",
    "Ledger",
    "Plan",
    "Settings",
    "plan_groups",
    "play",
    "play_stream",
]


def play(
    plans: Sequence[Plan],
    policy: Policy,
    encoding: Encoding | None = None,
    settings: Settings | None = None,
    *,
    parse: Callable[[str], str] | None = None,
    envs: EnvPool | None = None,
    on_turn: Callable[[Episode, Turn], None] | None = None,
    on_episode: Callable[[Episode], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_fork: Callable[[Episode, Fork], None] | None = None,
    ledger: Ledger | None = None,
) -> list[Episode]:
    """Play one episode per plan; return the episodes in the order of the plans.

    An environment reads the action in a completion itself (`Env.action_in`), unless `parse` does, or the
    parser that the encoding names.
    The callbacks run in the calling thread: `on_turn` after each turn, `on_episode` after each episode,
    `on_wait` with a sentence, about once a second, during a wait for a verifier or a model server,
    `on_fork` before each turn, with the point that `Plan.fork` continues from.
    `envs` keeps environments for later calls; without it, they are closed before the return.
    Raises FaultLimit after all episodes have finished, RequestError for mistakes in the plans.
    """
    check_plans(plans)
    settings = settings if settings is not None else Settings()
    with _game(
        plans,
        policy,
        encoding,
        settings,
        parse=parse,
        envs=envs,
        on_turn=on_turn,
        on_episode=on_episode,
        on_wait=on_wait,
        on_fork=on_fork,
        ledger=ledger,
    ) as game:
        episodes = game.run()
    faulted = sum(episode.status == "fault" for episode in episodes)
    if faulted > settings.fault_limit * len(episodes):
        raise FaultLimit(episodes, settings.fault_limit)
    return episodes


def play_stream(
    source: PlanSource,
    policy: Policy,
    encoding: Encoding | None = None,
    settings: Settings | None = None,
    *,
    on_episode: Callable[[Episode], None],
    envs: EnvPool | None = None,
    on_turn: Callable[[Episode, Turn], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
    ledger: Ledger | None = None,
) -> None:
    """Play the plans of `source` until it closes, whichever episodes wait together in one batch.

    `on_episode` gets each episode when it ends, faulted ones too. As with `play`, all callbacks run in the
    calling thread, and RequestError is raised for mistakes in the plans.
    """
    settings = replace(settings if settings is not None else Settings(), batching="ready")
    with _game(
        (),
        policy,
        encoding,
        settings,
        envs=envs,
        on_turn=on_turn,
        on_episode=on_episode,
        on_wait=on_wait,
        ledger=ledger,
        source=source,
    ) as game:
        game.run()


@contextmanager
def _game(
    plans: Sequence[Plan],
    policy: Policy,
    encoding: Encoding | None,
    settings: Settings,
    *,
    parse: Callable[[str], str] | None = None,
    envs: EnvPool | None = None,
    on_turn: Callable[[Episode, Turn], None] | None = None,
    on_episode: Callable[[Episode], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_fork: Callable[[Episode, Fork], None] | None = None,
    ledger: Ledger | None = None,
    source: PlanSource | None = None,
) -> Iterator[Game]:
    """Open a game with the defaults of `play`, and close it with the environments that are its own."""
    pool = envs if envs is not None else EnvPool()
    encoding = encoding if encoding is not None else StepRows()
    game = Game(
        plans=plans,
        policy=policy,
        encoding=encoding,
        settings=settings,
        parse=parse or parser(getattr(encoding, "parse", "environment")),
        pool=pool,
        on_turn=on_turn,
        on_episode=on_episode,
        on_wait=on_wait or (lambda detail: None),
        on_fork=on_fork,
        ledger=ledger if ledger is not None else Ledger(),
        source=source,
    )
    try:
        yield game
    finally:
        game.close()
        if envs is None:
            pool.close()
