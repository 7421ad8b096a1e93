"""Games of two policies, or of one against itself, through the episode loop.

The environment is one that takes `opponent="self"` (`envs/games/self_play.py`): sides move strictly in
turn, so turn t belongs to side t % 2. Each side's prompts hold what that side saw and said, and nothing of
the other's, whatever the encoding: hidden dice and the other's reasoning stay hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from verigym.agents.chat import Conversation, Encoding, Prompt, StepRows
from verigym.agents.loop import Plan, Settings, play
from verigym.agents.parsing import Parse
from verigym.agents.policy import Completion, Policy, Request
from verigym.episode import Episode
from verigym.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class SelfPlayGame:
    """A played game, as a whole and from each side.

    `sides` are the two halves of `game`, credited like any episodes: ids and groups end in `:0`
    and `:1`, the reward of a side's last turn is 1 for a win, -1 for a loss and 0 for a draw, all others
    are 0. They carry no verdict: the verdict on the whole game is in `game`. A game that faulted or was
    truncated rewards neither side.
    """

    game: Episode
    sides: tuple[Episode, Episode]
    rewards: tuple[float, float]


def play_both(
    plans: Sequence[Plan],
    first: Policy,
    second: Policy,
    encoding: Encoding | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> list[SelfPlayGame]:
    """Play one match per plan; `first` moves first in each. `options` are those of `play`.

    Raises RequestError if a plan lacks `opponent="self"`, and the errors of `play`.
    """
    for plan in plans:
        if plan.env_kwargs.get("opponent") != "self":
            raise RequestError(
                f'plan {plan.id!r} is not a two-player game: set opponent="self" in its env_kwargs'
            )
    policies = (first, second)
    both = _Both(policies)
    encoding = encoding if encoding is not None else StepRows()
    seen = _OwnTurns(encoding, policies, getattr(encoding, "parse", "environment"))
    names = (first.name, second.name)
    return [_match(game, names) for game in play(plans, both, seen, settings, **options)]


class _Both:
    """Two policies as one: the turn's number, last in a request's key, decides the side."""

    def __init__(self, policies: tuple[Policy, Policy]) -> None:
        self.policies = policies
        self.name = " v ".join(policy.name for policy in policies)
        self.max_batch = min(policy.max_batch for policy in policies)
        self.max_context = min(int(getattr(p, "max_context", 2**31)) for p in policies)
        self.concurrency = min(int(getattr(p, "concurrency", 1)) for p in policies)
        self.version = int(getattr(policies[0], "version", 0))

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return a completion for each request, from the policy of its side.

        If one policy plays both sides, it is called once.
        """
        first, second = self.policies
        if first is second:
            return first.complete(requests)
        found: dict[int, Completion] = {}
        for side, policy in enumerate(self.policies):
            mine = [i for i, request in enumerate(requests) if request.key[-1] % 2 == side]
            if mine:
                answers = policy.complete([requests[i] for i in mine])
                found.update(zip(mine, answers, strict=True))
        return [found[i] for i in range(len(requests))]


@dataclass(frozen=True)
class _OwnTurns:
    """An encoding that shows only the turns of the side to move."""

    inner: Encoding
    policies: tuple[Policy, Policy]
    parse: Parse

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt for the side to move, with its own turns only."""
        side = len(talk.actions) % 2
        own = Conversation(
            task_prompt=talk.task_prompt,
            observations=talk.observations[side::2],
            actions=talk.actions[side::2],
            prompts=talk.prompts[side::2],
            completions=talk.completions[side::2],
            legal_actions=talk.legal_actions,
            tools=talk.tools,
            max_turns=None if talk.max_turns is None else (talk.max_turns + 1 - side) // 2,
        )
        return self.inner.prompt(own, self.policies[side])


def _match(game: Episode, names: tuple[str, str]) -> SelfPlayGame:
    verdict = game.verdict
    score = 0.5 if verdict is None or verdict.score is None else verdict.score
    rewards = (2 * score - 1, 1 - 2 * score)
    sides = []
    for side, (name, reward) in enumerate(zip(names, rewards, strict=True)):
        turns = [replace(turn, reward=0.0, verdict=None) for turn in game.turns[side::2]]
        if turns:
            turns[-1] = replace(turns[-1], reward=reward)
        sides.append(
            replace(
                game,
                id=f"{game.id}:{side}",
                group_id=f"{game.group_id}:{side}",
                turns=turns,
                policy=name,
            )
        )
    return SelfPlayGame(game=game, sides=(sides[0], sides[1]), rewards=rewards)
