"""A stand-in Docker engine, for every test of the sandbox that wants one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parent / "docker" / "engine.py"


def reason_against_engine():
    """Return the reason why the stand-in cannot run containers here; empty if it can."""
    missing = [
        name for name in ("bwrap", "setpriv", "unshare", "prlimit") if not shutil.which(name)
    ]
    if missing:
        return f"the stand-in engine needs {', '.join(missing)}"
    inner = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true")
    tried = subprocess.run(
        ["unshare", "--mount", "--map-root-user", *inner],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


@pytest.fixture(scope="session")
def start_engine(tmp_path_factory):
    """Starts a stand-in engine with the options of its command; gives its URL and its process."""
    if reason := reason_against_engine():
        pytest.skip(reason)
    started = []

    def start(*options):
        socket = tmp_path_factory.mktemp("engine") / "docker.sock"
        process = subprocess.Popen(
            [sys.executable, str(ENGINE), str(socket), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return f"unix://{socket}", process

    yield start
    for process in started:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for left in Path("/tmp").glob(f"verigym-engine-{process.pid}-*"):
            left.rmdir()  # of an engine that a test killed; its containers went with it
        for left in Path("/sys/fs/cgroup").glob(f"memory/**/verigym-engine-{process.pid}-*"):
            left.rmdir()


@pytest.fixture(scope="session")
def engine_url(request):
    """The URL of one engine that all tests of this process share: a stand-in, or a real one that has
    the image, where VERIGYM_TEST_ENGINE names it."""
    return os.environ.get("VERIGYM_TEST_ENGINE") or request.getfixturevalue("start_engine")()[0]
