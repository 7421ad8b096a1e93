"""No clock, no network, no global generator, no printing, in the code of the environment."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from verigym.envs.check.subject import Broken, Subject, plan, wander

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "now", "utcnow", "today")
_OURS = ("verigym.env", "verigym.verifiers", "verigym.sandbox", "verigym.registry")


def it_is_pure(subject: Subject) -> None:
    """Watches every call that the environment's own modules make, over some plays."""
    env = subject.quick()
    package = type(env).__module__.rpartition(".")[0] or type(env).__module__
    found: set[str] = set()
    before = _global_generators()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _watched(package, found):
        for seed in range(3):
            for difficulty in env.difficulties:
                env.reset(seed=seed, options={"difficulty": difficulty})
                list(wander(env, random.Random(seed), 5))
                env.reset(seed=seed)
                env.render()
                if not env.oracle_absent and not env.costly:
                    plan(env)
    if said := out.getvalue() + err.getvalue():
        raise Broken(f"it prints: {said[:80]!r}")
    if _global_generators() != before:
        raise Broken("it draws from a global generator; use the rng it is given")
    if found:
        raise Broken(f"it calls {', '.join(sorted(found))}; same seed, same world")


def _global_generators() -> tuple[Any, str]:
    return random.getstate(), repr(np.random.get_state(legacy=False))


@contextlib.contextmanager
def _watched(package: str, found: set[str]) -> Iterator[None]:
    def watch(frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            caller = frame.f_globals.get("__name__", "")
            if not caller.startswith(package) or caller.startswith(_OURS):
                return
            module, name = getattr(called, "__module__", None), called.__name__
            owner = getattr(called, "__self__", None)
            if (
                (module == "time" and name in _CLOCKS)
                or (name in _CLOCKS and getattr(owner, "__module__", "") == "datetime")
                or (module in ("posix", "_socket") and name in ("urandom", "getrandom", "socket"))
                or isinstance(owner, np.random.RandomState)
            ):
                found.add(f"{module or type(owner).__name__}.{name} in {caller}")
        elif event == "call":
            back = frame.f_back
            caller = back.f_globals.get("__name__", "") if back else ""
            if not caller.startswith(package) or caller.startswith(_OURS):
                return
            module = frame.f_globals.get("__name__", "")
            if module in ("socket", "urllib.request", "http.client", "secrets"):
                found.add(f"{module}.{frame.f_code.co_name} in {caller}")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
