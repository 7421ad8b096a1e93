"""Text of the program that runs as the first process of a container, made of the modules in `inside/`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_PACKAGE = "verigym.sandbox.docker.inside"
_MODULES = ("wire", "confine", "processes", "start", "streams", "job_files", "keeper")
"""Modules of `inside/` in an order in which each finds those that it imports."""

_PROGRAM = """
import sys, types
for name, text in {texts!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""


@cache
def keeper_program() -> str:
    """Return the program, which imports nothing but the standard library of the image's Python."""
    folder = files(_PACKAGE)
    texts = [
        (f"{_PACKAGE}.{name}", folder.joinpath(f"{name}.py").read_text("utf-8"))
        for name in _MODULES
    ]
    return _PROGRAM.format(texts=texts)
