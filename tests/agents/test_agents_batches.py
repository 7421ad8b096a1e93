"""Moves of many episodes that a service judges in one request, with the same play as one by one."""

from __future__ import annotations

import threading
import urllib.request
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("fastapi")

from verigym import Draft, Env, Task, Transition, Verifier, make_verifier
from verigym.agents import submission_queue
from verigym.agents.envpool import EnvPool
from verigym.agents.loop import Ledger, Plan, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.submission_queue import SubmissionQueue
from verigym.client import RemoteVerifier
from verigym.judge import Judge
from verigym.server.process import ServerProcess
from verigym.verdict import scored

SETTINGS = Settings(batching="cohorts", n_cohorts=1, backoff_s=0.01, backoff_max_s=0.1)


class Alone(RemoteVerifier):
    """Asked by each step for itself."""

    prefers_batches = False


class Told(Env[str]):
    """One step, which the verifier `unruly/obeys` judges as the task's prompt says."""

    id = "verigym/tests/told-v0"
    verifier_id = "unruly/obeys"
    difficulties = ("easy", "medium", "hard")
    orders: tuple[str, ...] = ("print",)
    at = ""

    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        raise NotImplementedError

    def _draw(self, rng: object, seed: int, difficulty: str, split: str) -> Task:
        order = self.orders[seed % len(self.orders)]
        return Task(
            id=str(seed),
            env_id=self.id,
            seed=seed,
            prompt=f"{order} {seed}",
            difficulty=difficulty,
            split=split,
            tags=(),
            reference=1,
        )

    def initial(self, task: Task) -> str:
        return task.prompt

    def observe(self, state: str) -> str:
        return ""

    def transition(self, state: str, action: str) -> Transition[str]:
        submission = {"do": state.split()[0], "at": self.at, "said": action}
        return Transition(state="over", terminated=True, submission=submission)

    def solve(self, state: str) -> str:
        return "as told"

    def turns_allowed(self, task: Task) -> int:
        return 1

    def key(self, state: str) -> str:
        return state


@pytest.fixture(scope="module")
def service(plugin_folder):
    with ServerProcess(
        verifiers=["math", "games", "unruly/obeys"],
        workers=2,
        env={"PYTHONPATH": str(plugin_folder)},
    ) as server:
        yield server


