"""Splits of tasks: decided by their content, so that no two splits share a problem."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError, suggestion
from verigym.task import SPLITS
from verigym.transitions import Draft

_SPLIT_OF_BUCKET = ("train", "train", "validation", "test")


def checked_split(env_id: str, split: str) -> str:
    """Return `split` if it is one of `SPLITS`. Raises RequestError otherwise."""
    if split not in SPLITS:
        raise RequestError(f"{env_id} has no split {split!r}; {suggestion(str(split), SPLITS)}")
    return split


def split_by_essence(draft: Draft) -> str:
    """Assign a split by essence: half is training, a quarter each validation and test."""
    return split_of_essence(draft.reference if draft.essence is None else draft.essence)


def split_of_essence(essence: JSON) -> str:
    """Return the split of all tasks with this essence."""
    return _split_of_plain(essence) if isinstance(essence, str | int) else _split_of(essence)


@lru_cache(maxsize=1, typed=True)  # `Env.wants` asks, and then `Env.split_of` does
def _split_of_plain(essence: str | int) -> str:
    return _split_of(essence)


def _split_of(*content: JSON) -> str:
    return _SPLIT_OF_BUCKET[hashlib.sha256(to_json(content)).digest()[3] % len(_SPLIT_OF_BUCKET)]
