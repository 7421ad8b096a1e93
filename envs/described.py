"""`load`: the environment that a TOML file describes: a dataset, Harbor folders, or an ORS server."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from verigym.env import Env


@cache
def load(path: str) -> type[Env[Any]]:
    """Return the environment's class. Raises ConfigError or TaskError that says where the file is wrong."""
    file = Path(path)
    if file.name == "task.toml" and (file.parent / "instruction.md").is_file():
        from verigym.envs.harbor.env import load_folders

        return load_folders(file)
    try:
        described = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        described = {}  # the reader of datasets says what is wrong with it
    if "harbor" in described:
        from verigym.envs.harbor.env import load_folders

        return load_folders(file)
    if "ors" in described:
        from verigym.envs.ors.env import load_server

        return load_server(file)
    from verigym.envs.dataset.env import load as load_dataset

    return load_dataset(path)
