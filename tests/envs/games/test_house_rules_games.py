"""Games whose rules are drawn from level 7 on: the oracle's play against slower ways to find it."""

import heapq
import itertools
from dataclasses import replace

import numpy as np
import pytest

import verigym
from verigym.envs.games.hanoi import FAR
from verigym.envs.games.lamps import count_elimination, pressed
from verigym.envs.games.mastermind import fitting
from verigym.envs.games.nim import count_values
from verigym.envs.games.push_plans import detours
from verigym.errors import TaskError
from verigym.verifiers.games.duels import nim_moves, restricted_move, taken
from verigym.verifiers.games.guessing import code_marks
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules, Ruled
from verigym.verifiers.games.lights import Lamps, LightsRules, press
from verigym.verifiers.games.rules import RULES


def least_fuel(rules, start, moves):
    """Dijkstra's algorithm by the rules alone, without bounds."""
    spent = {(start.board, start.last): 0}
    heap, number = [(0, 0, start)], itertools.count(1)
    while heap:
        fuel, _, state = heapq.heappop(heap)
        if rules.won(state):
            return fuel
        for move in moves(state.board):
            read = rules.read(move)
            if rules.legal(state, read):
                after = rules.apply(state, read)
                total = start.fuel - after.fuel
                if total < spent.get((after.board, after.last), 1 << 60):
                    spent[after.board, after.last] = total
                    heapq.heappush(heap, (total, next(number), after))
    return None


def played(env):
    over, reward = False, 0.0
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        over = terminated or truncated
    return reward


@pytest.mark.parametrize(
    ("game", "level", "seed"),
    [("hanoi", 8, 3), ("hanoi", 9, 1), ("frozen-lake", 8, 4)],
)
def test_the_oracle_takes_the_least_fuel(game, level, seed):
    env = verigym.make(f"games/{game}", difficulty=level)
    env.reset(seed=seed)
    start = env.state.board
    assert played(env) == 1.0
    assert start.fuel - env.state.board.fuel == least_fuel(env.rules, start, env.moves)


def test_a_small_sliding_board_takes_the_least_fuel():
    reference = {
        "rows": [[0, 5, 2], [1, 4, 3]],
        "house_rules": {"extra": {"tile 4": 3, "tile 2": 1}},
    }
    env = verigym.make("games/sliding")
    start = RULES["sliding"].start(reference)
    found = env.plan_on(start.board, start.rules, start.fuel, ())
    assert found.fuel == least_fuel(env.rules, start, env.moves) > len(found.moves)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_deep_sliding_board_takes_the_least_fuel(seed):
    rng = np.random.default_rng(seed)
    goal = rng.permutation(8).tolist()
    extra = {f"tile {tile}": int(rng.integers(1, 4)) for tile in (1, 4, 6)}
    start = RULES["sliding"].start(
        {
            "rows": [goal[:4], goal[4:]],
            "goal": [goal[:4], goal[4:]],
            "house_rules": {"extra": extra},
        }
    )
    env = verigym.make("games/sliding", difficulty=10)
    for _ in range(300):
        moves = env.moves(start.board)
        start = env.rules.apply(start, moves[int(rng.integers(len(moves)))])
    start = Ruled(start.board, start.rules, MAX_FUEL)
    found = env.plan_on(start.board, start.rules, start.fuel, ())
    assert found.fuel == least_fuel(env.rules, start, env.moves)
    assert len(found.moves) > 10


@pytest.mark.parametrize("level", [8, 9, 10])
def test_a_sliding_board_cannot_be_seen_through(level):
    env = verigym.make("games/sliding", difficulty=level)
    for seed in range(2):
        env.reset(seed=seed)
        start = env.state.board
        found = env.plan_on(start.board, start.rules, start.fuel, ())
        apart = sum(
            start.rules.cost((f"tile {tile}",)) * steps_apart(start.board, tile)
            for tile in range(1, len(start.board.tiles))
        )
        assert found.fuel > 1.25 * apart
        assert len(found.moves) >= 20


