"""Processor time of a tree of processes where no control group counts it."""

import pytest

from verigym import SandboxError
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox, cgroup

CHILDREN = """
import os, signal, time
{before}
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            if "orphans" in globals() and os.fork(): os._exit(0)
            until = time.process_time() + {child_s}
            while time.process_time() < until: pass
            os._exit(0)
    except OSError:
        time.sleep(0.002)
    {after}
"""


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox that has no control groups, as an ordinary user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cgroup, "find", lambda: (None, "left out by this test"))
        try:
            made = LocalSandbox(max_jobs=2)
        except SandboxError as error:
            pytest.skip(f"the local backend refuses this machine: {error}")
    with made:
        assert made._groups is None
        yield made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "os.wait()"),
        ("signal.signal(signal.SIGCHLD, signal.SIG_IGN)", "pass"),
        # Orphans come to the slot, which waits for them.
        ("orphans = True", "os.wait()"),
    ],
    ids=["waited for", "waited for by nobody", "orphans"],
)
@pytest.mark.parametrize("child_s", [0.003, pytest.param(0.05, marks=pytest.mark.slow)])
def test_the_time_of_children_that_have_ended_counts(sandbox, before, after, child_s):
    source = CHILDREN.format(before=before, after=after, child_s=child_s)
    limits = Limits(wall_s=50.0, cpu_s=0.7, processes=12)
    result = sandbox.run(Job(source=source, limits=limits))
    assert result.status is JobStatus.TIME_LIMIT
    assert result.wall_s < 45.0
    assert result.cpu_s > 0.6


def test_a_program_within_its_time_is_left_alone(sandbox):
    """Three hundred short children, waited for: what they use is known, and not guessed on top."""
    source = """
import os, time
while sum(os.times()[:4]) < 0.7:
    if os.fork() == 0:
        until = time.process_time() + 0.002
        while time.process_time() < until: pass
        os._exit(0)
    os.wait()
"""
    limits = Limits(wall_s=60.0, cpu_s=1.0)
    for _ in range(2):
        assert sandbox.run(Job(source=source, limits=limits)).status is JobStatus.OK
