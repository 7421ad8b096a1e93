"""The languages that the sandbox knows: one TOML file each, here and in a folder of the user's."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from verigym.errors import ConfigError, MissingError, RequestError, suggestion
from verigym.sandbox.job import JobStatus, Limits, Result, check_name
from verigym.sandbox.step import ProgramRun

FOLDER_VARIABLE = "VERIGYM_LANGUAGES"
"""Environment variable that names a folder of further TOML files."""

COMPILE_LIMITS = Limits(
    wall_s=15.0,
    cpu_s=10.0,
    memory_mib=1024,
    processes=64,
    open_files=256,
    disk_mib=128,
    output_bytes=32 << 20,
)
"""Limits of a compiler, unless its language sets others; `output_bytes` bounds each artefact.

The time is half of what a service gives a verdict, so that source made to compile for ever ends as the
program's own `compile_error`, and not as a timeout of the verifier.
"""

_NAME = re.compile(r"[a-z][a-z0-9_+#.-]*")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Resources that a language's runtime needs, added to the limits of each job.

    `address_space_mib` plus the job's memory bounds each process's virtual size.
    """

    processes: int = 0
    memory_mib: int = 0
    open_files: int = 0
    disk_mib: int = 0
    inodes: int = 0
    address_space_mib: int = 4096

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 0:
                raise ConfigError(f"needs.{name} must be at least 0, got {value}")


@dataclass(frozen=True, kw_only=True)
class Language:
    """Commands that compile and run one language; the fields of its TOML file.

    The first word of each command is a program on the sandbox's PATH or begins with "./". In
    commands and in `env`, `{memory_mib}` stands for the memory limit of the step (without `needs`).
    """

    name: str
    """The name of the file, without `.toml`."""
    title: str
    """For people: "C++"."""
    source: str
    """The name of the file that the program is written to."""
    run: tuple[str, ...]
    """The command that runs the program; the job's arguments are appended."""
    version: tuple[str, ...]
    """The command whose first line of output says the toolchain's version."""
    programs: tuple[str, ...]
    """Programs that must be on the sandbox's PATH for the language to be available."""
    package: str
    """The Debian package that brings the toolchain."""
    compile: tuple[str, ...] = ()
    """The compiler's command; none for an interpreted language."""
    artefacts: tuple[str, ...] = ()
    """Files that compiling leaves and running needs: names, which must exist, and `fnmatch` patterns."""
    aliases: tuple[str, ...] = ()
    """Further names that a job may say."""
    paths: tuple[str, ...] = ()
    """Files outside /usr that the toolchain reads, as glob patterns; read-only for programs."""
    memory_messages: tuple[str, ...] = ()
    """Messages of the runtime on standard error if it fails for lack of memory."""
    needs: Needs = field(default_factory=Needs)
    compile_limits: Limits = COMPILE_LIMITS
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for compiling and running; those of the job win."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files placed beside the source: for the compiler if there is one, else for the program."""

    def __post_init__(self) -> None:
        for what in (self.name, *self.aliases):
            if not _NAME.fullmatch(what):
                raise ConfigError(
                    f"{what!r} is not a valid language name: use small letters, digits"
                )
        for what in ("source", "run", "version", "programs", "package", "title"):
            if not getattr(self, what):
                raise ConfigError(f"{what} must not be empty")
        for name in (self.source, *self.files):
            check_name(name)
        if bool(self.compile) != bool(self.artefacts):
            raise ConfigError("compile and artefacts belong together: give both or neither")
        for pattern in self.paths:
            if not pattern.startswith("/"):
                raise ConfigError(f"paths must be absolute, got {pattern!r}")


def load_languages(extra: Path | None = None) -> dict[str, Language]:
    """Return every language that is known, by name, whether its toolchain is here or not.

    `extra`, or else the folder that the environment variable VERIGYM_LANGUAGES names, holds further
    TOML files; one with the name of a language of ours takes its place. Raises ConfigError for a
    file that is wrong, naming it.
    """
    if extra is None and os.environ.get(FOLDER_VARIABLE):
        extra = Path(os.environ[FOLDER_VARIABLE])
    if extra is not None and not extra.is_dir():
        raise ConfigError(
            f"{extra} is not a folder of language files; set {FOLDER_VARIABLE} to one, or unset it"
        )
    found: dict[str, Language] = {}
    for folder in (files("verigym.sandbox.languages"), extra):
        if folder is None:
            continue
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith(".toml"):
                language = read_language(entry)
                found[language.name] = language
    _check_names(found.values())
    return dict(sorted(found.items()))


