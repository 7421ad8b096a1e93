"""State of a running program: the steps that it took, its variables and functions, and the errors that end it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Evaluate = Callable[["CallFrame"], Any]
"""Closure that a piece of a program is turned into."""


class RefusedProgram(Exception):
    """The program uses what is not there; the text says what and where."""


class FailedProgram(Exception):
    """The program failed while it ran: a wrong type, a missing key, a limit."""


class OutOfSteps(FailedProgram):
    """The program took more steps than it was given, or made more calls inside each other than allowed."""


class Meter:
    """Counter of the steps taken, with their limit."""

    __slots__ = ("depth", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.used = 0
        self.limit = limit
        self.depth = 0

    def spend(self, steps: int) -> None:
        """Count `steps`. Raises OutOfSteps above the limit."""
        self.used += steps
        if self.used > self.limit:
            raise OutOfSteps(f"more than {self.limit} steps")


class CallFrame:
    """Variables of one call, and the frame of the function around it."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: CallFrame | None) -> None:
        self.names: dict[str, Any] = {}
        self.outer = outer


class Function:
    """A function of the program."""

    __slots__ = ("body", "defaults", "frame", "name", "params")

    def __init__(
        self, name: str, params: list[str], defaults: list[Any], body: Evaluate, frame: CallFrame
    ) -> None:
        self.name, self.params, self.defaults = name, params, defaults
        self.body, self.frame = body, frame


class Builtin:
    """A function of the library, as a value."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self.call = name, call


class Signal:
    """End of a block that a statement asks for: `BREAK`, `CONTINUE`, or the value returned."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value


BREAK, CONTINUE = Signal(), Signal()
