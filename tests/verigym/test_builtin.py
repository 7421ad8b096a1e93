"""The tables of built-in environments and verifiers: every row, new rows and wrong ones."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from verigym.builtin import read_tables

ROOT = Path(__file__).parents[2]
ROWS = [(room, point) for room in ("envs", "verifiers") for point in read_tables(room).values()]

COIN = """
from verigym import Ask, Question


class Coin(Question):
    id = "verigym/fresh/coin-v0"
    verifier_id = "math/answer"
    difficulties = ("one", "two", "three")

    def ask(self, rng, level):
        side = int(rng.integers(1000))
        return Ask(prompt=f"Repeat {side}.", answer=str(side), steps=1)
"""
SAME = """
from verigym import Verifier, scored


class Same(Verifier):
    id = "fresh/same"
    version = 1
    about = "Text equal to the reference."

    def judge(self, task, submission):
        return scored(float(submission == task.reference), "compared")
"""


@pytest.mark.parametrize(("room", "point"), ROWS, ids=[f"{r}-{p.name}" for r, p in ROWS])
def test_every_row_names_a_class_of_that_id(room, point):
    module = import_module(point.module)
    kind = getattr(module, point.attr, None)
    assert kind is not None, f"{point.name} = {point.value}: {module.__file__} has no {point.attr}"
    assert kind.id == ("verigym/" if room == "envs" else "") + point.name
    assert kind.__module__ == point.module, "name the module that the class is written in"


@pytest.mark.parametrize("room", ["envs", "verifiers"])
def test_rows_are_sorted_so_that_each_has_one_place(room):
    for table in sorted((ROOT / room).glob(f"**/{room}.txt")):
        rows = [row for row in table.read_text().splitlines() if not row.startswith("#")]
        assert rows == sorted(rows), table


def link_into(folder, source, *, but=()):
    folder.mkdir()
    for path in source.iterdir():
        if path.name not in (*but, "__pycache__"):
            (folder / path.name).symlink_to(path)


@pytest.fixture
def tree(tmp_path):
    """The package as links, in which folders and files may be laid beside ours."""
    link_into(tmp_path / "verigym", ROOT / "verigym")
    for room in ("agents", "sandbox", "server", "trainers"):
        (tmp_path / "verigym" / room).symlink_to(ROOT / room)
    for room in ("envs", "verifiers"):
        link_into(tmp_path / "verigym" / room, ROOT / room)
        (tmp_path / "verigym" / room / "fresh").mkdir()
        (tmp_path / "verigym" / room / "fresh" / "__init__.py").touch()
    return tmp_path


def run(tree, *command):
    return subprocess.run(
        [sys.executable, "-W", "error", *command],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_new_one_is_one_file_and_one_row(tree):
    envs, verifiers = tree / "verigym" / "envs" / "fresh", tree / "verigym" / "verifiers" / "fresh"
    (envs / "coin.py").write_text(COIN)
    (envs / "envs.txt").write_text("fresh/coin-v0 = coin:Coin\n")
    (verifiers / "same.py").write_text(SAME)
    (verifiers / "verifiers.txt").write_text("fresh/same = same:Same\n")
    program = """
import json, sys, gymnasium, verigym
modules = sorted(name for name in sys.modules if name.startswith("verigym.envs"))
entry = verigym.list_envs()["verigym/fresh/coin-v0"]
env = gymnasium.make("verigym/fresh/coin-v0").unwrapped
env.reset(seed=1)
reward = env.step(env.oracle())[1]
verdict = verigym.make_verifier("fresh/same").verify(env.task, env.task.reference)
print(json.dumps([modules, entry.target, reward, verdict.verifier, verdict.score]))
"""
    done = run(tree, "-c", program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [],
        "verigym.envs.fresh.coin:Coin",
        1.0,
        "fresh/same@1",
        1.0,
    ]


def test_a_wrong_row_is_named_with_what_is_wrong_about_it(tree):
    folder = tree / "verigym" / "envs" / "fresh"
    (folder / "coin.py").write_text(COIN)
    (folder / "broken.py").write_text("import math\n\nmath.nothing\n")
    (folder / "envs.txt").write_text(
        "# comment\n\n"
        "fresh/gone-v0 = gone:Gone\n"
        "fresh/classless-v0 = coin:Coyn\n"
        "fresh/other-v0 = coin:Coin\n"
        "fresh/broken-v0 = broken:Broken\n"
    )
    program = """
import json, sys, verigym
from pathlib import Path
from verigym.builtin import read_tables
told = []
def tell(function, *given):
    try:
        function(*given)
    except Exception as error:
        told.append(f"{type(error).__name__}: {error}")
for name in ("gone", "classless", "other", "broken"):
    tell(verigym.make, f"fresh/{name}")
for row in sys.argv[1:]:
    Path("verigym/envs/fresh/envs.txt").write_text(row)
    tell(read_tables, "envs")
print(json.dumps(told))
"""
    rows = ("fresh/x-v0 coin:Coin", "fresh/x-v0 = coin", "code/repo-v0 = coin:Coin")
    done = run(tree, "-c", program, *rows)
    assert done.returncode == 0, done.stderr
    table = folder / "envs.txt"
    assert json.loads(done.stdout) == [
        "TaskError: verigym/fresh/gone-v0 is registered as verigym.envs.fresh.gone:Gone, "
        "but there is no module verigym.envs.fresh.gone",
        "TaskError: verigym/fresh/classless-v0 is registered as verigym.envs.fresh.coin:Coyn, "
        "but verigym.envs.fresh.coin has no Coyn",
        "TaskError: environment 'verigym/fresh/other-v0' calls itself 'verigym/fresh/coin-v0'",
        "AttributeError: module 'math' has no attribute 'nothing'",
        f"TaskError: {table}: a row must read '<id> = <module>:<class>', got {rows[0]!r}",
        f"TaskError: {table}: a row must read '<id> = <module>:<class>', got {rows[1]!r}",
        f"TaskError: {table}: {rows[2]!r}, but code/repo-v0 is already the id of "
        "verigym.envs.code.repo:Repo; choose another id, or remove one of the rows",
    ]


def test_a_row_whose_id_has_no_version_is_named(tree):
    (tree / "verigym" / "envs" / "fresh" / "envs.txt").write_text("fresh/coin = coin:Coin\n")
    done = run(tree, "-c", "import verigym")
    assert (
        "row 'fresh/coin' of group verigym.envs (verigym.envs.fresh.coin:Coin) must read "
        "<family>/<name>-v<N>" in done.stderr
    )
