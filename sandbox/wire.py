"""Jobs and results as JSON: what `RemoteSandbox` and the server's sandbox routes say to each other.

Bytes are `{"text": "..."}` where they are UTF-8, else `{"base64": "..."}`; both are accepted. A
program's source is sent the same way, because it may hold what is no Unicode text.
`tests/golden/sandbox_wire.jsonl` holds examples; what is in it must go on being understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any, get_type_hints

import msgspec

from verigym.errors import RequestError
from verigym.sandbox.job import Job, JobStatus, Limits, Result


class Blob(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Bytes: exactly one of `text` (its UTF-8) and `base64`."""

    text: str | None = None
    base64: bytes | None = None

    def to_bytes(self) -> bytes:
        if (self.text is None) == (self.base64 is None):
            raise RequestError('bytes are {"text": "..."} or {"base64": "..."}')
        return self.base64 if self.base64 is not None else (self.text or "").encode()


def blob(data: bytes) -> Blob:
    """Return `data` for the wire."""
    try:
        return Blob(text=data.decode())
    except UnicodeDecodeError:
        return Blob(base64=data)


def _limit_fields() -> list[Any]:
    hints = get_type_hints(Limits)
    assert all(f.default is not MISSING for f in fields(Limits))
    return [(f.name, hints[f.name], f.default) for f in fields(Limits)]


# As Limits, but a misspelt name is refused: the job would run with another limit than it was given.
LimitsBody = msgspec.defstruct(
    "LimitsBody", _limit_fields(), frozen=True, kw_only=True, forbid_unknown_fields=True
)


class JobBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A job; what is left out has the default of `sandbox.job.Job`.

    `id`, which the sender makes up, lets another request cancel the job.
    """

    id: str = ""
    source: Blob | None = None
    language: str = "python"
    command: list[str] = []
    stdin: Blob = Blob(text="")
    args: list[str] = []
    files: dict[str, Blob] = {}
    env: dict[str, str] = {}
    limits: LimitsBody = LimitsBody()  # type: ignore[valid-type]
    network: bool = False
    fetch: list[str] = []

    def to_job(self) -> Job:
        """Return the job that JSON describes. Raises RequestError if it is not valid."""
        source = None if self.source is None else _text(self.source.to_bytes())
        return Job(
            source=source,
            language=self.language,
            command=tuple(self.command),
            stdin=self.stdin.to_bytes(),
            args=tuple(self.args),
            files={name: data.to_bytes() for name, data in self.files.items()},
            env=self.env,
            limits=to_limits(self.limits),
            network=self.network,
            fetch=tuple(self.fetch),
        )


class ResultBody(msgspec.Struct, kw_only=True):
    """A result, field by field that of `sandbox.job.Result`."""

    status: JobStatus
    exit_code: int | None = None
    signal: int | None = None
    stdout: Blob = Blob(text="")
    stderr: Blob = Blob(text="")
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    files: dict[str, Blob] = {}
    refused: dict[str, str] = {}
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mib: float = 0.0
    detail: str = ""

    def to_result(self) -> Result:
        return Result(
            **{
                **{name: getattr(self, name) for name in self.__struct_fields__},
                "stdout": self.stdout.to_bytes(),
                "stderr": self.stderr.to_bytes(),
                "files": {name: data.to_bytes() for name, data in self.files.items()},
            }
        )


class SessionBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A session to be started; `limits` hold for it as a whole."""

    language: str = "python"
    limits: LimitsBody | None = None  # type: ignore[valid-type]
    files: dict[str, Blob] = {}
    env: dict[str, str] = {}


class SessionCard(msgspec.Struct, kw_only=True):
    """A session that was started. It is closed when `lease_s` seconds pass without a request."""

    id: str
    language: str
    limits: LimitsBody  # type: ignore[valid-type]
    lease_s: float


class CellBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A cell to be run; null `wall_s` is as long as the session lives."""

    code: Blob
    wall_s: float | None = None


class CellResult(msgspec.Struct, kw_only=True):
    """Result of a cell; says if its session still exists."""

    result: ResultBody
    alive: bool


class FileBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A file of a session: with `data` to be written, without to be read."""

    name: str
    data: Blob | None = None


class SandboxCard(msgspec.Struct, kw_only=True):
    """Description of a service. `caps` bound every field of a request's limits, `about` is for people."""

    languages: list[str]
    caps: LimitsBody  # type: ignore[valid-type]
    max_jobs: int
    max_sessions: int
    lease_s: float
    allow_network: bool
    about: dict[str, Any]


def job_body(job: Job) -> JobBody:
    """Return `job` for the wire. Raises RequestError for a job with a partner."""
    if job.partner is not None:
        raise RequestError(
            "a remote sandbox runs no jobs with a partner; use a local or a Docker sandbox"
        )
    return JobBody(
        source=None if job.source is None else blob(job.source_bytes),
        language=job.language,
        command=list(job.command),
        stdin=blob(job.stdin),
        args=list(job.args),
        files={name: blob(data) for name, data in job.files.items()},
        env=dict(job.env),
        limits=limits_body(job.limits),
        network=job.network,
        fetch=list(job.fetch),
    )


def result_body(result: Result) -> ResultBody:
    """Return `result` for the wire. A name that is not Unicode, as a program may give one, is escaped."""
    return ResultBody(
        **{
            **{name: value for name, value in vars(result).items() if name != "partner"},
            "stdout": blob(result.stdout),
            "stderr": blob(result.stderr),
            "files": {_sendable(name): blob(data) for name, data in result.files.items()},
            "refused": _sendable_texts(result.refused),
            "detail": _sendable(result.detail),
        }
    )


def limits_body(limits: Limits) -> Any:
    """Return `limits` for the wire."""
    return LimitsBody(**asdict(limits))


def to_limits(body: Any) -> Limits:
    """Return `limits` from the wire. Raises RequestError for what cannot be."""
    return Limits(**msgspec.structs.asdict(body))


def to_text(code: Blob) -> str:
    """Return a cell from the wire. Raises RequestError for what is no text."""
    return _text(code.to_bytes())


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RequestError(f"a program must be text: {error}") from error


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _sendable_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {_sendable(name): _sendable(text) for name, text in texts.items()}
