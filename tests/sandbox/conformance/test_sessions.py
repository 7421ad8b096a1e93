"""Sessions: state that stays, deadlines that kill, places that are given back."""

import threading
from pathlib import Path

import pytest

from verigym import RequestError
from verigym.sandbox.job import JobStatus, Limits


def test_python_keeps_its_state(sandbox):
    with sandbox.session("python") as session:
        assert session.run("x = 6").status is JobStatus.OK
        assert session.run("def double(y):\n    return y * 2").status is JobStatus.OK
        assert session.run("double(x)").stdout == b"12\n"


def test_bash_keeps_its_state(sandbox):
    with sandbox.session("bash") as session:
        session.run("x=6; cd /")
        assert session.run("echo $x; pwd").stdout == b"6\n/\n"


def test_two_sessions_share_nothing(sandbox):
    with sandbox.session("python") as one, sandbox.session("python") as other:
        one.run("x = 1; open('file', 'w').write('one')")
        assert other.run("x").status is JobStatus.NONZERO_EXIT
        assert other.run("open('file')").status is JobStatus.NONZERO_EXIT
        assert one.run("x").stdout == b"1\n"


def test_files_and_variables(sandbox):
    with sandbox.session("python", files={"in/a": b"data"}, env={"GIVEN": "v"}) as session:
        shown = session.run("import os; print(open('in/a').read(), os.environ['GIVEN'])")
        assert shown.stdout == b"data v\n"
        session.put("b", bytes(range(256)))
        assert session.run("len(open('b', 'rb').read())").stdout == b"256\n"
        assert session.get("b") == bytes(range(256))


@pytest.mark.parametrize("language", ["python", "bash"])
def test_a_cell_that_is_out_of_time_leaves_the_state(sandbox, language):
    cells = {
        "python": ("x = 5", "import time\nwhile True: time.sleep(0.01)", "print(x)"),
        "bash": ("x=5", "sleep 1000", "echo $x"),
    }
    first, endless, last = cells[language]
    with sandbox.session(language) as session:
        session.run(first)
        assert session.run(endless, wall_s=0.5).status is JobStatus.TIME_LIMIT
        assert session.run(last).stdout == b"5\n"


def test_interrupts_do_not_spill_into_the_next_cell(sandbox):
    with sandbox.session("python") as session:
        for number in range(10):
            assert session.run("while True: pass", wall_s=0.05).status is JobStatus.TIME_LIMIT
            assert session.run(f"{number}").stdout == f"{number}\n".encode()


def test_the_lifetime_ends_it(sandbox, marked):
    limits = Limits(wall_s=2.0)
    with sandbox.session("bash", limits=limits) as session:
        result = session.run(f"sleep {marked.seconds}")
        assert result.status is JobStatus.TIME_LIMIT
        with pytest.raises(RequestError, match="ended"):
            session.run("echo")
    assert not marked.pids()


def test_its_memory_is_bounded(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, memory_mib=128)) as session:
        result = session.run("held = [b'x' * (1 << 20) * n for n in range(1, 400)]")
        assert result.status in (JobStatus.MEMORY_LIMIT, JobStatus.SIGNAL)


def test_output_is_bounded(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, output_bytes=10_000)) as session:
        result = session.run("while True: print('y' * 999)")
        assert result.status is JobStatus.OUTPUT_LIMIT
        assert len(result.stdout) <= 10_000
        assert session.run("1 + 1").stdout == b"2\n"


def test_a_session_may_say_much_in_all(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=120.0, output_bytes=100_000)) as session:
        for _ in range(30):
            assert len(session.run("print('y' * 99_000)").stdout) == 99_001


FORGED = """
import os, sys
frame = sys._getframe()
while "nonce" not in frame.f_locals: frame = frame.f_back
nonce, out, err = (frame.f_locals[name] for name in ("nonce", "out", "err"))
os.write({stream}, b'\\x1e' + nonce + {end!r})
block = b'x' * (1 << 20)
while True: os.write({stream}, block)
"""


@pytest.mark.parametrize(("stream", "end"), [("out", b" o 0\n"), ("err", b"\n")])
def test_a_forged_end_does_not_open_the_callers_memory(sandbox, stream, end):
    with sandbox.session("python") as session:
        session.run("1")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        before = peak_mib()
        result = session.run(FORGED.format(stream=stream, end=end), wall_s=30.0)
        assert result.status is JobStatus.OUTPUT_LIMIT
        assert peak_mib() - before < 64
        # What is left of it counts against the limit of the next cell, then all is as before.
        session.run("1")
        assert session.run("1 + 1").stdout.endswith(b"2\n")


def peak_mib():
    """The most memory that this process has held at once."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def test_interrupt_from_another_thread(sandbox):
    with sandbox.session("python") as session:
        results = []
        thread = threading.Thread(
            target=lambda: results.append(
                session.run("open('began', 'w').close()\nwhile True: pass")
            )
        )
        thread.start()
        while not results:
            session.interrupt()
            thread.join(0.05)
        assert results[0].status is JobStatus.SANDBOX_ERROR
        assert session.run("'alive'").stdout == b"'alive'\n"


def test_a_session_that_exits(sandbox):
    with sandbox.session("python") as session:
        session.run("import os; os._exit(7)")
        with pytest.raises(RequestError, match="ended"):
            session.run("1")


def test_closing_kills_everything_and_may_be_repeated(sandbox, marked):
    session = sandbox.session("bash")
    session.run(f"setsid sleep {marked.seconds} & sleep {marked.seconds} &")
    marked.wait()
    session.close()
    session.close()
    assert not marked.pids()


def test_places_are_given_back(sandbox):
    for _ in range(sandbox.max_jobs + 2):
        with sandbox.session("bash") as session:
            assert session.run("echo").status is JobStatus.OK
    for _ in range(sandbox.max_jobs + 2):
        with sandbox.session("bash") as session:
            session.run("exit 3")


@pytest.mark.parametrize("language", ["pyton", "c", ""])
def test_no_sessions_in_other_languages(sandbox, language):
    with pytest.raises(RequestError):
        sandbox.session(language)
