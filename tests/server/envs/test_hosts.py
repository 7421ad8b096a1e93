"""Hosts that die, hang or are slow: other sessions are not affected, and no action is applied
twice."""

import asyncio
import json
import os
import select
import signal
import socket
import time
from types import SimpleNamespace

import httpx2
import pytest
from websockets.sync.client import connect

from verigym.server.envs import hosts
from verigym.server.envs.host import work
from verigym.server.envs.loans import Loan
from verigym.server.envs.messages import MEMORY_BYTES, Done, StepSession, decode_messages, encode
from verigym.server.process import ServerProcess

WAIT_S = 60


async def gone(pid):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        while not select.select([fd], [], [], 0)[0]:
            await asyncio.sleep(0.01)
    finally:
        os.close(fd)


def plain(answer):
    return {**answer.json(), "session": ""}


def test_what_comes_together_is_sent_as_one_and_what_comes_alone_at_once(monkeypatch):
    sent = []

    class Wire:
        pid = 1
        set_deadline = clear_deadline = staticmethod(lambda *_: None)

        def __init__(self, *_, on_reply, **__):
            self.on_reply = on_reply

        def send(self, body):
            sent.append([message.request for message in decode_messages(body)])

    def write(number, host):
        return StepSession(number, 1, "a")

    async def main():
        host = hosts.Host(SimpleNamespace(spawner=None, timeout_s=9.0), None, bytearray(8), None)

        async def turn(*numbers):
            for number in numbers:
                host.send(hosts.Pending(number, write, lambda answer: None))
            at_once = sent.copy()
            await asyncio.sleep(0)
            frames = sent.copy()
            sent.clear()
            host._worker.on_reply(encode([Done(number, b"{}") for number in numbers]))
            return at_once, frames

        return [await turn(*numbers) for numbers in ([1], [2, 3, 4], [5, 6, 7], [8], [9])]

    monkeypatch.setattr(hosts, "Worker", Wire)
    assert asyncio.run(main()) == [
        ([[1]], [[1]]),
        ([[2]], [[2], [3, 4]]),
        ([], [[5, 6, 7]]),
        ([], [[8]]),
        ([[9]], [[9]]),
    ]


def test_a_loan_to_a_host_that_is_dead_ends_after_it_has_begun(monkeypatch):
    told = []

    class Wire:
        pid = 1
        set_deadline = clear_deadline = kill = staticmethod(lambda *_: None)

        def __init__(self, *_, on_lost, **__):
            self.on_lost = on_lost

        def send(self, body):
            self.on_lost(OSError("dead"))

    class Connection:
        def lend(self, recall):
            return theirs.fileno()

    def replace(host, *, is_blamed):
        host.end_loans()

    async def main():
        pool = SimpleNamespace(spawner=None, timeout_s=9.0, longest_message=9, replace=replace)
        host = hosts.Host(pool, None, bytearray(MEMORY_BYTES), ours)
        loan = Loan(1, Connection(), None, None, lambda phase, is_late: told.append("lost"))
        assert host.lend(loan)
        told.append("begun")
        await asyncio.sleep(0)

    monkeypatch.setattr(hosts, "Worker", Wire)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        asyncio.run(main())
    assert told == ["begun", "lost"]


def test_sessions_survive_the_death_of_their_host(stage):
    actions = ["a", "b", "", "c", "d", "end"]

    async def main(app, http):
        sids = [(await stage.begin(http, seed=i))["session"] for i in range(6)]
        twins = [(await stage.begin(http, seed=i))["session"] for i in range(6)]
        for sid in sids:
            body = {"seq": 1, "options": {"difficulty": "two"}}
            await http.post(f"/v1/sessions/{sid}/reset", json=body)
        for twin in twins:
            body = {"seq": 1, "options": {"difficulty": "two"}}
            await http.post(f"/v1/sessions/{twin}/reset", json=body)
        wanted = [
            [plain(await stage.step(http, twin, i, action)) for twin in twins]
            for i, action in enumerate(actions, 2)
        ]
        got = []
        for i, action in enumerate(actions, 2):
            for pid in app.state.sessions.hosts.pids:
                os.kill(pid, signal.SIGKILL)
            steps = [stage.step(http, sid, i, action) for sid in sids]
            got.append([plain(answer) for answer in await asyncio.gather(*steps)])
        return wanted, got

    wanted, got = stage.play(main, env_workers=2)
    assert got == wanted


