"""`item`: one question of reasoning-gym, from task, level and seed alone."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from verigym.errors import TaskError
from verigym.verifiers.doors.borrowed import Generators, borrow, drawing_from
from verigym.verifiers.doors.game import library

# Data sets that load a file when they are made, up to 0.8 s; they are kept, and given each item's seed,
# which makes the same item (tests/envs/doors compares). Of the others each item has its own.
_KEPT = frozenset(
    (
        *("arc_agi", "base_conversion", "caesar_cipher", "emoji_mystery", "figlet_font"),
        *("group_anagrams", "spell_backward", "word_ladder"),
    )
)
_one_at_a_time = Lock()


@lru_cache(maxsize=8)
def item(task: str, level: int | None, seed: int) -> tuple[Any, dict[str, Any]]:
    """The data set that makes it, and question, answer and metadata. `level` is that of each attribute
    of the task's curriculum, its highest where it has fewer; None for the library's defaults.

    Raises TaskError for an unknown task, RequestError where the library is not installed.
    """
    library("reasoning_gym", "reasoning-gym")
    _borrow()
    with drawing_from(Generators(seed)):
        if task not in _KEPT:
            dataset = _made(task, level, seed)
            return dataset, dataset[0]
        dataset = _kept(task, level)
        with _one_at_a_time:
            dataset.seed = seed
            return dataset, dataset[0]


@lru_cache(maxsize=24)
def _kept(task: str, level: int | None) -> Any:
    return _made(task, level, 0)


def _made(task: str, level: int | None, seed: int) -> Any:
    from reasoning_gym import factory

    if task not in factory.DATASETS:
        raise TaskError(f"reasoning-gym has no task {task!r}")
    dataset_class, config_class = factory.DATASETS[task]
    if level is None:
        return dataset_class(config_class(seed=seed, size=1))
    curriculum = factory.CURRICULA[task]()
    for name, attribute in curriculum.attributes.items():
        curriculum.set_attr_level(name, min(level, len(attribute.levels) - 1))
    return dataset_class(curriculum.generate_configuration({"seed": seed, "size": 1}))


@lru_cache(maxsize=1)
def _borrow() -> None:
    # Imported by the library when it is first drawn from, which would be after this.
    import_module("reasoning_gym.induction.list_functions.generators")
    borrow("reasoning_gym")
