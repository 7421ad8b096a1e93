"""Questions in parts: links give the numbers that were drawn, and no part can be left out."""

import re
from fractions import Fraction
from statistics import mean

import numpy as np
import pytest

import verigym
from verigym.envs.math import computed
from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import linked
from verigym.envs.math.families import CONTEST_KINDS, FAMILIES
from verigym.envs.math.paper import Paper

LEVELS = [level for level, count in linked.PARTS.items() if count > 1]
KIND = {kind.name: kind for kind in CONTEST_KINDS + computed.KINDS}
PART = re.compile(r"^Part (\d+): (.*?) Let R\1 be ([^\n]*)", re.MULTILINE | re.DOTALL)
FREE = [
    kind
    for kind in KIND.values()
    if kind.name not in ("race_of_words", "markov_chain", "no_equal_neighbours")
]

FOR_ALL_NUMBERS = (
    "convolved",
    "coprime_count",
    "eigenvalue_powers",
    "far_term",
    "halving",
    "modulo_prime",
    "sphere",
    "sum_of_unknowns",
    "taylor_coefficient",
    "tetrahedron",
    "whole_root",
)
"""Kinds whose numbers may be any."""


def asks(kinds, level, seeds=4):
    for seed in range(seeds):
        rng = np.random.default_rng([seed, level])
        yield linked.ask([kinds] * linked.PARTS[level], rng, level)


def value_of(tokens, names):
    """Return the value of an expression with + - * mod and parentheses, by recursive descent."""

    def atom():
        token = tokens.pop(0)
        if token == "(":
            value = total()
            assert tokens.pop(0) == ")"
            return value
        return names[token] if token in names else int(token)

    def product():
        value = atom()
        while tokens and tokens[0] in ("*", "mod"):
            sign, other = tokens.pop(0), atom()
            value = value * other if sign == "*" else value % other
        return value

    def total():
        value = product()
        while tokens and tokens[0] in ("+", "-"):
            sign, other = tokens.pop(0), product()
            value = value + other if sign == "+" else value - other
        return value

    return total()


def calculate(expression, results):
    names = {f"R{i}": value for i, value in enumerate(results, 1)}
    tokens = re.findall(r"R\d+|mod|[-+*()]|\d+", expression)
    value = value_of(tokens, names)
    assert not tokens
    return value


def fill_in(text, results):
    """Return the text with values for its links: parentheses that hold a result, from the outermost on."""
    while found := re.search(r"R\d", text):
        opened = [i for i, c in enumerate(text[: found.start()]) if c == "("]
        for start in opened:
            depth, end = 0, start
            while True:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
                if not depth:
                    break
            inner = text[start:end]
            if end > found.start() and re.fullmatch(r"(?:R\d+|mod|[-+* ()]|\d+)+", inner):
                text = text[:start] + str(calculate(inner, results)) + text[end:]
                break
    return text


def results_of(ask, wrong=0):
    """Return the results of the parts by the solvers of their kinds; that of the part `wrong` one too large."""
    results = []
    for (number, text, what), name in zip(PART.findall(ask.prompt), ask.tags, strict=True):
        text = fill_in(text, results)
        answer = Fraction(KIND[name].solve(Paper(), contest.numbers(text), text))
        results.append(taken(answer, what) + (int(number) == wrong))
    return results


def taken(answer, what):
    """Return the result of a part as the words after `Let R1 be` say."""
    if what.startswith("D("):
        pair = (
            (answer.numerator, answer.denominator)
            if "D(denominator" in what
            else (answer.numerator,)
        )
        return sum(
            int(digit) * (len(text) - i)
            for text in map(str, map(abs, pair))
            for i, digit in enumerate(text)
        )
    return answer.numerator + (answer.denominator if "denominator" in what else 0)


def checksum(ask, results):
    asked = ask.prompt.rpartition("What is the remainder when ")[2]
    expression, modulus = re.match(r"(.*) is divided by (\d+)\?", asked).groups()
    return calculate(expression, results) % int(modulus)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_parts_give_the_answer(family, level):
    for ask in asks(family.contest_kinds, level, 2):
        assert len(PART.findall(ask.prompt)) == len(ask.tags) == linked.PARTS[level]
        assert checksum(ask, results_of(ask)) == int(ask.answer), ask.prompt


def test_parts_that_want_a_program_are_linked_too():
    env = verigym.make("math/python")
    for level in (7, 8):
        task = env.sample_task(3, level)
        kinds = {kind.name for kind in computed.KINDS}
        assert sum(tag in kinds for tag in task.tags) == {7: 2, 8: 2}[level]
        assert task.prompt.count("Let R") == len(task.tags) - 1


def test_digits_are_weighed_as_the_example_says():
    assert linked.weigh(-407) == 19 == taken(Fraction(-407), "D(n)")
    assert taken(
        Fraction(-407, 12), "D(numerator of the answer) + D(denominator of the answer)"
    ) == 19 + linked.weigh(12)


@pytest.mark.parametrize("level", LEVELS)
def test_long_answers_enter_by_their_digits(level):
    weighed = 0
    for ask in asks(CONTEST_KINDS, level):
        results = []
        for (_, text, what), name in zip(PART.findall(ask.prompt), ask.tags, strict=True):
            text = fill_in(text, results)
            answer = Fraction(KIND[name].solve(Paper(), contest.numbers(text), text))
            is_long = max(abs(answer.numerator), answer.denominator) >= 10**9
            assert what.startswith("D(") == is_long
            weighed += is_long
            results.append(taken(answer, what))
    assert weighed >= linked.PARTS[level]


@pytest.mark.parametrize("level", LEVELS)
def test_a_wrong_part_makes_the_answer_wrong(level):
    right = 0
    for seed, ask in enumerate(asks(CONTEST_KINDS, level, 8)):
        parts = linked.PARTS[level]
        results = results_of(ask)
        results[seed % parts] += 1
        right += checksum(ask, results) == int(ask.answer)
    assert not right


def test_a_wrong_result_changes_the_parts_that_need_it():
    changed = []
    for ask in asks(tuple(KIND[name] for name in FOR_ALL_NUMBERS), 8, 60):
        changed.append(results_of(ask, wrong=1)[1] != results_of(ask)[1])
    assert mean(changed) > 0.95


@pytest.mark.parametrize("kind", FREE, ids=lambda kind: kind.name)
def test_most_questions_of_a_kind_can_be_linked(kind):
    for level in range(max(8, kind.first), kind.last + 1):
        texts = [
            contest.draw_problem(kind, np.random.default_rng([seed, level]), level).text
            for seed in range(8)
        ]
        assert sum(bool(linked.find_free(kind, text)) for text in texts) >= 4


def test_later_parts_need_earlier_ones():
    for ask in asks(CONTEST_KINDS, 10):
        for number, text, _ in PART.findall(ask.prompt):
            used = {int(i) for i in re.findall(r"R(\d+)", text)}
            if int(number) > 1:
                assert int(number) - 1 in used
                assert max(used) < int(number)
            else:
                assert not used


@pytest.mark.parametrize("level", LEVELS)
def test_prompts_are_bounded(level):
    for family in FAMILIES:
        for ask in asks(family.contest_kinds, level, 3):
            assert len(ask.prompt) < 6700
