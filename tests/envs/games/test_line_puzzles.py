"""Nonograms with weak clues: all small pictures are looked at, and every clue is read back from the prompt."""

import itertools
import re

import numpy as np
import pytest

import verigym
from verigym.envs.games.line_puzzles import PictureSize, draw_lines
from verigym.envs.games.line_search import LineSearch
from verigym.envs.games.nonogram import PUZZLES
from verigym.verifiers.games.cell_lines import KINDS, measure, read_lines


def numbers_by_hand(text, kind):
    """Return what a clue of this kind tells, from the text split at empty cells."""
    runs = [len(run) for run in text.split(".") if run]
    return {
        "runs": runs,
        "any order": sorted(runs),
        "number of runs": [len(runs)],
        "longest": [max([0, *runs])],
        "filled": [text.count("#")],
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_measured_as_by_hand(kind):
    for signs in itertools.product("#.", repeat=7):
        text = "".join(signs)
        assert list(measure(text, kind)) == numbers_by_hand(text, kind)


@pytest.mark.parametrize("seed", range(6))
def test_no_other_picture_fits(seed):
    rng = np.random.default_rng(seed)
    lines, picture = draw_lines(rng, PictureSize(4, (0, 20)), lambda found: True)

    def fitting(clues):
        found = []
        for bits in itertools.product(".#", repeat=16):
            rows = ["".join(bits[i : i + 4]) for i in range(0, 16, 4)]
            for line in clues:
                text = "".join([rows[r][c] for r, c in line.cells])
                if numbers_by_hand(text, line.kind) != list(line.numbers):
                    break
            else:
                found.append([int(sign == "#") for sign in bits])
        return found

    if seed < 3:
        assert fitting(lines) == [[int(sign == "#") for row in picture for sign in row]]
    fewer = lines[::2]
    assert sorted(LineSearch(4, fewer).solve(1 << 16, 1 << 20)[0]) == sorted(fitting(fewer))


@pytest.mark.parametrize("level", sorted(PUZZLES))
def test_the_prompt_tells_every_clue_of_the_only_picture(level):
    env = verigym.make("games/nonogram", difficulty=level)
    for seed in range(3):
        prompt, _ = env.reset(seed=seed)
        lines = env.state.board.lines
        n = PUZZLES[level].side
        search = LineSearch(n, lines)
        (found,), whole = search.solve(2, 100_000)
        assert whole
        least, most = PUZZLES[level].trials
        assert least <= search.trials <= most
        said = re.findall(r"^(row|column|diagonal|block) (.*): (.*)$", prompt, re.MULTILINE)
        assert len(said) == len(lines) == len(env.task.reference["lines"])
        for shape, where, clue in said:
            at = [int(number) for number in re.findall(r"\d+", where)]
            cells = cells_by_hand(shape, at, n)
            text = "".join([".#"[found[n * (r - 1) + c - 1]] for r, c in cells])
            numbers = [int(number) for number in re.findall(r"\d+", clue) if number != "0"]
            words = {"order": "any order", "run": "number of runs"}
            word = re.search(r"order|run|longest|filled", clue)[0]
            kind = words.get(word, word)
            assert [n for n in numbers_by_hand(text, kind) if n] == numbers
        assert read_lines(env.task.reference["lines"], n) == lines


def cells_by_hand(shape, at, n):
    """The cells of a row, column, diagonal or block, from 1, as a reader finds them."""
    if shape == "row":
        return [(at[0], c) for c in range(1, n + 1)]
    if shape == "column":
        return [(r, at[0]) for r in range(1, n + 1)]
    top, left, bottom, right = at
    if shape == "block":
        return list(itertools.product(range(top, bottom + 1), range(left, right + 1)))
    turn = 1 if right > left else -1
    assert abs(right - left) == bottom - top
    return [(top + i, left + turn * i) for i in range(bottom - top + 1)]
