"""Moves: other spellings of a way to the goal; ways that stop short, go on, or hold what is no move.

A right way reaches the goal with its last move and not before, so a part of it does not reach it, and
with anything behind it is too long.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace

from verigym.canonical import JSON
from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"games/keydoor", "games/replay"})

_ODD: tuple[JSON, ...] = ("teleport", None, 3.5, [], {"to": "goal"}, True)


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield other spellings of a right list of moves, and lists that must fail."""
    moves, reference = case.submission, case.task.reference
    if not case.label or not isinstance(moves, list) or not isinstance(reference, dict):
        return
    if "game" in reference:
        text = json.dumps(moves)
        yield _made(case, "as-json", text, 1)
        yield _made(case, "tagged", f"First the way, then the moves.\n<answer>{text}</answer>", 1)
        yield _made(case, "thought-first", f"<think>{moves[0]}?</think>{text}", 1)
        yield _made(case, "fenced", f"```json\n{text}\n```", 1)
        yield _made(case, "breaks-off", text[:-1], 0)
        yield _made(case, "two-answers", f"```\n{text}\n```\n```\n[]\n```", 0)
    else:
        yield _made(case, "as-text", " ".join(map(str, moves)), 0)
    yield _made(case, "stops-short", moves[:-1], 0)
    yield _made(case, "goes-on", [*moves, moves[-1]], 0)
    yield _made(case, "doubled", [*moves, *moves], 0)
    at = rng.randrange(len(moves))
    for odd in _ODD:
        yield _made(case, "no-move", [*moves[:at], odd, *moves[at:]], 0)
    yield _made(case, "nested", [moves], 0)
    yield _made(case, "claimed", ["goal"], 0)
    yield _made(case, "as-object", {"moves": moves}, 0)


def _made(case: Case, category: str, submission: JSON, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
