"""A session as an `Episode`, whose turns are the calls and whose rewards are those of the environment."""

from __future__ import annotations

from dataclasses import replace

from verigym.agents.gateway.session import GatewaySession
from verigym.episode import Episode, Turn
from verigym.verdict import Verdict


def fill(
    episode: Episode, session: GatewaySession, status: str, reward: float | None = None
) -> Episode:
    """Put the calls of an ended session into `episode`, and return it.

    Each step of the environment is paid to the call before it, the first call if there was none. `reward` is
    paid to the last call, in addition.
    """
    episode.turns = list(session.turns)
    if session.fault is not None:
        episode.status, episode.fault = "fault", session.fault
    else:
        episode.status = status
    served = session.served
    if served is not None:
        episode.retries = served.retries
        episode.final_observation = served.shown if served.paid else None
    if not episode.turns:
        return episode
    for paid in served.paid if served is not None else ():
        at = max(0, paid.turn)
        episode.turns[at] = _with_step(episode.turns[at], paid.action, paid.stepped.reward)
        info, turn = paid.stepped.info, episode.turns[at]
        turn.valid_action = turn.valid_action and bool(info["valid_action"])
        verdict = info["verdict"]
        turn.verdict = verdict if isinstance(verdict, Verdict) else turn.verdict
        turn.step_s += paid.stepped.step_s
        turn.verify_s += paid.stepped.verify_s
    if reward is not None:
        episode.turns[-1] = replace(episode.turns[-1], reward=episode.turns[-1].reward + reward)
    return episode


def _with_step(turn: Turn, action: str, reward: float) -> Turn:
    return replace(turn, action=action, reward=turn.reward + reward)
