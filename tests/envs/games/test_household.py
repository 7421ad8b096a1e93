"""The household: small houses walked through completely, errands by brute force, and shortcuts."""

import itertools
import re
from collections import deque

import pytest

import verigym
from verigym.envs.games.homes import ROOMS, THINGS
from verigym.errors import TaskError
from verigym.verifiers.games.household import ERRANDS, is_run, kind_of
from verigym.verifiers.games.rules import RULES

NAME = "games/household-v0"
PLACES = [
    ["fridge 1", "kitchen", True],
    ["microwave 1", "kitchen", False],
    ["sink 1", "study", False],
    ["lamp 1", "study", False],
    ["shelf 1", "study", False],
]


def small(errand, thing="egg", place="shelf", things=None):
    return {
        "game": "household",
        "places": PLACES,
        "things": things or {"egg 1": "fridge 1", "egg 2": "microwave 1"},
        "room": "study",
        "errand": [errand, thing, "" if errand == "light" else place],
    }


def walked(reference):
    """All states that can be reached, each with a shortest way."""
    env, rules = verigym.make(NAME), RULES["household"]
    start = rules.start(reference)
    ways = {start: ()}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if rules.won(here):
            continue
        for written in env.moves(here):
            there = rules.apply(here, rules.read(written))
            if there not in ways:
                ways[there] = (*ways[here], written)
                queue.append(there)
    return env, rules, ways


@pytest.fixture(scope="module")
def house():
    return walked(small("two", things={"egg 1": "fridge 1", "egg 2": "sink 1"}))


@pytest.mark.slow
def test_a_key_stands_for_one_state_and_every_state_shows_what_it_is(house):
    env, _, ways = house
    assert len(ways) > 2000
    keys = {str(env.position(state)): state for state in ways}
    assert len(keys) == len(ways)


@pytest.mark.slow
def test_the_moves_listed_are_those_that_change_something(house):
    env, rules, ways = house
    names = [place for place, _, _ in PLACES]
    things = ["egg 1", "egg 2"]
    every = [("go", name) for name in (*names, "kitchen", "study", "attic")]
    every += itertools.product(("open", "close", "use"), names)
    every += itertools.product(("take", "put", "heat", "cool", "clean"), things, names)
    for state in list(ways)[::7]:
        if rules.won(state):
            continue
        listed = {rules.read(written) for written in env.moves(state)}
        changing = {
            move for move in every if rules.legal(state, move) and rules.apply(state, move) != state
        }
        assert listed == changing


# Each takes seconds, and the oracle goes most of this one's way in every other.
@pytest.mark.parametrize(
    "errand",
    [pytest.param(e, marks=() if e == "clean" else pytest.mark.slow) for e in ERRANDS],
)
def test_the_oracle_runs_the_errand_from_every_state(errand):
    other = "egg 2" if errand == "two" else "cup 1"
    env, rules, ways = walked(small(errand, things={"egg 1": "fridge 1", other: "microwave 1"}))
    shortest = min(len(way) for state, way in ways.items() if rules.won(state))
    for number, state in enumerate(ways):
        if number % 29:
            continue
        steps, here = 0, state
        while not rules.won(here):
            move = rules.read(env.best(here))
            assert rules.legal(here, move), (here, move)
            here = rules.apply(here, move)
            steps += 1
            assert steps <= 25
        if not number:
            assert shortest <= steps <= shortest + 2


def test_what_is_closed_cannot_be_seen_or_reached():
    env, rules = verigym.make(NAME), RULES["household"]
    state = rules.start(small("put"))
    for written in ("go to kitchen", "go to fridge 1"):
        state = rules.apply(state, rules.read(written))
    assert "egg" not in env.show(state)
    assert not rules.legal(state, rules.read("take egg 1 from fridge 1"))
    state = rules.apply(state, rules.read("Open the fridge 1."))
    assert "egg 1" in env.show(state)
    assert rules.legal(state, rules.read("take egg 1 from fridge 1"))


def play(reference, *moves):
    task = verigym.Task(id="t", env_id="t", seed=0, prompt="", difficulty="", reference=reference)
    return verigym.make_verifier("games/replay").verify(task, list(moves))


FETCH = ("go to kitchen", "go to fridge 1", "open fridge 1", "take egg 1 from fridge 1")
LAY = ("go to study", "go to shelf 1", "put egg 1 on shelf 1")


