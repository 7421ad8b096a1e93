"""The world that rollouts_vs_verifiers.py plays on both sides: an exact count of moves, in text.

Needs nothing but Python, as the peer has an environment of its own.
"""

from __future__ import annotations

import re

SYSTEM = "You are a walker on a staircase."
RULES = "Say <action>up</action> or <action>down</action>, one move a turn. " * 6
_ACTION = re.compile(r"<action>\s*(up|down)\s*</action>")


def question(task: int, turns: int) -> str:
    """Return the prompt of a task."""
    return f"Staircase {task}. {RULES}Be on step {turns} after {turns} turns."


def move(step: int, said: str) -> int:
    """Return the step after what was `said`."""
    found = _ACTION.findall(said)
    return step + {"up": 1, "down": -1}[found[-1]] if found else step


def seen(step: int) -> str:
    """Return what is observed on a step."""
    return f"You stand on step {step}. Next move?"


def score(step: int, turns: int) -> float:
    """Return the reward of ending on `step`."""
    return float(step == turns)
