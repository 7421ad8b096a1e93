"""Chess: moves counted as others count them, names of moves, and mates against brute force."""

import random
import re

import pytest

import verigym
from verigym.verifiers.games.chess import (
    KING,
    LETTERS,
    PAWN,
    in_check,
    legal_moves,
    likely_checks,
    made,
    stuck,
)
from verigym.verifiers.games.fen import fen_of, position_of, square_name, uci
from verigym.verifiers.games.mates import MatePuzzle, mate_distance, meant, played

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
# Leaves of the tree of legal moves: https://www.chessprogramming.org/Perft_Results
PERFT = {
    START: [20, 400, 8902, 197281],
    KIWIPETE: [48, 2039, 97862],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": [6, 264, 9467],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890],
}


def leaves(position, depth):
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(leaves(made(position, move), depth - 1) for move in moves)


@pytest.mark.parametrize("fen", PERFT)
def test_legal_moves_are_as_many_as_others_count(fen):
    position = position_of(fen)
    assert [leaves(position, n + 1) for n, count in enumerate(PERFT[fen]) if count < 10_000] == [
        count for count in PERFT[fen] if count < 10_000
    ]


@pytest.mark.slow
@pytest.mark.parametrize("fen", PERFT)
def test_legal_moves_are_as_many_as_others_count_further_on(fen):
    position = position_of(fen)
    assert [leaves(position, n + 1) for n in range(len(PERFT[fen]))] == PERFT[fen]


def games(count, plies):
    """Positions of random games."""
    rng = random.Random(8)
    for fen in [*PERFT] * count:
        position = position_of(fen)
        for _ in range(plies):
            moves = legal_moves(position)
            if not moves:
                break
            yield position, moves
            position = made(position, rng.choice(moves))


@pytest.mark.slow
def test_openspiel_plays_by_the_same_rules():
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("chess")
    for seed in range(20):
        rng = random.Random(seed)
        state, position = game.new_initial_state(), position_of(START)
        while not state.is_terminal() and state.move_number() < 200:
            by_name = {state.action_to_string(a).rstrip("+#"): a for a in state.legal_actions()}
            moves = legal_moves(position)
            assert len(moves) == len(by_name)
            assert str(state).split()[0] == fen_of(position).split()[0]
            name = rng.choice(sorted(by_name))
            move = meant(position, MatePuzzle().read(name))
            assert move is not None, name
            state.apply_action(by_name[name])
            position = made(position, move)
        if not moves and state.is_terminal():
            assert in_check(position) == (state.returns()[0] != 0)


def test_positions_are_read_back_and_checks_are_found():
    for position, moves in games(2, 40):
        assert position_of(fen_of(position)) == position
        assert len(set(moves)) == len(moves)
        assert not stuck(position)
        checks = {move for move in moves if in_check(made(position, move))}
        assert checks <= set(likely_checks(position, moves))


def san(position, move, legal):
    """A move as players write it, by the words of the laws of chess, appendix C."""
    pieces, sides, turn, _, passant = position
    start, to = move & 63, move >> 6 & 63
    kind = next(k for k in range(6) if pieces[k] >> start & 1)
    if kind == KING and abs(to - start) == 2:
        return "O-O" if to > start else "O-O-O"
    takes = bool(sides[1 - turn] >> to & 1) or (kind == PAWN and to == passant)
    name, cross = square_name(start), "x" if takes else ""
    if kind == PAWN:
        promoted = f"={LETTERS[move >> 12]}" if move >> 12 else ""
        return (name[0] if takes else "") + cross + square_name(to) + promoted
    rivals = [
        square_name(other & 63)
        for other in legal
        if other >> 6 & 63 == to and other & 63 != start and pieces[kind] >> (other & 63) & 1
    ]
    if not rivals:
        which = ""
    elif all(rival[0] != name[0] for rival in rivals):
        which = name[0]
    elif all(rival[1] != name[1] for rival in rivals):
        which = name[1]
    else:
        which = name
    return LETTERS[kind] + which + cross + square_name(to)


def test_every_legal_move_is_understood_in_uci_and_in_san():
    read = MatePuzzle().read
    for position, moves in games(1, 8):
        names = {}
        for move in moves:
            name = san(position, move, moves)
            assert names.setdefault(name, move) == move
            for text in (uci(move), name, f"{name}+", f" {name}# ", name.replace("O", "0")):
                assert meant(position, read(text)) == move, (fen_of(position), text)


