"""Packing rows as a prefix tree: every distinct token once, every row's path its own tokens."""

from __future__ import annotations

import numpy as np
import pytest

from verigym.agents.prefix_tree import count_distinct, cut, pack


def nodes_of(rows):
    """Count by hand: the different beginnings of all rows."""
    return len({tuple(row[: i + 1]) for row in rows for i in range(len(row))})


def forest(seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 3, rng.integers(1, 9)).tolist() for _ in range(12)]
    return [*rows, rows[0], rows[1][:1], [*rows[2], 7, 7]]


@pytest.mark.parametrize("seed", range(5))
def test_each_distinct_token_is_one_node_and_paths_spell_the_rows(seed):
    rows = forest(seed)
    packed = pack(rows)
    assert len(packed.ids) == count_distinct(rows) == nodes_of(rows)
    for row, path, start in zip(rows, packed.paths, packed.starts, strict=True):
        assert packed.ids[path].tolist() == row
        assert packed.depth[path].tolist() == list(range(len(row)))
        assert (
            path[start:].tolist() == list(range(path[start], path[start] + len(row) - start))
            if (start < len(row))
            else True
        )


def test_tokens_that_have_nodes_already_get_no_new_ones():
    packed = pack([[1, 2, 3], [5, 6]], known=[np.array([4, 0]), np.array([], dtype=int)], first=9)
    assert packed.ids.tolist() == [3, 5, 6]
    assert [path.tolist() for path in packed.paths] == [[4, 0, 9], [10, 11]]


@pytest.mark.parametrize("budget", [1, 5, 12, 1000])
def test_parts_hold_all_rows_and_stay_in_the_budget(budget):
    rows = forest(1)
    parts = cut(rows, budget)
    assert sorted(i for part in parts for i in part) == list(range(len(rows)))
    for part in parts:
        assert len(part) == 1 or nodes_of([rows[i] for i in part]) <= budget
    if budget == 1000:
        assert len(parts) == 1


def test_a_cut_is_made_between_groups():
    rows = [[group] * 10 + [i] for group in (1, 2, 3) for i in range(4)]
    assert [sorted(part) for part in cut(rows, 32)] == [list(range(8)), list(range(8, 12))]
