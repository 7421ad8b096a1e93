"""Keydoor: fetch keys, open doors, reach the goal on a small text grid.

The reward is sparse: 1 at the goal, 0 until then. Levels are chambers in a row, each behind a door,
turned and mirrored at random beyond the tiny size; their shortest solutions take 6 to 200 moves, by level.
At level 7 some floor is one-way, and hardly any other way is short enough. From level 8 on gems have to be collected first, in rooms that
are side by side: a shortest tour has to be found, which may leave out keys (`gem_maps.py`, `gem_tours.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.games.chambers import SIZES, draw_chambers
from verigym.envs.games.gem_maps import GEM_SIZES, draw_rows, misleads
from verigym.envs.games.gem_tours import GemTours
from verigym.envs.games.paths import count_tried
from verigym.errors import RequestError
from verigym.reply import move as move_in
from verigym.task import Task
from verigym.verifiers.games.keydoor import (
    MOVES,
    KeydoorLevel,
    KeydoorPlace,
    read_reference,
    turned,
)

PROMPT = """\
You walk on a grid. @ is you, * is the goal, # is a wall, . is floor.
A small letter is a key: walk onto it to take it. A capital letter is a locked door: walk into it \
with its key to open it.
Reach the goal within {max_turns} moves. Answer with one move: up, down, left or right."""
ARROW_PROMPT = """\
You walk on a grid. @ is you, * is the goal, # is a wall, . is floor. An arrow, ↑, ↓, ← or →, is floor that you can step onto \
only in the direction in which it points; you can leave it in any direction.
A small letter is a key: walk onto it to take it. A capital letter is a locked door: walk into it \
with its key to open it.
Reach the goal within {max_turns} moves, few more than the shortest way takes. Blocked moves count. \
Answer with one move: up, down, left or right."""
GEM_PROMPT = """\
You walk on a grid. @ is you, * is the goal, # is a wall, . is floor. An arrow, ↑, ↓, ← or →, is floor that you can step onto \
only in the direction in which it points; you can leave it in any direction.{turning}
A small letter is a key, $ is a gem: walk onto it to take it. A capital letter is a locked door: walk into it \
with its key to open it. Keys are kept, and not every key has to be fetched.
Collect all gems, then reach the goal; until you hold all gems, the goal is ordinary floor. {limit} Blocked moves count. \
Answer with one move: up, down, left or right."""
_TURNING = """ \
A double arrow, ⇑, ⇓, ⇐ or ⇒, is such an arrow \
that turns 90 degrees clockwise after each of your moves, blocked or not; the map shows how it points now."""
_LIMIT = "You may make at most {max_moves} moves, a few more than the minimum."
_FEWEST = "Use the fewest moves possible: with one move more than the minimum you fail. You have {max_turns} turns."


@dataclass(frozen=True)
class Walk:
    """Place of the walker, and the moves that led there (for the verifier, not for the key)."""

    level: KeydoorLevel
    place: KeydoorPlace
    moves: tuple[str, ...] = ()


class KeyDoor(Env[Walk]):
    """The environment. An action is `up`, `down`, `left` or `right`."""

    id: ClassVar[str] = "verigym/games/keydoor-v0"
    verifier_id: ClassVar[str] = "games/keydoor"
    difficulties: ClassVar[tuple[str, ...]] = ("tiny", "easy", "medium", "hard")
    max_observation_chars: ClassVar[int] = 2048
    max_action_chars: ClassVar[int] = 1024

    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Return a map whose shortest solution has a length in the range of `level`."""
        if level in GEM_SIZES:
            return self._generate_gems(rng, level)
        size = SIZES[level]
        while True:
            rows = draw_chambers(rng, size)
            drawn = KeydoorLevel(rows)
            path = drawn.shortest(drawn.start)
            if path is not None and len(path) in size.shortest:
                prompt, max_turns = PROMPT, size.max_turns
                limits = {"max_turns": max_turns}
                if size.spare is not None:
                    prompt, max_turns = ARROW_PROMPT, len(path) + len(path) * size.spare // 100
                    limits = {"max_turns": max_turns, "max_moves": max_turns}
                return Draft(
                    prompt=prompt.format(max_turns=max_turns),
                    reference={"rows": list(rows), **limits},
                    tags=("grid", f"shortest={len(path)}"),
                    essence=" ".join(rows),
                )

    def _generate_gems(self, rng: np.random.Generator, level: int) -> Draft:
        """Return a map with gems whose shortest tour is not the one that eyesight finds."""
        size = GEM_SIZES[level]
        while True:
            rows = draw_rows(rng, size)
            essence = " ".join(rows)
            if not self.wants(essence):
                continue
            tours = GemTours(KeydoorLevel(rows))
            if not misleads(tours, size):
                continue
            fewest = tours.fewest(tours.level.start)
            max_moves = fewest + fewest * size.spare // 100
            # Where only the minimum counts, it is not stated: whoever knows it knows when to stop looking.
            max_turns, limit = (max_moves, _LIMIT) if size.spare else (size.fewest.stop, _FEWEST)
            return Draft(
                prompt=GEM_PROMPT.format(
                    turning=_TURNING if size.turning else "",
                    limit=limit.format(max_moves=max_moves, max_turns=max_turns),
                ),
                reference={"rows": list(rows), "max_turns": max_turns, "max_moves": max_moves},
                tags=("grid", f"shortest={fewest}"),
                essence=essence,
            )

    def initial(self, task: Task) -> Walk:
        """Return the start, with nothing held."""
        level, _ = read_reference(task)
        return Walk(level, level.start)

    def turns_allowed(self, task: Task) -> int:
        """Return the limit: about twice the shortest solution, close to it at levels 7 to 9, and no hint of it at level 10."""
        return read_reference(task)[1]

    def observe(self, state: Walk) -> str:
        """Return the grid as it is now, and what is held."""
        level, place = state.level, state.place
        lines = []
        for row, line in enumerate(level.rows):
            cells = ["." if c == "@" or c in place.keys or c in place.opened else c for c in line]
            for gem_row, gem_column in place.gems:
                if gem_row == row:
                    cells[gem_column] = "."
            if row == place.row:
                cells[place.column] = "@"
            lines.append("".join(turned(cell, place.quarters) for cell in cells))
        lines.append(f"Keys: {' '.join(sorted(place.keys)) or 'none'}")
        if level.gems:
            lines.append(f"Gems: {len(place.gems)} of {len(level.gems)}")
        return "\n".join(lines)

    def transition(self, state: Walk, action: str) -> Transition[Walk]:
        """Apply one move. Unknown words and blocked moves change nothing and are invalid."""
        direction = action.strip().lower()
        if direction not in MOVES:
            direction = move_in(direction)
        if direction not in MOVES:
            return Transition(state=state, valid=False)
        place = state.level.move(state.place, direction)
        moved = Walk(state.level, place, (*state.moves, direction))
        if state.level.at_goal(place):
            return Transition(state=moved, terminated=True, submission=list(moved.moves))
        return Transition(state=moved, valid=place != state.place)

    def submission(self, state: Walk) -> JSON:
        """Return the moves so far, when the turn limit ends the play."""
        return list(state.moves)

    def key(self, state: Walk) -> JSON:
        """Return the position, keys, opened doors, gems and quarter turns; the level is in the task's content."""
        place = state.place
        key: list[JSON] = [place.row, place.column, sorted(place.keys), sorted(place.opened)]
        if state.level.gems:
            key.append(sorted(map(list, place.gems)))
        return [*key, place.quarters] if state.level.is_turning else key

    def legal_actions(self, state: Walk) -> list[str]:
        """Return the moves that are not blocked."""
        return [m for m in MOVES if state.level.move(state.place, m) != state.place]

    def work(self, state: Walk) -> int:
        """Count the steps that a search for the goal, or a table of tours, tries; later turns read the way that was found."""
        if state.moves:
            return 1
        if state.level.gems:
            tours = GemTours(state.level)
            tours.fewest(state.place)
            return tours.tried
        return count_tried(state.place, *_ways_in(state.level))

    def solve(self, state: Walk) -> str:
        """Return the first move of a shortest way to the goal."""
        level, place = state.level, state.place
        if level.gems:
            move = _tours(level).next_move(place)
            if move is None:
                raise RequestError(
                    "the game is over, or the goal cannot be reached; there is no next move"
                )
            return move
        known = _known(level)
        if place not in known:
            path = level.shortest(place)
            if not path:
                raise RequestError("the game is over; there is no next move")
            for step in path:
                known[place] = step
                place = level.move(place, step)
        return known[state.place]


@lru_cache(maxsize=16)
def _tours(level: KeydoorLevel) -> GemTours:
    return GemTours(level)


@lru_cache(maxsize=64)
def _known(level: KeydoorLevel) -> dict[KeydoorPlace, str]:
    """The next moves that were found. The end of a first shortest way is a first shortest way itself, so
    that it does not matter from where a move was found."""
    return {}


def _ways_in(
    level: KeydoorLevel,
) -> tuple[
    Callable[[KeydoorPlace], list[tuple[str, KeydoorPlace]]], Callable[[KeydoorPlace], bool]
]:
    def steps(place: KeydoorPlace) -> list[tuple[str, KeydoorPlace]]:
        return [(move, level.move(place, move)) for move in MOVES]

    return steps, level.at_goal