@pytest.mark.slow
def test_a_session_goes_on_as_gymnasium_would_after_a_death(stage):
    async def main(app, http):
        sid = (await stage.begin(http, seed=3))["session"]
        task_ids = []
        for i in range(1, 4):
            (pid,) = app.state.sessions.hosts.pids
            os.kill(pid, signal.SIGKILL)
            await gone(pid)
            answer = await http.post(f"/v1/sessions/{sid}/reset", json={"seq": i})
            task_ids.append(answer.json()["info"]["task_id"])
            while not app.state.sessions.hosts.pids:
                await asyncio.sleep(0.01)
        return task_ids

    import verigym

    env = verigym.make("stage/obeys-v0")
    env.reset(seed=3)
    assert stage.play(main) == [env.reset()[1]["task_id"] for _ in range(3)]


@pytest.mark.parametrize("action", ["sleep 60", "freeze"])
def test_a_hung_step_is_killed_at_its_deadline_and_no_other_session_notices(stage, action):
    async def main(app, http):
        bad = (await stage.begin(http))["session"]
        good = [(await stage.begin(http, seed=i))["session"] for i in range(4)]
        for sid in good:
            await stage.step(http, sid, 1, "a")
        (host,) = app.state.sessions.hosts.pids
        hung = asyncio.create_task(stage.step(http, bad, 1, action))
        slow = asyncio.create_task(stage.step(http, good[0], 2, "sleep 0.1"))
        quick = [await stage.step(http, sid, 2, "b") for sid in good[1:]]
        fault = await hung
        await gone(host)
        after = [await stage.step(http, sid, 3, "c") for sid in good]
        again = await stage.step(http, bad, 1, "a")
        return fault, await slow, quick, after, again

    fault, slow, quick, after, again = stage.play(main, timeout_s=1.5)
    assert fault.status_code == 200
    assert fault.json()["fault"] == {"status": "timeout", "reason": "deadline", "digest": ""}
    assert slow.json()["observation"] == "2 sleep 0.1"
    assert [answer.json()["observation"] for answer in quick] == ["2 b"] * 3
    assert [answer.json()["observation"] for answer in after] == ["3 c"] * 4
    assert again.json()["observation"] == "1 a"


@pytest.mark.slow
def test_slow_steps_do_not_hold_up_the_rest(stage):
    async def main(app, http):
        slow = [(await stage.begin(http))["session"] for _ in range(6)]
        quick = (await stage.begin(http))["session"]
        waits = [asyncio.create_task(stage.step(http, sid, 1, "sleep 1.5")) for sid in slow]
        answers = [await stage.step(http, quick, i, "a") for i in range(1, 21)]
        waiting = sum(not task.done() for task in waits)
        return answers, waiting, [(await task).json()["observation"] for task in waits]

    answers, waiting, slow = stage.play(main)
    assert all(answer.json()["reward"] == 0 for answer in answers)
    assert waiting == 6
    assert slow == ["1 sleep 1.5"] * 6


@pytest.mark.slow
def test_more_slow_steps_than_threads_are_all_played(stage):
    async def main(app, http):
        sids = [(await stage.begin(http))["session"] for _ in range(20)]
        return await asyncio.gather(*(stage.step(http, sid, 1, "sleep 0.1") for sid in sids))

    assert {answer.json()["observation"] for answer in stage.play(main)} == {"1 sleep 0.1"}


def test_a_step_that_ends_its_host_is_a_fault_in_the_end(stage):
    async def main(app, http):
        bad, good = [(await stage.begin(http))["session"] for _ in range(2)]
        fault = await stage.step(http, bad, 1, "exit")
        return fault, await stage.step(http, bad, 1, "a"), await stage.step(http, good, 1, "a")

    fault, bad, good = stage.play(main)
    assert fault.json()["fault"]["status"] == "infra"
    assert fault.json()["fault"]["reason"] == "worker_died"
    assert bad.json()["observation"] == good.json()["observation"] == "1 a"


