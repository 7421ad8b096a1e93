"""games/replay: golden replays, solvers that must win, and hostile input."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.games.rules import RULES

MEGABYTE = 1 << 20


def judge(reference, reply, prompt="p", **params):
    task = verigym.Task(
        id="t",
        env_id="verigym/tests/t-v0",
        seed=0,
        prompt=prompt,
        difficulty="easy",
        reference=reference,
    )
    return verigym.make_verifier("games/replay", **params).verify(task, reply)


def test_a_reference_counts_as_it_is_now():
    reference = {"game": "hanoi", "disks": 1}
    task = verigym.Task(
        id="t", env_id="t", seed=0, prompt="p", difficulty="easy", reference=reference
    )
    verifier = verigym.make_verifier("games/replay")
    assert verifier.verify(task, ["1->3"]).score == 1.0
    assert task.content  # kept from now on
    reference["disks"] = 2
    assert verifier.verify(task, ["1->3"]).score == 0.0


def hanoi(disks, source, target, spare):
    if not disks:
        return []
    return [
        *hanoi(disks - 1, source, spare, target),
        [source, target],
        *hanoi(disks - 1, spare, target, source),
    ]


@given(st.integers(1, 7), st.data())
def test_the_solution_of_hanoi_wins_and_any_part_of_it_does_not(disks, data):
    moves = hanoi(disks, 1, 3, 2)
    reference = {"game": "hanoi", "disks": disks, "shortest": len(moves)}
    for reply in (moves, json.dumps(moves), "\n".join(f"{a} -> {b}" for a, b in moves)):
        verdict = judge(reference, reply)
        assert (verdict.score, verdict.parts["efficiency"]) == (1.0, 1.0)
    at = data.draw(st.integers(0, len(moves) - 1))
    assert judge(reference, moves[:at] + moves[at + 1 :]).score == 0.0
    assert judge(reference, [*moves, [3, 1]]).reason == "moves_after_goal"


BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}


@given(st.integers(2, 4), st.integers(2, 4), st.lists(st.sampled_from(sorted(BACK)), max_size=30))
def test_a_scramble_taken_back_solves_the_sliding_puzzle(height, width, scramble):
    rules = RULES["sliding"]
    order = [*range(1, height * width), 0]
    rows = [order[i : i + width] for i in range(0, len(order), width)]
    state = rules.start({"rows": rows})
    path = []
    for move in scramble:
        if rules.legal(state, move):
            state = rules.apply(state, move)
            path.append(BACK[move])
    if rules.won(state):
        return
    tiles = list(state.tiles)
    reference = {
        "game": "sliding",
        "rows": [tiles[i : i + width] for i in range(0, len(tiles), width)],
    }
    assert judge(reference, path[::-1], after_goal="ignore").score == 1.0


ROWS_OF_KEYDOOR = ["@.a", "##A", "*.."]


@given(st.lists(st.sampled_from(sorted(BACK)), min_size=1, max_size=12))
def test_keydoor_agrees_with_its_own_verifier(moves):
    reference = {"game": "keydoor", "rows": ROWS_OF_KEYDOOR}
    task = verigym.Task(
        id="t",
        env_id="verigym/games/keydoor-v0",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"rows": ROWS_OF_KEYDOOR, "max_turns": 20},
    )
    own = verigym.make_verifier("games/keydoor").verify(task, moves)
    assert judge(reference, moves).score == own.score


@given(
    st.sets(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_presses_put_the_lights_out_that_they_lit(presses, random):
    rules = RULES["lights"]
    state = ("....",) * 4
    for row, column in sorted(presses):
        state = rules.apply(state, (row - 1, column - 1))
    if rules.won(state):
        return
    order = random.sample(sorted(presses), len(presses))
    reference = {"game": "lights", "rows": list(state)}
    assert judge(reference, [list(press) for press in order], after_goal="ignore").score == 1.0


REFERENCES = st.sampled_from(
    [
        {"game": "hanoi", "disks": 3},
        {"game": "keydoor", "rows": ROWS_OF_KEYDOOR},
        {"game": "sliding", "rows": [[1, 2], [0, 3]]},
        {"game": "lake", "rows": ["SFH", "FFG"]},
        {"game": "lights", "rows": ["##", "#."]},
    ]
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)


@given(REFERENCES, st.one_of(st.text(), st.text("[](),123 ABup\n->"), JUNK, st.lists(JUNK)))
def test_garbage_never_raises_and_is_always_scored(reference, reply):
    assert judge(reference, reply).score in (0.0, 1.0)


HOSTILE = {
    "megabyte": "u" * (MEGABYTE + 1),
    "many": "up " * (MEGABYTE // 3),
    "commas": "," * MEGABYTE,
    "lines": "up\n" * (MEGABYTE // 3),
    "brackets": "[" * MEGABYTE,
    "parentheses": "(" * MEGABYTE,
    "pairs": "(1,2)" * (MEGABYTE // 5),
    "spaces": " " * (MEGABYTE - 1) + "x",
    "many moves": ["up"] * 100_000,
    "long move": ["x" * MEGABYTE],
    "large number": [10**400],
    "digits": "9" * (MEGABYTE - 1),
    "deep": json.loads("[" * 100 + "]" * 100),
    "surrogate": "\ud800",
    "NUL": ["\0"],
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("game", ["hanoi", "lake"])
def test_hostile_input_ends_at_once_with_a_verdict(name, game):
    reference = {"game": game, "disks": 3, "rows": ["SFH", "FFG"]}
    verdict = judge(reference, HOSTILE[name])
    assert verdict.score == 0.0


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {},
        {"game": "chess"},
        {"game": ["hanoi"]},
        {"game": "hanoi"},
        {"game": "hanoi", "disks": 0},
        {"game": "hanoi", "disks": 65},
        {"game": "hanoi", "start": [[1, 2], [], []]},
        {"game": "hanoi", "start": [[3, 1], [], []]},
        {"game": "hanoi", "start": [[], [], [1]]},
        {"game": "hanoi", "disks": 2, "target": 4},
        {"game": "hanoi", "disks": 2, "goal": [[2, 1], []]},
        {"game": "hanoi", "disks": 2, "goal": [[3, 2, 1], [], []]},
        {"game": "hanoi", "disks": 2, "goal": [[1, 2], [], []]},
        {"game": "hanoi", "disks": 2, "goal": "peg 2"},
        {"game": "hanoi", "disks": 2, "goal": [[], [2], [1]], "target": 2},
        {"game": "hanoi", "disks": 2, "max_moves": 0},
        {"game": "keydoor", "rows": ["@@*"]},
        {"game": "sliding", "rows": [[1, 1], [0, 2]]},
        {"game": "sliding", "rows": [[1, 2], [3, 0]]},
        {"game": "sliding", "rows": [[1], [0, 2]]},
        {"game": "sliding", "rows": [[1, 0]], "goal": [[1], [0]]},
        {"game": "lake", "rows": ["SF", "F"]},
        {"game": "lake", "rows": ["SF", "FF"]},
        {"game": "lights", "rows": [".."]},
        {"game": "lights", "rows": ["ab"]},
        {"game": "lights", "rows": "##"},
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, ["up"])
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


def test_hanoi_is_won_in_the_position_of_its_goal_alone():
    reference = {"game": "hanoi", "disks": 2, "goal": [[], [2], [1]]}
    assert judge(reference, ["1->3", "1->2"]).score == 1.0
    assert judge(reference, ["1->2", "1->3"]).score == 0.0
    assert judge(reference, ["1->2", "1->3", "2->3"]).score == 0.0  # all on one peg
