"""Canary episodes: a verifier that errs is found while a run trains on it."""

from __future__ import annotations

import pytest

from verigym import Task, Verdict, Verifier, scored
from verigym.agents.loop import play
from verigym.agents.plan import Plan, Settings
from verigym.trainers.alarms import alarms
from verigym.trainers.canaries import play_canaries


def plans(env: str, **kwargs: object) -> list[Plan]:
    return [Plan(id=str(n), env=env, seed=n, env_kwargs=kwargs, key=(n,)) for n in range(3)]


def played(plans: list[Plan]) -> dict[str, float]:
    settings = Settings(fault_limit=1.0)
    return play_canaries(
        plans, lambda chosen, policy: play(chosen, policy, None, settings), lambda plan: True
    )


def test_a_sound_environment_pays_the_oracle_alone() -> None:
    found = played(plans("math/arithmetic"))
    assert found == {"unfinished": 0.0, "oracle": 0.0, "empty": 0.0, "echo": 0.0, "faults": 0.0}
    assert alarms([{"canaries": found}], []) == {}


def test_a_limit_of_turns_is_not_the_verifiers_error() -> None:
    found = played(plans("games/keydoor", max_turns=1))
    assert found["unfinished"] == 1.0
    assert "oracle" not in found
    assert set(alarms([{"canaries": found}], [])) == {"too few turns"}


@pytest.mark.parametrize(
    ("found", "alarm"),
    [
        ({"oracle": 0.25}, "right replies refused"),
        ({"echo": 0.5}, "cheats paid"),
        ({"empty": 1.0}, "cheats paid"),
    ],
)
def test_an_error_of_the_verifier_raises_an_alarm(found: dict[str, float], alarm: str) -> None:
    steps = [{"canaries": found}, {}]
    assert set(alarms(steps, [])) == {alarm}


class Generous(Verifier):
    """Pays for every reply that holds a digit."""

    id = "math/answer"
    version = 1
    about = "Digits."

    def judge(self, task: Task, submission: object) -> Verdict:
        return scored(float(any(letter.isdigit() for letter in str(submission))), "read")


def test_a_verifier_that_pays_for_echoes_is_found() -> None:
    found = played(plans("math/arithmetic", verifier=Generous()))
    assert found["echo"] == 1.0
    assert found["oracle"] == found["empty"] == 0.0
