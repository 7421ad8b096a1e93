"""`item`: one question of reasoning-gym, from task, level and seed alone."""

from __future__ import annotations

from collections.abc import Iterator
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


class NotMade(Exception):
    """Raised if the library gave up on this seed: it found no puzzle in its number of trials."""


@lru_cache(maxsize=8)
def item(task: str, level: int | None, seed: int) -> tuple[Any, dict[str, Any]]:
    """Return the data set that makes the item, and its question, answer and metadata.

    `level` is the level of each attribute of the task's curriculum, the highest if an attribute
    has fewer; None for the library's defaults.

    Raises NotMade for a seed without an item (3 in 150 of tsumego), TaskError for an unknown task,
    RequestError if the library is not installed.
    """
    library("reasoning_gym", "reasoning-gym")
    _borrow()
    with drawing_from(Generators(seed)):
        if task not in _KEPT:
            return _with_item(_made(task, level, seed))
        dataset = _kept(task, level)
        with _one_at_a_time:
            dataset.seed = seed
            dataset.size = 1  # word_ladder makes it 0 if it gives up
            return _with_item(dataset)


def _with_item(dataset: Any) -> tuple[Any, dict[str, Any]]:
    try:
        return dataset, dataset[0]
    except (IndexError, RuntimeError, ValueError) as error:
        raise NotMade(str(error)) from error


@lru_cache(maxsize=24)
def _kept(task: str, level: int | None) -> Any:
    return _made(task, level, 0)


def _made(task: str, level: int | None, seed: int) -> Any:
    from reasoning_gym import factory

    if task not in factory.DATASETS:
        raise TaskError(f"reasoning-gym has no task {task!r}")
    dataset_class, config_class = factory.DATASETS[task]
    if level is None:
        return _in_order(task, dataset_class(config_class(seed=seed, size=1)))
    curriculum = factory.CURRICULA[task]()
    for name, attribute in curriculum.attributes.items():
        curriculum.set_attr_level(name, min(level, len(attribute.levels) - 1))
    configuration = curriculum.generate_configuration({"seed": seed, "size": 1})
    return _in_order(task, dataset_class(configuration))


class _Sorted(set[str]):
    """Set that is iterated in a fixed order."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))

    def __sub__(self, other: Any) -> _Sorted:
        return _Sorted(super().__sub__(other))


def _in_order(task: str, dataset: Any) -> Any:
    """The same data set, which no longer draws from sets: their order hangs on the hash seed of the
    process (PYTHONHASHSEED), and so did the questions of four tasks."""
    if task in ("isomorphic_strings", "ransom_note"):
        dataset.letters = _Sorted(dataset.letters)
    elif task == "word_ladder":
        neighbours = dataset._get_neighbors
        dataset._get_neighbors = lambda word, words: _Sorted(neighbours(word, words))
    elif task == "polynomial_multiplication":
        monomials = dataset._get_monomials
        dataset._get_monomials = lambda rng: sorted(monomials(rng), key=str)
    return dataset


@lru_cache(maxsize=1)
def _borrow() -> None:
    # Imported by the library when it is first drawn from, which would be after this.
    import_module("reasoning_gym.induction.list_functions.generators")
    borrow("reasoning_gym")
