"""Tower of Hanoi, from any arrangement to all disks on one peg."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.rules import RULES, HanoiState

# Disks, and the least number of moves.
SIZES = {
    1: (3, range(1, 4)),
    2: (3, range(3, 8)),
    3: (4, range(6, 10)),
    4: (4, range(8, 16)),
    5: (5, range(14, 32)),
    6: (6, range(24, 64)),
    7: (6, range(48, 64)),
    8: (7, range(64, 112)),
    9: (8, range(128, 200)),
    10: (9, range(256, 360)),
}

_PROMPT = """\
Three pegs hold {disks} disks; 1 is the smallest. The disks of a peg are listed from bottom to top. A move \
takes the top disk of one peg to another peg, never onto a smaller disk.
Bring all disks to peg {target} within {turns} moves. Answer with one move, such as 1->3."""


class Hanoi(ReplayedGame):
    """The environment. An action is `from->to`, pegs counted from 1."""

    id: ClassVar[str] = "verigym/games/hanoi-v0"
    game: ClassVar[str] = "hanoi"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw disks on random pegs; few enough moves, and not too few."""
        disks, lengths = SIZES[level]
        while True:
            places = [int(p) for p in rng.integers(0, 3, disks)]
            target = int(rng.integers(1, 4))
            start = [[d for d in range(disks, 0, -1) if places[d - 1] == peg] for peg in range(3)]
            state = RULES["hanoi"].start({"start": start, "target": target})
            least = _least(state)
            if least in lengths:
                turns = least + least // 2 + 2
                prompt = _PROMPT.format(disks=disks, target=target, turns=turns)
                return prompt, {"start": start, "target": target, "turns": turns}

    @override
    def show(self, board: HanoiState) -> str:
        """Return the pegs as text, the bottom disc first."""
        return "\n".join(
            f"peg {i}: {' '.join(map(str, peg)) or 'empty'}" for i, peg in enumerate(board.pegs, 1)
        )

    @override
    def position(self, board: HanoiState) -> JSON:
        return [list(peg) for peg in board.pegs]

    @override
    def moves(self, board: HanoiState) -> list[str]:
        pairs = [(a, b) for a in range(3) for b in range(3)]
        return [f"{a + 1}->{b + 1}" for a, b in pairs if self.rules.legal(board, (a, b))]

    @override
    def best(self, board: HanoiState) -> str | None:
        """The largest disk out of place decides; the smaller ones make way."""
        where = {disk: peg for peg, disks in enumerate(board.pegs) for disk in disks}
        target, move = board.target, None
        for disk in sorted(where, reverse=True):
            if where[disk] != target:
                move = (where[disk], target)
                target = 3 - where[disk] - target  # the peg that is neither
        return f"{move[0] + 1}->{move[1] + 1}" if move else None

    @override
    def work(self, state: Play) -> int:
        """Count the disks that are looked up, and the pegs that are worked out from them."""
        operations, target = 0, state.board.target
        for disk in range(sum(map(len, state.board.pegs)), 0, -1):
            operations += 1
            peg = next(i for i, disks in enumerate(state.board.pegs) if disk in disks)
            if peg != target:
                target = 3 - peg - target
                operations += 1
        return operations


def _least(state: HanoiState) -> int:
    """The least number of moves: 2^(d-1) for each disk d that has to move."""
    where = {disk: peg for peg, disks in enumerate(state.pegs) for disk in disks}
    target, total = state.target, 0
    for disk in sorted(where, reverse=True):
        if where[disk] != target:
            total += 1 << (disk - 1)
            target = 3 - where[disk] - target
    return total
