"""The solver that counts operations: it understands the programs, and finds the mistakes."""

import ast
import itertools

import pytest

import verigym
from verigym.envs.code import predict, repo
from verigym.envs.code.problems import read_problems
from verigym.envs.code.repair import mend
from verigym.envs.code.traced import Solver
from verigym.reply import fenced


def call(source, function, args):
    solver = Solver()
    return solver.call(solver.read(ast.parse(source)), function, args)


@pytest.mark.parametrize("level", [1, 5, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["stdio", "repair", "problems"])
def test_programs_followed_by_hand_print_what_is_wanted(name, level):
    env = verigym.make(f"code/{name}")
    drawn = (env.sample_task(seed, level).reference for seed in itertools.count())
    # A conversation has no output that is wanted: a judge decides (test_conversation.py).
    for reference in itertools.islice((one for one in drawn if "judge" not in one), 3):
        solver = Solver()
        program = solver.read(solver.write(env.solution(reference)))
        for test in reference["tests"][:2]:
            assert solver.run(program, test["stdin"]).split() == test["stdout"].split()


def test_every_solution_of_a_problem_can_be_followed_by_hand():
    for name, problem in read_problems().items():
        if problem.judge:
            continue
        solver = Solver()
        program = solver.read(ast.parse(problem.solution))
        for stdin, wanted in problem.tests[: problem.shown]:
            printed = solver.run(program, stdin)
            assert printed is not None, name
            assert printed.split() == wanted.split(), name


@pytest.mark.parametrize("level", [1, 6, 10])
def test_a_program_with_mistakes_is_mended_place_by_place(level):
    env = verigym.make("code/repair")
    for seed in range(3):
        task = env.sample_task(seed, level)
        right = ast.parse(env.solution(task.reference))
        wrong = ast.parse(fenced(task.prompt)[-1].body)
        changes = sum(1 for _ in mend(Solver(), wrong, right))
        assert changes >= task.reference["mistakes"]
        assert ast.dump(wrong) == ast.dump(right)


@pytest.mark.parametrize("level", [1, 5, 10])
def test_functions_called_by_hand_return_what_is_wanted(level):
    env = verigym.make("code/functions")
    for seed in range(3):
        reference = env.sample_task(seed, level).reference
        solver = Solver()
        program = solver.read(solver.write(reference["solution"]))
        for test in reference["tests"][:2]:
            assert solver.call(program, reference["function"], test["args"]) == test["result"]


@pytest.mark.parametrize("level", [1, 5, pytest.param(10, marks=pytest.mark.slow)])
def test_each_wrong_version_is_told_by_hand_by_some_input(level):
    env = verigym.make("code/tests")
    for seed in range(3):
        reference = env.sample_task(seed, level).reference
        name, inputs = reference["function"], reference["killing"]
        right, *wrong = (
            [call(program, name, args) for args in inputs]
            for program in (reference["program"], *reference["mutants"])
        )
        assert ... not in right
        assert right not in wrong
        assert len(inputs) <= reference["inputs"] < len(wrong) + 3


@pytest.mark.parametrize("level", [1, 5, 10])
def test_fast_functions_can_be_followed_by_hand(level):
    env = verigym.make("code/faster")
    for seed in range(3):
        reference = env.sample_task(seed, level).reference
        space = {}
        exec(reference["fast"], space)
        for args in reference["calls"]:
            assert call(reference["fast"], reference["function"], args) == space[
                reference["function"]
            ](*args)


@pytest.mark.parametrize("level", [1, 5, 6])
def test_a_value_worked_out_by_hand_is_the_reference(level):
    env = verigym.make("code/predict")
    for seed in range(3):
        task = env.sample_task(seed, level)
        assert repr(predict.work_out(Solver(), task.prompt)) == task.reference["literal"]


@pytest.mark.parametrize("level", [1, 5, 10])
def test_a_repository_run_by_hand_returns_what_is_wanted(level):
    env = verigym.make("code/repo")
    for seed in range(3):
        reference = env.sample_task(seed, level).reference
        program = repo.joined({**reference["files"], **reference["fixed"]})
        for test in reference["tests"]:
            assert call(program, "run", test["args"]) == test["result"]


def test_a_place_counts_twice_at_most_but_for_a_value_that_is_asked_for():
    program = ast.parse(
        "def f(n):\n    total = 0\n    for x in range(n):\n        total += x * x\n"
    )
    counts = {}
    for n in (1, 2, 50):
        for exact in (False, True):
            solver = Solver()
            solver.call(solver.read(program), "f", [n], exact=exact)
            counts[n, exact] = solver.operations
    assert counts[1, False] < counts[2, False] == counts[50, False]
    assert counts[2, False] == counts[2, True] < counts[50, True]


@pytest.mark.parametrize(
    "source", ["while True:\n    pass", "print(1 // 0)", "import os\nos.getcwd()"]
)
def test_a_program_that_cannot_be_followed_prints_nothing(source):
    solver = Solver()
    assert solver.run(solver.read(ast.parse(source)), "") is None
