"""The questions on mathematics, each answered a second way: by sympy, by brute force, by reading the story.

What is compared is the prompt that a policy reads with the reference that judges it.
"""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import pytest
import sympy
from sympy.abc import x
from sympy.functions.combinatorial.numbers import nP

import verigym

SEEDS = range(12)


def questions(name):
    """Prompts, kinds and answers over all difficulties."""
    env = verigym.make(f"math/{name}-v0")
    for difficulty in env.difficulties:
        for seed in SEEDS:
            task = env.sample_task(seed, difficulty)
            text = task.prompt.replace(env.form, "").strip()
            yield text, task.tags[0], task.reference["answer"]


def read(text):
    """An expression of ours as sympy's."""
    text = re.sub(r"(?<=\d)(?=[a-z(])", "*", text.replace("^", "**"))
    return sympy.sympify(text, rational=True)


def numbers(text):
    return [int(n) for n in re.findall(r"-?\d+", text)]


def points(text):
    return [sympy.Point(*pair) for pair in re.findall(r"\((-?\d+), (-?\d+)\)", text)]


def pair(answer):
    return sympy.Point(*(sympy.Rational(part) for part in answer.strip("()").split(",")))


def test_arithmetic():
    for text, _, answer in questions("arithmetic"):
        expression = text.removeprefix("What is the value of ").removesuffix("?")
        assert re.fullmatch(r"[\d+*() -]+", expression)
        assert sympy.sympify(expression) == int(answer)


def test_fractions():
    for text, kind, answer in questions("fractions"):
        text = text.partition("\n")[0]
        found = None
        if kind == "percent_of" and text.startswith("What"):
            percent, whole = numbers(text)
            found = Fraction(percent, 100) * whole
        elif kind == "percent_of":
            part, percent = re.match(r"([\d.]+) is (\d+)%", text).groups()
            found = Fraction(part) * 100 / int(percent)
        elif kind == "changed_by_percent":
            found = Fraction(re.match(r"A price of (\d+)", text)[1])
            for way, percent in re.findall(r"(rises|falls) by (\d+)%", text):
                found += found * int(percent) / 100 * (1 if way == "rises" else -1)
        else:
            body = text.removeprefix("What is ").removesuffix("?").replace(" of ", " * ")
            found = Fraction(str(sympy.sympify(body, rational=True)))
        assert found == Fraction(answer), text


def test_equations():
    for text, _, answer in questions("equations"):
        left, _, right = text.partition("\n")[0].removeprefix("Solve for real x: ").partition(" = ")
        solutions = sympy.solveset(read(left) - read(right), x, sympy.S.Reals)
        assert solutions == sympy.FiniteSet(*numbers(answer)), text


def test_systems():
    for text, _, answer in questions("systems"):
        names = sympy.symbols("x y z w")[: len(numbers(answer))]
        lines = [line.partition(" = ") for line in text.splitlines()[1:-1]]
        found = sympy.linsolve([read(left) - int(right) for left, _, right in lines], names)
        assert found == sympy.FiniteSet(tuple(numbers(answer))), text


def test_number_theory():
    for text, kind, answer in questions("number-theory"):
        n = numbers(text)
        if kind == "gcd_or_lcm":
            found = (math.gcd if "greatest" in text else math.lcm)(*n)
        elif kind == "remainder":
            found = (n[0] * n[1] if "*" in text else n[0] + n[1]) % n[2]
        elif kind == "divisor_count":
            divisors = [d for d in range(1, n[0] + 1) if n[0] % d == 0]
            found = sum(divisors) if "sum" in text else len(divisors)
        elif kind == "power":
            found = n[0] ** n[1] % n[2]
        elif kind == "totient":
            found = sum(math.gcd(k, n[1]) == 1 for k in range(1, n[1] + 1))
        elif kind == "inverse":
            (found,) = (k for k in range(1, n[1] + 1) if n[2] * k % n[4] == 1)
        else:
            rests = list(zip(n[2::2], n[3::2], strict=True))
            (found,) = (k for k in range(n[1] + 1) if all(k % m == r for r, m in rests))
        assert found == int(answer), text


def test_counting():
    for text, kind, answer in questions("counting"):
        n = numbers(text)
        if kind == "arrangements":
            word = re.search(r"letters of ([A-G]+)", text)[1]
            found = nP(Counter(word), len(word))
            if len(word) <= 7:
                assert found == len(set(itertools.permutations(word)))
        elif kind == "committees":
            seats, women, men, least = (*n, 0)[:4]
            people = [1] * women + [0] * men
            found = sum(sum(c) >= least for c in itertools.combinations(people, seats))
        elif kind == "lattice_paths":
            _, _, across, up, bx, by = n
            ways = Counter({(0, 0): 1})
            for i, j in itertools.product(range(across + 1), range(up + 1)):
                if (i, j) != (0, 0):
                    ways[i, j] = 0 if (i, j) == (bx, by) else ways[i - 1, j] + ways[i, j - 1]
            found = ways[across, up]
        elif kind == "distributions":
            coins, children, least = (*n, 0)[:3]
            ways = [1] + [0] * coins
            for _ in range(children):
                ways = [sum(ways[c - k] for k in range(least, c + 1)) for c in range(coins + 1)]
            found = ways[coins]
        elif kind == "dice_sum":
            dice, total = n
            sums = Counter(map(sum, itertools.product(range(1, 7), repeat=dice)))
            good = sum(
                c for s, c in sums.items() if (s >= total if "least" in text else s == total)
            )
            found = Fraction(good, 6**dice)
        elif kind == "urn":
            red, blue, drawn, wanted = n
            balls = [1] * red + [0] * blue
            draws = [sum(c) for c in itertools.combinations(balls, drawn)]
            found = Fraction(draws.count(wanted), len(draws))
        else:
            a, b, c, d = n
            # Of common * 2 equally likely draws, those that are white.
            common = math.lcm(a + b, c + d)
            first, second = a * common // (a + b), c * common // (c + d)
            found = Fraction(first, first + second)
        assert found == Fraction(answer), text