@pytest.mark.slow
def test_an_environment_that_breaks_law_two_loses_its_session(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        await stage.step(http, sid, 1, "random")
        os.kill(app.state.sessions.hosts.pids[0], signal.SIGKILL)
        return await stage.step(http, sid, 2, "a"), await stage.step(http, sid, 2, "a")

    lost, after = stage.play(main)
    assert (lost.status_code, lost.json()["error"]["code"]) == (409, "session_lost")
    assert after.status_code == 404


@pytest.mark.slow
def test_the_fork_server_may_die_too(stage):
    async def main(app, http):
        sid = (await stage.begin(http))["session"]
        hosts = app.state.sessions.hosts
        pids = hosts.pids
        os.kill(hosts.spawner.server.pid, signal.SIGKILL)
        for pid in pids:
            await gone(pid)
        return await stage.step(http, sid, 1, "a")

    assert stage.play(main).json()["observation"] == "1 a"


def test_hosts_end_with_the_application(stage):
    async def main():
        async with stage.running() as (app, http):
            hosts = app.state.sessions.hosts
            sid = (await stage.begin(http))["session"]
            step = asyncio.create_task(stage.step(http, sid, 1, "sleep 60"))
            while not hosts.under_way:
                await asyncio.sleep(0)
            pids = hosts.pids
        for pid in pids:
            await gone(pid)
        return await step

    assert asyncio.run(main()).json()["fault"]["status"] == "cancelled"


def test_a_host_whose_service_has_gone_before_it_began_just_ends():
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        work(theirs)


def test_sigterm_lets_steps_finish_and_begins_no_others(stage_folder):
    with ServerProcess(
        verifiers=["none"],
        envs=["stage"],
        workers=1,
        env={"PYTHONPATH": str(stage_folder)},
        options=["--env-workers", "1"],
    ) as server:
        url = server.url.replace("http", "ws") + "/v1/ws"
        with connect(url, open_timeout=WAIT_S, proxy=None) as ws:

            def say(**frame):
                ws.send(json.dumps(frame))

            def hear():
                return json.loads(ws.recv(WAIT_S))

            say(op="create", env="stage/obeys-v0", count=2)
            one, other = [session["session"] for session in hear()["ok"]["sessions"]]
            say(id=1, op="step", session=one, seq=1, action="sleep 1")
            say(id=2, op="state", session=one)
            assert hear()["ok"]["busy"] is True
            os.kill(server.pid, signal.SIGTERM)
            code, number = None, 2
            while code is None:  # the signal is on its way
                number += 1
                say(id=number, op="state", session=other)
                code = hear().get("error", {}).get("code")
            assert code == "stopping"
            assert hear()["ok"]["observation"] == "1 sleep 1"
        assert server.stop() == 0


@pytest.mark.slow
def test_steps_go_on_while_hosts_are_killed_again_and_again(stage_folder):
    """Every step of many sessions happens once, in order, whoever is killed meanwhile."""
    sessions, steps = 24, 30
    with ServerProcess(
        verifiers=["none"],
        envs=["stage"],
        workers=1,
        env={"PYTHONPATH": str(stage_folder)},
        options=["--env-workers", "2"],
    ) as server:

        async def kill(http, done):
            kills = 0
            made = await http.post("/v1/sessions", json={"env": "stage/pid-v0"})
            sid = made.json()["sessions"][0]["session"]
            seq = 0
            while not done.is_set():
                seq += 1
                answer = (await step(http, sid, seq, "a")).json()
                os.kill(int(answer["info"]["legal_actions"][0]), signal.SIGKILL)
                kills += 1
                await asyncio.sleep(0.25)
            return kills

        async def step(http, sid, seq, action):
            until = time.monotonic() + WAIT_S
            while True:
                body = {"seq": seq, "action": action}
                answer = await http.post(f"/v1/sessions/{sid}/step", json=body)
                assert answer.status_code == 200, answer.text
                if "fault" not in answer.json():
                    return answer
                assert time.monotonic() < until

        async def play(http, seed):
            made = await http.post("/v1/sessions", json={"env": "stage/obeys-v0", "seed": seed})
            sid = made.json()["sessions"][0]["session"]
            for seq in range(1, steps + 1):
                answer = await step(http, sid, seq, f"sleep 0.0{seq % 7}")
                assert answer.json()["observation"] == f"{seq} sleep 0.0{seq % 7}"

        async def main():
            done = asyncio.Event()
            async with httpx2.AsyncClient(base_url=server.url, timeout=WAIT_S) as http:
                killer = asyncio.create_task(kill(http, done))
                await asyncio.gather(*(play(http, seed) for seed in range(sessions)))
                done.set()
                return await killer

        assert asyncio.run(main()) >= 3
