"""Plans for several errands: the fewest commands against a search through all commands, from any state."""

import random
from collections import deque

import pytest

import verigym
from verigym.envs.games.errand_plans import plan_errands
from verigym.envs.games.household import SEVERAL
from verigym.verifiers.games.rules import RULES

PLACES = [
    ["fridge 1", "kitchen", True],
    ["sink 1", "kitchen", False],
    ["table 1", "kitchen", False],
    ["cabinet 1", "study", True],
    ["cabinet 2", "study", True],
    ["table 2", "study", False],
]
KINDS = {"two": "cup", "cool": "egg", "clean": "pan", "put": "pen"}


def houses(count):
    rng = random.Random(6)
    for _ in range(count):
        errands = []
        for errand in rng.sample(sorted(KINDS), 2):
            errands.append([errand, KINDS[errand], rng.choice(["cabinet", "table", "fridge"])])
        things = {}
        for _, kind, target in errands:
            spots = [name for name, *_ in PLACES if not name.startswith(target)]
            for number in (1, 2):
                things[f"{kind} {number}"] = rng.choice(spots)
        yield {"places": PLACES, "things": things, "room": "study", "errands": errands}


def legal_commands(env, board):
    return [command for command in env.moves(board) if not command.startswith("close")]


def fewest(env, start):
    """Breadth first through everything that can be done but to close places."""
    rules, far, queue = RULES["household"], {start: 0}, deque([start])
    while queue:
        board = queue.popleft()
        if rules.won(board):
            return far[board]
        for command in legal_commands(env, board):
            after = rules.apply(board, rules.read(command))
            if after not in far:
                far[after] = far[board] + 1
                queue.append(after)
    return None


def run(board, commands):
    rules = RULES["household"]
    for command in commands:
        move = rules.read(command)
        assert rules.legal(board, move), command
        board = rules.apply(board, move)
    return board


@pytest.mark.slow
def test_plans_take_the_fewest_commands():
    env, rules = verigym.make("games/household"), RULES["household"]
    for house in houses(8):
        start = rules.start(house)
        found = plan_errands(start)
        assert rules.won(run(start, found.moves))
        assert found.fuel == len(found.moves) == fewest(env, start)


def test_plans_go_on_from_the_midst_of_a_delivery():
    rules = RULES["household"]
    for house in houses(4):
        start = rules.start(house)
        whole = plan_errands(start)
        for done in range(len(whole.moves)):
            board = run(start, whole.moves[:done])
            assert plan_errands(board).fuel == whole.fuel - done
    wrong = rules.start({**house, "things": {"key 1": "table 2", **house["things"]}})
    assert plan_errands(run(wrong, ["go to table 2", "take key 1 from table 2"])) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_the_turns_are_the_fewest_commands_and_what_is_to_spare(seed):
    env = verigym.make("games/household", difficulty=7)
    prompt, _ = env.reset(seed=seed)
    fuel = plan_errands(env.state.board).fuel
    *_, spare = SEVERAL[7]
    turns = fuel + fuel * spare // 100
    assert env.task.reference["max_moves"] == turns
    assert f"{turns} commands, {turns - fuel} more than the errands take at least" in prompt
    turns, over = 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        turns, over = turns + 1, terminated or truncated
    assert (reward, turns) == (1.0, fuel)


def test_who_holds_what_no_errand_wants_lays_it_down():
    env = verigym.make("games/household", difficulty=7)
    env.reset(seed=4)
    wanted = {thing for _, thing, _ in env.task.reference["errands"]}
    thing, spot = next(
        (thing, spot)
        for thing, spot in env.task.reference["things"].items()
        if thing.rpartition(" ")[0] not in wanted
    )
    room = env.state.board.house.room_of[spot]
    for command in (f"go to {room}", f"go to {spot}", f"open {spot}", f"take {thing} from {spot}"):
        env.step(command)
    assert env.state.board.held == thing
    env.step(env.oracle())
    assert not env.state.board.held
