"""Draws constraints for a prompt: by seed, worded, and with a text that satisfies one alone.

chosen = draw(7, 3)
prompt = "Write about rivers.\\n" + say(chosen)
reference = {"constraints": chosen}
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from verigym.errors import RequestError, suggestion
from verigym.verifiers.text.constraints.kind import ConstraintKind
from verigym.verifiers.text.constraints.own import OWN
from verigym.verifiers.text.constraints.public import KEY_SENTENCES, PUBLIC

KINDS: dict[str, ConstraintKind] = {kind.id: kind for kind in (*PUBLIC, KEY_SENTENCES, *OWN)}


def kind_of(id: str) -> ConstraintKind:
    """Return a kind by id. Raises RequestError with a suggestion for an unknown one."""
    if id not in KINDS:
        raise RequestError(f"no constraint {id!r}; {suggestion(id, KINDS)}")
    return KINDS[id]


def draw(seed: int, n: int, ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return `n` constraints of different kinds, `{"id", "args"}`; the same seed gives the same ones.

    Nothing promises that one text can satisfy all of several: draw from `ids` that go together.
    """
    rng = random.Random(seed)
    chosen = rng.sample(list(KINDS) if ids is None else list(ids), n)
    return [{"id": id, "args": kind_of(id).make(rng)} for id in chosen]


def say(constraints: Sequence[dict[str, Any]]) -> str:
    """Return the constraints in words, one to a line."""
    return "\n".join(kind_of(c["id"]).say(c["args"]) for c in constraints)


def write(constraint: dict[str, Any]) -> str:
    """Return a text that satisfies this constraint alone."""
    return kind_of(constraint["id"]).write(constraint["args"])