def steps_apart(board, tile):
    here, there = (divmod(cells.index(tile), board.width) for cells in (board.tiles, board.goal))
    return abs(here[0] - there[0]) + abs(here[1] - there[1])


@pytest.mark.parametrize("level", sorted(FAR))
def test_a_drawn_goal_of_hanoi_is_far_away(level):
    env = verigym.make("games/hanoi", difficulty=level)
    for seed in range(2):
        prompt, _ = env.reset(seed=seed)
        start = env.state.board
        found = env.plan_on(start.board, start.rules, start.fuel, ())
        assert len(found.moves) >= FAR[level].moves
        assert sum(map(len, start.board.pegs)) == FAR[level].disks
        for disk in (FAR[level].disks, FAR[level].disks - 1):
            here, there = (
                next(peg for peg, disks in enumerate(pegs) if disk in disks)
                for pegs in (start.board.pegs, start.board.goal)
            )
            assert here != there
        goal = "\n".join(
            f"peg {number}: {' '.join(map(str, disks)) or 'empty'}"
            for number, disks in enumerate(start.board.goal, 1)
        )
        assert f"into this position:\n{goal}\nYou have" in prompt
        assert any("->" in label for label, _ in start.rules.extra)
        assert played(env) == 1.0
        assert env.state.board.board.pegs == start.board.goal


@pytest.mark.parametrize("game", ["hanoi", "sliding"])
def test_the_hardest_leave_no_fuel(game):
    env = verigym.make(f"games/{game}", difficulty=10)
    prompt, _ = env.reset(seed=5)
    assert f"You have {env.state.board.fuel} units" in prompt
    assert played(env) == 1.0
    assert env.state.board.fuel == 0


def test_a_board_without_moves_is_lost():
    env = verigym.make("games/sliding", difficulty=10)
    env.reset(seed=5)
    rng, over = np.random.default_rng(1), False
    while not over:
        legal = env.legal_actions(env.state)
        observation, reward, over, _, _ = env.step(legal[int(rng.integers(len(legal)))])
    assert reward == 0.0
    assert "did not solve" in observation


def test_the_value_of_drawn_nim_agrees_with_all_play():
    rng = np.random.default_rng(4)
    won = {}

    def wins(heaps, takes):
        if (heaps, takes) not in won:
            after = [taken(heaps, *move) for move in nim_moves(heaps, takes)]
            won[heaps, takes] = not all(wins(one, takes) for one in after)
        return won[heaps, takes]

    for _ in range(60):
        takes = tuple(tuple((rng.choice(6, 3, replace=False) + 1).tolist()) for _ in range(3))
        heaps = tuple(rng.integers(0, 8, 3).tolist())
        move = restricted_move(heaps, takes)
        assert (move is not None) == wins(heaps, takes)
        if move is not None:
            assert not wins(taken(heaps, *move), takes)
        assert count_values(heaps, takes) > sum(heaps)


def test_objects_that_cannot_be_taken_end_the_game():
    nim = RULES["nim"]
    reference = {"heaps": [3, 1], "takes": [[2], [1]], "opponent": "perfect", "seed": 1}
    state = nim.start(reference)
    assert not nim.legal(state, (0, 1))
    assert nim.legal(state, (0, 2))
    assert nim.lost(
        nim.apply(state, (0, 2))
    )  # the opponent takes the other heap, and one object is left
    assert nim.won(nim.apply(nim.start(reference | {"heaps": [3, 0]}), (0, 2)))


@pytest.mark.parametrize("level", [7, 8, 9])
def test_no_fewer_presses_turn_all_lamps_off(level):
    env = verigym.make("games/lights", difficulty=level)
    env.reset(seed=level)
    lamps = env.state.board
    rules, presses = LightsRules(), pressed(lamps)
    board = lamps
    for cell in presses:
        board = press(board, *cell)
    assert rules.won(board)
    assert max(presses.count(cell) for cell in presses) < lamps.shades  # and there is no other way
    assert count_elimination(lamps) > 600


