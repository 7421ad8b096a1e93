"""Recorded episodes as demonstrations: chosen by reward, and played again in the prompts of the run.

The record's replies are said again in the same environments, by a policy that writes them in the tokens of the
model to train. So the rows have the run's own prompts, whoever recorded the episodes, and an episode that no
longer leads to the recorded states and reward is noticed and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from typing_extensions import override

from verigym.agents.chat import Encoding
from verigym.agents.loop import play
from verigym.agents.plan import Plan, Settings
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Request
from verigym.agents.record import iterate_episodes
from verigym.agents.scores import EPISODES
from verigym.envs.tools.calls import as_text, submission_of
from verigym.episode import Episode
from verigym.errors import RequestError
from verigym.trainers.warmup import RowWriter
from verigym.verdict import Verdict
from verigym.verifiers.tools.read_calls import read_calls


class Recorded(RowWriter):
    """Says the recorded replies: a request's key is the number of the episode and the turn."""

    name = "recorded"

    def __init__(self, reader: HFPolicy, episodes: Sequence[Episode]) -> None:
        super().__init__(reader)
        self.episodes = episodes

    @override
    def say(self, request: Request) -> str:
        number, turn = request.key
        turns = self.episodes[number].turns
        return in_text(turns[turn].response) if turn < len(turns) else ""


def in_text(response: str) -> str:
    """Return a reply as text: a message of the chat API that calls tools becomes text with the same calls."""
    message = submission_of(response)
    if not isinstance(message, dict) or not message.get("tool_calls"):
        return response
    reply = read_calls(message)
    if isinstance(reply, Verdict):
        return response
    content = message.get("content")
    return "\n".join(
        [*([content] if isinstance(content, str) and content else []), as_text(*reply.calls)]
    )


def read_recorded(paths: Iterable[str]) -> list[Episode]:
    """Return the episodes of files, or of folders of `verigym eval`. Raises RequestError if one cannot be read."""
    found: list[Episode] = []
    for name in paths:
        path = Path(name)
        found += iterate_episodes(path / EPISODES if path.is_dir() else path)
    return found


def choose(
    episodes: Sequence[Episode], min_reward: float, most: int
) -> tuple[list[Episode], Counter[str]]:
    """Return the episodes to learn from, and the number of others by reason.

    Only the train split is taken, since learning from the others would spoil evaluations. `most` is the
    largest number to take, 0 for all.
    """
    kept: list[Episode] = []
    left_out: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    for episode in episodes:
        said = (
            episode.task_id,
            repr(episode.env_kwargs),
            *(turn.response for turn in episode.turns),
        )
        if episode.status == "fault" or not episode.turns:
            left_out["without an outcome"] += 1
        elif episode.env_kwargs is None:
            left_out["without the environment's arguments"] += 1
        elif episode.split != "train":
            left_out["of another split than train"] += 1
        elif episode.return_ < min_reward:
            left_out[f"below the reward {min_reward:g}"] += 1
        elif said in seen:
            left_out["the same as another"] += 1
        elif most and len(kept) == most:
            left_out["more than warmup.episodes"] += 1
        else:
            seen.add(said)
            kept.append(episode)
    return kept, left_out


def play_again(
    episodes: Sequence[Episode], reader: HFPolicy, encoding: Encoding, settings: Settings
) -> tuple[list[Episode], int]:
    """Return the episodes in the tokens of `reader`, and the number of those that came out otherwise."""
    plans = [
        Plan(
            id=f"recorded.{number}",
            env=episode.versions.get("env_file", episode.env_id),
            seed=episode.seed,
            env_kwargs=episode.env_kwargs or {},
            difficulty=episode.difficulty,
            split=episode.split,
            key=(number,),
        )
        for number, episode in enumerate(episodes)
    ]
    played = play(plans, Recorded(reader, episodes), encoding, settings)
    same = [now for old, now in zip(episodes, played, strict=True) if _is_same(old, now)]
    fitting = [
        one
        for one in same
        if all(len(t.prompt_ids) + len(t.response_ids) <= reader.max_context for t in one.turns)
    ]
    return fitting, len(episodes) - len(fitting)


def _is_same(old: Episode, now: Episode) -> bool:
    return (
        now.status != "fault"
        and old.task_id == now.task_id
        and [turn.state_key for turn in old.turns] == [turn.state_key for turn in now.turns]
        and [turn.reward for turn in old.turns] == [turn.reward for turn in now.turns]
    )


def explain_nothing(left_out: Counter[str]) -> RequestError:
    """Return the error for records without a single episode to learn from."""
    reasons = (
        ", ".join(f"{n} {reason}" for reason, n in left_out.most_common()) or "the file is empty"
    )
    return RequestError(
        f"no recorded episode can be learned from: {reasons}; record some with "
        "`verigym run ID --split train --policy ... --out FILE`"
    )
