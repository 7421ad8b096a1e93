"""A first environment in one file: guess a number. Run it: python examples/first_env.py"""

import random
from dataclasses import dataclass, replace

from verigym import Draft, Env, Transition, Verifier, scored


def size(level):
    """Return the largest number of a level, and the turns that halving takes."""
    top = round(10 ** (1 + level / 2))
    return top, top.bit_length()


class GuessVerifier(Verifier):
    id = "examples/guess"
    version = 1

    def judge(self, task, submission):
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong_number")


@dataclass(frozen=True)
class Hunt:
    secret: int
    top: int
    last: int | None = None


class Guess(Env[Hunt]):
    id = "verigym/examples/guess-v0"
    verifier_id = "examples/guess"
    difficulties = ("easy", "medium", "hard")

    def generate(self, rng, level):
        top, turns = size(level)
        prompt = f"Find my number, 1 to {top}, in {turns} guesses. Answer with a number."
        return Draft(prompt=prompt, reference=int(rng.integers(1, top + 1)))

    def turns_allowed(self, task):
        return size(self.level_of(task.difficulty))[1]

    def initial(self, task):
        return Hunt(task.reference, size(self.level_of(task.difficulty))[0])

    def observe(self, state):
        if state.last is None:
            return ""
        return f"{state.last} is too {'low' if state.last < state.secret else 'high'}."

    def transition(self, state, action):
        if not action.strip().isdecimal() or len(action) > 9:
            return Transition(state=state, valid=False)
        moved = replace(state, last=int(action))
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
        low, high, operations = 1, state.top, 1
        while low < high:  # each halving is an operation
            middle = (low + high) // 2
            low, high = (low, middle) if state.secret <= middle else (middle + 1, high)
            operations += 1
        return operations


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
