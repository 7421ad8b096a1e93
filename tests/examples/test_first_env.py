"""examples/first_env.py runs, keeps to Gymnasium, and is what docs/environments.md shows."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from gymnasium.utils.env_checker import check_env

from verigym.envs.check.laws.levels import difficulties_are_in_order, operations_are_counted
from verigym.envs.check.subject import Subject

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "first_env.py"


def load():
    spec = importlib.util.spec_from_file_location("first_env_example", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_it_runs():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FILE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes = re.findall(r"return (\S+), (\w+)", done.stdout)
    assert outcomes == [("1.0", "correct"), ("1.0", "correct"), ("0.0", "wrong_number")]


def test_it_keeps_to_the_contract():
    module = load()
    env = module.Guess(verifier=module.GuessVerifier())
    check_env(env, skip_render_check=True)
    for difficulty in env.difficulties:
        for seed in range(5):
            env.reset(seed=seed, options={"difficulty": difficulty})
            assert env.step(env.oracle())[1] == 1.0


def test_its_difficulties_are_in_order():
    module = load()

    class Example(Subject):
        def make(self, **kwargs):
            return module.Guess(verifier=module.GuessVerifier(), **kwargs)

    difficulties_are_in_order(Example(module.Guess.id, 60))
    operations_are_counted(Example(module.Guess.id))


def test_the_page_shows_the_file():
    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shown = next(block for block in blocks if "class Guess(Env" in block)
    assert shown.strip() in FILE.read_text(encoding="utf-8")
