"""Verigym: verifiable text environments for training and evaluating language-model agents.

What needs Gymnasium and NumPy is imported when it is first used: they take longer than all the rest.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

from verigym.canonical import JSON
from verigym.episode import Episode, Fault, Turn
from verigym.errors import (
    ConfigError,
    MissingError,
    PolicyError,
    RequestError,
    SandboxError,
    TaskError,
    VerigymError,
)
from verigym.group import GroupVerifier
from verigym.gymnasium_hook import register_with_gymnasium as _register_with_gymnasium
from verigym.judge import Judge
from verigym.judge_finder import install_finder as _install_finder
from verigym.registry import find_judge as _find_judge
from verigym.registry import (
    list_envs,
    list_group_verifiers,
    list_verifiers,
    make_group_verifier,
    make_verifier,
)
from verigym.task import SPLITS, Task
from verigym.verdict import Status, Verdict, VerifierFault, fault, scored, scored_by_parts, unusable
from verigym.verifier import Verifier

if TYPE_CHECKING:
    from verigym.env import Draft, Env, Move, Snapshot, Transition
    from verigym.making import make
    from verigym.question import Ask, Question
    from verigym.vector import make_vec

__version__ = _version("verigym")

__all__ = [
    "JSON",
    "SPLITS",
    "Ask",
    "ConfigError",
    "Draft",
    "Env",
    "Episode",
    "Fault",
    "GroupVerifier",
    "Judge",
    "MissingError",
    "Move",
    "PolicyError",
    "Question",
    "RequestError",
    "SandboxError",
    "Snapshot",
    "Status",
    "Task",
    "TaskError",
    "Transition",
    "Turn",
    "Verdict",
    "Verifier",
    "VerifierFault",
    "VerigymError",
    "__version__",
    "fault",
    "list_envs",
    "list_group_verifiers",
    "list_verifiers",
    "make",
    "make_group_verifier",
    "make_vec",
    "make_verifier",
    "scored",
    "scored_by_parts",
    "unusable",
]

_LATER = {
    **dict.fromkeys(("Draft", "Env", "Move", "Snapshot", "Transition"), "verigym.env"),
    **dict.fromkeys(("Ask", "Question"), "verigym.question"),
    "make": "verigym.making",
    "make_vec": "verigym.vector",
}
"""Modules of the names that are imported when they are first used."""


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LATER[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


list_envs()  # an installed package that registers nonsense is named at once
_install_finder(_find_judge)
_register_with_gymnasium()
