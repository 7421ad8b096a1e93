"""The service as a process: how it starts, says so, stops, and never outlives its owner."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

from verigym import SandboxError
from verigym.cli.main import app
from verigym.client import Client
from verigym.server.process import ServerProcess

LONG_S = 60.0
SERVE = [sys.executable, "-P", "-m", "verigym", "serve", "--envs", "none"]


def descendants(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as listing:
        direct = [int(child) for child in listing.read().split()]
    threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    for thread in threads:
        if thread != pid:
            with open(f"/proc/{pid}/task/{thread}/children") as listing:
                direct += [int(child) for child in listing.read().split()]
    return [*direct, *(pid for child in direct for pid in descendants(child))]


@contextlib.contextmanager
def watched(pids):
    with contextlib.ExitStack() as stack:
        fds = [os.pidfd_open(pid) for pid in pids]
        for fd in fds:
            stack.callback(os.close, fd)
        yield fds


def assert_end(fds):
    for fd in fds:
        assert select.select([fd], [], [], LONG_S)[0], "a process still runs"


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_it_says_where_it_listens_and_stops_cleanly(number):
    command = [*SERVE, "--port", "0", "--json", "--verifiers", "math", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said = json.loads(process.stdout.readline())
        assert said["pid"] == process.pid
        with Client(said["url"]) as client:
            assert client.health()["workers"] == 1
            assert {info.id.partition("/")[0] for info in client.verifiers()} == {"math"}
        pids = descendants(process.pid)
        assert len(pids) >= 2  # the fork server and a worker
        with watched(pids) as fds:
            process.send_signal(number)
            rest, errors = process.communicate(timeout=LONG_S)
            assert process.returncode == 0
            assert_end(fds)
    assert rest == b""
    assert b"Traceback" not in errors


@pytest.mark.slow
def test_for_people_it_says_it_in_a_sentence():
    command = [*SERVE, "--port", "0", "--verifiers", "math"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        process.terminate()
    assert line.startswith("Serving verifiers on http://127.0.0.1:")


def test_a_taken_port_is_a_clear_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*SERVE, "--port", str(port), "--verifiers", "math"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert done.returncode == 2
    assert f"port {port} on 127.0.0.1 is in use" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--host", "0.0.0.0"), "a key is needed"),
        (("--key-env", "VERIGYM_NOT_SET"), "VERIGYM_NOT_SET"),
        (("--verifiers", "math/countdwn"), "did you mean 'math/countdown'"),
        (("--workers", "0"), "workers must be above 0"),
        (("--host", "no.such.host.invalid", "--key-env", "SOME_KEY"), "has no address"),
    ],
)
def test_what_cannot_be_served_is_a_clear_error(options, message):
    done = CliRunner().invoke(app, ["serve", "--port", "0", *options], env={"SOME_KEY": "k"})
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_kill_leaves_no_worker_and_a_restart_keeps_the_address():
    with ServerProcess(verifiers=["math"], workers=2) as server, Client(server.url) as client:
        url = server.url
        with watched(descendants(server.pid)) as fds:
            server.kill()
            assert_end(fds)
        assert server.pid == 0
        server.restart()
        assert server.url == url
        assert client.health()["status"] == "ok"
        first = server.pid
        server.restart()
        assert server.pid != first
        assert client.health()["status"] == "ok"
        assert server.stop() == 0


def test_it_stops_when_its_owner_is_killed():
    script = """
        from verigym.server.process import ServerProcess

        server = ServerProcess(verifiers=["math"], workers=1)
        server.start()
        print(server.pid, flush=True)
        input()
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        pid = int(owner.stdout.readline())
        with watched([pid, *descendants(pid)]) as fds:
            owner.kill()
            assert_end(fds)


@pytest.mark.slow
def test_a_service_that_does_not_start_is_an_error(tmp_path):
    with (
        open(tmp_path / "log", "wb") as log,
        pytest.raises(SandboxError, match="exit code 2"),
        ServerProcess(verifiers=["nothing/like/it"], log=log),
    ):
        pass
    assert b"no verifier matches" in (tmp_path / "log").read_bytes()


@pytest.mark.slow
def test_a_key_is_passed_on():
    with (
        ServerProcess(verifiers=["math"], workers=1, key="sesame") as server,
        Client(server.url, key="sesame") as client,
    ):
        assert [info.id for info in client.verifiers()]
