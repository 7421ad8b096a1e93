"""`math/python`: what a cell leaves behind, what it cannot, and the answers counted a second way."""

import itertools
import re

import numpy as np
import pytest

import verigym
from verigym.envs.math import computed, families, interpreter
from verigym.errors import SandboxError
from verigym.verdict import VerifierFault

ID = "math/python-v0"


def cell(code):
    return f"Let me see.\n```python\n{code}\n```\n"


def shown(env, code):
    return env.step(cell(code))[0]


@pytest.fixture
def env():
    made = verigym.make(ID, max_turns=100)
    made.reset(seed=1)
    return made


def test_variables_stay_and_a_failed_block_keeps_what_it_did(env):
    assert shown(env, "x = 6") == "(no output)"
    assert shown(env, "x * 7") == "42"
    assert shown(env, "x = 8\n1 / 0") == "ZeroDivisionError: division by zero"
    assert shown(env, "print(x, x)") == "8 8"


def test_a_block_that_does_not_come_to_its_end_is_undone(env, monkeypatch):
    monkeypatch.setattr(interpreter, "CELL_S", 0.3)
    shown(env, "x = [0]")
    key = env.state_key()
    for code, why in (
        ("while True: x[0] += 1", "stopped after"),
        ("x.append(1); big = bytearray(10**10)", "memory"),
        ("x = 1\nfor _ in range(10**6): print('all' * 20)", "printed"),
        ("x = 2; import os; os._exit(0)", "ended the interpreter"),
    ):
        observation, reward, over, cut, _ = env.step(cell(code))
        assert (reward, over, cut) == (0.0, False, False)
        assert "undone" in observation
        assert why in observation
        assert env.state_key() != key  # another view of the same interpreter
    assert shown(env, "x") == "[0]"


CHANCE = """
import datetime, os, random, secrets, time, uuid
random.seed()
print(random.random(), random.Random().random(), random.SystemRandom().random(), os.urandom(4))
print(uuid.uuid4(), secrets.token_hex(4), secrets.randbelow(99), hash("text"), {"a", "b", "c"})
print(time.time(), time.perf_counter_ns(), time.ctime(), time.strftime("%H:%M:%S"))
print(datetime.datetime.now(), datetime.date.today(), object())
"""


def test_chance_and_clocks_are_the_same_in_each_run(env):
    other = verigym.make(ID, max_turns=100)
    other.reset(seed=1)
    for code in (
        CHANCE,
        CHANCE,
        "import numpy as np; np.random.rand(), np.random.default_rng().random()",
    ):
        first, second = shown(env, code), shown(other, code)
        assert first == second
        assert "Error" not in first
    assert env.state_key() == other.state_key()


def test_dates_are_still_dates(env):
    code = """
from datetime import date, datetime, timedelta
class Own(date): pass
days = [date(2020, 2, 28) + timedelta(2), datetime.now().date(), date.today(), datetime(2020, 3, 1)]
print([isinstance(day, date) for day in days], isinstance(days[0], datetime), isinstance(days[0], Own))
print(days[0], days[3] - datetime(2020, 2, 28), isinstance(Own(2020, 1, 1), Own), repr(days[0]))
"""
    assert shown(env, code).splitlines() == [
        "[True, True, True, True] False False",
        "2020-03-01 2 days, 0:00:00 True datetime.date(2020, 3, 1)",
    ]


def test_play_goes_on_from_a_snapshot_elsewhere(env):
    shown(env, "import random\nx = [random.random()]")
    point = env.snapshot()
    here = [shown(env, "x.append(random.random()); x"), env.state_key()]
    other = verigym.make(ID, max_turns=100)
    other.restore(point)
    assert [shown(other, "x.append(random.random()); x"), other.state_key()] == here
    env.restore(point)
    assert shown(env, "len(x)") == "1"


