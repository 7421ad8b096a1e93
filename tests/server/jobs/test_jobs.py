"""Jobs over HTTP, with a real service: what is accepted, refused, judged again, listed, forgotten."""

import asyncio
import contextlib
import json
import os
import signal
import threading
import time

import httpx2
import pytest

from verigym import ConfigError, Status, Task, make_verifier
from verigym.server.app import create_app
from verigym.server.jobs import runner
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["hush", 7])
PLAIN_TASK = json.loads(TASK.to_json())


def ask(submission, verifier="unruly/picky", **rest):
    return {"verifier": verifier, "task": PLAIN_TASK, "submission": submission, **rest}


def obey(do, **rest):
    return ask({"do": do, **rest}, "unruly/obeys")


@pytest.fixture(scope="module")
def url(plugin_folder, tmp_path_factory):
    store = f"sqlite:///{tmp_path_factory.mktemp('jobs')}/jobs.sqlite"
    with ServerProcess(
        verifiers=["unruly"],
        workers=2,
        env={"PYTHONPATH": str(plugin_folder)},
        options=["--store", store],
    ) as server:
        yield server.url


@pytest.fixture
def http(url):
    with httpx2.Client(base_url=url, trust_env=False, timeout=90) as client:
        yield client


def submit(http, body, key=None):
    return http.post("/v1/jobs", json=body, headers={"Idempotency-Key": key} if key else {})


def finished(http, id):
    job = http.get(f"/v1/jobs/{id}", params={"wait_s": 60}).json()
    assert job["status"] == "done", job
    return job


def test_a_job_gives_the_verdicts_of_the_process(http, unruly):
    bodies = [ask(i % 3 and [*TASK.reference], params={"size": 1 + i % 2}) for i in range(20)]
    answer = submit(http, {"items": bodies})
    assert answer.status_code == 202
    card = answer.json()
    assert (card["status"], card["items"], card["unjudged"]) == ("queued", 20, 20)
    assert answer.headers["Location"] == f"/v1/jobs/{card['job']}"
    job = finished(http, card["job"])
    assert job["unjudged"] == 0
    assert job["created_s"] <= job["started_s"] <= job["finished_s"]
    assert job["verdicts"] == [
        make_verifier(b["verifier"], **b["params"]).verify(TASK, b["submission"]).to_builtins()
        for b in bodies
    ]
    single = submit(http, bodies[1])
    assert finished(http, single.json()["job"])["verdicts"] == job["verdicts"][1:2]


def test_the_same_key_is_the_same_job(http):
    first = submit(http, ask(1), "key-1")
    again = submit(http, ask(1), "key-1")
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["job"] == first.json()["job"]
    other = submit(http, ask(2), "key-1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_conflict")
    assert submit(http, ask(1)).json()["job"] != first.json()["job"]


def test_half_a_surrogate_pair_is_kept_as_it_came(http, unruly):
    odd = ["\ud800", {"x": "\udc00"}]
    body = json.dumps({"items": [ask(odd), ask(1)]}).encode()
    headers = {"Content-Type": "application/json"}
    card = http.post("/v1/jobs", content=body, headers=headers).json()
    verdicts = finished(http, card["job"])["verdicts"]
    here = make_verifier("unruly/picky").verify(TASK, odd).to_builtins()
    assert verdicts[0] == here
    assert here["status"] == "policy_fault"
    card = http.post("/v1/jobs", content=json.dumps(ask(odd)).encode(), headers=headers).json()
    assert finished(http, card["job"])["verdicts"] == [here]


