"""The log: its two forms, what is in a line and what never is, and a reader that stalls."""

import asyncio
import io
import json
import logging
import os
import threading

import httpx2
import pytest

from verigym import ConfigError, Task
from verigym.server import logs
from verigym.server.metrics import Metrics
from verigym.server.process import ServerProcess
from verigym.server.refusals import Refusal
from verigym.server.watch import Watch

TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="PROMPT", difficulty="d", reference="HUSH").to_json()
)
KEY = "correct-horse-battery"


@pytest.fixture
def configured():
    """`configure` to a text in memory; gives the lines that were written."""
    stream = io.StringIO()

    def start(format, level="info"):
        logs.configure(format, level, stream)

        def lines():
            logs.forget()
            return stream.getvalue().splitlines()

        return lines

    yield start
    logs.forget()


def test_a_json_line_has_time_level_logger_message_request_and_fields(configured):
    lines = configured("json")
    logs.with_id("abc")
    logging.getLogger("verigym.x").info("got %d", 3, extra=logs.fields(status=200))
    logs.with_id("")
    logging.getLogger("other").warning("w")
    logging.getLogger("other").info("not heard")
    first, second = map(json.loads, lines())
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "info",
        "logger": "verigym.x",
        "message": "got 3",
        "request": "abc",
        "status": 200,
    }
    assert (second["logger"], "request" in second) == ("other", False)


def record(message, error=None):
    """Return a record as a logger makes it; pytest's own capture cannot hold lone surrogates."""
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("verigym.x", logging.ERROR, "f", 1, message, (), info)


def test_a_text_line_is_one_line_whatever_it_says():
    one = record("a\nb\r\ud800")
    vars(one).update(logs.fields(ms=1.5, caller=""))
    assert logs.TextFormatter().format(one)[12:] == " error   a\\nb\\r\\ud800 ms=1.5"


def test_a_trace_is_inside_the_json_line_and_surrogates_are_escaped():
    line = logs.JsonFormatter().format(record("failed", ValueError("half \ud800 of a pair")))
    assert "\n" not in line
    assert "ValueError: half \\ud800 of a pair" in json.loads(line)["trace"]


def test_the_format_of_a_pipe_is_json_and_levels_are_checked(configured):
    lines = configured("auto", "error")
    logging.getLogger("verigym.x").warning("not heard")
    logging.getLogger("verigym.x").error("heard")
    assert [json.loads(line)["message"] for line in lines()] == ["heard"]
    with pytest.raises(ConfigError, match="format must be"):
        logs.configure("xml")
    with pytest.raises(ConfigError, match="level must be"):
        logs.configure("json", "loud")


def test_a_reader_that_stalls_costs_lines_but_nobody_waits():
    reading, writing = os.pipe()
    with os.fdopen(reading) as source, os.fdopen(writing, "w") as pipe:
        handler = logs.LineHandler(pipe, max_lines=5)
        handler.setFormatter(logging.Formatter("%(message)s"))

        def say(text):
            handler.emit(logging.LogRecord("x", logging.INFO, "f", 1, text, (), None))

        say("x" * (1 << 20))  # more than a pipe holds: the writer stalls on it
        assert os.read(reading, 1) == b"x"  # and has begun to
        for i in range(9):
            say(str(i))
        heard = []
        reader = threading.Thread(target=lambda: heard.extend(source))
        reader.start()
        handler.close()
        pipe.close()
        reader.join()
    assert [line.strip() for line in heard][1:] == [
        *"01234",
        "4 lines of the log were dropped: its reader was too slow",
    ]


def test_access_lines_say_who_asked_what_and_never_what_was_in_it(unruly, tmp_path):
    path = tmp_path / "log"
    secret = {"Authorization": f"Bearer {KEY}"}
    body = {"verifier": "unruly/obeys", "task": TASK, "submission": {"do": "nothing", "x": "SUBM"}}
    with (
        path.open("wb") as log,
        ServerProcess(verifiers=["unruly/obeys"], workers=1, key=KEY, log=log) as server,
        httpx2.Client(base_url=server.url, headers=secret) as http,
    ):
        taken = http.post("/v1/verify?QUERY=1", json=body, headers={"X-Request-ID": "run-7:a.b_c"})
        odd = ("a b", "x" * 65, "", 'a"b', "é".encode())
        made = [http.get("/v1/verifiers", headers={"X-Request-ID": id}) for id in odd]
        refused = http.get("/SECRETPATH", headers={"Authorization": "Bearer wrong-KEY"})
        crashed = http.post("/v1/verify", json={**body, "submission": {"do": "raise"}})
    assert taken.headers["X-Request-ID"] == "run-7:a.b_c"
    ids = [answer.headers["X-Request-ID"] for answer in [*made, refused]]
    assert all(len(id) == 16 and id.isalnum() for id in ids)
    assert len(set(ids)) == len(ids)
    text = path.read_text()
    for hidden in ("PROMPT", "SUBM", KEY, "wrong-KEY", "QUERY", "SECRETPATH", "a b"):
        assert hidden not in text
    lines = [json.loads(line) for line in text.splitlines()]
    access = {line["request"]: line for line in lines if line["logger"] == "verigym.access"}
    line = access["run-7:a.b_c"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/v1/verify", 200)
    assert line["caller"]
    assert line["bytes_in"] == len(taken.request.content)
    assert line["bytes_out"] == len(taken.content)
    assert line["ms"] > 0
    line = access[refused.headers["X-Request-ID"]]
    assert (line["route"], line["status"], line["caller"]) == ("(none)", 401, "")
    about = [line for line in lines if line.get("request") == crashed.headers["X-Request-ID"]]
    assert [line["logger"] for line in about] == ["verigym.server.app", "verigym.access"]


def test_of_refusals_for_want_of_room_one_a_second_is_logged(configured, monkeypatch):
    """A line for each would take the time from those that were admitted."""
    now = [100.0]
    monkeypatch.setattr("verigym.server.watch.time.monotonic", lambda: now[0])
    lines = configured("json")

    async def busy(scope, receive, send):
        await Refusal(429, "busy", "later").response()(scope, receive, send)

    async def ask():
        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            pass

        scope = {"type": "http", "method": "POST", "path": "/v1/verify", "headers": [], "state": {}}
        await watch(scope, receive, send)

    watch = Watch(busy, Metrics(), None)
    for at in (0.0, 0.1, 0.5, 0.9, 1.1, 1.2):
        now[0] = 100.0 + at
        asyncio.run(ask())
    told = [json.loads(line) for line in lines()]
    assert [line["refused"] for line in told] == [1, 4]
