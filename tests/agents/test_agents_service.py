"""The loop with a real verifier service: the same play as in process, and outages in the middle."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("fastapi")

from verigym.agents.envpool import EnvPool
from verigym.agents.loop import FaultLimit, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.client import RemoteVerifier
from verigym.server.process import ServerProcess

SETTINGS = Settings(batching="cohorts", backoff_s=0.01, backoff_max_s=0.1, patience_s=120)


@pytest.fixture(scope="module")
def service():
    with ServerProcess(verifiers=["games"], workers=1) as server:
        yield server


def plans(**kwargs):
    return plan_groups("games/keydoor-v0", range(4), members=2, env_kwargs=kwargs)


def test_play_through_a_service_is_play_in_process(service, bare):
    here = play(plans(), OraclePolicy(), settings=SETTINGS)
    there = play(plans(verifier=service.url), OraclePolicy(), settings=SETTINGS)
    assert bare(here) == bare(there)
    assert all(e.success for e in there)


def test_environments_of_a_pool_share_one_client(service):
    with EnvPool() as pool:
        envs = [pool.acquire(plan) for plan in plans(verifier=service.url)]
        assert len({id(env.verifier) for env in envs}) == 1
        other = pool.acquire(plans()[0])
        assert other.verifier is not envs[0].verifier


@pytest.mark.slow
def test_a_service_killed_in_the_middle_is_waited_for(service, bare):
    verifier = RemoteVerifier(service.url, "games/keydoor", timeout_s=2.0)
    told, turns = [], []

    def kill_once(episode, turn):
        turns.append(turn)
        if len(turns) == 5:
            service.kill()

    def revive(detail):
        told.append(detail)
        if service.pid == 0:
            service.start()

    try:
        episodes = play(
            plans(verifier=verifier),
            OraclePolicy(),
            settings=SETTINGS,
            on_turn=kill_once,
            on_wait=revive,
        )
    finally:
        verifier.close()
    assert told
    assert sum(e.retries for e in episodes) > 0
    assert bare(episodes) == bare(play(plans(), OraclePolicy(), settings=SETTINGS))


@pytest.mark.slow
def test_a_service_that_stays_away_ends_the_play_with_its_name(service):
    verifier = RemoteVerifier(service.url, "games/keydoor", timeout_s=2.0)
    assert verifier.name  # known before the service goes, so that episodes start
    service.kill()
    try:
        with pytest.raises(FaultLimit, match="games/keydoor") as caught:
            play(
                plans(verifier=verifier), OraclePolicy(), settings=replace(SETTINGS, patience_s=0.2)
            )
    finally:
        verifier.close()
        service.start()
    # Mostly `unreachable`; on a busy machine an attempt may run into its time limit instead.
    assert sum(caught.value.causes.values()) == 8
    assert all(c.startswith(("verifier:infra:", "verifier:timeout:")) for c in caught.value.causes)
    for episode in caught.value.episodes:
        assert episode.turns  # what was played is there
        assert all(t.verdict is None for t in episode.turns)
