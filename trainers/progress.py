"""Events that a training run sends to its listeners, and the error of a run that stopped early."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verigym.errors import VerigymError


class Interrupted(VerigymError):
    """The run stopped before its end and can be resumed; the message says why and how."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """An event for listeners: the `stage`, its progress, and a sentence for people."""

    stage: str
    done: int
    total: int
    text: str
    line: Mapping[str, Any] | None = None


Listener = Callable[[Progress], None]
