"""Responses of the service over a real socket: verdicts, refusals, and nothing that must stay
hidden."""

import json
from dataclasses import replace

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import Task, list_verifiers, make_verifier
from verigym.server.body import deeper_than
from verigym.server.settings import ServerSettings
from verigym.verifiers.audit.card import read_card

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["hush-hush", 7])
PLAIN_TASK = json.loads(TASK.to_json())


def item(submission, verifier="unruly/picky", **rest):
    return {"verifier": verifier, "task": PLAIN_TASK, "submission": submission, **rest}


@pytest.fixture
def http(service):
    with httpx2.Client(base_url=service.url, trust_env=False, timeout=60) as client:
        yield client


def test_health(http):
    answer = http.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


def test_verifiers_are_listed_as_they_describe_themselves(http, unruly):
    listed = {entry["id"]: entry for entry in http.get("/v1/verifiers").json()["verifiers"]}
    assert listed["unruly/obeys"] == make_verifier("unruly/obeys").describe()
    assert listed["math/countdown"] == make_verifier("math/countdown").describe()
    assert "unruly/unloadable" not in listed
    assert "unruly/unloadable" in list_verifiers()


def test_a_verdict_is_that_of_the_process(http, unruly):
    for submission, params in ((["hush-hush", 7], {}), ("x", {"size": 2})):
        answer = http.post("/v1/verify", json=item(submission, params=params))
        assert answer.status_code == 200
        here = make_verifier("unruly/picky", **params).verify(TASK, submission)
        assert answer.json() == here.to_builtins()


def test_a_reference_alone_is_a_task(http):
    reference = {"answer": "1/2"}
    for words in ({}, {"prompt": "What is the probability of heads?"}):
        asked = {"verifier": "math/answer", "reference": reference, "submission": "0.5", **words}
        verdict = http.post("/v1/verify", json=asked).json()
        bare = Task(
            id="",
            env_id="",
            seed=0,
            difficulty="",
            prompt=words.get("prompt", ""),
            reference=reference,
        )
        task = replace(bare, id=bare.content)
        assert verdict == make_verifier("math/answer").verify(task, "0.5").to_builtins()
        assert verdict["score"] == 1.0
        batch = http.post("/v1/verify/batch", json={"items": [asked, item(1)]}).json()
        assert batch["verdicts"][0] == verdict


def test_a_batch_keeps_its_order_over_verifiers_and_parameters(http, unruly):
    items = [
        item(["hush-hush", 7] if i % 3 else i, params={"size": 1 + i % 2})
        if i % 5
        else item({"do": "nothing"}, "unruly/obeys")
        for i in range(40)
    ]
    answer = http.post("/v1/verify/batch", json={"items": items})
    assert answer.status_code == 200
    here = [
        make_verifier(one["verifier"], **one.get("params", {})).verify(TASK, one["submission"])
        for one in items
    ]
    assert answer.json() == {"verdicts": [verdict.to_builtins() for verdict in here]}


def test_an_empty_batch_is_an_empty_answer(http):
    assert http.post("/v1/verify/batch", json={"items": []}).json() == {"verdicts": []}


def test_a_fault_is_a_verdict(http):
    submission = {"do": "hang"}
    answer = http.post("/v1/verify", json=item(submission, "unruly/obeys", timeout_s=0.5))
    assert answer.status_code == 200
    assert answer.json()["status"] == "timeout"
    assert answer.json()["score"] is None
    answer = http.post("/v1/verify", json=item({"do": "die"}, "unruly/obeys"))
    assert (answer.status_code, answer.json()["status"]) == (200, "infra")


@pytest.mark.parametrize("do", ["raise", "bad_task", "sandbox"])
@pytest.mark.parametrize("batch", [False, True])
def test_a_fault_shows_neither_reference_nor_path_nor_trace(http, do, batch):
    one = item({"do": do}, "unruly/obeys")
    answer = (
        http.post("/v1/verify/batch", json={"items": [one, one]})
        if batch
        else http.post("/v1/verify", json=one)
    )
    assert answer.status_code == 200
    for hidden in ("hush", "/tmp", "unruly_verifiers", ".py", "Traceback"):
        assert hidden not in answer.text


GOOD = json.dumps(item(1)).encode()