@pytest.fixture
def requests(service):
    """Return a function that counts the requests to judge since its last call."""
    seen = [0]

    def read(name: str, label: str = "") -> int:
        with urllib.request.urlopen(f"{service.url}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        found = [line for line in lines if line.startswith(name) and label in line]
        return sum(int(float(line.rpartition(" ")[2])) for line in found)

    def count() -> int:
        while read("verigym_http_requests_under_way") > 1:  # one is counted when it has ended
            pass
        total = read("verigym_http_requests_total", 'route="/v1/verify')
        new, seen[0] = total - seen[0], total
        return new

    count()
    return count


@pytest.fixture
def patient(monkeypatch):
    """Company is waited for however long it takes, so that requests can be counted."""
    monkeypatch.setattr(submission_queue, "LINGER_S", 60.0)


@pytest.mark.parametrize("batching", ["cohorts", "ready"])
@pytest.mark.parametrize(
    ("env", "verifier", "policy"),
    [
        ("math/arithmetic", "math/answer", OraclePolicy()),
        ("math/arithmetic", "math/answer", RandomPolicy()),
        ("games/wordle", "games/replay", RandomPolicy()),
    ],
    ids=["right", "junk", "many turns"],
)
def test_the_play_is_the_same_as_one_by_one_and_in_process(
    service, env, verifier, policy, batching, bare
):
    settings = replace(SETTINGS, batching=batching, n_cohorts=2, env_workers=6)
    alone = Alone(service.url, verifier)
    played = []
    try:
        for kwargs in ({"verifier": service.url}, {"verifier": alone}, {}):
            plans = plan_groups(env, range(12), members=2, env_kwargs=kwargs)
            played.append(bare(play(plans, policy, settings=settings)))
    finally:
        alone.close()
    assert played[0] == played[1] == played[2]
    assert all(e.verdict is not None for e in played[0])


@pytest.mark.parametrize(("workers", "expected"), [(64, 1), (16, 4), (1, 64)])
def test_what_is_ready_at_the_same_time_is_one_request(
    service, requests, patient, workers, expected
):
    plans = plan_groups("math/arithmetic", range(64), env_kwargs={"verifier": service.url})
    settings = replace(SETTINGS, env_workers=workers)
    assert all(e.success for e in play(plans, OraclePolicy(), settings=settings))
    assert requests() == expected


def test_steps_that_ask_for_nothing_are_not_waited_for(service, requests, patient):
    """Games of several lengths end at different turns; each turn's verdicts are one request."""
    plans = plan_groups("games/keydoor", range(12), env_kwargs={"verifier": service.url})
    episodes = play(plans, OraclePolicy(), settings=SETTINGS)
    judged = {n for e in episodes for n, turn in enumerate(e.turns) if turn.verdict is not None}
    assert requests() == len(judged) < 12


def test_worlds_of_one_verifier_share_requests(service, requests, patient):
    plans = [
        Plan(
            id=difficulty,
            env="math/arithmetic",
            seed=1,
            difficulty=difficulty,
            env_kwargs={"verifier": service.url},
        )
        for difficulty in ("easy", "medium", "hard")
    ]
    assert all(e.success for e in play(plans, OraclePolicy(), settings=SETTINGS))
    assert requests() == 1


def test_who_shares_a_verifier(service):
    def plan(env, **kwargs):
        return Plan(id="0", env=env, seed=1, env_kwargs=kwargs)

    mine = RemoteVerifier(service.url, "math/answer", timeout_s=5.0)
    alone = Alone(service.url, "math/answer")
    with EnvPool() as pool:
        asked = [pool.acquire(plan("math/arithmetic", verifier=service.url)) for _ in range(2)]
        assert asked[0].verifier is asked[1].verifier
        assert asked[0].verifier.name == mine.name
        assert asked[0].made_with == {"verifier": service.url}
        keydoor = pool.acquire(plan("games/keydoor", verifier=service.url))
        assert keydoor.verifier is not asked[0].verifier
        # A caller's own has a time limit, a key and an end of its own.
        assert pool.acquire(plan("math/arithmetic", verifier=mine)).verifier is mine
        assert pool.acquire(plan("math/arithmetic", verifier=alone)).verifier is alone
        assert isinstance(pool.acquire(plan("math/arithmetic")).verifier, Verifier)
    mine.close()
    alone.close()


def test_a_fault_is_that_of_its_own_step(service, requests, patient):
    made = type("Some", (Told,), {"orders": ("print", "raise", "print", "sandbox")})
    plans = plan_groups(made, range(8), env_kwargs={"verifier": service.url})
    settings = replace(SETTINGS, patience_s=0.0, fault_limit=1.0)
    episodes = play(plans, OraclePolicy(), settings=settings)
    causes = [e.fault and e.fault.cause for e in episodes]
    crashed, infra = "verifier:verifier_error:crashed", "verifier:infra:sandbox_error"
    assert causes == [None, crashed, None, infra] * 2
    assert [e.success for e in episodes] == [True, False] * 4
    assert all(not e.turns for e in episodes if e.fault)
    assert requests() == 1


def test_a_fault_is_repeated_as_often_as_alone(service, bare):
    made = type("Some", (Told,), {"orders": ("raise", "print")})
    alone = Alone(service.url, "unruly/obeys")
    settings = replace(SETTINGS, error_retries=2, fault_limit=1.0, patience_s=600.0)
    played = [
        play(
            plan_groups(made, range(6), env_kwargs={"verifier": verifier}),
            OraclePolicy(),
            settings=settings,
        )
        for verifier in (service.url, alone)
    ]
    alone.close()
    assert [e.retries for e in played[0]] == [e.retries for e in played[1]] == [2, 0] * 3
    assert bare(played[0]) == bare(played[1])


@pytest.mark.slow  # tests of the client kill one, too
def test_a_service_killed_while_it_judges_is_waited_for(service, tmp_path):
    """A slow verdict holds up nobody else's, and what it leaves open is asked for again."""
    at = tmp_path / "asked"
    made = type(
        "Some", (Told,), {"orders": ("hang_once", *("print",) * 15), "at": str(at), "closed": 0}
    )
    verifier = RemoteVerifier(service.url, "unruly/obeys", timeout_s=20.0)
    ended, before = [], []

    def kill_once(detail):
        if at.exists() and not before:
            before.append(list(ended))
            service.kill()
            service.start()

    try:
        episodes = play(
            plan_groups(made, range(16), env_kwargs={"verifier": verifier}),
            OraclePolicy(),
            settings=replace(SETTINGS, patience_s=300.0),
            on_wait=kill_once,
            on_episode=lambda episode: ended.append(episode.seed),
        )
    finally:
        verifier.close()
    assert all(e.success for e in episodes)
    assert 0 not in before[0]
    assert len(before[0]) >= 12  # at most its parcel, a quarter of them, waited behind it


def test_what_is_refused_at_once_is_asked_for_in_halves(service, requests, patient):
    """All four are more than a body may hold, 8 MiB; two are not."""
    made = type("Some", (Told,), {"at": "x" * (3 << 20)})
    plans = plan_groups(made, range(4), env_kwargs={"verifier": service.url})
    assert all(e.success for e in play(plans, OraclePolicy(), settings=SETTINGS))
    assert requests() == 1 + 2


def test_a_step_that_hangs_holds_up_no_verdict(service, gate):
    def transition(self, state, action):
        if self.task.seed == 0:
            gate.pass_through()
        return Told.transition(self, state, action)

    made = type("Some", (Told,), {"transition": transition})
    ended = []

    def note(episode):
        ended.append(episode.seed)
        if len(ended) == 7:
            gate.open.set()

    episodes = play(
        plan_groups(made, range(8), env_kwargs={"verifier": service.url}),
        OraclePolicy(),
        settings=SETTINGS,
        on_episode=note,
    )
    assert ended[-1] == 0
    assert all(e.success for e in episodes)


def test_an_interrupted_play_leaves_no_thread_and_its_environments(service):
    def interrupt(*_):
        raise KeyboardInterrupt

    with EnvPool() as pool:
        plans = plan_groups(Told, range(8), env_kwargs={"verifier": service.url})
        with pytest.raises(KeyboardInterrupt):
            play(
                plans,
                OraclePolicy(),
                settings=replace(SETTINGS, env_workers=2),
                envs=pool,
                on_turn=interrupt,
            )
        names = {thread.name for thread in threading.enumerate()}
        assert not names & {"verigym-env", "verigym-ask"}
        # A move that was proposed and not judged has changed nothing.
        assert all(e.success for e in play(plans, OraclePolicy(), envs=pool))


@pytest.mark.parametrize(
    ("unsent", "joining", "asked", "limit", "sent", "waits"),
    [
        (3, 0, 0, 8, 3, False),  # nobody else could join
        (3, 1, 0, 8, 0, True),
        (8, 5, 0, 8, 8, False),  # as many as may be asked about at once
        (9, 0, 0, 8, 8, False),
        (3, 0, 2, 8, 0, True),  # those that are judged may soon be followed by another
        (3, 0, 8, 8, 0, False),  # no room, however long it waits
        (0, 4, 0, 8, 0, False),
    ],
)
def test_when_a_batch_is_sent(unsent, joining, asked, limit, sent, waits):
    queue = SubmissionQueue(
        judge=make_verifier("math/answer"),
        unsent=[(f"unsent {n}", n) for n in range(unsent)],
        joining={f"joining {n}" for n in range(joining)},
        asked={f"asked {n}" for n in range(asked)},
    )
    assert len(queue.take(limit, 10.0)) == sent
    assert (queue.due == 10.0 + submission_queue.LINGER_S) is waits
    assert len(queue.unsent) == unsent - sent
    assert len(queue.asked) == asked + sent
    later = queue.take(limit, 11.0)
    assert len(later) == (min(unsent, limit - asked) if waits else min(unsent - sent, 0))


class Held(Judge):
    """A judge of batches that hangs after its first verdict."""

    id, version, params = "unruly/obeys", 1, {}
    prefers_batches = True

    def __init__(self, gate):
        self.gate = gate

    def verify_batch(self, items):
        raise NotImplementedError

    def verify_each(self, items):
        yield 0, scored(1.0, "first")
        self.gate.pass_through()


@pytest.mark.slow
def test_a_judge_over_its_deadline_is_a_fault_of_those_without_a_verdict(gate):
    plans = plan_groups(Told, range(3), env_kwargs={"verifier": Held(gate)})
    settings = replace(SETTINGS, step_deadline_s=2.0, fault_limit=1.0)
    ledger = Ledger()
    with EnvPool() as pool:
        episodes = play(plans, OraclePolicy(), settings=settings, ledger=ledger, envs=pool)
        causes = [e.fault and e.fault.cause for e in episodes]
        # Which of the three moves was proposed first is up to the threads.
        assert sorted(causes, key=str) == [None, "env_timeout", "env_timeout"]
        assert ledger.abandoned_threads == 1
        # Nothing has moved in their environments, so they are used again.
        assert sum(map(len, pool._idle.values())) == 3
