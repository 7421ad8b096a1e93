"""Writes a package that publishes an installed environment on a hub, in the hub's own layout."""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Final

from verigym import __version__
from verigym.envs.harbor.export import export, extras_of
from verigym.envs.new.write import check_folder, fill, words_of
from verigym.errors import RequestError
from verigym.making import make
from verigym.registry import list_envs, resolve

# File among the templates, and where it goes.
_FILES: Final = {
    "prime": {
        "prime/pyproject.toml": "pyproject.toml",
        "prime/README.md": "README.md",
        "prime/init.py": "$module/__init__.py",
        "prime/taskset.py": "$module/taskset.py",
        "template/gitignore": ".gitignore",
    },
    "openenv": {
        "openenv/openenv.yaml": "openenv.yaml",
        "openenv/pyproject.toml": "pyproject.toml",
        "openenv/README.md": "README.md",
        "openenv/init.py": "__init__.py",
        "openenv/client.py": "client.py",
        "openenv/server_init.py": "server/__init__.py",
        "openenv/app.py": "server/app.py",
        "openenv/Dockerfile": "server/Dockerfile",
        "template/gitignore": ".gitignore",
    },
    "harbor": {"harbor/README.md": "README.md"},
}
_EXTRAS: Final = {"openenv": ["server"]}
_CLIENTS: Final = {"prime": ["verifiers>=0.4,<0.5"], "openenv": ["openenv>=0.10"]}
"""Requirements of a package beside Verigym; the container of a server needs none."""


def write_hub_package(
    folder: Path, name: str, *, hub: str, env: str, author: str, tasks: int
) -> list[Path]:
    """Write the package `name` for `hub` (prime, openenv or harbor) into `folder`; return the files' paths.

    `env` is an id, `tasks` the number of Harbor folders. Raises RequestError for a name that cannot be a
    package's, an environment that the hub cannot have, or a folder with something in it.
    """
    full = resolve(env)
    if full not in list_envs():
        raise RequestError(f"a package publishes an installed environment, got {env!r}")
    check_folder(folder)
    words = words_of(name, author)
    short = full.removeprefix("verigym/")
    written = []
    with make(full) as made:
        needed = _requirements(short, [*_EXTRAS.get(hub, ()), *extras_of(made)])
        if hub == "harbor":
            written = export(made, folder / "tasks", tasks=tasks)
    more = {
        "env": short,
        "family": short.partition("/")[0],
        "requirements": json.dumps(needed + _CLIENTS.get(hub, [])),
        "quoted_requirements": shlex.join(needed),
    }
    return written + fill(_FILES[hub], folder, words | more)


def _requirements(short: str, extras: list[str]) -> list[str]:
    """Return the packages that hold an environment: Verigym, and that of a third-party one."""
    written = f"[{','.join(extras)}]" if extras else ""
    found = [f"verigym{written}>={__version__.partition('+')[0]}"]
    for point in metadata.entry_points(group="verigym.envs", name=short):
        if point.dist is not None:
            found.append(f"{point.dist.name}>={point.dist.version}")
    return found
