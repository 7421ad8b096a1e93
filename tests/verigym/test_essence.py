"""A task's split is decided by its essence, or else its reference, and never by its words."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from verigym import SPLITS, Ask, Draft, Question
from verigym.splits import split_by_essence


@dataclass
class Count:
    asked: int = 0
    worked: int = 0


class Costly(Question):
    id: ClassVar[str] = "verigym/tests/costly-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    count: ClassVar[Count]

    def ask(self, rng, level):
        while True:
            self.count.asked += 1
            essence = int(rng.integers(1000))
            if self.wants(essence):
                self.count.worked += 1
                extra = int(rng.integers(1000))
                return Ask(
                    prompt=f"{essence} + {extra}?", answer=str(essence + extra), essence=essence
                )


@pytest.mark.parametrize("split", SPLITS)
def test_only_what_the_split_wants_is_worked_out(split):
    Costly.count = Count()
    env = Costly(split="train")
    essences = set()
    for seed in range(100):
        task = env.sample_task(seed, split=split)
        essences.add(task.prompt.split()[0])
    assert Costly.count.worked == 100
    assert Costly.count.asked > 150
    others = {
        env.sample_task(seed, split=other).prompt.split()[0]
        for seed in range(100)
        for other in SPLITS
        if other != split
    }
    assert not essences & others


class Sum(Question):
    id: ClassVar[str] = "verigym/tests/sum-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    words: ClassVar[str] = "What is {} + {}?"

    def ask(self, rng, level):
        a, b = rng.integers(1000, size=2).tolist()
        return Ask(prompt=self.words.format(a, b), answer=str(a + b), essence=[a, b])


class Reworded(Sum):
    words: ClassVar[str] = "Add {1} to {0}."


@pytest.mark.parametrize("split", SPLITS)
def test_other_words_ask_for_the_same_tasks(split):
    before, after = Sum(split=split), Reworded(split=split)
    for seed in range(40):
        one, other = before.sample_task(seed), after.sample_task(seed)
        assert one.prompt != other.prompt
        assert one.reference == other.reference


def test_the_reference_decides_where_no_essence_is_given():
    for secret in range(40):
        first, second = (Draft(prompt=words, reference=[secret]) for words in ("One.", "Two."))
        named = Draft(prompt="Three.", reference=None, essence=[secret])
        assert split_by_essence(first) == split_by_essence(second) == split_by_essence(named)
