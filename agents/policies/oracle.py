"""The environment's own solver as a policy; scores 1.0 if there is a solver."""

from __future__ import annotations

from collections.abc import Sequence

from verigym.agents.policy import Completion, Request
from verigym.errors import RequestError


class OraclePolicy:
    """Plays `oracle()` of the live environment. Raises RequestError if it has none."""

    name = "oracle"
    max_batch = 1024

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one optimal action per request."""
        return [Completion(text=self._act(request)) for request in requests]

    def _act(self, request: Request) -> str:
        if request.env is None:
            raise RequestError("the oracle policy needs the live environment in each request")
        return request.env.oracle()
