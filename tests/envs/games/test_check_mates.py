"""Mates by checks alone: the search against a plain one, terms, one right move on each turn, and other references."""

import numpy as np
import pytest

import verigym
from verigym.envs.games.check_puzzles import right_moves
from verigym.envs.games.mate_positions import _placed
from verigym.envs.games.mate_search import find_checks
from verigym.errors import TaskError
from verigym.verifiers.games.check_mates import NOBODY, Terms, checking_move, checks_distance
from verigym.verifiers.games.chess import in_check, legal_moves, made
from verigym.verifiers.games.fen import square_name, uci
from verigym.verifiers.games.rules import RULES


def positions(count):
    rng = np.random.default_rng(2)
    while count:
        if position := _placed(iter(rng.integers(1 << 30, size=96).tolist())):
            count -= 1
            yield (
                position,
                Terms(sum(1 << int(i) for i in rng.permutation(64)[:8]), bool(count % 2)),
            )


def plainly(position, moves, terms, tired):
    """Return True if mate is forced within `moves` checks, by all play in no order."""
    for move in legal_moves(position):
        start, to = move & 63, move >> 6 & 63
        after = made(position, move)
        if terms.closed >> to & 1 or (terms.rests and start == tired) or not in_check(after):
            continue
        replies = legal_moves(after)
        if not replies or (
            moves > 1
            and all(plainly(made(after, reply), moves - 1, terms, to) for reply in replies)
        ):
            return True
    return False


def test_the_search_agrees_with_all_play():
    seen = set()
    for position, terms in positions(250):
        fewest = next((n for n in (1, 2, 3) if plainly(position, n, terms, NOBODY)), None)
        assert checks_distance(position, 3, terms, NOBODY) == fewest
        assert (find_checks(position, 3, terms)[0] is None) == (fewest is None)
        seen.add((terms.rests, fewest))
    assert {fewest for _, fewest in seen} == {1, 2, 3, None}


@pytest.mark.parametrize("level", [7, 8, 9, 10])
def test_one_move_is_right_and_others_end_the_puzzle(level):
    env = verigym.make("games/chess-puzzles", difficulty=level)
    prompt, _ = env.reset(seed=level)
    board = env.state.board
    checks, terms = board.left, board.terms
    assert all(square_name(i) in prompt for i in range(64) if terms.closed >> i & 1)
    assert ("in two moves in a row" in prompt) == terms.rests
    assert checking_move(board.position, checks - 1, terms, NOBODY) is None
    snapshot = env.snapshot()
    for turn in range(checks):
        board = env.state.board
        right = list(map(uci, right_moves(board)))
        assert len(right) == 1 or turn == checks - 1
        assert env.oracle() in right
        legal = env.legal_actions(env.state)
        here = env.snapshot()
        wrong = [move for move in legal if move not in right][:3]
        for move in wrong:
            _, reward, over, _, _ = env.step(move)
            assert (reward, over, env.state.board.end) == (0.0, True, "spoiled")
            env.restore(here)
        # A move that the terms forbid is none, and changes nothing.
        for move in legal_moves(board.position):
            if uci(move) not in legal:
                assert terms.closed >> (move >> 6 & 63) & 1 or (move & 63 == board.tired)
                assert env.step(uci(move))[4]["valid_action"] is False
                assert env.state.board == board
                env.restore(here)
                break
        _, reward, over, _, _ = env.step(right[0])
    assert (reward, over) == (1.0, True)
    env.restore(snapshot)
    assert env.state.board.left == checks


@pytest.mark.parametrize(
    "terms", [[], {"closed": "e4"}, {"closed": ["e9"]}, {"closed": [1]}, {"rests": 1}, {"open": []}]
)
def test_other_terms_are_refused(terms):
    reference = {"fen": "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "mate_in": 4}
    assert RULES["chess"].start({**reference, "by_checks": {}}).terms == Terms()
    with pytest.raises(TaskError, match="chess"):
        RULES["chess"].start({**reference, "by_checks": terms})
    with pytest.raises(TaskError, match="mate_in 1 to 3"):
        RULES["chess"].start(reference)
