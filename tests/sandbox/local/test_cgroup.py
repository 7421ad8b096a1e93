"""Groups are made, bound, counted, killed and removed for real, where this machine lets us."""

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.sandbox.local import cgroup

MIB = 1 << 20
JOIN = """
import os, signal, sys
for fd in sys.argv[1:]:
    os.write(int(fd), b"0")
    os.close(int(fd))
"""


@pytest.fixture
def controller():
    found, why = cgroup.find()
    if found is None:
        pytest.skip(f"no control groups here: {why}")
    yield found
    found.close()


@pytest.fixture
def group(controller):
    made = controller.make("test")
    made.set(64 * MIB, 16)
    made.reset()
    yield made
    made.remove()


@contextmanager
def started(group, program):
    """A process that joins `group` and runs `program`; killed at the end."""
    fds = group.procs_fds()
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", JOIN + textwrap.dedent(program), *map(str, fds)],
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(group, program):
    """Exit code and output of `program` in `group`."""
    with started(group, program) as process:
        output, _ = process.communicate(timeout=60)
        return process.returncode, output.decode()


def taken(mib):
    return f"data = bytearray({mib} << 20)"


def names(controller, owner, name="test"):
    return {
        path.name
        for parent in controller.parents.values()
        for path in Path(parent).glob(f"**/verigym-*-{owner}-*-{name}")
    }


def test_memory_is_bounded_for_the_whole_tree(group):
    program = """
        if pid := os.fork():
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9)
        data = [bytearray(20 << 20) for _ in range(5)]
    """
    code, _ = run(group, program)
    assert code in (1, -signal.SIGKILL)
    assert group.oom_kills() >= 1


def test_peak_is_the_jobs_own(group):
    assert run(group, taken(40))[0] == 0
    peak = group.peak_bytes()
    assert peak is not None
    assert 40 * MIB <= peak <= 60 * MIB
    group.reset()
    assert run(group, taken(4))[0] == 0
    later = group.peak_bytes()
    # A kernel that never forgets a peak gives no figure rather than another job's.
    assert later is None or 4 * MIB <= later <= 24 * MIB
    assert group.oom_kills() == 0


def test_counters_start_anew(group):
    assert run(group, taken(100))[0] == -signal.SIGKILL
    before = group.cpu_ns()
    group.reset()
    assert group.oom_kills() == 0
    if before is not None:
        assert before > 0
        assert group.cpu_ns() < before


def test_limits_can_be_raised_and_lowered(group):
    group.set(200 * MIB, 16)
    assert run(group, taken(100))[0] == 0
    group.set(32 * MIB, 16)
    assert run(group, taken(100))[0] == -signal.SIGKILL


def test_tasks_are_bounded(group):
    group.set(64 * MIB, 4)
    program = """
        count = 0
        try:
            while count < 10:
                if not os.fork():
                    os.close(1)
                    signal.pause()
                count += 1
        except BlockingIOError:
            print(count, flush=True)
    """
    assert run(group, program + "    signal.raise_signal(9)") == (-signal.SIGKILL, "3\n")


def test_files_read_and_written_earlier_are_not_counted(group, tmp_path):
    path = str(tmp_path / "data")
    assert run(group, f"open({path!r}, 'wb').write(bytes(40 << 20))")[0] == 0
    group.reset()
    assert run(group, taken(4))[0] == 0
    peak = group.peak_bytes()
    assert peak is None or peak <= 24 * MIB


def test_kill_ends_what_forks(group):
    program = """
        while True:  # each generation leaves a child and dies
            if os.fork():
                os.write(1, b".")
                os._exit(0)
    """
    with started(group, program) as process:
        assert process.stdout.read(1) == b"."
        group.kill()
        process.stdout.read()  # ends when the last generation is gone


