"""No environment of `math/answer` pays a reply that repeats its question or leaves the work undone."""

import re
from fractions import Fraction
from itertools import pairwise

import pytest

import verigym
from verigym.envs.math.families import FAMILIES
from verigym.verifiers.math.answer import AnswerVerifier

SEEDS = [range(2), pytest.param(range(2, 8), marks=pytest.mark.slow)]
_MATHS = re.compile(r"[-(\[]*\d[\d\s+*/^()\[\],.%x=-]*")
_WRAPS = (
    "<answer>{}</answer>",
    "\\boxed{{{}}}",
    "<answer>$ {} $</answer>",
    "<answer>x = {}</answer>",
)


def tasks(family, seeds):
    env = family()
    for difficulty in (*family.difficulties, 7, 10):
        for seed in seeds:
            yield env.sample_task(seed, difficulty)


def copies(prompt):
    """Return the mathematics in the prompt, with trivial changes, and as an operation named in
    words."""
    found = [match[0].strip(" \n,.=*/^") for match in _MATHS.finditer(prompt)]
    found = [text for text in found if text]
    numbers = re.findall(r"-?\d+(?:/\d+)?", prompt)[:2]
    if len(numbers) == 2:
        a, b = numbers
        found += [f"gcd({a}, {b})", f"lcm({a}, {b})", f"{a}/100*{b}", f"{a} - {b}", f"({a})*({b})"]
    if asked := re.search(r"remainder when (.+) is divided by (\d+)", prompt):
        found += [f"{asked[1]} \\bmod {asked[2]}", f"({asked[1]}) mod {asked[2]}"]
    if "Solve for real x" in prompt:
        equation = re.search(r"x: (.+)", prompt)[1]
        found += [equation, f"\\{{x : {equation}\\}}", f"\\{{x \\mid {equation} + 1 - 1\\}}"]
    rows = re.findall(r"\[\[.*?\]\]", prompt)
    found += [f"det({row})" for row in rows] + [f"\\det {row}" for row in rows]
    found += [f"{a} * {b}" for a, b in pairwise(rows)]
    for text in list(found):
        found += [text.replace("*", " \\times "), f"1 * ({text})", f"{text} + 0"]
    return [text for text in dict.fromkeys(found) if re.search(r"[a-z\d)\]]\s*[-+*/^%,(!]", text)]


def undone(answer):
    """A right value written so that work is left, for a number, and for the members of a list."""
    try:
        value = Fraction(answer)
    except ValueError:
        return [
            re.sub(r"-?\d+(?:/\d+)?", lambda match: f"({match[0]}+1-1)", answer),
            re.sub(r"-?\d+(?:/\d+)?", lambda match: f"2*({match[0]})/2", answer),
        ]
    return [
        f"{value - 1} + 1", f"3*({value})/3", f"\\frac{{{2 * value.numerator}}}{{{2 * value.denominator}}} + 0",
        f"{value} * 1", f"-(-1)*({value})", f"max({value}, {value})", f"{value - 1} + 1 = 1 + {value - 1}",
        f"\\sum_{{k=1}}^{{1}} ({value})",
    ]  # fmt: skip


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_restating_earns_nothing_and_the_oracle_all(family, seeds):
    verifier, paid = AnswerVerifier(), []
    for task in tasks(family, seeds):
        answer = task.reference["answer"]
        assert verifier.verify(task, f"<answer>{answer}</answer>").score == 1.0
        for k, text in enumerate(copies(task.prompt)):
            reply = _WRAPS[k % len(_WRAPS)].format(text)
            if verifier.verify(task, reply).score and plain(text) != plain(answer):
                paid.append((task.prompt, answer, reply))
    assert not paid


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_work_that_is_left_undone_earns_nothing(family, seeds):
    verifier, paid = AnswerVerifier(), []
    for task in tasks(family, seeds):
        answer = task.reference["answer"]
        if re.search(r"[a-z]{2}", answer):
            continue
        for text in undone(answer):
            verdict = verifier.verify(task, f"<answer>{text}</answer>")
            if verdict.score:
                paid.append((task.prompt, answer, text))
    assert not paid


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
@pytest.mark.parametrize("name", ["math/python", "math/retry"])
def test_the_form_holds_where_questions_of_all_families_are_asked(name, difficulty):
    verifier = AnswerVerifier()
    with verigym.make(f"verigym/{name}-v0") as env:
        for seed in range(5):
            task = env.sample_task(seed, difficulty)
            assert task.reference["form"] in ("evaluated", "reduced")
            answer = task.reference["answer"]
            paid = [
                text
                for text in ([] if re.search(r"[a-z]{2}", answer) else undone(answer))
                if verifier.verify(task, f"<answer>{text}</answer>").score
            ]
            assert not paid


def plain(text):
    """A literal that stands in the question, the value of which is the answer."""
    text = text.strip("() ")
    try:
        return Fraction(text)
    except ValueError:
        return re.sub(r"[\s(){}\[\]]", "", text)
