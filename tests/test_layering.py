"""Who may import whom (docs: CONTRIBUTING.md), the import budget, and the root folders' bare names."""

import ast
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
FILES = [path for room in MAY_IMPORT for path in sorted((ROOT / room).rglob("*.py"))]
BUDGET_S = 0.3
HEAVY = ("torch", "sympy", "fastapi", "httpx2", "transformers")


def imports(path):
    """Every module that a file names in an import, with its line and whether it is at module level."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    lazy = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        # What stands under `if TYPE_CHECKING:` is never run.
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) not in lazy
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            if node.module == "verigym":
                # `from verigym import envs` names a room, `from verigym import Task` does not.
                for alias in node.names:
                    yield f"verigym.{alias.name}", node.lineno, id(node) not in lazy
            else:
                yield node.module, node.lineno, id(node) not in lazy


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
    """What a file imports that it must not."""
    room = path.relative_to(ROOT).parts[0]
    wrong = []
    for module, line, at_import in imports(path):
        target = room_of(module)
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


def fresh(program, cwd):
    """What `program` prints as JSON in a fresh interpreter."""
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
    # Processor time, and the best of several, so that a busy machine does not decide.
    program = (
        "import time; start = time.process_time(); import verigym; "
        "print(time.process_time() - start)"
    )
    best = min(fresh(program, tmp_path) for _ in range(7))
    assert best < BUDGET_S, f"import verigym takes {best:.3f} s; see python -X importtime"


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
