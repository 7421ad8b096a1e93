"""One suite for every backend: each test below this folder runs once for each name in `BACKENDS`."""

import os
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from verigym import SandboxError
from verigym.sandbox.job import Job, Limits

BACKENDS = ("local", "docker", "remote")

# Long before any warm process is made, so that it would be inherited if anything were.
os.environ["VERIGYM_CONFORMANCE_SECRET"] = "of-the-host-7d1f"


def make_local(request, **options):
    from verigym.sandbox.local import LocalSandbox

    try:
        return LocalSandbox(**options)
    except SandboxError as error:
        pytest.skip(f"the local backend refuses this machine: {error}")


def make_docker(request, **options):
    pytest.importorskip("docker")
    from verigym.sandbox.docker import DockerSandbox

    url = request.getfixturevalue("engine_url")
    return DockerSandbox(base_url=url, **options)


def make_remote(request, **options):
    from verigym.sandbox.remote import RemoteSandbox
    from verigym.server.process import ServerProcess

    make_local(request, max_jobs=1).close()  # or skip
    # A bad bound is the caller's to hear of, not the server's.
    sandbox = RemoteSandbox("http://127.0.0.1:1", **options)
    jobs = str(sandbox.max_jobs)
    server = ServerProcess(
        verifiers=["math"], workers=1, options=["--sandbox", "--sandbox-jobs", jobs]
    )
    server.start()
    request.addfinalizer(server.stop)
    return RemoteSandbox(server.url, **options)


MAKERS = {"local": make_local, "docker": make_docker, "remote": make_remote}


# What a program may do there is decided by the local backend of the service.
OF_THE_PROGRAM = ("test_isolation", "test_statuses", "test_streams_and_files")


def pytest_itemcollected(item):
    """Put what the service's own backend shows already into the slow tail."""
    asked = getattr(item, "callspec", None)
    if item.path.stem in OF_THE_PROGRAM and asked and asked.params.get("make") == "remote":
        item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", params=BACKENDS)
def make(request):
    """Makes a sandbox of one backend; closed at the end, if it was not before."""
    made = []
    if request.param == "docker":
        request.getfixturevalue("engine_url")  # here, so that it ends after the sandboxes

    def make(**options):
        sandbox = MAKERS[request.param](request, **options)
        made.append(sandbox)
        return sandbox

    yield make
    for sandbox in made:
        sandbox.close()


@pytest.fixture(scope="session")
def sandbox(make):
    """One sandbox for three jobs at once, shared by the tests."""
    return make(max_jobs=3)


@pytest.fixture
def run(sandbox):
    """Runs one program; limits by name, generous where they are not said."""

    def run(source=None, **asked):
        limits = {"wall_s": 60.0, "cpu_s": 30.0}
        limits |= {name: asked.pop(name) for name in list(asked) if name in vars(Limits())}
        return sandbox.run(Job(source=source, limits=Limits(**limits), **asked))

    return run


class Marked:
    """Processes of this machine, in whatever namespace, whose command holds a unique argument."""

    def __init__(self):
        # As a number it is also a duration that `sleep` takes.
        self.seconds = f"98765.{uuid.uuid4().int % 10**12:012d}"

    def pids(self):
        """Pids of those that run."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self.seconds.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it has ended since
        return found

    def wait(self):
        """Wait until one runs."""
        while not self.pids():
            time.sleep(0.01)


@pytest.fixture
def marked():
    """A number for `sleep`, and who sleeps for so long; none may be left."""
    marked = Marked()
    yield marked
    left = marked.pids()
    for pid in left:
        subprocess.run(["kill", "-9", str(pid)], check=False)
    assert not left
