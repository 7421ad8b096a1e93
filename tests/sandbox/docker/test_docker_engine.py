"""`DockerSandbox` and the engine: reaching it, choosing, sweeping up, and what happens when it fails.

The engine is the stand-in of engine.py. No real one has been used.
"""

import gc
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

docker = pytest.importorskip("docker")

from verigym import SandboxError  # noqa: E402
from verigym.sandbox.docker import DockerSandbox  # noqa: E402
from verigym.sandbox.docker import engine as engine_module  # noqa: E402
from verigym.sandbox.docker.container import start  # noqa: E402
from verigym.sandbox.docker.engine import (  # noqa: E402
    LABEL,
    OWNER_LABEL,
    Shape,
    container_config,
    owner,
    sweep,
)
from verigym.sandbox.job import Job, JobStatus, Limits  # noqa: E402
from verigym.sandbox.step import ProgramRun  # noqa: E402

SHAPE = Shape.of(ProgramRun(argv=("true",)))


@pytest.fixture
def collected():
    """Collect the garbage of one test before the next begins."""
    yield
    gc.collect()


def lost_engine(test):
    """Ignore the warning about the socket of a failed connection, which the SDK leaves to the
    garbage collector."""
    ignoring = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    return ignoring(pytest.mark.usefixtures("collected")(test))


@pytest.fixture
def api(engine_url):
    """The SDK's own client, for a look past the backend."""
    client = docker.APIClient(base_url=engine_url, version="auto")
    yield client
    client.close()


def running(api, sandbox):
    """Ids of a sandbox's containers."""
    label = f"{LABEL}={sandbox._labels[LABEL]}"
    return {one["Id"] for one in api.containers(all=True, filters={"label": label})}


def until(condition):
    """Wait for something that another process does."""
    while not condition():
        time.sleep(0.01)


