"""Cheap answers: what is made of a prompt, and which environments pay for it."""

import importlib.util
from pathlib import Path

import pytest

from verigym.envs.check import cheap_answers
from verigym.envs.check.cheap_answers import Form, read_form
from verigym.envs.check.cheap_play import _tail
from verigym.envs.check.laws.cheap import cheap_answers_earn_no_more_than_guessing
from verigym.envs.check.subject import Broken, Subject

SOURCE = Path(__file__).parents[2] / "data" / "broken_envs" / "broken_envs.py"
SPEC = importlib.util.spec_from_file_location("cheap_envs", SOURCE)
ENVS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ENVS)


class Choice(ENVS.Sums):
    """One of three numbers of the prompt is the answer, as often at each place."""

    def ask(self, rng, level):
        numbers = rng.choice(10**6, 3, replace=False).tolist()
        return ENVS.Ask(
            prompt=f"Which has the middle value: {numbers}?", answer=str(sorted(numbers)[1])
        )


class Skewed(ENVS.Sums):
    """Numbers, most of which are 1."""

    def ask(self, rng, level):
        number = 1 if rng.random() < 0.7 else int(rng.integers(2, 1000))
        return ENVS.Ask(prompt=f"{int(rng.integers(10**6))}?", answer=str(number))


def subject(kind, seeds=24):
    class Given(Subject):
        def make(self, **kwargs):
            return kind(**kwargs)

    return Given(kind.id, seeds)


@pytest.mark.parametrize("kind", [ENVS.Sums, ENVS.YesOrNo, Choice])
@pytest.mark.parametrize("seeds", [12, 200])
def test_a_guess_may_be_right_now_and_then(kind, seeds):
    cheap_answers_earn_no_more_than_guessing(subject(kind, seeds))


@pytest.mark.parametrize(
    ("kind", "seeds", "told"),
    [
        (ENVS.PaysRestating, 12, r"restating .*earns 1.00 .*a guess 0.05; such as .* \+ "),
        (ENVS.PaysEcho, 12, r"echoing earns 1.00"),
        (ENVS.PaysConstant, 12, r"the constant 'none' earns 1.00"),
        (ENVS.PaysWrapped, 12, r"a wrong answer earns nothing, but 1 with parentheses: '\("),
        (ENVS.MostlyYes, 200, r"'yes'|another task's solution"),
        (Skewed, 200, r"the constant '1' earns 0\.[67]"),
    ],
)
def test_it_is_found(kind, seeds, told):
    with pytest.raises(Broken, match=told):
        cheap_answers_earn_no_more_than_guessing(subject(kind, seeds))


@pytest.mark.parametrize(
    ("reply", "answer", "filled"),
    [
        ("<answer>42</answer>", "42", "<answer>x</answer>"),
        ("I think.\n<answer>\na 1\n</answer>\n", "\na 1\n", "I think.\n<answer>x</answer>\n"),
        ("```sql\nSELECT 1\n```", "SELECT 1", "```sql\nx\n```"),
        (
            '<tool_call>{"name": "answer", "arguments": {"value": 42, "why": ""}}</tool_call>',
            "42",
            '<tool_call>{"name": "answer", "arguments": {"value": "x", "why": ""}}</tool_call>',
        ),
        ("e2e4", "e2e4", "x"),
        ('<tool_call>{"name": "finish", "arguments": {}}</tool_call>', None, "x"),
    ],
)
def test_the_form_of_an_answer(reply, answer, filled):
    form, found = read_form(reply)
    assert found == (reply if answer is None else answer)
    assert form.fill("x") == filled
    assert answer is None or read_form(form.fill(answer))[1] == answer


@pytest.mark.parametrize(
    ("prompt", "spans"),
    [
        ("What is the value of 4 - (2 + 3) * 5?", {"4 - (2 + 3) * 5"}),
        ("What is 7 + 1/(5 + 1/(6))?", {"7 + 1/(5 + 1/(6))"}),
        ("Compute $\\frac12+\\frac13$.", {"\\frac12+\\frac13"}),
        ("Is a 3 in A = [[1, 2], [3, 4]]?", {"[[1, 2], [3, 4]]", "A = [[1, 2], [3, 4]]"}),
        ("Find F(x) with F'(x) = (3x^2 + 2) * exp(2x).", {"(3x^2 + 2) * exp(2x)"}),
        ("What is the determinant of [[1, 2], [3, 4]]?", {"det([[1, 2], [3, 4]])"}),
        ("What is the remainder of 2^5 when divided by 7?", {"(2^5) mod 7", "2^5"}),
        ("Mend it:\n```sql\nSELECT a\nFROM b\n```\n", {"SELECT a\nFROM b"}),
        ("He said 'let there be light' and `x + 1`.", {"let there be light", "x + 1"}),
    ],
)
def test_what_a_question_says_is_found(prompt, spans):
    found = {span for ways in cheap_answers.restatements(prompt).values() for span in ways}
    assert spans <= found


def test_lone_numbers_and_words_are_picked_not_restated():
    prompt = "Which of 12, -5.5 and 3/4 is the 'largest'?"
    found = cheap_answers.restatements(prompt)
    assert not {"12", "-5.5", "3/4", "largest"} & {span for ways in found.values() for span in ways}
    assert cheap_answers.numbers(prompt) == ["12", "-5.5", "3/4"]
    assert cheap_answers.words(prompt) == ["largest"]


def test_a_wrapping_means_the_same():
    code = "def f(x):\n    return x + 1"
    wrapped = cheap_answers.wrappings(Form("```python\n", "\n```", "python"), code)
    for program in (*wrapped.values(), "def main():\n    pass\n\n\nmain()"):
        compile(program, "wrapped", "exec")
    assert "_first(*args)" in wrapped["a function around it"]
    queries = cheap_answers.wrappings(Form(language="sql"), "SELECT a FROM t;")
    assert queries["SELECT * FROM (...)"] == "SELECT * FROM (SELECT a FROM t) AS t"


def test_a_program_is_given_its_own_numbers():
    prompt = """Mend:
```python
def f(xs, on):
    return xs[0] > 40 or on
```
xs is a list of 1 to 3 items, each a whole number from -9 to 50; on is true or false."""
    form = Form("```json\n", "\n```", "json")
    replies = cheap_answers.inputs_of_constants(form, "[[[1, 2, 3], true], [[4], false]]", prompt)
    assert replies["the numbers of the shown program"] == form.fill(
        "[[[0, 40, 0], true], [[40], false]]"
    )
    assert "41" in replies["the neighbours of the numbers of the shown program"]
    assert not cheap_answers.inputs_of_constants(form, "[1, 2]", prompt)
    assert not cheap_answers.inputs_of_constants(form, "[[1]]", "Give a whole number from 1 to 9.")


def test_the_bound_is_that_of_a_guess():
    assert _tail(12, 0, 0.05) == pytest.approx(1)
    assert _tail(2, 2, 0.5) == pytest.approx(0.25)
    assert _tail(10, 1, 0.1) == pytest.approx(1 - 0.9**10)
