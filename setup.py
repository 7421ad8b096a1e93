"""Computes the list of packages, which pyproject.toml cannot: each root folder is a package of `verigym`."""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = PYPROJECT["tool"]["setuptools"]["package-dir"]

setup(
    packages=[
        *FOLDERS,
        *(f"{name}.{inner}" for name, at in FOLDERS.items() for inner in find_packages(ROOT / at)),
    ]
)
