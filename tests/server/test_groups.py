"""Groups over HTTP: the verdicts of the process, and the refusals of any other request."""

import asyncio
import json

import httpx2
import pytest

from verigym import Task, make_group_verifier
from verigym.client import AsyncClient, Client, RemoteVerifier

TASK = Task(id="t", env_id="e", seed=1, prompt="What is 1/4 + 1/4?", difficulty="d")
REPLIES = ["0.5", "The answer is 1/2.", "3", "", 7]


def ask(**changes):
    return {
        "verifier": "group/majority",
        "of": {"verifier": "math/answer"},
        "task": json.loads(TASK.to_json()),
        "submissions": REPLIES,
        **changes,
    }


@pytest.fixture
def http(service):
    with httpx2.Client(base_url=service.url, trust_env=False, timeout=60) as client:
        yield client


def test_the_verdicts_are_those_of_the_process(http, service):
    here = make_group_verifier("group/majority", "math/answer").verify_group(TASK, REPLIES)
    answer = http.post("/v1/verify/group", json=ask())
    assert answer.status_code == 200
    assert answer.json()["verdicts"] == [verdict.to_builtins() for verdict in here]
    with Client(service.url) as client:
        asked = "group/majority", TASK, REPLIES
        assert client.verify_group(*asked, of="math/answer") == here
        there = client.verify_group(
            "group/best", TASK, REPLIES, of={"verifier": "text/length"}, params={"pay": "rank"}
        )
    best = make_group_verifier("group/best", "text/length", pay="rank")
    assert there == best.verify_group(TASK, REPLIES)

    async def verdicts():
        async with AsyncClient(service.url) as client:
            return await client.verify_group(*asked, of="math/answer")

    assert asyncio.run(verdicts()) == here
    # A group here that asks the judge there.
    judge = RemoteVerifier(service.url, "math/answer")
    assert make_group_verifier("group/majority", judge).verify_group(TASK, REPLIES) == here


def test_halves_of_pairs_take_part_and_earn_nothing(http, service):
    body = json.dumps(ask(submissions=["0.5", "1/2", "\ud800"]))
    headers = {"Content-Type": "application/json"}
    found = http.post("/v1/verify/group", content=body, headers=headers).json()["verdicts"]
    assert [verdict["score"] for verdict in found] == [1.0, 1.0, 0.0]
    with Client(service.url) as client:
        there = client.verify_group(
            "group/majority", TASK, ["0.5", "1/2", "\ud800"], of="math/answer"
        )
    assert [(verdict.score, verdict.reason) for verdict in there][2] == (0.0, "not_text")
    assert [verdict.score for verdict in there] == [1.0, 1.0, 0.0]


def test_a_service_that_is_away_scores_nobody():
    with Client("http://127.0.0.1:9", timeout_s=0.5) as client:
        verdicts = client.verify_group("group/majority", TASK, ["1", "\ud800"], of="math/answer")
    assert [verdict.score for verdict in verdicts] == [None, 0.0]


@pytest.mark.parametrize(
    ("changes", "status", "code", "where"),
    [
        ({"verifier": "group/majorty"}, 404, "unknown_verifier", "$.verifier"),
        ({"verifier": "math/answer"}, 404, "unknown_verifier", "$.verifier"),
        ({"of": {"verifier": "math/anwser"}}, 404, "unknown_verifier", "$.of.verifier"),
        ({"of": {"verifier": "math/answer", "param": {}}}, 422, "invalid_request", "$.of"),
        (
            {"of": {"verifier": "math/answer", "params": {"digits": 99}}},
            422,
            "bad_params",
            "$.of.params",
        ),
        ({"params": {"pay": "best"}}, 422, "bad_params", "$.params"),
        ({"params": {"of": "math/answer", "self": 1}}, 422, "bad_params", "$.params"),
        (
            {"of": {"verifier": "math/answer", "params": {"self": 1}}},
            422,
            "bad_params",
            "$.of.params",
        ),
        ({"submissions": ["1"]}, 422, "invalid_request", "$.submissions"),
        ({"submissions": ["1"] * 65}, 422, "invalid_request", "$.submissions"),
        ({"submissions": "11"}, 422, "invalid_request", "$.submissions"),
        ({"timeout_s": 0}, 422, "invalid_request", "$.of.timeout_s"),
    ],
)
def test_wrong_requests_are_refused(http, changes, status, code, where):
    answer = http.post("/v1/verify/group", json=ask(**changes))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["where"]) == (status, code, where), error


def test_group_verifiers_are_listed(http):
    listed = http.get("/v1/verifiers/groups").json()["verifiers"]
    assert [one["id"] for one in listed] == ["group/best", "group/majority", "group/pairwise"]
    assert listed[0]["schema"]["properties"]["pay"]["enum"] == ["best", "rank"]
    document = http.get("/openapi.json").json()
    assert {"/v1/verify/group", "/v1/verifiers/groups"} <= document["paths"].keys()


def test_a_member_that_kills_its_worker_pays_alone(http, unruly):
    body = ask(
        verifier="group/best",
        of={"verifier": "unruly/obeys"},
        submissions=[{"do": "nothing"}, {"do": "die"}, {"do": "x"}],
    )
    found = http.post("/v1/verify/group", json=body).json()["verdicts"]
    assert [verdict["score"] for verdict in found] == [0.5, 0.0, 0.5]
    assert found[1]["reason"] == "upsets_verifier"
