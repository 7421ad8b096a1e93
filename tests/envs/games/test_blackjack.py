"""Blackjack: expected gains against known tables and another computation; luck is not paid."""

from fractions import Fraction

import pytest

import verigym
from verigym.envs.games.blackjack import FULL
from verigym.verifiers.games.blackjack import MARGIN, RANKS, BlackjackBook, added, total_of
from verigym.verifiers.games.rules import RULES

NAME = "games/blackjack-v0"
ODD = (2, 0, 3, 1, 4, 0, 1, 2, 0, 5)


def test_the_dealer_goes_over_as_often_as_tables_say():
    """Published figures for an infinite deck and a dealer who stands on all 17s, as printed in
    many books."""
    known = [0.1153, 0.3536, 0.3739, 0.3945, 0.4164, 0.4232, 0.2623, 0.2447, 0.2284, 0.2121]
    book = BlackjackBook(FULL, False)
    for up, share in enumerate(known):
        ends = book.ends(*added(0, False, up))
        assert sum(ends) == pytest.approx(1)
        assert ends[5] == pytest.approx(share, abs=2e-3)


def test_the_best_moves_are_those_of_basic_strategy():
    book = BlackjackBook(FULL, False)

    def best(cards, up, moves=3):
        some = book.gains(*total_of(cards), RANKS.index(up))[:moves]
        return ("hit", "stand", "double")[some.index(max(some))]

    for up in "456":
        assert best("T2", up) == "stand"
    for up in "23789TA":
        assert best("T2", up) == "hit"
    for total in ("T3", "T4", "T5", "T6"):
        assert {best(total, up) for up in "23456"} == {"stand"}
        assert {best(total, up) for up in "789TA"} == {"hit"}
    assert {best("T7", up) for up in RANKS} == {"stand"}
    assert {best("56", up) for up in "23456789"} == {"double"}
    assert {best("46", up) for up in "23456789"} == {"double"}
    assert {best("36", up) for up in "3456"} == {"double"}
    assert best("36", "2") == best("36", "7") == "hit"
    assert best("A7", "3") == best("A7", "6") == "double"
    assert best("A7", "9") == best("A7", "T") == "hit"
    assert best("A7", "7") == best("A7", "8") == "stand"
    assert {best("A6", up, 2) for up in RANKS} == {"hit"}


def exact(cards, up, deck, soft17):
    """Return the exact gain of hit and stand in fractions, by following every hand of cards; slow."""
    whole = sum(deck)

    def dealer(hand, own):
        total, soft = total_of(hand)
        if total > 16 and not (soft17 and soft and total == 17):
            return Fraction((total > 21 or own > total) - (own < total <= 21))
        return sum(
            (Fraction(n, whole) * dealer(hand + card, own))
            for card, n in zip(RANKS, deck, strict=True)
            if n
        )

    def stand(hand):
        own = total_of(hand)[0]
        return Fraction(-1) if own > 21 else dealer(up, own)

    def hit(hand):
        return sum(
            Fraction(n, whole) * best(hand + card) for card, n in zip(RANKS, deck, strict=True) if n
        )

    def best(hand):
        return stand(hand) if total_of(hand)[0] >= 21 else max(stand(hand), hit(hand))

    return hit(cards), stand(cards)


@pytest.mark.parametrize("soft17", [False, True])
@pytest.mark.parametrize(("cards", "up"), [("T6", "8"), ("A7", "T"), ("T5", "9"), ("9T", "7")])
def test_gains_agree_with_every_course_of_a_hand_followed_to_its_end(cards, up, soft17):
    deck = (1, 0, 0, 2, 1, 0, 1, 0, 0, 3)  # few ranks, or there would be too many courses
    some = BlackjackBook(deck, soft17).gains(*total_of(cards), RANKS.index(up))
    assert some[:2] == pytest.approx([float(gain) for gain in exact(cards, up, deck, soft17)])


