"""Examples of docs/base-classes.md: installed as a package, made by id, and played."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from verigym import Task, TaskError
from verigym.verifiers.games.find_rules import find_rules, rules_of

PAGE = Path(__file__).parents[2] / "docs" / "base-classes.md"
BLOCK = re.compile(r"^```(toml|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

PROGRAM = """
import json, sys
import verigym

found = {}
for name in json.loads(sys.argv[1]):
    for level in verigym.make(name).difficulties:
        env = verigym.make(name, difficulty=level)
        for seed in range(2):
            env.reset(seed=seed)
            over = False
            while not over:
                _, reward, terminated, truncated, info = env.step(env.oracle())
                over = terminated or truncated
            found.setdefault(name, []).append((reward, info["verdict"].verifier))
            env.reset(seed=seed)
            over = False
            while not over:
                _, reward, terminated, truncated, info = env.step("nonsense")
                over = terminated or truncated
            assert reward == 0, (name, level, seed)
print(json.dumps(found))
"""


def install(folder, toml, modules):
    """Lay the package down as an installer would."""
    groups = tomllib.loads(toml)["project"]["entry-points"]
    info = folder / "examples_of_docs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: examples_of_docs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        )
    )
    for source in modules:
        name = source.partition("\n")[0].removeprefix("# ")
        (folder / name).write_text(source)


def test_the_examples_work_as_they_stand(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    (toml,) = (text for kind, text in blocks if kind == "toml")
    install(tmp_path, toml, [text for kind, text in blocks if kind == "python"])
    names = ["examples/jugs", "examples/notes", "examples/chained"]
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", PROGRAM, json.dumps(names)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    judges = {"examples/jugs": "games/replay", "examples/notes": "tools/state"}
    for name in names:
        verifier = judges.get(name, "code/stdio")
        assert [reward for reward, _ in found[name]] == [1.0] * 6
        assert {judge.partition("@")[0] for _, judge in found[name]} == {verifier}


POINTS = {
    "examples/none": "nowhere:Rules",
    "examples/other": "json:JSONDecoder",
    "examples/sudoku": "verigym.verifiers.games.sudoku:SudokuRules",
}


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Return a function that publishes rules by entry points."""

    def publish(points):
        install(tmp_path, "[project.entry-points]\n" + json_table(points), [])
        monkeypatch.syspath_prepend(tmp_path)
        clear()

    yield publish
    clear()


def json_table(points):
    return '"verigym.games" = {' + ", ".join(f'"{n}" = "{v}"' for n, v in points.items()) + "}\n"


def clear():
    from verigym.verifiers.games import find_rules as module

    module._published.cache_clear()
    module._published_rules.cache_clear()


def test_published_rules_are_found_beside_the_built_in_ones(published):
    published(POINTS)
    assert type(find_rules("examples/sudoku")) is type(find_rules("sudoku"))
    for game, message in (
        ("examples/none", "cannot be loaded from nowhere:Rules: ModuleNotFoundError"),
        ("examples/other", "lack start, read, legal, apply, won"),
        ("examples/sudokus", "did you mean .*'examples/sudoku'"),
    ):
        with pytest.raises(TaskError, match=message):
            find_rules(game)


def test_built_in_names_cannot_be_taken(published):
    published({"sudoku": "json:JSONDecoder"})
    assert find_rules("sudoku").read("1 1 1") is not None
    with pytest.raises(
        TaskError, match=r"'sudoku' in verigym.games, which is the name of a built-in"
    ):
        find_rules("examples/jugs")


@pytest.mark.parametrize("reference", ["sudoku", {}, {"game": 3}, {"game": "chessboard"}])
def test_a_reference_names_its_game(reference):
    task = Task(id="1", env_id="x", seed=1, prompt="", difficulty="", split="", reference=reference)
    with pytest.raises(TaskError, match=r"the reference must be|no game"):
        rules_of(task)
