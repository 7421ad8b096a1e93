"""Neither prompt nor `info` holds the answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from verigym.canonical import JSON
from verigym.env import Env, Snapshot
from verigym.envs.check.subject import Broken, Subject, plan, rungs

_TASKS = 8
_PLACED = 24
"""Number of tasks used to find the place of short answers."""
_AT_FIRST = ("the observation", "info", "the public task")


def the_answer_is_hidden(subject: Subject) -> None:
    """Check that neither the first observation, the public task nor `info` holds the answer.

    `info` is checked at the start and in play. A long answer may not occur in any of them. A short
    one may occur among others, but not always in the same place, because a policy that knows the
    place would not need to read the question.
    """
    env = subject.quick()
    for difficulty in rungs(env):
        seen: list[str] = []
        texts: dict[tuple[str, int], list[tuple[list[str], str]]] = {}
        for seed in range(max(_TASKS, min(_PLACED, subject.few(subject.seeds) // 8))):
            observation, info = env.reset(seed=seed, options={"difficulty": difficulty})
            start = env.snapshot()
            actions = [] if env.oracle_absent else plan(env)[0]
            answer = _squeezed("".join(actions))
            answers = (_words(_untagged(actions[-1])), [answer]) if actions else ()
            shown = {
                "the observation": observation,
                "info": repr(info),
                "the public task": repr(env.task.public()),
                **_in_play(env, start, actions),
            }
            for where, text in shown.items():
                said = _spaced(_words(text))
                for form, words in enumerate(answers):
                    texts.setdefault((where, form), []).append((words, said))
                if seed < _TASKS:
                    _check_whole(env, text, where)
                    # A word or a number may be part of the question; a whole way to the goal may not.
                    if len(answer) > 4 and where in _AT_FIRST and answer in _squeezed(text):
                        seen.append(f"{env.task.id}: the answer stands in {where}")
        # Now and then an answer is also a part of the question: a matrix that is its own inverse.
        if len(seen) > _TASKS // 4:
            raise Broken(seen[0])
        for (where, _), pairs in texts.items():
            if place := _place(pairs):
                raise Broken(
                    f"{difficulty}: the answer always stands in {where}, at one place in every task: {place}"
                )


def _check_whole(env: Env[Any], text: str, where: str) -> None:
    """Check that no long part of the reference is shown: hidden tests, programs, solutions.

    Short pieces, such as the rows of a grid that the policy sees, may well occur in the prompt.
    """
    reference, squeezed = env.task.reference, _squeezed(text)
    wholes = [json.dumps(reference, sort_keys=True)]
    if isinstance(reference, dict):
        wholes.append(repr(reference))
    if any(len(whole) > 8 and whole in text for whole in wholes):
        raise Broken(f"{env.task.id}: the reference stands in {where}")
    leaves = {leaf for leaf in _leaves(reference) if len(leaf) > 40}
    told = {leaf for leaf in leaves if leaf in env.task.prompt}
    alike = {_squeezed(leaf) for leaf in told}
    for secret in sorted(leaves - told):
        found = _squeezed(secret)
        if found in alike:
            # It differs from one of those in its spaces alone, as a program may: looked for as it is.
            stands = secret in text or repr(secret)[1:-1] in text
        else:
            stands = len(found) > 40 and found in squeezed
        if stands:
            raise Broken(f"{env.task.id}: {secret[:60]!r} in {where}")


def _in_play(env: Env[Any], start: Snapshot[Any], actions: list[str]) -> dict[str, str]:
    """Return the reply to junk, and `info` after it and after the oracle's first action."""
    shown = {}
    for name, action in zip(
        ("junk", "a right action"), ("no such action", *actions[:1]), strict=False
    ):
        env.restore(start)
        observation, _, terminated, truncated, info = env.step(action)
        if not (terminated or truncated):
            shown[f"info after {name}"] = repr(info)
            if name == "junk":
                shown["the observation after junk"] = observation
    return shown


def _place(pairs: list[tuple[list[str], str]]) -> str | None:
    """Find one rule that locates the answer in every text; None if there is no such rule.

    A rule is the text just before the answer, or the number of words from the start or from the
    end.
    """
    most_common = max(Counter(tuple(words) for words, _ in pairs).values(), default=0)
    misses = len(pairs) // 12
    holding = [one for one in pairs if one[0] and _spaced(one[0]) in one[1]]
    # An answer that is mostly the same could be told from any text.
    if len(pairs) < 8 or most_common > 2 * len(pairs) // 3 or len(pairs) - len(holding) > misses:
        return None
    words, text = min(holding, key=lambda one: one[1].count(_spaced(one[0])))
    answer = _spaced(words)
    at = text.find(answer)
    for _ in range(4):
        if at < 0:
            break
        before = text[:at].split()
        after = len(text[at:].split())
        rules = [partial(_behind, _spaced(before[-length:])) for length in (2, 4, 6)]
        for rule in (*rules, partial(_from, len(before)), partial(_from, -after)):
            if sum(rule(other)[: len(right)] != right for right, other in pairs) <= misses:
                return f"as in {' '.join(before[-6:])!r} + {' '.join(words)!r}"
        at = text.find(answer, at + 1)
    return None


def _behind(mark: str, text: str) -> list[str]:
    """The words that follow the first `mark`."""
    return text.partition(mark)[2][:200].split()


def _from(start: int, text: str) -> list[str]:
    return text.split()[start:]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def _spaced(words: list[str]) -> str:
    return f" {' '.join(words)} "


def _leaves(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        rows = value.split()
        # Rows of a grid are the same in one text as in a list.
        yield from rows if len(set(map(len, rows))) == 1 else [value]
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)


def _squeezed(text: str) -> str:
    """Return the text without spaces and without the characters that `repr` and JSON add."""
    return re.sub(r"""\\[nrt]|[\s\\'"]""", "", _untagged(text))


def _untagged(text: str) -> str:
    return re.sub(r"</?\w+>", "", text)
