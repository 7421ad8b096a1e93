"""Opens what an audit is about: environments, datasets, raw reasoning-gym, Harbor folders and ORS servers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import verigym
from verigym.env import Env
from verigym.envs.audit.raw_reasoning import PREFIX, raw_reasoning, task_names
from verigym.envs.harbor.env import folders_env, slug
from verigym.envs.harbor.folder import find_folders
from verigym.envs.ors.env import server_env, split_address
from verigym.errors import RequestError
from verigym.registry import DESCRIBED, list_verifiers
from verigym.verifiers.pool import VerifierPool
from verigym.verifiers.pooled import Pooled


@dataclass(frozen=True, kw_only=True)
class AuditSource:
    """One environment to audit. `declares_chance` is False if nobody said what luck earns there."""

    name: str
    make: Callable[[], Env[Any]]
    declares_chance: bool = True
    tasks: int | None = None
    """Number of tasks that there are; None if seeds make ever new ones."""


def find_sources(
    name: str,
    choose: Callable[[Iterable[str]], Iterable[str]],
    timeout_s: float,
    planted: str | None = None,
) -> Iterator[AuditSource]:
    """Yield the environments that `name` means; `choose` finds registered ones by id or pattern."""
    options = {} if planted is None else {"planted": planted}
    if name.startswith(PREFIX):
        for task in task_names(name.removeprefix(PREFIX)):
            made = _raw(task, timeout_s)
            yield AuditSource(name=f"{PREFIX}{task}", make=made, declares_chance=False)
    elif name.startswith("ors+"):
        yield AuditSource(name=name, make=server_env(*split_address(name)), declares_chance=False)
    elif Path(name).is_dir():
        folders = find_folders(Path(name))
        env = folders_env(folders, f"verigym/harbor/{slug(Path(name).name)}-v0", whole=True)
        yield AuditSource(name=name, make=env, declares_chance=False, tasks=len(folders))
    else:
        for one in choose([name]):
            yield AuditSource(name=one, make=lambda one=one: verigym.make(one, **options))  # type: ignore[misc]


def _raw(task: str, timeout_s: float) -> Callable[[], Env[Any]]:
    return lambda: raw_reasoning(task, timeout_s)


def judge_in(pool: VerifierPool, env: Env[Any]) -> None:
    """Let the pool's workers judge, under their deadline, if the verifier of `env` is a registered one."""
    own = env.verifier
    if (
        type(own).__module__ != __name__
        and own.id in list_verifiers()
        and not isinstance(own, Pooled)
    ):
        env.verifier = Pooled(pool, own.id, own.params)


@contextmanager
def described_rows(rows: Path, verifier: str) -> Iterator[str]:
    """Write the description of a file of rows that has none, and yield its path; it is removed afterwards.

    Rows need a column `prompt` (or `question`), and `reference` or `answer`. Raises RequestError if they lack one.
    """
    try:
        with rows.open(encoding="utf-8") as file:
            columns = json.loads(file.readline()).keys()
    except (OSError, ValueError, AttributeError) as error:
        raise RequestError(f"{rows} is not a file of JSON lines: {error}") from error
    prompt = next((name for name in ("prompt", "question") if name in columns), None)
    answer = next((name for name in ("reference", "answer") if name in columns), None)
    if prompt is None or answer is None:
        raise RequestError(
            f"{rows} needs the columns prompt and reference (or question and answer), got {', '.join(columns)}; "
            "a TOML file that names yours does too (docs/datasets.md)"
        )
    reference = '"{reference}"' if answer == "reference" else '{ answer = "{answer}" }'
    with tempfile.TemporaryDirectory(prefix="verigym-rows-") as folder:
        path = Path(folder) / f"rows{DESCRIBED}"
        stem = "".join(sign if sign.isalnum() else "-" for sign in rows.stem) or "rows"
        path.write_text(
            f"id = {json.dumps(f'verigym/rows/{stem}-v0')}\nverifier = {json.dumps(verifier)}\n"
            f"[source]\npath = {json.dumps(str(rows.resolve()))}\n"
            f'[fields]\nprompt = "{{{prompt}}}"\nreference = {reference}\n',
            encoding="utf-8",
        )
        yield str(path)
