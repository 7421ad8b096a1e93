"""Batches of moves: every move has its own verdict or error, whatever the judge does with the batch."""

import pytest

from verigym import RequestError, make
from verigym.judge import Judge
from verigym.moves import ask, by_judge
from verigym.verdict import scored


class Limited(Judge):
    """Takes at most `most` submissions at once and refuses "bad" ones, each with the whole batch."""

    id, version, params = "tests/limited", 1, {}

    def __init__(self, most, breaks_after=99):
        self.most = most
        self.breaks_after = breaks_after
        self.calls = []

    def verify_batch(self, items):
        return [verdict for _, verdict in self.verify_each(items)]

    def verify_each(self, items):
        said = [submission for _, submission in items]
        self.calls.append(len(said))
        if len(said) > self.most or "bad" in said:
            raise RequestError(f"refused {len(said)}")
        for place, word in enumerate(said):
            if place == self.breaks_after:
                return
            yield place, scored(1.0, str(word))


def moves(words):
    env = make("countdown")
    env.reset(seed=1)
    made = []
    for word in words:
        move = env.propose("<answer>1</answer>")
        move.submission = word
        made.append(move)
    return made


@pytest.mark.parametrize(
    ("judge", "words", "calls"),
    [
        (Limited(4), "abcd", [4]),
        (Limited(2), "abcd", [4, 2, 2]),
        (Limited(9, breaks_after=2), "abcd", [4, 1, 1]),  # two are left, and asked for alone
        (Limited(9), ["a", "bad", "c"], [3, 1, 2, 1, 1]),
        (Limited(0), ["a"], [1]),
    ],
)
def test_each_move_is_answered_once(judge, words, calls):
    found = dict(ask(judge, moves(words)))
    assert sorted(found) == list(range(len(words)))
    assert judge.calls == calls
    for place, word in enumerate(words):
        if word == "bad" or not judge.most:
            assert isinstance(found[place], RequestError)
            assert "refused 1" in str(found[place])
        else:
            assert found[place].reason == word


def test_moves_are_grouped_by_judge_in_order():
    one, other = Limited(1), Limited(1)  # equal, and not the same
    assert by_judge([(one, "a"), (other, "b"), (one, "c")]) == [(one, ["a", "c"]), (other, ["b"])]
    assert by_judge([]) == []
