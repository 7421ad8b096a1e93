"""Isolation of libraries that draw from global random generators or print.

Swapping the global state in and out around each call would disturb every other thread that draws
meanwhile; a process for each game would cost megabytes and a second to start. Instead, the names
`random`, `np` and `print` in the library's own modules are bound to stand-ins, which pass each
draw on to the generators set in this thread (a context variable), or to the real modules if none
is set. The global generators are neither read nor advanced, and threads do not affect each other.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np


class Generators:
    """Random generators of a third-party library while this process controls their seeds."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.python = random.Random(seed)

    @cached_property
    def numpy(self) -> np.random.RandomState:
        """Generator, created on the first draw, since most environments never draw."""
        return np.random.RandomState(self.seed)

    def state(self) -> tuple[Any, ...]:
        """Return their states, for a state key."""
        if "numpy" not in vars(self):
            return self.python.getstate()
        name, keys, *rest = self.numpy.get_state(legacy=True)
        return (self.python.getstate(), name, np.asarray(keys).tolist(), *rest)


_set: ContextVar[Generators | None] = ContextVar("generators", default=None)


class _Random:
    """Stands for the module `random`."""

    def __getattr__(self, name: str) -> Any:
        ours = _set.get()
        return getattr(random if ours is None or name == "Random" else ours.python, name)


class _Numpy:
    """Stands for `numpy`: all of it but its global generator."""

    def __getattr__(self, name: str) -> Any:
        if name == "random":
            return _NUMPY_RANDOM
        return getattr(np, name)


class _NumpyRandom:
    """Stands for `numpy.random`."""

    def __getattr__(self, name: str) -> Any:
        ours = _set.get()
        own = getattr(ours.numpy, name, None) if ours is not None else None
        return getattr(np.random, name) if own is None else own


_RANDOM, _NUMPY, _NUMPY_RANDOM = _Random(), _Numpy(), _NumpyRandom()


def _silent(*values: object, **options: object) -> None:
    """Stands for `print`."""


@contextmanager
def drawing_from(ours: Generators) -> Iterator[None]:
    """Make borrowed libraries draw from `ours` in this thread."""
    token = _set.set(ours)
    try:
        yield
    finally:
        _set.reset(token)


def borrow(package: str) -> None:
    """Bind the stand-ins in the modules of `package` that are loaded by now."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package:
            names = vars(module)
            if names.get("random") is random:
                names["random"] = _RANDOM
            if names.get("np") is np:
                names["np"] = _NUMPY
            names.setdefault("print", _silent)
