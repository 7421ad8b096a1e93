"""Neither prompt nor `info` holds the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from verigym.canonical import JSON
from verigym.envs.check.subject import Broken, Subject, plan

_TASKS = 8


def the_answer_is_hidden(subject: Subject) -> None:
    """Not in the first observation, `info`, or the public part of the task."""
    env = subject.quick()
    for difficulty in env.difficulties:
        seen: list[str] = []
        for seed in range(_TASKS):
            observation, info = env.reset(seed=seed, options={"difficulty": difficulty})
            reference = json.dumps(env.task.reference, sort_keys=True)
            shown = [observation, repr(info), repr(env.task.public())]
            # What is long enough to be an answer: hidden tests, programs, solutions. Short pieces,
            # such as the rows of a grid that the policy sees, may well stand in the prompt.
            hidden = [text for text in _leaves(env.task.reference) if len(_squeezed(text)) > 40]
            answer = "" if env.oracle_absent else _squeezed("".join(plan(env)[0]))
            for text in shown:
                if len(reference) > 8 and reference in text:
                    raise Broken(f"{env.task.id}: the reference stands in {_where(text, shown)}")
                for secret in hidden:
                    if _squeezed(secret) in _squeezed(text) and secret not in env.task.prompt:
                        raise Broken(f"{env.task.id}: {secret[:60]!r} in {_where(text, shown)}")
                # A word or a number may be part of the question; a whole way to the goal may not.
                if len(answer) > 4 and answer in _squeezed(text):
                    seen.append(f"{env.task.id}: the answer stands in {_where(text, shown)}")
        # Now and then an answer is also a part of the question: a matrix that is its own inverse.
        if len(seen) > _TASKS // 4:
            raise Broken(seen[0])


def _where(text: str, shown: list[str]) -> str:
    return ("the observation", "info", "the public task")[shown.index(text)]


def _leaves(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"</?\w+>", "", text))
