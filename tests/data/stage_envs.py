"""Environments for the tests of sessions: one that is well behaved, and one that does as it is told."""

import ctypes
import os
import random
import threading
import time
from dataclasses import dataclass

from verigym.env import Draft, Env, Transition
from verigym.errors import TaskError
from verigym.verdict import Status, fault, scored
from verigym.verifier import Verifier


class Count(Verifier):
    """Half a point for an even number, one for an odd."""

    id = "stage/count"
    version = 1

    def judge(self, task, submission):
        if submission == "fault":
            return fault(Status.INFRA, "away", f"the secret is {task.reference}")
        return scored(0.5 + int(submission) % 2 / 2, "counted")


@dataclass(frozen=True)
class Heard:
    """The last action, and how many there were."""

    count: int = 0
    last: str = ""


class Obeys(Env[Heard]):
    """Does as it is told: any word that it does not know is only counted, and `end` ends it."""

    id = "verigym/stage/obeys-v0"
    verifier_id = "stage/count"
    difficulties = ("one", "two", "three")
    oracle_absent = "there is nothing to solve"

    def generate(self, rng, level):
        return Draft(prompt=f"Number {rng.integers(10**9)}.", reference=f"hush {rng.integers(9)}")

    def initial(self, task):
        return Heard()

    def observe(self, state):
        return f"{state.count} {state.last}"

    def transition(self, state, action):
        words = action.split()
        match words:
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["wait", fifo]:  # until somebody writes there
                with open(fifo) as file:
                    file.read()
            case ["freeze"]:  # holds the interpreter's lock for ever
                ctypes.PyDLL(None).pause()
            case ["exit"]:
                os._exit(3)
            case ["crash"]:
                raise KeyError("a bug: " + self.task.reference)
            case ["broken"]:
                raise TaskError("a broken task: " + self.task.reference)
            case ["nan"]:
                return Transition(state=Heard(state.count + 1, action), submission="0")
            case ["random"]:
                state = Heard(state.count, str(random.random()))
            case ["threads"]:
                state = Heard(state.count, str(threading.active_count()))
        moved = Heard(state.count + 1, action if words[:1] != ["random"] else state.last)
        if words[:1] == ["end"]:
            return Transition(state=moved, terminated=True, submission=str(moved.count))
        if words[:1] == ["fault"]:
            return Transition(state=moved, submission="fault")
        return Transition(state=moved, valid=bool(words))

    def turns_allowed(self, task):
        return 1000

    def key(self, state):
        return [state.count, state.last]

    def solve(self, state):
        raise NotImplementedError


class Pid(Obeys):
    """Shows the pid of its host, once and in `info` alone."""

    id = "verigym/stage/pid-v0"

    def legal_actions(self, state):
        return [str(os.getpid())]
