"""`code/repo`: what is wanted is what Python returns from the mended files, and each mistake matters."""

import itertools
import json
import statistics
import types
from fractions import Fraction

import numpy as np
import pytest

import verigym
from verigym.envs.code import repo
from verigym.envs.code.repo_records import calls
from verigym.envs.code.stage_variants import one_off, variants
from verigym.envs.code.stages import FEATURES, REPORTS, STEPS
from verigym.verifiers.code.patch import patched


def native(files, entry, args):
    """Run the repository in this process: it is ours."""
    module, _, function = entry.partition(":")
    space = {}
    kept = {}

    def load(name):
        if name in kept:
            return kept[name]
        path = name.replace(".", "/") + ".py"
        made = types.ModuleType(name)
        kept[name] = made
        source = files[path]
        for line in source.split("\n"):
            if line.startswith("from "):
                _, where, _, what = line.split(" ")
                made.__dict__[what] = load(where).__dict__[what]
        code = "\n".join(line for line in source.split("\n") if not line.startswith("from "))
        exec(code, made.__dict__)
        return made

    space = load(module)
    return space.__dict__[function](*json.loads(json.dumps(args)))


def check(level, seed):
    env = verigym.make("code/repo")
    draft = env.generate(np.random.default_rng(seed), level)
    reference = draft.reference
    files, fixed = reference["files"], {**reference["files"], **reference["fixed"]}
    for test in reference["tests"]:
        assert native(fixed, reference["entry"], test["args"]) == test["result"]
    alone = [{**fixed, path: files[path]} for path in reference["fixed"]]
    for broken in (files, *alone):
        assert any(
            native(broken, reference["entry"], test["args"]) != test["result"]
            for test in reference["tests"]
        )
    assert len(reference["fixed"]) == (2 if level == 6 else 1)
    assert 3 <= len(files) <= 10


@pytest.mark.parametrize("level", [2, 4, 6])
def test_python_agrees_with_what_is_wanted(level):
    for seed in range(4):
        check(level, seed)


def _differs(files, entry, args, wanted):
    try:
        return native(files, entry, args) != wanted
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return True


@pytest.mark.parametrize("level", [2, 4])
def test_hidden_records_tell_a_mended_part_whose_number_is_one_off(level):
    told = 0
    for seed in range(6):
        draft = verigym.make("code/repo").generate(np.random.default_rng(seed), level)
        reference = draft.reference
        entry = reference["entry"]
        fixed = {**reference["files"], **reference["fixed"]}
        ((path, text),) = reference["fixed"].items()
        for wrong in one_off(text):
            files = {**fixed, path: wrong}
            if any(_differs(files, entry, t["args"], t["result"]) for t in reference["tests"]):
                told += 1
                continue
            # Nothing else must tell it either.
            rng = np.random.default_rng(seed)
            for _ in range(100):
                records = [
                    {"name": "abc"[n % 3], "group": "xy"[n % 2], "amount": a, "day": d}
                    for n, a, d in rng.integers(
                        1, (9, 40, 18), (int(rng.integers(1, 7)), 3)
                    ).tolist()
                ]
                assert not _differs(files, entry, [records], native(fixed, entry, [records]))
    assert told >= 10


def test_parts_leave_their_records_as_they_are():
    rng = np.random.default_rng(5)
    for stage in (*STEPS, *FEATURES, *REPORTS):
        numbers = {name: low for name, (low, _) in stage.draws.items()}
        made = variants(stage)
        for maker in (made.right, *made.mistakes):
            for call in itertools.islice(calls(rng, (numbers,)), 5):
                before = json.dumps(call)
                maker(**numbers)(call)
                assert json.dumps(call) == before


@pytest.mark.slow
@pytest.mark.parametrize("level", [2, 4, 6])
def test_python_agrees_on_many(level):
    for seed in range(100, 160):
        check(level, seed)


def test_every_mistake_changes_its_source():
    for stage in (*STEPS, *FEATURES, *REPORTS):
        for old, new in stage.mistakes:
            assert old in stage.source
            assert old != new


def test_commands_show_the_repository():
    env = verigym.make("code/repo", difficulty="medium")
    env.reset(seed=3)
    files = env.task.reference["files"]
    listed = env.step("Let me see what there is.\nls")[0]
    assert [line.split(" ")[0] for line in listed.split("\n")] == sorted(files)
    path = sorted(files)[1]
    assert env.step(f"cat {path}")[0] == files[path]
    assert env.step("$ cat README.md")[0] == files["README.md"]
    found = env.step("grep def run(records)")[0]
    assert found.split(":")[0].endswith("/main.py")
    assert env.step("grep zebra")[0] == "no line contains zebra"
    observation, reward, over, _, info = env.step("rm -rf /")
    assert (reward, over, info["valid_action"]) == (0.0, False, False)
    assert "no command" in observation
    assert env.step("cat ../../etc/passwd")[0] == "there is no file ../../etc/passwd"


