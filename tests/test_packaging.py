"""The root folders as one package: the links for type checkers, the installation, sdist and wheel."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import verigym

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE_DIR = PYPROJECT["tool"]["setuptools"]["package-dir"]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
WHEELS = CACHE / "verigym-peers" / "wheels"
ROOMS = {name: ROOT / folder for name, folder in PACKAGE_DIR.items()}


def modules():
    """Every Python file of ours: its place in the wheel and its place here."""
    for name, folder in ROOMS.items():
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder).as_posix()
            yield f"{name.replace('.', '/')}/{inner}", path


def test_every_folder_with_code_is_a_package():
    # Another one is absent from the wheel without a message, though it works when editable.
    for _, path in modules():
        assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


def test_every_root_folder_with_code_is_mapped():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == {folder.name for folder in ROOMS.values()}


def test_make_keeps_the_links_for_type_checkers_complete(tmp_path):
    root = tmp_path / "a source"
    for folder in ROOMS.values():
        (root / folder.name).mkdir(parents=True)
        (root / folder.name / "__init__.py").touch()
    shutil.copy(ROOT / "Makefile", root)
    (root / "verigym" / "cli").mkdir()
    links = root / ".types" / "verigym"

    def linked():
        run("make", "types", cwd=root)
        for link in links.iterdir():
            target = PACKAGE_DIR.get(f"verigym.{link.name}", f"verigym/{link.name}")
            assert link.readlink() == Path("..", "..", target)
            assert link.resolve() == (root / target).resolve(strict=True)
        return {link.name for link in links.iterdir()}

    always = {name.partition(".")[2] for name in ROOMS if name != "verigym"} | {
        "__init__.py",
        "cli",
    }
    assert linked() == linked() == always
    new = root / "verigym" / "new.py"
    new.touch()
    assert linked() == always | {"new.py"}
    new.unlink()
    assert linked() == always


def test_the_installed_metadata_is_that_of_pyproject():
    installed = distribution("verigym")
    assert verigym.__version__ == installed.version == PYPROJECT["project"]["version"], (
        "the installation is stale; run `make setup` again"
    )
    assert {point.group for point in installed.entry_points} == {"console_scripts"}, (
        "the installation is stale; run `make setup` again"
    )


def read_pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins}


def test_what_was_tested_is_within_the_ranges_and_as_constrained():
    tested, constrained = read_pins("tested.txt"), read_pins("constraints.txt")
    extras = PYPROJECT["project"]["optional-dependencies"]
    wanted = [*PYPROJECT["project"]["dependencies"], *(one for of in extras.values() for one in of)]
    again = "run `make setup`, the tests and `make tested`"
    for name, version in constrained.items():
        assert tested.get(name, version) == version, f"{name}: {again}"
    for requirement in map(Requirement, wanted):
        version = tested.get(canonicalize_name(requirement.name))
        assert version is None or version in requirement.specifier, f"{requirement}: {again}"
    core = [Requirement(one).name for one in PYPROJECT["project"]["dependencies"]]
    assert set(map(canonicalize_name, core)) <= set(tested)


def run(*command, cwd, only=None, code=0, **env):
    """Run a command and return its output; `only` is the whole environment, else `env` is added."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **env} if only is None else only,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def copy_of_the_sources(folder):
    """Copy the sources that a release is built from, without other files of a checkout."""
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc", "results", "runs")
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy2(path, folder)
    for name in [*PACKAGE_DIR.values(), "docs", "examples", "tests", "benchmarks", "deploy"]:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and the wheel."""
    source = copy_of_the_sources(tmp_path_factory.mktemp("built") / "a source")
    # Without --sdist or --wheel the wheel is built from the sdist: a round trip.
    run(sys.executable, "-m", "build", "--no-isolation", ".", cwd=source)
    name = f"verigym-{PYPROJECT['project']['version']}"
    return source / "dist" / f"{name}.tar.gz", source / "dist" / f"{name}-py3-none-any.whl"


@pytest.mark.slow
def test_sdist_and_wheel_hold_every_module_and_the_wheel_works(built, tmp_path):
    sdist, wheel = built
    version = PYPROJECT["project"]["version"]

    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    expected = {place for place, _ in modules()}
    assert {name for name in held if name.endswith(".py")} == expected
    tables = [*ROOT.glob("envs/*/envs.txt"), *ROOT.glob("verifiers/**/*verifiers.txt")]
    assert {f"verigym/{path.relative_to(ROOT).as_posix()}" for path in tables} <= held
    assert "verigym/py.typed" in held
    data = {
        f"verigym/trainers/report/{path.name}"
        for path in (ROOT / "trainers" / "report").iterdir()
        if path.suffix in (".html", ".css", ".js")
    }
    page = [path for path in (ROOT / "server" / "page").iterdir() if path.suffix != ".py"]
    data |= {f"verigym/server/page/{path.name}" for path in page if path.is_file()}
    languages = (ROOT / "sandbox" / "languages").glob("*.toml")
    data |= {f"verigym/sandbox/languages/{path.name}" for path in languages}
    programs = ROOT.glob("envs/code/programs/verilog/*.v")
    for path in [
        *ROOT.glob("verifiers/*/cards/*"),
        *ROOT.glob("verifiers/*/seeds/*"),
        *programs,
    ]:
        data.add(f"verigym/{path.relative_to(ROOT).as_posix()}")
    assert data <= held
    assert any(name.endswith("licenses/LICENSE") for name in held)
    top = {name.partition("/")[0] for name in held}
    assert top == {"verigym", f"verigym-{version}.dist-info"}, "nothing else in site-packages"

    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for _, path in modules():
        assert path.relative_to(ROOT).as_posix() in held
    assert {"verigym/py.typed", "LICENSE", "README.md", "pyproject.toml", "Makefile"} <= held
    assert "tests/test_packaging.py" in held
    assert {name.removeprefix("verigym/") for name in data} <= held
    linked = re.findall(r"\]\(([^):#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    links = {link.rstrip("/") for link in linked} - {"https"}
    assert links <= held, "the README links to what the sdist does not hold"

    target = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
    run(*pip, "--no-deps", "--no-index", "--target", str(target), str(wheel), cwd=tmp_path)
    program = (
        "import json, verigym, verigym.envs.math.countdown as module;"
        "env = verigym.make('countdown'); env.reset(seed=1);"
        "print(json.dumps([module.__file__, env.step(env.oracle())[1], verigym.__version__]))"
    )
    printed = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(target))
    place, reward, installed_version = json.loads(printed)
    assert Path(place) == target / "verigym" / "envs" / "math" / "countdown.py"
    assert (reward, installed_version) == (1.0, version)


class Empty:
    """A virtual environment with nothing in it, and a folder elsewhere to work in."""

    def __init__(self, folder, python, wheels):
        if not (WHEELS / ".installed").exists():
            pytest.skip("what the wheel needs: `make wheels`")
        run(python, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
        self.commands = folder / "venv" / "bin"
        self.variables = {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.here = folder / "elsewhere"
        self.here.mkdir()
        self.lock = shutil.copy(ROOT / "tested.txt", self.here)
        self.wheels = wheels

    def install(self, what):
        pip = (sys.executable, "-m", "pip", "--python", self.commands / "python", "install")
        index = ("--no-index", "--find-links", self.wheels, "--constraint", self.lock)
        run(*pip, "--quiet", "--no-compile", *index, what, cwd=self.here, only=self.variables)

    def verigym(self, *arguments, code=0):
        command = self.commands / "verigym"
        return run(command, *arguments, cwd=self.here, only=self.variables, code=code)


def find_python(version):
    """Return a Python of this version, which may be one of pyenv's. Skips the test if there is none."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    named = [
        shutil.which(f"python{version}"),
        *Path.home().glob(f".pyenv/versions/{version}*/bin/python"),
    ]
    for python in filter(None, named):
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"no Python {version} here")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_works_in_an_empty_environment(built, tmp_path, version):
    _, wheel = built
    place = WHEELS if version == "3.11" else WHEELS / version
    empty = Empty(tmp_path, find_python(version), place)
    empty.install(wheel)
    listed = json.loads(empty.verigym("list", "--json"))
    assert {env["family"] for env in listed} >= {"games", "math", "code", "sql", "tools", "search"}
    assert "keydoor" in empty.verigym("list", "games")
    told = json.loads(empty.verigym("run", "keydoor", "--episodes", "3", "--json"))
    assert (told["success_rate"], told["faults"]) == (1.0, 0)
    (card,) = json.loads(empty.verigym("check", "countdown", "--seeds", "5", "--json"))
    assert card["laws"]["another_process_plays_the_same"] == "holds"
    three = ("keydoor", "countdown", "code/stdio")
    told = json.loads(empty.verigym("eval", *three, "--tasks", "3", "--out", "evaluated", "--json"))
    assert [one["score"]["value"] for one in told["by_environment"].values()] == [1.0] * 3
    empty.verigym("serve", code=2)  # needs the extra
    empty.install(f"{wheel}[server]")
    assert_it_serves(empty.commands / "verigym", empty.here, empty.variables)


