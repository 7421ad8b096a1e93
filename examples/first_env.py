"""A first environment in one file: guess a number. Run it: python examples/first_env.py"""

import random
from dataclasses import dataclass

from verigym import Draft, Env, Transition, Verifier, scored

LEVELS = {"easy": (100, 7), "medium": (1_000, 10), "hard": (10_000, 14)}  # largest number, turns


class GuessVerifier(Verifier):
    id = "examples/guess"
    version = 1

    def judge(self, task, submission):
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong_number")


@dataclass(frozen=True)
class Hunt:
    secret: int
    last: int | None = None


class Guess(Env[Hunt]):
    id = "verigym/examples/guess-v0"
    verifier_id = "examples/guess"
    difficulties = tuple(LEVELS)

    def generate(self, rng, difficulty):
        top, turns = LEVELS[difficulty]
        prompt = f"Find my number, 1 to {top}, in {turns} guesses. Answer with a number."
        return Draft(prompt=prompt, reference=int(rng.integers(1, top + 1)))

    def turns_allowed(self, task):
        return LEVELS[task.difficulty][1]

    def initial(self, task):
        return Hunt(secret=task.reference)

    def observe(self, state):
        if state.last is None:
            return ""
        return f"{state.last} is too {'low' if state.last < state.secret else 'high'}."

    def transition(self, state, action):
        if not action.strip().isdecimal() or len(action) > 9:
            return Transition(state=state, valid=False)
        moved = Hunt(state.secret, last=int(action))
        if moved.last == state.secret:
            return Transition(state=moved, terminated=True, submission=moved.last)
        return Transition(state=moved)

    def submission(self, state):
        return state.last

    def key(self, state):
        return state.last

    def solve(self, state):
        return str(state.secret)

    def work(self, state):
        return state.secret.bit_length()  # what finding it takes: about as many halvings


def play(env, seed, policy):
    """One episode; prints it and gives its return."""
    observation, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action = policy(observation)
        print(f"  {observation!r} -> {action}")
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        over = terminated or truncated
    print(f"  return {total}, {info['verdict'].reason}")
    return total


def bisect():
    """A policy that remembers its bounds."""
    low, high, guess = 1, 100, 50

    def policy(observation):
        nonlocal low, high, guess
        if observation.endswith("low."):
            low = guess + 1
        elif observation.endswith("high."):
            high = guess - 1
        guess = (low + high) // 2
        return str(guess)

    return policy


if __name__ == "__main__":
    env = Guess(verifier=GuessVerifier())
    print("the oracle:")
    play(env, 7, lambda observation: env.oracle())
    print("halving:")
    play(env, 7, bisect())
    print("chance:")
    dice = random.Random(0)
    play(env, 7, lambda observation: str(dice.randint(1, 100)))
