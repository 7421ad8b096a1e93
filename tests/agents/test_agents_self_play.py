"""Two policies against each other: whose turn is whose, who is paid, and what each gets to see."""

from __future__ import annotations

import pytest

from verigym import RequestError
from verigym.agents.chat import StepRows, Transcript
from verigym.agents.loop import plan_groups
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.policy import Completion
from verigym.agents.self_play import play_both

SELF = {"opponent": "self"}


class Noting:
    """Plays as another policy does, and keeps what it was shown."""

    max_batch = 4

    def __init__(self, inner, name):
        self.inner, self.name, self.seen = inner, name, []

    def complete(self, requests):
        self.seen += [(r.env.task.seed, r.key[-1], str(r.messages)) for r in requests]
        answers = self.inner.complete(requests)
        return [Completion(text=f"{self.name} thinks.</think>{a.text}") for a in answers]


def test_the_perfect_side_never_loses_and_both_are_credited():
    plans = plan_groups("games/tic-tac-toe-v0", range(30), env_kwargs=SELF)
    for oracle in (0, 1):
        policies = [RandomPolicy(), RandomPolicy()]
        policies[oracle] = OraclePolicy()
        matches = play_both(plans, *policies)
        for match in matches:
            assert match.rewards[0] == -match.rewards[1]
            assert match.rewards[0] == 2 * match.game.verdict.score - 1
            for side, reward in zip(match.sides, match.rewards, strict=True):
                assert side.return_ == (reward if side.turns else 0)
            assert [side.policy for side in match.sides] == [p.name for p in policies]
            turns = [turn.action for turn in match.game.turns]
            assert [t.action for t in match.sides[0].turns] == turns[::2]
            assert [t.action for t in match.sides[1].turns] == turns[1::2]
        # Some starts are lost already, but mostly the better side wins.
        assert sum(match.rewards[oracle] for match in matches) > 10


@pytest.mark.parametrize(
    "encoding", [StepRows(history=5), Transcript()], ids=["rows", "transcript"]
)
def test_neither_side_sees_what_is_the_other_s(encoding):
    plans = plan_groups("games/liars-dice-v0", range(20), env_kwargs=SELF, difficulty="hard")
    first, second = Noting(RandomPolicy(), "Anna"), Noting(RandomPolicy(), "Otto")
    matches = play_both(plans, first, second, encoding)
    assert {turn % 2 for _, turn, _ in first.seen} == {0}
    assert {turn % 2 for _, turn, _ in second.seen} == {1}
    assert all("Otto" not in text for _, _, text in first.seen)
    assert all("Anna" not in text for _, _, text in second.seen)
    dice = {}
    for policy in (first, second):
        for seed, _, text in policy.seen:
            shown = {part[:3] for part in text.split("Your dice: ")[1:]}
            assert len(shown) == 1, text
            dice.setdefault((policy.name, seed), set()).update(shown)
    assert all(len(shown) == 1 for shown in dice.values())
    assert {m.game.verdict.reason for m in matches} == {"first_wins", "second_wins"}


def test_one_policy_may_play_both_sides_in_one_call():
    policy = RandomPolicy()
    plans = plan_groups("games/nim-v0", range(5), members=2, env_kwargs=SELF)
    matches = play_both(plans, policy, policy)
    for match in matches:
        ids = [match.game.id, *(side.id for side in match.sides)]
        assert ids[1:] == [f"{ids[0]}:0", f"{ids[0]}:1"]
        assert match.sides[1].group_id == f"{match.game.group_id}:1"


def test_a_plan_without_two_sides_is_refused():
    with pytest.raises(RequestError, match='opponent="self"'):
        play_both(plan_groups("games/nim-v0", range(1)), RandomPolicy(), RandomPolicy())
