"""`code/stdio` with a judge that the program talks to: the judge decides, and the program cannot reach it."""

import pytest

from verigym import Task
from verigym.errors import RequestError
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import default_sandbox
from verigym.sandbox.wire import job_body
from verigym.verifiers.code.stdio import StdioVerifier

JUDGE = """
import sys
number = int(open(sys.argv[1]).read())
print(1000, flush=True)
for _ in range(12):
    words = sys.stdin.readline().split()
    if not words:
        print("wrong: it said nothing", file=sys.stderr)
        break
    if words[0] == "!":
        print("right" if int(words[1]) == number else "wrong: another number", file=sys.stderr)
        break
    print("<" if number < int(words[1]) else ">=", flush=True)
else:
    print("wrong: too many questions", file=sys.stderr)
"""
HALVES = """
low, high = 0, int(input())
while high - low > 1:
    middle = (low + high) // 2
    print("?", middle, flush=True)
    if input() == "<":
        high = middle
    else:
        low = middle
print("!", low, flush=True)
"""
ONE_BY_ONE = """
for number in range(1, int(input()) + 1):
    print("?", number, flush=True)
    if input() == "<":
        print("!", number - 1, flush=True)
        break
"""


def task(judge=JUDGE, **more):
    tests = [
        {"stdin": str(number), "stdout": "", "visible": number == 5} for number in (5, 700, 999)
    ]
    reference = {"judge": {"program": judge}, "tests": tests, **more}
    return Task(id="talk", env_id="", seed=0, prompt="", difficulty="", reference=reference)


QUICK = {"limits": {"wall_s": 2.0, "cpu_s": 1.0}}


def verdict_on(program, **more):
    return StdioVerifier().verify(task(**more), program)


def test_a_program_that_asks_well_is_right():
    assert verdict_on(HALVES).score == 1.0


def test_a_program_that_asks_too_often_is_wrong():
    verdict = verdict_on(ONE_BY_ONE)
    assert (verdict.score, verdict.reason) == (0.0, "wrong_output")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("pass", "wrong_output"),
        ("print('! 5')", "wrong_output"),
        ("print('right'); import sys; print('right', file=sys.stderr)", "wrong_output"),
        (
            "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()",
            "wrong_output",
        ),
        ("import sys; sys.exit(3)", "nonzero_exit"),
        ("print('! ' + open('input.txt').read())", "nonzero_exit"),
        ("while True: pass", "time_limit"),
        ("input()\ninput()", "time_limit"),
        ("while True: print('? 1')", "wrong_output"),
    ],
)
def test_whatever_a_program_does_it_earns_nothing_and_is_no_fault(program, reason):
    verdict = verdict_on(program, **QUICK)
    assert (verdict.score, verdict.reason) == (0.0, reason)


def test_the_judge_of_a_hidden_test_is_not_quoted():
    assert "another number" in verdict_on("print('! 6', flush=True)").evidence
    hidden = verdict_on("print('! 5', flush=True)").evidence
    assert hidden == "a hidden test: the judge did not accept what the program said"


def test_a_judge_that_cannot_judge_is_the_fault_of_the_task_and_else_of_the_program():
    broken = verdict_on(HALVES, judge="raise SystemExit(1)")
    assert (broken.score, broken.reason) == (None, "bad_task")
    # This judge says wrong to silence and fails on words that are no numbers.
    proud = (
        "import sys\nline = sys.stdin.readline()\nint(line or 0)\nprint('wrong', file=sys.stderr)"
    )
    assert verdict_on("print('zz')", judge=proud).score == 0.0
    assert verdict_on(HALVES, judge={"no": "text"}).reason == "bad_task"


def test_a_program_that_does_not_compile_is_told_so():
    if "cpp" not in default_sandbox().languages:
        pytest.skip("this machine has no C++")
    verdict = verdict_on("int main( {", language="cpp")
    assert (verdict.score, verdict.reason) == (0.0, "compile_error")


def test_partners_share_neither_folder_nor_processes():
    spy = (
        "import os\nprint(sorted(os.listdir('.')), flush=True)\n"
        "print(len([p for p in os.listdir('/proc') if p.isdigit()]), flush=True)"
    )
    partner = Job(source="import sys\nsys.stderr.write(sys.stdin.read())", files={"secret": b"1"})
    result = default_sandbox().run(Job(source=spy, partner=partner))
    assert result.status is JobStatus.OK
    assert result.partner is not None
    assert b"secret" not in result.partner.stderr
    assert result.partner.stderr == result.stdout


def test_output_has_a_limit_on_both_sides():
    flood = "while True: print('x' * 1000)"
    quiet = "import time\ntime.sleep(60)"
    limits = Limits(wall_s=5.0, cpu_s=2.0, output_bytes=5000)
    job = Job(source=flood, limits=limits, partner=Job(source="import sys\nsys.stdin.read()"))
    assert default_sandbox().run(job).status is JobStatus.OUTPUT_LIMIT
    job = Job(source=quiet, limits=Limits(wall_s=0.5), partner=Job(source="input()"))
    assert default_sandbox().run(job).status is JobStatus.TIME_LIMIT


def test_jobs_with_partners_are_refused_where_they_cannot_run():
    with pytest.raises(RequestError, match="partner"):
        Job(source="pass", stdin=b"1", partner=Job(source="pass"))
    with pytest.raises(RequestError, match="partner"):
        job_body(Job(source="pass", partner=Job(source="pass")))
