"""Writes a new environment package."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from string import Template

from verigym import __version__
from verigym.errors import RequestError
from verigym.registry import list_envs

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FAMILY = re.compile(r"[a-z][a-z0-9_-]*")

# File among the templates, and where it goes.
_FILES = {
    "template/pyproject.toml": "pyproject.toml",
    "template/env.py": "$module.py",
    "template/test_env.py": "tests/test_$module.py",
    "template/README.md": "README.md",
    "template/LICENSE": "LICENSE",
    "template/ci.yml": ".github/workflows/ci.yml",
    "template/gitignore": ".gitignore",
}


def write_package(folder: Path, name: str, *, family: str, author: str, year: int) -> list[Path]:
    """Write the package `name` into `folder`, which must be absent or empty; the files' paths.

    Raises RequestError for a name that cannot be a package's or is taken, or a folder with something in it.
    """
    words = words_of(name, author)
    if not _FAMILY.fullmatch(family):
        raise RequestError(f"a family is one lower-case word, such as games, got {family!r}")
    if (known := f"verigym/{family}/{name}-v0") in list_envs():
        raise RequestError(f"{known} is an environment already; choose another name or family")
    check_folder(folder)
    more = {"family": family, "author": author, "year": str(year), "version": __version__}
    return fill(_FILES, folder, words | more)


def words_of(name: str, author: str) -> dict[str, str]:
    """Return what templates call a package. Raises RequestError if it cannot have this name."""
    if not _NAME.fullmatch(name):
        raise RequestError(
            f"a name is lower-case words joined by hyphens, such as word-ladder, got {name!r}"
        )
    module = name.replace("-", "_")
    klass = "".join(word.capitalize() for word in name.split("-"))
    if taken := _taken(name, module, klass):
        raise RequestError(f"{name!r} {taken}; choose another name, such as {name}-env")
    # A text of JSON is one of TOML.
    quoted = json.dumps(author, ensure_ascii=False)
    return {"name": name, "module": module, "klass": klass, "quoted_author": quoted}


def check_folder(folder: Path) -> None:
    """Raise RequestError if there is something in a folder that is to be written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RequestError(f"{folder} already exists and is not empty; choose another with --out")


def fill(sources: Mapping[str, str], folder: Path, words: Mapping[str, str]) -> list[Path]:
    """Write templates, by the places that they go to, with `words` for their names; return the paths."""
    written = []
    for source, target in sources.items():
        text = (files("verigym.envs.new") / f"{source}.txt").read_text(encoding="utf-8")
        path = folder / Template(target).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
        written.append(path)
    return written


def _taken(name: str, module: str, klass: str) -> str:
    """Return the reason why a package cannot have this name; empty if it can. Nothing is imported."""
    if keyword.iskeyword(module) or keyword.iskeyword(klass) or klass in ("Ask", "Question"):
        return "means something else in the file that would be written"
    if module in sys.stdlib_module_names:
        return "is a module of Python's own, which it would hide"
    found = importlib.util.find_spec(module)
    # Without an origin it may be just a folder here.
    installed = found is not None and found.origin is not None
    if installed or any(metadata.distributions(name=name)):
        return "is installed already, and would be replaced"
    return ""
