"""`verigym new`: what it writes installs, keeps every law, and is what examples/ holds."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app
from verigym.envs.new.write import write_package
from verigym.errors import RequestError

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "verigym-sums"


def run(*command, cwd, path=None):
    env = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def verigym(*arguments, cwd, path=None):
    return run(sys.executable, "-P", "-m", "verigym", *arguments, cwd=cwd, path=path)


def install(package, into):
    """Install a package as pip would, without a network."""
    flags = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(into))
    # pip builds beside the source: from a copy, so that nothing is left in it.
    done = run(sys.executable, "-m", "pip", "install", *flags, ".", cwd=package)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A new package, and the folder it is installed in."""
    folder = tmp_path_factory.mktemp("new package")
    done = verigym("new", "word-sums", "--family", "words", "--author", "A. Author", cwd=folder)
    assert done.returncode == 0, done.stderr
    install(folder / "word-sums", folder / "site")
    return folder


def test_it_has_what_a_package_needs(made):
    package = made / "word-sums"
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert {
        *("pyproject.toml", "word_sums.py", "tests/test_word_sums.py", "README.md", "LICENSE"),
        *(".github/workflows/ci.yml", ".gitignore"),
    } <= files
    assert "A. Author" in (package / "LICENSE").read_text()
    for name in ("pyproject.toml", "word_sums.py", "README.md", "tests/test_word_sums.py"):
        assert not re.search(r"\$\w", (package / name).read_text()), name


def test_the_environment_takes_at_most_30_lines(made):
    assert len((made / "word-sums" / "word_sums.py").read_text().splitlines()) <= 30


@pytest.mark.slow
def test_it_is_checked_green_and_plays(made):
    done = verigym("check", "word-sums", "--seeds", "24", "--json", cwd=made, path=made / "site")
    assert done.returncode == 0, done.stderr + done.stdout
    (card,) = json.loads(done.stdout)
    assert card["id"] == "verigym/words/word-sums-v0"
    assert card["passed"]
    done = verigym("list", "words", cwd=made, path=made / "site")
    assert "word-sums-v0" in done.stdout


@pytest.mark.slow
def test_its_own_tests_pass(made):
    tests = made / "word-sums" / "tests"
    flags = ("-q", "-p", "no:cacheprovider", "-k", "oracle or difficulties or splits")
    done = run(sys.executable, "-P", "-m", "pytest", *flags, cwd=tests, path=made / "site")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.slow  # the test before but one checks such a package
def test_the_example_is_a_package_of_this_kind_and_sound(tmp_path):
    install_from = tmp_path / "copy"
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "egg-info" not in str(path) and "__pycache__" not in str(path):
            target = install_from / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    install(install_from, tmp_path / "site")
    done = verigym("check", "verigym-sums", "--seeds", "24", cwd=tmp_path, path=tmp_path / "site")
    assert done.returncode == 0, done.stderr + done.stdout


def test_the_page_shows_the_example():
    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    source = (EXAMPLE / "verigym_sums.py").read_text(encoding="utf-8")
    assert source.partition("\n\n")[2].strip() in page


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("Word Ladder",), "lower-case words"),
        (("../evil",), "lower-case words"),
        (("class",), "means something else"),
        (("fine", "--family", "A/B"), "one lower-case word"),
        (("fine", "--into", "full"), "not empty"),
        (("fine", "--out", "full"), "choose another with --out"),
        (("keydoor", "--family", "games"), "is an environment already"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(arguments, wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    done = CliRunner().invoke(app, ["new", *arguments])
    assert done.exit_code == 2
    assert wanted in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine.txt"]


def test_an_author_may_have_any_name(tmp_path):
    author = 'Ann "Any" O\\Neill, Zoë'
    write_package(tmp_path, "zed-env", family="games", author=author, year=2025)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"] == [{"name": author}]


@pytest.mark.parametrize("name", ["verigym", "numpy", "typing-extensions", "json", "none", "ask"])
def test_a_name_that_is_taken_is_refused(name, tmp_path):
    with pytest.raises(RequestError, match=f"'{name}' .*; choose another name"):
        write_package(tmp_path / name, name, family="games", author="A", year=2025)
    assert not list(tmp_path.iterdir())
