"""`export`: tasks of an environment of one reply as Harbor folders.

The agent writes its reply to `/app/answer.txt`. The verifier runs in an environment of its own, which gets that file alone
(`environment_mode = "separate"`): neither the reference nor Verigym is where the agent works. It writes no reward if
judging ends in a fault, which Harbor counts as an error and not as 0.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import verigym
from verigym.canonical import to_json
from verigym.env import Env
from verigym.envs.harbor.env import slug
from verigym.envs.harbor.folder import ANSWER, EXPORTED
from verigym.errors import RequestError
from verigym.question import Question

_TASK = """\
schema_version = "1.4"
artifacts = ["{answer}"]

[task]
name = "verigym/{name}"

[metadata]
source = "{env_id}"
difficulty = "{difficulty}"
seed = {seed}

[agent]
timeout_sec = 600

[verifier]
timeout_sec = 300
environment_mode = "separate"

[environment]
cpus = 1
memory_mb = 2048
network_mode = "no-network"
workdir = "/app"
"""
_AGENT_IMAGE = "FROM debian:12-slim\nWORKDIR /app\n"
_TESTS_IMAGE = "FROM python:3.11-slim\nRUN pip install --no-cache-dir 'verigym{extra}=={version}'\nCOPY . /tests\nWORKDIR /app\n"
_TEST = f"""\
#!/bin/bash
# Writes no reward if the answer could not be judged.
exec "${{VERIGYM:-verigym}}" harbor judge /tests/{EXPORTED} {ANSWER} /logs/verifier/reward.json
"""
_INSTRUCTION = """\
{prompt}

Write your whole reply, and nothing else, to the file `{answer}`.
"""


def export(env: Env[Any], out: Path, *, tasks: int, seed: int = 0) -> list[Path]:
    """Write `tasks` tasks from `seed` on as folders in `out`, at all difficulties in turn; return the folders.

    Raises RequestError if the environment has several turns or no oracle, or a folder exists.
    """
    if not isinstance(env, Question):
        raise RequestError(
            f"{env.id} has several turns: its world must stay outside the agent's container, where a folder has no place "
            "for it. Serve it instead: verigym serve, and the client of your trainer"
        )
    if env.oracle_absent:
        raise RequestError(
            f"{env.id} has no oracle, so a folder of it could not be proved: {env.oracle_absent}"
        )
    written = []
    for number in range(seed, seed + tasks):
        difficulty = env.difficulties[number % len(env.difficulties)]
        prompt, _ = env.reset(seed=number, options={"difficulty": difficulty})
        name = slug(f"{env.id.removeprefix('verigym/')}-{difficulty}-{number}")
        folder = out / name
        if folder.exists():
            raise RequestError(f"{folder} exists; give another folder to write to")
        _write(env, folder, name, prompt)
        written.append(folder)
    return written


def _write(env: Question, folder: Path, name: str, prompt: str) -> None:
    task = env.task
    described = {
        "verifier": env.verifier.id,
        "params": dict(env.verifier.params),
        "task": json.loads(task.to_json()),
    }
    extras = "".join(f"[{name}]" for name in extras_of(env))
    version = re.sub(r"\+.*", "", verigym.__version__)
    texts = {
        "task.toml": _TASK.format(
            answer=ANSWER, name=name, env_id=env.id, difficulty=task.difficulty, seed=task.seed
        ),
        "instruction.md": _INSTRUCTION.format(prompt=prompt, answer=ANSWER),
        "environment/Dockerfile": _AGENT_IMAGE,
        "solution/solve.sh": f"#!/bin/bash\ncat > {ANSWER} <<'END_OF_REPLY'\n{env.oracle()}\nEND_OF_REPLY\n",
        "tests/Dockerfile": _TESTS_IMAGE.format(extra=extras, version=version),
        "tests/test.sh": _TEST,
        f"tests/{EXPORTED}": to_json(described).decode(),
    }
    for place, text in texts.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if place.endswith(".sh"):
            path.chmod(0o755)


def extras_of(env: Env[Any]) -> list[str]:
    """Return the extras of Verigym that judging an environment needs."""
    family = env.verifier.id.partition("/")[0]
    return [family] if family in ("math", "sql") else []
