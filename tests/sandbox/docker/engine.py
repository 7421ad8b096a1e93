"""A stand-in for a Docker engine: `python engine.py SOCKET`, until its input ends. Options, repeatable:
`--runtime NAME` offers a further one, `--without PROGRAM` takes one from the image.

It answers the routes that the backend uses, in the shapes of the Engine API's reference (1.47), over a
unix socket, and refuses settings that it does not know, so that a misspelt one fails a test. A container
is a bubblewrap sandbox that really runs the command: of what a real engine does it has the user, the pid,
network and ipc namespaces, the read-only root, the tmpfs with its bytes and inodes, the task and memory
limits (by a cgroup where it may make one, else by watching), attached streams, signals and OOMKilled.
Its one image is this machine's /usr. It has no seccomp profile and no runtimes.
"""

import argparse
import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

API = "1.47"
IMAGE = "verigym-sandbox"
IMAGE_ID = "sha256:" + "5e" * 32
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What POST /containers/create may carry, from the reference; only what a backend could want.
CONFIG = {
    *("Image", "Entrypoint", "Cmd", "Env", "User", "WorkingDir", "Hostname", "NetworkDisabled"),
    *("Tty", "OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"),
    *("Healthcheck", "Labels", "HostConfig"),
}
HOST_CONFIG = {
    *(
        "NetworkMode",
        "ReadonlyRootfs",
        "Tmpfs",
        "ShmSize",
        "MaskedPaths",
        "CapDrop",
        "SecurityOpt",
        "Privileged",
    ),
    *("PidsLimit", "Memory", "MemorySwap", "IpcMode", "CgroupnsMode", "Ulimits", "Init"),
    *("LogConfig", "RestartPolicy", "AutoRemove", "Runtime"),
}


