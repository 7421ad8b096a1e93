"""Confinement by the local sandbox: a program sees nothing of the host, and leaves nothing behind."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import msgspec
import pytest

from tests.sandbox.local.marked_jobs import marked, run
from verigym.sandbox.job import JobStatus, Limits

ROOT = Path(__file__).parents[3]

DAEMON = """
import os, signal, sys, time
for s in set(range(1, 32)) - set([signal.SIGCHLD]):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {close}
        while True: time.sleep(1000)
    os._exit(0)
os.wait()
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("close", ["pass", "os.closerange(0, 256)"])
def test_a_daemon_neither_delays_the_result_nor_survives(sandbox, marker, close):
    result = run(sandbox, DAEMON.format(close=close), mark=marker)
    assert (result.status, result.stdout) == (JobStatus.OK, b"done\n")
    assert marked(marker) == []


def test_children_forked_at_the_last_moment_die(sandbox, marker):
    source = (
        "import os, time\n"
        "for i in range(10):\n"
        "    if os.fork() == 0: os.setsid(); time.sleep(1000)\n"
        "os._exit(0)"
    )
    assert run(sandbox, source, mark=marker).status is JobStatus.OK
    assert marked(marker) == []


def test_a_program_is_killed_before_its_slot_where_memory_runs_out(sandbox):
    # Another disk size than the default: the slot answers for it, and has gone on after its fork by then.
    with sandbox.session("python", limits=Limits(disk_mib=33, wall_s=60.0)) as session:
        cell = session.run("print(open('/proc/self/oom_score_adj').read())")
        slots = [slot for server in sandbox._pool.servers().values() for slot in server.slots]
        (pid,) = [slot.pid for slot in slots if slot.busy]
        score = int(Path(f"/proc/{pid}/oom_score_adj").read_text())
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert (int(cell.stdout), score) == (1000, own)


def test_a_fork_bomb_dies(sandbox, marker):
    source = "import os\nwhile True:\n    try: os.fork()\n    except OSError: __import__('time').sleep(.01)"
    result = run(sandbox, source, mark=marker, wall_s=1.0, processes=12)
    assert result.status is JobStatus.TIME_LIMIT
    assert marked(marker) == []
    assert run(sandbox, "print(1)").stdout == b"1\n"


def test_deep_and_unreadable_folders_are_removed(sandbox, temp):
    source = (
        "import os\n"
        "for i in range(1500): os.mkdir('d' * 20); os.chdir('d' * 20)\n"
        "open('f', 'w').close(); os.chmod('.', 0)"
    )
    assert run(sandbox, source).status is JobStatus.OK
    assert list(temp.iterdir()) == []


def test_no_descriptors_leak(sandbox):
    run(sandbox, "")
    before = os.listdir("/proc/self/fd")
    for source in ("", "while True: pass", "raise SystemExit(3)"):
        run(sandbox, source, wall_s=0.5)
    assert os.listdir("/proc/self/fd") == before


def test_neither_environment_nor_folder_nor_descriptors_of_the_caller(
    sandbox, monkeypatch, tmp_path
):
    monkeypatch.setenv("VERIGYM_SECRET", "hush-hush")
    monkeypatch.chdir(tmp_path)
    with open(tmp_path / "secret", "w+") as file:
        os.set_inheritable(file.fileno(), True)
        source = (
            "import os\n"
            "print(sorted(os.environ))\n"
            "print(os.getcwd())\n"
            "here = os.listdir('/proc/self/fd')\n"
            "print([fd for fd in here if os.path.exists('/proc/self/fd/' + fd)])\n"
            "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
            "    try: print(b'hush-hush' in open(f'/proc/{pid}/environ', 'rb').read())\n"
            "    except OSError: pass\n"
        )
        result = run(sandbox, source)
    names, folder, fds, *seen = result.stdout.decode().splitlines()
    assert "VERIGYM_SECRET" not in names
    assert folder != str(tmp_path)
    assert eval(fds) == ["0", "1", "2"]
    assert "True" not in seen


