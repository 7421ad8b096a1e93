"""Ways to read the action in a reply, by name.

`environment` leaves it to the environment (`Env.action_in`), which most tasks need. The others are for
models that were taught another convention; what they return is what the environment gets. Thoughts are
never part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from verigym.reply import fenced, last_answer, spoken

Parse = Literal["environment", "tag", "fence", "last-line"]


def parser(name: Parse) -> Callable[[str], str] | None:
    """Return the function that reads an action from a reply; None for the environment's own."""
    return None if name == "environment" else _PARSERS[name]


def _in_tag(reply: str) -> str:
    """Return the content of the last answer or action tag, "" if there is none or it is taken back."""
    return (last_answer(spoken(reply)) or "").strip()


def _in_fence(reply: str) -> str:
    """Return the content of the last complete fenced block, "" if there is none."""
    blocks = fenced(spoken(reply))
    return blocks[-1].body.strip() if blocks else ""


def _in_last_line(reply: str) -> str:
    """Return the last line that is not blank, "" if there is none."""
    return (spoken(reply).strip().splitlines() or [""])[-1].strip()


_PARSERS: dict[str, Callable[[str], str]] = {
    "tag": _in_tag,
    "fence": _in_fence,
    "last-line": _in_last_line,
}
