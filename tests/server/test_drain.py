"""SIGTERM: what is under way is finished, the new is refused, and the end comes in time."""

import contextlib
import http.client
import json
import os
import select
import signal
import subprocess
import sys

import pytest

from verigym import Task

PLAIN_TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference="hush").to_json()
)
LONG_S = 60.0


@contextlib.contextmanager
def serving(*options):
    """A service as a process, and its port."""
    command = [
        *(sys.executable, "-P", "-m", "verigym", "serve", "--port", "0", "--json"),
        *("--workers", "1", "--verifiers", "unruly/obeys", *options),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            yield process, int(url.rpartition(":")[2])
        finally:
            process.kill()


def connection(port):
    return contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_S))


def post(http, do, **rest):
    submission = {"do": do, **rest}
    body = {"verifier": "unruly/obeys", "task": PLAIN_TASK, "submission": submission}
    headers = {"Content-Type": "application/json"}
    http.request("POST", "/v1/verify", json.dumps(body), headers)


def answer(http):
    got = http.getresponse()
    return got.status, got.headers, json.loads(got.read())


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "pid"
    os.mkfifo(path)
    return path


def until_draining(port):
    """The first answer of a service that was told to stop."""
    while True:
        with connection(port) as http:
            http.request("GET", "/healthz")
            said = answer(http)
            if said[0] != 200:
                return said


def test_what_is_under_way_is_finished_and_the_new_refused(unruly, fifo):
    with serving() as (process, port), connection(port) as busy, connection(port) as idle:
        idle.request("GET", "/healthz")
        assert answer(idle)[0] == 200
        post(busy, "hang", at=str(fifo))
        worker = int(fifo.read_text())
        process.send_signal(signal.SIGTERM)
        status, headers, body = until_draining(port)
        assert (status, body["error"]["code"]) == (503, "stopping")
        assert (headers["Connection"], headers["Retry-After"]) == ("close", "1")
        post(idle, "nothing")
        assert answer(idle)[0] == 503, "a kept connection is told so, too"
        # The call under way comes to its end: two workers die of it.
        os.kill(worker, signal.SIGKILL)
        os.kill(int(fifo.read_text()), signal.SIGKILL)
        status, _, verdict = answer(busy)
        assert (status, verdict["status"]) == (200, "infra")
        assert process.wait(LONG_S) == 0


@pytest.mark.slow
def test_the_time_to_finish_has_an_end(unruly, fifo):
    with serving("--drain-s", "0.3") as (process, port), connection(port) as busy:
        post(busy, "hang", at=str(fifo))
        worker = os.pidfd_open(int(fifo.read_text()))
        process.send_signal(signal.SIGTERM)
        status, _, body = answer(busy)
        assert (status, body["error"]["code"]) == (503, "stopping")
        assert process.wait(LONG_S) == 0
        assert select.select([worker], [], [], LONG_S)[0]
        os.close(worker)
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(unruly, fifo):
    with serving("--drain-s", "1000") as (process, port), connection(port) as busy:
        post(busy, "hang", at=str(fifo))
        fifo.read_text()
        process.send_signal(signal.SIGINT)
        until_draining(port)
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG_S) == 0
