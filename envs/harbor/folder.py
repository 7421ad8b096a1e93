"""`read_folder`: a Harbor task folder as data, and why it cannot run without an image."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from verigym.errors import TaskError

WORKDIR = "/app"
ANSWER = "/app/answer.txt"
"""Path of the answer in exported tasks."""
EXPORTED = "task.json"
"""File among the tests of an exported task: the task, and the verifier that judges it."""
ARTIFACTS = "/logs/artifacts"

_DEFAULT_S = 600.0
_MAX_BYTES = 16 << 20
_BASE = re.compile(
    r"(?:docker\.io/)?(?:library/)?(?:debian|ubuntu|python|busybox|alpine|bash)(?::[\w.-]+)?(?:@sha256:\w+)?$"
)
_HARMLESS = ("LABEL", "CMD", "ENTRYPOINT", "MAINTAINER", "EXPOSE", "STOPSIGNAL")
_NEEDS = ("mcp_servers", "healthcheck", "gpus", "allowed_hosts")


@dataclass(frozen=True, kw_only=True)
class ContainerFiles:
    """Files of a container by absolute path, its variables and its working folder."""

    files: Mapping[str, bytes]
    env: Mapping[str, str]
    workdir: str = WORKDIR


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A task folder. Times are seconds; paths of files are those inside the container."""

    path: Path
    name: str
    instruction: str
    mode: Literal["shared", "separate"]
    agent: ContainerFiles
    verifier: ContainerFiles
    tests: Mapping[str, bytes]
    solution: Mapping[str, bytes] | None
    solution_env: Mapping[str, str]
    artifacts: tuple[str, ...]
    agent_s: float
    verifier_s: float
    memory_mib: int

    @property
    def outputs(self) -> tuple[str, ...]:
        """Files of the working folder that the instruction names; an answer file if it names none."""
        found = re.findall(r"(?<![\w/])(/app/[\w./-]*\w)", self.instruction)
        return tuple(dict.fromkeys(found)) or (ANSWER,)


class NeedsImage(TaskError):
    """The folder needs a container image, which the sandbox has not."""


def read_folder(path: Path) -> Folder:
    """Return the task in `path`. Raises TaskError if it is malformed, NeedsImage if it cannot run here."""
    try:
        described = tomllib.loads((path / "task.toml").read_text(encoding="utf-8"))
        instruction = (path / "instruction.md").read_text(encoding="utf-8")
        tests = _read_tree(path / "tests")
        solution = _read_tree(path / "solution") if (path / "solution").is_dir() else None
    except (OSError, ValueError) as error:
        raise TaskError(f"{path} is not a Harbor task: {error}") from error
    if "test.sh" not in tests:
        raise TaskError(f"{path} is not a Harbor task: tests/test.sh is missing")
    if described.get("steps"):
        raise NeedsImage(f"{path} has several steps, which run in Harbor alone")
    verifier, environment = _table(described, "verifier"), _table(described, "environment")
    mode = verifier.get("environment_mode", "shared")
    if mode not in ("shared", "separate"):
        raise TaskError(
            f"{path}: verifier.environment_mode must be shared or separate, got {mode!r}"
        )
    agent = _place(path, path / "environment", environment)
    own = _table(verifier, "environment")
    if mode == "shared" or EXPORTED in tests:
        place = agent  # an exported task is judged outside, so the image of its tests is not needed
    elif own or (path / "tests" / "Dockerfile").is_file():
        place = _place(path, path / "tests", own)
    else:
        place = agent
    return Folder(
        path=path,
        name=str(_table(described, "task").get("name") or path.name),
        instruction=instruction,
        mode=mode,
        agent=agent,
        verifier=ContainerFiles(
            files=place.files,
            env={**place.env, **_texts(verifier.get("env"))},
            workdir=place.workdir,
        ),
        tests=tests,
        solution=solution,
        solution_env=_texts(_table(described, "solution").get("env")),
        artifacts=tuple(one for one in described.get("artifacts", ()) if isinstance(one, str)),
        agent_s=float(_table(described, "agent").get("timeout_sec") or _DEFAULT_S),
        verifier_s=float(verifier.get("timeout_sec") or _DEFAULT_S),
        memory_mib=int(environment.get("memory_mb") or 2048),
    )