def test_the_key_is_of_the_cells_not_of_the_words_around_them(env):
    other = verigym.make(ID, max_turns=100)
    other.reset(seed=1)
    shown(env, "x = 1")
    env.step("no block")
    other.step("nothing here either")
    other.step("Otherwise worded.\r\n```py\r\nx = 1  \r\n```")
    assert env.state_key() != other.state_key()  # one shows that there was no block
    assert shown(env, "x") == shown(other, "x") == "1"
    assert env.state_key() == other.state_key()
    shown(env, "x += 1")
    shown(env, "x += 1")
    shown(other, "x += 2")
    assert env.state_key() != other.state_key()


def test_only_an_answer_outside_of_code_is_an_answer(env):
    right = env.task.reference["answer"]
    observation, reward, over, _, _ = env.step(cell(f"print('<answer>{right}</answer>')"))
    assert (reward, over) == (0.0, False)
    assert observation == f"<answer>{right}</answer>"
    _, reward, over, _, info = env.step(cell("1 / 0") + f"<answer>{right}</answer>")
    assert (reward, over, info["valid_action"]) == (1.0, True, True)


def test_a_sandbox_that_fails_changes_nothing(env, monkeypatch):
    before = env.snapshot()

    def broken(self, *args, **kwargs):
        raise SandboxError("no slot")

    with monkeypatch.context() as patch:
        patch.setattr("verigym.sandbox.local.LocalSandbox.session", broken)
        with pytest.raises(VerifierFault):
            env.step(cell("1"))
    assert env.snapshot() == before
    assert shown(env, "1") == "1"


def test_long_output_is_cut_and_odd_characters_replaced(env):
    observation = shown(env, "print('x' * 10_000)")
    assert len(observation) < interpreter.SHOWN_CHARS + 50
    assert shown(env, "'\\u20ac\\0'") in ("'?\\x00'", "'€\\x00'")


def counted(text):
    """The answer to a question of `computed`, the slow way."""
    n = [int(found) for found in re.findall(r"\d+", text)]
    if text.startswith("What is the sum of the decimal digits"):
        number, digits = n[0] ** n[1] + n[2], 0
        while number:
            number, digit = divmod(number, 10)
            digits += digit
        return digits
    if "prime numbers" in text:
        low, high, rest, modulus = n
        return sum(
            p % modulus == rest and all(p % d for d in range(2, int(p**0.5) + 1))
            for p in range(low, high + 1)
        )
    if "ordered pairs" in text:
        squares = np.arange(1, n[1] + 1) ** 2
        return int(np.count_nonzero((squares[:, None] + squares[None, :]) % n[-1] == 0))
    if "be paid" in text:
        total, a, b, c, d = n
        return sum(
            (total - a * i - b * j - c * k) % d == 0
            for i in range(total // a + 1)
            for j in range((total - a * i) // b + 1)
            for k in range((total - a * i - b * j) // c + 1)
        )
    if "remainder" in text:
        _, x, _, a, _, c, m, last = n
        return [*itertools.accumulate(range(last), lambda y, _: (a * y * y + c) % m, initial=x)][-1]
    moves = {}
    for start in range(n[-2], n[-1] + 1):
        chain = [start]
        while chain[-1] > 1:
            chain.append(chain[-1] // 2 if chain[-1] % 2 == 0 else 3 * chain[-1] + 1)
        moves[start] = len(chain)
    (best,) = [start for start in moves if moves[start] == max(moves.values())]
    return best


@pytest.mark.parametrize("kind", computed.KINDS, ids=lambda kind: kind.name)
def test_what_is_computed_is_right(kind):
    for seed in range(3):
        problem = kind.draw(np.random.default_rng(seed), 7)
        assert counted(problem.text) == problem.answer, problem.text


def test_two_answers_are_combined_as_the_question_says():
    for seed in range(6):
        ask = interpreter._ask(np.random.default_rng(seed), 6)
        rng = np.random.default_rng(seed)
        first = computed.draw(rng)
        while not re.fullmatch(r"-?\d+", (second := families.draw(rng, 6)).answer):
            pass
        assert ask.prompt.startswith(f"Question 1: {first.prompt}\nQuestion 2: {second.prompt}\n")
        factor = int(re.search(r"What is (\d) \* A \+ B\?", ask.prompt)[1])
        assert int(ask.answer) == factor * int(first.answer) + int(second.answer)
