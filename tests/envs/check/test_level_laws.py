"""The laws of levels find work that is declared, and levels that do not grow."""

import importlib.util
from pathlib import Path

import pytest

from verigym.envs.check.laws.levels import difficulties_are_in_order, operations_are_counted
from verigym.envs.check.operations import OracleTurn, noisy_return
from verigym.envs.check.subject import Broken, Subject

SOURCE = Path(__file__).parents[2] / "data" / "broken_envs" / "broken_envs.py"
SPEC = importlib.util.spec_from_file_location("level_envs", SOURCE)
ENVS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ENVS)


class Declared(ENVS.Sound):
    """Work by a formula."""

    def work(self, state):
        return 10 * len(state.code)


class Kept(ENVS.Sound):
    """A result that was counted once and kept."""

    known: dict = {}  # noqa: RUF012

    def work(self, state):
        if state not in self.known:
            self.known[state] = sum(1 for _ in range(50))
        return self.known[state]

    def initial(self, task):
        state = super().initial(task)
        self.work(state)
        return state


class Counted(ENVS.Sound):
    """One operation for each digit left."""

    def work(self, state):
        operations = 0
        for _ in state.code[len(state.typed) :]:
            operations += 1
        return operations


class Flat(ENVS.Sound):
    """Levels 7 and 8 are alike."""

    def generate(self, rng, level):
        return super().generate(rng, 7 if level == 8 else level)


class Nothing(ENVS.Sound):
    def work(self, state):
        return 0


def subject(kind, seeds=6):
    class Given(Subject):
        def make(self, **kwargs):
            return kind(**kwargs, verifier=ENVS.CodeVerifier())

    return Given(kind.id, seeds)


@pytest.mark.parametrize("kind", [ENVS.Sound, Counted])
def test_work_that_is_counted_passes(kind):
    operations_are_counted(subject(kind))
    found = difficulties_are_in_order(subject(kind))
    assert list(found["operations"]) == list(kind.scale().levels)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Declared, r"claims 30 operations, and executes 1 lines"),
        (Kept, "claims 50 operations"),
        (Nothing, "work is 0, must be a whole number above 0"),
    ],
)
def test_work_that_is_declared_is_refused(kind, told):
    with pytest.raises(Broken, match=told):
        operations_are_counted(subject(kind))


def test_levels_that_do_not_grow_are_refused():
    with pytest.raises(Broken, match="'8' takes 9 operations, '7' 9"):
        difficulties_are_in_order(subject(Flat))


def test_a_policy_that_errs_fails_every_second_time_at_693_operations():
    assert noisy_return([OracleTurn(300, 0.0), OracleTurn(393, 1.0)], 0.001) == pytest.approx(
        0.5, abs=1e-3
    )
