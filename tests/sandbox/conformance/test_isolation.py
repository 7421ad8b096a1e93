"""Isolation of a job: it reaches no network, process or file of this machine. Only loopback is
tried."""

import os
import socket
import uuid

import pytest

from verigym.sandbox.job import JobStatus


@pytest.fixture
def listeners():
    """A TCP listener on loopback, one on a path and an abstract one: where they are."""
    tcp = socket.create_server(("127.0.0.1", 0))
    name = f"verigym-conformance-{uuid.uuid4().hex}"
    path, abstract = f"/tmp/{name}", f"\0{name}"
    unix = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    for bound, address in zip(unix, (path, abstract), strict=True):
        bound.bind(address)
        bound.listen()
    os.chmod(path, 0o777)
    yield tcp.getsockname()[1], path, name
    for one in (tcp, *unix):
        one.close()
    os.unlink(path)


def test_no_listener_of_this_machine_is_reached(run, listeners):
    port, path, abstract = listeners
    source = f"""
import socket
for family, address in (
    (socket.AF_INET, ("127.0.0.1", {port})),
    (socket.AF_UNIX, {path!r}),
    (socket.AF_UNIX, "\\0" + {abstract!r}),
):
    try:
        with socket.socket(family) as one:
            one.settimeout(2)
            one.connect(address)
        print("reached", address)
    except OSError as error:
        print("not", error.errno)
"""
    result = run(source)
    assert result.status is JobStatus.OK, result.stderr
    assert b"reached" not in result.stdout


def test_no_interface_but_loopback_and_no_route(run):
    source = """
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
routes = open("/proc/net/route").readlines()[1:]
print(set(names) <= {"lo"}, len(routes))
"""
    result = run(source)
    # Where /proc/net is hidden altogether, that will do too.
    assert result.stdout == b"True 0\n" or b"/proc/net" in result.stderr


def test_no_process_of_this_machine_is_seen(run, marked):
    import subprocess

    with subprocess.Popen(["sleep", marked.seconds]) as sleeper:
        source = f"""
import glob
print(any({marked.seconds!r}.encode() in open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline")))
try:
    import os
    os.kill({sleeper.pid}, 9)
except OSError:
    pass
"""
        assert run(source).stdout == b"False\n"
        assert sleeper.poll() is None
        sleeper.kill()


def test_no_file_of_this_machine_is_seen(run, tmp_path):
    (tmp_path / "secret").write_text("of the host")
    places = [str(tmp_path / "secret"), "/root/.ssh", "/etc/shadow", os.path.abspath(__file__)]
    source = f"import os\nfor path in {places!r}: print(os.access(path, os.R_OK))"
    assert run(source).stdout == b"False\n" * len(places)


def test_the_root_is_read_only(run):
    source = """
for path in ("/usr/x", "/etc/x", "/x", "/bin/x"):
    try:
        open(path, "w").close()
        print("wrote", path)
    except OSError:
        pass
"""
    assert run(source).stdout == b""


def test_an_ordinary_user_without_capabilities(run):
    source = """
import os
told = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(os.getuid() != 0, [int(told[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")])
print(told["NoNewPrivs"].strip())
"""
    assert run(source).stdout == b"True [0, 0, 0, 0]\n1\n"


def test_no_descriptor_but_the_three_streams(run):
    source = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
    assert run(source).stdout == b"[0, 1, 2]\n"
