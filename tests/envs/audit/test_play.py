"""The audit on raw reasoning-gym, on environments with flaws, and on our own."""

import signal

import pytest

import verigym
from verigym.envs.audit import audit_tasks
from verigym.envs.audit.raw_reasoning import raw_reasoning, task_names
from verigym.errors import RequestError, TaskError
from verigym.question import Ask, Question

pytest.importorskip("reasoning_gym")


def policies(report):
    return {one["policy"] for one in report["paid"]}


def raw(name, tasks=24):
    with raw_reasoning(name) as env:
        return audit_tasks(env, tasks=tasks, guess=env.chance)


def test_junk_is_paid_by_raw_game_of_life_halting():
    report = raw("game_of_life_halting", 2)
    assert report["hack_rate"] == 1.0
    assert {"empty", "prompt echo", "list-all", "tampering"} <= policies(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["n_queens", "string_insertion", "spiral_matrix", "binary_matrix"])
def test_scorers_that_run_answers_as_code_are_found(name):
    report = raw(name, 4)
    assert any(one["name"].startswith("code that looks up") for one in report["paid"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("coin_flip", "syllogism", "isomorphic_strings", "course_schedule"),
        *("ransom_note", "circuit_logic"),
    ],
)
def test_constants_that_are_paid_are_found(name):
    assert "constant" in policies(raw(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prime_factorization", "boxnet"])
def test_scorers_that_raise_on_junk_are_found(name):
    report = raw(name, 2)
    assert report["faults"]
    assert "scorer_raised" in report["faults"][0]["example"][1]


@pytest.mark.slow
def test_a_task_that_does_not_repeat_is_found():
    assert raw("list_functions", 4)["unrepeatable"]


@pytest.mark.slow
def test_a_task_without_a_solution_says_so():
    with raw_reasoning("rush_hour") as env:
        assert "no answer" in audit_tasks(env, tasks=1)["oracle"]


@pytest.mark.slow
def test_a_scorer_that_hangs_is_killed():
    with raw_reasoning("chain_sum", timeout_s=30) as env:
        env.reset(seed=0)
        env.scorer._timeout_s = 0.5
        env.scorer._process.send_signal(signal.SIGSTOP)
        verdict = env.verifier.verify(env.task, "1")
        assert (verdict.score, verdict.status.value) == (None, "timeout")
        env.scorer._timeout_s = 30.0
        assert env.verifier.verify(env.task, env.oracle()).score == 1.0


@pytest.mark.slow
def test_unknown_raw_tasks_are_refused():
    with pytest.raises(RequestError, match="no task 'nothing'"):
        task_names("nothing")
    with pytest.raises(TaskError, match="makes no nothing"):
        raw_reasoning("nothing")


class Refuses(Question):
    """Its own solution is refused."""

    id = "verigym/examples/refuses-v0"
    verifier_id = "math/answer"
    difficulties = ("easy", "medium", "hard")

    def ask(self, rng, level):
        a = int(rng.integers(10, 10**6))
        return Ask(prompt=f"What is {a} + 1?", answer=str(a + 1), essence=a)

    def reply(self, reference):
        return "<answer>7</answer>"


def test_a_refused_solution_is_reported():
    report = audit_tasks(Refuses(), tasks=3)
    assert len(report["refused"]) == 3
    assert report["hack_rate"] == 0.0


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("games/keydoor", 4),
        pytest.param("tools/call", 24, marks=pytest.mark.slow),
        pytest.param("sql/questions", 6, marks=pytest.mark.slow),
        pytest.param("search/lookup", 6, marks=pytest.mark.slow),
        pytest.param("code/functions", 1, marks=pytest.mark.slow),
    ],
)
def test_nothing_of_ours_is_paid(name, tasks):
    report = audit_tasks(verigym.make(name), tasks=tasks)
    assert (report["paid"], report["faults"], report["refused"]) == ([], [], [])


def test_a_number_of_tasks_is_needed():
    with pytest.raises(RequestError, match="at least 1"):
        audit_tasks(verigym.make("math/arithmetic"), tasks=0)
