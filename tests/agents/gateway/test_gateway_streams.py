"""Streams send what the sampler has sampled, while it samples on, and nothing that they would have to take back."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

pytest.importorskip("transformers")

from verigym.agents.engines.sampler import Sample, Span
from verigym.agents.gateway.chat import ChatCall, ChatMessage
from verigym.agents.gateway.replies import cut_at_stop, read_reply
from verigym.agents.gateway.streams import PartialReply

USER = [{"role": "user", "content": "hi"}]
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
# Of each wire: its path, a body, and the field of an event that has further text.
WIRES = {
    "chat": ("/v1/chat/completions", {"messages": USER}),
    "responses": ("/v1/responses", {"input": USER}),
    "messages": ("/v1/messages", {"messages": USER, "max_tokens": 400}),
}
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def text_in(wire: str, event: dict) -> str:
    if wire == "chat":
        choices = event.get("choices") or [{"delta": {}}]
        return choices[0]["delta"].get("content") or ""
    if wire == "responses":
        return event["delta"] if event["type"] == "response.output_text.delta" else ""
    return event.get("delta", {}).get("text", "")


def events_of(answer):
    for line in answer.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize("wire", WIRES)
def test_text_arrives_while_the_rest_is_sampled(serve, stepwise, wire):
    gateway = serve("go up then left")
    goes_on = stepwise(gateway, n=8)
    session = gateway.open()
    path, body = WIRES[wire]
    url = f"{gateway.url}/s/{session.id}{path}"
    with (
        httpx2.Client(timeout=20) as http,
        http.stream("POST", url, json={**body, "stream": True}) as answer,
    ):
        events = events_of(answer)
        before = ""
        while "go" not in before:  # nothing else opens the gate
            before += text_in(wire, next(events))
        assert "left" not in before
        goes_on.set()
        assert before + "".join(text_in(wire, one) for one in events) == "go up then left"
    assert [turn.response for turn in session.turns] == ["go up then left"]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("go <action>up</action> now", "go <action>up</action> now"),
        ("<think>a < b</think>\n go up", "go up"),
        ("  go up \n", "go up"),
        ("a [b] c [d", "a [b] c [d"),
        (f"I add. {CALL}", "I add."),
    ],
)
def test_a_stream_is_what_an_answer_at_once_is(serve, stepwise, http, wire, said, content):
    """Word by word, and with a sampler that shows nothing before the end."""
    gateway = serve(said)
    path, body = WIRES[wire]
    if CALL in said:
        tool = {"name": "add", "input_schema": {"type": "object"}}
        tool = {"chat": ADD, "responses": {"type": "function", **ADD["function"]}}.get(wire, tool)
        body = {**body, "tools": [tool]}
    found, rows = [], []
    for is_stepwise in (False, True):
        if is_stepwise:
            stepwise(gateway).set()
        session = gateway.open()
        with http.stream(
            "POST", f"{gateway.url}/s/{session.id}{path}", json={**body, "stream": True}
        ) as answer:
            events = list(events_of(answer))
        found.append("".join(text_in(wire, one) for one in events))
        rows.append([(t.prompt_ids, t.response_ids, t.logprobs, t.action) for t in session.turns])
        if wire == "responses":
            assert [one["sequence_number"] for one in events] == list(range(len(events)))
            done = events[-1]["response"]["output"]
            closed = [e["item"] for e in events if e["type"] == "response.output_item.done"]
            assert [{**o, "id": ""} for o in closed] == [{**o, "id": ""} for o in done]
        if wire == "messages":
            kinds = [one["type"] for one in events]
            assert kinds.count("content_block_start") == kinds.count("content_block_stop")
    assert found == [content, content]
    assert rows[0] == rows[1]


def test_a_call_that_goes_on_from_a_streamed_reply_extends_its_row(serve, stepwise, http):
    gateway = serve("I add. " + CALL, "done")
    stepwise(gateway).set()
    session = gateway.open()
    url = f"{gateway.url}/s/{session.id}/v1/chat/completions"
    with http.stream("POST", url, json={"messages": USER, "stream": True}) as answer:
        said = "".join(text_in("chat", one) for one in events_of(answer))
    more = [*USER, {"role": "assistant", "content": said}, {"role": "user", "content": "go on"}]
    assert http.post(url, json={"messages": more}).status_code == 200
    first, second = session.turns
    head = first.prompt_ids + first.response_ids
    assert second.prompt_ids[: len(head)] == head


def test_an_engine_that_fails_after_text_was_sent_ends_the_stream_with_an_error(serve, http):
    from verigym.errors import PolicyError

    gateway = serve("go up")
    asked = []

    def sample_watched(prompts, params, keys, watch):
        asked.append(prompts)
        watch([0], gateway.sampler.tokens.encode("g"))
        raise PolicyError("the engine is gone")

    gateway.sampler.sample_watched = sample_watched
    gateway.batches._patience_s = 60.0
    session = gateway.open()
    url = f"{gateway.url}/s/{session.id}/v1/chat/completions"
    with http.stream("POST", url, json={"messages": USER, "stream": True}) as answer:
        text = answer.read().decode()
    assert "the engine is gone" in text
    assert len(asked) == 1  # not sampled once more: the client has seen a part
    assert session.turns == []
    assert session.fault is not None
    assert session.fault.cause == "policy_error"


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_session_that_ends_meanwhile_says_so(serve, stepwise, is_stream):
    gateway = serve("go up then left")
    began, goes_on, sample = threading.Event(), stepwise(gateway, n=8), gateway.sampler.sample

    def hold(*asked):
        began.set()
        assert goes_on.wait(20)
        return sample(*asked)

    gateway.sampler.sample = hold
    session = gateway.open()
    url = f"{gateway.url}/s/{session.id}/v1/chat/completions"

    def end():
        assert began.wait(20)
        gateway.end(session)

    with ThreadPoolExecutor(1) as other, httpx2.Client(timeout=20) as http:
        ended = other.submit(end)
        body = {"messages": USER, "stream": is_stream}
        with http.stream("POST", url, json=body) as answer:
            lines = answer.iter_lines()
            text = next(lines)
            began.set()  # a stream, whose text has begun
            text += "".join(lines)
        ended.result(20)
        goes_on.set()
    assert answer.status_code == (200 if is_stream else 403)
    assert "session_ended" in text
    assert session.turns == []


@pytest.mark.parametrize("stop", [(), ("STOP",), ("ab", "\n")])
@pytest.mark.parametrize(
    "text",
    [
        "plain words and more",
        "<think>why</think> so",
        "<think>never closed",
        "a<b and c>d",
        "x STO STOP y",
        "caf\u00e9 \u20ac \U0001f600\U0001f600!",
        "<action>up</action> then <answer>7</answer>",
        "text </think> after",
        '{"a": "<think>"}',
        "",
        "   ",
        "[1, 2, [3]] and [",
    ],
)
def test_parts_add_up_to_the_reply(text, stop):
    """Byte by byte, what is taken is a beginning of what the whole reply keeps."""
    data = text.encode()

    def decode(ids):
        return bytes(ids).decode(errors="replace")

    call = ChatCall(
        model="m", messages=[ChatMessage(role="user", content="q")], stop=stop, stream=True
    )
    parts = PartialReply(call)
    parts.begin("prompt", 3, decode)
    thoughts = content = ""
    for byte in data:
        parts.feed([byte])
        more = parts.take()
        thoughts, content = thoughts + more[0], content + more[1]
    sample = Sample(
        ids=list(data),
        logprobs=[0.0] * len(data),
        versions=[Span(0, 0, len(data))],
        finish_reason="stop",
    )
    whole = read_reply(call, cut_at_stop(sample, stop, decode), 3, decode)
    shown = parts.settle(whole)
    assert shown.content.startswith(content)
    assert shown.thoughts.startswith(thoughts)
    # Thoughts that only their end gives away were sent as text; those that never end, as thoughts.
    if text not in ("text </think> after", "<think>never closed"):
        assert (shown.content, shown.thoughts) == (whole.content, whole.thoughts)
    if text == "plain words and more" and not stop:
        assert content == text


@pytest.mark.parametrize("prompt", ["prompt", "<think>"])
def test_nothing_behind_a_stop_sequence_in_thoughts_is_sent(prompt):
    call = ChatCall(model="m", messages=[], stop=("STOP",), stream=True)
    parts = PartialReply(call)
    parts.begin(prompt, 3, lambda ids: "".join(map(chr, ids)))
    sent = []
    for letter in ("" if prompt == "<think>" else "<think>") + "why STOP b</think> go up":
        parts.feed([ord(letter)])
        sent.append(parts.take())
    assert ["".join(texts) for texts in zip(*sent, strict=True)] == ["why", ""]


def test_a_prompt_may_open_the_thoughts():
    parts = PartialReply(ChatCall(model="m", messages=[], stream=True))
    parts.begin("<|assistant|><think>\n", 3, lambda ids: "".join(map(chr, ids)))
    parts.feed(list(map(ord, "because")))
    assert parts.take() == ("because", "")
    parts.feed(list(map(ord, "</think> go")))
    assert parts.take() == ("", "go")
