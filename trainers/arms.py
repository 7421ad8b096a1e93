"""The arms that a curriculum chooses among, one for each environment and level, and how it chooses.

State is plain data, kept with each checkpoint, so that a resumed run draws what the other would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verigym.trainers.credit.segments import Floats
from verigym.trainers.curriculum import adcl_chunks, dump_probabilities, sec_update, softmax
from verigym.trainers.sections import CurriculumSection


class Curriculum:
    """Probabilities of K arms, from what was learnt on them so far. `weights` are the arms' own."""

    def __init__(self, section: CurriculumSection, weights: Sequence[float], steps: int) -> None:
        self.section = section
        self.weights = np.array(weights, dtype=np.float64)
        self.steps = steps
        k = len(weights)
        self.value = np.zeros(k)
        self.count = np.zeros(k)
        self.success = np.full(k, np.nan)
        self.recent: list[list[float]] = [[] for _ in range(k)]
        self.chunks: list[list[int]] = []

    def probabilities(self, step: int) -> Floats:
        """Return the probability of each arm at training step `step`, from 1, [K]."""
        found = getattr(self, f"_{self.section.name.replace('-', '_')}")(step) * self.weights
        uniform = self.weights / self.weights.sum()
        if not found.sum() > 0:
            return np.asarray(uniform, dtype=np.float64)
        floor = self.section.floor
        return np.asarray((1 - floor) * found / found.sum() + floor * uniform, dtype=np.float64)

    def observe(
        self, arm: Sequence[int], signal: Sequence[float], success: Sequence[float]
    ) -> None:
        """Learn from the groups of a step: the arm, mean |advantage| and success rate of each."""
        k = len(self.weights)
        arms = np.array(arm, dtype=np.intp)
        sampled = np.bincount(arms, minlength=k)
        total = np.bincount(arms, weights=np.array(signal, dtype=np.float64), minlength=k)
        mean = np.divide(total, sampled, out=np.zeros(k), where=sampled > 0)
        self.value = sec_update(self.value, mean, sampled > 0, alpha=self.section.alpha)
        self.count = self.count + sampled
        for number, a, rate in zip(arm, signal, success, strict=True):
            self.recent[number] = [*self.recent[number], a][-self.section.window :]
            old = self.success[number]
            alpha = self.section.alpha
            self.success[number] = rate if np.isnan(old) else (1 - alpha) * old + alpha * rate

    def state(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {
            "value": self.value.tolist(),
            "count": self.count.tolist(),
            "success": [None if np.isnan(s) else s for s in self.success.tolist()],
            "recent": self.recent,
            "chunks": self.chunks,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Continue from a state of `state()`."""
        self.value = np.array(state["value"], dtype=np.float64)
        self.count = np.array(state["count"], dtype=np.float64)
        self.success = np.array(
            [np.nan if s is None else s for s in state["success"]], dtype=np.float64
        )
        self.recent = [list(line) for line in state["recent"]]
        self.chunks = [list(line) for line in state["chunks"]]

    # One method for each name.

    def _weights(self, step: int) -> Floats:
        return np.ones(len(self.weights))

    def _sec(self, step: int) -> Floats:
        return softmax(self.value, tau=self.section.tau or 1.0)

    def _dump(self, step: int) -> Floats:
        level = [float(np.mean(line)) if line else 0.0 for line in self.recent]
        return dump_probabilities(level, self.count, tau=self.section.tau or 0.1)

    def _success_band(self, step: int) -> Floats:
        low, high = self.section.band
        unknown = np.isnan(self.success)
        inside = unknown | ((self.success >= low) & (self.success <= high))
        return np.asarray(inside, dtype=np.float64)

    def _adcl(self, step: int) -> Floats:
        """Arms from easy to hard in chunks; those still to come are sorted again before each chunk."""
        n = min(self.section.chunks, len(self.weights))
        now = min(n - 1, (step - 1) * n // max(1, self.steps))
        while len(self.chunks) <= now:
            used = {arm for chunk in self.chunks for arm in chunk}
            left = [arm for arm in range(len(self.weights)) if arm not in used]
            # Without a measurement yet, the order of the configuration counts as from easy to hard.
            error = [
                1.0 + i if np.isnan(self.success[arm]) else 1.0 - float(self.success[arm])
                for i, arm in enumerate(left)
            ]
            chunk = adcl_chunks(error, chunks=n - len(self.chunks))[0]
            self.chunks.append([left[i] for i in chunk.tolist()])
        out = np.zeros(len(self.weights))
        out[self.chunks[now]] = 1.0
        return out
