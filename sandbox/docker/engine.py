"""Requests to a Docker engine: connect, describe a container, remove containers of dead owners.

Field names are those of the Engine API's `POST /containers/create`, so that a reader can compare them
with its reference: https://docs.docker.com/reference/api/engine/
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.docker.keeper_program import keeper_program
from verigym.sandbox.step import ProgramRun

USER = "65534:65534"
FOLDER = "/tmp"
LABEL = "io.verigym.sandbox"
"""Label of a container; its value names the sandbox that created it."""
OWNER_LABEL = "io.verigym.owner"
"""Value: boot, pid namespace, pid and start time of the process that the container serves."""

REACH_S = 5.0
"""Maximum seconds for an engine to answer a ping."""
CALL_S = 60.0

# The engine's own list, which a list of ours replaces, and what else tells of its machine or its image.
_MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kallsyms", "/proc/kcore"),
    *("/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list"),
    *("/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"),
    *("/sys/fs/cgroup", "/sys/kernel", "/var/log"),
)
# For the keeper and its interpreter; its pages count in the container's memory.
_KEEPER_MIB = 32
_FOREIGN_LEASE_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Limits that the engine enforces, with which a waiting container was created."""

    memory_mib: int
    processes: int
    disk_mib: int
    inodes: int
    network: bool

    @classmethod
    def of(cls, step: ProgramRun) -> Shape:
        """Return the limits that `step` needs."""
        limits = step.limits
        return cls(
            memory_mib=limits.memory_mib,
            processes=limits.processes,
            disk_mib=limits.disk_mib,
            inodes=limits.inodes,
            network=step.network,
        )


def errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the SDK raises if an engine fails, refuses or cannot be reached."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    return DockerException, RequestException, OSError


def connect(base_url: str | None) -> Any:
    """Return a client of the engine at `base_url`, else of the one that DOCKER_HOST names, else the local.

    Raises SandboxError, in at most `REACH_S`, if there is none.
    """
    try:
        import docker
    except ImportError as error:
        raise SandboxError(
            "the docker backend needs the docker package: pip install 'verigym[docker]'"
        ) from error
    where = base_url or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if where.startswith("ssh://"):
        raise SandboxError(
            f"engines over ssh are not supported, got {where}; forward the socket "
            "(ssh -L /tmp/engine.sock:/var/run/docker.sock HOST) and give unix:///tmp/engine.sock"
        )
    try:
        if base_url is None:
            client = docker.from_env(timeout=REACH_S, version="auto")
        else:
            client = docker.DockerClient(base_url=base_url, timeout=REACH_S, version="auto")
    except errors() as error:
        raise SandboxError(
            f"no Docker engine answers at {where}: {error}. Start one there, or name another in "
            "DOCKER_HOST or base_url; where none can run, use the local backend"
        ) from error
    api = client.api
    api.timeout = CALL_S
    # The SDK's attach sets no deadline of its own.
    api.post = partial(api.post, timeout=CALL_S)
    return api


def choose_runtime(info: dict[str, Any], wanted: str | None) -> str | None:
    """Return the OCI runtime to ask for: `wanted`, else gVisor's if the engine has it, else its default."""
    offered = sorted(info.get("Runtimes") or {})
    if wanted is None:
        return "runsc" if "runsc" in offered else None
    if wanted not in offered:
        raise SandboxError(
            f"the engine offers no runtime {wanted!r}, only {', '.join(offered) or 'its default'}; "
            "install it there or leave runtime out"
        )
    return wanted


def container_config(
    image: str, shape: Shape, runtime: str | None, labels: dict[str, str]
) -> dict[str, Any]:
    """Return the body of `POST /containers/create` for one job."""
    # What lies in a tmpfs counts as memory of the container.
    memory = (shape.memory_mib + shape.disk_mib + _KEEPER_MIB) << 20
    tmpfs = f"rw,exec,nosuid,nodev,size={shape.disk_mib << 20},nr_inodes={shape.inodes + 1}"
    host: dict[str, Any] = {
        "NetworkMode": "bridge" if shape.network else "none",
        "ReadonlyRootfs": True,
        "Tmpfs": {FOLDER: f"{tmpfs},mode=0700,uid=65534,gid=65534"},
        # Not 0, which means the default of 64 MiB. It counts as memory too.
        "ShmSize": 8 << 20,
        "MaskedPaths": list(_MASKED),
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Privileged": False,
        "PidsLimit": shape.processes + 1,
        "Memory": memory,
        "MemorySwap": memory,  # the sum of memory and swap, so: no swap
        "IpcMode": "private",
        "CgroupnsMode": "private",
        # No "nproc": it would count all processes of this user on the engine's machine.
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "memlock", "Soft": 65536, "Hard": 65536},
            {"Name": "msgqueue", "Soft": 0, "Hard": 0},
        ],
        # The keeper is init. A log would be a copy of all output on the engine's disk.
        "Init": False,
        "LogConfig": {"Type": "none"},
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,  # else nobody can ask whether memory ran out
    }
    if runtime is not None:
        host["Runtime"] = runtime
    return {
        "Image": image,
        "Entrypoint": ["python3", "-I", "-S", "-X", "utf8", "-c", keeper_program()],
        "Cmd": [],
        "Env": [],
        "User": USER,
        "WorkingDir": FOLDER,
        "Hostname": "job",
        "NetworkDisabled": not shape.network,
        "Tty": False,
        "OpenStdin": True,
        # The keeper's input ends when its owner is gone, and with it the container.
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": labels,
        "HostConfig": host,
    }


def owner() -> str:
    """Return a name of this process, so that nobody on this machine can mistake another for it."""
    return "/".join((*_place(), str(os.getpid()), _started(os.getpid()) or ""))


def sweep(api: Any) -> list[str]:
    """Remove the containers of owners that are gone; their ids.

    Owners on another machine, or in another pid namespace, cannot be looked up: of theirs those go
    that do not run and are older than an hour, since a container ends with its owner's connection.
    """
    gone = []
    for container in api.containers(all=True, filters={"label": LABEL}):
        labels = container.get("Labels") or {}
        if _is_stale(labels.get(OWNER_LABEL, ""), container):
            remove(api, container["Id"])
            gone.append(container["Id"])
    return gone


def remove(api: Any, container: str) -> None:
    """Kill and remove a container; that it is gone already is no error."""
    from docker.errors import APIError, NotFound

    try:
        api.remove_container(container, v=True, force=True)
    except NotFound:
        return
    except APIError as error:
        # 409: "removal of container ... is already in progress".
        if error.response is None or error.response.status_code != 409:
            raise


def _is_stale(said: str, container: dict[str, Any], now: Callable[[], float] = time.time) -> bool:
    *place, pid, start = said.split("/") if said.count("/") == 3 else ("", "", "", "")
    if tuple(place) == _place() and pid.isdigit():
        return _started(int(pid)) != start
    resting = container.get("State") != "running"
    return resting and now() - float(container.get("Created", 0)) > _FOREIGN_LEASE_S


def _place() -> tuple[str, str]:
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    return boot, os.readlink("/proc/self/ns/pid")


def _started(pid: int) -> str | None:
    """When process `pid` began, in ticks since the machine did; None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return None
