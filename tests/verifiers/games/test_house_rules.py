"""House rules: what they forbid, what moves cost, and references that are refused."""

import pytest

from verigym import Task, make_verifier
from verigym.errors import TaskError
from verigym.verifiers.games.house_rules import Ruled
from verigym.verifiers.games.rules import RULES

HANOI = {
    "start": [[2, 1], [], []],
    "target": 3,
    "house_rules": {
        "forbidden": ["1->3"],
        "not_after": [["disk 1", "disk 1"]],
        "extra": {"disk 2": 4},
        "fuel": 20,
    },
}


def judged(moves, **changes):
    reference = {"game": "hanoi", **HANOI}
    reference["house_rules"] = HANOI["house_rules"] | changes
    task = Task(id="x", env_id="x", seed=0, prompt="", difficulty="easy", reference=reference)
    return make_verifier("games/replay").verify(task, moves)


def test_a_forbidden_label_and_a_forbidden_sequence_are_refused():
    assert judged(["1->3"]).reason == "illegal_move"
    assert judged(["1->2", "2->3"]).reason == "illegal_move"


def test_moves_cost_what_their_labels_say():
    hanoi = RULES["hanoi"]
    state = hanoi.start(HANOI)
    assert isinstance(state, Ruled)
    state = hanoi.apply(state, (0, 1))
    assert (state.fuel, state.last) == (19, ("1->2", "disk 1"))
    allowed = {"forbidden": [], "not_after": []}
    way = ["1->2", "1->3", "2->3"]
    assert judged(way, **allowed, fuel=7).score == 1.0
    assert judged(way, **allowed, fuel=6).reason == "illegal_move"


def test_sliding_and_sokoban_moves_have_labels():
    sliding = RULES["sliding"]
    board = sliding.start({"rows": [[1, 2], [0, 3]]})
    assert sliding.plain.labels(board, "left") == ("left", "tile 3")
    assert sliding.plain.labels(board, 1) == ("down", "tile 1")
    sokoban = RULES["sokoban"]
    room = sokoban.start({"rows": ["#####", "#@$.#", "# ###", "#####"]})
    assert sokoban.plain.labels(room, "right") == ("right", "push", "push right")
    assert sokoban.plain.labels(room, "down") == ("down",)


def test_without_house_rules_states_are_those_of_the_plain_game():
    assert not isinstance(RULES["hanoi"].start({"disks": 3}), Ruled)


@pytest.mark.parametrize(
    "bad",
    [
        [],
        {"forbiden": []},
        {"forbidden": "1->2"},
        {"not_after": [["up"]]},
        {"extra": {"up": -1}},
        {"extra": ["up"]},
        {"fuel": 0},
        {"fuel": True},
    ],
)
def test_house_rules_of_another_form_are_refused(bad):
    with pytest.raises(TaskError, match="house_rules"):
        RULES["hanoi"].start(HANOI | {"house_rules": bad})
