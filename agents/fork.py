"""`Fork`: a point of an episode that other episodes continue from, as often as wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from verigym.agents.chat import Conversation
from verigym.env import Snapshot


@dataclass(frozen=True, kw_only=True)
class Fork:
    """The environment before a turn, and the conversation so far.

    `turn` counts the turns already played. An episode that continues from here records its own turns
    alone, and has the limit on turns that the first one had left.
    """

    turn: int
    snapshot: Snapshot[Any]
    talk: Conversation
    shown: str
    state_key: str

    def conversation(self) -> Conversation:
        """Return a conversation to go on with; the fork's own stays as it is."""
        return copied(self.talk)


def copied(talk: Conversation) -> Conversation:
    """Return `talk` with lists of its own."""
    return replace(
        talk,
        observations=[*talk.observations],
        actions=[*talk.actions],
        prompts=[*talk.prompts],
        completions=[*talk.completions],
    )
