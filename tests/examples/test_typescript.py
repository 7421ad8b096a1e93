"""The TypeScript client: generated from a real service's document, checked by tsc, run by node."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import verigym
from verigym.server.process import ServerProcess

EXAMPLE = Path(__file__).parents[2] / "examples" / "typescript"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PACKAGES = CACHE / "verigym-peers" / "typescript" / "node_modules"
MISTAKES = (
    'verify(service, { verifier: "math/answer", reference: {}, submision: "12" })',
    'verify(service, { verifier: "math/answer", reference: {} })',
    'service.GET("/v1/verdicts")',
    "(await verify(service, items[0]!)).score + 1",  # null for a fault
)


@pytest.fixture(scope="module")
def service():
    with ServerProcess(
        verifiers=["math"], envs=["games/tic-tac-toe-v0"], workers=1, key="a-key-of-the-test"
    ) as server:
        yield server


@pytest.fixture(scope="module")
def project(service, tmp_path_factory):
    """The example with its packages and the types of the service."""
    if shutil.which("node") is None or not (PACKAGES / ".package-lock.json").exists():
        pytest.skip("node and its packages: `make peers-typescript`")
    folder = tmp_path_factory.mktemp("typescript")
    ignored = shutil.ignore_patterns("node_modules", "build", "verigym.d.ts")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True, ignore=ignored)
    (folder / "node_modules").symlink_to(PACKAGES)
    run("npm", "run", "generate", folder=folder, service=service)
    return folder


def run(*command, folder, service, fails=False):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "VERIGYM_URL": service.url, "VERIGYM_API_KEY": "a-key-of-the-test"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_packages_are_those_of_the_lock():
    wanted = json.loads((EXAMPLE / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((EXAMPLE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert locked[f"node_modules/{name}"]["version"] == version, "pin exact versions"
    for name, package in locked.items():
        if name:
            assert package["integrity"].startswith("sha512-"), name


@pytest.mark.slow
def test_the_example_is_typed_and_runs(project, service):
    run("npm", "run", "build", folder=project, service=service)
    lines = run("npm", "start", folder=project, service=service).splitlines()
    said = [line for line in lines if line and not line.startswith(">")]
    env = verigym.make("games/tic-tac-toe-v0", difficulty="easy")
    _, info = env.reset(seed=7)
    actions, rewards, over = [], [], False
    while not over:
        actions.append(info["legal_actions"][0])
        _, reward, terminated, truncated, info = env.step(actions[-1])
        rewards.append(reward)
        over = terminated or truncated
    version = verigym.make_verifier("math/answer").version
    assert said[:4] == [
        f"math/answer has version {version}",
        "verify: ok, score 1, correct",
        "batch: scores 1,0",
        "job: scores 1,0",
    ]
    heard, earned = re.fullmatch(r"episode: (\[.*\]) earned (\[.*\])", said[4]).groups()
    assert (json.loads(heard), json.loads(earned)) == (actions, rewards)
    assert said[5:] == ["refusal: 404 unknown_verifier at $.verifier"]


@pytest.mark.slow
def test_wrong_calls_do_not_compile(project, service):
    source = (EXAMPLE / "src" / "example.ts").read_text(encoding="utf-8")
    wrong = "".join(f"await ({mistake});\n" for mistake in MISTAKES)
    (project / "src" / "wrong.ts").write_text(source + wrong, encoding="utf-8")
    said = run("npx", "tsc", "--noEmit", folder=project, service=service, fails=True)
    first_line = source.count("\n") + 1
    found = {int(line) - first_line for line in re.findall(r"^src/wrong\.ts\((\d+),", said, re.M)}
    assert found == set(range(len(MISTAKES))), said
    (project / "src" / "wrong.ts").unlink()
