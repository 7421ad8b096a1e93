"""Each task of the adapters of installed libraries: nothing cheap and nothing wrong is paid."""

import pytest

from verigym.doors import DOORS
from verigym.envs.doors.audit import audit, wrong_answers

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# Several seconds a task, as docs/envs-doors.md says.
HEAVY = {"sokoban", "puzzle24", "countdown", "number_sequence", "word_ladder", "RushHour", "Set"}
GAMES = [
    f"{door.name}/{game}"
    for door in DOORS
    if door.installed and door.name != "textworld"
    for game in door.games
    if game not in HEAVY
]
QUICK = {
    "gymnasium/FrozenLake",
    "minigrid/Empty",
    *(f"reasoning-gym/{task}" for task in ("coin_flip", "syllogism", "prime_factorization")),
    *(f"reasoning-gym/{task}" for task in ("word_sorting", "quantum_lock", "knights_knaves")),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in GAMES],
)
def test_wrong_answers_and_repeated_actions_are_not_paid(name):
    paid, played = audit(name, 1)
    assert played
    wrong = {how: n for how, n in paid.items() if how.startswith(("wrong", "fault"))}
    assert not wrong
    if not name.startswith("reasoning-gym/"):
        # One action wins a game now and then, but not each.
        again = audit(name, 4)[0] if paid else {}
        assert all(n < 4 for n in again.values())


@pytest.mark.parametrize(
    ("right", "how", "wrong"),
    [
        ("Yes", "flipped", "No"),
        ("True", "flipped", "False"),
        ("42", "negated", "-42"),
        ("-42", "negated", "42"),
        ("42", "digits swapped", "24"),
        ("42", "one more", "43"),
        ("(3, 4)", "negated", "(-3, 4)"),
        ("Paris", "denied", "not Paris"),
    ],
)
def test_right_answers_are_turned_into_wrong_ones(right, how, wrong):
    assert wrong_answers(right)[how] == wrong


@pytest.mark.parametrize(
    ("right", "how"), [("33", "digits swapped"), ("0", "negated"), ("x", "flipped")]
)
def test_what_would_not_change_is_left_out(right, how):
    assert how not in wrong_answers(right)
