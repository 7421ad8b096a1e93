"""Liar's dice: chances against brute force, styles of play, and that hidden dice are worth nothing."""

from fractions import Fraction
from itertools import product

import pytest

import verigym
from verigym.verifiers.games.dice_book import LIAR, DiceBook, book, hands_of, holds, styles
from verigym.verifiers.games.dice_table import TABLE
from verigym.verifiers.games.liars_dice import MARGIN, LiarsDiceRules


def brute(dice, faces, style, bids, own, deals):
    """The best chance of each move, by playing every deal that fits: no weights, no numbering.

    `deals` are (other's dice, chance of that hand and of its bids so far).
    """
    count = 2 * dice * faces
    hands, _ = hands_of(dice, faces)
    rows = styles(dice, faces, style)
    total = sum(p for _, p in deals)
    last = bids[-1] if bids else -1
    chances = {}
    if bids:
        won = sum(p for other, p in deals if not holds(last, faces, own, other))
        chances[LIAR] = won / total
    for bid in range(last + 1, count):
        value, answers = Fraction(0), {}
        for other, p in deals:
            row = [int(n) for n in rows[hands.index(other), bid + 1]]
            for answer, weight in enumerate(row):
                if not weight:
                    continue
                chance = p * Fraction(weight, sum(row))
                if answer == count:
                    value += chance * holds(bid, faces, own, other)
                else:
                    answers.setdefault(answer, []).append((other, chance))
        for answer, left in answers.items():
            after = brute(dice, faces, style, (*bids, bid, answer), own, left)
            value += max(after.values()) * sum(p for _, p in left)
        chances[bid] = value / total
    return chances


@pytest.mark.parametrize(
    ("dice", "faces", "style"),
    [(1, 2, "random"), (1, 3, "random"), (1, 3, "honest"), (2, 2, "honest"), (1, 4, "honest")],
)
def test_chances_agree_with_brute_force(dice, faces, style):
    hands, _ = hands_of(dice, faces)
    rows = styles(dice, faces, style)
    all_deals = [
        (tuple(sorted(roll)), Fraction(1, faces**dice))
        for roll in product(range(1, faces + 1), repeat=dice)
    ]
    told = DiceBook(dice, faces, style)
    for own in hands:
        known = brute(dice, faces, style, (), own, all_deals)
        assert told.chances((), own) == pytest.approx({m: float(c) for m, c in known.items()})
        for opening in range(2 * dice * faces):
            deals = []
            for other, p in all_deals:
                row = [int(n) for n in rows[hands.index(other), 0]]
                if row[opening]:
                    deals.append((other, p * Fraction(row[opening], sum(row))))
            if deals:
                known = brute(dice, faces, style, (opening,), own, deals)
                found = told.chances((opening,), own)
                assert found == pytest.approx({m: float(c) for m, c in known.items()})


def test_the_random_opponent_s_bids_tell_nothing():
    one = book(1, 6, "random")
    assert one.chances((0, 2, 5), (4,)) == pytest.approx(one.chances((5,), (4,)))


def test_the_honest_opponent_bids_what_it_has_and_calls_what_it_doubts():
    hands, _ = hands_of(2, 3)
    rows = styles(2, 3, "honest")
    row = {hand: rows[h] for h, hand in enumerate(hands)}
    # Two threes: the highest bid that is sure is two threes, number 5.
    assert row[3, 3][0].argmax() == 5
    # With a one and a two, one two is sure.
    assert row[1, 2][0].argmax() == 1
    # Four threes cannot be true if it has none.
    assert row[1, 1][12].argmax() == 12
    for rows_of_hand in rows:
        assert (rows_of_hand.sum(axis=1) == 1).all()


def test_the_table_is_whole_and_near_an_equilibrium():
    for rows in TABLE:
        assert [len(row) for row in rows] == [13 - last for last in range(13)]
        assert all(sum(row) == 100 and min(row) >= 0 for row in rows)
        assert rows[0][-1] == 0, "nobody calls before there is a bid"
    first, second = book(2, 3, "equilibrium").value()
    # The two chances add up to 1 against an equilibrium, and to more against anything else.
    assert 1.0 <= first + second < 1.04
    assert sum(book(2, 3, "honest").value()) > 1.6
    assert sum(book(2, 3, "random").value()) > 1.8


