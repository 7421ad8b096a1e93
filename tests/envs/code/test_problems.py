"""`code/problems`: the solutions are right twice over, and the tests catch what is wrong."""

import json
from collections import Counter

import pytest

import verigym
from verigym.envs.code.attempts import LIMITS
from verigym.envs.code.problem_files import read_problems
from verigym.envs.code.talks import talk_tests, write_judge
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code.check import CHECKERS
from verigym.verifiers.code.stdio import StdioVerifier
from verigym.verifiers.code.strength import matrix
from verigym.verifiers.code.strength.problem import read_problem

PROBLEMS = read_problems()
LEVELS = ("easy", "medium", "hard")
CONTEST = ("7", "8", "9", "10")
TIMED = [name for name, problem in PROBLEMS.items() if problem.large]
TALKS = [name for name, problem in PROBLEMS.items() if problem.judge]
WRITTEN = [name for name in PROBLEMS if name not in TALKS]
"""The problems that are input and output; the others are conversations."""


def task_of(problem):
    tests = [{"stdin": given, "stdout": wanted} for given, wanted in problem.tests]
    reference = {
        "tests": tests,
        "checker": problem.checker,
        "solutions": {"right": [problem.solution]},
        "generator": problem.generator,
    }
    return verigym.Task(
        id=problem.name, env_id="", seed=0, prompt="", difficulty="", reference=reference
    )


def passed(problem, programs, seconds, tests=None):
    """Return, for each program, the tests it passes in `seconds` of processor time; all run in one
    job."""
    tests = problem.tests if tests is None else tests
    given = [stdin for stdin, _ in tests]
    rows = matrix.answers(
        default_sandbox(), read_problem(task_of(problem)), programs, given, seconds=seconds
    )
    right = CHECKERS[problem.checker]
    return [
        [
            answer is not None and right(answer[0].encode(), wanted.encode(), 0.0)
            for answer, (_, wanted) in zip(row, tests, strict=True)
        ]
        for row in rows
    ]


def check_programs(problem):
    # The slowest right one takes 0.4 s here; on a slow machine under load, several times that.
    first, second = passed(problem, [problem.solution, problem.second], seconds=10)
    assert all(first)
    assert all(second)
    wrong = passed(problem, problem.wrong, seconds=0.5)
    assert len(wrong) >= 3
    for program, row in zip(problem.wrong, wrong, strict=True):
        assert not all(row), program


def check_limits(problem):
    """Check that the solution has time to spare, and that the next slower way is refused."""
    assert problem.level in CONTEST
    assert [given for given, _ in problem.timed] == list(problem.large)
    # A solution takes less than half a second here.
    assert all(passed(problem, [problem.solution], 10, problem.timed)[0])
    assert not all(
        passed(problem, [problem.second], LIMITS["cpu_s"], [test])[0][0] for test in problem.timed
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TIMED if name not in TALKS])
def test_of_every_contest_problem_the_limits_refuse_the_slower_way(name):
    check_limits(PROBLEMS[name])


def test_the_limits_refuse_the_slower_way():
    check_limits(PROBLEMS["echo-songs"])


@pytest.mark.parametrize("name", ["weak-roads", "guards", "market-bill", "exact-cuts"])
def test_two_solutions_pass_and_every_wrong_program_fails(name):
    check_programs(PROBLEMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_of_every_problem_two_solutions_pass_and_every_wrong_program_fails(name):
    check_programs(PROBLEMS[name])


def test_there_are_enough_problems_of_each_level_in_each_split():
    assert len(PROBLEMS) >= 60
    env = verigym.make("code/problems")
    splits = {}
    for problem in PROBLEMS.values():
        draft = verigym.Draft(prompt="", reference={"problem": problem.name})
        splits[problem.name] = env.split_of(draft)
    counts = Counter((problem.level, splits[problem.name]) for problem in PROBLEMS.values())
    for level in LEVELS:
        assert counts[level, "train"] >= 10
        assert counts[level, "validation"] >= 4
        assert counts[level, "test"] >= 4
    for split in verigym.SPLITS:
        played = {
            env.sample_task(seed, level, split).reference["problem"]
            for level in LEVELS
            for seed in range(100)
        }
        assert played == {
            name
            for name, held in splits.items()
            if held == split and PROBLEMS[name].level in LEVELS
        }


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_plain_text_with_many_different_tests(name):
    problem = PROBLEMS[name]
    assert problem.statement.isascii()
    assert problem.statement.isprintable()
    assert "rint" in problem.statement
    inputs = [given for given, _ in problem.tests]
    assert len(set(inputs)) == len(inputs) >= 15
    assert list(problem.examples) == inputs[: problem.shown]
    assert set(problem.edges) <= set(inputs)
    if problem.judge:
        return
    # What is the same everywhere could be guessed.
    assert len({wanted for _, wanted in problem.tests[problem.shown :]}) >= 5
    counts = Counter(wanted for _, wanted in problem.tests)
    assert counts.most_common(1)[0][1] <= 0.5 * len(problem.tests)


def test_contest_problems_are_asked_for_together_from_level_7_on():
    assert len(TIMED) >= 40
    assert {PROBLEMS[name].level for name in TIMED} == set(CONTEST)
    env = verigym.make("code/problems")
    for level in CONTEST:
        for split in verigym.SPLITS:
            for seed in range(10):
                task = env.sample_task(seed, level, split)
                names = task.reference["problems"]
                assert len(set(names)) == {"7": 2, "8": 2, "9": 3, "10": 5}[level]
                assert PROBLEMS[names[0]].level == level
                assert len(task.prompt) < 7000
                timed = {given for given, _ in PROBLEMS[names[0]].timed}
                tests = [test["stdin"] for test in task.reference["tests"]]
                if "judge" in task.reference:
                    tests = [given for test in tests for _, given, _ in json.loads(test)]
                cases = "".join(tests)
                assert all(given in cases for given in timed)


def talks(problem, program, tests):
    """Return, for each hidden input, whether the judge accepts the program."""
    cases = [{"stdin": given, "stdout": "", "visible": False} for given, _ in tests]
    reference = {
        "judge": {"program": write_judge({"A": problem.judge}, is_joined=False)},
        "tests": talk_tests(cases),
        "limits": LIMITS,
    }
    task = verigym.Task(
        id=problem.name, env_id="", seed=0, prompt="", difficulty="", reference=reference
    )
    return [report.passed for report in StdioVerifier().report(task, program)]


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKS)
def test_of_every_conversation_the_judge_refuses_wrong_programs_and_too_many_questions(name):
    problem = PROBLEMS[name]
    assert len(TALKS) >= 4
    assert all(talks(problem, problem.solution, [*problem.tests, *problem.timed]))
    # The second program is right, but asks more than the limit allows if there is much to be found out.
    assert any(talks(problem, problem.second, problem.tests))
    assert not any(talks(problem, problem.second, problem.timed))
    assert len(problem.wrong) >= 3
    for wrong in problem.wrong:
        assert not all(talks(problem, wrong, problem.tests)), wrong


