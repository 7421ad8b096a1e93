"""Builds what a job sees of the file system: a few folders of the host, read-only, and nothing else."""

from __future__ import annotations

import os
from typing import Any

from verigym.sandbox.local import system

FOLDER = "/job"
"""Parent of each job's own file system, which is mounted as `tmp`; Landlock's rules name the parent."""

_ON_EVERY_HOST = ("/usr", "/bin", "/sbin", "/lib", "/etc", "/var/lib")
_STAGING = ("/sys", "/mnt", "/media", "/srv", "/tmp")
DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = (
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/shm", f"{FOLDER}/tmp"),
    ("/tmp", f"{FOLDER}/tmp"),
    ("/var/tmp", f"{FOLDER}/tmp"),
    # Places of a Harbor task (docs/harbor.md), in the job's own folder if it has them.
    *((f"/{name}", f"{FOLDER}/tmp/{name}") for name in ("app", "logs", "solution", "tests")),
)


OF_THE_HOST = ("binds", "packages", "covers", "links", "texts", "hidden", "groups")
"""Environment variables with paths of the host, removed before a job runs."""


def writable_devices(settings: dict[str, Any]) -> list[str]:
    """Return the devices that jobs may open for writing: all; but if nothing counts a job's memory not
    /dev/zero, whose shared mappings are memory that no process shows once it has unmapped them."""
    return [f"/dev/{name}" for name in DEVICES if settings["counted"] or name != "zero"]


def write(path: str, text: str | bytes) -> None:
    """Write `text` to `path` in one call, as the kernel's own files want it."""
    # Every job does this once: without a file object it touches, and so copies, fewer pages.
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        os.write(file, text.encode() if isinstance(text, str) else text)
    finally:
        os.close(file)


def build(settings: dict[str, Any]) -> str:
    """Put the root together in this mount namespace; the folder where it is. Lacks only /proc.

    `binds` are pairs of a path of the host and one of the sandbox; a link is copied as one, what is
    missing is left out. `covers` are folders of the sandbox to be shown empty but for `packages`,
    pairs again, which are bound into the last of them.
    """
    system.mount("none", "/", None, system.RECURSIVE | system.PRIVATE)
    sources = [source for source, _ in (*settings["binds"], *settings["packages"])]
    for place in _STAGING:
        if os.path.isdir(place) and not any(path.startswith(place + "/") for path in sources):
            break
    else:
        raise OSError(f"no folder to build the root in; tried {', '.join(_STAGING)}")
    system.mount("sandbox", place, "tmpfs", system.NO_SUID | system.NO_DEV, "mode=0755,size=4m")
    for source, target in settings["binds"]:
        _show(source, place + target, place)
    for cover in settings["covers"]:
        if os.path.isdir(place + cover):
            flags = system.NO_SUID | system.NO_DEV
            system.mount("packages", place + cover, "tmpfs", flags, "mode=0755,size=4m")
            if cover == settings["covers"][-1]:
                for source, target in settings["packages"]:
                    _show(source, place + target, place)
            system.set_mount(place + cover, system.READ_ONLY)
    for name in ("etc", "proc", "dev", "var", "job/tmp"):
        os.makedirs(f"{place}/{name}", exist_ok=True)
    for name in DEVICES:
        write(f"{place}/dev/{name}", "")
        system.mount(f"/dev/{name}", f"{place}/dev/{name}", None, system.BIND)
        system.set_mount(f"{place}/dev/{name}", system.NO_SUID)
    for name, target in _LINKS:
        os.symlink(target, place + name)
    for name, target in settings["links"].items():
        os.makedirs(os.path.dirname(place + name), exist_ok=True)
        os.symlink(target, place + name)
    for name, text in settings["texts"].items():
        write(place + name, text)
    remount = system.BIND | system.REMOUNT | system.READ_ONLY | system.NO_SUID | system.NO_DEV
    system.mount("none", place, None, remount)
    return place


def _show(source: str, target: str, place: str) -> None:
    """`_bind`, without telling where on the host `source` is: /proc/self/mountinfo says that of a bind.

    Folders of the system are on every host at the same place. A lower layer named "." tells nothing.
    """
    if source.startswith(_ON_EVERY_HOST):
        _bind(source, target)
    elif os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        flags = system.READ_ONLY | system.NO_SUID | system.NO_DEV
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.chdir(source)
            empty = f"{place}/empty"
            os.makedirs(empty, exist_ok=True)
            system.mount("packages", target, "overlay", flags, f"lowerdir=.:{empty}")
        except OSError:
            _bind(source, target)  # a kernel without it, or a file system that cannot be below it
        finally:
            os.fchdir(here)
            os.close(here)
    else:
        with open(source, "rb") as file:
            data = file.read()
        write(target, data)


def _bind(source: str, target: str) -> None:
    """Show `source` of the host as `target`, read-only, without set-uid programs or devices."""
    if os.path.lexists(target) and not os.path.isdir(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif os.path.exists(source):
        write(target, "")
    else:
        return
    system.mount(source, target, None, system.BIND | system.RECURSIVE)
    system.set_mount(target, system.READ_ONLY | system.NO_SUID | system.NO_DEV)
