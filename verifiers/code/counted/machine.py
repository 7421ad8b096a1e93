"""`Machine`: calls the functions of a program and counts their steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import GeneratorType
from typing import Any, ClassVar

from verigym.verifiers.code.counted.library import ProgramLibrary
from verigym.verifiers.code.counted.state import (
    Builtin,
    CallFrame,
    Function,
    Meter,
    OutOfSteps,
    Signal,
)

_ITERABLE = (list, tuple, str, dict, set, range, GeneratorType)


class Machine:
    """Runs what a program was turned into, and counts its steps, up to a limit."""

    max_depth: ClassVar[int] = 400
    """Maximum number of calls inside each other."""

    def __init__(self, library: ProgramLibrary, limit: int) -> None:
        self.library = library
        self.meter = Meter(limit)
        self.builtins: dict[str, Any] = {
            name: Builtin(name, function) for name, function in library.functions.items()
        }

    def call(self, function: Any, args: list[Any], named: Mapping[str, Any]) -> Any:
        """Call a function of the program or the library and return its result."""
        meter = self.meter
        meter.spend(1)
        if isinstance(function, Builtin):
            return function.call(self, *args, **named)
        if not isinstance(function, Function):
            raise TypeError(f"{type(function).__name__} cannot be called")
        params = function.params
        frame = CallFrame(function.frame)
        names = frame.names
        if len(args) > len(params):
            raise TypeError(f"{function.name} takes {len(params)} arguments, got {len(args)}")
        names.update(zip(params, args, strict=False))
        for name, value in named.items():
            if name not in params or name in names:
                raise TypeError(f"{function.name} does not take {name} here")
            names[name] = value
        if len(names) < len(params):
            first = len(params) - len(function.defaults)
            for at, name in enumerate(params):
                if name not in names:
                    if at < first:
                        raise TypeError(f"{function.name} lacks its argument {name}")
                    names[name] = function.defaults[at - first]
        meter.depth += 1
        if meter.depth > self.max_depth:
            raise OutOfSteps(f"more than {self.max_depth} calls within calls")
        signal = function.body(frame)
        meter.depth -= 1
        return signal.value if isinstance(signal, Signal) else None

    def items(self, value: Any) -> Iterator[Any]:
        """Return an iterator over a value. Raises TypeError if it cannot be iterated."""
        if type(value) not in _ITERABLE:
            raise TypeError(f"{type(value).__name__} has no items")
        return iter(value)
