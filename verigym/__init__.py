"""Verigym: verifiable text environments for training and evaluating language-model agents."""

from __future__ import annotations

from importlib.metadata import version as _version

from verigym.canonical import JSON
from verigym.env import SPLITS, Draft, Env, Move, Snapshot, Transition
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
from verigym.judge import Judge
from verigym.question import Ask, Question
from verigym.registry import (
    list_envs,
    list_group_verifiers,
    list_verifiers,
    make,
    make_group_verifier,
    make_verifier,
    register_all,
)
from verigym.task import Task
from verigym.vector import make_vec
from verigym.verdict import Status, Verdict, VerifierFault, fault, scored, scored_by_parts, unusable
from verigym.verifier import Verifier

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

register_all()
