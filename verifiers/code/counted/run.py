"""Has the sandbox run programs under the step-counting interpreter; outside of it."""

from __future__ import annotations

import json
import marshal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash

from verigym.canonical import JSON
from verigym.errors import SandboxError, TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.verifiers.code.drivers import driver
from verigym.verifiers.code.runs import run_one
from verigym.verifiers.code.values import BadValue, Normal, load, normal

_PACKAGE = "verigym/verifiers/code/"


class OutOfTime(SandboxError):
    """The task's own programs took more time than they have. Steps bound them, so the machine may be slow."""


@dataclass(frozen=True)
class Counted:
    """One call: the value it gave in normal form and as JSON, or None and why not; and its steps."""

    steps: int
    value: Normal | None
    plain: JSON = None
    failure: str = ""


@cache
def _sources() -> tuple[str, dict[str, bytes]]:
    """Return the program that runs in the sandbox, and the package that it imports."""
    code = files("verigym.verifiers.code")
    modules = {
        f"counted/{file.name}": file.read_bytes()
        for file in (code / "counted").iterdir()
        if file.name.endswith(".py") and file.name not in ("__init__.py", "main.py", "run.py")
    }
    modules["drivers/call_python.py"] = driver("python").encode()
    sent = {f"{folder}__init__.py": b"" for folder in ("verigym/", "verigym/verifiers/", _PACKAGE)}
    for name, source in modules.items():
        sent[_PACKAGE + name] = source
        sent[cache_from_source(_PACKAGE + name, optimization="")] = _compile(name, source)
    return (code / "counted" / "main.py").read_text(encoding="utf-8"), sent


def _compile(name: str, source: bytes) -> bytes:
    """Return the content of a .pyc file that is never compared with its source (PEP 552).

    Compiling takes longer than most programs; a sandbox with another version of Python does it again.
    """
    made = compile(source, name, "exec", dont_inherit=True, optimize=0)
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(source) + marshal.dumps(made)


def counted_job(
    programs: Sequence[str],
    function: str,
    calls: Sequence[JSON],
    steps: int,
    limits: Limits,
    *,
    total: int | None = None,
) -> Job:
    """Return a job that calls `function` of each program on each list of arguments.

    A call may take `steps` steps, and all calls of one program `total`, if it is given.
    """
    source, sent = _sources()
    asked = {
        "programs": list(programs),
        "function": function,
        "calls": list(calls),
        "steps": steps,
        "total": steps * len(calls) if total is None else total,
    }
    return Job(
        source=source,
        language="python",
        stdin=json.dumps(asked).encode(),
        files=sent,
        limits=limits,
    )


def read_counts(stdout: bytes) -> list[str | list[Counted]]:
    """Return, for each program, the reason it was refused, or its calls. Raises BadValue for
    another program's output."""
    answers = load(stdout.strip())
    if not isinstance(answers, list):
        raise BadValue("a list of answers is wanted")
    return [_read(answer) for answer in answers]


def _read(answer: JSON) -> str | list[Counted]:
    if isinstance(answer, str):
        return answer
    made = []
    if not isinstance(answer, list):
        raise BadValue("an answer is a text or a list")
    for call in answer:
        if not isinstance(call, list) or len(call) != 2 or not isinstance(call[0], int):
            raise BadValue("a call is a number of steps and what came of it")
        steps, found = call
        if isinstance(found, list) and len(found) == 1:
            made.append(Counted(steps, normal(found[0]), found[0]))
        else:
            made.append(Counted(steps, None, failure=str(found)))
    return made


def run_trusted(
    sandbox: Sandbox,
    programs: Sequence[str],
    function: str,
    calls: Sequence[JSON],
    steps: int,
    limits: Limits,
) -> list[list[Counted]]:
    """Run the calls of the programs that a task brings. Raises TaskError if they cannot be run,
    OutOfTime if there was no time to run them."""
    result = run_one(sandbox, counted_job(programs, function, calls, steps, limits))
    if result.status is JobStatus.TIME_LIMIT:
        raise OutOfTime(f"the task's own programs took more than {limits.cpu_s:g} s of CPU")
    try:
        answers = read_or_fail(result)
    except BadValue as error:
        raise TaskError(f"the task's own programs cannot be run: {error}") from error
    made = []
    for answer in answers:
        if isinstance(answer, str):
            raise TaskError(f"a program of the task is refused: {answer}")
        made.append(answer)
    return made


def read_or_fail(result: Result) -> list[str | list[Counted]]:
    """Return `read_counts` of a job that ended well. Raises BadValue otherwise."""
    if result.status is not JobStatus.OK:
        raise BadValue(f"{result.status.value} {result.stderr[-200:].decode('utf-8', 'replace')}")
    return read_counts(result.stdout)
