"""Machines known only by examples of what they write, for `ribbons` and `grafts`: one machine alone fits them.

A machine reads letters and writes one for each, both by its state. `fitting_machines` goes through all machines that
fit, so that examples suffice only where no other one is left. It is also a measure of how hard a machine is to
find: examples are drawn until the search takes some branches but not too many for a program with a limit of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verigym.envs.code.family import one_of, whole

UNTOLD = "?"
"""Stands for a letter that is written and not shown."""

Sample = tuple[str, str]
"""Letters that a machine reads, and those that it writes, with some left untold."""
Cell = tuple[str, int]
"""Letter that a machine writes, and its next state."""

_WORD_LENGTHS = (7, 11)
_TOLD = 0.65
_FEWEST_BRANCHES, _MOST_BRANCHES = 150, 1_500
_TRIES = 20


@dataclass(frozen=True)
class Fitting:
    """The machines that fit samples: two at most, each a row of cells, state by state and letter by letter;
    `branches` were gone through, and `is_over` is False if there were too many."""

    machines: list[list[Cell]]
    branches: int
    is_over: bool


def draw_machine(rng: np.random.Generator, row: str, states: int) -> tuple[str, str]:
    """Return the cells of a machine and the samples that it alone fits of all with at most so many states, as
    parameters hold them; states are numbered from 0, in which it begins."""
    while True:
        cells = [(one_of(rng, row), whole(rng, 0, states - 1)) for _ in range(states * len(row))]
        samples = [_sample(rng, row, cells) for _ in range(len(cells))]
        while len(samples) < 2 * len(cells):
            found = fitting_machines(row, states, samples, _MOST_BRANCHES)
            if len(found.machines) == 1 and found.is_over:
                if found.branches < _FEWEST_BRANCHES or not _is_all_told(row, cells, samples):
                    break
                told = " ".join(f"{out}{then}" for out, then in found.machines[0])
                return told, " ".join(f"{read}>{written}" for read, written in samples)
            # Samples on which a machine that fits writes something else are of most use.
            samples += _samples_against(rng, row, cells, found.machines)


def _samples_against(
    rng: np.random.Generator, row: str, cells: Sequence[Cell], machines: Sequence[Sequence[Cell]]
) -> list[Sample]:
    """Return a sample that some of the machines do not fit; any two if there are none."""
    for _ in range(_TRIES if machines else 0):
        read, written = _sample(rng, row, cells)
        for machine in machines:
            other = written_by(row, machine, read)
            if any(c not in (UNTOLD, d) for c, d in zip(written, other, strict=True)):
                return [(read, written)]
    return [_sample(rng, row, cells) for _ in range(2)]


def told_samples(text: str) -> str:
    """Return the samples of a parameter as a prompt has them."""
    samples = (one.split(">") for one in text.split())
    return ", ".join(f"{written} for {read}" for read, written in samples)


def written_by(row: str, cells: Sequence[Cell], word: str) -> str:
    """Return what a machine writes."""
    state, out = 0, ""
    for c in word:
        one, state = cells[state * len(row) + row.index(c)]
        out += one
    return out


def fitting_machines(row: str, states: int, samples: Sequence[Sample], most: int) -> Fitting:
    """Return the machines with at most `states` states that fit samples, states being numbered in the order in which
    the search meets them; it ends with a second one, or after `most` branches.

    All samples are followed at once as far as they are determined, and what most of them wait for is
    decided next.
    """
    words = [
        ([row.index(c) for c in read], [-1 if c == UNTOLD else row.index(c) for c in written])
        for read, written in samples
    ]
    width, branches = len(row), 0
    after = [-1] * (states * width)
    written_at = [-1] * (states * width)
    machines: list[list[Cell]] = []

    def search(places: list[tuple[int, int]], met: int) -> bool:
        """Return False if there were too many branches."""
        nonlocal branches
        branches += 1
        if branches > most:
            return False
        learnt: list[int] = []
        moved = _followed(words, places, width, after, written_at, learnt)
        if moved is not None:
            reached, waiting = moved
            if not waiting:
                machines.append(
                    [(row[out], then) for out, then in zip(written_at, after, strict=True)]
                )
            else:
                cell = max(waiting, key=lambda one: waiting[one])
                for then in range(min(met + 1, states)):
                    after[cell] = then
                    if not search(reached, max(met, then + 1)):
                        return False
                    if len(machines) > 1:
                        break
                after[cell] = -1
        for cell in learnt:
            written_at[cell] = -1
        return True

    is_over = search([(0, 0)] * len(words), 1)
    return Fitting(machines, branches, is_over)


def _followed(
    words: list[tuple[list[int], list[int]]],
    places: list[tuple[int, int]],
    width: int,
    after: list[int],
    written_at: list[int],
    learnt: list[int],
) -> tuple[list[tuple[int, int]], dict[int, int]] | None:
    """Follow all samples as far as the machine is decided, and add what it writes; return their places and how many
    wait for which cell, or None if one does not fit."""
    reached: list[tuple[int, int]] = []
    waiting: dict[int, int] = {}
    for (read, written), (at, state) in zip(words, places, strict=True):
        while at < len(read):
            cell, out = state * width + read[at], written[at]
            if out >= 0:
                if written_at[cell] < 0:
                    written_at[cell] = out
                    learnt.append(cell)
                elif written_at[cell] != out:
                    return None
            if after[cell] < 0:
                waiting[cell] = waiting.get(cell, 0) + 1
                break
            state = after[cell]
            at += 1
        reached.append((at, state))
    return reached, waiting


def _sample(rng: np.random.Generator, row: str, cells: Sequence[Cell]) -> Sample:
    read = "".join(one_of(rng, row) for _ in range(whole(rng, *_WORD_LENGTHS)))
    written = written_by(row, cells, read)
    return read, "".join(c if rng.random() < _TOLD else UNTOLD for c in written)


def _is_all_told(row: str, cells: Sequence[Cell], samples: Sequence[Sample]) -> bool:
    """Return True if some sample shows the letter of each cell, without which it is not determined."""
    met: set[int] = set()
    for read, written in samples:
        state = 0
        for c, out in zip(read, written, strict=True):
            cell = state * len(row) + row.index(c)
            if out != UNTOLD:
                met.add(cell)
            state = cells[cell][1]
    return len(met) == len(cells)
