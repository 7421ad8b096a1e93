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
import json
import os
import re
import signal
import socketserver
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

from bubblewrap_container import IMAGE_ID, Container

API = "1.47"
IMAGE = "verigym-sandbox"

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