def test_a_long_list_of_lines_says_how_many_are_not_shown():
    env = verigym.make("code/repo", difficulty=10)
    env.reset(seed=3)
    lines = env.step("grep e")[0].split("\n")
    texts = env.task.reference["files"].values()
    found = sum("e" in line for text in texts for line in text.split("\n"))
    assert len(lines) == 61
    assert lines[-1] == f"({found - 60} more lines are not shown)"


def test_looking_first_changes_nothing_of_the_reward():
    env = verigym.make("code/repo", difficulty="hard")
    env.reset(seed=2)
    for path in env.task.reference["files"]:
        assert env.step(f"cat {path}")[1] == 0.0
    _, reward, over, _, _ = env.step(env.oracle())
    assert (reward, over) == (1.0, True)


def test_half_of_two_mistakes_earns_nothing():
    env = verigym.make("code/repo", difficulty="hard")
    env.reset(seed=1)
    path, text = next(iter(env.task.reference["fixed"].items()))
    reply = f"```python\n# file: {path}\n{text}```"
    assert patched(env.task.reference["files"], reply) == {path: text}
    _, reward, over, _, _ = env.step(reply)
    assert (reward, over) == (0.0, True)


def test_a_mistake_is_one_of_those_drawn():
    plan = repo._Plan.draw(np.random.default_rng(1), 6)
    assert len({at for at, _ in plan.mistakes}) == 2


def shared(amounts, records, numbers):
    for week in {r["day"] // 7 for r in records}:
        of_week = [at for at, r in enumerate(records) if r["day"] // 7 == week]
        total = sum(records[at]["amount"] for at in of_week)
        if total:
            exact = {at: Fraction(records[at]["amount"] * numbers["POOL"], total) for at in of_week}
            amounts.update({at: int(share) for at, share in exact.items()})
            while sum(amounts[at] for at in of_week) < numbers["POOL"]:
                most = max(of_week, key=lambda at: (exact[at] - int(exact[at]), -at))
                amounts[most] += 1
                exact[most] = Fraction(-1)
    return amounts


def settled(amounts, records, numbers):
    for at, payment in enumerate(records):
        while payment["group"] == "y" and amounts[at]:
            bills = [
                (r["day"], i)
                for i, r in enumerate(records[:at])
                if r["group"] == "x" and r["name"] == payment["name"] and amounts[i]
            ]
            if not bills:
                break
            amounts[min(bills)[1]] -= 1
            amounts[at] -= 1
    return {at: amount for at, amount in amounts.items() if amount}


def bracketed(amounts, records, numbers):
    sums = {}
    for at, r in enumerate(records):
        key = r["name"], r["day"] // 7
        whole = part = 0
        for _ in range(r["amount"]):
            sums[key] = sums.get(key, 0) + 1
            whole += sums[key] <= numbers["LOW"]
            part += numbers["LOW"] < sums[key] <= numbers["HIGH"]
        amounts[at] = whole + part * numbers["RATE"] // 100
    return amounts


def smoothed(amounts, records, numbers):
    for at, r in enumerate(records):
        own = [one["amount"] for one in records[: at + 1] if one["group"] == r["group"]]
        amounts[at] = statistics.median_low(own[-numbers["SPAN"] :])
    return amounts


@pytest.mark.parametrize("stage", [pytest.param(one, id=one.name) for one in FEATURES])
def test_parts_that_are_to_be_written_do_what_is_said_of_them_unit_by_unit(stage):
    rng = np.random.default_rng(3)
    way = {one.__name__: one for one in (shared, settled, bracketed, smoothed)}[stage.name]
    for _ in range(40):
        numbers = {n: int(rng.integers(low, high + 1)) for n, (low, high) in stage.draws.items()}
        for records in itertools.islice(calls(rng, (numbers,)), 5):
            plain = dict(enumerate(r["amount"] for r in records))
            amounts = way(plain, records, numbers)
            wanted = [{**records[at], "amount": amount} for at, amount in amounts.items()]
            assert variants(stage).right(**numbers)(records) == wanted


@pytest.mark.parametrize("level", [8, 9, 10])
def test_parts_without_a_file_have_to_be_written(level):
    env = verigym.make("code/repo", difficulty=level)
    env.reset(seed=1)
    files, fixed = env.task.reference["files"], env.task.reference["fixed"]
    missing = sorted(set(fixed) - set(files))
    assert len(missing) == level - 7
    assert "still to be written" in env.task.prompt
    assert "HISTORY.md" in files
    for path in missing:
        assert path.split("/")[1] in files["README.md"]
        assert env.step(f"cat {path}")[0].startswith("there is no file")
    whole = {**files, **fixed}
    for test in env.task.reference["tests"]:
        assert native(whole, env.task.reference["entry"], test["args"]) == test["result"]
    mended = "\n".join(f"```python\n# file: {p}\n{fixed[p]}```" for p in fixed if p in files)
    assert env.step(mended)[1:3] == (0.0, True)
    env.reset(seed=1)
    assert env.step(env.oracle())[1:3] == (1.0, True)