SMALL_RUN = """
name = "small"
[env]
id = "games/keydoor"
difficulty = "tiny"
[policy]
model = "tiny"
max_new_tokens = 2
show_task = false
[warmup]
episodes = 4
[train]
steps = 2
groups = 2
group_size = 2
[eval]
every = 2
episodes = 2
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_trains_in_an_empty_environment(built, tmp_path):
    _, wheel = built
    empty = Empty(tmp_path, find_python("3.11"), WHEELS)
    empty.install(wheel)
    (empty.here / "small.toml").write_text(SMALL_RUN)
    empty.verigym("train", "small.toml", "--out", "run", code=2)  # needs the extra
    empty.install(f"{wheel}[train]")
    empty.verigym("train", "small.toml", "--out", "run")
    empty.verigym("verify-run", "run")
    empty.verigym("report", "run")
    assert "keydoor" in (empty.here / "run" / "report.html").read_text(encoding="utf-8")
    policy = ("--policy", "hf:run/last", "--tasks", "2", "--out", "after", "--json")
    (told,) = json.loads(empty.verigym("eval", "keydoor", *policy))["by_environment"].values()
    assert 0 <= told["score"]["value"] <= 1


def assert_it_serves(verigym, here, variables):
    serve = (verigym, "serve", "--port", "0", "--json", "--until-stdin-closes")
    body = {"verifier": "math/countdown", "reference": {"numbers": [3, 7], "target": 21}}
    body["submission"] = "<answer>3*7</answer>"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with subprocess.Popen(
        serve, cwd=here, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as service:
        url = json.loads(service.stdout.readline())["url"]
        request = urllib.request.Request(
            f"{url}/v1/verify", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with opener.open(request, timeout=60) as answer:
            assert json.load(answer)["score"] == 1.0
        service.stdin.close()
        assert service.wait(60) == 0
