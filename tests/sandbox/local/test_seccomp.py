"""The system call filter on this kernel: calls, arguments, children, runtimes."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.local.refused_calls import MACHINES, refused
from verigym.sandbox.languages.load import load_languages
from verigym.sandbox.local import seccomp

HERE = os.uname().machine
RUNTIMES = Path(__file__).with_name("runtimes")

needs_filter = pytest.mark.skipif(HERE not in MACHINES, reason=f"no filter for {HERE}")
needs_x86 = pytest.mark.skipif(HERE != "x86_64", reason="call tables of x86_64")

PRELUDE = f"""
import ctypes, importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("seccomp", {seccomp.__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
options = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *arguments)
    return ctypes.get_errno() if result < 0 else 0
"""


def confined(program, *arguments, **options):
    """A finished process that ran `program` after it installed the filter."""
    install = "module.install(module.job_filter(**options))\n"
    before, _, after = program.rpartition("#filter\n")
    script = PRELUDE + before + install + after
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, json.dumps(options), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


@needs_filter
def test_calls_that_are_not_listed_do_not_exist():
    names = refused(HERE)
    program = """
numbers = json.loads(sys.argv[2])
print(json.dumps({name: call(number, -1, 0, 0, 0, 0, 0) for name, number in numbers.items()}))
"""
    done = confined(program, json.dumps(names))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == dict.fromkeys(names, errno.ENOSYS)


RULES = """
import errno, fcntl, mmap, signal, socket, struct
NR = module.allowed()
null = os.open("/dev/null", os.O_RDWR)
read, write = os.pipe()
parent = os.getppid()
cases = {
    "clone_user": lambda: call(NR["clone"], 0x10000000 | 17, 0, 0, 0, 0),
    "clone_mount": lambda: call(NR["clone"], 0x00020000 | 17, 0, 0, 0, 0),
    "clone_pid": lambda: call(NR["clone"], 0x20000000 | 17, 0, 0, 0, 0),
    "clone_parent": lambda: call(NR["clone"], 0x00008000 | 17, 0, 0, 0, 0),
    "clone_high_half": lambda: call(NR["clone"], 1 << 40 | 0x10000000 | 17, 0, 0, 0, 0),
    "mmap_huge": lambda: call(NR["mmap"], 0, 1 << 21, 3, 0x40022, -1, 0),
    "mmap": lambda: mmap.mmap(-1, 4096).close() or mmap.mmap(-1, 4096, mmap.MAP_PRIVATE).close(),
    "madvise_mergeable": lambda: call(NR["madvise"], 0, 0, 12),
    "madvise_dontneed": lambda: call(NR["madvise"], 0, 0, 4),
    "prlimit_parent": lambda: call(NR["prlimit64"], parent, 7, 0, 0),
    "prlimit_own": lambda: call(NR["prlimit64"], 0, 7, 0, 0),
    "affinity_parent": lambda: call(NR["sched_setaffinity"], parent, 8, b"\\x01" + bytes(7)),
    "affinity_own": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "priority_parent": lambda: call(NR["setpriority"], 0, parent, 0),
    "priority_user": lambda: call(NR["setpriority"], 2, 0, 0),
    "priority_own": lambda: call(NR["setpriority"], 0, 0, 5),
    "personality_query": lambda: call(NR["personality"], 0xFFFFFFFF),
    "personality_norandomize": lambda: call(NR["personality"], 0x0040000),
    "prctl_seccomp": lambda: call(NR["prctl"], 22, 2, 0, 0, 0),
    "prctl_ptracer": lambda: call(NR["prctl"], 0x59616D61, -1, 0, 0, 0),
    "prctl_mm": lambda: call(NR["prctl"], 35, 1, 0, 0, 0),
    "prctl_subreaper": lambda: call(NR["prctl"], 36, 1, 0, 0, 0),
    "prctl_name": lambda: call(NR["prctl"], 15, b"name", 0, 0, 0),
    "fcntl_pipe_size": lambda: call(NR["fcntl"], write, 1031, 1 << 20),
    "fcntl_notify": lambda: call(NR["fcntl"], null, 1026, 1),
    "fcntl_lease": lambda: call(NR["fcntl"], null, 1024, 1),
    "fcntl_owner": lambda: call(NR["fcntl"], read, 8, parent),
    "fcntl_flags": lambda: call(NR["fcntl"], null, 3, 0),
    "ioctl_sti": lambda: call(NR["ioctl"], 0, 0x5412, b"x"),
    "ioctl_linux": lambda: call(NR["ioctl"], 0, 0x541C, b"x"),
    "ioctl_discipline": lambda: call(NR["ioctl"], 0, 0x5423, bytes(4)),
    "ioctl_readable": lambda: call(NR["ioctl"], read, 0x541B, ctypes.create_string_buffer(8)),
    "mknod_device": lambda: call(NR["mknodat"], -100, b"/proc/x", 0x2000 | 0o600, 0x103),
    "mknod_disk": lambda: call(NR["mknodat"], -100, b"/proc/x", 0x6000 | 0o600, 0x800),
    "xattr": lambda: call(NR["setxattr"], b"/dev/null", b"user.x", b"x", 1, 0),
    "pair_unix": lambda: call(NR["socketpair"], 1, 1, 0, ctypes.create_string_buffer(8)),
    "pair_inet": lambda: call(NR["socketpair"], 2, 1, 0, ctypes.create_string_buffer(8)),
}
for family in range(50):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for flags in (0, 0o2000000 | 0o4000):
            cases[f"socket_{family}_{kind}_{flags}"] = (
                lambda family=family, kind=kind, flags=flags: call(NR["socket"], family, kind | flags, 0)
            )
for protocol in (1, 33, 132, 136, 255, 262):
    cases[f"protocol_{protocol}"] = lambda protocol=protocol: call(NR["socket"], 2, 2, protocol)
with_socket = socket.socket()
sizes = [with_socket.getsockopt(1, option) for option in (7, 8)]
def grown():
    with_socket.setsockopt(1, 7, 1 << 16)
    with_socket.setsockopt(1, 8, 1 << 16)
    return [with_socket.getsockopt(1, option) for option in (7, 8)] != sizes
cases["buffers"] = grown
for level, option in ((1, 26), (1, 50), (1, 60), (6, 31), (0, 64), (17, 100), (282, 1), (41, 64)):
    cases[f"option_{level}_{option}"] = lambda level=level, option=option: call(
        NR["setsockopt"], with_socket.fileno(), level, option, bytes(64), 4
    )
for level, option in ((1, 2), (1, 9), (6, 1)):
    cases[f"common_{level}_{option}"] = lambda level=level, option=option: call(
        NR["setsockopt"], with_socket.fileno(), level, option, struct.pack("i", 1), 4
    )
#filter
print(json.dumps({name: case() or 0 for name, case in cases.items()}))
"""


@needs_filter
def test_arguments_that_are_refused_and_that_are_not():
    done = confined(RULES)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    sockets = {name: seen.pop(name) for name in list(seen) if name.startswith("socket_")}
    for name, code in sockets.items():
        family, kind, _ = map(int, name.split("_")[1:])
        if (family, kind) in {(1, 1), (1, 2), (1, 5), (2, 1), (2, 2)}:
            assert code == 0, name
        elif family == 10 and kind in (1, 2):
            assert code in (0, errno.EAFNOSUPPORT), name  # a kernel without IPv6
        else:
            assert code == errno.EAFNOSUPPORT, name
    assert {name: code for name, code in seen.items() if code == 0}.keys() == {
        "mmap",
        "buffers",
        "madvise_dontneed",
        "prlimit_own",
        "affinity_own",
        "priority_own",
        "personality_query",
        "prctl_name",
        "fcntl_flags",
        "ioctl_readable",
        "pair_unix",
        "common_1_2",
        "common_1_9",
        "common_6_1",
    }
    for prefix, code in {
        "clone": errno.EPERM,
        "prlimit": errno.EPERM,
        "affinity": errno.EPERM,
        "priority": errno.EPERM,
        "personality": errno.EPERM,
        "mknod": errno.EPERM,
        "mmap": errno.ENOMEM,
        "madvise": errno.EINVAL,
        "prctl": errno.EINVAL,
        "fcntl": errno.EINVAL,
        "ioctl": errno.ENOTTY,
        "xattr": errno.EOPNOTSUPP,
        "pair": errno.EAFNOSUPPORT,
        "protocol": errno.EAFNOSUPPORT,
        "option": errno.ENOPROTOOPT,
    }.items():
        assert {seen[name] for name in seen if name.startswith(prefix)} <= {0, code}, prefix


@needs_filter
@pytest.mark.parametrize("unix", [False, True])
@pytest.mark.parametrize("inet", [False, True])
def test_socket_families_can_be_left_out(unix, inet):
    program = """
import socket
#filter
def made(family):
    try:
        socket.socket(family).close()
    except OSError as error:
        return str(error.errno)
    return "made"
print(made(socket.AF_UNIX), made(socket.AF_INET), socket.socketpair()[0].family.name)
"""
    done = confined(program, unix=unix, inet=inet)
    no = str(errno.EAFNOSUPPORT)
    assert done.stdout.split() == ["made" if unix else no, "made" if inet else no, "AF_UNIX"]


@needs_filter
@pytest.mark.parametrize("shared", [False, True])
def test_shared_memory_without_a_file_can_be_left_out(shared, tmp_path):
    program = """
import mmap, tempfile
from multiprocessing import shared_memory
#filter
def made(*arguments):
    try:
        mmap.mmap(*arguments).close()
    except OSError as error:
        return str(error.errno)
    return "made"
with tempfile.TemporaryFile(dir=sys.argv[2]) as file:
    file.truncate(4096)
    print(made(-1, 4096), made(-1, 4096, mmap.MAP_PRIVATE), made(file.fileno(), 4096))
"""
    done = confined(program, str(tmp_path), shared=shared)
    first = "made" if shared else str(errno.ENOMEM)
    assert done.stdout.split() == [first, "made", "made"], done.stderr


@needs_filter
def test_children_keep_it_and_no_new_privs():
    program = """
import subprocess
subprocess.run(["grep", "-E", "^(Seccomp|NoNewPrivs):", "/proc/self/status"])
"""
    done = confined(program)
    assert done.stdout.split() == ["NoNewPrivs:", "1", "Seccomp:", "2"], done.stderr


@needs_x86
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("b8140000 00cd80c3", id="i386_getpid"),  # mov eax, 20; int 0x80; ret
        pytest.param("b8270000 400f05c3", id="x32_getpid"),  # mov eax, 0x40000027; syscall; ret
        pytest.param("b8ffffff ff0f05c3", id="minus_one"),
    ],
)
def test_foreign_calls_kill_the_process(code):
    program = """
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex(sys.argv[2]))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
#filter
ctypes.CFUNCTYPE(ctypes.c_int)(address)()
print("lived")
"""
    done = confined(program, code)
    assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")


def test_a_program_that_is_none_is_refused():
    program = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("seccomp", {seccomp.__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
try:
    module.install(b"\\x06" + bytes(6))
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert "seccomp: Invalid argument" in done.stdout, done.stderr


LANGUAGES = load_languages()
QUICK = ("bash", "c", "javascript", "lua", "perl", "python", "sqlite")
"""Languages whose tools take little; the others are among the slow tests."""
PATH = "/usr/local/bin:/usr/bin:/bin"


def filled(word):
    return word.replace("{memory_mib}", "512")


@needs_filter
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name in sorted(LANGUAGES)
    ],
)
def test_runtimes_work(name, tmp_path):
    """Compilers and programs with threads, processes, files and sockets, all under the filter."""
    language = LANGUAGES[name]
    missing = [program for program in language.programs if not shutil.which(program, path=PATH)]
    if name != "python" and missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    (source,) = RUNTIMES.glob(f"{name}.*")
    shutil.copy(source, tmp_path / language.source)
    for file, text in language.files.items():
        (tmp_path / file).write_text(text)
    environment = {"PATH": PATH, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "LANG": "C.UTF-8"}
    environment |= language.env
    # As strict as it gets, the network aside.
    install = "module.install(module.job_filter(shared=False))\n"
    execute = PRELUDE + install + "os.execvp(sys.argv[2], sys.argv[2:])"
    for command in (language.compile, language.run):
        if not command:
            continue
        argv = [filled(word) for word in command]
        if name == "python":
            argv[0] = sys.executable
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", execute, "{}", *argv],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=tmp_path,
            env={key: filled(value) for key, value in environment.items()},
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "done", done.stderr


def test_every_language_has_a_program():
    assert {path.stem for path in RUNTIMES.iterdir()} == set(LANGUAGES)
