"""`Builder`: turns a job into the steps that a backend runs: compile if needed, then run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from verigym.errors import RequestError, suggestion
from verigym.sandbox.artefacts import ArtefactCache, cut
from verigym.sandbox.compile import compile_source, is_pattern
from verigym.sandbox.job import Job, JobStatus, Limits, Result, check_env, check_files
from verigym.sandbox.languages.load import (
    Language,
    address_space_mib,
    environment,
    fill,
    load_languages,
    not_here,
    versions,
    widen,
)
from verigym.sandbox.session import driver
from verigym.sandbox.step import ProgramRun

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Search path for programs of the host; never a home folder."""
SESSION_LANGUAGES = ("python", "bash")

# For the set-up of another job's compilation, beside the compiler's own time.
_SETUP_S = 60.0
_COMMAND_ADDRESS_SPACE_MIB = 32768

Execute = Callable[[ProgramRun], Result]


class Builder:
    """The languages of one backend, with a cache of compiled artefacts. Thread-safe.

    `languages` are those with an installed toolchain; `known` (default: every language file) those
    that are reported as not installed rather than unknown. `cache_mib` bounds the cache.
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
        """Names of the languages whose toolchain is installed."""
        return frozenset(self._languages)

    def check(self, job: Job) -> None:
        """Raise RequestError if `job`, which has a source, is invalid."""
        self._files(job, self._find(job.language))

    def run(
        self,
        job: Job,
        execute: Execute,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        run: Execute | None = None,
    ) -> Result:
        """Run `job` in one step, or in two if it has to be compiled and is not in the cache.

        `run`, by default `execute` like the compiler, executes the program itself.

        The times and the memory of the result are those of the program alone, except for a
        `compile_error`, where they are the compiler's.
        """
        run = run or execute
        if job.source is None:
            return run(_command_step(job))
        language = self._find(job.language)
        files = self._files(job, language)
        if not language.compile:
            return _judge(language, run(_run_step(job, language, files)))
        build = self._cache.get(
            _key(self._definitions[language.name], _toolchain(language), files),
            lambda: compile_source(language, files, execute),
            wait_s=language.compile_limits.wall_s + _SETUP_S,
            cancelled=cancelled,
        )
        if build.failure is not None:
            return cut(build.failure, job.limits.output_bytes)
        files = {**job.files, **build.files}
        step = _run_step(job, language, files, executable=frozenset(build.files))
        return _judge(language, run(step))

    def versions(self, execute: Execute) -> dict[str, str]:
        """Return the version that each installed toolchain prints; "" if it prints nothing."""
        return versions(self._languages, execute)

    def session_step(
        self,
        language: str,
        limits: Limits,
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ProgramRun:
        """Return the step that a `SandboxSession` of `language` speaks to. Raises RequestError for others."""
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
        check_env(env or {})
        return ProgramRun(
            argv=argv,
            files={**given, name: source},
            env={**environment(found, limits), **(env or {})},
            limits=widen(limits, found.needs, extra_bytes=len(source), extra_files=1),
            address_space_mib=address_space_mib(found, limits),
            python=name if found.name == "python" else None,
        )

    def canonical(self, name: str) -> str:
        """Return the name of the language that `name` means. Raises RequestError for one not here."""
        return self._find(name).name

    def _find(self, name: str) -> Language:
        canonical = self._names.get(name)
        if canonical is None:
            known = self._names if len(name) > 1 else self._languages
            raise RequestError(f"unknown language {name!r}; {suggestion(name, known)}")
        if canonical not in self._languages:
            raise not_here(self._known[canonical])
        return self._languages[canonical]

    def _files(self, job: Job, language: Language) -> dict[str, bytes]:
        """The job's files and its source. Raises RequestError if they do not go together."""
        reserved = {name for name in language.artefacts if not is_pattern(name)}
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


def _command_step(job: Job) -> ProgramRun:
    return ProgramRun(
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
) -> ProgramRun:
    made = sum(len(files[name]) for name in executable)
    return ProgramRun(
        argv=(*fill(language.run, job.limits), *job.args),
        files=files,
        executable=executable,
        stdin=job.stdin,
        env={**environment(language, job.limits), **job.env},
        limits=widen(job.limits, language.needs, extra_bytes=made, extra_files=len(executable)),
        address_space_mib=address_space_mib(language, job.limits),
        network=job.network,
        fetch=job.fetch,
        python=language.source if language.name == "python" else None,
    )


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