def test_sequences():
    for text, _, answer in questions("sequences"):
        given = {int(i): int(v) for i, v in re.findall(r"a_(\d+) = (-?\d+)", text)}
        rule = re.search(r"a_k = (.*?) for all", text)[1]
        ask = re.search(r"What is (.*)\?", text)[1]
        last = numbers(ask)[-1]
        for k in range(max(given) + 1, last + 1):
            terms = re.findall(r"([+-]?) ?(\d*) ?(?:a_\(k-(\d)\))?", rule)
            given[k] = sum(
                int(f"{sign}{size or 1}") * (given[k - int(back)] if back else 1)
                for sign, size, back in terms
                if size or back
            )
        found = sum(given[k] for k in range(1, last + 1)) if "..." in ask else given[last]
        assert found == int(answer), text


def test_matrices():
    for text, kind, answer in questions("matrices"):
        found = [
            sympy.Matrix(sympy.sympify(m))
            for m in re.findall(r"\[\[.*?\]\]", text)
            if ".." not in m
        ]
        a = found[0]
        if kind == "the_determinant":
            assert a.det() == int(answer)
        elif kind == "the_product":
            assert a * found[1] == sympy.Matrix(sympy.sympify(answer))
        elif kind == "the_inverse":
            assert a.inv() == sympy.Matrix(sympy.sympify(answer))
        elif kind == "the_rank":
            assert a.rank() == int(answer)
        else:
            assert set(a.eigenvals()) == set(numbers(answer))


@pytest.mark.slow
def test_calculus():
    for text, kind, answer in questions("calculus"):
        if kind == "slope":
            curve, at = re.match(r"What is the slope of y = (.*) at x = (-?\d+)\?", text).groups()
            assert sympy.diff(read(curve), x).subs(x, int(at)) == sympy.Rational(answer)
        elif kind == "integral":
            body, a, b = re.match(
                r"What is the integral of (.*) from x = (-?\d+) to x = (-?\d+)\?", text
            ).groups()
            assert sympy.integrate(read(body), (x, int(a), int(b))) == sympy.Rational(answer)
        elif kind == "derivative":
            body = re.match(r"What is the derivative of (.*) with respect", text)[1]
            assert sympy.simplify(sympy.diff(read(body), x) - read(answer)) == 0
        else:
            start, slope = re.match(
                r"Find F\(x\) if F\(0\) = (\S+) and F'\(x\) = (.*)\. Write", text
            ).groups()
            assert sympy.simplify(sympy.diff(read(answer), x) - read(slope)) == 0
            assert read(answer).subs(x, 0) == sympy.Rational(start)


@pytest.mark.slow
def test_geometry():
    for text, kind, answer in questions("geometry"):
        p = points(text)
        if kind == "midpoint":
            assert p[0].midpoint(p[1]) == pair(answer)
        elif kind == "distance":
            assert p[0].distance(p[1]) == sympy.sympify(answer)
        elif kind in ("triangle_area", "polygon_area"):
            assert abs(sympy.Polygon(*p).area) == sympy.Rational(answer)
        elif kind == "slope_and_intercept":
            m, c = pair(answer).args
            assert all(m * q.x + c == q.y for q in p)
        elif kind == "crossing":
            assert sympy.Line(p[0], p[1]).intersection(sympy.Line(p[2], p[3])) == [pair(answer)]
        elif kind == "reflection":
            assert p[0].reflect(sympy.Line(p[1], p[2])) == pair(answer)
        else:
            assert sympy.Circle(*p).center == pair(answer)


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_word_problems(difficulty):
    env = verigym.make("math/word-problems-v0")
    factor = {
        "twice": 2,
        "three times": 3,
        "four times": 4,
        "half": 0.5,
        "a third": 1 / 3,
        "a quarter": 0.25,
    }
    for seed in SEEDS:
        task = env.sample_task(seed, difficulty)
        ask = re.search(
            r"How many (\w+) does? ?(.*?) have( together)?\?", task.prompt.replace(" do ", " does ")
        )
        thing, who = ask[1], re.findall(r"[A-Z]\w+", ask[2])
        known, waiting = {}, []
        for sentence in re.split(r"(?<=\.) ", task.prompt[: ask.start()].strip()):
            if match := re.fullmatch(rf"(\w+) has (\d+) {thing}\.", sentence):
                known[match[1]] = int(match[2])
            elif match := re.fullmatch(
                rf"(\w+) has (\d+) (more|fewer) {thing} than (\w+)\.", sentence
            ):
                sign = 1 if match[3] == "more" else -1
                waiting.append((match[1], match[4], lambda n, d=sign * int(match[2]): n + d))
            elif match := re.fullmatch(rf"(\w+) has (.*) as many {thing} as (\w+)\.", sentence):
                waiting.append((match[1], match[3], lambda n, f=factor[match[2]]: round(n * f)))
            else:
                assert re.fullmatch(r"\w+ also has \d+ \w+\.", sentence), sentence
        while waiting:
            for one in list(waiting):
                if one[1] in known:
                    known[one[0]] = one[2](known[one[1]])
                    waiting.remove(one)
        assert sum(known[name] for name in who) == int(task.reference["answer"]), task.prompt
