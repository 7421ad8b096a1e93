"""A batch sent as lines: every place once, as soon as it is known, and nothing for who has left."""

import json
import os
import signal
import socket

import httpx2
import pytest

from verigym import Task, make_verifier

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["hush", 7])
PLAIN_TASK = json.loads(TASK.to_json())
LINES = {"Accept": "application/x-ndjson"}


def item(submission, verifier="unruly/obeys", **rest):
    return {"verifier": verifier, "task": PLAIN_TASK, "submission": submission, **rest}


@pytest.fixture
def http(service):
    with httpx2.Client(base_url=service.url, trust_env=False, timeout=60) as client:
        yield client


def post(http, items, **options):
    return http.post("/v1/verify/batch", json={"items": items}, headers=LINES, **options)


def test_the_lines_are_the_verdicts(http, unruly):
    items = [
        item([*TASK.reference] if i % 3 else i, "unruly/picky", params={"size": 1 + i % 2})
        if i % 5
        else item({"do": "nothing", "i": i})
        for i in range(60)
    ]
    answer = post(http, items)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Transfer-Encoding"] == "chunked"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert sorted(line["index"] for line in lines) == list(range(60))
    for line in lines:
        one = items[line["index"]]
        here = make_verifier(one["verifier"], **one.get("params", {}))
        assert line["verdict"] == here.verify(TASK, one["submission"]).to_builtins()


def test_without_the_header_all_comes_at_once(http):
    body = {"items": [item({"do": "nothing"})]}
    for accept in ("*/*", "application/json", "text/plain, application/json;q=0.9"):
        answer = http.post("/v1/verify/batch", json=body, headers={"Accept": accept})
        assert list(answer.json()) == ["verdicts"]
    accept = "text/html, Application/X-NDJSON; q=0.5"
    answer = http.post("/v1/verify/batch", json=body, headers={"Accept": accept})
    assert answer.json()["index"] == 0


def test_no_items_are_no_lines(http):
    answer = post(http, [])
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_verdict_does_not_wait_for_the_others(http, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    items = [item({"do": "hang", "at": str(fifo)}, timeout_s=60), item({"do": "nothing"})]
    body = {"items": items}
    with http.stream("POST", "/v1/verify/batch", json=body, headers=LINES) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines))["index"] == 1
        for _ in range(2):  # the pool tries once more
            os.kill(int(fifo.read_text()), signal.SIGKILL)
        last = json.loads(next(lines))
        assert (last["index"], last["verdict"]["status"]) == (0, "infra")
        assert list(lines) == []


def test_what_the_caller_did_wrong_is_said_in_its_line(http):
    items = [item(1, "unruly/picky", params={"size": 0}), item({"do": "nothing"})]
    lines = [json.loads(line) for line in post(http, items).text.splitlines()]
    wrong, right = sorted(lines, key=lambda line: line["index"])
    assert wrong["error"]["code"] == "bad_params"
    assert wrong["error"]["where"] == "$.items[0].params"
    assert right["verdict"]["score"] == 1.0


def test_a_fault_hides_the_reference(http):
    answer = post(http, [item({"do": "raise"})])
    assert json.loads(answer.text)["verdict"]["status"] == "verifier_error"
    assert "hush" not in answer.text


def test_refusals_come_before_the_first_line(http):
    answer = post(http, [item(1), item(1, "unruly/pickey")])
    assert (answer.status_code, answer.json()["error"]["where"]) == (404, "$.items[1].verifier")
    assert post(http, [item(1)] * 257).status_code == 413


def test_who_leaves_takes_the_work_back(http, service, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    late = [tmp_path / f"late{n}" for n in range(20)]
    items = [item({"do": "nothing"}, timeout_s=50)]
    items += [item({"do": "hang", "at": str(fifo)}, timeout_s=60) for _ in range(2)]
    items += [item({"do": "die_once", "at": str(path)}, timeout_s=60) for path in late]
    body = json.dumps({"items": items}).encode()
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        head = (
            f"POST /v1/verify/batch HTTP/1.1\r\nHost: {host}\r\nAccept: application/x-ndjson\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        client.sendall(head.encode() + body)
        assert client.recv(1) == b"H"  # the first verdict has come
        fifo.read_text()
    # Both workers are free again, or this would wait for the hanging ones.
    for _ in range(4):
        answer = http.post("/v1/verify", json=item({"do": "nothing"}), timeout=30)
        assert answer.json()["score"] == 1.0
    assert http.get("/healthz").json()["waiting"] == 0
    assert not all(path.exists() for path in late)


def test_a_client_that_reads_late_gets_every_line(http):
    pad = "x" * 2000
    items = [item({"do": "nothing", "pad": pad, "i": i}) for i in range(200)]
    body = {"items": items}
    with http.stream("POST", "/v1/verify/batch", json=body, headers=LINES) as answer:
        # Judge something else meanwhile: the lines that wait do not hold the service up.
        one = http.post("/v1/verify", json=items[0])
        assert one.status_code == 200
        assert sorted(json.loads(line)["index"] for line in answer.iter_lines()) == [*range(200)]
