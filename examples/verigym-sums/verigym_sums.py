"""The environment verigym-sums: replace this task by yours."""

import re

from verigym import Ask, Question


class VerigymSums(Question):
    """Add two whole numbers."""

    id = "verigym/examples/verigym-sums-v0"
    verifier_id = "math/answer"  # `verigym serve` and docs/verifiers.md list the others
    difficulties = ("easy", "medium", "hard")  # names of the levels 2, 4 and 6

    def ask(self, rng, level):
        """Draw from `rng` alone: the same seed must give the same question. Levels are 1 to 10."""
        a, b = (int(n) for n in rng.integers(10**level, 10 ** (level + 1), 2))
        # "2 + 3" is no answer here, so the form is given. `essence` decides the split, not the words.
        prompt = f"What is {a} + {b}?"
        return Ask(prompt=prompt, answer=str(a + b), answer_form="evaluated", essence=[a, b])

    def work(self, state):
        """Count the digits that are added, by adding them."""
        a, b = re.findall(r"\d+", state.task.prompt)
        operations = carry = 0
        for one, other in zip(reversed(a), reversed(b), strict=True):
            carry = (int(one) + int(other) + carry) // 10
            operations += 1
        return operations