REFUSED = {
    "no items": ({"items": []}, 422, "invalid_request", "$.items"),
    "items that are a number": ({"items": 5}, 422, "invalid_request", "$.items"),
    "too many items": ({"items": [ask(1)] * 257}, 413, "batch_too_large", "$.items"),
    "nothing": ({}, 422, "invalid_request", "$"),
    "a list": ([], 422, "invalid_request", "$"),
    "an unknown verifier": (ask(1, "unruly/pickey"), 404, "unknown_verifier", "$.verifier"),
    "one unknown verifier": (
        {"items": [ask(1), ask(1, "unruly/pickey")]},
        404,
        "unknown_verifier",
        "$.items[1].verifier",
    ),
    "too much time": (ask(1, timeout_s=1e9), 422, "invalid_request", "$.timeout_s"),
    "another field beside items": (
        {"items": [ask(1)], "colour": 1},
        422,
        "invalid_request",
        "$",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused_at_once(http, name):
    body, status, code, where = REFUSED[name]
    answer = submit(http, body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["where"]) == (status, code, where)


@pytest.mark.parametrize("body", [b"", b"{", b'{"items": [', b"[" * 100000, b'{"items": [NaN]}'])
def test_what_is_no_json_is_refused(http, body):
    answer = http.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["code"] in ("malformed_json", "too_deep")


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_form(http, key):
    answer = http.post("/v1/jobs", json=ask(1), headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json()["error"]["where"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/v1/jobs?status=over", "status"),
        ("/v1/jobs?limit=0", "limit"),
        ("/v1/jobs?limit=1001", "limit"),
        ("/v1/jobs?limit=1e2", "limit"),
        ("/v1/jobs?after=%00", "after"),
        ("/v1/jobs/x?wait_s=nan", "wait_s"),
        ("/v1/jobs/x?wait_s=-1", "wait_s"),
        ("/v1/jobs/x?wait_s=61", "wait_s"),
    ],
)
def test_a_query_that_cannot_be_is_refused(http, path, where):
    answer = http.get(path)
    assert (answer.status_code, answer.json()["error"]["where"]) == (422, where)


@pytest.mark.parametrize("id", ["x", "0" * 32, "%00", "%F0%9F%92%A9", "a" * 500])
def test_an_unknown_job_is_404(http, id):
    for call in (http.get, http.delete):
        answer = call(f"/v1/jobs/{id}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_job")


def test_parameters_that_are_refused_are_a_fault_of_their_item_only(http):
    bodies = [ask([*TASK.reference]), ask(1, params={"size": 0}), ask([*TASK.reference])]
    job = finished(http, submit(http, {"items": bodies}).json()["job"])
    assert [v["status"] for v in job["verdicts"]] == ["ok", "verifier_error", "ok"]
    assert job["verdicts"][1]["reason"] == "bad_params"
    assert "size" in job["verdicts"][1]["evidence"]


def test_a_fault_hides_the_reference(http):
    id = submit(http, obey("raise")).json()["job"]
    finished(http, id)
    answer = http.get(f"/v1/jobs/{id}")
    assert answer.json()["verdicts"][0]["status"] == "verifier_error"
    assert "hush" not in answer.text


def test_a_fault_of_the_machine_is_tried_again(http, tmp_path):
    """Twice by the pool for each try of the job: `die_once` needs one of them."""
    id = submit(http, obey("die_once", at=str(tmp_path / "died"))).json()["job"]
    assert finished(http, id)["verdicts"][0]["score"] == 1.0
    at = tmp_path / "pids"
    body = {"items": [ask({"do": "hang", "at": str(at)}, "unruly/obeys", timeout_s=0.2)]}
    os.mkfifo(at)
    pids = []

    def count():
        for _ in range(runner.TRIES):
            pids.append(int(at.read_text()))

    counting = threading.Thread(target=count)
    counting.start()
    job = finished(http, submit(http, body).json()["job"])
    counting.join()
    (verdict,) = job["verdicts"]
    assert (verdict["status"], verdict["score"]) == ("timeout", None)
    assert len(set(pids)) == runner.TRIES


def test_waiting_ends_with_the_job_or_the_time(http, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    id = submit(http, obey("hang", at=str(fifo))).json()["job"]
    began = time.monotonic()
    early = http.get(f"/v1/jobs/{id}", params={"wait_s": 0.3}).json()
    assert time.monotonic() - began >= 0.3
    assert (early["status"], early["verdicts"]) == ("running", None)
    headers = {"Verigym-Deadline-S": "0.4"}
    assert http.get(f"/v1/jobs/{id}", params={"wait_s": 60}, headers=headers).status_code == 200
    fifo.read_text()
    assert http.delete(f"/v1/jobs/{id}").status_code == 204
    assert http.get(f"/v1/jobs/{id}", params={"wait_s": 60}).json()["status"] == "cancelled"
    assert http.delete(f"/v1/jobs/{id}").status_code == 204
    assert http.get(f"/v1/jobs/{id}").status_code == 404


def test_cancelling_wakes_who_waits_and_frees_the_workers(http, tmp_path):
    fifos = [tmp_path / f"pid{n}" for n in range(2)]
    for fifo in fifos:
        os.mkfifo(fifo)
    items = [ask({"do": "hang", "at": str(f)}, "unruly/obeys", timeout_s=200) for f in fifos]
    ids = [submit(http, item).json()["job"] for item in items]
    for fifo in fifos:
        fifo.read_text()
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(http.get(f"/v1/jobs/{ids[0]}", params={"wait_s": 60}))
    )
    waiting.start()
    for id in ids:
        assert http.delete(f"/v1/jobs/{id}").status_code == 204
    waiting.join()
    assert answers[0].json()["status"] == "cancelled"
    assert http.post("/v1/verify", json=ask(1), timeout=60).status_code == 200


def test_jobs_are_listed_the_newest_first(http):
    ids = [submit(http, ask(i)).json()["job"] for i in range(3)]
    listed = http.get("/v1/jobs?limit=3").json()["jobs"]
    assert [job["job"] for job in listed] == ids[::-1]
    page = http.get("/v1/jobs", params={"limit": 1, "after": ids[2]}).json()["jobs"]
    assert [job["job"] for job in page] == [ids[1]]
    finished(http, ids[0])
    done = http.get("/v1/jobs", params={"status": "done", "limit": 1000}).json()["jobs"]
    assert ids[0] in [job["job"] for job in done]


@contextlib.asynccontextmanager
async def running(**settings):
    app = create_app(ServerSettings(workers=1, verifiers=("unruly/*",), **settings))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=90) as http,
    ):
        yield app, http


