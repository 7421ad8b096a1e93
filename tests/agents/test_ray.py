"""Environments in Ray actors, on a cluster of two nodes on this machine: the same episodes, whatever is lost.

Ray lies outside the ordinary environment: `make test-ray`.
"""

from __future__ import annotations

import os
import threading
import time

import pytest

from tests.agents.ray_nodes import HAS_RAY, cluster, needs_ray, replace_second
from verigym.agents.envpool import EnvLost
from verigym.agents.loop import Ledger, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.ray_host import RayHost
from verigym.errors import MissingError, RequestError
from verigym.verdict import Status, fault, scored
from verigym.verifier import Verifier

__all__ = ["cluster"]  # a fixture


def waiting(counter, wait_s):
    """A counter that waits at each step. Built in here, so that Ray pickles it by value."""

    def transition(self, state, action):
        time.sleep(wait_s)
        return super(made, self).transition(state, action)

    made = counter(transition=transition)
    return made


def make_pool(**options):
    from verigym.agents.ray_envs import RayEnvPool

    return RayEnvPool(**{"timeout_s": 60.0, **options})


def test_a_host_gives_what_an_environment_in_process_gives(counter, make_verifier):
    """The host is plain Python; Ray only carries its calls."""
    host = RayHost()
    made = host.make(counter(), {"verifier": make_verifier()})
    local = counter()(verifier=make_verifier())
    shown = host.reset(made.number, 5, {})
    assert (shown.observation, shown.info) == local.reset(seed=5)
    assert (shown.task, shown.view, made.id) == (local.task, local.view(), local.id)
    done = False
    while not done:
        action = local.oracle()
        assert host.ask(made.number, "oracle") == action
        found, _ = host.step(made.number, action)
        expected = local.step(action)
        assert found == expected
        done = expected[2] or expected[3]
    host.close(made.number)
    host.close(made.number)


def test_an_error_that_cannot_travel_is_raised_as_its_text(counter, make_verifier):
    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(one)

    def transition(self, state, action):
        raise Odd("broken", 2)

    host = RayHost()
    made = host.make(counter(transition=transition), {"verifier": make_verifier()})
    host.reset(made.number, 5, {})
    with pytest.raises(RuntimeError, match="Odd: broken"):
        host.step(made.number, "up")


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_a_missing_ray_is_named_with_its_extra():
    with pytest.raises(MissingError, match=r"verigym\[ray\]"):
        make_pool()


@needs_ray
def test_impossible_options_are_refused():
    with pytest.raises(RequestError, match="actors must be above 0"):
        make_pool(actors=0)


@needs_ray
@pytest.mark.slow
def test_episodes_are_those_of_environments_in_process(cluster, bare, counter, make_verifier):
    from verigym.verdict import VerifierFault

    settings = Settings(env_workers=8, backoff_s=0.01)
    with make_pool() as envs:
        for policy in (OraclePolicy(), RandomPolicy()):
            plans = plan_groups("keydoor", range(6), members=2, difficulty="tiny")
            assert bare(play(plans, policy, settings=settings, envs=envs)) == bare(
                play(plans, policy, settings=settings)
            )
        kwargs = {"verifier": make_verifier([fault(Status.INFRA, "away", "x")])}
        plans = plan_groups(counter(), [3], env_kwargs=kwargs)
        (episode,) = play(plans, OraclePolicy(), settings=settings, envs=envs)
        assert (episode.success, episode.retries) == (True, 1)
        with pytest.raises(RequestError, match="unknown environment"):
            play(plan_groups("nothing/here", [1]), OraclePolicy(), envs=envs)
        assert issubclass(VerifierFault, Exception)


@needs_ray
@pytest.mark.slow
def test_a_node_that_is_removed_costs_only_its_running_episodes(
    cluster, bare, counter, make_verifier
):
    env = waiting(counter, 0.02)
    plans = plan_groups(env, range(24), env_kwargs={"verifier": make_verifier()})
    expected = play(
        plan_groups(counter(), range(24), env_kwargs={"verifier": make_verifier()}), OraclePolicy()
    )
    ended, lost_after = [], []
    ledger = Ledger()
    with make_pool(slots=4) as envs:
        assert envs.wait_for_actors(240) == 2

        def remove_once(*_):
            if len(ended) == 6 and not lost_after:
                lost_after.append(len(ended))
                cluster.remove_node(cluster.second)

        episodes = play(
            plans,
            OraclePolicy(),
            settings=Settings(env_workers=8, max_live=8, backoff_s=0.01),
            envs=envs,
            on_turn=remove_once,
            on_episode=ended.append,
            ledger=ledger,
        )
        assert lost_after == [6]
        assert bare(episodes) == bare(expected)
        again = [e for e in episodes if e.retries]
        assert 0 < len(again) <= 8
        assert len({e.id for e in ended}) == len(ended) == 24
        # A new node takes an actor in place of the lost one.
        replace_second(cluster)
        assert envs.wait_for_actors(240) == 2


