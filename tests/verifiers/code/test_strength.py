"""Growing tests: the mutator, inputs, what is dropped, and the command."""

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verigym import Task, TaskError
from verigym.cli.main import app
from verigym.verifiers.code.strength import inputs
from verigym.verifiers.code.strength.grow import Budget, grow
from verigym.verifiers.code.strength.mutate import mutants
from verigym.verifiers.code.strength.problem import read_problem
from verigym.verifiers.code.strength.report import strengthen, wilson

RIGHT = [
    "def solve(nums, k): return sorted(nums)[-k]",
    "import heapq\ndef solve(nums, k): return heapq.nlargest(k, nums)[-1]",
]
WRONG = ["def solve(nums, k): return sorted(set(nums))[-k]", "def solve(nums, k): return max(nums)"]
SMALL = Budget(rounds=3, per_round=30, mutants=20, tests=20, spread=8)


def kth(**extra):
    reference = {
        "function": "solve",
        "tests": [
            {"args": [[3, 1, 2], 1], "result": 3, "visible": True},
            {"args": [[3, 1, 2], 1], "result": 3},
            {"args": [[5, 4], 2], "result": 5},
        ],
        "inputs": [{"list": {"int": [-9, 9]}, "length": [1, 7]}, {"int": [1, 7]}],
        "valid": "def valid(nums, k): return k <= len(nums)",
        "solutions": {"right": RIGHT, "wrong": WRONG},
        **extra,
    }
    return Task(id="kth", env_id="", seed=0, prompt="", difficulty="easy", reference=reference)


def test_a_weak_suite_becomes_strong_and_loses_invalid_tests():
    found = strengthen(read_problem(kth()), budget=SMALL)
    assert [row["test"] for row in found.grown.dropped] == ["2", "3"]
    assert found.before.accepted.hits == 0
    assert (found.after.accepted.hits, found.after.detected.hits) == (2, 2)
    assert found.grown.killed > found.grown.mutants / 2
    assert found.task.reference["tests"][0]["visible"]
    for test in found.task.reference["tests"]:
        nums, k = test["args"]
        assert test["result"] == sorted(nums)[-k]
    json.dumps(found.to_builtins())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tests():
    one, two = (grow(read_problem(kth()), seed=5, budget=SMALL).tests for _ in range(2))
    assert one == two


def test_right_programs_that_disagree_or_draw_lots_make_no_tests():
    lots = "import random\ndef solve(nums, k): return random.random() if len(nums) > 3 else sorted(nums)[-k]"
    found = grow(read_problem(kth(solutions={"right": [RIGHT[0], lots]})), budget=SMALL)
    assert all(len(test["args"][0]) <= 3 for test in found.tests)
    assert sum(found.invalid.values()) > 0
    with pytest.raises(TaskError):
        grow(
            read_problem(
                kth(
                    solutions={"right": WRONG[:1], "wrong": []},
                    tests=[{"args": [[1, 1], 2], "result": 1}],
                )
            ),
            budget=SMALL,
        )


def test_programs_that_read_standard_input():
    reference = {
        "tests": [{"stdin": "1 2\n", "stdout": "3\n"}],
        "generator": "import random\ndef generate(seed, size):\n    r = random.Random(seed)\n"
        "    return f'{r.randint(-9, 9)} {r.randint(-9, 9)}\\n'",
        "solutions": {
            "right": ["print(sum(map(int, input().split())))"],
            "wrong": ["a, b = map(int, input().split())\nprint(abs(a) + abs(b))"],
        },
    }
    task = Task(id="t", env_id="", seed=0, prompt="", difficulty="easy", reference=reference)
    found = strengthen(read_problem(task), budget=SMALL)
    assert (found.before.detected.hits, found.after.detected.hits) == (0, 1)
    assert found.after.accepted.hits == 1


@pytest.mark.parametrize(
    "extra",
    [
        {"solutions": None},
        {"solutions": {"right": []}},
        {"solutions": {"right": [1]}},
        {"inputs": None},
        {"inputs": []},
        {"inputs": [{"int": 3}]},
        {"inputs": [{"nothing": 1}]},
        {"valid": 3},
    ],
)
def test_a_task_that_cannot_be_strengthened_says_why(extra):
    with pytest.raises(TaskError):
        read_problem(kth(**extra))


def test_mutants_are_programs_that_differ():
    source = "def f(a, b):\n    if a < b and b > 0:\n        return a[1:] + [b % 2]\n    return sorted(a)"
    made = mutants(source, 30, 1)
    assert len({text for text, _ in made}) == 30
    assert len({kind for _, kind in made}) > 5
    for text, _ in made:
        compile(text, "mutant", "exec")
    assert mutants("def f(:", 30, 1) == []
    assert mutants("(" * 5000, 30, 1) == []
    assert mutants(source, 30, 1) == made


DESCRIPTIONS = [
    {"int": [-3, 40]},
    {"float": [0.5, 2]},
    {"bool": True},
    {"one_of": ["a", "b"]},
    {"text": "xyz", "length": [2, 5]},
    {"list": {"int": [0, 9]}, "length": [0, 6], "unique": True},
    {"list": {"list": {"int": [0, 9]}, "length": [2, 2], "sorted": True}, "length": [1, 3]},
]


@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_inputs_fit_their_description(description):
    rng = random.Random(3)
    for size in (1, 2, 5, 20) * 20:
        assert inputs.fits(description, inputs.draw(description, rng, size))
    edges = inputs.boundaries(description)
    assert edges
    assert all(inputs.fits(description, value) for value in edges)


def test_wilson():
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(95, 100)
    assert (round(low, 4), round(high, 4)) == (0.8882, 0.9785)


@pytest.mark.slow
def test_the_command(tmp_path):
    path, out = tmp_path / "task.json", tmp_path / "out.json"
    path.write_bytes(kth().to_json())
    small = ["--rounds", "2", "--mutants", "10", "--tests", "16"]
    result = CliRunner().invoke(
        app, ["tests", "strengthen", str(path), "--json", "--out", str(out), *small]
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout.splitlines()[-1])
    assert report["after"]["detection_rate"]["rate"] == 1.0
    assert len(Task.from_json(out.read_text()).reference["tests"]) == report["after"]["tests"]
    result = CliRunner().invoke(
        app,
        ["tests", "strengthen", "--env", "code/stdio", "--family", "map-each", "--json", *small],
    )
    assert result.exit_code == 0, result.output
    assert CliRunner().invoke(app, ["tests", "strengthen"]).exit_code == 2


def test_the_command_names_the_wrong_program_that_still_passes(tmp_path):
    problem = json.loads(kth().to_json())
    solutions = problem["reference"]["solutions"]
    # Not wrong at all: no input can tell it from a right one.
    solutions["wrong"] = [solutions["right"][0] + "\n"]
    path = tmp_path / "task.json"
    path.write_text(json.dumps(problem))
    small = ["--rounds", "1", "--mutants", "0", "--tests", "8"]
    result = CliRunner().invoke(app, ["tests", "strengthen", str(path), *small])
    assert result.exit_code == 4
    assert "wrong program 1 still passes" in result.output


def test_the_task_of_the_page_is_made_strong(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "verifiers-code.md").read_text(encoding="utf-8")
    block = page.partition('```json\n{\n  "id": "kth-largest"')[2].partition("```")[0]
    path = tmp_path / "task.json"
    path.write_text('{"id": "kth-largest"' + block)
    small = ["--rounds", "2", "--mutants", "10", "--tests", "16"]
    result = CliRunner().invoke(app, ["tests", "strengthen", str(path), *small])
    assert result.exit_code == 0, result.output
