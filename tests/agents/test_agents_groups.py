"""Rewards from a group verifier: the episodes of a group share one judgement; verdicts stay their own."""

import pytest

import verigym
from verigym import RequestError, Verifier, fault, make_group_verifier
from verigym.agents.groups import reward_groups
from verigym.agents.plan import FaultLimit
from verigym.episode import Episode, Turn
from verigym.trainers.config import EnvSection
from verigym.trainers.groups import make_group
from verigym.trainers.sections import GroupSection

ENV = "verigym/math/arithmetic-v0"


def played(group, replies, seed=1, env_id=ENV):
    """One-turn episodes on one task."""
    env = verigym.make(env_id)
    episodes = []
    for number, reply in enumerate(replies):
        observation, info = env.reset(seed=seed)
        key = info["state_key"]
        _, reward, _, _, told = env.step(reply)
        turn = Turn(
            observation=observation,
            response=reply,
            action=reply,
            reward=float(reward),
            state_key=key,
            verdict=told["verdict"],
        )
        episodes.append(
            Episode(
                id=f"{group}.{number}",
                env_id=env_id,
                task_id=info["task_id"],
                seed=seed,
                group_id=group,
                difficulty=env.difficulty,
                split=env.split,
                turns=[turn],
            )
        )
    env.close()
    return episodes


@pytest.fixture
def majority():
    return make_group(GroupSection(verifier="group/majority"), EnvSection(id=ENV))


def test_each_group_is_rewarded_by_its_own_majority(majority):
    wrong = ["<answer>123457</answer>", "The answer is 123457.", "<answer>5</answer>"]
    episodes = [*played("a", wrong), *played("b", ["<answer>5</answer>"] * 2, seed=2)]
    reward_groups(episodes, majority)
    assert [episode.return_ for episode in episodes] == [1, 1, 0, 1, 1]
    assert not any(episode.success for episode in episodes)  # agreement is not truth


def test_faulted_and_lonely_episodes_are_left_alone(majority):
    episodes = played("a", ["<answer>5</answer>"] * 2)
    episodes[0].status, episodes[0].fault = "fault", verigym.Fault(cause="x", detail="y")
    reward_groups(episodes, majority)
    assert [episode.return_ for episode in episodes] == [0, 0]


def test_a_judge_that_is_down_makes_faults_and_never_zeros():
    class Down(Verifier):
        id = "tests/down"
        version = 1

        def judge(self, task, submission):
            return fault(verigym.Status.INFRA, "down", "by order")

    episodes = played("a", ["<answer>5</answer>"] * 2)
    reward_groups(episodes, make_group_verifier("group/majority", Down()))
    assert [(e.status, e.fault.cause) for e in episodes] == [("fault", "down")] * 2
    with pytest.raises(FaultLimit, match="2 of 2 episodes faulted"):
        reward_groups(episodes, make_group_verifier("group/majority", Down()), fault_limit=0.5)


def test_the_configuration_names_the_group_verifier(majority):
    env = EnvSection(id=ENV)
    assert make_group(GroupSection(), env) is None
    assert (majority.id, majority.of.id) == ("group/majority", "math/answer")
    best = GroupSection(verifier="group/best", of="text/length", params={"pay": "rank"})
    assert make_group(best, env).settings.pay == "rank"
    remote = make_group(best, EnvSection(id=ENV, verifier="http://127.0.0.1:9"))
    assert (remote.of.id, remote.of.client.url) == ("text/length", "http://127.0.0.1:9")
    for wrong in (
        GroupSection(verifier="group/majorty"),
        GroupSection(verifier="group/best", of="x"),
    ):
        with pytest.raises(RequestError, match=r"did you mean|known:"):
            make_group(wrong, env)
