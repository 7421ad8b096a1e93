"""Families of `code/functions` that are systems of commands (systems.py): a function of the lines of an input."""

from __future__ import annotations

import numpy as np

from verigym.envs.code.boughs import Boughs
from verigym.envs.code.function_family import WantedFunction
from verigym.envs.code.grafts import Grafts
from verigym.envs.code.ribbons import Ribbons
from verigym.envs.code.scrolls import Scrolls
from verigym.envs.code.systems import System
from verigym.envs.code.works import Works


def scrolls(rng: np.random.Generator) -> WantedFunction:
    """Texts that are given by how they are made."""
    return _wanted(Scrolls(), rng)


def works(rng: np.random.Generator) -> WantedFunction:
    """Machines that make items at regular times."""
    return _wanted(Works(), rng)


def boughs(rng: np.random.Generator) -> WantedFunction:
    """An endless tree with paint and gates."""
    return _wanted(Boughs(), rng)


def ribbons(rng: np.random.Generator) -> WantedFunction:
    """Ribbons of letters that machines go through."""
    return _wanted(Ribbons(), rng)


def grafts(rng: np.random.Generator) -> WantedFunction:
    """An endless tree whose branches are copied and turned."""
    return _wanted(Grafts(), rng)


def _wanted(system: System, rng: np.random.Generator) -> WantedFunction:
    p = system.draw(rng)
    return WantedFunction(
        signature=f"{system.function}(lines: list[str]) -> list[str]",
        statement=system.function_statement(p),
        values=p,
        arguments=lambda rng, size: [system.lines(rng, p, size)],
        answer=lambda lines: system.answers(p, lines),
        text=system.as_function(p),
        example_chars=system.example_chars + 120,
        hidden_sizes=system.hidden_sizes,
    )


SYSTEMS = (scrolls, works, boughs)
MACHINES = (ribbons, grafts)