def test_an_errand_half_run_is_not_paid():
    cool, heat = "cool egg 1 with fridge 1", "heat egg 1 with microwave 1"
    assert play(small("put"), *FETCH, *LAY).score == 1.0
    assert play(small("cool"), *FETCH, cool, *LAY).score == 1.0
    assert play(small("cool"), *FETCH, *LAY).score == 0.0
    # Heated again, it is no longer cold.
    assert play(small("cool"), *FETCH, cool, "go to microwave 1", heat, *LAY).score == 0.0
    assert play(small("two"), *FETCH, *LAY).score == 0.0
    assert play(small("put"), *FETCH, *LAY[:2]).score == 0.0
    lamp = ("go to study", "go to lamp 1")
    assert play(small("light"), *FETCH, *lamp).score == 0.0
    assert play(small("light"), *FETCH, *lamp, "use lamp 1").score == 1.0
    # Two of a kind, but in two places.
    places = [*PLACES, ["shelf 2", "study", False]]
    two = small("two", things={"egg 1": "fridge 1", "egg 2": "shelf 2"}) | {"places": places}
    two["things"]["egg 2"] = "sink 1"
    parted = ("go to sink 1", "take egg 2 from sink 1", "go to shelf 2", "put egg 2 on shelf 2")
    assert play(two, *parted, *FETCH, *LAY).score == 0.0
    joined = (*LAY[:1], "go to shelf 2", "put egg 1 on shelf 2")
    assert play(two, *parted, *FETCH, *joined).score == 1.0


@pytest.mark.parametrize(
    "move",
    [
        "take egg 1 from fridge 1",
        "put egg 1 on shelf 1",
        "go to fridge 1",
        "go to study",
        "use lamp 1",
        "heat egg 1 with microwave 1",
    ],
)
def test_nothing_happens_from_afar(move):
    assert play(small("put"), move).reason == "illegal_move"


@pytest.mark.parametrize(
    "changes",
    [
        {"room": "attic"},
        {"things": {"egg 1": "shelf 9"}},
        {"things": {"egg": "shelf 1"}},
        {"things": {}},
        {"places": [["shelf", "study", False]]},
        {"places": [["shelf 1", "study", False], ["shelf 1", "study", False]]},
        {"places": [["shelf 1", "study"]]},
        {"errand": ["paint", "egg", "shelf"]},
        {"things": {"egg 1": "shelf 1"}},
    ],
)
def test_a_house_that_makes_no_sense_is_the_author_s_fault(changes):
    verdict = play(small("put") | changes, "go to kitchen")
    assert (verdict.score, verdict.reason) == (None, "bad_task")


def test_all_errands_are_met_and_their_things_can_be_found():
    env = verigym.make(NAME)
    errands = set()
    for seed in range(120):
        task = env.sample_task(seed, env.difficulties[seed % 3])
        errand, wanted, target = task.reference["errand"]
        errands.add(errand)
        spots = [spot for name, spot in task.reference["things"].items() if kind_of(name) == wanted]
        assert len(spots) >= (2 if errand == "two" else 1)
        assert target not in map(kind_of, spots)
        names = {name for name, _, _ in task.reference["places"]}
        kinds = set(map(kind_of, names))
        assert errand == "light" or target in kinds
        assert errand != "light" or "lamp" in kinds
        assert f" {wanted}" in task.prompt
    assert errands == set(ERRANDS)


def test_the_turns_are_enough_to_look_everywhere_first():
    """Every place is looked into before the errand is run, from what is seen alone."""
    env = verigym.make(NAME)
    for seed in range(60):
        env.reset(seed=seed, options={"difficulty": env.difficulties[seed % 3]})
        rooms = re.search("The rooms are: (.*)[.] Your", env.task.prompt)[1].split(", ")
        here = re.search("You are in the (.*)[.] Places", env.view())[1]
        rooms.remove(here)
        for room in (here, *rooms):
            if room != here:
                env.step(f"go to {room}")
            for place in re.search("Places: (.*)[.]", env.view())[1].split(", "):
                env.step(f"go to {place}")
                if "which is closed" in env.view():
                    assert env.step(f"open {place}")[4]["valid_action"]
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.oracle())
            over = terminated or truncated
        assert reward == 1.0, env.task.id


def test_names_are_read_as_they_are_written():
    kinds = {kind for row in ROOMS.values() for kind, *_ in row}
    words = (*kinds, *ROOMS, *itertools.chain(*THINGS.values()))
    joints = {"from", "with", "in", "on", "into", "onto", "the"}
    assert not joints & {part for word in words for part in word.split()}


@pytest.mark.parametrize(("level", "errands"), [(7, 3), (8, 4), (9, 5), (10, 7)])
def test_high_levels_have_several_errands_and_tell_where_everything_is(level, errands):
    env = verigym.make("games/household", difficulty=level)
    prompt, _ = env.reset(seed=4)
    board = env.state.board
    assert len(board.house.more) == errands - 1
    for thing, spot in zip(board.house.things, board.where, strict=True):
        line = next(
            part for part in re.split(r"[;\n]", prompt) if f"{spot}" in part and thing in part
        )
        assert line
    over = False
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        over = terminated or truncated
    assert reward == 1.0
    assert all(is_run(env.state.board, one) for one in (board.house.errand, *board.house.more))


@pytest.mark.parametrize("errands", [[], "put", [["put", "cup"]], [["steal", "cup", "bed"]]])
def test_errands_of_another_form_are_refused(errands):
    env = verigym.make("games/household")
    env.reset(seed=0)
    reference = dict(env.task.reference) | {"errands": errands}
    with pytest.raises(TaskError, match="errand"):
        RULES["household"].start(reference)
