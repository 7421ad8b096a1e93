"""Data that decides a task's split: its content, or the essence that its author names."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from verigym import SPLITS, Ask, Question


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