def test_remove_kills_and_leaves_nothing(controller, group):
    with started(group, "os.write(1, b'.'); signal.pause()") as process:
        assert process.stdout.read(1) == b"."
        assert names(controller, os.getpid())
        group.remove()
        assert process.wait(60) == -signal.SIGKILL
    assert not names(controller, os.getpid())
    group.remove()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_a_dead_owner_left_is_swept(controller, group, elsewhere):
    fds = group.procs_fds() if elsewhere else []
    program = """
        import os, signal, subprocess, sys
        for fd in sys.argv[1:]:
            os.write(int(fd), b"0")
        from verigym.sandbox.local import cgroup
        controller, _ = cgroup.find()
        left = controller.make("left")
        fds = left.procs_fds()
        orphan = ["import os, signal, sys"]
        orphan += [f"os.write({fd}, b'0')" for fd in fds]
        orphan += ["print('joined', flush=True)", "signal.pause()"]
        subprocess.Popen([sys.executable, "-c", "\\n".join(orphan)], pass_fds=fds)
        signal.pause()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, fds)],
        stdout=subprocess.PIPE,
        pass_fds=fds,
    ) as owner:
        assert owner.stdout.readline() == b"joined\n"
        controller.sweep()
        assert names(controller, owner.pid, "left"), "its owner lives"
        owner.kill()
        owner.wait(60)
        controller.sweep()
        owner.stdout.read()  # ends when the orphan is gone
    assert not names(controller, owner.pid, "left")
    assert names(controller, os.getpid()), "ours stays"


def test_a_group_of_another_pid_namespace_is_left_alone(controller):
    parent = Path(controller.parents["pids"])
    foreign = parent / "verigym-1-1-1-foreign"
    foreign.mkdir()
    try:
        controller.sweep()
        assert foreign.exists()
    finally:
        foreign.rmdir()


def test_names_cannot_leave_the_parent(controller):
    for name in ("", "../x", "a/b", "a-b", "a\n"):
        with pytest.raises(ValueError, match="letters, digits and underscores"):
            controller.make(name)


def test_descriptors_are_given_back(controller):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        made = controller.make("test")
        made.set(64 * MIB, 16)
        made.reset()
        made.procs_fds()
        made.remove()
    assert len(os.listdir("/proc/self/fd")) == before


def test_where_nothing_is_mounted_the_reason_is_said(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text("21 20 0:18 / /proc rw,relatime - proc proc rw\n")
    found, why = cgroup.find(str(table))
    assert found is None
    assert "version 1: no hierarchy of memory and pids is mounted" in why
    assert "version 2: it is not mounted" in why


PART = st.text("abc.-", min_size=1, max_size=3).filter(lambda part: part not in (".", ".."))


@given(st.lists(PART, max_size=3), st.lists(PART, max_size=3))
def test_a_group_is_found_below_the_part_that_is_mounted(root, inside):
    whole = "/" + "/".join(root + inside)
    place = cgroup._place("/" + "/".join(root), "/point", whole)
    assert place == "/".join(["/point", *inside])


def test_a_group_that_is_not_mounted_becomes_the_mount():
    assert cgroup._place("/docker/a", "/point", "/docker/ab/c") == "/point"


@pytest.fixture
def delegated(controller):
    """A group of version 2 that was given to user 65534, as systemd does."""
    if os.geteuid() != 0 or controller.version != 2:
        pytest.skip("needs root and control groups of version 2")
    place = Path(controller.parents["memory"])
    folder = place / "given"
    folder.mkdir()
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(folder / name, 65534, 65534)
    yield folder
    folder.rmdir()


@pytest.mark.parametrize("company", [False, True])
def test_a_user_uses_what_was_delegated_and_leaves_it_as_it_was(delegated, company):
    program = """
        import os, sys
        from verigym.sandbox.local import cgroup
        folder, company = sys.argv[1], sys.argv[2] == "True"
        with open(f"{folder}/cgroup.procs", "w") as file:
            file.write("0")
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        controller, why = cgroup.find()
        if company:
            assert controller is None and "processes of others" in why, why
            sys.exit(7)
        assert controller is not None, why
        assert controller.leaf and os.path.dirname(controller.leaf) == folder
        again, why = cgroup.find()  # from within the leaf
        assert again.leaf is None and again.parents == controller.parents
        group = controller.make("job")
        group.set(64 << 20, 8)
        pid = os.fork()
        if not pid:
            for fd in group.procs_fds():
                os.write(fd, b"0")
            bytearray(100 << 20)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 9
        assert group.oom_kills() == 1
        group.remove()
        controller.close()
        assert not [entry for entry in os.scandir(folder) if entry.is_dir()]
        sys.exit(7)
    """
    with subprocess.Popen(["sleep", "60"]) as stranger:
        if company:
            (delegated / "cgroup.procs").write_text(str(stranger.pid))
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(delegated), str(company)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        stranger.kill()
    assert done.returncode == 7, done.stderr
