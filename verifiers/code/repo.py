"""`code/repo`: a patch to a small repository of Python, judged by what one function then returns.

The patched files go into the sandbox with a driver and the arguments of one call, a process for each
call; what the function returns is compared here (law 4), as in `code/function`, whose notes on what is
covered hold as well. There are no tests in the repository to be edited, no runner to be patched and
no exit status that counts: a patch that adds `conftest.py`, `sitecustomize.py` or a module that hides one
of the library's shares a process with the driver, and can forge there no more than the answer to the one
call that it sees, which it might as well return. Files outside the repository's folders cannot be made.
Does not cover: code that knows the hidden calls by heart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.drivers import driver
from verigym.verifiers.code.patch import BadPatch, patched
from verigym.verifiers.code.runs import ENDINGS, run_in_order
from verigym.verifiers.code.values import BadValue, Normal, normal, read_answer, values

_ENTRY = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
_MAX_CHARS = 200_000
_MAX_REPOSITORY = 4 * _MAX_CHARS


@dataclass(frozen=True)
class _Repository:
    files: dict[str, str]
    module: str
    function: str
    calls: list[bytes]
    results: list[Normal]


class RepoParams(Struct, frozen=True):
    """Parameters of `RepoVerifier`."""

    wall_s: Annotated[float, Meta(gt=0, description="Seconds by the clock for one call.")] = 10.0
    cpu_s: Annotated[float, Meta(gt=0, description="Seconds of processor time for one call.")] = 5.0
    memory_mib: Annotated[int, Meta(ge=1, description="Memory of one call's processes.")] = 256


class RepoVerifier(Verifier[RepoParams]):
    """Full marks if every call returns the wanted value after the patch, else 0.

    `Task.reference` is `{"files": {path: text}, "entry": "package.module:function", "tests": [{"args": [...],
    "result": value}, ...]}`; values are JSON, or tagged as in `code/function`. Other keys are left alone.
    The submission is a reply with a patch in fenced blocks: a unified diff, or whole files, each with
    `# file: PATH` as its first line (`patch.py`). It may change the files and add `.py` files to folders that are there.
    Reasons: `correct`; `wrong_value`, `no_answer`, `bad_answer` and names of `JobStatus` where a call failed;
    `not_text`, `too_long`, `bad_patch`, `refused_path`. `parts["passed"]` is the share of calls that passed,
    those not run counted as failed: the first failure ends the run.
    """

    id: ClassVar[str] = "code/repo"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "Applies a patch to a small Python repository, calls one of its functions in the sandbox, and "
        "compares what it returns outside; the submission is a reply with the patch."
    )
    evidence: ClassVar[str] = (
        "The plain values that the function returns for hidden calls, compared outside the sandbox; tests, "
        "messages and exit status count for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"passed": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None
        limits: Any = self.params
        self._limits = Limits(**limits)

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        repository = _checked(task.reference)
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a reply with a patch")
        if len(submission) > _MAX_CHARS:
            return unusable("too_long", f"{len(submission)} characters, {_MAX_CHARS} are allowed")
        try:
            changed = patched(repository.files, submission)
        except BadPatch as error:
            return unusable("bad_patch", str(error))
        folders = {path.rpartition("/")[0] for path in repository.files}
        for path in changed:
            added = path not in repository.files
            if added and (path.rpartition("/")[0] not in folders - {""} or path[-3:] != ".py"):
                return unusable("refused_path", f"{path} cannot be added")
        files = {**repository.files, **changed}
        if sum(map(len, files.values())) > _MAX_REPOSITORY:
            return unusable("too_long", "the patched files are too long")
        try:
            jobs = self._jobs(repository, repository.files)
        except RequestError as error:
            raise TaskError(f"the sandbox refuses the repository: {error}") from error
        try:
            jobs = self._jobs(repository, files)
        except RequestError as error:  # and took the repository without the patch
            return unusable("bad_patch", f"the sandbox refuses the patched files: {error}")
        return self._judged(repository, jobs)

    def _jobs(self, repository: _Repository, files: Mapping[str, str]) -> list[Job]:
        """A job for each call. Raises RequestError for files that the sandbox does not take."""
        texts = {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
        texts["solution.py"] = f"from {repository.module} import {repository.function}\n".encode()
        return [
            Job(source=driver("python"), stdin=call, files=texts, limits=self._limits)
            for call in repository.calls
        ]

    def _judged(self, repository: _Repository, jobs: list[Job]) -> Verdict:
        place = self.sandbox or default_sandbox()
        passed = 0
        failure: Verdict | None = None
        results = run_in_order(place, jobs, getattr(place, "max_jobs", 1))
        try:
            for wanted, result in zip(repository.results, results, strict=True):
                failure = _judge_call(wanted, result)
                if failure is not None:
                    break
                passed += 1
        finally:
            results.close()
        share = {"passed": passed / len(jobs)}
        if failure is None:
            return scored(1.0, "correct", f"all {passed} calls return what is wanted", share)
        return replace(failure, parts=share)


def _judge_call(wanted: Normal, result: Result) -> Verdict | None:
    """None if the call returned what is wanted."""
    if result.status is not JobStatus.OK:
        return unusable(result.status.value, f"a hidden call: {ENDINGS[result.status]}")
    try:
        got = normal(read_answer(result.stdout))
    except BadValue as error:
        reason = "no_answer" if str(error) == "no answer" else "bad_answer"
        return unusable(reason, "a hidden call ended without one value of plain data")
    if values(got, wanted, 0.0):
        return None
    return scored(0.0, "wrong_value", "a hidden call returned another value")


def _checked(reference: JSON) -> _Repository:
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with files, entry and tests")
    files = reference.get("files")
    if not isinstance(files, dict) or not files:
        raise TaskError("files must be an object of paths and texts")
    for path, text in files.items():
        if not isinstance(text, str):
            raise TaskError(f"the file {path!r} must be text")
    if sum(map(len, files.values())) > _MAX_REPOSITORY - _MAX_CHARS:
        raise TaskError(f"files may have {_MAX_REPOSITORY - _MAX_CHARS} characters in all")
    if files.keys() & {"main.py", "solution.py"}:
        raise TaskError("main.py and solution.py at the root are the driver's; use a folder")
    entry = _ENTRY.fullmatch(str(reference.get("entry")))
    if entry is None:
        raise TaskError(f'entry must be "package.module:function", got {reference.get("entry")!r}')
    tests = reference.get("tests")
    if not isinstance(tests, list | tuple) or not tests:
        raise TaskError("tests must be a list of at least one call")
    calls, results = [], []
    for number, test in enumerate(tests, 1):
        if not isinstance(test, dict) or "result" not in test:
            raise TaskError(f'test {number} must have a list "args" and a "result"')
        args = test.get("args", [])
        try:
            for value in args:
                normal(value)
            results.append(normal(test["result"]))
        except (BadValue, TypeError) as error:
            raise TaskError(f"test {number}: {error}") from error
        calls.append(json.dumps({"function": entry[2], "args": args, "kwargs": {}}).encode())
    return _Repository(dict(files), entry[1], entry[2], calls, results)
