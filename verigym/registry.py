"""Finds environments and verifiers by id: the built-in ones and those of installed packages.

Built-in ones stand in tables beside their families (`builtin.py`). Other packages publish theirs
through entry points:

    [project.entry-points."verigym.envs"]
    "examples/guess-v0" = "your_package.guess:Guess"

    [project.entry-points."verigym.verifiers"]
    "examples/guess" = "your_package.guess:GuessVerifier"

The environment's full id is `verigym/` plus the entry point's name. No environment is imported until it
is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from verigym.builtin import Kind, read_tables
from verigym.canonical import JSON
from verigym.doors import DOORS
from verigym.errors import RequestError, TaskError, suggestion
from verigym.group import GroupVerifier
from verigym.judge import Judge
from verigym.missing import raise_explained
from verigym.verifier import Verifier

_NAME = re.compile(r"(?P<family>[\w-]+)/(?P<short>[\w-]+)-v(?P<version>\d+)")

# Gymnasium's ids have one slash at most; ours have two, verigym/<family>/<name>-v<N>. The wider
# pattern accepts all that Gymnasium's accepts, and reads "verigym/<family>" as the namespace.
_WIDE_ENV_ID = re.compile(
    r"^(?:(?P<namespace>[\w:-]+(?:\/[\w:-]+)?)\/)?(?:(?P<name>[\w:.-]+?))(?:-v(?P<version>\d+))?$"
)

DESCRIBED = ".toml"
"""End of the name of a file that describes an environment."""
described_files: dict[str, str] = {}
"""Files that environments of this process were made from, by environment id."""

REMOTE = "verigym/remote-v0"
"""Gymnasium id of an environment that a service plays; takes `url` and `env`."""


@dataclass(frozen=True)
class EnvEntry:
    """A registered environment, not imported yet."""

    id: str
    family: str
    version: int
    target: str


@cache
def list_envs() -> dict[str, EnvEntry]:
    """Return every registered environment by full id, sorted."""
    found: dict[str, EnvEntry] = {}
    for point in _points("envs"):
        match = _NAME.fullmatch(point.name)
        if match is None:
            kind = "entry point" if point.dist else "row"
            raise TaskError(
                f"{kind} {point.name!r} of group verigym.envs ({point.value}) must read "
                "<family>/<name>-v<N>"
            )
        full = f"verigym/{point.name}"
        found[full] = EnvEntry(full, match["family"], int(match["version"]), point.value)
    return found


@cache
def list_doors(installed: bool = True) -> dict[str, EnvEntry]:
    """Return the environments of other libraries (`doors.py`) by full id, sorted.

    If `installed` is False, environments whose library is missing are included.
    """
    found = {}
    for door in DOORS:
        if installed and not door.installed:
            continue
        for game in door.games:
            full = f"verigym/{door.name}/{game}-v0"
            found[full] = EnvEntry(full, door.name, 0, f"{door.module}:{game}")
    return dict(sorted(found.items()))


@cache
def list_verifiers() -> dict[str, str]:
    """Return every registered verifier by id, with its import path, sorted."""
    return {point.name: point.value for point in _points("verifiers")}


@cache
def list_group_verifiers() -> dict[str, str]:
    """Return every registered group verifier by id, with its import path, sorted."""
    return {point.name: point.value for point in _points("group_verifiers")}


def register_all() -> None:
    """Register every environment with Gymnasium, which `gymnasium_hook.py` does once."""
    import gymnasium  # takes longer than all that this module does
    from gymnasium.envs import registration

    registration.ENV_ID_RE = _WIDE_ENV_ID
    for entry in list_envs().values():
        if entry.id not in registration.registry:
            gymnasium.register(entry.id, entry_point=entry.target)
    for entry in list_doors(installed=False).values():
        # What `gymnasium.register` does, without its checks, which take a walk over all ids each.
        registration.registry.setdefault(
            entry.id, registration.EnvSpec(entry.id, entry_point=entry.target)
        )
    if REMOTE not in registration.registry:
        gymnasium.register(REMOTE, entry_point="verigym.client:RemoteEnv")


def resolve(name: str) -> str:
    """Return the full id for `name`, which may leave out `verigym/`, the family or the version.

    For a file that describes an environment (docs/datasets.md), return its path: a file is its own id.
    Raises RequestError with suggestions for an unknown or ambiguous name.
    """
    if name.endswith(DESCRIBED):
        if "\0" in name:
            raise RequestError(f"no such file: {name!r}")
        path = Path(name).resolve()
        if not path.is_file():
            raise RequestError(f"no such file: {path}")
        return str(path)
    return described_files[name] if name in described_files else resolve_id(name)


def resolve_id(name: str) -> str:
    """Return the full id for `name` like `resolve`, but never a file: for untrusted names."""
    known = list_envs()
    full = name if name.startswith("verigym/") else f"verigym/{name}"
    if full in known:
        return full
    # What is ours goes first: a door is meant where its name is said.
    doors = list_doors(installed=False)
    for door_id in (full, f"{full}-v0"):
        if door_id in doors:
            return door_id
    candidates: dict[str, EnvEntry] = {}
    for entry in known.values():
        unversioned = entry.id.rpartition("-v")[0]
        short = entry.id.rpartition("/")[2]
        if name in (short, short.rpartition("-v")[0]) or full == unversioned:
            best = candidates.get(unversioned)
            if best is None or best.version < entry.version:
                candidates[unversioned] = entry
    if len(candidates) == 1:
        return next(iter(candidates.values())).id
    if candidates:
        raise RequestError(
            f"environment {name!r} is ambiguous: {', '.join(sorted(c.id for c in candidates.values()))}"
        )
    names = {key.removeprefix("verigym/") for key in known}
    raise RequestError(
        f"unknown environment {name!r}; {suggestion(name.removeprefix('verigym/'), names)}"
    )


@cache
def default_verifier(name: str) -> Verifier:
    """Return the verifier `name` with its default parameters, shared since verifiers keep no state."""
    return make_verifier(name)


def find_judge(name: str, params: Mapping[str, JSON], url: str | None) -> Judge:
    """Return the verifier `name` with `params`, in this process or at the service at `url`."""
    if url is None:
        return make_verifier(name, **params) if params else default_verifier(name)
    # From its own module: the client also holds an environment, which imports this file.
    from verigym.client.verifier import RemoteVerifier

    return RemoteVerifier(url, name, params=params)


def make_verifier(name: str, **params: JSON) -> Verifier:
    """Make a verifier by id. Raises RequestError with suggestions for an unknown id."""
    return _load_verifier(name)(**params)


def make_group_verifier(
    name: str, of: Judge | Mapping[str, JSON] | str, **params: JSON
) -> GroupVerifier:
    """Make a group verifier by id that asks the judge `of`.

    `of` is a judge, the id of a verifier, or an object of its id and parameters like
    `{"verifier": "math/answer", "params": {"tolerance": 0.01}}`. Raises RequestError with suggestions for an unknown id.
    """
    loaded = find_group_verifier(name)
    if isinstance(of, Judge):
        return loaded(of, **params)
    given = {"verifier": of} if isinstance(of, str) else of
    for key in given:
        if key not in ("verifier", "params"):
            raise RequestError(f"of has no {key!r}; {suggestion(key, ('verifier', 'params'))}")
    inner, settings = given.get("verifier"), given.get("params") or {}
    if not isinstance(inner, str) or not isinstance(settings, dict):
        raise RequestError(
            f'of must be the id of a verifier, or {{"verifier": id, "params": {{...}}}}, got {of!r}'
        )
    return loaded(make_verifier(inner, **settings), **params)


@cache
def find_group_verifier(name: str) -> type[GroupVerifier]:
    """Return the class of a group verifier by id. Raises RequestError with suggestions for an unknown id."""
    for point in _points("group_verifiers"):
        if point.name == name:
            loaded = load(point.value, f"group verifier {name}")
            if not (isinstance(loaded, type) and issubclass(loaded, GroupVerifier)):
                raise TaskError(f"{name!r} ({point.value}) is not a verigym.GroupVerifier")
            if loaded.id != name:
                raise TaskError(
                    f"group verifier {name!r} ({point.value}) calls itself {loaded.id!r}"
                )
            return loaded
    known = list_group_verifiers()
    raise RequestError(f"unknown group verifier {name!r}; {suggestion(name, known)}")


@cache
def _load_verifier(name: str) -> type[Verifier]:
    for point in _points("verifiers"):
        if point.name == name:
            loaded = load(point.value, f"verifier {name}")
            if not (isinstance(loaded, type) and issubclass(loaded, Verifier)):
                raise TaskError(f"verifier {name!r} ({point.value}) is not a verigym.Verifier")
            if loaded.id != name:
                raise TaskError(f"verifier {name!r} ({point.value}) calls itself {loaded.id!r}")
            return loaded
    raise RequestError(f"unknown verifier {name!r}; {suggestion(name, list_verifiers())}")


def load(target: str, what: str) -> Any:
    """Import the class `module:name`. Raises TaskError if the module or the class does not exist.

    The name of an adapter's environment may have hyphens, which an entry point's may not.
    """
    module, _, name = target.partition(":")
    module, name = module.strip(), name.partition("[")[0].strip()
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            raise TaskError(
                f"{what} is registered as {target}, but there is no module {error.name}"
            ) from error
        raise_explained(error, what)
    try:
        return reduce(getattr, name.split("."), found)
    except AttributeError as error:
        raise TaskError(f"{what} is registered as {target}, but {module} has no {name}") from error


@cache
def _points(kind: Kind) -> tuple[EntryPoint, ...]:
    """Return the rows of the tables and the entry points of other packages, sorted by name."""
    group = f"verigym.{kind}"
    points = read_tables(kind)
    for point in entry_points(group=group):
        other = points.setdefault(point.name, point)
        if other.value != point.value:
            raise TaskError(
                f"two packages register {point.name!r} in {group}: {other.value} and {point.value}; "
                "uninstall one"
            )
    return tuple(points[name] for name in sorted(points))
