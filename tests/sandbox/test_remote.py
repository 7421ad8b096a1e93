"""`RemoteSandbox` where the other end is away, slow, dies or talks nonsense; the rest is conformance."""

import contextlib
import gc
import http.server
import os
import socket
import threading
import time
import uuid
from pathlib import Path

import pytest

from verigym import RequestError, SandboxError, Task
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox
from verigym.sandbox.remote import RemoteSandbox
from verigym.server.process import ServerProcess
from verigym.verifiers.code.stdio import StdioVerifier

KEY = "sesame"
OPTIONS = (
    "--sandbox",
    "--sandbox-jobs",
    "2",
    "--sandbox-lease-s",
    "2",
    "--sandbox-max-wall-s",
    "99",
)


@pytest.fixture(scope="module")
def server():
    try:
        LocalSandbox(max_jobs=1).close()
    except SandboxError as error:
        pytest.skip(f"the local backend refuses this machine: {error}")
    with ServerProcess(verifiers=["math"], workers=1, key=KEY, options=OPTIONS) as server:
        yield server


@pytest.fixture
def sandbox(server):
    with RemoteSandbox(server.url, key=KEY) as sandbox:
        yield sandbox


@pytest.fixture
def seconds():
    """A duration for `sleep` that no other process of this machine has."""
    return f"98763.{uuid.uuid4().int % 10**12:012d}"


def wait_for_sleeper(seconds):
    while True:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if seconds.encode() in path.read_bytes().split(b"\0"):
                    return
        time.sleep(0.01)


def failed(result):
    assert result.status is JobStatus.SANDBOX_ERROR, result
    return result.detail


