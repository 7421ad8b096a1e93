"""Settings that every test shares."""

import functools
import gc
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import httpcore2
import hypothesis
import pytest

from verigym import registry
from verigym.signals import restore_signals

# `make test &` in a script begins with SIGINT ignored, and so would all that tests start. That Verigym
# bears it is for tests/verigym/test_signals.py to say.
restore_signals()

# Before torch is loaded, here and in processes started: threads of several workers, each as many as there are
# cores, spend most of the processor time waiting for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine must not fail a law: hypothesis's own deadline is a timed assertion.
# `make test` tries fewer examples of each law; `make test-slow` tries all of them.
hypothesis.settings.register_profile(
    "verigym",
    deadline=None,
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "100")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
# For .ci/run, which has to say the same of the same tree twice; everyone else draws other cases each time.
hypothesis.settings.register_profile(
    "fixed", hypothesis.settings.get_profile("verigym"), derandomize=True
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "verigym"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Disable garbage collection while tests are collected: the objects live to the end, and
    searching them would cost half a second per full collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory):
    """Services that tests start keep nothing in the user's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates():
    """The machine's certificates are read once, in place of 30 ms for each HTTP client; none is used."""
    with pytest.MonkeyPatch.context() as patch:
        once = functools.cache(httpcore2.default_ssl_context)
        patch.setattr(httpcore2, "default_ssl_context", once)
        yield


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory):
    """An installed distribution, outside site-packages, that publishes the unruly verifiers."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copy(Path(__file__).parent / "data" / "unruly_verifiers.py", folder)
    info = folder / "unruly-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: unruly\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[verigym.verifiers]\n"
        "unruly/obeys = unruly_verifiers:Obeys\n"
        "unruly/picky = unruly_verifiers:Picky\n"
        "unruly/unloadable = unruly_missing:Nothing\n"
    )
    return folder


@pytest.fixture(scope="session")
def stage_folder(tmp_path_factory):
    """Such a distribution of environments that do as they are told."""
    folder = tmp_path_factory.mktemp("stage")
    shutil.copy(Path(__file__).parent / "data" / "stage_envs.py", folder)
    info = folder / "stage-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stage\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[verigym.envs]\n"
        "stage/obeys-v0 = stage_envs:Obeys\n"
        "stage/pid-v0 = stage_envs:Pid\n"
        "stage/gone-v0 = stage_missing:Nothing\n"
        "[verigym.verifiers]\n"
        "stage/count = stage_envs:Count\n"
    )
    return folder


@pytest.fixture
def unruly(plugin_folder, monkeypatch):
    """The unruly verifiers are registered, here and in processes started meanwhile."""
    monkeypatch.syspath_prepend(plugin_folder)
    monkeypatch.setenv("PYTHONPATH", str(plugin_folder))
    caches = (registry._points, registry._load_verifier, registry.list_verifiers)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@dataclass(frozen=True)
class Postgres:
    """A running server. `folder` holds its socket; its superuser `owner` needs no password."""

    bin: Path
    folder: Path

    def url(self, database="postgres", role="owner"):
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def psql(self, command):
        self._run("psql", "-h", self.folder, "-U", "owner", "-d", "postgres", "-c", command)

    def make(self):
        self._run(self.bin / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "owner")

    def start(self):
        options = f"-c listen_addresses= -c fsync=off -k {self.folder}"
        log = self.folder / "log"
        self._run(*self._ctl, "-w", "-o", options, "-l", log, "start")

    def stop(self):
        """At once, connections and all."""
        self._run(*self._ctl, "-m", "immediate", "stop")

    @property
    def _ctl(self):
        return (self.bin / "pg_ctl", "-D", self.folder / "data")

    @staticmethod
    def _run(*command):
        """It refuses to run as root."""
        user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        with tempfile.TemporaryFile() as said:  # a pipe would stay open in the server
            done = subprocess.run(
                command, stdout=said, stderr=said, cwd="/", timeout=120, check=False, **user
            )
            said.seek(0)
            assert done.returncode == 0, (command, said.read().decode())


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of the tests' own, from Debian's package."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if not found:
        pytest.skip("no PostgreSQL under /usr/lib/postgresql: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="vgpg"))  # a socket's path must be short
    try:
        if os.geteuid() == 0:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
        server = Postgres(found[0].parent, folder)
        server.make()
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder)
