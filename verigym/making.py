"""Makes environments by id: `make`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from inspect import signature
from typing import Any

import gymnasium
from gymnasium.envs import registration

from verigym.env import Env
from verigym.errors import RequestError, TaskError, suggestion
from verigym.missing import raise_explained
from verigym.registry import DESCRIBED, described_files, load, resolve

_READER = "verigym.envs.described:load"
_WRAPPER = "verigym.envs.with_tools.env:wrap"
_PLANTER = "verigym.envs.audit.planted:plant"
WRAPPED_BY = ("tools", "attempts", "reflect", "corpus")
"""Arguments that any environment of one turn takes (docs/tools.md), unless it has its own of that name."""

PLANTED = "planted"
"""Argument that plants a loophole in the verifier of an environment of one reply (docs/audit.md)."""


def make(name: str, **kwargs: Any) -> Env[Any]:
    """Make an environment by full or short id, without Gymnasium's wrappers.

    Takes the arguments of the environment, as `gymnasium.make` does, and returns the bare `Env`, with
    `oracle`, `snapshot` and the other methods. Environments of one turn also take `tools`, `attempts`, `reflect` and
    `corpus` (docs/tools.md), and `planted` (docs/audit.md).
    """
    own = {key: value for key, value in kwargs.items() if key != PLANTED}
    bare = _make(resolve(name), own)
    if (loophole := kwargs.get(PLANTED)) is not None:
        bare = load(_PLANTER, name)(bare, loophole)
    plain = all(value is None or isinstance(value, str | int) for value in kwargs.values())
    bare.made_with = _shared(**kwargs) if plain else kwargs
    return bare


def _make(full: str, kwargs: dict[str, Any]) -> Env[Any]:
    if full.endswith(DESCRIBED):
        described: type[Env[Any]] = load(_READER, full)(full)
        if described_files.setdefault(described.id, full) != full:
            raise RequestError(
                f"{described_files[described.id]} and {full} both call themselves {described.id}"
            )
        if described.id not in registration.registry:
            gymnasium.register(described.id, entry_point=lambda **options: described(**options))
        maker: Callable[..., Any] = described
    else:
        maker = _maker(full)
    chosen, rest = _parted(maker, kwargs)
    if not chosen:
        bare: Env[Any] = _called(maker, full, rest)
        if not isinstance(bare, Env):
            raise TaskError(f"{full} is not a verigym.Env but a {type(bare).__name__}")
        if bare.id != full and not full.endswith(DESCRIBED):
            raise TaskError(f"environment {full!r} calls itself {bare.id!r}")
        return bare
    max_turns = rest.pop("max_turns", None)
    inner = _called(maker, full, rest)
    wrapped: Env[Any] = _called(partial(load(_WRAPPER, full), inner, max_turns, chosen), full, {})
    return wrapped


def _parted(
    maker: Callable[..., Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments that ask for tools or attempts, and the environment's own."""
    asked = kwargs.keys() & set(WRAPPED_BY)
    if asked and isinstance(maker, type):
        asked -= arguments_of(maker).keys()
    chosen = {
        name: kwargs[name] for name in WRAPPED_BY if name in asked and kwargs[name] is not None
    }
    return chosen, {name: value for name, value in kwargs.items() if name not in asked}


@lru_cache(maxsize=256, typed=True)
def _shared(**arguments: Any) -> Mapping[str, Any]:
    """Return one mapping for all environments made with equal arguments."""
    return arguments


def arguments_of(kind: type[Env[Any]]) -> dict[str, Any]:
    """Return the constructor arguments of `kind` with their defaults.

    A default is None if it is missing or not a JSON scalar.
    """
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        made = owner.__dict__.get("__init__")
        if made is None:
            continue
        parameters = signature(made).parameters.values()
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            found.clear()
        for one in list(parameters)[1:]:
            if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD):
                plain = isinstance(one.default, str | int | float | bool)
                found[one.name] = one.default if plain else None
    return found


def _called(maker: Callable[..., Any], full: str, kwargs: dict[str, Any]) -> Any:
    try:
        return maker(**kwargs)
    except ModuleNotFoundError as error:
        raise_explained(error, full)
    except TypeError as error:
        known = {
            **arguments_of(maker if isinstance(maker, type) else Env),
            **dict.fromkeys(WRAPPED_BY),
        }
        for name in kwargs.keys() - known.keys():
            hint = suggestion(name, known)
            raise RequestError(f"{full} takes no argument {name!r}; {hint}") from error
        raise RequestError(f"{full} cannot be made of {kwargs}: {error}") from error


@cache
def _maker(full: str) -> Callable[..., Any]:
    # As gymnasium.make finds it, without the copies of the specification that it makes for each.
    entry_point = registration.registry[full].entry_point
    if isinstance(entry_point, str):
        loaded: Callable[..., Any] = load(entry_point, full)
        return loaded
    assert entry_point is not None
    return entry_point
