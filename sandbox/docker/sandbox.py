"""`DockerSandbox`: each job in a container of its own, taken from a pool that is warm.

Covers: files, network, processes, devices and environment of the engine's machine; memory, tasks, disk
and inodes, by the engine; CPU and wall time, output and open files, by the keeper inside; daemons; what a
job leaves for the next, which gets another container. With `runsc` also most bugs of the kernel. Does not
cover: with the default runtime, bugs of the kernel; side channels; an engine that is itself hostile.
Whoever may speak to the engine is root on its machine: keep its socket from everybody else.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.build import Builder
from verigym.sandbox.docker.channel import DockerChannel
from verigym.sandbox.docker.container import Container, start
from verigym.sandbox.docker.conversation import converse, judge
from verigym.sandbox.docker.engine import (
    LABEL,
    OWNER_LABEL,
    Shape,
    choose_runtime,
    connect,
    errors,
    owner,
    sweep,
)
from verigym.sandbox.docker.pool import ContainerPool
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.languages.load import Language, find, load_languages
from verigym.sandbox.step import Channel, ProgramRun

IMAGE = "verigym-sandbox"
"""Built from deploy/sandbox.Dockerfile."""

_PROBE = """
import json, shutil, sys
print(json.dumps([name for name in sys.argv[1:] if shutil.which(name)]))
"""


class DockerSandbox(Sandbox):
    """Runs each job in a container of its own; `Sandbox` says how to use it.

    `base_url` names the engine (None: DOCKER_HOST, else the local socket), `image` what containers are
    made of, `runtime` an OCI runtime (None: `runsc` where the engine has it), `warm` how many containers
    wait for jobs (None: `max_jobs`). Raises SandboxError if no engine answers, the image is not there
    or no container of it starts.
    """

    name = "docker"

    def __init__(
        self,
        *,
        max_jobs: int | None = None,
        image: str = IMAGE,
        base_url: str | None = None,
        runtime: str | None = None,
        warm: int | None = None,
        allow_network: bool = False,
    ) -> None:
        if max_jobs is None:
            max_jobs = max(2, os.cpu_count() or 1)
        if warm is not None and (isinstance(warm, bool) or not isinstance(warm, int) or warm < 0):
            raise RequestError(f"warm must be a whole number of at least 0, got {warm!r}")
        # Which languages there are only a container can say.
        super().__init__(max_jobs=max_jobs, languages={}, allow_network=allow_network)
        self._api = connect(base_url)
        try:
            self._image = self._find_image(image)
            info = self._api.info()
            self._runtime = choose_runtime(info, runtime)
            self.swept = sweep(self._api)
            """Ids of containers of dead owners that were removed at the start."""
        except errors() as error:
            self._api.close()
            raise SandboxError(f"the Docker engine fails: {error}") from error
        except SandboxError:
            self._api.close()
            raise
        self._info = info
        self._labels = {LABEL: uuid.uuid4().hex, OWNER_LABEL: owner()}
        self._pool = ContainerPool(self._api, max_jobs if warm is None else warm, self._start)
        try:
            self._builder = Builder(self._find_languages())
        except BaseException:
            self._pool.close()
            self._api.close()
            raise

    def describe(self) -> dict[str, Any]:
        """Return the active configuration as JSON, for people and for records."""
        return {
            "backend": self.name,
            "engine": self._info.get("ServerVersion"),
            "kernel": self._info.get("KernelVersion"),
            "image": self._image,
            "runtime": self._runtime or self._info.get("DefaultRuntime"),
            "security": self._info.get("SecurityOptions") or [],
            "cgroups": self._info.get("CgroupVersion"),
            "user": 65534,
            "network": "bridge, where a job asks" if self.allow_network else "none",
            "files": "the image, read-only; a tmpfs of the job's own",
            "capabilities": "none",
            "languages": sorted(self.languages),
            "max_jobs": self.max_jobs,
            "containers": self._pool.counts(),
        }

    def close(self) -> None:
        """Kill what runs and remove every container. May be repeated."""
        self._pool.close()
        super().close()
        with contextlib.suppress(*errors()):
            for left in self._api.containers(
                all=True, filters={"label": f"{LABEL}={self._labels[LABEL]}"}
            ):
                self._api.remove_container(left["Id"], v=True, force=True)
        self._api.close()

    def _execute(self, step: ProgramRun, cancellation: Cancellation) -> Result:
        result = Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")
        # A container may have died while it waited: that costs another, not the job.
        for _ in range(2):
            if cancellation.cancelled:
                return result
            try:
                container = self._pool.take(Shape.of(step))
            except SandboxError as error:
                return Result(status=JobStatus.SANDBOX_ERROR, detail=str(error))
            ended = False
            try:
                ending = converse(container, step, cancellation)
                ended = ending.reason not in ("", "wall")
                result = judge(ending, step, container)
            except errors() as error:
                return Result(
                    status=JobStatus.SANDBOX_ERROR, detail=f"the Docker engine fails: {error}"
                )
            finally:
                self._pool.discard(container, ended=ended)
            if ending.started or ending.failure:
                return result
        return result

    def _connect(self, step: ProgramRun) -> Channel:
        container = self._pool.take(Shape.of(step))
        return DockerChannel(
            container, step, lambda one, ended: self._pool.discard(one, ended=ended)
        )

    def _start(self, shape: Shape) -> Container:
        return start(self._api, self._image, shape, self._runtime, self._labels)

    def _find_image(self, image: str) -> str:
        """The id of the image, so that all jobs run in the same one. Nothing is ever pulled."""
        from docker.errors import ImageNotFound

        try:
            return str(self._api.inspect_image(image)["Id"])
        except ImageNotFound as error:
            raise SandboxError(
                f"the engine has no image {image!r}: docker build -f deploy/sandbox.Dockerfile "
                f"-t {IMAGE} . makes it; or pull another that has python3, and name it"
            ) from error

    def _find_languages(self) -> dict[str, Language]:
        """The languages whose programs the image has, asked in a container of it."""
        known = load_languages()
        programs = sorted({name for language in known.values() for name in language.programs})
        # Each job of usual limits finds such a container ready.
        for _ in range(self._pool.size):
            self._pool.prepare(Shape.of(ProgramRun(argv=("python3",))))
        step = ProgramRun(
            argv=("python3", "-I", "-S", "-c", _PROBE, *programs), limits=Limits(wall_s=30)
        )
        result = self._execute(step, Cancellation())
        if result.status is not JobStatus.OK:
            said = result.detail or result.stderr[-300:].decode("utf-8", "replace")
            raise SandboxError(f"no program runs in the image: {result.status}: {said}")
        there = frozenset(json.loads(result.stdout))
        return find(known, there.__contains__)