class Refused(Exception):
    """Answered with `status` and {"message": ...}, as the engine answers errors."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


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


class Engine:
    """All containers, and what the routes do with them."""

    def __init__(self, runtimes, without):
        self.runtimes = runtimes
        self.without = without
        self.lock = threading.Lock()
        self.containers = {}
        self.starter = ThreadPoolExecutor(1)

    def find(self, identity):
        with self.lock:
            if identity not in self.containers:
                raise Refused(404, f"No such container: {identity}")
            return self.containers[identity]

    def ping(self, query, body):
        return 200, "OK"

    def version(self, query, body):
        names = os.uname()
        return 200, {
            "Version": "27.3.1",
            "ApiVersion": API,
            "MinAPIVersion": "1.24",
            "Os": "linux",
            "Arch": "amd64",
            "KernelVersion": names.release,
        }

    def info(self, query, body):
        return 200, {
            "ID": "stand-in",
            "ServerVersion": "27.3.1",
            "KernelVersion": os.uname().release,
            "CgroupVersion": "2",
            "DefaultRuntime": "runc",
            "Runtimes": {name: {"path": name} for name in ("runc", *self.runtimes)},
            "SecurityOptions": ["name=seccomp,profile=builtin", "name=cgroupns"],
        }

    def image(self, query, body, name):
        if unquote(name) not in (IMAGE, IMAGE_ID):
            raise Refused(404, f"No such image: {unquote(name)}")
        return 200, {"Id": IMAGE_ID, "RepoTags": [f"{IMAGE}:latest"], "Config": {}}

    def create(self, query, body):
        if body["Image"] not in (IMAGE, IMAGE_ID):
            raise Refused(404, f"No such image: {body['Image']}")
        unknown = (body.keys() - CONFIG) | (body["HostConfig"].keys() - HOST_CONFIG)
        if unknown:
            raise Refused(400, f"not in the reference: {sorted(unknown)}")
        if body["HostConfig"].get("Runtime", "runc") not in ("runc", *self.runtimes):
            raise Refused(400, f"unknown or invalid runtime name: {body['HostConfig']['Runtime']}")
        container = Container(body, self.without)
        with self.lock:
            self.containers[container.id] = container
        return 201, {"Id": container.id, "Warnings": []}

    def start(self, query, body, identity):
        container = self.find(identity)
        if container.status == "running":
            return 304, None
        self.starter.submit(container.start).result()
        return 204, None

    def kill(self, query, body, identity):
        container = self.find(identity)
        if container.status != "running":
            raise Refused(409, f"cannot kill container: {identity}: container is not running")
        number = getattr(signal, query.get("signal", "SIGKILL"))
        container.kill(number)
        if number == signal.SIGKILL:
            container.done.wait(10)
        return 204, None

    def inspect(self, query, body, identity):
        return 200, self.find(identity).inspected()

    def remove(self, query, body, identity):
        container = self.find(identity)
        if container.status == "running" and query.get("force") not in ("1", "True", "true"):
            raise Refused(409, f"cannot remove container {identity}: container is running")
        container.remove()
        with self.lock:
            self.containers.pop(identity, None)
        return 204, None

    def list(self, query, body):
        wanted = json.loads(query.get("filters", "{}")).get("label", [])
        found = []
        with self.lock:
            everything = list(self.containers.values())
        for container in everything:
            labels = container.config["Labels"]
            if all(
                label.partition("=")[0] in labels
                and ("=" not in label or labels[label.partition("=")[0]] == label.partition("=")[2])
                for label in wanted
            ) and (query.get("all") == "1" or container.status == "running"):
                found.append(container.listed())
        return 200, found

    def close(self):
        self.starter.shutdown()
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(Container.remove, self.containers.values()))


ROUTES = [
    ("GET", r"/_ping", "ping"),
    ("GET", r"/version", "version"),
    ("GET", r"/info", "info"),
    ("GET", r"/images/(.+)/json", "image"),
    ("POST", r"/containers/create", "create"),
    ("GET", r"/containers/json", "list"),
    ("POST", r"/containers/(\w+)/start", "start"),
    ("POST", r"/containers/(\w+)/kill", "kill"),
    ("GET", r"/containers/(\w+)/json", "inspect"),
    ("DELETE", r"/containers/(\w+)", "remove"),
]


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    engine = None

    def log_message(self, *args):
        pass

    def address_string(self):
        return "client"

    def do(self):
        parts = urlsplit(self.path)
        path = re.sub(r"^/v[0-9.]+(?=/)", "", parts.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        try:
            if match := re.fullmatch(r"/containers/(\w+)/attach", path):
                return self.attach(self.engine.find(match[1]), query)
            for method, pattern, name in ROUTES:
                match = re.fullmatch(pattern, path)
                if match and method == self.command:
                    status, answer = getattr(self.engine, name)(query, body, *match.groups())
                    return self.answer(status, answer)
            raise Refused(404, "page not found")
        except Refused as error:
            return self.answer(error.status, {"message": str(error)})

    do_GET = do_POST = do_DELETE = do

    def answer(self, status, answer):
        self.send_response(status)
        self.send_header("Api-Version", API)
        self.send_header("Server", "Docker/27.3.1 (linux)")
        data = b""
        if answer is not None:
            text = isinstance(answer, str)
            self.send_header("Content-Type", "text/plain" if text else "application/json")
            data = (answer if text else json.dumps(answer)).encode()
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def attach(self, container, query):
        """Hijack the connection: after the headers it carries streams."""
        if query.get("stream") != "1":
            raise Refused(400, "either stream or logs must be true")
        self.wfile.write(
            b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.multiplexed-stream\r\n"
            b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        )
        self.wfile.flush()
        container.attached = self.connection
        while not container.removed and not container.done.wait(0.2):
            pass
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # else a client that has gone


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--runtime", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()
    Handler.engine = Engine(arguments.runtime, arguments.without)
    with Server(arguments.socket, Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        print("ready", flush=True)
        try:
            sys.stdin.read()
        finally:
            server.shutdown()
            Handler.engine.close()


if __name__ == "__main__":
    main()
