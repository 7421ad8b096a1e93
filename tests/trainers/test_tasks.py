"""Tasks of a run: environments, levels, curricula, extra episodes, and rewards that depend on length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.trainers.test_algorithms import episode
from verigym import ConfigError, RequestError
from verigym.agents.plan import Plan
from verigym.trainers.arms import Curriculum
from verigym.trainers.config import parse_config
from verigym.trainers.identity import identity
from verigym.trainers.rewards import relative_length, shape_rewards
from verigym.trainers.sampling import play_enough
from verigym.trainers.sections import CurriculumSection, RewardSection, SamplingSection
from verigym.trainers.tasks import EVAL, TRAIN, Tasks, check_step_rewards

TWO = [
    {"id": "keydoor", "difficulties": ["tiny", 3], "weight": 3},
    {"id": "math/arithmetic", "difficulty": 5, "max_turns": 1},
]


def test_plans_are_drawn_by_weight_and_repeat_exactly():
    tasks = Tasks(parse_config({"env": TWO}))
    assert tasks.probabilities(1) == pytest.approx(
        {
            "verigym/games/keydoor-v0:tiny": 0.375,
            "verigym/games/keydoor-v0:3": 0.375,
            "verigym/math/arithmetic-v0:5": 0.25,
        }
    )
    plans = tasks.plans(TRAIN, 1, 400, 2, "train")
    assert plans == tasks.plans(TRAIN, 1, 400, 2, "train")
    share = np.bincount([tasks.arm_of(plan) for plan in plans], minlength=3) / len(plans)
    assert share == pytest.approx([0.375, 0.375, 0.25], abs=0.08)
    assert {plan.group_id for plan in plans[:2]} == {"2.1.0"}
    assert not {p.id for p in tasks.plans(TRAIN, 1, 4, 2, "train", 1)} & {p.id for p in plans}


def test_evaluation_takes_all_arms_in_turn():
    tasks = Tasks(parse_config({"env": TWO}))
    plans = tasks.plans(EVAL, 0, 6, 1, "validation")
    assert [tasks.arm_of(plan) for plan in plans] == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("env", "error", "said"),
    [
        ({"id": "keydoor", "difficulty": 1, "difficulties": [2]}, ConfigError, "not both"),
        ({"id": "keydoor", "wieght": 1}, ConfigError, "unknown key env.wieght; did you mean"),
        ({"id": "keydoor", "options": {"sise": 1}}, RequestError, "takes no argument 'sise'"),
        ({"id": "keydoor", "options": {"max_turns": 1}}, ConfigError, "max_turns cannot be set"),
        ({"id": "keydoor", "difficulties": [2, 99]}, RequestError, "99"),
        ({"id": "keydoor", "verifier": {"id": "a", "parms": 1}}, ConfigError, "env.verifier.parms"),
        ([], ConfigError, "env"),
        ([{"id": "keydoor"}, {"id": "nim", "x": 1}], ConfigError, "unknown key env.1.x"),
    ],
)
def test_wrong_environments_are_refused_by_name(env, error, said):
    with pytest.raises(error) as caught:
        Tasks(parse_config({"env": env}))
    assert said in str(caught.value)


def test_step_rewards_reach_the_environments_that_pay_them():
    wanted = {"algorithm": {"name": "stepsearch", "options": {"gain": 0.25}}}
    paying = parse_config({"env": {"id": "search/lookup"}, **wanted})
    tasks = Tasks(paying)
    assert tasks.arms[0].kwargs == {"gain": 0.25, "redundancy": 0.05}
    assert check_step_rewards(tasks, paying) is None
    plain = parse_config({"env": {"id": "keydoor"}, **wanted})
    assert "learns from the plain reward" in check_step_rewards(Tasks(plain), plain)


def curriculum(name: str, k: int = 3, **options: object) -> Curriculum:
    section = CurriculumSection(name=name, **options)
    return Curriculum(section, [1.0] * k, 100)


@pytest.mark.parametrize("name", ["weights", "sec", "dump", "adcl", "success-band"])
def test_every_curriculum_gives_probabilities_and_resumes(name):
    first, second = curriculum(name), curriculum(name)
    for step in range(1, 30):
        p = first.probabilities(step)
        assert p.sum() == pytest.approx(1.0)
        assert (p >= 0.05 / 3 - 1e-12).all()
        second.load(first.state())
        assert second.probabilities(step).tolist() == p.tolist()
        first.observe([0, 1, 1], [0.0, 0.5, 0.7], [1.0, 0.5, 0.25])


def test_curricula_follow_what_was_learnt():
    sec = curriculum("sec", floor=0.0, tau=0.1)
    band = curriculum("success-band", floor=0.0)
    for one in (sec, band):
        one.observe([0, 1, 2], [0.0, 0.8, 0.0], [1.0, 0.5, 0.0])
    assert sec.probabilities(2).argmax() == 1
    assert band.probabilities(2).tolist() == [0.0, 1.0, 0.0]
    adcl = curriculum("adcl", k=4, floor=0.0, chunks=2)
    assert adcl.probabilities(1).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert adcl.probabilities(100).tolist() == [0.0, 0.0, 0.5, 0.5]


def plans_for(batch: int, groups: int = 2) -> list[Plan]:
    return [
        Plan(id=f"{batch}.{g}.{m}", env="e", seed=g, group_id=f"{batch}.{g}", key=(batch, g, m))
        for g in range(groups)
        for m in range(2)
    ]


def played(wins: dict[str, int]):
    """Give a player that wins the first so many episodes of each group."""

    def play(plans):
        out = []
        for n, plan in enumerate(plans):
            won = int(plan.id.rpartition(".")[2]) < wins.get(plan.group_id, 0)
            out.append(replace(episode(n, plan.group_id, [float(won)], "s"), id=plan.id))
        return out

    return play


def test_dynamic_sampling_replaces_groups_without_signal():
    section = SamplingSection(dynamic_batches=3)
    (plans, kept), everything = play_enough(plans_for, played({"0.0": 1, "1.1": 1}), section)
    assert [one.group_id for one in kept] == ["0.0", "0.0", "1.1", "1.1"]
    assert [plan.id for plan in plans] == [one.id for one in kept]
    assert [plan.id for plan in everything[0]] == [one.id for one in everything[1]]
    assert len(everything[1]) == 8
    (_, kept), everything = play_enough(plans_for, played({}), section)
    assert kept == []
    assert len(everything[1]) == 12


def test_a_curriculum_hears_of_groups_that_dynamic_sampling_dropped():
    """A group that is always solved has no signal, and is the one that a curriculum must hear of."""
    tasks = Tasks(parse_config({"env": TWO, "curriculum": {"name": "success-band", "floor": 0.0}}))
    plans = [plan for plan in tasks.plans(TRAIN, 1, 40, 1, "train") if tasks.arm_of(plan) == 0]
    episodes = [
        replace(episode(n, plan.group_id, [1.0], "s"), id=plan.id) for n, plan in enumerate(plans)
    ]
    tasks.observe(plans, episodes, {})
    first, *others = tasks.probabilities(2).values()
    assert first == 0.0
    assert all(p > 0.0 for p in others)


def test_the_steps_of_a_run_decide_what_adcl_draws():
    def of(name: str, steps: int) -> str:
        return identity(
            parse_config({"env": TWO, "curriculum": {"name": name}, "train": {"steps": steps}})
        )

    assert of("adcl", 10) != of("adcl", 20)
    assert of("sec", 10) == of("sec", 20)


def test_dars_adds_members_to_the_hard_groups():
    section = SamplingSection(dars="et", dars_max=6)
    (plans, kept), _ = play_enough(plans_for, played({"0.0": 2, "0.1": 0}), section)
    sizes = {name: sum(plan.group_id == name for plan in plans) for name in ("0.0", "0.1")}
    assert sizes["0.0"] == 2
    assert 2 < sizes["0.1"] <= 6
    assert len({plan.key for plan in plans}) == len(plans) == len(kept)


def test_short_right_answers_earn_more_within_their_group():
    found = relative_length([10, 20, 30, 10, 30, 5], [1, 1, 1, 0, 0, 1], ["a"] * 5 + ["b"])
    assert found.tolist() == [0.5, 0.0, -0.5, 0.0, -0.5, 0.0]


def test_shaped_rewards_stand_on_the_last_turn_and_leave_the_record_alone():
    episodes = [episode(0, "a", [0, 1], "st"), episode(1, "a", [0], "s")]
    section = RewardSection(
        relative_length=0.2, overlong={"max_length": 3, "cache": 2, "factor": 1.0}
    )
    before = [turn.reward for one in episodes for turn in one.turns]
    found = shape_rewards(episodes, section)
    assert found[0][0] == 0
    assert found[0][1] < 1
    assert before == [turn.reward for one in episodes for turn in one.turns]
    far = RewardSection(overlong={"max_length": 1, "cache": 1, "factor": 0.5})
    assert shape_rewards(episodes, far)[0] == [
        0,
        0.5,
    ]  # three tokens, yet the penalty ends at factor
    disco = shape_rewards(episodes, RewardSection(disco="log"))
    assert disco[0][1] == pytest.approx(np.log(2) / (0.5 + 1e-5))
