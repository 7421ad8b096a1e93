"""Hostile payloads for every served verifier: typed refusals and typed verdicts, and nothing hidden."""

import gzip
import http.client
import json
import zlib

import pytest

from verigym import Task, list_verifiers
from verigym.server.page.examples import examples_of

TASK = json.loads(
    Task(
        id="t",
        env_id="e",
        seed=1,
        prompt="p",
        difficulty="d",
        reference={"answer": "hush-hush-4711"},
    ).to_json()
)
STATUSES = {"ok", "policy_fault", "verifier_error", "timeout", "infra", "cancelled"}
HIDDEN = (b"hush-hush", b"Traceback", b'File "', b"site-packages", b".py", b"/root", b"/home")
LONG_S = 120.0

# Texts of JSON, some of them only almost.
VALUES = {
    "nothing": "null",
    "empty": '""',
    "a huge exponent": "1e999999",
    "a tiny exponent": "1e-999999",
    "a long integer": "9" * 100_000,
    "a long negative integer": "-" + "9" * 100_000,
    "a long fraction": "0." + "1" * 100_000,
    "an integer above 64 bits": str(2**64),
    "minus nothing": "-0.0",
    "NaN": "NaN",
    "infinity": "-Infinity",
    "nested to the limit": "[" * 55 + "]" * 55,
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 5000 + "1" + "}" * 5000,
    "unclosed": "[" * 50,
    "half a pair": '"\\ud800"',
    "the other half": '"\\udfff x"',
    "a key of half a pair": '{"\\ud800": 1}',
    "NUL": '"a\\u0000b"',
    "a raw NUL": '"a\0b"',
    "controls": '"\\u0001\\u001b[2J\\u007f\\u202e\\ufeff"',
    "noncharacters": '"\\uffff\\ufdd0"',
    "combining": json.dumps("e" + "\u0301" * 20_000),
    "the same key twice": '{"text": "1", "text": "2", "__proto__": {"a": 1}}',
    "SQL": json.dumps("'; DROP TABLE users; -- \" OR 1=1; ATTACH 'x'; COPY t TO '/tmp/hostile'"),
    "a template": json.dumps("{{7*7}} ${7*7} <%= 7*7 %> #{7*7} {0.__class__} %s %n"),
    "a path": json.dumps("../../../../etc/passwd\0.txt"),
    "a URL": json.dumps("file:///etc/passwd http://169.254.169.254/latest/meta-data"),
    "a program": json.dumps("__import__('os').system('touch /tmp/hostile')"),
    "a pickle": json.dumps("cos\nsystem\n(S'touch /tmp/hostile'\ntR."),
    "markup": json.dumps("<script>alert(1)</script>\n<!ENTITY x SYSTEM 'file:///etc/passwd'>"),
    "many brackets in text": json.dumps("(" * 5000 + "1" + ")" * 5000),
    "a tower of powers": json.dumps("<answer>9**9**9**9**9**9</answer>"),
    "a long expression": json.dumps("<answer>" + "1+" * 20_000 + "1</answer>"),
    "a bad pattern": json.dumps("(a+)+$" + "a" * 5000 + "!"),
    "many keys": json.dumps({str(i): i for i in range(5000)}),
    "a long text": json.dumps("x" * 200_000),
    "many lines": json.dumps("<answer>\n" * 5000),
    "zip-like": json.dumps("PK\x03\x04" + "\x00" * 100),
}


@pytest.fixture
def address(service):
    return service.url.removeprefix("http://")


def send(address, body, path="/v1/verify", **headers):
    http_ = http.client.HTTPConnection(address, timeout=LONG_S)
    try:
        given = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        http_.request("POST", path, body, given)
        answer = http_.getresponse()
        return answer.status, answer.read()
    finally:
        http_.close()


def assert_typed(status, raw, *, batch=False):
    """A verdict or a refusal, in their forms, with nothing of the task or of the machine."""
    body = json.loads(raw)
    if status == 200:
        for verdict in body["verdicts"] if batch else [body]:
            assert verdict["status"] in STATUSES
            assert (verdict["score"] is None) == (verdict["status"] not in ("ok", "policy_fault"))
            assert verdict["reason"]
            assert verdict["score"] is None or 0 <= verdict["score"] <= 1
    else:
        assert 400 <= status < 500, raw
        assert set(body) == {"error"}
        assert set(body["error"]) == {"code", "message", "where"}
        assert len(raw) < 2000
    for hidden in HIDDEN:
        assert hidden not in raw


def item(name, /, **texts):
    """A request as text, so that it may hold what is only almost JSON."""
    fields = {
        "verifier": json.dumps(name),
        "task": json.dumps(TASK),
        "submission": '"x"',
        "timeout_s": "20",
        **texts,
    }
    return "{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}"


def served():
    return [name for name in list_verifiers() if not name.startswith(("unruly/", "judge/"))]


def example(verifier):
    """A task that the verifier can use, and its parameters."""
    found = examples_of(verifier)
    return found[0] if found else {"task": {}, "params": {}}


