"""The record of one request, which the layers around the application fill in and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_ROUTE: Final = "(none)"
"""Route in log and metrics of a request that no route answers."""
GONE: Final = 499
"""Status in log and metrics of a request without a response, because the client left."""


@dataclass(slots=True)
class Exchange:
    """One request and its answer, or one WebSocket."""

    method: str
    id: str
    route: str = NO_ROUTE
    status: int = GONE
    caller: str = ""
    seconds: float = 0.0
    received: int = 0
    sent: int = 0
