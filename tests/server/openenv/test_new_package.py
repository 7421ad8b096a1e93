"""A package that `verigym new --for openenv` writes, as OpenEnv's own programs see it."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

import verigym
from verigym.envs.new.hubs import write_hub_package

PLAY = """
import json, sys
from vg_doors import VgDoorsEnv
with VgDoorsEnv(base_url=sys.argv[1]).sync() as env:
    results = [env.reset(seed=7)]
    results += [env.step({"message": action}) for action in json.load(sys.stdin)]
    print(json.dumps([[one.observation["message"], one.reward, one.done] for one in results]))
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "vg_doors"
    write_hub_package(folder, "vg-doors", hub="openenv", env="keydoor", author="A", tasks=1)
    return folder


@contextlib.contextmanager
def serving(package, *arguments):
    command = [sys.executable, "-m", "server.app", *arguments]
    with subprocess.Popen(command, cwd=package, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def real(python, *command, **options):
    """Run a program of OpenEnv's virtual environment; return what it printed."""
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_openenv_validates_the_folder_and_the_server_and_plays(real_python, package):
    openenv = real_python.with_name("openenv")
    real(real_python, openenv, "validate", ".", "--level", "static", cwd=package)
    with verigym.make("keydoor") as env:
        wanted, actions = [[env.reset(seed=7)[0], None, False]], []
        while not wanted[-1][2]:
            actions.append(env.oracle())
            shown, reward, terminated, truncated, _ = env.step(actions[-1])
            wanted.append([shown, reward, terminated or truncated])
    with serving(package, "--port", "0") as url:
        assert "Verdict: PASS" in real(real_python, openenv, "validate", "--url", url)
        played = real(
            real_python,
            *(real_python, "-c", PLAY, url),
            cwd=package.parent,
            input=json.dumps(actions),
        )
    assert json.loads(played) == wanted


@pytest.mark.slow
def test_other_machines_need_a_key(package):
    done = subprocess.run(
        [sys.executable, "-m", "server.app", "--host", "0.0.0.0"],
        cwd=package,
        env={name: value for name, value in os.environ.items() if name != "VERIGYM_KEY"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 2
    assert "VERIGYM_KEY" in done.stderr