def test_an_ordinary_user_without_a_way_back(sandbox):
    source = (
        "import os\n"
        "print(os.getuid(), os.geteuid())\n"
        "status = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines())\n"
        "print(status['NoNewPrivs'], int(status['CapEff'], 16), int(status['CapPrm'], 16))\n"
    )
    first, second = run(sandbox, source).stdout.decode().splitlines()
    assert first == "65534 65534"
    assert second == "1 0 0"


def test_no_new_user_namespace(sandbox):
    source = "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))"
    assert run(sandbox, source).stdout == b"-1\n"


def test_only_system_folders_and_a_private_one(sandbox, tmp_path):
    (tmp_path / "other").write_text("x")
    source = (
        "import os\n"
        f"print(os.path.exists({str(tmp_path)!r}), os.path.exists({str(ROOT)!r}))\n"
        "print(os.listdir('/tmp'), os.listdir('/dev/shm'))\n"
        "for folder in ('/', '/usr', '/etc', '/dev'):\n"
        "    try: open(folder + '/x', 'w'); print('written')\n"
        "    except OSError: pass\n"
        "print(os.path.exists('/etc/shadow'), os.path.exists('/sys/kernel'))\n"
    )
    lines = run(sandbox, source).stdout.decode().splitlines()
    assert lines == ["False False", "['main.py'] ['main.py']", "False False"]


def test_jobs_do_not_see_each_other(sandbox):
    run(sandbox, "open('/tmp/ghost', 'w').write('boo')")
    assert run(sandbox, "import os; print(os.listdir('/tmp'))").stdout == b"['main.py']\n"


def test_only_processes_of_the_job(sandbox):
    source = (
        "import os\n"
        "if os.fork() == 0: __import__('time').sleep(60)\n"
        "print(len([p for p in os.listdir('/proc') if p.isdigit()]), os.path.exists('/proc/1'))"
    )
    assert run(sandbox, source).stdout == b"2 False\n"


def test_no_network(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = (
            "import socket\n"
            f"try: socket.create_connection(('127.0.0.1', {port}), 2); print('reached')\n"
            "except OSError: print('refused')\n"
            "names = [l.split(':')[0].strip() for l in open('/proc/self/net/dev').readlines()[2:]]\n"
            "print(names, open('/proc/self/net/route').readlines()[1:])\n"
        )
        result = run(sandbox, source)
        assert result.stdout == b"refused\n['lo'] []\n"
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_no_abstract_unix_socket_of_the_host(sandbox):
    name = f"\0verigym-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        source = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        assert b"Connection refused" in run(sandbox, source).stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user")
def test_an_ordinary_user_has_namespaces_too():
    python = "/usr/bin/python3"
    if os.path.basename(os.path.realpath(python)) != f"python3.{sys.version_info.minor}":
        pytest.skip("the system's Python is of another version than this one")
    # The checkout may lie where an ordinary user cannot read, and lacks no more than this.
    folder = Path(tempfile.mkdtemp(prefix="verigym-test-"))
    try:
        shutil.copytree(ROOT / "sandbox", folder / "verigym" / "sandbox")
        shutil.copy(ROOT / "verigym" / "errors.py", folder / "verigym")
        (folder / "verigym" / "__init__.py").touch()
        shutil.copytree(Path(msgspec.__file__).parent, folder / "msgspec")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
        script = (
            "import os\n"
            "from verigym.sandbox.job import Job\n"
            "from verigym.sandbox.local import LocalSandbox\n"
            "with LocalSandbox() as s:\n"
            "    r = s.run(Job(source='import os; print(os.getuid(), os.listdir(\"/tmp\"))'))\n"
            "    print(s.describe()['tier'], r.stdout)\n"
            "try: os.waitpid(-1, 0)\n"
            "except ChildProcessError: print('no children')\n"
        )
        done = subprocess.run(
            [python, "-P", "-B", "-c", script],
            user=12345,
            group=12345,
            extra_groups=[],
            cwd="/",
            env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    if "user namespaces" in done.stderr:
        pytest.skip("ordinary users may not make namespaces here")
    assert done.stdout == "strong b\"65534 ['main.py']\\n\"\nno children\n", done.stderr
