"""Landlock is put on in real processes, which then try what it withholds."""

import errno
import json
import os
import socket
import subprocess
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.sandbox.local import landlock

ABI = landlock.abi()

needs = {
    version: pytest.mark.skipif(version > ABI, reason=f"Landlock {version} wanted, {ABI} is here")
    for version in range(1, 7)
}

PRELUDE = f"""
import importlib.util, json, os, signal, socket, sys
spec = importlib.util.spec_from_file_location("landlock", {landlock.__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
place, rest = sys.argv[1], sys.argv[2:]
def code(attempt):
    try:
        attempt()
    except OSError as error:
        return error.errno
    return 0
def put(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
"""


def confined(program, place, *arguments):
    """Run `program`, which restricts itself, and return the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PRELUDE + program, str(place), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def place(tmp_path):
    """A folder with one that may be read, one that may be written, and one that may be neither."""
    for name in ("read", "write", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
        (tmp_path / name / "script").write_text("#!/bin/true\n")
        (tmp_path / name / "script").chmod(0o755)
    return tmp_path


@needs[1]
def test_files_are_read_and_written_only_where_allowed(place):
    program = """
version = module.restrict([f"{place}/read", "/usr", "/lib", "/lib64", "/bin"], [f"{place}/write", "/dev/null"])
seen = {}
for name in ("read", "write", "closed"):
    folder = f"{place}/{name}"
    seen[name] = {
        "open": code(lambda: open(f"{folder}/file").close()),
        "list": code(lambda: os.listdir(folder)),
        "execute": code(lambda: os.posix_spawn(f"{folder}/script", ["x"], {})),
        "write": code(lambda: put(f"{folder}/file")),
        "make": code(lambda: put(f"{folder}/new")),
        "folder": code(lambda: os.mkdir(f"{folder}/folder")),
        "link": code(lambda: os.symlink("file", f"{folder}/link")),
        "pipe": code(lambda: os.mkfifo(f"{folder}/pipe")),
        "unlink": code(lambda: os.unlink(f"{folder}/file")),
        "rmdir": code(lambda: os.rmdir(f"{folder}/folder")),
    }
seen["null"] = code(lambda: put("/dev/null"))
seen["device"] = code(lambda: os.mknod(f"{place}/write/device", 0o20600, os.makedev(1, 3)))
print(json.dumps(seen))
"""
    seen = confined(program, place)
    assert seen.pop("null") == 0
    assert seen.pop("device") in (errno.EACCES, errno.EPERM)
    reading = ("open", "list", "execute")
    changing = seen["read"].keys() - set(reading)
    assert seen["write"] == dict.fromkeys(seen["write"], 0)
    assert {name: seen["read"][name] for name in reading} == dict.fromkeys(reading, 0)
    allowed_errors = {errno.EACCES, errno.ENOENT, errno.EXDEV}
    assert all(seen["read"][name] in allowed_errors for name in changing), seen["read"]
    assert all(code in allowed_errors for code in seen["closed"].values()), seen["closed"]
    for name in ("read", "closed"):
        assert sorted(os.listdir(place / name)) == ["file", "script"]
        assert (place / name / "file").read_text() == "x"


@needs[1]
def test_a_single_file_may_be_given(place):
    program = """
module.restrict([f"{place}/read/file"], [f"{place}/write/file"])
print(json.dumps([
    code(lambda: open(f"{place}/read/file").close()),
    code(lambda: open(f"{place}/read/script").close()),
    code(lambda: put(f"{place}/write/file")),
    code(lambda: put(f"{place}/write/script")),
]))
"""
    assert confined(program, place) == [0, errno.EACCES, 0, errno.EACCES]


@needs[2]
def test_files_move_only_between_folders_that_may_be_written(place):
    program = """
os.mkdir(f"{place}/write/inner")
module.restrict([f"{place}/read"], [f"{place}/write"])
print(json.dumps([
    code(lambda: os.rename(f"{place}/write/file", f"{place}/write/inner/file")),
    code(lambda: os.rename(f"{place}/write/script", f"{place}/closed/new")),
    code(lambda: os.link(f"{place}/closed/file", f"{place}/write/new")),
    code(lambda: os.link(f"{place}/read/file", f"{place}/write/new")),
]))
"""
    inside, *others = confined(program, place)
    assert inside == 0
    assert set(others) <= {errno.EACCES, errno.EXDEV}


@needs[3]
def test_truncating_is_writing(place):
    program = """
module.restrict([f"{place}/read"], [f"{place}/write"])
print(json.dumps([
    code(lambda: os.truncate(f"{place}/{name}/file", 0)) for name in ("read", "write", "closed")
]))
"""
    assert confined(program, place) == [errno.EACCES, 0, errno.EACCES]


@needs[4]
@pytest.mark.parametrize("tcp", [False, True])
def test_tcp_is_closed_unless_asked_for(place, tcp):
    program = """
one, two = socket.socket(), socket.socket()
module.restrict([], [], tcp=rest[1] == "True")
print(json.dumps([
    code(lambda: one.bind(("127.0.0.1", 0))),
    code(lambda: two.connect(("127.0.0.1", int(rest[0])))),
]))
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen = confined(program, place, server.getsockname()[1], tcp)
    assert seen == ([0, 0] if tcp else [errno.EACCES, errno.EACCES])


@needs[6]
def test_sockets_and_processes_outside_are_out_of_reach(place):
    program = """
outside = socket.socket(socket.AF_UNIX)
module.restrict([], [])
mine = socket.socket(socket.AF_UNIX)  # one made before would count as outside
mine.bind("\\0" + rest[0] + "-mine")
mine.listen()
child = os.fork()
if child == 0:
    signal.pause()
print(json.dumps([
    code(lambda: outside.connect("\\0" + rest[0])),
    code(lambda: os.kill(os.getppid(), 0)),
    code(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + rest[0] + "-mine")),
    code(lambda: os.kill(child, 9)),
]))
os.waitpid(child, 0)
"""
    name = f"verigym-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        assert confined(program, place, name) == [errno.EPERM, errno.EPERM, 0, 0]


@needs[1]
def test_children_keep_it(place):
    program = """
read, write = os.pipe()
actions = [(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_DUP2, write, 2)]
module.restrict(["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"], [])
argv = ["cat", f"{place}/closed/file"]
pid = os.posix_spawn("/bin/cat", argv, {"LC_ALL": "C"}, file_actions=actions)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os.close(write)
print(json.dumps([code, os.read(read, 1000).decode()]))
"""
    code, output = confined(program, place)
    assert code == 1
    assert "Permission denied" in output


@needs[1]
def test_a_missing_path_is_said(place):
    program = """
print(json.dumps(code(lambda: module.restrict([f"{place}/nowhere"], []))))
"""
    assert confined(program, place) == errno.ENOENT


@given(st.integers(0, 20))
def test_rights_grow_with_the_version(version):
    now, later = landlock.rights(version), landlock.rights(version + 1)
    assert now & later == now
    # Bits that a kernel does not know make it refuse the whole set.
    assert now.bit_length() == {0: 0, 1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)


@pytest.mark.skipif(ABI > 0, reason="this kernel has Landlock")
def test_where_there_is_none_it_says_so(place):
    program = "print(json.dumps(code(lambda: module.restrict([], []))))"
    assert confined(program, place) in (errno.ENOSYS, errno.EOPNOTSUPP)
