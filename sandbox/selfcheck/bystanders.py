"""The jobs that stand around an attack: the earlier one, the honest one after it, the neighbour.

Each is a Python program. `EARLIER` leaves a secret wherever a program can; `HONEST` says what an
innocent job finds, so that any lasting change shows; `NEIGHBOUR` runs all the while, holds the same
secret and notices when it is reached, or when it can no longer work.
"""

from __future__ import annotations

# The visible attack on earlier jobs' memory looks for exactly this.
SECRET = "CANARY_JOB_SECRET=42"

EARLIER = """
CANARY_JOB_SECRET=42
import os, sys, threading
text = "CANARY_JOB_SECRET=42 " * 4096
kept = [text.encode(), bytearray(text.encode()), sys.stdin.buffer.read(), dict(os.environ)]
for name in ("/tmp/earlier", "/dev/shm/earlier", "/var/tmp/earlier", "/run/earlier", "earlier"):
    try:
        with open(name, "w") as file:
            file.write(text)
    except OSError:
        pass
read, write = os.pipe()
os.write(write, text.encode()[:4096])
thread = threading.Thread(target=lambda secret: sum(map(ord, secret)), args=(text,))
thread.start()
thread.join()
print(text[:200])
"""

# Every line that it prints must be the same before and after any attack.
HONEST = r"""
import json, os, random, resource, signal, socket, sys
def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return type(error).__name__
def entries(path):
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        return type(error).__name__
def status():
    wanted = ("Uid", "Gid", "Groups", "SigBlk", "SigIgn", "SigPnd", "ShdPnd", "CapEff", "CapPrm",
        "CapInh", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Cpus_allowed")
    return [line.split() for line in text("/proc/self/status").splitlines()
        if line.partition(":")[0] in wanted]
child = os.fork()
if child == 0:
    os._exit(7)
with open("written.txt", "w") as file:
    file.write("x" * 100000)
found = {
    "sum": sum(range(1000)), "child": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),
    "read": len(text("written.txt")), "modules": [json.__file__, random.__file__],
    "path": sys.path, "environment": sorted(os.environ.items()), "status": status(),
    "limits": [resource.getrlimit(n) for n in range(16) if n != resource.RLIMIT_NPROC], "nice": os.nice(0),
    "policy": os.sched_getscheduler(0), "umask": os.umask(0o22), "folder": os.getcwd(),
    "files": entries("."), "tmp": entries("/tmp"), "shm": entries("/dev/shm"),
    "mqueue": entries("/dev/mqueue"), "root": entries("/"), "descriptors": len(entries("/proc/self/fd")),
    "mounts": len(text("/proc/self/mountinfo").splitlines()),
    "processes": len([n for n in entries("/proc") if n.isdigit()]) if entries("/proc") else 0,
    "ipc": [len(text("/proc/sysvipc/" + n).splitlines()) for n in ("shm", "sem", "msg")],
    "unix": len(text("/proc/net/unix").splitlines()), "tcp": len(text("/proc/net/tcp").splitlines()),
    "host": socket.gethostname(), "oom": text("/proc/self/oom_score_adj"),
    "timers": [signal.getitimer(n) for n in (0, 1, 2)], "alarm": signal.alarm(0),
    "recursion": sys.getrecursionlimit(), "streams": [os.fstat(n).st_mode >> 12 for n in (0, 1, 2)],
    "blocking": [os.get_blocking(n) for n in (0, 1, 2)], "users": text("/etc/passwd"),
}
# A backend may give each job a folder of another name.
for name, value in found.items():
    print(name, json.dumps(value).replace(json.dumps(os.getcwd())[1:-1], "(folder)"))
"""

NEIGHBOUR = """
import os, select, socket, sys, time
secret = "CANARY_JOB_SECRET=42 " * 100
for name in ("/tmp/neighbour", "/dev/shm/neighbour", "/var/tmp/neighbour"):
    try:
        with open(name, "w") as file:
            file.write(secret)
    except OSError:
        pass
listeners = []
for family, address in ((socket.AF_UNIX, "\\0sbx_neighbour"), (socket.AF_INET, ("127.0.0.1", 48125))):
    try:
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        listeners.append(listener)
    except OSError:
        pass
end = time.monotonic() + float(sys.argv[1])
failures = 0
while time.monotonic() < end:
    reached, _, _ = select.select(listeners, [], [], 0.5)
    if reached:
        print("REACHED", reached[0].getsockname(), flush=True)
        sys.exit(1)
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        os.close(os.dup(1))
        with open("work", "w") as file:
            file.write("x" * 10000)
        for end_of_pipe in os.pipe():
            os.close(end_of_pipe)
        failures = 0
    except (OSError, MemoryError) as error:
        failures += 1
        if failures > 2:
            print("STARVED", error, flush=True)
            sys.exit(1)
"""