def test_a_full_queue_is_429_and_old_jobs_go(unruly, tmp_path, monkeypatch):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    store = f"sqlite:///{tmp_path}/jobs.sqlite"

    async def main():
        async with running(store=store, max_jobs=1, job_retention_s=0.01) as (app, http):
            id = (await http.post("/v1/jobs", json=obey("hang", at=str(fifo)))).json()["job"]
            await asyncio.to_thread(fifo.read_text)
            refused = await http.post("/v1/jobs", json=ask(1))
            await http.delete(f"/v1/jobs/{id}")
            assert (await http.post("/v1/jobs", json=ask(1))).status_code == 202
            while (await http.get("/v1/jobs")).json()["jobs"]:
                await asyncio.sleep(0.1)
            assert sum(app.state.jobs.counts.values()) == 0
            return refused

    refused = asyncio.run(main())
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
    assert refused.headers["Retry-After"]


def test_jobs_wait_for_room_in_the_pool(unruly, tmp_path):
    store = f"sqlite:///{tmp_path}/jobs.sqlite"

    async def main():
        async with running(store=store, max_queue=2, max_batch=2) as (_, http):
            ids = []
            for i in range(10):
                body = {"items": [ask(i), ask([*TASK.reference])]}
                ids.append((await http.post("/v1/jobs", json=body)).json()["job"])
            answers = [await http.get(f"/v1/jobs/{id}?wait_s=60") for id in ids]
            return [[v["score"] for v in answer.json()["verdicts"]] for answer in answers]

    assert asyncio.run(main()) == [[0.0, 1.0]] * 10


def test_what_is_not_served_here_is_left_to_others(unruly, tmp_path):
    store = f"sqlite:///{tmp_path}/jobs.sqlite"

    async def accept():
        async with running(store=store, timeout_s=0.1) as (app, http):
            await app.state.jobs.begin()
            app.state.jobs._loops[0].cancel()  # accepts, and judges nothing
            await asyncio.wait(app.state.jobs._loops[:1])
            app.state.jobs._loops.pop(0)
            return (await http.post("/v1/jobs", json=ask(1))).json()["job"]

    async def serve(id, verifiers):
        app = create_app(ServerSettings(workers=1, verifiers=verifiers, store=store))
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=90) as h,
        ):
            wait_s = 1 if verifiers == ("math/countdown",) else 60
            return (await h.get(f"/v1/jobs/{id}?wait_s={wait_s}")).json()["status"]

    id = asyncio.run(accept())
    assert asyncio.run(serve(id, ("math/countdown",))) == "queued"
    assert asyncio.run(serve(id, ("unruly/picky",))) == "done"