def test_all_ways_on_a_small_grid_agree_with_the_elimination():
    lamps = Lamps(((1, 0), (2, 1)), 3, ((0, 0), (0, 1)), False)
    cells = list(itertools.product(range(2), range(2)))
    solutions = []
    for times in itertools.product(range(3), repeat=4):
        board = lamps
        for cell, count in zip(cells, times, strict=True):
            for _ in range(count):
                board = press(board, *cell)
        if LightsRules().won(board):
            solutions.append([cell for cell, n in zip(cells, times, strict=True) for _ in range(n)])
    assert solutions == [pressed(lamps)]


@pytest.mark.parametrize("seed", [1, 4])
def test_sokoban_takes_the_least_fuel(seed):
    env = verigym.make("games/sokoban", difficulty=7)
    env.reset(seed=seed)
    start = env.state.board
    assert played(env) == 1.0
    assert start.fuel - env.state.board.fuel == least_fuel(env.rules, start, env.moves)


def test_the_fuel_of_sokoban_is_more_than_that_of_boxes_alone():
    env = verigym.make("games/sokoban", difficulty=7)
    env.reset(seed=2)
    start, moves = env.state.board, []
    while not env.rules.won(env.state.board):
        moves.append(env.oracle())
        env.step(moves[-1])
    assert detours(start.board, start.rules, tuple(moves)) >= 1


def test_a_box_that_is_pushed_home_straight_makes_no_detour():
    room = RULES["sokoban"].start({"rows": ["######", "#@$ .#", "######"]})
    assert detours(room, HouseRules(), ("right", "right")) == 0


def test_one_code_fits_the_guesses_that_are_given():
    env = verigym.make("games/mastermind", difficulty=7)
    env.reset(seed=3)
    board = env.state.board
    marked = {guess: code_marks(board.secret, guess) for guess in board.made}
    assert list(fitting(marked, len(board.secret), board.symbols)) == [board.secret]


def test_codes_that_fit_agree_with_trying_all():
    rng = np.random.default_rng(3)
    codes = ["".join(map(str, code)) for code in itertools.product(range(1, 6), repeat=4)]
    for _ in range(20):
        secret, *guesses = (codes[i] for i in rng.integers(0, len(codes), 4))
        marked = {guess: code_marks(secret, guess) for guess in guesses}
        wanted = [c for c in codes if all(code_marks(c, g) == m for g, m in marked.items())]
        assert list(fitting(marked, 4, 5)) == wanted


@pytest.mark.parametrize("given", ["1234", [1234], ["123"], ["1237"], ["1352"]])
def test_given_guesses_of_another_form_are_refused(given):
    reference = {"secret": "1352", "symbols": 6, "max_moves": 1, "given": given}
    with pytest.raises(TaskError, match="given"):
        RULES["mastermind"].start(reference)


def test_a_move_off_the_edge_is_refused_under_house_rules():
    env = verigym.make("games/frozen-lake", difficulty=10)
    env.reset(seed=0)
    off = next(
        move
        for move in ("up", "down", "left", "right")
        if move not in env.moves(env.state.board.board)
    )
    fuel = env.state.board.fuel
    *_, info = env.step(off)
    assert not info["valid_action"]
    assert env.state.board.fuel == fuel


@pytest.mark.parametrize(("game", "level"), [("lights", 10), ("household", 7), ("keydoor", 10)])
def test_more_moves_than_a_task_allows_are_not_paid(game, level):
    env = verigym.make(f"games/{game}", difficulty=level)
    env.reset(seed=3)
    task, moves, over = env.task, [], False
    while not over:
        moves.append(env.oracle())
        _, reward, terminated, truncated, _ = env.step(moves[-1])
        over = terminated or truncated
    assert reward == 1.0
    most = task.reference["max_moves"]
    assert most == len(moves) if level == 10 else most >= len(moves)
    less = replace(task, reference={**task.reference, "max_moves": len(moves) - 1})
    judge = verigym.make_verifier(env.verifier_id)
    assert judge.verify(task, moves).score == 1.0
    assert judge.verify(less, moves).reason == "over_budget"
