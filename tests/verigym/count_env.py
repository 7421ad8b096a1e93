"""An environment to count in, and its verifier."""

from dataclasses import dataclass, replace

import msgspec

from verigym import (
    Draft,
    Env,
    SandboxError,
    Status,
    TaskError,
    Transition,
    Verifier,
    fault,
    scored,
)


@dataclass(frozen=True)
class Counter:
    at: int
    goal: int
    given_up: bool = False


class Strict(msgspec.Struct, frozen=True):
    """Parameters of `CountVerifier`."""

    strict: bool = True


class CountVerifier(Verifier[Strict]):
    """Full marks for reaching the goal; `outage` names a failure to show instead."""

    id = "tests/count"
    version = 3

    def __init__(self, **params):
        super().__init__(**params)
        self.outage = None
        self.calls = 0

    def judge(self, task, submission):
        self.calls += 1
        if self.outage == "sandbox":
            raise SandboxError("no machine")
        if self.outage == "task":
            raise TaskError("bad reference")
        if self.outage == "bug":
            return 1 / 0
        if self.outage == "timeout":
            return fault(Status.TIMEOUT, "deadline", "too slow")
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong_value")


class Count(Env[Counter]):
    """Count up or down from 0 to a goal, one at a time; `stop` hands in."""

    id = "verigym/tests/count-v0"
    verifier_id = "tests/count"
    difficulties = ("low", "middle", "high")
    max_action_chars = 16

    def generate(self, rng, level):
        goal = int(rng.integers(1, 100 * level))
        return Draft(prompt=f"Count to {goal}.", reference=goal, tags=("counting",))

    def initial(self, task):
        return Counter(0, task.reference)

    def observe(self, state):
        return f"You are at {state.at}."

    def transition(self, state, action):
        if action == "up":
            return Transition(state=replace(state, at=state.at + 1))
        if action == "down":
            return Transition(state=replace(state, at=state.at - 1))
        if action == "stop":
            return Transition(
                state=replace(state, given_up=True), terminated=True, submission=state.at
            )
        return Transition(state=state, valid=False)

    def submission(self, state):
        return state.at

    def key(self, state):
        return [state.at, state.goal, state.given_up]

    def legal_actions(self, state):
        return ["up", "down", "stop"]

    def solve(self, state):
        if state.at == state.goal:
            return "stop"
        return "up" if state.at < state.goal else "down"

    def turns_allowed(self, task):
        return 2 * task.reference + 4


def make_count(**kwargs):
    """The environment with its own verifier, which is not registered."""
    return Count(verifier=CountVerifier(), **kwargs)
