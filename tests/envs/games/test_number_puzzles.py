"""Sudokus under drawn rules: a plain solver finds the same grids, and every clue is checked cell by cell."""

import itertools
import re

import numpy as np
import pytest

import verigym
from verigym.envs.games.number_puzzles import PuzzleSize, draw_puzzle, draw_regions, written
from verigym.envs.games.number_search import NumberSearch
from verigym.envs.games.sudoku import PUZZLES
from verigym.verifiers.games.number_rules import NumberRules, read_number_rules


def all_grids(rules):
    """Every grid that keeps `rules`: one row after the other from all orders, checked from the reference."""
    n, reference = rules.side, written(rules)
    found = []

    def breaks(grid):
        rows = len(grid)
        for column in zip(*grid, strict=True):
            if len(set(column)) < rows:
                return True
        cells = {(r + 1, c + 1): grid[r][c] for r in range(rows) for c in range(n)}
        for letter in "".join(rules.regions):
            some = [v for (r, c), v in cells.items() if rules.regions[r - 1][c - 1] == letter]
            if len(set(some)) < len(some):
                return True
        for rule in reference["apart"]:
            for (row, column), (down, right) in itertools.product(cells, rule["steps"]):
                r, c = row + down, column + right
                if rule["joined"]:
                    r, c = (r - 1) % n + 1, (c - 1) % n + 1
                if (r, c) in cells:
                    one, other = cells[row, column], cells[r, c]
                    if abs(one - other) in rule["differences"] or one + other in rule["sums"]:
                        return True
        for total in reference["totals"]:
            plus, minus = ([cells.get(tuple(at)) for at in total[k]] for k in ("plus", "minus"))
            if None in plus + minus:
                continue  # not all filled in yet
            value = sum(plus) - sum(minus)
            if total["modulus"]:
                value %= total["modulus"]
            if not total["least"] <= value <= total["most"]:
                return True
        return False

    def extend(grid):
        if len(grid) == n:
            found.append([v for row in grid for v in row])
            return
        for row in itertools.permutations(range(1, n + 1)):
            if not breaks([*grid, row]):
                extend([*grid, row])

    extend([])
    return found


def small_puzzle(seed, side=4, clashes=2):
    rng = np.random.default_rng(seed)
    return draw_puzzle(
        rng, PuzzleSize(side, clashes, (0.2, 0.4, 0.2, 0.2), (0, 30), 4), lambda full: True
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_plain_solver_finds_the_same_grids(seed):
    rules, full = small_puzzle(seed, *((4, 1) if seed % 2 else (5, 1)))
    assert all_grids(rules) == [full]
    fewer = NumberRules(rules.side, rules.regions, rules.apart, rules.totals[::3])
    if rules.side == 4:
        assert sorted(NumberSearch(fewer).solve(10_000, 10_000)[0]) == sorted(all_grids(fewer))


def test_given_numbers_narrow_the_search():
    rules, full = small_puzzle(1, 4, 1)
    loose = NumberRules(rules.side, rules.regions)
    given = bytes(v if i < 6 else 0 for i, v in enumerate(full))
    expected = [grid for grid in all_grids(loose) if grid[:6] == full[:6]]
    assert sorted(NumberSearch(loose, given).solve(1000, 1000)[0]) == sorted(expected)
    assert len(expected) > 1 or len(all_grids(loose)) > 1


@pytest.mark.parametrize("n", [4, 6, 7, 8])
def test_regions_are_connected_and_none_is_a_row(n):
    for seed in range(5):
        regions = draw_regions(np.random.default_rng(seed), n)
        for letter in set("".join(regions)):
            cells = {(r, c) for r in range(n) for c in range(n) if regions[r][c] == letter}
            reached = {min(cells)}
            for _ in range(n):
                reached |= {
                    (r, c)
                    for r, c in cells
                    if {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} & reached
                }
            assert reached == cells
            assert len(cells) == n
            assert len({r for r, _ in cells}) > 1


@pytest.mark.parametrize("level", sorted(PUZZLES))
def test_high_levels_say_every_rule_and_take_trials(level):
    env = verigym.make("games/sudoku", difficulty=level)
    for seed in range(3):
        prompt, _ = env.reset(seed=seed)
        rules = env.state.board.rules
        search = NumberSearch(rules)
        grids, whole = search.solve(2, 10_000)
        assert whole
        (full,) = grids
        least, most = PUZZLES[level].trials
        assert least <= search.trials <= most
        n = rules.side
        at = {f"r{r + 1}c{c + 1}": full[n * r + c] for r in range(n) for c in range(n)}
        said = [line[2:] for line in prompt.splitlines() if re.match(r"- r\d", line)]
        for line in said:  # as a reader computes it
            modulus = re.search(r" when divided by (\d+)$", line)
            line = line.removesuffix(modulus[0]) if modulus else line
            left, sign, right = re.fullmatch(r"(.*) (>|=|leaves remainder) (.*)", line).groups()
            one, other = (
                sum(at[word] if word in at else int(word) for word in side.split(" + "))
                for side in (left, right)
            )
            if modulus:
                assert sign == "leaves remainder"
                assert one % int(modulus[1]) == other
            else:
                assert one > other if sign == ">" else one == other
        assert len(said) == len(rules.totals)
        assert prompt.count("- A cell and the cell ") == PUZZLES[level].apart == len(rules.apart)
        assert all(" ".join(row) in prompt for row in rules.regions)
        assert read_number_rules(env.task.reference) == rules
