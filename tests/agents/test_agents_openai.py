"""The remote policy against a small server on loopback: well, broken, slow, nonsense."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import verigym
from verigym import PolicyError
from verigym.agents.loop import FaultLimit, Ledger, Settings, plan_groups, play
from verigym.agents.make_policy import make_policy
from verigym.agents.policies.openai import OpenAIPolicy
from verigym.agents.policy import PolicyRefusal, Request

ASK = Request(messages=[{"role": "user", "content": "at 0"}], key=(1, 2, 0))


def body(text="up", *, finish="stop", ids=None, prompt_ids=None, logprobs=None):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
    }
    if ids is not None:
        choice["token_ids"] = ids
    if logprobs is not None:
        choice["logprobs"] = {
            "content": [
                {"token": "x", "logprob": p, "bytes": None, "top_logprobs": []} for p in logprobs
            ]
        }
    reply = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    if prompt_ids is not None:
        reply["prompt_token_ids"] = prompt_ids
    return reply


class Server:
    """Answers with what `answer(request)` gives: (status, JSON value or bytes)."""

    def __init__(self):
        self.answer = lambda request: (200, body())
        self.asked: list[dict] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                size = int(self.headers["Content-Length"])
                asked = json.loads(self.rfile.read(size))
                outer.asked.append(asked)
                outer.keys.append(self.headers.get("Authorization"))
                status, said = outer.answer(asked)
                data = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        class Http(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass  # a client that gave up waiting closes its end

        self.http = Http(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "VERIGYM_POLICY_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def policy(server):
    policy = OpenAIPolicy("some/model", server.url, max_new_tokens=7, temperature=0.5)
    yield policy
    policy.close()


def test_a_request_carries_what_was_asked_for(server, policy):
    made = policy.complete([ASK])[0]
    assert (made.text, made.finish_reason) == ("up", "stop")
    assert made.response_ids == made.logprobs == made.mask == []
    assert made.generate_s > 0
    asked = server.asked[0]
    assert asked["messages"] == [{"role": "user", "content": "at 0"}]
    assert (asked["model"], asked["max_tokens"], asked["temperature"]) == ("some/model", 7, 0.5)
    policy.complete([ASK])
    policy.complete([Request(messages=ASK.messages, key=(1, 3, 0))])
    seeds = [a["seed"] for a in server.asked]
    assert seeds[0] == seeds[1] != seeds[2]
    assert policy.name == "openai:some/model"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}, (11, 3)),
        ({"prompt_tokens": "many", "completion_tokens": -1, "total_tokens": 0}, (None, None)),
        (None, (None, None)),
    ],
)
def test_the_servers_token_counts_are_kept(server, policy, usage, counts):
    server.answer = lambda _: (200, {**body(), "usage": usage})
    made = policy.complete([ASK])[0]
    assert (made.prompt_tokens, made.response_tokens) == counts


def test_token_ids_and_log_probabilities_are_kept_where_both_are_given(server):
    policy = OpenAIPolicy("m", server.url, token_ids=True)
    server.answer = lambda _: (
        200,
        body("up", ids=[7, 2], prompt_ids=[5, 6], logprobs=[-0.5, -0.25], finish="length"),
    )
    made = policy.complete([ASK])[0]
    assert (made.prompt_ids, made.response_ids) == ([5, 6], [7, 2])
    assert (made.logprobs, made.mask) == ([-0.5, -0.25], [1, 1])
    assert made.finish_reason == "length"
    assert server.asked[0]["return_token_ids"] is True
    assert server.asked[0]["logprobs"] is True
    policy.close()


@pytest.mark.parametrize(
    "reply",
    [
        body(ids=[7, 2], prompt_ids=[5]),
        body(ids=[7, 2], logprobs=[-1, -1]),
        body(prompt_ids=[5], logprobs=[-1, -1]),
        body(ids=[7, 2], prompt_ids=[5], logprobs=[-1]),
        body(ids=[7, "2"], prompt_ids=[5], logprobs=[-1, -1]),
        body(ids=[7, 2], prompt_ids=[5], logprobs=[-1, None]),
    ],
)
def test_half_of_the_tokens_is_none_of_them(server, policy, reply):
    server.answer = lambda _: (200, reply)
    made = policy.complete([ASK])[0]
    assert made.text == "up"
    assert made.prompt_ids == made.response_ids == made.logprobs == made.mask == []


def test_a_server_that_gives_no_tokens_is_refused_if_they_were_asked_for(server, refused):
    policy = make_policy(f"openai:m@{server.url}", token_ids=True)
    with refused("gave no token ids"):
        policy.complete([ASK])
    server.answer = lambda _: (200, body("up", ids=[7], prompt_ids=[5], logprobs=[-1]))
    assert policy.complete([ASK])[0].response_ids == [7]
    server.answer = lambda _: (200, body("up", ids=[7], prompt_ids=[5], logprobs=[None]))
    assert policy.complete([ASK])[0].response_ids == []
    policy.close()


@pytest.mark.parametrize(
    "message",
    [
        {"content": "half \ud800"},
        {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "\udfff"}}]},
        {"content": "x", "tool_calls": None, "reasoning_content": float("nan")},
    ],
)
def test_what_a_model_writes_cannot_fail_its_episode(server, policy, message):
    said = body()
    said["choices"][0]["message"] = message
    server.answer = lambda _: (200, json.dumps(said).encode())
    (made,) = policy.complete([ASK])
    assert made.text.encode()
    assert ("\ufffd" in made.text) == (message["content"] != "x")


def test_half_of_a_character_in_a_prompt_is_sent(server, policy):
    policy.complete([Request(messages=[{"role": "user", "content": "\ud800"}], key=(1,))])
    assert server.asked[0]["messages"][0]["content"] == "\ud800"


def test_a_moved_server_is_the_callers_mistake(server, policy, refused):
    server.answer = lambda _: (308, {"detail": "moved"})
    with refused("answered 308: moved"):
        policy.complete([ASK])


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_faults_of_the_server_are_policy_errors(server, policy, status):
    server.answer = lambda _: (status, {"error": {"message": "on fire"}})
    with pytest.raises(PolicyError, match=f"answered {status}.*on fire") as caught:
        policy.complete([ASK])
    assert not isinstance(caught.value, PolicyRefusal)
    assert len(server.asked) == 1  # repeating is the loop's affair


def test_a_request_that_will_never_do_is_refused(server, policy):
    server.answer = lambda _: (400, {"error": {"message": "prompt too long"}})
    with pytest.raises(PolicyRefusal, match="prompt too long"):
        policy.complete([ASK])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_is_the_callers_mistake(server, policy, status, refused):
    server.answer = lambda _: (status, {"error": {"message": "no"}})
    with refused("check model name, address and key"):
        policy.complete([ASK])


@pytest.mark.parametrize(
    "said",
    [
        b"<html>gateway</html>",
        b"",
        b"{",
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]},
        [],
        "text",
        None,
    ],
)
def test_nonsense_is_a_policy_error(server, policy, said):
    server.answer = lambda _: (200, said)
    with pytest.raises(PolicyError):
        policy.complete([ASK])


def test_no_content_is_an_empty_answer(server, policy):
    server.answer = lambda _: (200, body(None))
    assert policy.complete([ASK])[0].text == ""


def test_a_slow_server_is_a_policy_error(server, gate):
    policy = OpenAIPolicy("m", server.url, timeout_s=0.1)

    def slow(_):
        gate.pass_through()
        return 200, body()

    server.answer = slow
    with pytest.raises(PolicyError, match="Timeout"):
        policy.complete([ASK])
    gate.open.set()
    policy.close()


def test_a_server_that_is_not_there_is_a_policy_error(server):
    server.stop()
    policy = OpenAIPolicy("m", server.url)
    with pytest.raises(PolicyError, match="gave no completion"):
        policy.complete([ASK])
    policy.close()
    server.stop = lambda: None  # has been


def test_requests_run_side_by_side_and_answer_in_order(server, policy):
    together = threading.Barrier(4)

    def answer(asked):
        together.wait(60)
        return 200, body(asked["messages"][0]["content"])

    server.answer = answer
    asked = [Request(messages=[{"role": "user", "content": str(i)}], key=(i,)) for i in range(4)]
    assert [m.text for m in policy.complete(asked)] == ["0", "1", "2", "3"]


def test_keys_go_only_where_they_were_meant_to(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "precious")
    for given, expected in ((None, "Bearer none"), ("mine", "Bearer mine")):
        policy = OpenAIPolicy("m", server.url, api_key=given)
        policy.complete([ASK])
        policy.close()
        assert server.keys[-1] == expected
    monkeypatch.setenv("VERIGYM_POLICY_KEY", "meant")
    policy = OpenAIPolicy("m", server.url)
    policy.complete([ASK])
    policy.close()
    assert server.keys[-1] == "Bearer meant"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8000"}, "base_url must be like"),
        ({"base_url": "http://x/v1", "concurrency": 0}, "concurrency"),
        ({"base_url": "http://x/v1", "timeout_s": 0}, "timeout_s"),
    ],
)
def test_impossible_options_are_refused(refused, options, message):
    with refused(message):
        OpenAIPolicy("m", **options)


def test_tools_are_offered_and_calls_become_the_action(server):
    env = verigym.make("tools/call")
    env.reset(seed=3)
    expected = json.loads(env.oracle().partition("<tool_call>")[2].partition("</tool_call>")[0])
    calls = [expected] if isinstance(expected, dict) else expected
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{i}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for i, call in enumerate(calls)
        ],
    }
    said = body()
    said["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
    server.answer = lambda _: (200, said)
    policy = OpenAIPolicy("m", server.url, tools=True)
    asked = Request(messages=ASK.messages, env=env, key=(1,))
    (made,) = policy.complete([asked])
    assert server.asked[-1]["tools"] == env.tools()
    assert env.step(made.text)[1] == 1.0
    policy.complete([ASK])
    assert "tools" not in server.asked[-1]
    policy.close()


def test_episodes_are_played_over_the_wire(server, counter, make_verifier):
    """A server that fails now and then is waited for, and the play is as if it never had."""
    lock, count = threading.Lock(), [0]

    def answer(asked):
        with lock:
            count[0] += 1
            if count[0] % 4 == 0:
                return 503, {"error": {"message": "busy"}}
        seen = asked["messages"][-1]["content"]
        return 200, body(
            "<think>hm</think><action>" + ("stop" if "at 2" in seen else "up") + "</action>"
        )

    server.answer = answer
    policy = make_policy(f"openai:m@{server.url}", concurrency=4)
    plans = plan_groups(counter(), range(6), env_kwargs={"verifier": make_verifier()})
    settings = Settings(backoff_s=0.001, backoff_max_s=0.01)
    episodes = play(plans, policy, settings=settings)
    assert [[t.action for t in e.turns] for e in episodes] == [["up", "up", "stop"]] * 6
    assert all(e.turns[0].response.startswith("<think>") for e in episodes)
    assert sum(e.retries for e in episodes) == count[0] // 4
    server.answer = lambda _: (500, {})
    with pytest.raises(FaultLimit) as caught:
        play(plans, policy, settings=Settings(patience_s=0.05, backoff_s=0.001))
    assert caught.value.causes == {"policy_error": 6}
    policy.close()


def test_a_request_over_the_loops_deadline_is_broken_off(server, counter, make_verifier, gate):
    """The server sees its connection closed, so that it may stop generating; no thread is left behind."""

    def slow(_):
        gate.pass_through()
        return 200, body()

    server.answer = slow
    policy = OpenAIPolicy("m", server.url)
    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": make_verifier()})
    ledger = Ledger()
    settings = Settings(generate_deadline_s=0.2, fault_limit=1.0)
    episodes = play(plans, policy, settings=settings, ledger=ledger)
    assert [e.fault.cause for e in episodes] == ["policy_timeout"] * 3
    assert ledger.abandoned_threads == 0
    gate.open.set()
    server.answer = lambda _: (200, body("<action>stop</action>"))
    assert all(e.status == "done" for e in play(plans, policy, settings=settings))
    policy.close()


def test_many_requests_need_no_threads(server, counter, make_verifier):
    together = threading.Barrier(64)

    def answer(_):
        together.wait(60)
        return 200, body("<action>stop</action>")

    server.answer = answer
    policy = OpenAIPolicy("m", server.url, concurrency=64)
    plans = plan_groups(counter(), range(64), env_kwargs={"verifier": make_verifier()})
    names = set()
    episodes = play(
        plans,
        policy,
        on_turn=lambda *_: names.update(thread.name for thread in threading.enumerate()),
    )
    assert {e.status for e in episodes} == {"done"}
    assert sum(name.startswith("verigym-generate") for name in names) == 0
    policy.close()
