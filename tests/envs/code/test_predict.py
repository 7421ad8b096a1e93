"""`code/predict`: the interpreter's answers are Python's; `code/value` reads values exactly."""

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.reply import fenced
from verigym.sandbox.job import Job, JobStatus
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code.value import NotALiteral, read_literal

RUN_ALL = """
import json
for program, call in json.load(open("programs.json")):
    names = {}
    exec(program, names)
    print(repr(eval(call, names)))
"""


def test_answers_are_what_python_gives_in_the_sandbox():
    env = verigym.make("code/predict")
    asked, literals = [], []
    for level in env.scale().levels:
        for seed in range(20):
            task = env.sample_task(seed, level)
            program = fenced(task.prompt)[-1].body
            call = task.prompt.rpartition("What does ")[2].partition(" return?")[0]
            asked.append((program, call))
            literals.append(task.reference["literal"])
    job = Job(source=RUN_ALL, files={"programs.json": json.dumps(asked).encode()})
    result = default_sandbox().run(job)
    assert result.status is JobStatus.OK, result.stderr
    assert result.stdout.decode().splitlines() == literals


def test_answers_differ_and_cannot_be_guessed():
    env = verigym.make("code/predict")
    for difficulty in env.difficulties:
        tasks = [env.sample_task(seed, difficulty) for seed in range(150)]
        literals = [task.reference["literal"] for task in tasks]
        assert len(set(literals)) > 120
        assert max(map(literals.count, literals)) <= 3
        for task in tasks:
            assert task.reference["literal"] not in task.prompt
            assert len(task.prompt) < 3000


def test_harder_programs_take_more_steps():
    env = verigym.make("code/predict")
    means = []
    for difficulty in env.difficulties:
        steps = []
        for seed in range(60):
            env.reset(seed=seed, options={"difficulty": difficulty})
            steps.append(env.work(env.state))
        means.append(sum(steps) / len(steps))
    assert means[0] * 1.5 < means[1]
    assert means[1] * 1.5 < means[2]


def test_a_near_miss_earns_nothing():
    env = verigym.make("code/predict")
    for seed in range(30):
        env.reset(seed=seed, options={"difficulty": "medium"})
        literal = env.task.reference["literal"]
        changed = repr([ast.literal_eval(literal)])
        assert env.step(f"<answer>{changed}</answer>")[1] == 0.0
        env.reset(seed=seed, options={"difficulty": "medium"})
        # The expression that gives it is not the value.
        assert env.step("<answer>run([1], 'a')</answer>")[1] == 0.0
        env.reset(seed=seed, options={"difficulty": "medium"})
        spaced = literal.replace(", ", " ,  ")
        assert env.step(f"I think: <answer>\n{spaced}\n</answer>")[1] == 1.0


VALUES = st.recursive(
    st.integers()
    | st.booleans()
    | st.none()
    | st.text("abc XYZ,:[](){}#0-9", max_size=6)
    | st.floats(-1e6, 1e6).map(lambda x: round(x, 3)).filter(lambda x: "e" not in repr(x)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text("abc", max_size=2) | st.integers(0, 5), inner, max_size=3)
        | st.sets(st.integers(0, 9), max_size=3)
    ),
    max_leaves=8,
)


def typed(value):
    """Equal for values that are the same to Python and of the same types, alone."""
    if isinstance(value, dict):
        return ("dict", frozenset((typed(k), typed(v)) for k, v in value.items()))
    if isinstance(value, set):
        return ("set", frozenset(map(typed, value)))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(map(typed, value)))
    return (type(value).__name__, repr(value))


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES)
def test_reading_a_literal_tells_apart_what_python_tells_apart(one, other):
    assert (read_literal(repr(one)) == read_literal(repr(other))) == (typed(one) == typed(other))
    assert read_literal(repr(one)) == read_literal(f" {one!r}\n")


@settings(max_examples=150, deadline=None)
@given(st.text("0123456789[](){},:'\"-.aT rue\\\n", max_size=30))
def test_what_can_be_read_python_reads_too(text):
    try:
        value = read_literal(text)
    except NotALiteral:
        return
    assert value == read_literal(repr(ast.literal_eval(text.strip())))


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "]", "[1", "1]", "1 2", "[1 2]", "[,]", "(,)", "{1: 2, 3}", "{1, 2: 3}", "{'a': 1, 'a': 2}",
        "f(1)", "1 + 1", "x", "1e5", "1j", "0x1", "'a", "'a' 'b'", "b'a'", "f'a'", "'\\n'", "True1", "NoneNone",
        "1_0", "--1", "+1", "[[]", "...", "set([1])", "lambda: 1", "1.", ".5", "٣", "[" * 60 + "]" * 60,
    ],
)  # fmt: skip
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(NotALiteral):
        read_literal(text)


def judged(reply, literal="[1, 'a']"):
    task = verigym.Task(
        id="", env_id="", seed=0, prompt="", difficulty="", reference={"literal": literal}
    )
    return verigym.make_verifier("code/value").verify(task, reply)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("<answer>[1, 'a']</answer>", "correct"),
        ("<answer>`[1, 'a']`</answer>", "correct"),
        ("<answer>\n```python\n[1, 'a']\n```\n</answer>", "correct"),
        ("<answer>`[1, 'a']` `[1, 'a']`</answer>", "not_a_literal"),
        ("<answer>```</answer>", "not_a_literal"),
        ("<answer>`[2]`</answer><answer>[1, 'a']</answer>", "several_answers"),
        ("<answer>[1, 'b']</answer>", "wrong_value"),
        ("[1, 'a']", "no_answer"),
        ("<answer> </answer>", "no_answer"),
        ("<answer>[1, 'a']</answer>\nI give up.", "no_answer"),
        ("<answer>[1, 'a']</answer>\nIgnore that.", "no_answer"),
        ("<answer>[1, 'a']</answer> That was wrong.", "no_answer"),
        ("<answer>[1, 'a']</answer> That is what it returns.", "correct"),
        ("<answer>[1, a]</answer>", "not_a_literal"),
        ("<answer>[2]</answer><answer>[1, 'a']</answer>", "several_answers"),
        ("<answer>[1, 'a'" + " " * 5000 + "]</answer>", "too_long"),
        ("<answer>" * 20_000, "no_answer"),
        (["[1, 'a']"], "not_text"),
    ],
)
def test_reasons(reply, reason):
    verdict = judged(reply)
    assert verdict.reason == reason
    assert verdict.score == float(reason == "correct")


def test_a_reference_that_cannot_be_read_is_a_fault():
    assert judged("<answer>1</answer>", literal="f(1)").score is None
