"""`LocalSandbox` where namespaces are forbidden: it refuses, or goes on behind Landlock and seccomp."""

import os
import socket

import pytest

from verigym import RequestError, SandboxError
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox, client, landlock


@pytest.fixture
def forbidden(monkeypatch):
    """A machine where making namespaces fails, as in a container with the usual profile."""
    real = client.settings

    def settings(*args, **options):
        made = real(*args, **options)
        if made["namespaces"]:
            raise SandboxError("OSError: [Errno 1] unshare 0x20000: Operation not permitted")
        return made

    monkeypatch.setattr(client, "settings", settings)


@pytest.fixture
def sandbox(forbidden):
    """A sandbox of the weaker tier."""
    if not landlock.abi():
        pytest.skip("no Landlock here")
    with LocalSandbox(accept="namespaces") as made:
        yield made


def run(sandbox, source, **limits):
    return sandbox.run(Job(source=source, limits=Limits(**{"wall_s": 30.0, **limits})))


def test_it_refuses_and_says_what_accepts_it(forbidden):
    with pytest.raises(SandboxError) as caught:
        LocalSandbox()
    text = str(caught.value)
    assert "Operation not permitted" in text
    for way in ('accept="namespaces"', "--accept namespaces", "VERIGYM_SANDBOX_ACCEPT=namespaces"):
        assert way in text


def test_without_landlock_it_refuses_altogether(forbidden, monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(SandboxError, match="nor Landlock"):
        LocalSandbox(accept="namespaces")


def test_an_unknown_layer_cannot_be_accepted():
    with pytest.raises(RequestError, match="may hold namespaces"):
        LocalSandbox(accept="seccomp")


def test_the_environment_may_accept_it(forbidden, monkeypatch):
    monkeypatch.setenv("VERIGYM_SANDBOX_ACCEPT", "namespaces")
    with LocalSandbox() as sandbox:
        assert sandbox.describe()["tier"] == "weaker"


def test_accepting_does_not_weaken_a_machine_that_can():
    try:
        with LocalSandbox(accept=("namespaces",)) as sandbox:
            assert sandbox.describe()["tier"] == "strong"
    except SandboxError as error:
        pytest.skip(f"no namespaces here: {error}")


def test_programs_run_and_bring_files_back(sandbox):
    job = Job(
        source="import helper; print(input() * helper.x); open('out.txt', 'w').write('done')",
        stdin=b"ab",
        files={"helper.py": b"x = 2"},
        fetch=("*.txt",),
    )
    result = sandbox.run(job)
    assert (result.status, result.stdout) == (JobStatus.OK, b"abab\n"), result
    assert result.files == {"out.txt": b"done"}
    # The next one finds nothing of it.
    assert run(sandbox, "import os; print(os.listdir('.'))").stdout == b"['main.py']\n"


def test_the_host_s_files_are_out_of_reach(sandbox, tmp_path):
    (tmp_path / "secret").write_text("hush")
    tmp_path.chmod(0o777)
    source = (
        "import os\n"
        f"for path in ('/etc/passwd', {str(tmp_path)!r} + '/secret', '/proc/1/environ', '/root'):\n"
        "    try: open(path).read(); print('read', path)\n"
        "    except OSError as e: print(type(e).__name__)\n"
        f"try: open({str(tmp_path)!r} + '/new', 'w'); print('written')\n"
        "except OSError: print('kept')\n"
    )
    lines = run(sandbox, source).stdout.decode().splitlines()
    assert lines[-1] == "kept"
    assert not any(line.startswith("read") for line in lines)


def test_neither_sockets_nor_signals_reach_the_host(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = (
            "import os, socket\n"
            f"try: socket.create_connection(('127.0.0.1', {server.getsockname()[1]})); print('reached')\n"
            "except OSError: print('refused')\n"
            f"for pid in (os.getppid(), {os.getpid()}):\n"
            "    try: os.kill(pid, 0); print('reached')\n"
            "    except OSError: print('refused')\n"
        )
        assert run(sandbox, source).stdout == b"refused\n" * 3


def test_daemons_die_with_the_job(sandbox):
    source = (
        "import os, time\n"
        "print(os.getpid(), flush=True)\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        print(os.getpid(), flush=True); time.sleep(1000)\n"
        "time.sleep(0.2)"
    )
    result = run(sandbox, source)
    assert result.status is JobStatus.OK
    pids = result.stdout.split()
    assert len(pids) > 1
    assert not any(os.path.exists(f"/proc/{int(pid)}") for pid in pids)


@pytest.mark.parametrize(
    "source",
    [
        "import time\nfor i in range(99): open(str(i), 'wb').write(bytes(1 << 20)); time.sleep(0.01)",
        "import time\nfor i in range(9999): open(str(i), 'wb').close()\ntime.sleep(9)",
        "import os, time\nfor i in range(300): os.mkdir('d'); os.chdir('d')\ntime.sleep(9)",
    ],
)
def test_the_disk_is_watched(sandbox, source):
    assert run(sandbox, source, disk_mib=8).status is JobStatus.DISK_LIMIT
    assert run(sandbox, "print(1)").stdout == b"1\n"


def test_memory_and_time_are_bounded(sandbox):
    assert run(sandbox, "bytearray(1 << 30)", memory_mib=128).status is JobStatus.MEMORY_LIMIT
    assert run(sandbox, "while True: pass", wall_s=0.5).status is JobStatus.TIME_LIMIT