def test_soft_totals_are_counted_card_by_card_as_from_the_whole_hand():
    for a in range(10):
        for b in range(10):
            for c in range(10):
                total, soft = added(*added(*added(0, False, a), b), c)
                assert (total, soft) == total_of(RANKS[a] + RANKS[b] + RANKS[c])


def reference(**changes):
    hand = ["T6", "T", "5" + "2" * 35]
    return {
        "game": "blackjack",
        "deck": list(FULL),
        "soft17": False,
        "moves": ["hit", "stand"],
        "hands": [hand, ["T8", "6", "T" * 36]],
    } | changes


def judge(played, **changes):
    task = verigym.Task(
        id="t",
        env_id="t",
        seed=0,
        prompt="",
        difficulty="",
        reference=reference(**changes),
    )
    return verigym.make_verifier("games/replay").verify(task, played)


def test_the_right_move_is_paid_when_it_loses_and_the_wrong_one_is_not_when_it_wins():
    lucky = ["9T", "6", "2" + "T" * 35]  # 19: a hit would make 21
    assert judge(["hit", "stand"]).score == 1.0
    assert (
        judge(["hit", "stand"], hands=[["T6", "T", "T" * 36], ["T8", "6", "T" * 36]]).score == 1.0
    )
    wrong = judge(["hit"], hands=[lucky])
    assert (wrong.score, wrong.parts["progress"]) == (0.0, 0.0)
    half = judge(["hit", "hit"])
    assert (half.score, half.parts["progress"]) == (0.0, 0.5)


def test_unplayed_hands_are_not_paid():
    for moves in (["hit"], [], ["surrender"], ["stand", "double"]):
        assert judge(moves).score == 0.0


@pytest.mark.slow
def test_no_fixed_way_of_playing_is_paid():
    """Always standing, always hitting, and playing as the dealer does."""
    env = verigym.make(NAME)
    ways = {
        "stand": lambda total: "stand",
        "hit": lambda total: "hit",
        "dealer": lambda total: "hit" if total < 17 else "stand",
    }
    for difficulty in env.difficulties:
        for name, way in ways.items():
            won = 0.0
            for seed in range(60):
                env.reset(seed=seed, options={"difficulty": difficulty})
                over = False
                while not over:
                    total = total_of(env.state.board.cards)[0]
                    _, reward, terminated, truncated, _ = env.step(way(total))
                    over = terminated or truncated
                    won += reward
            assert won / 60 < 0.4, (difficulty, name)


def test_the_oracle_plays_the_same_whatever_cards_come():
    """The oracle makes the same move in the same position with other cards to come."""
    rules = RULES["blackjack"]
    env = verigym.make(NAME)
    env.reset(seed=1, options={"difficulty": "hard"})
    given = env.task.reference
    for coming in ("2" * 36, "T" * 36, "A9" * 18):
        hands = [[own, up, coming] for own, up, _ in given["hands"]]
        other = rules.start(given | {"hands": hands})
        assert env.best(other) == env.best(rules.start(given))


@pytest.mark.parametrize(
    "changes",
    [
        {"deck": [0] * 10},
        {"deck": [1] * 9},
        {"moves": ["hit"]},
        {"moves": ["hit", "stand", "split"]},
        {"hands": []},
        {"hands": [["AT", "6", "2" * 36]]},
        {"hands": [["T6", "6", "2" * 9]]},
        {"soft17": 1},
    ],
)
def test_a_table_that_makes_no_sense_is_the_author_s_fault(changes):
    verdict = judge(["hit"], **changes)
    assert (verdict.score, verdict.reason) == (None, "bad_task")


def test_a_move_within_the_margin_is_no_mistake():
    gains = BlackjackBook(ODD, True).gains(16, False, 6)
    hands = [["T6", "7", "T" * 36]]
    for move in ("hit", "stand"):
        fine = max(gains[:2]) - gains[("hit", "stand").index(move)] <= MARGIN
        moves = [move] if move == "stand" else ["hit"]
        verdict = judge(moves, hands=hands, deck=list(ODD), soft17=True)
        assert (verdict.score == 1.0) == fine
