"""The local sandbox runs programs of several languages, with their files."""

import signal

import pytest

from tests.sandbox.local.marked_jobs import run
from verigym import RequestError
from verigym.sandbox.job import Job, JobStatus


def test_bash(sandbox):
    if "bash" not in sandbox.languages:
        pytest.skip("no bash here")
    result = run(sandbox, 'read x; echo "$x $1"', b"in\n", language="bash", args=("arg",))
    assert result.stdout == b"in arg\n"


def test_c(sandbox):
    if "c" not in sandbox.languages:
        pytest.skip("no gcc here")
    good = '#include <stdio.h>\nint main(){int x; scanf("%d", &x); printf("%d\\n", 2*x); return 0;}'
    assert run(sandbox, good, b"21\n", language="c").stdout == b"42\n"
    bad = run(sandbox, "int main( { }", language="c")
    assert bad.status is JobStatus.COMPILE_ERROR
    assert "error" in bad.detail
    crash = run(sandbox, "int main(){ *(volatile int *)0 = 1; }", language="c")
    assert (crash.status, crash.signal) == (JobStatus.SIGNAL, signal.SIGSEGV)


def test_an_unknown_language_is_refused_with_a_suggestion(sandbox):
    with pytest.raises(RequestError, match="did you mean 'python'"):
        run(sandbox, "", language="pyton")


def test_a_program_imports_the_files_beside_it(sandbox):
    files = {"helper.py": b"x = 5", "data/table.txt": b"7"}
    source = "import helper; print(helper.x, open('data/table.txt').read())"
    assert run(sandbox, source, files=files).stdout == b"5 7\n"


def test_files_that_cannot_be_placed_are_refused(sandbox):
    with pytest.raises(RequestError, match="is the program itself"):
        run(sandbox, "", files={"main.py": b""})
    with pytest.raises(RequestError, match="disk_mib"):
        run(sandbox, "", files={"big": b"x" * (2 << 20)}, disk_mib=1)


def test_text_that_is_no_program(sandbox):
    for source in ("\ud800", "\ufeffprint(1", "(" * 100_000):
        assert run(sandbox, source).status is JobStatus.NONZERO_EXIT


def test_a_job_s_own_environment(sandbox):
    job = Job(source="import os; print(os.environ['NAME'])", env={"NAME": "value"})
    assert sandbox.run(job).stdout == b"value\n"


def test_sets_come_in_the_same_order_every_time(sandbox):
    source = "print({str(i) for i in range(50)})"
    assert run(sandbox, source).stdout == run(sandbox, source).stdout
