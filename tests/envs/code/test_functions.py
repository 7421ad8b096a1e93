"""`code/functions`: the solutions and the answers, made in two ways, agree; guesses earn nothing."""

import copy
import json
import re

import numpy as np
import pytest

import verigym
from verigym.canonical import digest
from verigym.envs.code.functions import SLOTS

LEVELS = {level: SLOTS[level][0] for level in (2, 4, 6)}
FAMILIES = {family.__name__: family for families in LEVELS.values() for family in families}


def function_of(wanted):
    """A right program of ours, made a function here: a process for each call would take minutes."""
    names = {}
    exec(compile(wanted.source, wanted.name, "exec"), names)
    return names[wanted.name]


def test_names_counted_before_the_short_ones_are_left_out_are_seen():
    # Of `turned_round`: a program that leaves them out too late passed the tests of 3 tasks in 40.
    env = verigym.make("code/functions")
    for seed in range(150):
        task = env.sample_task(seed, "medium")
        source = task.reference["solution"]
        if task.reference["function"] != "turned_round":
            continue
        late = source.replace("    if len(name) >= ", "    if 1 or len(name) >= ")
        least = re.search(r"len\(name\) >= (\d)", source)[1]
        late = late.replace(
            "{town: names for", f"{{town: [n for n in names if len(n) >= {least}] for"
        )
        names = {}
        exec(compile(late, "turned_round", "exec"), names)
        if least != "1" and "len(names) >= 1}" not in source:
            calls = [(test["args"], test["result"]) for test in task.reference["tests"]]
            assert any(names["turned_round"](*args) != result for args, result in calls), source


def test_there_are_enough_families():
    assert len(FAMILIES) >= 15
    assert all(len(families) >= 5 for families in LEVELS.values())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_solution_and_the_answer_agree(name):
    family, rng = FAMILIES[name], np.random.default_rng(3)
    values = []
    for _ in range(40):
        wanted = family(rng)
        function = function_of(wanted)
        for size in (1, 2, 3, 7, 30):
            args = wanted.arguments(rng, size)
            kept = copy.deepcopy(args)
            want = wanted.answer(*args)
            assert args == kept, "the answer changes its arguments"
            got = function(*args)
            assert got == want, (wanted.source, kept)
            assert type(got) is type(want)
            # Plain data in and out: what JSON would change, such as a tuple, is not compared well.
            assert json.loads(json.dumps([kept, want])) == [kept, want]
            values.append(repr(want))
    assert max(map(values.count, set(values))) <= 0.6 * len(values)


@pytest.mark.parametrize("name", FAMILIES)
def test_statements_tell_the_parameters_apart(name):
    family, rng = FAMILIES[name], np.random.default_rng(4)
    sources = {}
    for _ in range(80):
        wanted = family(rng)
        assert wanted.statement.isascii()
        assert wanted.statement.isprintable()
        assert wanted.signature.isascii()
        sources.setdefault((wanted.signature, wanted.statement), set()).add(wanted.source)
    assert all(len(programs) == 1 for programs in sources.values())
    assert len(sources) >= 10


def wanted_with(name, *pieces):
    """A function of a family whose statement has these pieces."""
    rng = np.random.default_rng(0)
    for _ in range(3000):
        wanted = FAMILIES[name](rng)
        if all(piece in wanted.statement for piece in pieces):
            return wanted
    raise AssertionError(f"no {name} with {pieces}")


@pytest.mark.parametrize(
    ("name", "pieces", "args", "result"),
    [
        ("trimmed", ["the 1 smallest", "the 2 largest"], [[5, 1, 9, 7, 3]], 8),
        ("trimmed", ["the 1 smallest", "the 2 largest"], [[5, 1, 9]], -1),
        ("every_nth", ["divisible by 2", "left out"], ["ab cde"], "a ce"),
        ("every_nth", ["divisible by 3", "replaced by *"], ["ab cde"], "ab *de"),
        ("dealt", ["to 2 players, 1 at a time", "from the first player"], [["a", "b", "c"]], [["a", "c"], ["b"]]),
        ("dealt", ["to 2 players, 2 at a time", "back to the first"], [["a", "b", "c"]], [["c"], ["a", "b"]]),
        ("best_window", ["the 2 consecutive", "largest sum", "the last"], [[1, 2, 0, 3, 0]], 3),
        ("best_window", ["the 2 consecutive", "smallest sum", "the first"], [[1, 0, 0, 0]], 1),
        ("weighted_sum", ["plus 2 times", "empty tree weighs 3"], [[1, [2, []], -1]], 16),
        ("grid_paths", ["at most 1 time."], [["...", "...", "..."]], 2),
        ("grid_paths", ["at most 2 times"], [["..", ".."]], 2),
        ("unpacked", ["of its form. Return"], [["a", [2, ["bc"]]]], "abcbc"),
        ("unpacked", ["copy (the second, the fourth, ...) reversed"], [["a", [3, ["bc"]]]], "abccbbc"),
        ("choices", ["choose 2 of", "cost exactly"], [[3, 1, 2, 2], 4], [[1, 3], [2, 2]]),
        ("word_chain", ["begins with the last letter", "no longer than", "before and is no longer than that word. Return"], [["ab", "bc", "bcd", "ca"]], 3),
        ("spreading", ["share a side with it", "dampness below 3", "after 2 minutes"], [[[0, 1, 1, 1, 4]]], 3),
        ("spreading", ["share a side with it", "dampness below 3", "after 2 minutes"], [[[0, 3, 0, 3, 9]]], 3),
    ],
)  # fmt: skip
def test_values_worked_out_by_hand(name, pieces, args, result):
    wanted = wanted_with(name, *pieces)
    assert wanted.answer(*args) == result
    assert function_of(wanted)(*args) == result


def test_splits_differ_in_what_has_to_be_written():
    env = verigym.make("code/functions")
    seen = {}
    for difficulty in env.difficulties:
        for split in verigym.SPLITS:
            for seed in range(12):
                reference = env.sample_task(seed, difficulty, split).reference
                problem = digest(reference["signature"], reference["statement"])
                assert seen.setdefault(problem, split) == split


def test_hidden_calls_and_the_solution_are_not_in_the_prompt():
    env = verigym.make("code/functions")
    for difficulty in env.difficulties:
        for seed in range(20):
            task = env.sample_task(seed, difficulty)
            assert len(task.prompt) < 2000
            assert task.reference["solution"].split("\n", 1)[1] not in task.prompt
            for test in task.reference["tests"][2:]:
                call = f"{task.reference['function']}({', '.join(map(repr, test['args']))})"
                assert call not in task.prompt


def test_constant_functions_and_lookups_earn_nothing_and_are_told_why():
    env = verigym.make("code/functions")
    for seed, difficulty in enumerate(env.difficulties):
        env.reset(seed=seed, options={"difficulty": difficulty})
        reference = env.task.reference
        shown = [(t["args"], t["result"]) for t in reference["tests"] if t["visible"]]
        name = reference["function"]
        lookup = (
            f"def {name}(*a):\n    return dict((repr(k), v) for k, v in {shown!r})[repr(list(a))]"
        )
        observation, reward, *_ = env.step(f"def {name}(*a): return {shown[0][1]!r}")
        assert reward == 0.0
        observation, reward, *_ = env.step(lookup)
        assert (reward, observation.count("a hidden test")) == (0.0, 1)
        assert env.step(env.oracle())[1:3] == (1.0, True)
