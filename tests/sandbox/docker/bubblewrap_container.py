"""The containers of the stand-in engine (`engine.py`): each is a bubblewrap sandbox that runs a command."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

IMAGE_ID = "sha256:" + "5e" * 32
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make_group(identity, limit):
    """A memory cgroup (v1), where this process may make one; None elsewhere."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        own = next(line.split(":", 2)[2] for line in lines if line.split(":")[1] == "memory")
        group = Path(
            f"/sys/fs/cgroup/memory{own.rstrip('/')}/verigym-engine-{os.getpid()}-{identity}"
        )
        group.mkdir()
        for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
            if (group / name).exists():
                (group / name).write_text(str(limit))
    except (OSError, StopIteration):
        return None
    return group


def sandbox_command(config, without, folder, group, info_fd):
    """The bubblewrap command that stands for a container."""
    host = config["HostConfig"]
    root = os.getuid() == 0
    options = host["Tmpfs"]["/tmp"].split(",")
    kept = [o for o in options if o.startswith(("size=", "nr_inodes=", "mode="))]
    if root:
        kept += [o for o in options if o.startswith(("uid=", "gid="))]
    uid, gid = config["User"].split(":")
    # A mount namespace of its own, so that the tmpfs goes with the container.
    command = ["unshare", "--mount", "--propagation", "private"]
    command += [] if root else ["--map-root-user"]
    enter = f"echo $$ > {group}/cgroup.procs && " if group else ""
    command += ["sh", "-c", enter + 'mount -t tmpfs -o "$0" tmpfs "$1" && shift && exec "$@"']
    command += [",".join([*kept, "nosuid", "nodev"]), folder]
    if root:
        command += ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"]
    command += ["bwrap", "--unshare-all", "--uid", uid, "--gid", gid, "--as-pid-1"]
    command += ["--die-with-parent", "--new-session", "--clearenv", "--info-fd", str(info_fd)]
    if not config["NetworkDisabled"]:
        command += ["--share-net"]
    for name, value in (item.split("=", 1) for item in [f"PATH={PATH}", *config["Env"]]):
        command += ["--setenv", name, value]
    toolchains = ["/var/lib/ghc", "/etc/R", "/etc/php", *map(str, Path("/etc").glob("java-*"))]
    for path in ("/usr", "/etc/alternatives", "/etc/ld.so.cache", *toolchains):
        command += ["--ro-bind-try", path, path]
    for path in ("bin", "sbin", "lib", "lib64"):
        command += ["--symlink", f"usr/{path}", f"/{path}"]
    for program in without:
        place = os.path.realpath(f"/usr/bin/{program}")
        command += ["--ro-bind", "/dev/null", place] if os.path.exists(place) else []
    command += ["--proc", "/proc", "--dev", "/dev", "--size", str(host["ShmSize"])]
    command += ["--tmpfs", "/dev/shm", "--bind", folder, "/tmp"]
    command += ["--remount-ro", "/", "--remount-ro", "/dev"]
    for path in ("/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq"):
        command += ["--ro-bind-try", path, path]
    for path in host["MaskedPaths"]:
        if path.startswith("/proc/") and os.path.isdir(path):
            command += ["--tmpfs", path, "--remount-ro", path]
        elif path.startswith("/proc/") and os.path.exists(path):
            command += ["--ro-bind", "/dev/null", path]
    command += ["--chdir", config["WorkingDir"], "prlimit", f"--nproc={host['PidsLimit']}"]
    command += [f"--{u['Name']}={u['Soft']}:{u['Hard']}" for u in host["Ulimits"]]
    return [*command, "--", *config["Entrypoint"], *config["Cmd"]]


