"""Runs a Harbor task in the sandbox: what an agent does, then its tests, in jobs of their own.

The agent's job has no tests and no solution. What outlives it are plain files: in shared mode those of `/app` and
`/logs`, in separate mode `/logs/artifacts` and the declared artifacts alone. Processes, links and the rest of the
container's state are gone when the tests run, so an agent that leaves a daemon behind gains nothing.
"""

from __future__ import annotations

import json
import math
import shlex
from base64 import encodebytes
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from verigym.canonical import JSON
from verigym.envs.harbor.folder import ARTIFACTS, EXPORTED, Folder, read_folder
from verigym.errors import RequestError, TaskError
from verigym.judge import Judge
from verigym.registry import make_verifier
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault, scored, unusable

_SCRIPT = "verigym-agent.sh"
_EMPTY = ("app/.keep", "logs/agent/.keep", "logs/artifacts/.keep", "logs/verifier/.keep")
_REWARDS = ("logs/verifier/reward.json", "logs/verifier/reward.txt")
_MOST_S = 600.0


@dataclass(frozen=True, kw_only=True)
class HarborRun:
    """The end of a run: what the agent's job and the tests printed, and the verdict."""

    verdict: Verdict
    agent: str
    tests: str


def run_folder(folder: Folder, script: str | None, sandbox: Sandbox | None = None) -> HarborRun:
    """Run `script` in bash as the agent, or nothing if it is None, then the tests."""
    sandbox = sandbox or default_sandbox()
    files = {_relative(name): data for name, data in folder.agent.files.items()}
    said = ""
    if script is not None:
        result = sandbox.run(_agent_job(folder, files, script))
        if result.status is JobStatus.SANDBOX_ERROR:
            return HarborRun(verdict=_broken(result, "agent"), agent="", tests="")
        said = _said(result)
        files = _outlive(folder, files, result)
    elif folder.mode == "separate":
        files = {}
    if EXPORTED in folder.tests:
        return HarborRun(verdict=_judged(folder, files), agent=said, tests="")
    result = sandbox.run(_tests_job(folder, files))
    return HarborRun(verdict=_verdict(result), agent=said, tests=_said(result))


def oracle_script(folder: Folder) -> str:
    """Return a script that runs the task's own solution. Raises RequestError if it has none."""
    if folder.solution is None or "solve.sh" not in folder.solution:
        raise RequestError(f"{folder.path} has no solution/solve.sh")
    lines = []
    for name, data in folder.solution.items():
        place = shlex.quote(f"/tmp/solution/{name}")
        lines.append(
            f'mkdir -p "$(dirname {place})" && base64 -d > {place} <<"END_OF_FILE"\n{_base64(data)}\nEND_OF_FILE'
        )
    exports = [f"export {name}={shlex.quote(value)}" for name, value in folder.solution_env.items()]
    return "\n".join([*lines, *exports, "bash /solution/solve.sh"])


