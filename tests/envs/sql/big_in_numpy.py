"""The tables of `sql/scale` as arrays, made by numpy alone."""

from datetime import date

import numpy as np

from verigym.envs.sql.big import DAYS, FIRST_DAY, PRIME, SALTS


class Columns:
    """The tables of a task as arrays, made from the description of the rows, not by DuckDB."""

    def __init__(self, extent):
        d = extent.names
        moves = np.random.Generator(np.random.PCG64(extent.seed)).integers(0, PRIME, 6).tolist()
        i = np.arange(1, extent.events + 1, dtype=np.int64)
        raw = []
        for salt in SALTS:
            step = (i * 48271 + salt) % PRIME
            raw.append((step * step % PRIME * 69621 + salt) % PRIME)

        def fold(salt, move, span, n):
            return (raw[salt - 1][:n] + moves[move]) % span

        things, owners = extent.events // 50, extent.events // 5000
        self.region = np.array(d.regions)[fold(1, 0, len(d.regions), owners)]
        self.owner = fold(1, 1, owners, things)
        self.kind = np.array(d.kinds)[fold(2, 2, len(d.kinds), things)]
        self.thing = fold(1, 4, things, extent.events)
        self.amount = d.amounts[0] + fold(2, 5, d.amounts[1] - d.amounts[0], extent.events)
        self.day = fold(3, 0, DAYS, extent.events)
        self.things = things

    def totals(self, mask):
        return np.bincount(self.thing[mask], self.amount[mask], self.things).astype(int)


def number_of(text):
    return (date.fromisoformat(text) - date.fromisoformat(FIRST_DAY)).days