@lost_engine
@pytest.mark.parametrize("where", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:{port}"])
def test_no_engine(where):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(SandboxError, match="no Docker engine answers at") as raised:
        DockerSandbox(base_url=where.format(port=port))
    assert "DOCKER_HOST" in str(raised.value)
    assert "local backend" in str(raised.value)


@lost_engine
def test_no_engine_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(SandboxError, match=r"none\.sock"):
        DockerSandbox()


@lost_engine
def test_an_engine_that_accepts_and_says_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(engine_module, "REACH_S", 0.2)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent.sock"))
        silent.listen()
        with pytest.raises(SandboxError, match="no Docker engine answers"):
            DockerSandbox(base_url=f"unix://{tmp_path}/silent.sock")


def test_ssh_is_refused_with_a_way_out():
    with pytest.raises(SandboxError, match="forward the socket"):
        DockerSandbox(base_url="ssh://somewhere")


def test_an_image_that_is_not_there_is_not_pulled(engine_url):
    with pytest.raises(SandboxError, match="docker build"):
        DockerSandbox(base_url=engine_url, image="no-such-image")


def test_a_runtime_that_is_not_there(engine_url):
    with pytest.raises(SandboxError, match="runc"):
        DockerSandbox(base_url=engine_url, runtime="kata")


def test_runsc_is_taken_where_it_is_offered(start_engine):
    url, _ = start_engine("--runtime", "runsc")
    client = docker.APIClient(base_url=url, version="auto")
    with DockerSandbox(base_url=url, max_jobs=1) as sandbox:
        assert sandbox.describe()["runtime"] == "runsc"
        until(lambda: sandbox.describe()["containers"] == {"ready": 1, "all": 1})
        (identity,) = running(client, sandbox)
        assert client.inspect_container(identity)["HostConfig"]["Runtime"] == "runsc"
    with DockerSandbox(base_url=url, max_jobs=1, runtime="runc") as sandbox:
        assert sandbox.describe()["runtime"] == "runc"
    client.close()


def test_a_toolchain_that_the_image_lacks(start_engine):
    url, _ = start_engine("--without", "node")
    with DockerSandbox(base_url=url, max_jobs=1) as sandbox:
        assert "javascript" not in sandbox.languages
        with pytest.raises(ValueError, match="toolchain is not in this sandbox"):
            sandbox.run(Job(source="1", language="javascript"))


def test_what_a_container_is_made_with():
    body = container_config("image", SHAPE, None, {})
    host = body["HostConfig"]
    assert body["User"] == "65534:65534"
    assert body["NetworkDisabled"] is True
    assert (body["Env"], body["Tty"]) == ([], False)
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["PidsLimit"] == Limits().processes + 1
    assert host["Memory"] == host["MemorySwap"] > Limits().memory_mib << 20
    assert host["LogConfig"] == {"Type": "none"}
    assert "noexec" not in host["Tmpfs"]["/tmp"]
    assert f"size={Limits().disk_mib << 20}," in host["Tmpfs"]["/tmp"]
    assert "Runtime" not in host
    assert {"Binds", "Mounts", "CapAdd", "Devices", "PidMode"}.isdisjoint(host)
    # One argument of a command may have 128 KiB.
    assert len(body["Entrypoint"][-1].encode()) < 100_000
    assert json.loads(json.dumps(body)) == body


def test_containers_wait_and_are_used_once(engine_url, api):
    with DockerSandbox(base_url=engine_url, max_jobs=2) as sandbox:
        until(lambda: sandbox.describe()["containers"]["ready"] == 2)
        before = running(api, sandbox)
        assert sandbox.run(Job(source="print(1)")).stdout == b"1\n"
        until(lambda: sandbox.describe()["containers"] == {"ready": 2, "all": 2})
        assert len(before & running(api, sandbox)) == 1
    assert not running(api, sandbox)


@pytest.mark.slow
def test_jobs_of_many_shapes_keep_few_containers(engine_url, api):
    with DockerSandbox(base_url=engine_url, max_jobs=2) as sandbox:
        for memory_mib in range(100, 112):
            limits = Limits(memory_mib=memory_mib)
            assert sandbox.run(Job(source="print(1)", limits=limits)).status is JobStatus.OK
        until(lambda: len(running(api, sandbox)) <= 2)


def test_none_wait_where_none_are_wanted(engine_url, api):
    with DockerSandbox(base_url=engine_url, max_jobs=2, warm=0) as sandbox:
        assert sandbox.run(Job(source="print(1)")).stdout == b"1\n"
        until(lambda: not running(api, sandbox))


def test_a_container_that_died_while_it_waited_costs_no_job(engine_url, api):
    with DockerSandbox(base_url=engine_url, max_jobs=1) as sandbox:
        until(lambda: sandbox.describe()["containers"] == {"ready": 1, "all": 1})
        (identity,) = running(api, sandbox)
        api.kill(identity)
        assert sandbox.run(Job(source="print(1)")).stdout == b"1\n"


def test_a_container_killed_from_outside_is_the_machines_fault(engine_url, api):
    with DockerSandbox(base_url=engine_url, max_jobs=1, warm=0) as sandbox:
        job = Job(source="import time; time.sleep(100)", limits=Limits(wall_s=200.0))
        with ThreadPoolExecutor(1) as threads:
            result = threads.submit(sandbox.run, job)
            until(lambda: running(api, sandbox))
            while not result.done():
                for identity in running(api, sandbox):
                    try:
                        api.kill(identity)
                    except docker.errors.APIError:
                        continue  # not started yet, or gone
            assert result.result().status is JobStatus.SANDBOX_ERROR
            assert "exit code 137" in result.result().detail


@lost_engine
def test_an_engine_that_dies_is_the_machines_fault(start_engine):
    url, process = start_engine()
    sandbox = DockerSandbox(base_url=url, max_jobs=2)
    job = Job(source="import time; time.sleep(100)", limits=Limits(wall_s=200.0))
    with ThreadPoolExecutor(1) as threads:
        session = sandbox.session("python")
        running = threads.submit(sandbox.run, job)
        until(lambda: sandbox.describe()["containers"]["all"] > 2)
        process.kill()
        process.wait()
        assert running.result().status is JobStatus.SANDBOX_ERROR
        assert session.run("1").status is JobStatus.SANDBOX_ERROR
        session.close()
    result = sandbox.run(Job(source="print(1)"))
    assert result.status is JobStatus.SANDBOX_ERROR
    assert result.detail
    sandbox.close()
    sandbox.close()


def test_containers_of_the_dead_are_swept(engine_url, api):
    dead = owner().rsplit("/", 2)[0] + "/999999999/1"
    stale = start(api, "verigym-sandbox", SHAPE, None, {LABEL: "x", OWNER_LABEL: dead})
    ours = start(api, "verigym-sandbox", SHAPE, None, {LABEL: "y", OWNER_LABEL: owner()})
    foreign = start(api, "verigym-sandbox", SHAPE, None, {LABEL: "z", OWNER_LABEL: "a/b/1/2"})
    try:
        assert sweep(api) == [stale.id]
        left = {one["Id"] for one in api.containers(all=True)}
        assert left >= {ours.id, foreign.id}
        assert stale.id not in left
    finally:
        for one in (stale, ours, foreign):
            one.disconnect()
        for one in (ours, foreign):
            api.remove_container(one.id, force=True)


@pytest.mark.parametrize(
    ("state", "age_s", "stale"),
    [
        ("running", 1e6, False),
        ("exited", 1e6, True),
        ("exited", 60.0, False),
        ("created", 1e6, True),
    ],
)
def test_containers_of_other_machines_have_a_lease(state, age_s, stale):
    container = {"State": state, "Created": int(time.time() - age_s)}
    for said in ("other/pid:[1]/5/77", "", "nonsense", "a/b/c/d/e"):
        assert engine_module._is_stale(said, container) is stale


def test_an_owner_that_is_killed_takes_its_jobs_along(engine_url, api, tmp_path):
    program = f"""
import threading
from verigym.sandbox.docker import DockerSandbox
from verigym.sandbox.job import Job, Limits
sandbox = DockerSandbox(base_url={engine_url!r}, max_jobs=1)
job = Job(command=("sleep", "3000"), limits=Limits(wall_s=4000.0))
threading.Thread(target=sandbox.run, args=(job,), daemon=True).start()
print(sandbox._labels["{LABEL}"], flush=True)
threading.Event().wait()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        label = process.stdout.readline().decode().strip()
        mine = {"label": f"{LABEL}={label}"}
        until(lambda: len(api.containers(filters=mine)) == 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
    # By themselves, since their input has ended ...
    until(lambda: not api.containers(filters=mine))
    left = {one["Id"] for one in api.containers(all=True, filters=mine)}
    # ... and the next sandbox on this machine removes what is left of them.
    with DockerSandbox(base_url=engine_url, max_jobs=1) as sandbox:
        assert left <= set(sandbox.swept)
    assert not api.containers(all=True, filters=mine)


@pytest.mark.slow
def test_closing_while_jobs_come_in(engine_url, api):
    sandbox = DockerSandbox(base_url=engine_url, max_jobs=3)
    stopped = threading.Event()

    def work():
        statuses = set()
        while not stopped.is_set():
            statuses.add(sandbox.run(Job(source="print(1)")).status)
        return statuses

    with ThreadPoolExecutor(4) as threads:
        workers = [threads.submit(work) for _ in range(4)]
        until(lambda: sandbox.describe()["containers"]["all"] > 3)
        sandbox.close()
        stopped.set()
        seen = set.union(*(worker.result() for worker in workers))
    assert seen <= {JobStatus.OK, JobStatus.SANDBOX_ERROR}
    assert not running(api, sandbox)
