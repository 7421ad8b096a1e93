"""Compiling as a step of its own: what a compiler leaves, or why there is nothing to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from verigym.sandbox.artefacts import Build, cut
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.languages.load import (
    Language,
    Needs,
    address_space_mib,
    environment,
    fill,
    widen,
)
from verigym.sandbox.step import ProgramRun

_DETAIL_BYTES = 1500
_KEPT_OUTPUT_BYTES = 1 << 20


def compile_source(
    language: Language, files: Mapping[str, bytes], execute: Callable[[ProgramRun], Result]
) -> Build:
    """Compile `files`, which include the source, with the compiler of `language`."""
    limits = language.compile_limits
    step = ProgramRun(
        argv=fill(language.compile, limits),
        files=files,
        env=environment(language, limits),
        limits=widen(
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
        name for name in language.artefacts if not is_pattern(name) and name not in result.files
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


def is_pattern(name: str) -> bool:
    """Return True if the artefact name `name` is a pattern for any number of files."""
    return any(sign in name for sign in "*?[")


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
            return (
                f"the compiler passed its limit of {limits.wall_s:g} s, {limits.cpu_s:g} s of CPU"
            )
        case JobStatus.MEMORY_LIMIT:
            return f"the compiler passed its limit of {limits.memory_mib} MiB"
        case JobStatus.DISK_LIMIT:
            return f"the compiler passed its limit of {limits.disk_mib} MiB on disk"
        case JobStatus.OUTPUT_LIMIT:
            return f"the compiler said more than {limits.output_bytes} bytes"
        case _:
            return f"the compiler was killed by signal {result.signal}"