class FolderJudge(Judge):
    """Judges scripts of an agent by the tests of the folder that the task's reference names."""

    id = "harbor/tests"
    version = 1
    params: ClassVar[Mapping[str, JSON]] = {}

    def verify_batch(self, items: Any) -> list[Verdict]:
        """Return the verdict on each script, after running it and the tests."""
        return [
            self._verify(task, submission).stamped(self.name, self.digest(task, submission))
            for task, submission in items
        ]

    def _verify(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        if not isinstance(reference, Mapping) or not isinstance(reference.get("folder"), str):
            raise TaskError('the reference must be {"folder": path}')
        if not isinstance(submission, str):
            return unusable("no_script", "the reply holds no script in a bash fence")
        return run_folder(read_folder(Path(str(reference["folder"]))), submission).verdict


def _agent_job(folder: Folder, files: Mapping[str, bytes], script: str) -> Job:
    return Job(
        command=(
            "bash",
            "-c",
            f"cd {shlex.quote(folder.agent.workdir)} && exec bash /tmp/{_SCRIPT}",
        ),
        files={**dict.fromkeys(_EMPTY, b""), **files, _SCRIPT: script.encode("utf-8", "replace")},
        env=folder.agent.env,
        limits=_limits(folder, folder.agent_s),
        fetch=("app/*", "logs/*"),
    )


def _tests_job(folder: Folder, files: Mapping[str, bytes]) -> Job:
    tests = {f"tests/{name}": data for name, data in folder.tests.items()}
    return Job(
        command=(
            "bash",
            "-c",
            f"cd {shlex.quote(folder.verifier.workdir)} && exec bash /tests/test.sh",
        ),
        files={**dict.fromkeys(_EMPTY, b""), **files, **tests},
        env=folder.verifier.env,
        limits=_limits(folder, folder.verifier_s),
        fetch=_REWARDS,
    )


def _outlive(folder: Folder, files: Mapping[str, bytes], result: Result) -> dict[str, bytes]:
    """Return what the tests see of the agent's files; rewards that it wrote are removed, as Harbor does."""
    left = {
        name: data
        for name, data in result.files.items()
        if not name.endswith("/.keep") and not name.startswith("logs/verifier/")
    }
    if folder.mode == "shared":
        return left
    own = {_relative(name): data for name, data in folder.verifier.files.items()}
    wanted = (f"{ARTIFACTS}/*", *folder.artifacts, *(f"{one}/*" for one in folder.artifacts))
    return own | {
        name: data
        for name, data in left.items()
        if any(fnmatchcase(f"/{name}", one) for one in wanted)
    }


def _judged(folder: Folder, files: Mapping[str, bytes]) -> Verdict:
    """Return the verdict on an exported task, by the verifier that its tests name, outside the sandbox."""
    return judge_answer(folder.tests[EXPORTED], files.get("app/answer.txt", b""))


def judge_answer(exported: bytes, answer: bytes) -> Verdict:
    """Return the verdict on the answer to an exported task. Raises TaskError if the task is malformed."""
    try:
        found = json.loads(exported)
        task = Task.from_json(json.dumps(found["task"]))
        verifier = make_verifier(found["verifier"], **found["params"])
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"{EXPORTED} is not the task of an exported folder: {error}") from error
    return verifier.verify(task, answer.decode("utf-8", "replace").removesuffix("\n"))


def _verdict(result: Result) -> Verdict:
    """Read the reward: reward.json goes before reward.txt, and without either there is no score."""
    if result.status is JobStatus.SANDBOX_ERROR:
        return _broken(result, "tests")
    if result.status is JobStatus.TIME_LIMIT:
        return fault(Status.TIMEOUT, "tests_timeout", "the tests did not end in time")
    text = result.files.get(_REWARDS[0])
    try:
        if text is not None:
            parts = {str(name): float(value) for name, value in json.loads(text).items()}
        else:
            parts = {"reward": float(result.files[_REWARDS[1]])}
    except KeyError:
        return fault(
            Status.VERIFIER_ERROR, "no_reward", f"the tests wrote no reward; {_said(result)}"
        )
    except (ValueError, TypeError, AttributeError) as error:
        return fault(Status.VERIFIER_ERROR, "malformed_reward", str(error))
    reward = parts.get("reward", next(iter(parts.values()), math.nan))
    if not all(map(math.isfinite, parts.values())) or not 0.0 <= reward <= 1.0:
        return fault(Status.VERIFIER_ERROR, "malformed_reward", f"{parts} is not from 0 to 1")
    return scored(reward, "passed" if reward >= 1 else "failed", _said(result), parts)


def _broken(result: Result, phase: str) -> Verdict:
    return fault(Status.INFRA, "sandbox_error", f"the {phase} could not run: {result.detail}")


def _limits(folder: Folder, seconds: float) -> Limits:
    wall_s = min(seconds, _MOST_S)
    return Limits(
        wall_s=wall_s,
        cpu_s=wall_s,
        memory_mib=folder.memory_mib,
        processes=64,
        disk_mib=256,
        open_files=256,
    )


def _said(result: Result) -> str:
    return f"{result.stdout.decode('utf-8', 'replace')}{result.stderr.decode('utf-8', 'replace')}"[
        -2000:
    ]


def _relative(place: str) -> str:
    return place.lstrip("/")


def _base64(data: bytes) -> str:
    return encodebytes(data).decode().strip()