@pytest.mark.slow
@pytest.mark.parametrize("verifier", served())
def test_submissions(address, verifier):
    known = example(verifier)
    task = json.dumps({**TASK, **known["task"]})
    params = json.dumps(known.get("params", {}))
    for text in VALUES.values():
        asked = item(verifier, task=task, params=params, submission=text, timeout_s="5")
        assert_typed(*send(address, asked.encode("utf-8", "surrogatepass")))


@pytest.mark.slow
@pytest.mark.parametrize("verifier", served())
def test_references(address, verifier):
    for text in VALUES.values():
        task = json.dumps({**TASK, "reference": "REFERENCE"}).replace('"REFERENCE"', text)
        assert_typed(*send(address, item(verifier, task=task, timeout_s="5").encode()))


@pytest.mark.parametrize("field", ["verifier", "task", "params", "timeout_s", "extra"])
def test_other_fields(address, field):
    for text in VALUES.values():
        assert_typed(*send(address, item("math/countdown", **{field: text}).encode()))


@pytest.mark.parametrize("name", ["a half in one item", "deep in one item"])
def test_one_bad_item_in_a_batch(address, name):
    text = {"a half in one item": '"\\ud800"', "deep in one item": "[" * 200 + "]" * 200}[name]
    items = [item("math/countdown"), item("math/countdown", submission=text)]
    body = '{"items":[' + ",".join(items) + "]}"
    assert_typed(*send(address, body.encode(), "/v1/verify/batch"), batch=True)


GOOD = item("math/countdown").encode()


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (gzip.compress(GOOD), {"Content_Encoding": "gzip"}, 415, "unsupported_encoding"),
        (
            gzip.compress(b" " * (64 << 20)),
            {"Content_Encoding": "gzip"},
            415,
            "unsupported_encoding",
        ),
        (zlib.compress(GOOD), {"Content_Encoding": "deflate"}, 415, "unsupported_encoding"),
        (gzip.compress(GOOD), {}, 400, "malformed_json"),
        (b"PK\x03\x04" + GOOD, {}, 400, "malformed_json"),
        (b"\xef\xbb\xbf" + GOOD, {}, 400, "malformed_json"),
        (GOOD.decode().encode("utf-16"), {}, 400, "malformed_json"),
        (GOOD.replace(b'"x"', b'"\xff\xfe"'), {}, 400, "malformed_json"),
        (GOOD.replace(b'"x"', b'"\xed\xa0\x80"'), {}, 400, "malformed_json"),
        (GOOD.replace(b'"x"', b"NaN"), {}, 400, "malformed_json"),
        (GOOD.replace(b'"x"', b"1e999999"), {}, 422, "invalid_request"),
        (GOOD.replace(b'"x"', b"[" * 100 + b"]" * 100), {}, 422, "too_deep"),
        (GOOD, {"Content_Type": "text/plain"}, 415, "unsupported_media_type"),
        (GOOD, {"Content_Type": "application/json, text/plain"}, 415, "unsupported_media_type"),
        (GOOD, {"Content_Type": "multipart/form-data; boundary=x"}, 415, "unsupported_media_type"),
        (b"", {}, 400, "malformed_json"),
        (b"\0", {}, 400, "malformed_json"),
    ],
)
def test_bodies(address, body, headers, status, code):
    got, raw = send(address, body, **headers)
    assert_typed(got, raw)
    assert (got, json.loads(raw)["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/verifiers/../../../../etc/passwd/card",
        "/v1/verifiers/%2e%2e%2f%2e%2e%2fetc%2fpasswd/card",
        "/v1/verifiers/math/countdown%00/card",
        "/v1/verifiers/" + "a" * 30_000 + "/card",
        "/v1/verifiers/%ff%fe/card",
        "/v1/verifiers/math%2Fcountdown'%20OR%201=1--/card",
        "/page/../../../../etc/passwd",
        "/page/%2e%2e/%2e%2e/__init__.py",
        "/page//etc/passwd",
        "/.env",
        "//v1/verify",
        "/v1/verify/",
        "/openapi.json/..",
        "/v1/jobs/../../x",
        "/v1/sessions/%00",
        "/v1/envs/..%2f..%2fetc%2fpasswd",
    ],
)
def test_paths(address, path):
    http_ = http.client.HTTPConnection(address, timeout=LONG_S)
    try:
        http_.putrequest("GET", path)
        http_.endheaders()
        answer = http_.getresponse()
        raw = answer.read()
    finally:
        http_.close()
    assert 300 <= answer.status < 500
    assert b"root:" not in raw
    if answer.status >= 400:
        assert_typed(answer.status, raw)


def test_the_service_is_well_after_all_that(address):
    task = json.dumps({**TASK, "reference": {"answer": "42"}})
    status, raw = send(address, item("math/answer", task=task, submission='"42"').encode())
    assert (status, json.loads(raw)["score"]) == (200, 1.0)