@contextlib.contextmanager
def answering(status, body, headers=()):
    """A service that says one thing only; gives its URL and the paths that were asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_DELETE = do_POST

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{service.server_port}", asked
        service.shutdown()
        thread.join()


def test_the_verifier_of_programs_judges_with_it(sandbox):
    tests = [{"stdin": "3\n", "stdout": "9\n"}, {"stdin": "5\n", "stdout": "25\n", "visible": True}]
    task = Task(
        id="t", env_id="e", seed=1, prompt="Square it.", difficulty="d", reference={"tests": tests}
    )
    verifier = StdioVerifier(run_all=True)
    verifier.sandbox = sandbox
    right = verifier.verify(task, "print(int(input()) ** 2)")
    wrong = verifier.verify(task, "print(9)")
    endless = verifier.verify(task, "print(9)\nraise SystemExit(3)")
    assert (right.score, right.reason) == (1.0, "correct")
    assert (wrong.score, wrong.parts) == (0.0, {"passed": 0.5})
    assert endless.reason == "nonzero_exit"
    verifier.sandbox = RemoteSandbox("http://127.0.0.1:1", timeout_s=0.2)
    away = verifier.verify(task, "print(9)")
    assert (away.score, away.status.value) == (None, "infra")
    verifier.sandbox.close()


def test_it_compiles_at_the_service(sandbox):
    if "c" not in sandbox.languages:
        pytest.skip("no C here")
    source = '#include <stdio.h>\nint main() { int n; scanf("%d", &n); printf("%d", n * 2); }'
    for number in range(3):
        job = Job(source=source, language="c", stdin=b"%d" % number, limits=Limits(wall_s=60.0))
        result = sandbox.run(job)
        assert (result.status, result.stdout) == (JobStatus.OK, b"%d" % (number * 2))
    broken = sandbox.run(Job(source="int main() { return x; }", language="c"))
    assert broken.status is JobStatus.COMPILE_ERROR
    assert "'x' undeclared" in broken.detail.replace("‘", "'").replace("’", "'")


def test_what_the_service_refuses_is_the_callers(sandbox, server):
    with pytest.raises(RequestError, match=r"wall_s may be at most 99 .* got 100 \(at .limits"):
        sandbox.run(Job(source="1", limits=Limits(wall_s=100.0)))
    with pytest.raises(RequestError, match="did you mean 'python'"):
        sandbox.run(Job(source="1", language="pyton"))
    with pytest.raises(RequestError, match="network"):
        sandbox.run(Job(source="1", network=True))
    for key in (None, "wrong"):
        with RemoteSandbox(server.url, key=key) as keyless:
            with pytest.raises(RequestError, match="key"):
                keyless.run(Job(source="1"))
            with pytest.raises(RequestError, match="key"):
                keyless.session()


@pytest.mark.parametrize("url", ["", "localhost:80", "ftp://x", "http://x:0", "http://x:y"])
def test_bad_urls(url):
    with pytest.raises(RequestError, match="http://host:port"):
        RemoteSandbox(url)


@pytest.mark.slow
def test_a_service_without_a_sandbox_is_told_apart():
    with (
        ServerProcess(verifiers=["math"], workers=1) as server,
        RemoteSandbox(server.url) as sandbox,
    ):
        with pytest.raises(RequestError, match="verigym serve --sandbox"):
            sandbox.run(Job(source="1"))
        with pytest.raises(RequestError, match="verigym serve --sandbox"):
            sandbox.languages  # noqa: B018


def test_an_address_where_nobody_is():
    with RemoteSandbox("http://127.0.0.1:1", timeout_s=1.0) as sandbox:
        assert "cannot be reached" in failed(sandbox.run(Job(source="1")))
        with pytest.raises(SandboxError, match="cannot be reached"):
            sandbox.languages  # noqa: B018
        with pytest.raises(SandboxError, match="cannot be reached"):
            sandbox.session()
        with pytest.raises(SandboxError, match="cannot be reached"):
            sandbox.describe()


def test_a_service_that_never_answers():
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        RemoteSandbox(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.3) as sandbox,
    ):
        detail = failed(sandbox.run(Job(source="1", limits=Limits(wall_s=0.2))))
        assert "no answer from" in detail
        assert "in 0.5 s" in detail


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>hello</html>"),
        (200, b"{}"),
        (200, b'{"status": "wonderful"}'),
        (200, b"\xff"),
        (200, b"[" * 100_000),
        (200, b'{"status": "ok", "stdout": {"base64": "?"}}'),
        (302, b""),
        (404, b"not here"),
        (418, b'{"error": "teapot"}'),
    ],
)
def test_nonsense_is_never_the_programs_fault(status, body):
    with answering(status, body) as (url, _), RemoteSandbox(url, timeout_s=5.0) as sandbox:
        assert "does not answer like" in failed(sandbox.run(Job(source="1")))
        with pytest.raises(SandboxError, match="does not answer like"):
            sandbox.session()


def test_bytes_that_are_neither_are_nonsense_too():
    with (
        answering(200, b'{"status": "ok", "stdout": {}}') as (url, _),
        RemoteSandbox(url, timeout_s=5.0) as sandbox,
    ):
        assert "does not answer like" in failed(sandbox.run(Job(source="1")))


@pytest.mark.parametrize(
    "files",
    [
        '"../x": {"text": ""}',
        '"/etc/x": {"text": ""}',
        '"a\\u0000b": {"text": ""}',
        '"d/../x": {"text": ""}',
        '"x": {"text": "1"}, "\\u0078": {"text": "2"}',
        '"unasked.cfg": {"text": ""}',
        f'"x": {{"text": "{"x" * 101}"}}',
    ],
)
def test_files_that_no_job_can_have_asked_for_are_nonsense_too(files):
    body = f'{{"status": "ok", "files": {{{files}}}}}'.encode()
    job = Job(source="1", fetch=("x", "*x", "a*"), limits=Limits(output_bytes=100))
    with answering(200, body) as (url, _), RemoteSandbox(url, timeout_s=5.0) as sandbox:
        result = sandbox.run(job)
        assert "does not answer like" in failed(result)
        assert not result.files


def test_a_broken_service_is_asked_again_and_a_busy_one_until_the_time_is_up():
    error = b'{"error": {"code": "internal", "message": "the service failed", "where": ""}}'
    with answering(500, error) as (url, asked), RemoteSandbox(url) as sandbox:
        assert "the service answered 500: the service failed" in failed(
            sandbox.run(Job(source="1"))
        )
        assert asked == ["/v1/sandbox/run"] * 4
    error = b'{"error": {"code": "busy", "message": "the queue is full", "where": ""}}'
    with (
        answering(429, error, [("Retry-After", "0")]) as (url, asked),
        RemoteSandbox(url, timeout_s=2.0) as sandbox,
    ):
        detail = failed(sandbox.run(Job(source="1", limits=Limits(wall_s=0.5))))
        assert "the queue is full" in detail
        assert len(asked) > 4


@pytest.mark.slow
def test_it_bears_the_death_of_its_service(seconds):
    with (
        ServerProcess(verifiers=["math"], workers=1, options=OPTIONS) as server,
        RemoteSandbox(server.url, timeout_s=30.0) as sandbox,
    ):
        assert sandbox.run(Job(source="print(1)")).stdout == b"1\n"
        session = sandbox.session("python")
        results = []
        job = Job(command=("sleep", seconds), limits=Limits(wall_s=90.0))
        ask = threading.Thread(target=lambda: results.append(sandbox.run(job)))
        ask.start()
        wait_for_sleeper(seconds)
        server.kill()
        ask.join()
        assert "cannot be reached" in failed(results[0])
        server.restart()
        assert sandbox.run(Job(source="print(2)")).stdout == b"2\n"
        with pytest.raises(SandboxError, match="no such session"):
            session.run("1")
        assert not session.alive
        session.close()


@pytest.mark.slow
def test_a_session_whose_service_dies_in_a_cell_is_lost(seconds):
    with (
        ServerProcess(verifiers=["math"], workers=1, options=OPTIONS) as server,
        RemoteSandbox(server.url, timeout_s=30.0) as sandbox,
    ):
        session = sandbox.session("bash")
        results = []
        ask = threading.Thread(target=lambda: results.append(session.run(f"sleep {seconds}")))
        ask.start()
        wait_for_sleeper(seconds)
        server.kill()
        ask.join()
        assert "state is lost" in failed(results[0])
        assert not session.alive
        with pytest.raises(SandboxError, match="state is lost"):
            session.run("echo")


def test_a_lease_that_ran_out(sandbox):
    with sandbox.session("python") as session:
        assert session.lease_s == 2.0
        assert session.run("1").stdout == b"1\n"
        time.sleep(3.0)
        with pytest.raises(SandboxError, match="no such session; one that is not used for 2 s"):
            session.run("1")
        assert not session.alive
        session.interrupt()


def test_files_of_sessions_are_checked_before_they_are_sent(sandbox):
    for files in ({"../x": b""}, {"a": "text"}, {"a": b"x" * (33 << 20)}):
        with pytest.raises(RequestError):
            sandbox.session("python", files=files)


def test_nothing_is_left(server):
    def use():
        with RemoteSandbox(server.url, key=KEY) as sandbox:
            assert sandbox.run(Job(source="print(1)")).status is JobStatus.OK
            sandbox.session("bash")  # left open: the sandbox closes it

    use()
    gc.collect()
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        use()
    gc.collect()
    # A leak adds one with each use; files of other threads in this process come and go.
    assert len(os.listdir("/proc/self/fd")) < before[0] + 3
    assert threading.active_count() < before[1] + 3
