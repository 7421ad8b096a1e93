"""Enough different tasks, and splits that share none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import verigym
from verigym.canonical import JSON
from verigym.env import Draft, Env
from verigym.envs.check.subject import Broken, Subject, rungs

_SAMPLE = 60
_DRAWN = 4
"""Tasks of each difficulty that are drawn to look at their essence."""
_REWORDED = "The same task in other words."


def seeds_give_different_tasks(subject: Subject) -> dict[str, Any]:
    """Check that many seeds give many tasks at each difficulty."""
    env = subject.remembering()
    sample = min(_SAMPLE, 2 * subject.seeds)
    shares = {}
    for difficulty in rungs(env):
        contents = {env.sample_task(seed, difficulty).content for seed in range(sample)}
        shares[difficulty] = round(len(contents) / sample, 2)
        if len(contents) < min(8, sample):
            raise Broken(f"{difficulty}: {sample} seeds give {len(contents)} different tasks")
    return {"distinct_share": shares}


def splits_share_no_content(subject: Subject) -> None:
    """Check that no content is in two splits, at any difficulty."""
    env = subject.remembering()
    seen: dict[str, str] = {}
    for difficulty in rungs(env):
        for split in verigym.SPLITS:
            for seed in range(subject.few(_SAMPLE)):
                task = env.sample_task(seed, difficulty, split)
                if (task.split, task.difficulty) != (split, difficulty):
                    raise Broken(f"asked for {difficulty}, {split}, got {task.id}")
                if (other := seen.setdefault(task.content, split)) != split:
                    raise Broken(f"{task.id} is also in split {other!r}")


def wording_leaves_the_split(subject: Subject) -> None:
    """Check that other words in a prompt leave its task in its split: the essence decides, and holds none of
    them."""
    env = subject.make()
    for difficulty in rungs(env):
        for draft in _drafts(env, difficulty, subject.few(_DRAWN)):
            if env.split_of(replace(draft, prompt=_REWORDED)) != env.split_of(draft):
                raise Broken(
                    f"{difficulty}: another prompt is another split; let split_of use the essence alone"
                )
            if type(env).split_of is not Env.split_of:
                continue  # it has a reason of its own
            essence = draft.reference if draft.essence is None else draft.essence
            for text in _texts(essence):
                if _is_wording(text, draft.prompt):
                    raise Broken(
                        f"{difficulty}: the prompt's words decide the split: {text[:80]!r}; give the draft "
                        "an essence of plain data, such as operands, a board, or a query"
                    )


def _drafts(env: Env[Any], difficulty: str, seeds: int) -> list[Draft]:
    """Return the drafts that some seeds lead to."""
    drafts: list[Draft] = []
    generate = env.generate

    def keep(*args: Any) -> Draft:
        drafts.append(generate(*args))
        return drafts[-1]

    env.generate = keep  # type: ignore[method-assign, assignment]
    for seed in range(seeds):
        env.sample_task(seed, difficulty)
    del env.generate
    return drafts


def _texts(value: JSON) -> Iterator[str]:
    """Yield the texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _is_wording(text: str, prompt: str) -> bool:
    """Return True for a text of several words that ends like a sentence and stands in the prompt."""
    text = text.strip()
    return text.endswith((".", "?", "!", ":")) and " " in text and text in prompt