def find_folders(path: Path) -> list[Path]:
    """Return `path` if it is a task folder, else the task folders in it. Raises TaskError if there are none."""
    if (path / "task.toml").is_file():
        return [path]
    found = sorted(one.parent for one in path.glob("*/task.toml"))
    if not found:
        raise TaskError(f"{path} is no Harbor task folder and holds none: task.toml is missing")
    return found


def _place(path: Path, context: Path, environment: Mapping[str, Any]) -> ContainerFiles:
    """Read what a container would start with. Raises NeedsImage unless files and variables are all."""
    if image := environment.get("docker_image"):
        raise NeedsImage(_needs(path, f"the image {image}"))
    for name in _NEEDS:
        if environment.get(name):
            raise NeedsImage(_needs(path, f"environment.{name}"))
    if environment.get("network_mode") in ("public", "allowlist"):
        raise NeedsImage(_needs(path, "a network"))
    files: dict[str, bytes] = {}
    env = _texts(environment.get("env"))
    workdir = str(environment.get("workdir") or WORKDIR)
    dockerfile = context / "Dockerfile"
    if (context / "docker-compose.yaml").exists():
        raise NeedsImage(_needs(path, "docker-compose.yaml"))
    for word, rest in _instructions(dockerfile) if dockerfile.is_file() else ():
        if word == "FROM" and _BASE.fullmatch(rest.split()[0]):
            continue
        if word == "WORKDIR":
            workdir = str(PurePosixPath(workdir) / rest)
        elif word == "ENV" and "=" in rest:
            env.update(pair.partition("=")[::2] for pair in rest.split())
        elif word in ("COPY", "ADD") and len(rest.split()) == 2 and not rest.startswith("-"):
            source, target = rest.split()
            files.update(_copied(context, source, target, workdir, path))
        elif word not in _HARMLESS:
            raise NeedsImage(_needs(path, f"{word} {rest[:60]}"))
    for place in (workdir, *files):
        if not place.startswith(WORKDIR):
            raise NeedsImage(_needs(path, f"files in {place}, outside {WORKDIR}"))
    return ContainerFiles(files=files, env=env, workdir=workdir)


def _copied(
    context: Path, source: str, target: str, workdir: str, path: Path
) -> Iterator[tuple[str, bytes]]:
    place = PurePosixPath(workdir) / target
    found = (context / source).resolve()
    if not found.is_relative_to(context.resolve()) or not found.exists():
        raise NeedsImage(_needs(path, f"COPY {source}, which is no file or folder of it"))
    if found.is_dir():
        for name, data in _read_tree(found).items():
            if name != "Dockerfile":
                yield str(place / name), data
    else:
        yield str(place / found.name if target.endswith(("/", ".")) else place), found.read_bytes()


def _instructions(dockerfile: Path) -> Iterator[tuple[str, str]]:
    text = dockerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


def _needs(path: Path, what: str) -> str:
    return (
        f"{path} needs {what}, so it needs a container image and cannot run in the sandbox; run it where Docker is: "
        f"harbor run -p {path}"
    )


def _read_tree(folder: Path) -> dict[str, bytes]:
    """Return plain files by relative name; links are left out. Raises ValueError if they are too large."""
    found: dict[str, bytes] = {}
    size = 0
    for one in sorted(folder.rglob("*")):
        if one.is_file() and not one.is_symlink():
            size += one.stat().st_size
            if size > _MAX_BYTES:
                raise ValueError(f"{folder} holds more than {_MAX_BYTES >> 20} MiB")
            found[one.relative_to(folder).as_posix()] = one.read_bytes()
    return found


def _table(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tree.get(name, {})
    if not isinstance(found, Mapping):
        raise TaskError(f"task.toml: {name} must be a table, got {found!r}")
    return found


def _texts(table: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in (table or {}).items()}
