"""Small sokoban rooms with a long best way: tables of pulls against a search by the rules alone, and what is drawn."""

import heapq
import itertools
import re

import pytest

import verigym
from verigym.envs.games.planned import written
from verigym.envs.games.pull_tables import NEVER, find_pull_table
from verigym.envs.games.push_plans import find_push_plan
from verigym.envs.games.push_rooms import RoomSize, _essence, count_pushes
from verigym.envs.games.sokoban import ROOMS
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import RULES
from verigym.verifiers.games.sokoban import SokobanState, bits

ROWS = ["#######", "#@ .  #", "# $ # #", "#   $ #", "#.# # #", "#######"]
HEAVY = HouseRules(extra=(("push", 1), ("push left", 2)))
BARRED = HouseRules(frozenset({"push up"}), extra=(("push", 2), ("push down", 1)))


def least_fuel(rows_start, rules):
    """Dijkstra's algorithm forwards, move by move, by the rules of the verifier alone."""
    game = RULES["sokoban"]
    start = game.start({"rows": ROWS, "house_rules": written(rules, MAX_FUEL)})
    start = type(start)(rows_start, start.rules, start.fuel)
    spent, number = {start.board: 0}, itertools.count()
    heap = [(0, next(number), start)]
    while heap:
        fuel, _, state = heapq.heappop(heap)
        if game.won(state):
            return fuel
        for move in MOVES:
            if game.legal(state, move):
                after = game.apply(state, move)
                total = start.fuel - after.fuel
                if total < spent.get(after.board, NEVER):
                    spent[after.board] = total
                    heapq.heappush(heap, (total, next(number), after))
    return NEVER


@pytest.mark.parametrize("rules", [HEAVY, BARRED])
def test_a_table_of_pulls_agrees_with_a_search_forwards(rules):
    room = RULES["sokoban"].start({"rows": ROWS}).room
    table, cells, seen = find_pull_table(room, rules), list(bits(room.floor)), set()
    states = [
        SokobanState(room, 1 << one | 1 << other, at)
        for one, other in itertools.combinations(cells, 2)
        for at in cells
        if at not in (one, other)
    ]
    for state in states[::17]:
        least = least_fuel(state, rules)
        assert table.fuel(state.boxes, state.at) == least
        found = find_push_plan(state, rules, MAX_FUEL)
        assert (found.fuel if found else NEVER) == least
        seen.add(least == NEVER)
    assert seen == {True, False}


def test_the_farthest_state_takes_the_most_fuel_of_all():
    room = RULES["sokoban"].start({"rows": ROWS}).room
    table = find_pull_table(room, HEAVY)
    start = table.farthest()
    most = max(int(fuel) for fuel in table.fuel_SC.ravel() if fuel < NEVER)
    assert least_fuel(start, HEAVY) == table.fuel(start.boxes, start.at) == most
    moves = table.moves_from(start, HEAVY)
    game = RULES["sokoban"]
    board, rules = start, game.plain
    for move in moves:
        assert rules.legal(board, move)
        board = rules.apply(board, move)
    assert rules.won(board)


def test_changes_of_the_box_are_counted_with_the_first():
    rows = ["########", "#@$ $ .#", "#   .  #", "########"]
    start = RULES["sokoban"].start({"rows": rows})
    assert count_pushes(start, ("right", "right", "left", "right")) == (2, 1)
    assert count_pushes(start, ("right",)) == (1, 1)


@pytest.mark.parametrize("level", [8, pytest.param(10, marks=pytest.mark.slow)])
def test_the_best_way_of_a_drawn_room_is_long(level):
    env = verigym.make("games/sokoban", difficulty=level)
    prompt, _ = env.reset(seed=3)
    start, size, moves = env.state.board, ROOMS[level], []
    fuel = int(re.search(r"You have (\d+) units", prompt)[1])
    table = find_pull_table(start.board.room, start.rules)
    while not env.rules.won(env.state.board):
        moves.append(env.oracle())
        _, reward, *_ = env.step(moves[-1])
    assert reward == 1.0
    pushes, _ = count_pushes(start.board, tuple(moves))
    used = start.fuel - env.state.board.fuel
    assert used == table.fuel(start.board.boxes, start.board.at) <= fuel == start.fuel
    assert len(moves) + pushes >= 0.8 * (size.moves + size.pushes)
    assert fuel <= used * 1.05


def test_a_room_that_is_turned_or_mirrored_is_the_same():
    size = RoomSize(2, 3, 1, range(1, 7), moves=1, pushes=1, changes=1, tried=1)
    turned = RoomSize(3, 2, 1, range(1, 7), moves=1, pushes=1, changes=1, tried=1)
    floor, goals = frozenset({0, 1, 2, 4}), frozenset({0})
    essence = _essence(size, floor, goals)
    assert essence == _essence(size, frozenset({0, 1, 2, 4}), frozenset({2}))
    assert essence == _essence(turned, frozenset({0, 2, 4, 3}), frozenset({0}))
    assert essence != _essence(size, floor, frozenset({1}))
