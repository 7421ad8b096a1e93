"""Who may import whom (docs/architecture.md) and its picture, circles, the import budget, bare names."""

import graphlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# verigym (contracts) <- sandbox <- verifiers <- envs <- agents <- trainers; server beside agents.
MAY_IMPORT = {
    "verigym": {"verigym"},
    "sandbox": {"verigym", "sandbox"},
    "verifiers": {"verigym", "sandbox", "verifiers"},
    "envs": {"verigym", "sandbox", "verifiers", "envs"},
    "server": {"verigym", "sandbox", "verifiers", "envs", "server"},
    "agents": {"verigym", "sandbox", "verifiers", "envs", "agents"},
    "trainers": {"verigym", "sandbox", "verifiers", "envs", "agents", "trainers"},
}
PEERS = {"verifiers.v1"}
"""Modules of other packages that have the name of a room; that of Prime's is imported by an adapter."""
FILES = [path for room in MAY_IMPORT for path in sorted((ROOT / room).rglob("*.py"))]
SPEC = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
architecture = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(architecture)
HEAVY = ("gymnasium", "numpy", "torch", "sympy", "fastapi", "httpx2", "transformers")


def room_of(module):
    """The room that a module of ours lies in; None for one of others."""
    first, _, rest = module.partition(".")
    if first != "verigym":
        return None
    second = rest.partition(".")[0]
    return second if second in MAY_IMPORT and second != "verigym" else "verigym"


def is_cli(path):
    return path.is_relative_to(ROOT / "verigym" / "cli")


def test_the_rooms_have_files():
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(MAY_IMPORT)


def test_imports_follow_the_arrows():
    wrong = [f"{path.relative_to(ROOT)}: {found}" for path in FILES for found in against(path)]
    assert not wrong


def against(path):
    """Return the forbidden imports of a file."""
    room = path.relative_to(ROOT).parts[0]
    wrong = []
    for module, line, at_import in architecture.read_imports(path):
        target = room_of(module)
        if module in PEERS and room == "trainers":
            continue
        if module.partition(".")[0] in MAY_IMPORT and target is None:
            wrong.append(f"line {line}: {module} by its bare name")
        elif target is None:
            continue
        elif is_cli(path):
            # A command imports what it needs when it runs.
            if at_import and target != "verigym":
                wrong.append(f"line {line}: the command line imports {module} before it runs")
        elif target not in MAY_IMPORT[room]:
            wrong.append(f"line {line}: {room} must not import {module}")
        elif f"{module}.".startswith("verigym.cli.") and path.name != "__main__.py":
            wrong.append(f"line {line}: nothing imports the command line")
    return wrong


def test_no_module_imports_itself_through_others():
    # Imports in functions and for types count: a circle is two files that are one.
    graph = {name: set(targets) for name, targets in architecture.read_arrows().items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = " <- ".join(error.args[1])
        pytest.fail(f"a circle of imports: {circle}; move what both need into a file of its own")


def test_imports_at_module_level_make_no_circle():
    graph = {
        name: {target for target, at_import in targets.items() if at_import}
        for name, targets in architecture.read_arrows().items()
    }
    graphlib.TopologicalSorter(graph).prepare()


def test_env_reaches_neither_registry_nor_client():
    # Not through others either; `import verigym` installs what finds judges (judge_finder.py).
    arrows, reached, left = architecture.read_arrows(), set(), ["verigym.env"]
    while left:
        if (module := left.pop()) not in reached:
            reached.add(module)
            left.extend(arrows.get(module, ()))
    assert "verigym.judge_finder" in reached, "the walk saw no imports"
    for forbidden in ("verigym.registry", "verigym.client"):
        assert not [name for name in reached if f"{name}.".startswith(f"{forbidden}.")]


def test_the_picture_shows_today_s_imports():
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert architecture.insert(page, architecture.draw()) == page, (
        "the picture in docs/architecture.md is stale; run: python -P docs/architecture.py"
    )


def fresh(program, cwd):
    """Return the JSON that `program` prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_verigym_keeps_its_budget(tmp_path):
    """Less than Gymnasium, with NumPy, takes: measured beside them, as machines differ.

    Processor time, in turns, and the best of several, so that a busy machine does not decide.
    """

    def seconds(module):
        program = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
        return fresh(program, tmp_path)

    pairs = [(seconds("verigym"), seconds("gymnasium")) for _ in range(2)]
    ours, theirs = (min(column) for column in zip(*pairs, strict=True))
    assert ours < theirs, f"{ours:.3f} s, Gymnasium {theirs:.3f} s; see python -X importtime"


def test_import_verigym_loads_nothing_heavy(tmp_path):
    loaded = fresh("import verigym, sys, json; print(json.dumps(sorted(sys.modules)))", tmp_path)
    assert not [module for module in loaded if module.partition(".")[0] in HEAVY]
    rooms = {room_of(module) for module in loaded} - {None}
    assert rooms == {"verigym"}, "import verigym must import no other room"
    assert "verigym.cli.main" not in loaded


@pytest.mark.parametrize("room", sorted(set(MAY_IMPORT) - {"verigym"}))
def test_a_room_says_so_under_its_bare_name(room):
    program = (
        f"import json\ntry:\n    import {room}\nexcept ImportError as error:\n"
        "    print(json.dumps(str(error)))"
    )
    # `python -c` puts the current folder first: the trap that this message is for.
    message = fresh(program, ROOT)
    assert f"import this folder as verigym.{room}" in message
