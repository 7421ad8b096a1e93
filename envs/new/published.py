"""Reads a package that `verigym new --for` wrote: which environment it publishes, and what is wrong with its files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from verigym.envs.harbor.folder import find_folders, read_folder
from verigym.envs.harbor.runner import oracle_script, run_folder
from verigym.errors import RequestError


def published_env(package: Path) -> str:
    """Return the id of the environment that a package publishes. Raises RequestError if it names none."""
    project = package / "pyproject.toml"
    if project.exists():
        tool: Any = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {})
        env = tool.get("verigym", {}).get("env")
    elif exported := sorted(package.glob("tasks/*/tests/task.json")):
        env = json.loads(exported[0].read_bytes()).get("task", {}).get("env_id")
    else:
        env = None
    if not isinstance(env, str):
        raise RequestError(
            f"{package} does not say which environment it publishes: packages of `verigym new --for` do, by env "
            "under [tool.verigym] in pyproject.toml or by Harbor folders in tasks; give the id of an environment"
        )
    return env


def faults_of(package: Path) -> Iterator[str]:
    """Yield what is wrong with the files of a package: Python that does not compile, Harbor folders whose solution does
    not earn 1 or which pay for doing nothing."""
    for file in sorted(package.rglob("*.py")):
        try:
            compile(file.read_bytes(), str(file), "exec")
        except SyntaxError as error:
            yield f"{file}: {error}"
    if not (package / "tasks").is_dir():
        return
    for path in find_folders(package / "tasks"):
        folder = read_folder(path)
        for agent, script, wanted in (("oracle", oracle_script(folder), 1.0), ("nop", None, 0.0)):
            verdict = run_folder(folder, script).verdict
            if verdict.score != wanted:
                yield f"{path}: {agent} earns {verdict.score}, not {wanted:g} ({verdict.reason})"