@needs_ray
@pytest.mark.slow
def test_a_step_that_hangs_costs_its_actor_and_no_other_episode(cluster, counter, make_verifier):
    """The hung episode is a fault; the others of its actor are played again."""

    def transition(self, state, action):
        if self.task.seed == 3:
            time.sleep(3600)
        return super(made, self).transition(state, action)

    made = counter(transition=transition)
    plans = plan_groups(made, range(6), env_kwargs={"verifier": make_verifier()})
    settings = Settings(env_workers=6, backoff_s=0.01, fault_limit=1.0)
    with make_pool(timeout_s=5.0) as envs:
        episodes = play(plans, OraclePolicy(), settings=settings, envs=envs)
    assert [e.seed for e in episodes if e.fault] == [3]
    assert episodes[3].fault.cause == "env_error:TimeoutError"
    assert all(e.success for e in episodes if e.seed != 3)


def slow_verifier(folder, wait_s, hangs_at=None):
    """Counters' verifier, which waits; `folder` gets a file for each submission that it takes up."""

    class Slow(Verifier):
        id = "tests/counter"
        version = 1

        def judge(self, task, submission):
            (folder / f"{task.seed}-{os.getpid()}").touch()
            time.sleep(3600 if task.seed == hangs_at else wait_s)
            right = submission == task.reference
            return scored(float(right), "correct" if right else "wrong_value")

    return Slow()


@needs_ray
@pytest.mark.slow
def test_verdicts_of_actors_are_those_of_this_process(cluster, bare, tmp_path, counter):
    from verigym.agents.ray_judges import RayJudge, RayVerifierPool

    settings = Settings(env_workers=8, backoff_s=0.01)
    with RayVerifierPool(timeout_s=60.0) as envs:
        assert envs.actors.wait_for_all(240) == 2
        for policy in (OraclePolicy(), RandomPolicy()):
            plans = plan_groups("keydoor", range(6), members=2, difficulty="tiny")
            played = play(plans, policy, settings=settings, envs=envs)
            assert bare(played) == bare(play(plans, policy, settings=settings))
        own = slow_verifier(tmp_path, 0.0)
        plans = plan_groups(counter(), range(6), env_kwargs={"verifier": own})
        assert all(e.success for e in play(plans, OraclePolicy(), settings=settings, envs=envs))
        judges = [envs.acquire(plan).verifier for plan in plans[:2]]
        assert judges[0] is judges[1]
        assert isinstance(judges[0], RayJudge)
    pids = {path.name.partition("-")[2] for path in tmp_path.iterdir()}
    assert len(pids) == 2
    assert str(os.getpid()) not in pids


@needs_ray
@pytest.mark.slow
def test_a_node_that_is_removed_costs_no_verdict(cluster, tmp_path, counter):
    """Submissions under judgement are judged again on the other; no episode notices."""
    from verigym.agents.ray_judges import RayVerifierPool

    plans = plan_groups(counter(), range(12), env_kwargs={"verifier": slow_verifier(tmp_path, 1.0)})
    settings = Settings(env_workers=12, backoff_s=0.01)
    ledger = Ledger()
    with RayVerifierPool(slots=4, timeout_s=60.0) as envs:
        assert envs.actors.wait_for_all(240) == 2

        def remove():
            while len({path.name.partition("-")[2] for path in tmp_path.iterdir()}) < 2:
                time.sleep(0.01)  # until both actors judge
            cluster.remove_node(cluster.second)

        thread = threading.Thread(target=remove)
        thread.start()
        episodes = play(plans, OraclePolicy(), settings=settings, envs=envs, ledger=ledger)
        thread.join()
        assert all(e.success and e.retries == 0 for e in episodes)
        assert ledger.verifier_retries == 0
        asked = [int(path.name.partition("-")[0]) for path in tmp_path.iterdir()]
        assert len(set(asked)) == 12 < len(asked)
        replace_second(cluster)
        assert envs.actors.wait_for_all(240) == 2


@needs_ray
@pytest.mark.slow
def test_a_verifier_that_hangs_is_a_fault_of_its_own_submission(cluster, tmp_path, counter):
    from verigym.agents.ray_judges import RayVerifierPool

    verifier = slow_verifier(tmp_path, 0.1, hangs_at=3)
    plans = plan_groups(counter(), range(6), env_kwargs={"verifier": verifier})
    settings = Settings(env_workers=6, patience_s=0.0, backoff_s=0.01, fault_limit=1.0)
    with RayVerifierPool(timeout_s=5.0) as envs:
        envs.actors.wait_for_all(240)
        episodes = play(plans, OraclePolicy(), settings=settings, envs=envs)
    assert [e.fault.cause if e.fault else None for e in episodes] == [
        *[None] * 3,
        "verifier:timeout:deadline",
        *[None] * 2,
    ]
    assert all(e.success for e in episodes if e.seed != 3)


@needs_ray
def test_the_loss_of_everything_is_a_fault_and_no_score(counter, make_verifier):
    from verigym.agents.envpool import EnvPool

    class Gone(EnvPool):
        def acquire(self, plan):
            raise EnvLost("all gone")

    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": make_verifier()})
    settings = Settings(patience_s=0.1, backoff_s=0.01, fault_limit=1.0)
    episodes = play(plans, OraclePolicy(), settings=settings, envs=Gone())
    assert [e.fault.cause for e in episodes] == ["env_lost"] * 3
    assert all(e.verdict is None for e in episodes)
