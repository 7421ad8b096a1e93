"""Keydoor with gems: the table of tours against a search through all places, and maps that mislead the eye."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import verigym
from verigym.envs.games.gem_maps import GEM_SIZES, draw_rows, misleads
from verigym.envs.games.gem_tours import FAR, GemTours, nearest_order, straight_order
from verigym.verifiers.games.keydoor import KeydoorLevel

SMALL = replace(GEM_SIZES[8], height=3, width=3, gems=3)
TURNING = replace(GEM_SIZES[10], down=2, across=2, height=3, width=3, gems=2, doors=2)


def small_levels(size, count):
    rng = np.random.default_rng(7)
    return [KeydoorLevel(draw_rows(rng, size)) for _ in range(count)]


@pytest.mark.parametrize("size", [SMALL, TURNING])
def test_the_table_agrees_with_a_search_through_all_places(size):
    lengths = []
    for level in small_levels(size, 60):
        tours, path = GemTours(level), level.shortest(level.start)
        fewest = tours.fewest(level.start)
        assert (len(path) if path is not None else FAR) == min(fewest, FAR)
        lengths.append(fewest)
        if path is None:
            assert tours.next_move(level.start) is None
            continue
        place = level.start
        for left in range(fewest, 0, -1):
            assert tours.fewest(place) == left
            place = level.move(place, tours.next_move(place))
        assert level.at_goal(place)
        assert tours.next_move(place) is None
    assert 20 < sum(length < FAR for length in lengths) < 60


@pytest.mark.parametrize("size", [SMALL, TURNING])
def test_the_best_of_all_orders_is_the_tour(size):
    for level in small_levels(size, 30):
        tours = GemTours(level)
        orders = itertools.permutations(range(len(tours.gems)))
        fewest = min(tours.fewest_in_order(order) for order in orders)
        assert min(fewest, FAR) == min(tours.fewest(level.start), FAR)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_map_takes_no_fewer_moves(seed):
    env = verigym.make("games/keydoor", difficulty=8)
    env.reset(seed=seed)
    level = env.state.level
    assert f"shortest={len(level.shortest(level.start))}" in env.task.tags


def test_straight_orders_agree_with_all_orders():
    rng = np.random.default_rng(3)
    for _ in range(20):
        start, goal, *gems = [tuple(cell) for cell in rng.integers(0, 9, (7, 2)).tolist()]

        def length(order, gems=gems, start=start, goal=goal):
            stops = [start, *(gems[i] for i in order), goal]
            return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in itertools.pairwise(stops))

        best = min(map(length, itertools.permutations(range(5))))
        assert length(straight_order(start, gems, goal)) == best


def test_the_nearest_gem_comes_next():
    assert nearest_order((0, 0), [(0, 9), (0, 2), (3, 2), (0, 6)]) == [1, 2, 3, 0]


@pytest.mark.parametrize("level", sorted(GEM_SIZES))
def test_what_looks_shortest_takes_more_than_is_allowed(level):
    size = GEM_SIZES[level]
    env = verigym.make("games/keydoor", difficulty=level)
    for seed in range(3):
        env.reset(seed=seed)
        tours = GemTours(env.state.level)
        assert any(point >= size.gems for point in tours.tour())
        start, goal = env.state.place, env.state.level.goal
        for order in (
            straight_order((start.row, start.column), tours.gems, goal),
            nearest_order((start.row, start.column), tours.gems),
        ):
            assert tours.fewest_in_order(order) >= tours.fewest(start) + size.misled


def test_a_map_that_can_be_seen_through_is_drawn_again():
    rows = ("@.$.$", "a....", "##A##", "..$..", "....*")
    size = replace(SMALL, fewest=range(1, 50), misled=2)
    assert GemTours(KeydoorLevel(rows)).fewest(KeydoorLevel(rows).start) < FAR
    assert not misleads(GemTours(KeydoorLevel(rows)), size)


def test_a_double_arrow_turns_after_every_move():
    level = KeydoorLevel(("@⇑*",))
    place, bumps = level.start, 0
    while (there := level.move(place, "right")).column == 0:
        place, bumps = there, bumps + 1
    assert bumps == 1  # it pointed up, then right
    assert there.quarters == 2
    assert level.at_goal(level.move(there, "right"))
    assert level.shortest(level.start) == ["up", "right", "right"]
    tours = GemTours(level)
    assert (tours.fewest(level.start), tours.next_move(level.start)) == (3, "up")


def test_a_map_shows_how_double_arrows_point_now():
    env = verigym.make("games/keydoor", difficulty=10)
    env.reset(seed=1)
    level, shown = env.state.level, "⇑⇒⇓⇐"
    for moves in range(9):
        lines = env.view().splitlines()
        for row, line in enumerate(level.rows):
            for column, cell in enumerate(line):
                if cell in shown and (row, column) != (env.state.place.row, env.state.place.column):
                    assert lines[row][column] == shown[(shown.index(cell) + moves) % 4]
        env.step(env.oracle())


def test_equal_places_at_other_times_are_other_states():
    env = verigym.make("games/keydoor", difficulty=10)
    env.reset(seed=1)
    level, place = env.state.level, env.state.place
    blocked = next(
        move
        for move in ("up", "down", "left", "right")
        if level.move(place, move) == replace(place, quarters=1)
    )
    keys = []
    for _ in range(5):
        keys.append(env.state_key())
        env.step(blocked)
    # Whether the move is blocked changes with the arrows, so the walker may have left.
    assert len(set(keys[:4])) == 4


def test_the_goal_counts_only_with_all_gems():
    level = KeydoorLevel(("@*$",))
    at_goal = level.move(level.start, "right")
    assert not level.at_goal(at_goal)
    gem = level.move(at_goal, "right")
    assert gem.gems == {(0, 2)}
    assert level.at_goal(level.move(gem, "left"))
    assert level.shortest(level.start) == ["right", "right", "left"]


def test_a_goal_without_gems_is_not_paid():
    env = verigym.make("games/keydoor", difficulty=8)
    env.reset(seed=1)
    task = replace(env.task, reference={"rows": ["@*$"], "max_turns": 9})
    judge = verigym.make_verifier("games/keydoor")
    assert judge.verify(task, ["right"]).reason == "gems_missing"
    assert judge.verify(task, ["right"]).score == 0.0
    assert judge.verify(task, ["right", "right", "left"]).score == 1.0


def test_gems_are_shown_until_they_are_taken_and_name_the_state():
    env = verigym.make("games/keydoor", difficulty=9)
    observation, _ = env.reset(seed=4)
    gems, keys = GEM_SIZES[9].gems, set()
    assert f"Gems: 0 of {gems}" in observation
    over = False
    while not over:
        keys.add(env.state_key())
        observation, reward, terminated, truncated, _ = env.step(env.oracle())
        over = terminated or truncated
        left = gems - len(env.state.place.gems)
        assert observation.count("$") == left
        assert f"Gems: {gems - left} of {gems}" in observation
    assert reward == 1.0
    assert len(keys) == len(env.state.moves)


def test_the_hardest_does_not_state_the_minimum():
    env = verigym.make("games/keydoor", difficulty=10)
    limits = set()
    for seed in range(4):
        prompt, _ = env.reset(seed=seed)
        limits.add(env.turns_allowed(env.task))
        assert f"You have {env.turns_allowed(env.task)} turns" in prompt
        assert f" {env.task.reference['max_moves']} " not in prompt
    assert len(limits) == 1
