"""`Builder`: turns a job into the steps that a backend runs: compile where needed, then run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from verigym.errors import RequestError, suggestion
from verigym.sandbox.artefacts import ArtefactCache, Build, cut
from verigym.sandbox.job import Job, JobStatus, Limits, Result, check_files, check_texts
from verigym.sandbox.languages.load import (
    Language,
    Needs,
    address_space_mib,
    environment,
    fill,
    load_languages,
    versions,
)
from verigym.sandbox.session import driver
from verigym.sandbox.step import Step

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs of the host are found: never in a home folder."""
SESSION_LANGUAGES = ("python", "bash")

_DETAIL_BYTES = 1500
_KEPT_OUTPUT_BYTES = 1 << 20
# For the set-up of another job's compilation, beside the compiler's own time.
_SETUP_S = 60.0
_COMMAND_ADDRESS_SPACE_MIB = 32768

Execute = Callable[[Step], Result]


class Builder:
    """Knows the languages of one backend, and keeps what their compilers made. Thread-safe.

    `languages` are those whose toolchain is there; `known` (default: every language file) those
    that are reported as absent rather than unknown. `cache_mib` bounds the kept artefacts.
    """

    def __init__(
        self,
        languages: Mapping[str, Language],
        *,
        known: Mapping[str, Language] | None = None,
        cache_mib: int = 256,
    ) -> None:
        self._languages = dict(languages)
        self._known = {**(load_languages() if known is None else known), **languages}
        self._names = {
            alias: language.name
            for language in self._known.values()
            for alias in (language.name, *language.aliases)
        }
        # Made once: it is part of each key.
        self._definitions = {
            name: json.dumps(asdict(language), sort_keys=True).encode()
            for name, language in languages.items()
        }
        self._cache = ArtefactCache(cache_mib << 20)

    @property
    def available(self) -> frozenset[str]:
        """Names of the languages whose toolchain is there."""
        return frozenset(self._languages)

    def check(self, job: Job) -> None:
        """Raise RequestError where `job`, which has a source, cannot be run as asked."""
        self._files(job, self._find(job.language))

    def run(
        self, job: Job, execute: Execute, cancelled: Callable[[], bool] = lambda: False
    ) -> Result:
        """Run `job` in one step, or in two where its language compiles and is not in the cache.

        The times and the memory of the result are those of the program alone, except for a
        `compile_error`, where they are the compiler's.
        """
        if job.source is None:
            return execute(_command_step(job))
        language = self._find(job.language)
        files = self._files(job, language)
        if not language.compile:
            return _judge(language, execute(_run_step(job, language, files)))
        build = self._cache.get(
            _key(self._definitions[language.name], _toolchain(language), files),
            lambda: _compile(language, files, execute),
            wait_s=language.compile_limits.wall_s + _SETUP_S,
            cancelled=cancelled,
        )
        if build.failure is not None:
            return cut(build.failure, job.limits.output_bytes)
        files = {**job.files, **build.files}
        step = _run_step(job, language, files, executable=frozenset(build.files))
        return _judge(language, execute(step))

    def versions(self, execute: Execute) -> dict[str, str]:
        """What each toolchain that is there says of its version; "" where it says nothing."""
        return versions(self._languages, execute)

    def session_step(
        self,
        language: str,
        limits: Limits,
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Step:
        """The step that a `Session` of `language` speaks to. Raises RequestError for others."""
        found = self._find(language)
        if found.name not in SESSION_LANGUAGES:
            raise RequestError(
                f"no sessions in {language!r}; sessions are in {' and '.join(SESSION_LANGUAGES)}"
            )
        name, source, argv = driver(found.name)
        given = dict(files or {})
        check_files(given, limits)
        if name in given:
            raise RequestError(f"file {name!r} is the session's own; use another name")
        check_texts("env", (*(env or {}), *(env or {}).values()))
        return Step(
            argv=argv,
            files={**given, name: source},
            env={**environment(found, limits), **(env or {})},
            limits=_sum(limits, found.needs, extra_bytes=len(source)),
            address_space_mib=address_space_mib(found, limits),
            python=name if found.name == "python" else None,
        )

    def canonical(self, name: str) -> str:
        """The name of the language that `name` means. Raises RequestError for one not here."""
        return self._find(name).name

    def _find(self, name: str) -> Language:
        canonical = self._names.get(name)
        if canonical is None:
            known = self._names if len(name) > 1 else self._languages
            raise RequestError(f"unknown language {name!r}; {suggestion(name, known)}")
        if canonical not in self._languages:
            language = self._known[canonical]
            raise RequestError(
                f"{language.title} is known, but its toolchain is not in this sandbox "
                f"({', '.join(language.programs)} on its PATH); on Debian: apt-get install "
                f"{language.package}"
            )
        return self._languages[canonical]

    def _files(self, job: Job, language: Language) -> dict[str, bytes]:
        """The job's files and its source. Raises RequestError where they do not go together."""
        reserved = {name for name in language.artefacts if not _is_pattern(name)}
        reserved |= language.files.keys()
        for name in job.files:
            if name == language.source:
                raise RequestError(f"file {name!r} is the program itself; use another name")
            if name in reserved or name.partition("/")[0] in reserved:
                raise RequestError(f"file {name!r} is what {language.title} adds; use another name")
        files = {name: text.encode() for name, text in language.files.items()}
        files |= {**job.files, language.source: job.source_bytes}
        check_files(files, job.limits)
        return files


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def _command_step(job: Job) -> Step:
    return Step(
        argv=(*job.command, *job.args),
        files=job.files,
        stdin=job.stdin,
        env=job.env,
        limits=job.limits,
        # It may be any runtime.
        address_space_mib=job.limits.memory_mib + _COMMAND_ADDRESS_SPACE_MIB,
        network=job.network,
        fetch=job.fetch,
    )


def _run_step(
    job: Job,
    language: Language,
    files: Mapping[str, bytes],
    executable: frozenset[str] = frozenset(),
) -> Step:
    made = sum(len(files[name]) for name in executable)
    return Step(
        argv=(*fill(language.run, job.limits), *job.args),
        files=files,
        executable=executable,
        stdin=job.stdin,
        env={**environment(language, job.limits), **job.env},
        limits=_sum(job.limits, language.needs, extra_bytes=made, extra_files=len(executable)),
        address_space_mib=address_space_mib(language, job.limits),
        network=job.network,
        fetch=job.fetch,
        python=language.source if language.name == "python" else None,
    )


def _compile(language: Language, files: Mapping[str, bytes], execute: Execute) -> Build:
    limits = language.compile_limits
    step = Step(
        argv=fill(language.compile, limits),
        files=files,
        env=environment(language, limits),
        limits=_sum(
            limits, Needs(), extra_bytes=sum(map(len, files.values())), extra_files=len(files)
        ),
        address_space_mib=address_space_mib(language, limits),
        fetch=language.artefacts,
    )
    result = execute(step)
    if result.status is JobStatus.SANDBOX_ERROR:
        return Build(
            failure=replace(result, detail=f"while compiling: {result.detail}"), keep=False
        )
    if result.status is not JobStatus.OK:
        detail = _messages(result)
        if result.status is not JobStatus.NONZERO_EXIT:
            detail = f"{_passed(result, limits)}\n{detail}".rstrip()
        # On a busy machine a compiler may pass its wall time without having worked long.
        keep = result.status is not JobStatus.TIME_LIMIT or result.cpu_s >= limits.wall_s / 2
        return Build(failure=_failure(result, detail), keep=keep)
    missing = [
        name for name in language.artefacts if not _is_pattern(name) and name not in result.files
    ]
    if result.refused:
        reasons = "; ".join(f"{name}: {why}" for name, why in sorted(result.refused.items()))
        return Build(failure=_failure(result, f"what the compiler made is unusable: {reasons}"))
    if missing or not result.files:
        wanted = ", ".join(missing or language.artefacts)
        detail = f"the compiler ended well but left no {wanted}\n{_messages(result)}".rstrip()
        return Build(failure=_failure(result, detail))
    # What the job brought itself is there anyway, unless the compiler changed it.
    made = {name: data for name, data in result.files.items() if files.get(name) != data}
    return Build(files=made)


def _failure(result: Result, detail: str) -> Result:
    failure = replace(result, status=JobStatus.COMPILE_ERROR, detail=detail, files={}, refused={})
    return cut(failure, _KEPT_OUTPUT_BYTES)


def _messages(result: Result) -> str:
    """The compiler's first and last messages; some print them on standard output."""
    said = result.stderr.strip() or result.stdout.strip()
    # The first names the cause, the last the end; what lies between may be a template's megabytes.
    if len(said) > 2 * _DETAIL_BYTES:
        said = said[:_DETAIL_BYTES] + b"\n[...]\n" + said[-_DETAIL_BYTES:]
    return said.decode("utf-8", "replace")


def _passed(result: Result, limits: Limits) -> str:
    match result.status:
        case JobStatus.TIME_LIMIT:
            return f"the compiler passed its limit of {limits.wall_s:g} s"
        case JobStatus.MEMORY_LIMIT:
            return f"the compiler passed its limit of {limits.memory_mib} MiB"
        case JobStatus.DISK_LIMIT:
            return f"the compiler passed its limit of {limits.disk_mib} MiB on disk"
        case JobStatus.OUTPUT_LIMIT:
            return f"the compiler said more than {limits.output_bytes} bytes"
        case _:
            return f"the compiler was killed by signal {result.signal}"


def _judge(language: Language, result: Result) -> Result:
    """`result` as `memory_limit` where the runtime says that it failed for lack of memory.

    A runtime that is refused memory by the kernel, or by its own limit, ends in its own way. A
    program can print the same words and fail: either status is its own fault.
    """
    if result.status not in (JobStatus.NONZERO_EXIT, JobStatus.SIGNAL):
        return result
    last = result.stderr[-4096:].decode("utf-8", "replace")
    if any(message in last for message in language.memory_messages):
        return replace(result, status=JobStatus.MEMORY_LIMIT)
    return result


def _sum(limits: Limits, needs: Needs, *, extra_bytes: int = 0, extra_files: int = 0) -> Limits:
    """`limits` and what the runtime needs beside them; files of ours are not the job's expense."""
    extra_mib = (extra_bytes + 4096 * extra_files + (1 << 20) - 1) >> 20
    return replace(
        limits,
        processes=limits.processes + needs.processes,
        memory_mib=limits.memory_mib + needs.memory_mib + extra_mib,
        open_files=limits.open_files + needs.open_files,
        disk_mib=limits.disk_mib + needs.disk_mib + extra_mib,
        inodes=limits.inodes + needs.inodes + extra_files,
    )


def _key(
    definition: bytes, toolchain: list[tuple[str, int, int]], files: Mapping[str, bytes]
) -> str:
    """A digest of all that decides what a compiler makes."""
    digest = hashlib.sha256()
    parts = [definition, repr(toolchain).encode()]
    for name, data in sorted(files.items()):
        parts += [name.encode(), data]
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _toolchain(language: Language) -> list[tuple[str, int, int]]:
    """Which compiler it is: path, size and time of each program; an upgrade changes one of them."""
    found = []
    for program in language.programs:
        place = shutil.which(program, path=PATH)
        if place is None:
            continue  # in a container, or gone since: the backend will say so
        path = os.path.realpath(place)
        status = os.stat(path)
        found.append((path, status.st_size, status.st_mtime_ns))
    return found
