"""A uniformly random policy: the baseline that a trained policy has to beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verigym.agents.policy import Completion, Request
from verigym.agents.sampling import generator
from verigym.env import CHARSET
from verigym.errors import RequestError


class RandomPolicy:
    """Uniform over the legal actions, else a random text of the action space; seeded by the key."""

    name = "random"
    max_batch = 1024

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one random action per request; the same key draws the same action."""
        return [Completion(text=self._act(request)) for request in requests]

    def _act(self, request: Request) -> str:
        env = request.env
        if env is None:
            raise RequestError("the random policy needs the live environment in each request")
        rng = generator(request.key)
        legal = env.legal_actions(env.state)
        if legal:
            return legal[int(rng.integers(len(legal)))]
        # Gymnasium's space.sample() draws from the space's own generator, which two environments
        # with equal keys do not share; so draw the text here.
        letters = np.array(sorted(CHARSET))
        size = int(rng.integers(1, min(env.max_action_chars, 32) + 1))
        return "".join(letters[rng.integers(len(letters), size=size)])
