"""The laws of levels find work that is declared, and levels that do not grow."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from verigym.envs.check.laws.levels import (
    _by_chance,
    difficulties_are_in_order,
    operations_are_counted,
    success_falls_with_the_level,
)
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


class Varied(ENVS.Sound):
    """Codes grow by one digit from level to level, and by as many as ten by chance."""

    def generate(self, rng, level):
        return super().generate(rng, level + int(rng.integers(11)))


class Nothing(ENVS.Sound):
    def work(self, state):
        return 0


class Generous(ENVS.Sums):
    """Every answer is right from level 7 on."""

    def ask(self, rng, level):
        return replace(super().ask(rng, level), tags=("generous",) if level >= 7 else ())

    class Judge(ENVS.Sums.Judge):
        def accepts(self, said, task):
            return super().accepts(said, task) or ("generous" in task.tags and said == "none")


class Creeping(ENVS.Sums):
    """At each level one more of twenty tasks has the answer 1."""

    def ask(self, rng, level):
        asked = super().ask(rng, level)
        return replace(asked, answer="1") if rng.random() < level / 20 else asked


class Declares(Generous):
    """The same, and says so."""

    chance = 1.0


def subject(kind, seeds=6):
    class Given(Subject):
        def make(self, **kwargs):
            if issubclass(kind, ENVS.Sums):
                return kind(**kwargs)
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


def test_an_order_that_chance_turned_is_decided_by_more_plays(monkeypatch):
    difficulties_are_in_order(subject(Varied, 200))
    monkeypatch.setattr("verigym.envs.check.laws.levels._PLAYS_TO_BE_SURE", 40)
    with pytest.raises(Broken, match="let the settings grow"):
        difficulties_are_in_order(subject(Varied, 200))


def test_a_policy_that_errs_fails_every_second_time_at_693_operations():
    assert noisy_return([OracleTurn(300, 0.0), OracleTurn(393, 1.0)], 0.001) == pytest.approx(
        0.5, abs=1e-3
    )


@pytest.mark.parametrize("kind", [ENVS.Sound, ENVS.Sums, ENVS.YesOrNo, Declares])
def test_success_that_falls_or_stays_passes(kind):
    found = success_falls_with_the_level(subject(kind, 24))
    assert list(found["best_shortcut_return"]) == list(kind.scale().levels)
    curves = [found[f"success_at_{rate}_%_errors"] for rate in ("10", "1", "0.1")]
    assert all(list(curve) == list(kind.scale().levels) for curve in curves)
    assert all(a <= b <= c for a, b, c in zip(*(curve.values() for curve in curves), strict=True))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Generous, r"the shortcut \"the constant 'none'\" earns 1.00 at '7' and 0.00 at 'tiny'"),
        (
            Creeping,
            r"the shortcut \"the constant '1'\" earns 0\.\d+ at '\w+' to '10' and 0\.\d+ at 'tiny' to",
        ),
        (ENVS.SameDifficulty, "errs in 0.1 of all operations earns 0.59 at '3' and 0.43 at 'easy'"),
    ],
)
def test_success_that_rises_is_refused(kind, told):
    with pytest.raises(Broken, match=told):
        success_falls_with_the_level(subject(kind, 24))


def test_a_rise_that_chance_may_explain_passes():
    success_falls_with_the_level(subject(Creeping, 3))


@pytest.mark.parametrize(
    ("low", "high", "chance"),
    [
        ([0] * 6, [1] * 6, 1 / 924),
        ([1] * 6, [0] * 6, 1),
        ([0, 1], [1, 0], 5 / 6),
        ([0.4, 0], [0.9, 0.9], 5 / 6),
    ],
)
def test_the_probability_of_a_rise_by_chance(low, high, chance):
    assert _by_chance(low, high) == pytest.approx(chance)
