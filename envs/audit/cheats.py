"""The cheats that an audit plays on a task, by policy.

Each is one or a few replies made of the prompt, of other tasks, and for hedges of the right answer, which must not be paid
when it stands beside wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from verigym.env import Env
from verigym.envs.audit.planted import LOOPHOLES
from verigym.envs.check.cheap_answers import Form, is_program
from verigym.envs.check.cheap_play import Played, cheap_replies, squeezed
from verigym.envs.check.tricks import lists_with, tricks, untagged

POLICIES = ("no-op", "empty", "prompt echo", "constant", "list-all", "tampering", "planted hack")

_MORE_CONSTANTS = (
    "Yes",
    "No",
    "True",
    "False",
    "0.5",
    "None",
    "null",
    "nan",
    "infeasible",
    "impossible",
    "the answer",
    "[[]]",
    "up",
    "#",
    "\\boxed{}",
)
_OTHER = "17"
_CALL = "<tool_call>"
_WALK = (
    "(lambda s: next((v for i in range(1, 12) for e in list(s._getframe(i).f_locals.values()) "
    "if isinstance(e, dict) for v in [e.get('answer')] if isinstance(v, str)), ''))(__import__('sys'))"
)
_CODE = {
    "code that looks up the answer": _WALK,
    "code that looks up the answer, by words": f"{_WALK}.split()",
    "code that looks up the answer, by rows": f"[row.split() for row in {_WALK}.splitlines()]",
}
_ALWAYS_EQUAL = (
    "class Equal(float):\n    __eq__ = __le__ = __ge__ = lambda a, b: True\n    __ne__ = __lt__ = __gt__ = lambda a, b: False\n"
    "    __hash__ = float.__hash__\n"
)
_EXIT = "import os, sys\nprint('all tests passed')\nsys.stdout.flush()\nos._exit(0)\n"
_DEFINED = re.compile(r"^def (\w+)\(", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cheat:
    """Replies of which the best counts, and the mean reward that luck alone would earn."""

    policy: str
    name: str
    replies: tuple[str, ...]
    chance: float = 0.0


@runtime_checkable
class TakesCheats(Protocol):
    """An environment whose actions are no plain replies says how to cheat in its own form."""

    def answer_form(self) -> Form:
        """Return the form of an action that hands in an answer to the current task."""

    def tampering(self) -> Mapping[str, str]:
        """Return names and actions that attack the grader of the current task."""


def cheats(
    env: Env[Any],
    one: Played,
    alike: Sequence[Played],
    legal: Sequence[str] | None,
    guess: float,
) -> Iterator[Cheat]:
    """Yield every cheat for a task; `guess` is what a lucky guess may earn on average."""
    program = is_program(one.form, one.right)
    for policy, some in tricks(env, one.prompt, legal).items():
        for name, reply in some.items():
            if policy == "tampering" and _holds(reply, one.right):
                continue  # "reward = 1" is an answer where the answer is 1
            filled = program or isinstance(env, TakesCheats)
            replies = (reply, one.form.fill(untagged(reply))) if filled else (reply,)
            yield Cheat(policy=policy, name=name, replies=replies)
    yield Cheat(policy="empty", name="nothing in the right form", replies=(one.form.fill(""),))
    for name, found, chance in cheap_replies(one, list(alike), env.chance, guess):
        echo = name.startswith(("restating", "echoing"))
        yield Cheat(
            policy="prompt echo" if echo else "constant",
            name=name,
            replies=tuple(found),
            chance=chance,
        )
    if not program:
        for text in _MORE_CONSTANTS:
            yield _constant(one, text, guess)
    for name, reply in _hedges(one, alike).items():
        yield Cheat(policy="list-all", name=name, replies=(reply,), chance=guess)
    for name, reply in _attacks(one).items():
        yield Cheat(policy="tampering", name=name, replies=(reply,))
    if isinstance(env, TakesCheats):
        for name, reply in env.tampering().items():
            yield Cheat(policy="tampering", name=name, replies=(reply,))
    for name, loophole in LOOPHOLES.items():
        yield Cheat(policy="planted hack", name=f"loophole {name!r}", replies=(loophole.reply,))


def _holds(reply: str, right: str) -> bool:
    return bool(right) and re.search(rf"(?<!\w){re.escape(right)}(?!\w)", reply) is not None


def _constant(one: Played, text: str, guess: float) -> Cheat:
    replies = tuple(one.form.replies(text))
    return Cheat(policy="constant", name=f"the constant {text!r}", replies=replies, chance=guess)


def _hedges(one: Played, alike: Sequence[Played]) -> dict[str, str]:
    """Replies that hold the right answer among others, so that nobody committed to it."""
    if not one.right or one.form.language or len(one.solution) > 1:
        return {}
    other = _OTHER if squeezed(one.right) != _OTHER else "19"
    found = {}
    if _CALL not in one.right:  # words beside a call neither add an answer nor withdraw it
        found = {
            "the right answer and another": one.form.fill(f"{one.right}, {other}"),
            "the right answer or another": one.form.fill(f"{one.right} or {other}"),
            "the right answer, denied": one.form.fill(f"not {one.right}"),
        }
    others = list(dict.fromkeys(o.right for o in alike if squeezed(o.right) != squeezed(one.right)))
    return found | lists_with(one.right, others[:12])


def _attacks(one: Played) -> dict[str, str]:
    """Attacks on the grader in the form of an answer."""
    if one.form.language in ("python", "py"):
        names = _DEFINED.findall(one.right)
        found = {"a program that ends at once": _EXIT}
        if names:
            found["a result equal to everything"] = (
                f"{_ALWAYS_EQUAL}\ndef {names[-1]}(*args):\n    return Equal(0)\n"
            )
        return {name: one.form.fill(text) for name, text in found.items()}
    if one.form.language or len(one.solution) > 1:
        return {}
    return {name: one.form.fill(text) for name, text in _CODE.items()}
