"""Agent programs as players: training episodes that a user's own program plays against the gateway."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verigym.agents.envpool import EnvPool
from verigym.agents.gateway.gateway import gateway_for
from verigym.agents.gateway.harness import Harness
from verigym.agents.gateway.play import HarnessPlayer
from verigym.agents.plan import Plan, Settings
from verigym.agents.policy import Policy
from verigym.episode import Episode, Turn
from verigym.trainers.harness_section import HarnessSection


class Programs:
    """Runs the program of `section` for each episode; one gateway for each policy that it has to reach."""

    def __init__(self, section: HarnessSection, settings: Settings, envs: EnvPool) -> None:
        self._harness = Harness(**section.options())
        self._settings = settings
        self._envs = envs
        self._players: dict[int, HarnessPlayer] = {}

    def play(
        self,
        plans: Sequence[Plan],
        policy: Policy,
        on_turn: Callable[[Episode, Turn], None],
        on_wait: Callable[[str], None],
    ) -> list[Episode]:
        """Play one episode per plan; return them in the order of the plans."""
        player = self._players.get(id(policy))
        if player is None:
            player = HarnessPlayer(
                gateway=gateway_for(policy, settings=self._settings),
                harness=self._harness,
                policy=policy,
                envs=self._envs,
            )
            self._players[id(policy)] = player
        return player.play(plans, on_turn=on_turn, on_wait=on_wait)

    def close(self) -> None:
        """Stop all gateways."""
        for player in self._players.values():
            player.close()
