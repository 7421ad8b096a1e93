"""Control groups (cgroups(7)): memory and tasks of a job's whole tree counted, bounded and killed.

`find` says where groups can be made here, or why nowhere: version 1 where its hierarchies are
writable (root), version 2 where a subtree is (root, or a user to whom one was delegated). Groups are
made below the group of this process, so that limits set on it hold for jobs too.

What was measured, kernel 6.18, both versions: making or removing a group takes 0.1 ms, joining 0.03 ms,
but 10 to 20 ms where nobody joined any group for a while (the kernel waits for all processors). So keep
a group for many jobs, let its first process join once and fork the jobs, and `reset` between them. The
out-of-memory killer may pick that first process too, unless jobs raise /proc/self/oom_score_adj.

Names carry pid namespace, pid and start time of the owner: `Controller.sweep` removes what a killed
owner left.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verigym.sandbox.local.group import ControlGroup, read, write

_NAME = re.compile(r"verigym-(?P<space>\d+)-(?P<pid>\d+)-(?P<start>\d+)-[A-Za-z0-9_]+")


@dataclass
class Controller:
    """A place where groups can be made; from `find`."""

    version: int
    parents: Mapping[str, str]
    """Folders to make groups in, by controller: memory, pids and, if present, cpuacct."""
    mounts: Mapping[str, str]
    """Mount points that show all groups, by controller."""
    leaf: str | None = field(default=None, repr=False)
    """Version 2: the group into which `find` moved the processes of `parents`, by its path."""

    def make(self, name: str) -> ControlGroup:
        """Return a new group of this process. `name`: letters, digits, underscores; once a process."""
        whole = _owned_name(name)
        made: list[str] = []
        try:
            for parent in dict.fromkeys(self.parents.values()):
                os.mkdir(f"{parent}/{whole}")
                made.append(f"{parent}/{whole}")
        except OSError:
            for folder in made:
                os.rmdir(folder)
            raise
        folders = {kind: f"{parent}/{whole}" for kind, parent in self.parents.items()}
        return ControlGroup(folders, self.version)

    def sweep(self) -> int:
        """Remove the groups, and kill what runs in them, whose owners have died; how many.

        Looks through all that is mounted: the owner may have run in another group than we do.
        """
        left: dict[str, dict[str, str]] = {}
        for kind, top in self.mounts.items():
            for folder, names, _ in os.walk(top):
                for name in names:
                    match = _NAME.fullmatch(name)
                    if match and not _is_alive(match) and os.access(folder, os.W_OK):
                        left.setdefault(name, {})[kind] = f"{folder}/{name}"
        for folders in left.values():
            ControlGroup(folders, self.version).remove()
        return len(left)

    def close(self) -> None:
        """Undo what `find` did to the group of this process. Repeatable; after all groups are gone."""
        leaf, self.leaf = self.leaf, None
        if leaf is None:
            return
        parent = os.path.dirname(leaf)
        if any(_NAME.fullmatch(name) for name in os.listdir(parent) if f"{parent}/{name}" != leaf):
            return  # another process of ours makes groups here: the next `sweep` removes the leaf
        write(f"{parent}/cgroup.subtree_control", "-memory -pids")
        _move_all(leaf, parent)
        os.rmdir(leaf)


def find(mountinfo: str = "/proc/self/mountinfo") -> tuple[Controller | None, str]:
    """Find a place for groups with memory and task limits by making one; else None and the reason.

    Removes groups of dead owners. The caller closes the result.
    """
    own = _own_groups()
    reasons = []
    for version, look in ((2, _find_2), (1, _find_1)):
        controller: Controller | None = None
        try:
            controller = look(own, list(_mounts(mountinfo)))
            group = controller.make("probe")
            try:
                group.set(64 << 20, 8)
                group.reset()
            finally:
                group.remove()
            with contextlib.suppress(OSError):  # a group that will not go is no reason to have none
                controller.sweep()
            return controller, ""
        except OSError as error:
            reasons.append(f"version {version}: {error.strerror or error} {error.filename or ''}")
            if controller is not None:
                controller.close()
    return None, "; ".join(reason.strip() for reason in reasons)


def _find_1(own: Mapping[str, str], mounts: list[tuple[str, str, str]]) -> Controller:
    parents: dict[str, str] = {}
    tops: dict[str, str] = {}
    for root, point, options in mounts:
        for kind in ("memory", "pids", "cpuacct"):
            if kind in options.split(",") and kind in own:
                parents[kind] = _place(root, point, own[kind])
                tops[kind] = point
    missing = {"memory", "pids"} - parents.keys()
    if missing:
        raise OSError(errno.ENOENT, f"no hierarchy of {' and '.join(sorted(missing))} is mounted")
    return Controller(1, parents, tops)


def _find_2(own: Mapping[str, str], mounts: list[tuple[str, str, str]]) -> Controller:
    if "" not in own or not any(options == "2" for _, _, options in mounts):
        raise OSError(errno.ENOENT, "it is not mounted")
    root, point = next((root, point) for root, point, options in mounts if options == "2")
    place = _place(root, point, own[""])
    if _NAME.fullmatch(os.path.basename(place)):
        place = os.path.dirname(place)  # a process of ours moved us there, see below
    offered = read(f"{place}/cgroup.controllers").split()
    if not {"memory", "pids"} <= set(offered):
        raise OSError(
            errno.ENOENT,
            f"memory and pids are wanted, {place} offers {' and '.join(offered) or 'nothing'}",
        )
    if os.geteuid() != 0:
        # Above us what is ours to write is delegated to us as well, and holding it moves nobody.
        above = place
        while len(above) >= len(point) and os.access(f"{above}/cgroup.procs", os.W_OK):
            if _hands_down(above):
                return _controller_2(above, point)
            above = os.path.dirname(above)
    controller = _controller_2(place, point)
    if not _hands_down(place):
        controller.leaf = _make_room(place)
    return controller


def _controller_2(place: str, point: str) -> Controller:
    return Controller(2, {"memory": place, "pids": place}, {"memory": point})


def _hands_down(place: str) -> bool:
    return {"memory", "pids"} <= set(read(f"{place}/cgroup.subtree_control").split())


def _make_room(place: str) -> str | None:
    """Let the groups below `place` have limits. Its own processes must leave it first, unless it is
    the root: they go into a group of their own, whose path is returned."""
    leaf = None
    if os.path.exists(f"{place}/cgroup.type"):
        strangers = {int(pid) for pid in read(f"{place}/cgroup.procs").split()} - _relatives()
        if strangers:
            raise OSError(
                errno.EBUSY,
                f"{place} also holds {len(strangers)} processes of others; start in a group of your "
                "own: systemd-run --user --scope -p Delegate=yes COMMAND",
            )
        leaf = f"{place}/{_owned_name('main')}"
        os.mkdir(leaf)
        _move_all(place, leaf)
    try:
        write(f"{place}/cgroup.subtree_control", "+memory +pids")
    except OSError:
        if leaf is not None:
            _move_all(leaf, place)
            os.rmdir(leaf)
        raise
    return leaf


def _move_all(source: str, target: str) -> None:
    """Until none is left: what forks meanwhile is in one of the two."""
    while pids := read(f"{source}/cgroup.procs").split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                write(f"{target}/cgroup.procs", pid)


def _relatives() -> set[int]:
    """This process, those above it and those below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
    found, above = {os.getpid()}, os.getpid()
    while above := parents.get(above, 0):
        found.add(above)
    below = {os.getpid()}
    while below := {pid for pid, parent in parents.items() if parent in below}:
        found |= below
    return found


