"""Frozen lake in fog: what is seen, the walker against a slower one, the fuel, and keys that hold no history."""

import pytest

import verigym
from verigym.envs.games.fog import seen_from, walk_in_fog
from verigym.envs.games.frozen_lake import FOGGY, _plan
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules, read_house_rules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import RULES, LakeState

NAME = "games/frozen-lake"


def costs_to_goal(cells, goal, rules):
    """The least fuel from each cell and last move, by sweeps over all of them until nothing changes."""
    left = {
        (cell, last): 0 if cell == goal else 1 << 60 for cell in cells for last in (None, *MOVES)
    }
    changed = True
    while changed:
        changed = False
        for (cell, last), now in left.items():
            for move, (down, right) in MOVES.items():
                there = (cell[0] + down, cell[1] + right)
                if there in cells and (last, move) not in rules.not_after:
                    cost = rules.cost((move,)) + left[there, move]
                    if cost < now:
                        left[cell, last] = now = cost
                        changed = True
    return left


@pytest.mark.parametrize("sight", [1, 2])
def test_every_step_of_the_walker_is_on_a_cheapest_way_that_may_exist(sight):
    rows = ("FFSFFF", "HHHHHF", "FFFFHF", "FFHFFF", "FFHGFF")
    rules = HouseRules(frozenset(), frozenset({("left", "down")}), (("left", 2), ("down", 1)))
    goal, at, last, spent, moves = (4, 3), (0, 2), None, 0, 0
    seen = set()
    while at != goal and moves < 60:
        in_rows, in_columns = seen_from(LakeState(rows, *at, sight))
        seen |= {(r, c) for r in in_rows for c in in_columns}
        cells = {
            (r, c) for r in range(5) for c in range(6) if (r, c) not in seen or rows[r][c] != "H"
        }
        left = costs_to_goal(cells, goal, rules)
        # The way is unique here in each step, so any planner takes it.
        options = [
            (rules.cost((move,)) + left[there, move], move, there)
            for move, (down, right) in MOVES.items()
            if (there := (at[0] + down, at[1] + right)) in cells
            and (last, move) not in rules.not_after
        ]
        _, last, at = min(options)
        spent, moves = spent + rules.cost((last,)), moves + 1
    walk = walk_in_fog(LakeState(rows, 0, 2, sight), rules, MAX_FUEL, _plan)
    assert (walk.fuel, walk.moves) == (spent, moves)


def test_a_view_of_everything_leads_the_least_astray():
    env = verigym.make(NAME, difficulty=8)
    for seed in range(3):
        env.reset(seed=seed)
        reference = env.task.reference
        board = env.state.board.board
        rules, fuel = read_house_rules(reference["house_rules"])
        best = _plan(board, rules, MAX_FUEL, ())
        walk = walk_in_fog(board, rules, MAX_FUEL, _plan)
        clear = LakeState(board.rows, board.row, board.column, len(board.rows))
        assert walk_in_fog(clear, rules, MAX_FUEL, _plan).fuel == best.fuel
        astray, spare = FOGGY[8][4:]
        assert walk.fuel * 100 // best.fuel - 100 in astray
        assert fuel == walk.fuel + walk.fuel * spare // 100
        assert reference["turns"] > walk.moves


def test_only_what_is_near_is_shown_and_named_by_its_place():
    env = verigym.make(NAME, difficulty=10)
    prompt, _ = env.reset(seed=2)
    rows = env.task.reference["rows"]
    goal = next((r + 1, row.index("G") + 1) for r, row in enumerate(rows) if "G" in row)
    assert f"row {goal[0]}, column {goal[1]}" in prompt
    for _ in range(12):
        env.step(env.oracle())
        lines = env.view().splitlines()
        board = env.state.board.board
        assert lines[0].startswith(f"You are in row {board.row + 1}, column {board.column + 1}.")
        top, left = max(board.row - 2, 0), max(board.column - 2, 0)
        assert f"Rows {top + 1} to " in lines[0]
        assert f"columns {left + 1} to " in lines[0]
        shown = lines[1 : 2 + min(board.row + 2, len(rows) - 1) - top]
        for r, line in enumerate(shown):
            wanted = list(rows[top + r][left : left + len(line)])
            if top + r == board.row:
                wanted[board.column - left] = "@"
            assert line == "".join(wanted)
            assert 3 <= len(line) <= 5


def test_two_ways_to_a_place_give_one_key_whatever_was_seen():
    lake = {"rows": ["SFFFF", "FFFFF", "FFFFF", "HFFFG"], "sight": 1, "house_rules": {"fuel": 50}}
    env = verigym.make(NAME, difficulty=8)
    env.reset(seed=1)
    rules = RULES["lake"]
    boards = []
    for moves in (["right", "right", "down", "down"], ["down", "right", "down", "right"]):
        board = rules.start(lake)
        for move in moves:
            board = rules.apply(board, rules.read(move))
        boards.append(env.position(board.board))
        assert board.board.sight == 1
    assert boards[0] == boards[1]


def test_sight_must_be_a_number():
    with pytest.raises(verigym.TaskError, match="sight"):
        RULES["lake"].start({"rows": ["SG"], "sight": -1})


@pytest.mark.parametrize("level", [2, 7, 10])
def test_a_fall_into_a_hole_is_said(level):
    env = verigym.make("games/frozen-lake", difficulty=level)
    for seed in range(20):
        shown, _ = env.reset(seed=seed)
        assert "You fell" not in shown
        lake = env.state.board if level < 7 else env.state.board.board
        beside = {
            move: lake.rows[lake.row + down][lake.column + right]
            for move, (down, right) in MOVES.items()
            if 0 <= lake.row + down < len(lake.rows)
            and 0 <= lake.column + right < len(lake.rows[0])
        }
        if "H" in beside.values():
            break
    move = next(move for move, cell in beside.items() if cell == "H")
    shown, reward, over, _, _ = env.step(move)
    assert shown.splitlines()[0] == "You fell into a hole."
    assert shown.splitlines()[-1] == "The task is over: you did not solve it."
    assert (reward, over) == (0.0, True)