@pytest.mark.parametrize(
    "text", ["", "e9", "Ke", "castle", "O-O-O-O", "e2-e4", "Qh5 Qh7", "e7e8k", None, 7, "N" * 500]
)
def test_what_is_no_move_is_not_read(text):
    assert MatePuzzle().read(text) is None


def test_ambiguous_and_illegal_moves_are_illegal():
    state = MatePuzzle().start({"fen": "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "mate_in": 2})
    rules = MatePuzzle()
    assert rules.legal(state, rules.read("O-O"))
    assert not rules.legal(state, rules.read("Kg1"))
    rooks = MatePuzzle().start({"fen": "4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "mate_in": 2})
    assert not rules.legal(rooks, rules.read("Rd1"))
    assert rules.legal(rooks, rules.read("Rad1"))
    assert not rules.legal(rooks, rules.read("e8=Q"))


def mates(position, moves):
    """Brute force: whether the side to move can force mate within so many moves."""
    for move in legal_moves(position):
        after = made(position, move)
        replies = legal_moves(after)
        if not replies and in_check(after):
            return True
        if moves > 1 and replies and all(mates(made(after, r), moves - 1) for r in replies):
            return True
    return False


@pytest.mark.parametrize(
    ("fen", "first"),
    [
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", ["a1a6"]),  # Morphy's: a quiet sacrifice
        ("6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1", ["b1b8"]),  # on the back rank, in one
        ("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", None),
    ],
)
def test_known_mates(fen, first):
    position = position_of(fen)
    distance = mate_distance(position, 3)
    right = [
        uci(move)
        for move in legal_moves(position)
        if played(MatePuzzle().start({"fen": fen, "mate_in": distance}), move).end != "spoiled"
    ]
    assert mates(position, distance)
    assert not mates(position, distance - 1) or distance == 1
    assert right == first or first is None


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", ["easy", "medium"])
def test_puzzles_agree_with_brute_force_and_take_every_right_move(difficulty):
    env = verigym.make("games/chess-puzzles-v0", difficulty=difficulty)
    moves = {"easy": 1, "medium": 2}[difficulty]
    for seed in range(8 if moves == 1 else 3):
        env.reset(seed=seed)
        position = env.state.board.position
        assert mates(position, moves)
        assert moves == 1 or not mates(position, 1)
        start = env.snapshot()
        for name in env.legal_actions(env.state):
            env.restore(start)
            after = made(position, meant(position, MatePuzzle().read(name)))
            replies = legal_moves(after)
            right = (
                all(mates(made(after, r), moves - 1) for r in replies) and moves > 1
                if replies
                else in_check(after)
            )
            _, reward, terminated, _, info = env.step(name)
            assert info["valid_action"]
            assert right == (reward == 1.0 or not terminated), (fen_of(position), name)


def test_a_stalemate_is_no_mate_and_ends_the_puzzle():
    fen = "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"
    rules = MatePuzzle()
    state = rules.apply(rules.start({"fen": fen, "mate_in": 2}), rules.read("Qf7"))
    assert rules.lost(state)
    won = rules.apply(rules.start({"fen": fen, "mate_in": 1}), rules.read("Qf8#"))
    assert rules.won(won)
    assert not rules.legal(won, rules.read("Qf7"))


def test_the_prompt_and_the_moves_listed_do_not_tell_mates():
    env = verigym.make("games/chess-puzzles-v0")
    for seed in range(10):
        observation, info = env.reset(seed=seed)
        assert all(re.fullmatch("[a-h][1-8][a-h][1-8][qrbn]?", m) for m in info["legal_actions"])
        assert "#" not in observation


@pytest.mark.parametrize(
    "fen",
    [
        "",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K2K w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "4k3/8/8/8/8/8/8/4K2 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K4 w - - 0 1",
        "P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4KR2 w - e9 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - e6 0 1",
        "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4é3 w - - 0 1",
    ],
)
def test_positions_that_make_no_sense_are_refused(fen):
    with pytest.raises(verigym.TaskError, match="chess"):
        position_of(fen)
