"""Calls of the gateway over plain HTTP: the three wires, rows of a session, keys, errors, clients that hang up."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("transformers")

from verigym.agents.gateway.episodes import fill
from verigym.agents.rows import token_rows
from verigym.episode import Episode
from verigym.errors import ConfigError, PolicyError

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": "x"}}</tool_call>'
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
WIRES = {
    "chat": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}]}),
    "responses": ("/v1/responses", {"input": "hi"}),
    "messages": (
        "/v1/messages",
        {"max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]},
    ),
}


def user(text):
    return {"role": "user", "content": text}


def chat(http, gateway, session, messages, **fields):
    answer = http.post(
        f"{gateway.url}/s/{session.id}/v1/chat/completions",
        json={"model": "m", "messages": messages, **fields},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]


def rows(session):
    return token_rows(session.turns)


def sampled(rows):
    return sum(sum(row.mask) for row in rows)


def test_a_growing_conversation_is_one_row_of_the_ids_that_were_sampled(serve, http):
    gateway = serve("go up", "go up", "stop")
    session = gateway.open(key=(1,))
    messages = [user("Count to 7 .")]
    for observation in ("at 1", "at 2", None):
        said = chat(http, gateway, session, messages)
        messages += [said["message"], user(observation)]
    (row,) = rows(session)
    texts = [turn.response for turn in session.turns]
    assert texts == ["go up", "go up", "stop"]
    assert sampled([row]) == sum(len(turn.response_ids) for turn in session.turns)
    last = session.turns[-1]
    # Letter by letter, which encoding the text again would not give.
    assert last.prompt_ids != gateway.tokens.encode(
        gateway.tokens.tokenizer.decode(last.prompt_ids)
    )
    assert last.policy_version == 3
    assert last.logprobs == [-0.5 - i for i in range(len(last.response_ids))]
    assert [turn.state_key for turn in session.turns] == ["call", "call+1", "call+2"]


def test_forks_and_parallel_branches_and_compaction_are_rows_of_their_own(serve, http):
    gateway = serve("go up")
    session = gateway.open()
    opening = [user("Count to 7 .")]
    said = chat(http, gateway, session, opening)["message"]
    left, right = ([*opening, said, user(text)] for text in ("left", "right"))
    after_left = chat(http, gateway, session, left)["message"]
    after_right = chat(http, gateway, session, right)["message"]
    chat(http, gateway, session, [*left, after_left, user("more")])
    chat(http, gateway, session, [*right, after_right, user("more")])
    assert [len(set(row.turn) - {-1}) for row in rows(session)] == [3, 2]
    chat(http, gateway, session, [user("Summary: go up."), user("go on")])
    found = rows(session)
    assert len(found) == 3
    assert sampled(found) == sum(len(turn.response_ids) for turn in session.turns)


def test_a_reply_that_the_client_has_edited_is_not_the_models(serve, http):
    gateway = serve("go up", "stop")
    session = gateway.open()
    chat(http, gateway, session, [user("a")])
    edited = {"role": "assistant", "content": "go down"}
    chat(http, gateway, session, [user("a"), edited, user("b")])
    assert len(rows(session)) == 2
    assert "go down" in gateway.tokens.tokenizer.decode(session.turns[1].prompt_ids)


def test_a_template_that_strips_thoughts_begins_new_rows(serve, http):
    gateway = serve("<think>hm</think>go up", template="stripped")
    session = gateway.open()
    said = chat(http, gateway, session, [user("a")])["message"]
    assert said["content"] == "go up"
    assert said["reasoning_content"] == "hm"
    chat(http, gateway, session, [user("a"), {**said, "reasoning_content": None}, user("b")])
    assert len(rows(session)) == 2
    assert "hm" not in gateway.tokens.tokenizer.decode(session.turns[1].prompt_ids)
    kept = serve("<think>hm</think>go up", template="kept")
    session = kept.open()
    said = chat(http, kept, session, [user("a")])["message"]
    # The client does not send thoughts back, but the model reads what it has sampled.
    chat(http, kept, session, [user("a"), user_reply("go up"), user("b")])
    assert len(rows(session)) == 1


def user_reply(text):
    return {"role": "assistant", "content": text}


def test_tool_calls_come_back_as_the_ids_that_were_sampled(serve, http):
    gateway = serve("I add. " + CALL, "stop")
    session = gateway.open()
    said = chat(http, gateway, session, [user("a")], tools=[TOOL])
    assert said["finish_reason"] == "tool_calls"
    message = said["message"]
    assert message["content"] == "I add."
    (call,) = message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"a": 1, "b": "x"}
    # Clients write the arguments in their own way.
    call["function"]["arguments"] = '{ "b": "x",  "a": 1}'
    result = {"role": "tool", "tool_call_id": call["id"], "content": "2"}
    chat(http, gateway, session, [user("a"), message, result], tools=[TOOL])
    assert len(rows(session)) == 1
    # Without tools, the same text is text.
    assert chat(http, gateway, gateway.open(), [user("a")])["finish_reason"] == "stop"


@pytest.mark.parametrize("text", ["<tool_call>{oops</tool_call>", '{"name": 3}', "<tool_call>"])
def test_a_call_that_cannot_be_read_stays_text(serve, http, text):
    gateway = serve(text)
    said = chat(http, gateway, gateway.open(), [user("a")], tools=[TOOL])
    assert said["message"]["content"] == text
    assert "tool_calls" not in said["message"]


def test_a_stop_sequence_ends_the_reply_and_its_record(serve, http):
    gateway = serve("go up. Observation: at 9")
    session = gateway.open()
    said = chat(http, gateway, session, [user("a")], stop=["Observation:", "zzz"])
    assert said["message"]["content"] == "go up."
    assert said["finish_reason"] == "stop"
    (turn,) = session.turns
    assert turn.response == "go up. Observation:"
    assert len(turn.response_ids) == len(turn.logprobs) == len(turn.mask)
    chat(http, gateway, session, [user("a"), said["message"], user("b")])
    assert len(rows(session)) == 1


def test_a_limit_of_tokens_is_kept(serve, http):
    gateway = serve("go up and up")
    session = gateway.open()
    said = chat(http, gateway, session, [user("a")], max_tokens=3, logprobs=True)
    assert said["finish_reason"] == "length"
    assert len(session.turns[0].response_ids) == 3
    assert [one["logprob"] for one in said["logprobs"]["content"]] == [-0.5, -1.5, -2.5]
    chat(http, gateway, session, [user("a"), said["message"], user("b")])
    assert len(rows(session)) == 1


def test_replies_go_on_from_a_stored_response(serve, http):
    gateway = serve("go up")
    session = gateway.open()
    url = f"{gateway.url}/s/{session.id}/v1/responses"
    first = http.post(url, json={"input": "a", "instructions": "be brief"}).json()
    data = {"input": "b", "previous_response_id": first["id"], "instructions": "be brief"}
    assert http.post(url, json=data).json()["status"] == "completed"
    assert len(rows(session)) == 1
    answer = http.post(url, json={"input": "b", "previous_response_id": "resp_nil"})
    assert answer.status_code == 400


@pytest.mark.parametrize("wire", WIRES)
def test_keys_are_taken_from_either_header(serve, http, wire):
    gateway = serve("go up")
    path, body = WIRES[wire]
    url = f"{gateway.url}/s/{gateway.open('one', token='secret').id}{path}"
    for headers in ({"authorization": "Bearer secret"}, {"x-api-key": "secret"}):
        assert http.post(url, json=body, headers=headers).status_code == 200
    for headers in ({}, {"x-api-key": "other"}, {"authorization": "Bearer x"}):
        answer = http.post(url, json=body, headers=headers)
        assert answer.status_code == 401
        kind = answer.json()["error"]["type"]
        assert kind == "authentication_error"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("data", "status"), [(b"{", 400), (b"{}", 400), (b"[]", 400), (b"\xff", 400), (None, 404)]
)
def test_errors_have_the_shape_of_their_wire(serve, http, wire, data, status):
    gateway = serve("go up")
    path, body = WIRES[wire]
    session = gateway.open("one")
    name = session.id if data is not None else "other"
    content = json.dumps(body).encode() if data is None else data
    answer = http.post(f"{gateway.url}/s/{name}{path}", content=content)
    assert answer.status_code == status
    found = answer.json()
    if wire == "messages":
        assert found["type"] == "error"
        assert set(found["error"]) == {"type", "message"}
    else:
        assert set(found["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("chat", {"n": 2}),
        ("chat", {"logit_bias": {"5": 1}}),
        ("chat", {"response_format": {"type": "json_object"}}),
        ("chat", {"top_logprobs": 3}),
        ("chat", {"functions": [{}]}),
        ("chat", {"tools": [TOOL], "tool_choice": {"type": "function"}}),
        ("chat", {"tools": [{"type": "web_search"}]}),
        ("chat", {"max_tokens": -1}),
        ("chat", {"messages": []}),
        ("chat", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
        ("responses", {"background": True}),
        ("responses", {"text": {"format": {"type": "json_schema"}}}),
        ("responses", {"tools": [{"type": "web_search"}]}),
        ("responses", {"input": [{"type": "item_reference", "id": "x"}]}),
        ("messages", {"tools": [{"name": "add"}], "tool_choice": {"type": "tool", "name": "add"}}),
        ("messages", {"messages": [user("a"), user_reply("b")]}),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "image"}]}]}),
    ],
)
def test_what_cannot_be_honoured_is_refused(serve, http, path, fields):
    gateway = serve("go up")
    route, body = WIRES[path]
    answer = http.post(f"{gateway.url}/s/{gateway.open().id}{route}", json={**body, **fields})
    assert answer.status_code == 400
    assert gateway.sampler.asked == []


def test_what_the_run_decides_is_ignored(serve, http):
    gateway = serve("go up")
    fields = {
        "temperature": 0,
        "top_p": 0.1,
        "seed": 3,
        "n": 1,
        "user": "me",
        "tool_choice": "auto",
    }
    chat(http, gateway, gateway.open(), [user("a")], **fields)


def test_a_prompt_that_is_too_long_says_so(serve, http):
    gateway = serve("go up", sampler={"max_context": 40})
    answer = http.post(
        f"{gateway.url}/s/{gateway.open().id}/v1/chat/completions",
        json={"messages": [user("Count to 7 . " * 40)]},
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"


def test_tools_need_a_template_that_shows_them(serve, http):
    gateway = serve("go up", template="kept")
    answer = http.post(
        f"{gateway.url}/s/{gateway.open().id}/v1/chat/completions",
        json={"messages": [user("a")], "tools": [TOOL]},
    )
    assert answer.status_code == 400
    assert "takes no tools" in answer.text


def test_a_broken_engine_is_a_fault_of_the_episode(serve, http):
    gateway = serve("go up", sampler={"fails": [PolicyError("gone")]})
    session = gateway.open()
    url = f"{gateway.url}/s/{session.id}/v1/messages"
    answer = http.post(url, json=WIRES["messages"][1])
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "overloaded_error"
    assert http.post(url, json=WIRES["messages"][1]).status_code == 200
    episode = fill(
        Episode(id="e", env_id="", task_id="", seed=0, group_id="e", difficulty="", split="train"),
        session,
        "done",
    )
    assert episode.fault.cause == "policy_error"


def test_a_client_that_hangs_up_leaves_no_record(serve, http):
    gateway = serve("go up", sampler={"delay_s": 0.3})
    session = gateway.open()
    path, body = WIRES["chat"]
    for stream in (False, True):
        with pytest.raises(Exception, match=r"(?i)time"):
            http.post(
                f"{gateway.url}/s/{session.id}{path}", json={**body, "stream": stream}, timeout=0.1
            )
    assert gateway.settle(5)
    time.sleep(0.05)
    assert session.turns == []
    chat(http, gateway, session, [user("a")])
    assert len(session.turns) == 1


def test_a_program_that_is_killed_in_a_call_leaves_no_record(serve, http):
    gateway = serve("go up")
    session = gateway.open()
    begun, goes_on, sample = threading.Event(), threading.Event(), gateway.sampler.sample

    def held(*asked):
        begun.set()
        goes_on.wait(20)
        return sample(*asked)

    gateway.sampler.sample = held
    path, body = WIRES["chat"]
    program = (
        "import sys, urllib.request as u;"
        "u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), {'content-type': 'application/json'}))"
    )
    url = f"{gateway.url}/s/{session.id}{path}"
    with subprocess.Popen([sys.executable, "-I", "-c", program, url, json.dumps(body)]) as child:
        assert begun.wait(20)
        child.kill()
    until = time.monotonic() + 20
    while session._running and time.monotonic() < until:
        time.sleep(0.01)
    goes_on.set()
    assert gateway.settle(5)
    assert session.turns == []
    assert session.fault is None
    chat(http, gateway, session, [user("a")])
    assert len(session.turns) == 1


def test_calls_that_wait_share_a_batch(serve, http):
    gateway = serve("go up", sampler={"delay_s": 0.2})
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: chat(http, gateway, gateway.open(), [user("a")]), range(6)))
    assert len(gateway.sampler.batches) < 6
    assert sum(gateway.sampler.batches) == 6


def test_an_ended_session_takes_no_calls(serve, http):
    gateway = serve("go up")
    session = gateway.open(max_calls=1)
    path, body = WIRES["chat"]
    url = f"{gateway.url}/s/{session.id}{path}"
    assert http.post(url, json=body).status_code == 200
    assert http.post(url, json=body).status_code == 403
    gateway.end(session)
    assert http.post(url, json=body).status_code == 404


def test_the_session_may_stand_in_a_header(serve, http):
    gateway = serve("go up", opens=True)
    path, body = WIRES["chat"]
    for name in ("a", "a", "b"):
        headers = {"x-session-id": name}
        assert http.post(gateway.url + path, json=body, headers=headers).status_code == 200
    assert http.post(gateway.url + path, json=body).status_code == 200
    assert {name: len(one.turns) for name, one in gateway.sessions.items()} == {
        "a": 2,
        "b": 1,
        "default": 1,
    }
    for wrong in ("a/b", "", "x" * 200, "a b"):
        answer = http.post(gateway.url + path, json=body, headers={"x-session-id": wrong})
        assert answer.status_code == (400 if wrong else 200)


def test_models_and_token_counts(serve, http):
    gateway = serve("go up")
    root = f"{gateway.url}/s/{gateway.open().id}"
    assert http.get(f"{root}/v1/models").json()["data"][0]["id"] == "m"
    counted = http.post(f"{root}/v1/messages/count_tokens", json=WIRES["messages"][1]).json()
    answered = http.post(f"{root}/v1/messages", json=WIRES["messages"][1]).json()
    assert counted["input_tokens"] == answered["usage"]["input_tokens"]
    assert http.get(f"{root}/v1/nothing").status_code == 404
    assert http.get(f"{gateway.url}/health").json() == {"status": "ok"}


def test_other_addresses_need_a_key(serve):
    with pytest.raises(ConfigError, match="needs a key"):
        serve("x", host="0.0.0.0")