def read_language(path: Traversable) -> Language:
    """Return the language that one TOML file describes. Raises ConfigError, naming the file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        name = path.name.removesuffix(".toml")
        return _parse(name, table)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RequestError) as error:
        raise ConfigError(f"{path}: {error}") from error


def find(
    languages: Mapping[str, Language], has_program: Callable[[str], bool]
) -> dict[str, Language]:
    """Return those of `languages` whose programs all exist by `has_program` of the backend's PATH."""
    return {
        name: language
        for name, language in languages.items()
        if all(has_program(program) for program in language.programs)
    }


def not_here(language: Language) -> MissingError:
    """Return the error that says which package brings the toolchain of `language`."""
    return MissingError(
        f"{language.title} is known, but its toolchain is not in this sandbox "
        f"({', '.join(language.programs)} on its PATH); on Debian: apt-get install {language.package}"
    )


def versions(
    languages: Mapping[str, Language], execute: Callable[[ProgramRun], Result]
) -> dict[str, str]:
    """Return the version that each toolchain prints, run as steps of a backend; "" if it fails."""
    return {name: _version(language, execute) for name, language in languages.items()}


def _version(language: Language, execute: Callable[[ProgramRun], Result]) -> str:
    step = ProgramRun(
        argv=fill(language.version, language.compile_limits),
        env=environment(language, language.compile_limits),
        limits=language.compile_limits,
        address_space_mib=address_space_mib(language, language.compile_limits),
    )
    result = execute(step)
    if result.status is not JobStatus.OK:
        return ""
    said = (result.stdout or result.stderr).decode("utf-8", "replace").strip()
    return said.partition("\n")[0].strip()


def fill(texts: Iterable[str], limits: Limits) -> tuple[str, ...]:
    """Return `texts` with the step's memory limit in place of `{memory_mib}`."""
    return tuple(text.replace("{memory_mib}", str(limits.memory_mib)) for text in texts)


def environment(language: Language, limits: Limits) -> dict[str, str]:
    """Return the language's variables for a step under `limits`."""
    return dict(zip(language.env, fill(language.env.values(), limits), strict=True))


def address_space_mib(language: Language, limits: Limits) -> int:
    """Return the bound on each process's virtual size for a step of `language` under `limits`."""
    return limits.memory_mib + language.needs.address_space_mib


def widen(limits: Limits, needs: Needs, *, extra_bytes: int = 0, extra_files: int = 0) -> Limits:
    """Return `limits` and what the runtime needs beside them; the job is not charged for the sandbox's own files."""
    extra_mib = (extra_bytes + 4096 * extra_files + (1 << 20) - 1) >> 20
    return replace(
        limits,
        processes=limits.processes + needs.processes,
        memory_mib=limits.memory_mib + needs.memory_mib + extra_mib,
        open_files=limits.open_files + needs.open_files,
        disk_mib=limits.disk_mib + needs.disk_mib + extra_mib,
        inodes=limits.inodes + needs.inodes + extra_files,
    )


def _parse(name: str, table: dict[str, object]) -> Language:
    if "name" in table:
        raise ConfigError("name is the name of the file; leave it out")
    _check_keys("", table, [f.name for f in fields(Language) if f.name != "name"])
    for key, kind in (("needs", Needs), ("compile_limits", Limits)):
        if isinstance(inner := table.get(key), dict):
            _check_keys(f"{key}.", inner, [f.name for f in fields(kind)])
    limits = table.pop("compile_limits", {})
    try:
        language = msgspec.convert({**table, "name": name}, Language)
        if not isinstance(limits, dict):
            raise ConfigError(f"compile_limits must be a table, got {limits!r}")
        return replace(language, compile_limits=replace(COMPILE_LIMITS, **limits))
    except msgspec.ValidationError as error:
        # An error that __post_init__ raised comes wrapped.
        raise ConfigError(str(error.__cause__ or error).replace("$.", "")) from error


def _check_keys(where: str, table: Mapping[str, object], known: list[str]) -> None:
    for key in table:
        if key not in known:
            raise ConfigError(f"unknown key {where}{key}; {suggestion(key, known)}")


def _check_names(languages: Iterable[Language]) -> None:
    """Raise ConfigError if two languages answer to one name."""
    owner: dict[str, str] = {}
    for language in languages:
        for name in (language.name, *language.aliases):
            if name in owner:
                raise ConfigError(
                    f"{name!r} names both {owner[name]} and {language.name}: "
                    "take it from the aliases of one of them"
                )
            owner[name] = language.name