def test_a_stop_gives_claims_back_at_once(unruly, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    store = f"sqlite:///{tmp_path}/jobs.sqlite"

    async def stop():
        async with running(store=store) as (_, http):
            id = (await http.post("/v1/jobs", json=obey("hang", at=str(fifo)))).json()["job"]
            await asyncio.to_thread(fifo.read_text)
            return id

    async def again(id):
        async with running(store=store) as (app, http):
            await asyncio.to_thread(fifo.read_text)  # it is judged again
            (claim,) = app.state.jobs._hand.values()
            assert (claim.lost, claim.faults, claim.fence) == (0, 0, 2)
            await http.delete(f"/v1/jobs/{id}")

    asyncio.run(again(asyncio.run(stop())))


def test_an_item_that_kills_services_is_given_up(unruly, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "MOST_LOST", 0)

    async def main():
        async with running(store=f"sqlite:///{tmp_path}/jobs.sqlite") as (_, http):
            id = (await http.post("/v1/jobs", json=ask(1))).json()["job"]
            return (await http.get(f"/v1/jobs/{id}?wait_s=60")).json()["verdicts"]

    (verdict,) = asyncio.run(main())
    assert (verdict["status"], verdict["reason"]) == (Status.INFRA, "service_died")
    assert verdict["verifier"] == "unruly/picky"


def test_a_store_that_cannot_be_used(unruly, tmp_path):
    (tmp_path / "file").write_text("in the way")

    async def named():
        async with running(store=f"sqlite:///{tmp_path}/file/jobs.sqlite"):
            pass

    with pytest.raises(ConfigError, match="cannot be used"):
        asyncio.run(named())


def test_the_default_is_made_with_the_first_job(unruly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "verigym" / "jobs.sqlite"

    async def main():
        async with running() as (_, http):
            assert (await http.post("/v1/verify", json=ask(1))).status_code == 200
            assert not path.exists()
            assert (await http.post("/v1/jobs", json=ask(1))).status_code == 202
            assert path.exists()
        (tmp_path / "verigym").rename(tmp_path / "moved")
        (tmp_path / "verigym").write_text("in the way")
        async with running() as (_, http):  # serves all else
            assert (await http.post("/v1/verify", json=ask(1))).status_code == 200
            return await http.post("/v1/jobs", json=ask(1))

    answer = asyncio.run(main())
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_store")
    assert str(tmp_path) not in answer.text


@pytest.mark.slow
def test_other_keys_jobs_are_unknown(plugin_folder, tmp_path):
    from verigym.server import keys

    path = tmp_path / "keys.json"
    ann, bob = (keys.add(path, name=name, scopes={"verify"}) for name in ("ann", "bob"))
    with ServerProcess(
        verifiers=["unruly"],
        workers=1,
        env={"PYTHONPATH": str(plugin_folder)},
        options=["--keys", str(path), "--store", f"sqlite:///{tmp_path}/jobs.sqlite"],
    ) as server:

        def client(key):
            headers = {"Authorization": f"Bearer {key}"}
            return httpx2.Client(base_url=server.url, trust_env=False, timeout=60, headers=headers)

        with client(ann) as anns, client(bob) as bobs:
            id = submit(anns, ask(1), "k").json()["job"]
            assert bobs.get(f"/v1/jobs/{id}").status_code == 404
            assert bobs.delete(f"/v1/jobs/{id}").status_code == 404
            assert bobs.get("/v1/jobs").json() == {"jobs": []}
            assert submit(bobs, ask(2), "k").status_code == 202
            finished(anns, id)


@pytest.mark.parametrize(
    ("store_url", "number"),
    [
        ("sqlite", signal.SIGKILL),
        pytest.param("postgres", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("sqlite", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("postgres", signal.SIGKILL, marks=pytest.mark.slow),
    ],
    indirect=["store_url"],
)
def test_the_next_service_goes_on(plugin_folder, store_url, tmp_path, number):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    with (
        ServerProcess(
            verifiers=["unruly"],
            workers=1,
            env={"PYTHONPATH": str(plugin_folder)},
            options=["--store", store_url, "--drain-s", "1"],
        ) as server,
        httpx2.Client(trust_env=False, timeout=90) as client,
    ):
        body = {"items": [obey("hang", at=str(fifo)), obey("nothing")]}
        id = client.post(f"{server.url}/v1/jobs", json=body).json()["job"]
        fifo.read_text()
        server.kill() if number == signal.SIGKILL else server.stop()
        server.start()
        fifo.read_text()  # it is judged again
        assert client.delete(f"{server.url}/v1/jobs/{id}").status_code == 204