def _place(root: str, point: str, own: str) -> str:
    """Path of the group `own` in a hierarchy whose group `root` is mounted at `point`."""
    inside = own[len(root) :] if own == root or own.startswith(f"{root.rstrip('/')}/") else ""
    return f"{point}/{inside.strip('/')}".rstrip("/")


def _own_groups() -> dict[str, str]:
    """Path of this process's group by controller of version 1; by "" for version 2. cgroups(7)"""
    own = {}
    for line in read("/proc/self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        own.update(dict.fromkeys(kinds.split(","), path))
    return own


def _mounts(mountinfo: str) -> Iterator[tuple[str, str, str]]:
    """Root, mount point and controllers ("2" for version 2) of each mounted hierarchy. proc(5)"""
    for line in read(mountinfo).splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            root, point = left.split(" ")[3:5]
            yield root, point, options if kind == "cgroup" else "2"


def owned_prefix() -> str:
    """Return the common prefix of the names of all groups of this process."""
    pid = os.getpid()
    return f"verigym-{_pid_space()}-{pid}-{_stat(pid)[19]}-"


def _owned_name(name: str) -> str:
    whole = owned_prefix() + name
    if not _NAME.fullmatch(whole):
        raise ValueError(f"group name {name!r} must be letters, digits and underscores")
    return whole


def _is_alive(match: re.Match[str]) -> bool:
    if int(match["space"]) != _pid_space():
        return True  # the pid means nothing here, so leave it alone
    try:
        return _stat(int(match["pid"]))[19] == match["start"]
    except (FileNotFoundError, ProcessLookupError):
        return False


def _pid_space() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third (state) on: 1 is the parent, 19 the start time."""
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()