MALFORMED = {
    "nothing": (b"", 400, "malformed_json", "$"),
    "cut short": (GOOD[:-5], 400, "malformed_json", "$"),
    "two values": (GOOD + GOOD, 400, "malformed_json", "$"),
    "NaN": (GOOD.replace(b'"submission": 1', b'"submission": NaN'), 400, "malformed_json", "$"),
    "a lone surrogate that no model wrote": (
        GOOD.replace(b'"submission": 1', b'"submission": 1, "params": {"a": "\\ud800"}'),
        400,
        "malformed_json",
        "$",
    ),
    "not UTF-8": (
        GOOD.replace(b'"submission": 1', b'"submission": "\xff"'),
        400,
        "malformed_json",
        "$",
    ),
    "a number out of range": (
        GOOD.replace(b'"submission": 1', b'"submission": 1e999'),
        422,
        "invalid_request",
        "$.submission",
    ),
    "a list": (b"[]", 422, "invalid_request", "$"),
    "no verifier": (b"{}", 422, "invalid_request", "$"),
    "no submission": (b'{"verifier": "unruly/picky"}', 422, "invalid_request", "$"),
    "no task": (b'{"verifier": "unruly/picky", "submission": 1}', 422, "invalid_request", "$"),
    "a task and a reference": (
        json.dumps(item(1, reference=None)).encode(),
        422,
        "invalid_request",
        "$",
    ),
    "a task and a prompt": (json.dumps(item(1, prompt="p")).encode(), 422, "invalid_request", "$"),
    "a verifier that is a number": (
        json.dumps(item(1, verifier=3)).encode(),
        422,
        "invalid_request",
        "$.verifier",
    ),
    "an unknown field": (json.dumps(item(1, colour=3)).encode(), 422, "invalid_request", "$"),
    "a task without prompt": (
        json.dumps({**item(1), "task": {**PLAIN_TASK, "prompt": None}}).encode(),
        422,
        "invalid_request",
        "$.task.prompt",
    ),
    "a misspelt task field": (
        json.dumps({**item(1), "task": {**PLAIN_TASK, "refrence": 1}}).encode(),
        422,
        "invalid_request",
        "$.task",
    ),
    "a seed that is text": (
        json.dumps({**item(1), "task": {**PLAIN_TASK, "seed": "7"}}).encode(),
        422,
        "invalid_request",
        "$.task.seed",
    ),
    "parameters that are a list": (
        json.dumps(item(1, params=[])).encode(),
        422,
        "invalid_request",
        "$.params",
    ),
    "an unknown parameter": (
        json.dumps(item(1, params={"syze": 1})).encode(),
        422,
        "bad_params",
        "$.params",
    ),
    "a parameter that is refused": (
        json.dumps(item(1, params={"size": 0})).encode(),
        422,
        "bad_params",
        "$.params",
    ),
    "no time": (json.dumps(item(1, timeout_s=0)).encode(), 422, "invalid_request", "$.timeout_s"),
    "too much time": (
        json.dumps(item(1, timeout_s=1e9)).encode(),
        422,
        "invalid_request",
        "$.timeout_s",
    ),
    "an unknown verifier": (
        json.dumps(item(1, verifier="unruly/pickey")).encode(),
        404,
        "unknown_verifier",
        "$.verifier",
    ),
    "deep nesting": (
        GOOD.replace(b'"submission": 1', b'"submission": ' + b"[" * 70 + b"]" * 70),
        422,
        "too_deep",
        "$",
    ),
    "absurd nesting": (b"[" * 1_000_000, 422, "too_deep", "$"),
    "too many bytes": (b'"' + b"x" * (9 << 20) + b'"', 413, "too_large", ""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_are_told_what_and_where(http, name):
    body, status, code, where = MALFORMED[name]
    answer = http.post("/v1/verify", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(answer.json()) == {"error"}
    assert set(error) == {"code", "message", "where"}
    assert (error["code"], error["where"]) == (code, where)
    assert error["message"]
    assert "hush" not in answer.text


def test_an_unknown_verifier_comes_with_suggestions(http):
    answer = http.post("/v1/verify", json=item(1, verifier="unruly/pickey"))
    assert "did you mean 'unruly/picky'" in answer.json()["error"]["message"]


def test_a_batch_says_which_item_is_wrong(http):
    for wrong, status, where in (
        (item(1, params={"syze": 1}), 422, "$.items[1].params"),
        (item(1, verifier="nobody"), 404, "$.items[1].verifier"),
        (item(1, timeout_s=-1), 422, "$.items[1].timeout_s"),
    ):
        answer = http.post("/v1/verify/batch", json={"items": [item(1), wrong, item(2)]})
        assert (answer.status_code, answer.json()["error"]["where"]) == (status, where)
    answer = http.post("/v1/verify/batch", json={"items": [item(1), 3]})
    assert answer.json()["error"]["where"] == "$.items[1]"


def test_a_batch_is_bounded(http):
    answer = http.post("/v1/verify/batch", json={"items": [item(1)] * 257})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "batch_too_large")


def test_a_body_of_another_type_is_refused(http):
    """A web page can post a form or text to this machine, but not JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = http.post("/v1/verify", content=GOOD, headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["error"]["where"]) == (415, "Content-Type")


def test_a_name_that_only_resolves_to_this_machine_is_refused(http):
    """DNS rebinding: the page's own name in Host, our address behind it."""
    for path in ("/healthz", "/v1/verifiers", "/docs"):
        answer = http.get(path, headers={"Host": "evil.example:8080"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden_host")
    for host in ("localhost:1", "127.0.0.1", "[::1]:8080"):
        assert http.get("/healthz", headers={"Host": host}).status_code == 200


def test_unknown_paths_and_methods_have_the_same_envelope(http):
    assert http.get("/v1/nothing").json()["error"]["code"] == "not_found"
    answer = http.get("/v1/verify")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


def test_the_openapi_document_lists_the_routes_and_resolves(http):
    document = http.get("/openapi.json").json()
    assert set(document["paths"]) >= {
        *("/healthz", "/v1/verifiers", "/v1/verifiers/{verifier}/card"),
        *("/v1/verify", "/v1/verify/batch", "/v1/jobs", "/v1/jobs/{id}"),
    }
    schemas = document["components"]["schemas"]
    body = document["paths"]["/v1/verify"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"] == {"$ref": "#/components/schemas/VerifyBody"}
    assert schemas["TaskBody"]["additionalProperties"] is False
    refs = [part.split('"')[0] for part in json.dumps(document).split('"$ref": "')[1:]]
    assert refs
    assert all(ref.removeprefix("#/components/schemas/") in schemas for ref in refs)


def test_the_openapi_document_says_what_generators_of_clients_need(http):
    document = http.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    # A dictionary without this is an empty object to them, and no parameter could be given.
    assert schemas["VerifyBody"]["properties"]["params"]["additionalProperties"] is True
    assert schemas["VerifyBody"]["required"] == ["verifier", "submission"]
    assert schemas["Status"]["type"] == "string"
    assert set(schemas["Verdict"]["required"]) == set(schemas["Verdict"]["properties"])
    assert set(schemas["JobAnswer"]["required"]) == set(schemas["JobAnswer"]["properties"])
    operations = [one for way in document["paths"].values() for one in way.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert {"post_verify", "post_verify_batch", "get_jobs_id", "delete_jobs_id"} <= set(names)
    assert set(document["paths"]["/v1/jobs/{id}"]["delete"]["responses"]) & {"200", "204"} == {
        "204"
    }


def test_the_page_needs_nothing_from_elsewhere(http):
    answer = http.get("/docs")
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "/v1/verify/batch" in answer.text
    for outside in ("http://", "https://", "<script", "src="):
        assert outside not in answer.text


JSON_VALUES = st.recursive(
    st.none() | st.text('[]{}\\"a', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("[]{}\\"), inner, max_size=3)
    ),
    max_leaves=20,
)


def depth_of(value):
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(JSON_VALUES, st.integers(1, 8))
def test_depth_is_that_of_the_value(value, limit):
    assert deeper_than(json.dumps(value).encode(), limit) == (depth_of(value) > limit)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("1", 0),
        ('"[[["', 0),
        ("[]", 1),
        ('{"a": ["\\"[["]}', 2),
        ("[[],[[]]]", 3),
        ('["\\\\",[]]', 2),
    ],
)
def test_depth(text, depth):
    padded = text.encode() + b" " * 10
    assert not deeper_than(padded, depth)
    assert depth == 0 or deeper_than(padded, depth - 1)


def test_defaults_fit_together():
    assert ServerSettings().max_batch <= ServerSettings().max_queue


def test_half_a_surrogate_pair_is_the_policys_fault_and_spoils_no_batch(http, unruly):
    odd = ["\ud800", {"do": "\udc00"}]
    items = [item(one) for one in (["hush-hush", 7], *odd, 1)]
    body = json.dumps({"items": items})
    headers = {"Content-Type": "application/json"}
    answer = http.post("/v1/verify/batch", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    verdicts = answer.json()["verdicts"]
    assert [v["status"] for v in verdicts] == ["ok", "policy_fault", "policy_fault", "ok"]
    here = make_verifier("unruly/picky")
    assert verdicts[1:3] == [here.verify(TASK, one).to_builtins() for one in odd]
    answer = http.post("/v1/verify", content=json.dumps(item(odd[0])), headers=headers)
    assert answer.json() == verdicts[1]


def test_a_composition_reaches_only_what_is_served(http, unruly):
    of = [{"verifier": "math/countdown"}, {"verifier": "unruly/unloadable"}]
    asked = item(
        "x", "compose/sum", params={"of": [{"verifier": "compose/all", "params": {"of": of}}]}
    )
    answer = http.post("/v1/verify", json=asked)
    assert answer.status_code == 404
    assert answer.json()["error"]["where"] == "$.params.of"
    asked = item("x", "compose/all", params={"of": [{"verifier": "unruly/picky"}]})
    assert http.post("/v1/verify", json=asked).json()["score"] == 0.0


def test_cards_are_shown(http, unruly):
    for entry in http.get("/v1/verifiers").json()["verifiers"]:
        answer = http.get(f"/v1/verifiers/{entry['id']}/card")
        card = read_card(entry["id"], entry["version"])
        if card is None:
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_card")
        else:
            assert answer.json() == card
    answer = http.get("/v1/verifiers/math/countdwn/card")
    assert answer.status_code == 404
    assert "did you mean 'math/countdown'" in answer.json()["error"]["message"]
