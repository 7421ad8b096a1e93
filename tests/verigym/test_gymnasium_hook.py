"""Environments are known to Gymnasium whether it is imported before Verigym or after."""

import subprocess
import sys

import pytest

PLAY = """
environment = gymnasium.make("verigym/games/keydoor-v0")
assert environment.unwrapped.id == environment.spec.id == "verigym/games/keydoor-v0"
assert environment.reset(seed=7)[0] == verigym.make("keydoor").reset(seed=7)[0]
assert isinstance(environment.unwrapped, verigym.Env)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, verigym",
        "import verigym, gymnasium",
        pytest.param("import verigym, gymnasium.spaces", marks=pytest.mark.slow),
        # Whoever looks for it, and does not import it yet, changes nothing.
        pytest.param(
            "import verigym, importlib.util as util; util.find_spec('gymnasium'); import gymnasium",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_order_of_imports_does_not_matter(imports):
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{imports}{PLAY}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_names_that_need_gymnasium_are_there_when_asked_for():
    program = """
import sys, verigym
assert "numpy" not in sys.modules
assert set(verigym.__all__) <= set(dir(verigym))
assert all(hasattr(verigym, name) for name in verigym.__all__)
assert not hasattr(verigym, "Enf")
assert verigym.Env is verigym.env.Env
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