def test_a_conversation_is_judged_and_its_hidden_input_is_not_in_the_prompt():
    problem = PROBLEMS["lying-keeper"]
    assert all(talks(problem, problem.solution, problem.tests[:6]))
    silent = "n, k, q = map(int, input().split())\nprint('!', n)"
    assert not any(talks(problem, silent, problem.tests[2:6]))


@pytest.mark.slow
def test_conversations_stand_beside_other_problems_and_the_solution_solves_both():
    env = verigym.make("code/problems")
    tasks = (env.sample_task(seed, "10") for seed in range(100))
    task = next(task for task in tasks if "judge" in task.reference)
    assert "talks to a judge" in task.prompt
    assert "You have one attempt." in task.prompt
    env.reset(options={"task": task})
    assert env.step(env.oracle())[1:4] == (1.0, True, False)
    env.reset(options={"task": task})
    assert env.step("print(input())")[1:4] == (0.0, False, True)


def test_examples_are_in_the_prompt_and_solutions_nowhere_in_the_task():
    env = verigym.make("code/problems")
    for level in LEVELS:
        for seed in range(20):
            task = env.sample_task(seed, level)
            problem = PROBLEMS[task.reference["problem"]]
            for given, wanted in problem.tests[: problem.shown]:
                assert given in task.prompt
                assert wanted in task.prompt
            assert problem.solution.strip() not in repr(task)
            assert len(task.prompt) < 3000


CPP = """
#include <iostream>
int main() {
  long long h, m, hour, minute, t;
  std::cin >> h >> m >> hour >> minute >> t;
  long long now = ((hour * m + minute + t) % (h * m) + h * m) % (h * m);
  std::cout << now / m << ' ' << now % m << '\\n';
}
"""
RUBY = """
h, m = gets.split.map(&:to_i)
hour, minute = gets.split.map(&:to_i)
puts ((hour * m + minute + gets.to_i) % (h * m)).divmod(m).join(" ")
"""


@pytest.mark.parametrize(
    ("language", "program"), [pytest.param("cpp", CPP, marks=pytest.mark.slow), ("ruby", RUBY)]
)
def test_a_problem_may_be_asked_for_in_another_language(language, program):
    env = verigym.make("code/problems", language=language)
    if env.language not in default_sandbox().languages:
        pytest.skip(f"this machine has no {language}")
    draft = verigym.Draft(prompt="", reference={"problem": "strange-clock"})
    tasks = (env.sample_task(seed, "easy", env.split_of(draft)) for seed in range(200))
    task = next(task for task in tasks if task.reference["problem"] == "strange-clock")
    env.reset(options={"task": task})
    assert env.step(program.replace("minute + ", ""))[1] == 0.0
    assert env.step(program)[1:3] == (1.0, True)


def test_the_same_mistake_as_a_naive_policy_is_told_what_went_wrong():
    env = verigym.make("code/problems")
    env.reset(seed=3)
    given, wanted = (
        env.task.reference["tests"][0]["stdin"],
        env.task.reference["tests"][0]["stdout"],
    )
    observation, reward, terminated, *_ = env.step(f"print({wanted!r}, end='')")
    assert (reward, terminated) == (0.0, False)
    assert "did not pass" in observation
    assert given not in observation