def swapped(task, round_, other):
    rounds = [[list(hand) for hand in pair] for pair in task.reference["rounds"]]
    rounds[round_][1] = list(other)
    return verigym.Task(
        id=task.id,
        env_id=task.env_id,
        seed=task.seed,
        prompt=task.prompt,
        difficulty=task.difficulty,
        reference={**task.reference, "rounds": rounds},
    )


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_other_dice_of_the_opponent_change_nothing_that_is_seen_or_judged(difficulty):
    env, twin = (verigym.make("games/liars-dice-v0", difficulty=difficulty) for _ in range(2))
    alike = 0
    for seed in range(6):
        first, info = env.reset(seed=seed)
        hands, _ = hands_of(env.task.reference["dice"], env.task.reference["faces"])
        for other in hands:
            seen, other_info = twin.reset(options={"task": swapped(env.task, 0, other)})
            assert seen == first
            assert other_info["legal_actions"] == info["legal_actions"]
            board, double = env.state.board, twin.state.board
            assert board.chances == double.chances
            start = env.snapshot()
            # As long as the opponent makes the same moves, so are all verdicts on the player's.
            for action in info["legal_actions"]:
                env.restore(start)
                twin.reset(options={"task": swapped(env.task, 0, other)})
                here, there = env.step(action), twin.step(action)
                board, double = env.state.board, twin.state.board
                if (board.round, board.bids) == (double.round, double.bids) == (0, board.bids):
                    alike += 1
                    assert here[:4] == there[:4]
                    assert here[4]["legal_actions"] == there[4]["legal_actions"]
                    assert (board.spoilt, board.chances) == (double.spoilt, double.chances)
            env.restore(start)
    assert alike > 20


def test_winning_by_luck_is_not_paid_and_losing_by_it_costs_nothing():
    rules = LiarsDiceRules()
    ends = set()
    for seed, other in product(range(60), range(1, 7)):
        reference = {
            "dice": 1,
            "faces": 6,
            "opponent": "random",
            "seed": seed,
            "rounds": [[[2], [other]]],
        }
        for first in (1, 2, 11):
            state = rules.start(reference)
            mistake = max(state.chances.values()) - state.chances[first] > MARGIN
            state = rules.apply(state, (first // 6 + 1, first % 6 + 1))
            while not state.over:
                best = max(state.chances, key=state.chances.__getitem__)
                state = rules.apply(state, best if best == LIAR else (best // 6 + 1, best % 6 + 1))
            bids, called = state.last
            won = called != holds(bids[-1], 6, (2,), (other,))
            assert rules.won(state) == (not mistake)
            ends.add((mistake, won))
    assert ends == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize(
    ("text", "move"),
    [("2 3", (2, 3)), (" 2x3 ", (2, 3)), ("2, 3.", (2, 3)), ("Liar!", LIAR), ("0 1", (0, 1))],
)
def test_moves_as_they_are_written(text, move):
    assert LiarsDiceRules().read(text) == move


@pytest.mark.parametrize("text", ["", "2", "2 3 4", "liars", "-1 2", "2 ³", None, 5, "9" * 400])
def test_what_is_no_move(text):
    assert LiarsDiceRules().read(text) is None


@pytest.mark.parametrize(
    "change",
    [
        {"dice": 0},
        {"dice": 2, "faces": 4},
        {"faces": 1},
        {"opponent": "sly"},
        {"opponent": "equilibrium"},
        {"seed": "1"},
        {"rounds": []},
        {"rounds": [[[1], [7]]]},
        {"rounds": [[[1], [2, 3]]]},
        {"rounds": [[[1]]]},
    ],
)
def test_a_reference_that_makes_no_sense_is_refused(change):
    good = {"dice": 1, "faces": 6, "opponent": "honest", "seed": 1, "rounds": [[[1], [2]]]}
    LiarsDiceRules().start(good)
    with pytest.raises(verigym.TaskError, match="liars-dice"):
        LiarsDiceRules().start({**good, **change})
