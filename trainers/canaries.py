"""Canary episodes: replies of known worth, played beside training, to measure the verifier's error.

The oracle must be paid, an empty reply and the prompt given back must not. An environment that fails this
teaches the wrong thing, whatever its curve looks like. Canaries are judged by the judge of the run, teach
nothing, and draw from seeds of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from verigym.agents.plan import Plan
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.policy import Policy
from verigym.episode import Episode

CANARIES: Mapping[str, Policy] = {
    "oracle": OraclePolicy(),
    "empty": ScriptedPolicy(lambda request: "", name="empty"),
    "echo": ScriptedPolicy(lambda request: request.messages[-1]["content"], name="echo"),
}
"""Policies by name. All but the oracle must fail."""
CHEATS = tuple(name for name in CANARIES if name != "oracle")

Play = Callable[[Sequence[Plan], Policy], list[Episode]]


def play_canaries(
    plans: Sequence[Plan], play: Play, has_oracle: Callable[[Plan], bool]
) -> dict[str, float]:
    """Play `plans` with each canary; return shares of episodes by what was wrong with them.

    `oracle` is the share of the oracle's finished episodes that failed, `unfinished` of those that the limit
    of turns cut; `empty` and `echo` are the shares of theirs that succeeded, and `faults` is the share
    of all that faulted. A canary without an episode that counts has no entry.
    """
    found: dict[str, float] = {}
    faults = played = 0
    for name, policy in CANARIES.items():
        chosen = [
            replace(plan, id=f"{plan.id}.{name}", group_id="")
            for plan in plans
            if name != "oracle" or has_oracle(plan)
        ]
        if not chosen:
            continue
        episodes = play(chosen, policy)
        ended = [episode for episode in episodes if episode.status != "fault"]
        faults += len(episodes) - len(ended)
        played += len(episodes)
        if name == "oracle" and ended:
            whole = [episode for episode in ended if episode.status == "done"]
            found["unfinished"] = 1 - len(whole) / len(ended)
            ended = whole
        if ended:
            wanted = name == "oracle"
            found[name] = sum(episode.success != wanted for episode in ended) / len(ended)
    return found | {"faults": faults / max(1, played)}
