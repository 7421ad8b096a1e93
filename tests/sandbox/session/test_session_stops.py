"""Ways to stop a cell, and ends of a session."""

import asyncio
import gc
import os
import threading
import time

import pytest

from tests.sandbox.session.plain_channel import plain, said
from verigym import RequestError, SandboxError
from verigym.sandbox.job import JobStatus, Limits


@pytest.mark.parametrize(
    ("language", "cell"),
    [
        ("python", "while True: y = 1"),
        ("python", "import time; time.sleep(1000)"),
        ("python", "import os; os.system('sleep 1000')"),
        ("python", "import subprocess; subprocess.run(['sleep', '1000'])"),
        ("python", "import asyncio; await asyncio.sleep(1000)"),
        ("python", "import threading; threading.Event().wait()"),
        ("bash", "sleep 1000; echo no"),
        ("bash", "while :; do :; done"),
        ("bash", "while :; do sleep 0.01; done"),
        ("bash", "f() { sleep 1000 & wait; }; f; echo no"),
        ("bash", "y=$(sleep 1000); echo no"),
        ("bash", "sleep 1000 | cat; echo no"),
        ("bash", "trap 'echo caught' INT; sleep 1000"),
    ],
)
def test_a_cell_out_of_time_is_interrupted_and_the_state_stays(start, language, cell):
    session = start(language)
    session.run("x=5")
    result = session.run(cell, wall_s=0.3)
    assert result.status is JobStatus.TIME_LIMIT
    assert (result.exit_code, session.alive) == (None, True)
    assert "interrupted after 0.3 s" in result.detail
    assert b"no" not in result.stdout
    assert said(session.run("print(x)" if language == "python" else "echo $x")) == b"5\n"


@pytest.mark.parametrize(
    ("language", "cell"),
    [
        (
            "python",
            "import time\nwhile True:\n    try: time.sleep(1000)\n    except KeyboardInterrupt: pass",
        ),
        ("python", "import signal, time; signal.signal(2, signal.SIG_IGN)\ntime.sleep(1000)"),
        ("bash", "trap '' INT; sleep 1000"),
    ],
)
def test_a_cell_that_will_not_stop_ends_the_session(start, language, cell, monkeypatch):
    monkeypatch.setattr("verigym.sandbox.session._GRACE_S", 0.5)
    session = start(language)
    result = session.run(cell, wall_s=0.3)
    assert result.status is JobStatus.TIME_LIMIT
    assert not session.alive
    assert "state is lost" in result.detail
    with pytest.raises(RequestError, match=r"state is lost: .*did not stop within 0\.5 s"):
        session.run("x")


@pytest.mark.parametrize(
    ("language", "cell"), [("python", "while True: print('y' * 99)"), ("bash", "yes")]
)
def test_output_is_bounded_and_the_flood_stopped(start, language, cell):
    session = start(language, Limits(wall_s=60.0, output_bytes=5000))
    result = session.run(cell)
    assert result.status is JobStatus.OUTPUT_LIMIT
    assert len(result.stdout) == 5000
    assert result.stdout_truncated
    assert session.run("1" if language == "python" else ":").status is JobStatus.OK


def test_too_much_output_of_a_cell_that_ended_says_so_too():
    with plain("python", Limits(wall_s=60.0, output_bytes=10)) as session:
        result = session.run("print('y' * 11, end='')")
        assert (result.status, result.stdout) == (JobStatus.OUTPUT_LIMIT, b"y" * 10)
        assert said(session.run("print('y' * 10, end='')")) == b"y" * 10


def test_the_lifetime_kills_a_cell_and_an_idle_session(start):
    session = start("python", Limits(wall_s=1.5))
    result = session.run("while True: pass")
    assert result.status is JobStatus.TIME_LIMIT
    assert "lifetime of 1.5 s" in result.detail
    with pytest.raises(RequestError, match="lifetime"):
        session.run("1")
    with pytest.raises(RequestError, match="lifetime"):
        session.get("x")


def test_an_idle_session_ends_with_its_lifetime():
    released = threading.Event()
    session = plain("bash", Limits(wall_s=1.0), released.set)
    assert released.wait(60)
    assert not session.alive


def test_interrupting_from_another_thread(start):
    session = start("python")
    session.interrupt()  # nothing runs
    results = []
    thread = threading.Thread(target=lambda: results.append(session.run("while True: y = 1")))
    thread.start()
    while not results:
        session.interrupt()
        thread.join(0.05)
    assert results[0].status is JobStatus.SANDBOX_ERROR
    assert said(session.run("2")) == b"2\n"


def test_closing_ends_the_cell_that_runs(start):
    session = start("bash")
    results = []
    thread = threading.Thread(target=lambda: results.append(session.run("sleep 1000")))
    thread.start()
    while not session._running:
        thread.join(0.01)
    session.close()
    thread.join()
    session.close()
    assert results[0].status is JobStatus.SANDBOX_ERROR
    with pytest.raises(RequestError, match="closed"):
        session.run("echo")


def test_from_an_event_loop(start):
    async def main():
        session = start("python")
        results = await asyncio.gather(*(session.run_async(f"{n}") for n in range(5)))
        assert [said(result) for result in results] == [b"%d\n" % n for n in range(5)]
        task = asyncio.ensure_future(session.run_async("while True: y = 1"))
        while not session._running:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said(await session.run_async("2")) == b"2\n"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("language", "cell", "status", "code"),
    [
        ("python", "import os; os._exit(3)", JobStatus.NONZERO_EXIT, 3),
        (
            "python",
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            JobStatus.SIGNAL,
            None,
        ),
        ("bash", "exit 4", JobStatus.NONZERO_EXIT, 4),
        ("bash", "set -e; false; echo on", JobStatus.NONZERO_EXIT, 1),
    ],
)
def test_a_process_that_ends_takes_the_session_with_it(start, language, cell, status, code):
    session = start(language)
    command = "print('first')\n" if language == "python" else "echo first\n"
    result = session.run(command + cell)
    assert (result.status, result.exit_code, result.stdout) == (status, code, b"first\n")
    assert not session.alive
    assert "its process ended" in result.detail
    with pytest.raises(RequestError, match="start another"):
        session.run("1")


def test_memory_is_refused_or_ends_it(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, memory_mib=64)) as session:
        result = session.run("x = bytearray(8 << 30)")
        assert result.status is JobStatus.MEMORY_LIMIT
        assert session.alive
        result = session.run("x = [bytes([1]) * (1 << 20) for _ in range(4000)]")
        assert result.status is JobStatus.MEMORY_LIMIT


def test_a_full_disk_is_said(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, disk_mib=2)) as session:
        result = session.run(
            "f = open('f', 'wb')\nfor _ in range(99): f.write(bytes(1 << 18)); f.flush()"
        )
        assert result.status is JobStatus.DISK_LIMIT
        assert session.alive


def test_the_place_is_given_back_once():
    released = []
    session = plain("bash", release=lambda: released.append(1))
    session.run("exit")
    session.close()
    session.close()
    assert released == [1]


def test_a_driver_that_does_not_answer_is_an_error():
    with pytest.raises(SandboxError, match="did not start"):
        plain("python", argv=("false",))


def test_sessions_leave_neither_thread_nor_descriptor(start):
    with start("python") as session:
        session.run("1")
    gc.collect()
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(5):
        with start("python") as session:
            session.run("1")
    gc.collect()
    while threading.active_count() > before[1]:
        time.sleep(0.01)  # a cancelled timer still has to end
    # One that each session left would be five; what else runs in this process may open one or two.
    assert len(os.listdir("/proc/self/fd")) < before[0] + 5
