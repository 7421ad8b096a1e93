"""Perfect play of late connect four: values and best moves against brute force, and the opponent that uses them."""

import random
from functools import cache

import pytest

import verigym
from verigym.envs.games.late_wins import count_search, narrow_turns
from verigym.errors import TaskError
from verigym.verifiers.games.connect_four import pair
from verigym.verifiers.games.connect_four_boards import (
    bits,
    completing,
    four,
    open_cells,
    rows_of,
    safe_cells,
)
from verigym.verifiers.games.connect_four_values import best_cells, is_above, value
from verigym.verifiers.games.rules import RULES


@cache
def brute(me, you):
    """All play to the end: pieces that are left after a win, and 0 for a draw."""
    both = me | you
    if both.bit_count() == 42:
        return 0
    found = []
    for cell in bits(open_cells(both)):
        if four(me | cell):
            found.append(22 - (me | cell).bit_count())
        else:
            found.append(-brute(you, me | cell))
    return max(found)


def late(count, empty, seed=1):
    rng, found = random.Random(seed), []
    while len(found) < count:
        me = you = 0
        for _ in range(42 - empty):
            cells = bits(safe_cells(me, you))
            if not cells or completing(me, me | you) & open_cells(me | you):
                break
            me, you = you, me | rng.choice(cells)
        else:
            found.append((me, you))
    return found


@pytest.mark.parametrize("empty", [3, 6, 9, 10])
def test_values_agree_with_all_play(empty):
    signs = set()
    for me, you in late(40, empty):
        wanted = brute(me, you)
        signs.add((wanted > 0) - (wanted < 0))
        assert value(me, you) == wanted
        assert [is_above(me, you, n) for n in (wanted - 1, wanted)] == [True, False]
        best, cells = best_cells(me, you)
        assert best == wanted
        for cell in bits(open_cells(me | you)):
            after = 22 - (me | cell).bit_count() if four(me | cell) else -brute(you, me | cell)
            assert bool(cells & cell) == (after == wanted)
    assert signs == {-1, 0, 1}


@pytest.mark.parametrize(("level", "seed"), [(7, 1), (8, 2), (10, 3)])
def test_the_win_takes_all_moves_against_perfect_play_and_no_fewer(level, seed):
    env = verigym.make("games/connect-four", difficulty=level)
    env.reset(seed=seed)
    me, you = pair(env.state.board)
    moves = 22 - me.bit_count() - value(me, you)
    spare = {7: 1}.get(level, 0)
    assert env.task.reference["max_moves"] == moves + spare
    assert narrow_turns(me, you) >= {10: 3}.get(level, 1)
    assert count_search(me, you) > {10: 700}.get(level, 100)
    turns, over = 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        turns, over = turns + 1, terminated or truncated
    assert (reward, turns) == (1.0, moves)


def test_a_mistake_is_not_forgiven():
    """After a move that gives the win away the perfect opponent does not give it back."""
    rules = RULES["connect-four"]
    seen = 0
    for me, you in late(60, 12, seed=5):
        best, _ = best_cells(me, you)
        if best <= 0 or me.bit_count() > you.bit_count():
            continue
        start = {"rows": rows_of((me, you)), "opponent": "perfect", "seed": 3}
        for column in range(7):
            state = rules.start(start)
            if not rules.legal(state, column):
                continue
            after = pair(rules.apply(state, column))
            if four(after[0]) or not open_cells(after[0] | after[1]):
                continue
            cell = after[0] ^ me
            held = -brute(you, me | cell)
            won = 0 if four(after[1]) else brute(*after)
            if held <= 0:
                seen += 1
                assert four(after[1]) or won == held
            else:
                assert won == held  # and it holds out as long as it can
    assert seen > 10


def test_perfect_play_from_an_early_position_is_refused():
    rows = ["......."] * 5 + ["XOXOXO."]
    with pytest.raises(TaskError, match="empty cells"):
        RULES["connect-four"].start({"rows": rows, "opponent": "perfect", "seed": 1})
