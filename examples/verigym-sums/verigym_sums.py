"""The environment verigym-sums: replace this task by yours."""

from verigym import Ask, Question

LARGEST = {"easy": 20, "medium": 300, "hard": 10_000}


class VerigymSums(Question):
    """Add two whole numbers."""

    id = "verigym/examples/verigym-sums-v0"
    verifier_id = "math/answer"  # `verigym serve` and docs/verifiers.md list the others
    difficulties = tuple(LARGEST)

    def ask(self, rng, difficulty):
        """Draw from `rng` alone: the same seed must give the same question."""
        a, b = (int(n) for n in rng.integers(1, LARGEST[difficulty], 2, endpoint=True))
        return Ask(
            prompt=f"What is {a} + {b}?",
            answer=str(a + b),
            answer_form="evaluated",  # "2 + 3" is no answer to "What is 2 + 3?"
            steps=len(str(a + b)),  # the work it takes: digits to add
        )
