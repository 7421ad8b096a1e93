"""The root folders as one package: the links for type checkers, the installation, sdist and wheel."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import verigym

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE_DIR = PYPROJECT["tool"]["setuptools"]["package-dir"]
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


def run(*command, cwd, **env):
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
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


@pytest.mark.slow
def test_sdist_and_wheel_hold_every_module_and_the_wheel_works(tmp_path):
    source = copy_of_the_sources(tmp_path / "a source")
    # Without --sdist or --wheel the wheel is built from the sdist: a round trip.
    run(sys.executable, "-m", "build", "--no-isolation", ".", cwd=source)
    version = PYPROJECT["project"]["version"]
    wheel = source / "dist" / f"verigym-{version}-py3-none-any.whl"
    sdist = source / "dist" / f"verigym-{version}.tar.gz"

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