def tree(pid):
    """A process and all that descend from it."""
    found = [pid]
    for one in found:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                found += map(int, Path(f"/proc/{one}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return found


def resident_bytes(pid):
    total = 0
    for one in tree(pid):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * 4096
        except (OSError, IndexError):
            continue
    return total


class Container:
    """One container, from create to remove."""

    def __init__(self, config, without):
        self.without = without
        self.id = uuid.uuid4().hex * 2
        self.config = config
        self.created = time.time()
        self.folder = tempfile.mkdtemp(prefix=f"verigym-engine-{os.getpid()}-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.group = make_group(self.id[:12], config["HostConfig"]["Memory"])
        self.process = None
        self.init = 0
        self.attached = None
        self.oom_killed = False
        self.exit_code = 0
        self.done = threading.Event()
        self.removed = False

    @property
    def status(self):
        if not self.init:
            return "created"
        return "exited" if self.done.is_set() else "running"

    def start(self):
        """Run the command. Called by one thread that lives as long as the engine: a process that
        dies with its parent dies with the parent's thread."""
        read, write = os.pipe()
        self.process = subprocess.Popen(
            sandbox_command(self.config, self.without, self.folder, self.group, write),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=[write],
            env={"PATH": PATH},
            cwd="/",
        )
        os.close(write)
        with os.fdopen(read) as info:
            said = info.read()
        self.init = json.loads(said)["child-pid"] if said else self.process.pid
        threading.Thread(target=self._serve, daemon=True).start()
        if not self.group:
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        most = self.config["HostConfig"]["Memory"]
        while not self.done.wait(0.03):
            if resident_bytes(self.init) > most:
                self.oom_killed = True
                self.kill(signal.SIGKILL)

    def _serve(self):
        """Pass streams between the command and whoever is attached, until the command ends."""
        stdin = self.process.stdin
        outputs = {self.process.stdout: 1, self.process.stderr: 2}
        backlog = b""
        while outputs:
            reads = list(outputs)
            if self.attached and stdin and len(backlog) < 1 << 16:
                reads.append(self.attached)
            readable, writable, _ = select.select(
                reads, [stdin] if stdin and backlog else [], [], 0.5
            )
            if writable:
                try:
                    backlog = backlog[os.write(stdin.fileno(), backlog[:4096]) :]
                except BrokenPipeError:
                    backlog, stdin = b"", None
            for source in readable:
                if source is self.attached:
                    data = self._receive()
                    backlog += data
                    if not data and self.config["StdinOnce"]:
                        self.attached = None
                        if stdin and not backlog:
                            stdin.close()
                            stdin = None
                elif data := os.read(source.fileno(), 1 << 15):
                    self._give(struct.pack(">BxxxL", outputs[source], len(data)) + data)
                else:
                    del outputs[source]
        code = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        if self.group:
            told = (self.group / "memory.oom_control").read_text()
            self.oom_killed = re.search(r"^oom_kill [1-9]", told, re.MULTILINE) is not None
        self.exit_code = 137 if self.oom_killed else code if code >= 0 else 128 - code
        self.done.set()
        if self.attached:
            with contextlib.suppress(OSError):
                self.attached.shutdown(socket.SHUT_RDWR)

    def _receive(self):
        try:
            return self.attached.recv(1 << 16)
        except OSError:
            return b""

    def _give(self, data):
        if self.attached:
            with contextlib.suppress(OSError):  # that nobody listens is found out by reading
                self.attached.sendall(data)

    def kill(self, number):
        if self.status == "running":
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.init, number)

    def remove(self):
        self.kill(signal.SIGKILL)
        if self.process is not None:
            self.done.wait(10)
        self.removed = True
        shutil.rmtree(self.folder, ignore_errors=True)
        until = time.monotonic() + 5
        while self.group and self.group.exists() and time.monotonic() < until:
            with contextlib.suppress(OSError):
                self.group.rmdir()  # busy for a moment after its last process

    def state(self):
        return {
            "Status": self.status,
            "Running": self.status == "running",
            "Paused": False,
            "Restarting": False,
            "OOMKilled": self.oom_killed,
            "Dead": False,
            "Pid": self.init if self.status == "running" else 0,
            "ExitCode": self.exit_code,
            "Error": "",
        }

    def listed(self):
        return {
            "Id": self.id,
            "Names": [f"/{self.id[:12]}"],
            "Image": self.config["Image"],
            "ImageID": IMAGE_ID,
            "Created": int(self.created),
            "Labels": self.config["Labels"],
            "State": self.status,
            "Status": self.status,
        }

    def inspected(self):
        return {
            "Id": self.id,
            "Created": datetime.fromtimestamp(self.created, UTC).isoformat(),
            "Image": IMAGE_ID,
            "State": self.state(),
            "Config": {key: value for key, value in self.config.items() if key != "HostConfig"},
            "HostConfig": self.config["HostConfig"],
        }
