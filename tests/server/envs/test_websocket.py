"""The WebSocket against a real server: order, many sessions, reattaching, and bad frames."""

import json
import socket
import struct

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from verigym.server.process import ServerProcess

ENV = "stage/obeys-v0"
WAIT_S = 60


@pytest.fixture(scope="module")
def server(stage_folder):
    with ServerProcess(
        verifiers=["none"],
        envs=["stage"],
        workers=1,
        timeout_s=WAIT_S,
        env={"PYTHONPATH": str(stage_folder)},
        options=["--env-workers", "2", "--max-sessions", "600", "--max-sessions-per-key", "600"],
    ) as running:
        yield running


@pytest.fixture
def ws(server):
    with opened(server) as socket_:
        yield socket_


def opened(server):
    return connect(server.url.replace("http", "ws") + "/v1/ws", open_timeout=WAIT_S, proxy=None)


def say(ws, op, **rest):
    ws.send(json.dumps({"op": op, **rest}))


def ask(ws, op, **rest):
    say(ws, op, **rest)
    return hear(ws)


def hear(ws):
    return json.loads(ws.recv(WAIT_S))


def begin(ws, **rest):
    return ask(ws, "create", env=ENV, seed=7, **rest)["ok"]["sessions"][0]["session"]


def test_every_operation(ws):
    made = ask(ws, "create", id=1, env=ENV, seed=7, count=2, options={"difficulty": "two"})
    assert made["id"] == 1
    sid, other = [session["session"] for session in made["ok"]["sessions"]]
    step = ask(ws, "step", id={"any": [1]}, session=sid, seq=1, action="a")
    assert step["id"] == {"any": [1]}
    assert step["ok"]["observation"] == "1 a"
    reset = ask(ws, "reset", id="r", session=sid, seq=2, seed=3)
    assert reset["ok"]["info"]["task_id"] == "verigym/stage/obeys-v0:train:two:3"
    assert ask(ws, "renew", session=other)["ok"]["seq"] == 0
    state = ask(ws, "state", session=sid)
    assert (state["id"], state["ok"]["seq"], state["ok"]["turn"]) == (None, 2, 0)
    assert ask(ws, "close", id=5, session=sid) == {"id": 5, "ok": {}}
    assert ask(ws, "state", session=sid)["error"]["code"] == "unknown_session"
    ask(ws, "close", session=other)


def test_the_answers_are_those_of_http(server, ws):
    with httpx2.Client(base_url=server.url, timeout=WAIT_S) as http:
        sid = begin(ws)
        first = ask(ws, "step", session=sid, seq=1, action="a")["ok"]
        again = http.post(f"/v1/sessions/{sid}/step", json={"seq": 1, "action": "a"})
        assert again.json() == first
        assert again.headers["Verigym-Replayed"] == "true"
        conflict = http.post(f"/v1/sessions/{sid}/step", json={"seq": 1, "action": "b"})
        assert ask(ws, "step", session=sid, seq=1, action="b")["error"] == conflict.json()["error"]


def test_sessions_run_at_once_and_each_in_order(ws):
    slow, quick = begin(ws), begin(ws)
    say(ws, "step", id="slow", session=slow, seq=1, action="sleep 0.5")
    say(ws, "step", id="after", session=slow, seq=2, action="b")
    for i in range(1, 6):
        say(ws, "step", id=i, session=quick, seq=i, action=str(i))
    answers = [hear(ws) for _ in range(7)]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5, "slow", "after"]
    assert answers[-1]["ok"]["observation"] == "2 b"


def test_answers_keep_the_order_of_a_burst_that_nobody_reads(ws):
    session = begin(ws)
    count = 3000  # more bytes than the buffer of a connection holds, fewer than stop the reading
    for i in range(count):
        say(ws, "renew", id=[i, "x" * 900], session=session)
    assert [hear(ws)["id"][0] for _ in range(count)] == list(range(count))


def test_a_session_outlives_its_socket(server):
    with opened(server) as first:
        sid = begin(first)
        say(first, "step", session=sid, seq=1, action="sleep 0.2")
    with opened(server) as second:
        again = ask(second, "step", session=sid, seq=1, action="sleep 0.2")
        assert again["ok"]["observation"] == "1 sleep 0.2"
        assert ask(second, "step", session=sid, seq=2, action="b")["ok"]["observation"] == "2 b"


def test_256_sessions_on_one_socket(ws):
    made = [ask(ws, "create", env=ENV, seed=1, count=64)["ok"]["sessions"] for _ in range(4)]
    sids = [session["session"] for group in made for session in group]
    for seq in range(1, 4):
        for i, sid in enumerate(sids):
            say(ws, "step", id=[seq, i], session=sid, seq=seq, action=str(seq))
    heard = [hear(ws) for _ in range(3 * len(sids))]
    assert all("ok" in answer for answer in heard)
    for i in range(len(sids)):
        own = [answer for answer in heard if answer["id"][1] == i]
        assert [a["ok"]["observation"] for a in own] == ["1 1", "2 2", "3 3"]
    for sid in sids:
        say(ws, "close", session=sid)
    assert all(hear(ws)["ok"] == {} for _ in sids)


@pytest.mark.parametrize(
    ("frame", "code", "id"),
    [
        ("", "malformed_json", None),
        ("{", "malformed_json", None),
        ("[]", "invalid_request", None),
        ('{"id": 3}', "invalid_request", 3),
        ('{"id": 3, "op": 4}', "invalid_request", 3),
        ('{"id": 3, "op": "stop"}', "invalid_request", 3),
        ('{"id": 3, "op": "step"}', "unknown_session", 3),
        ('{"id": 3, "op": "step", "session": "x", "sequence": 1}', "invalid_request", 3),
        ('{"id": 3, "op": "create"}', "invalid_request", 3),
        ('{"id": 3, "op": "create", "env": "x"}', "unknown_env", 3),
        ('{"id": 3, "op": "create", "env": "stage/obeys-v0", "seed": 1e99}', "invalid_request", 3),
        ('{"id": ' + "[" * 100 + "]" * 100 + ', "op": "state"}', "too_deep", None),
        ("[" * 100_000, "too_deep", None),
        ('{"op": "state", "id": "' + "x" * 1100 + '"}', "invalid_request", None),
        (b'{"op": "state"}', "not_text", None),
    ],
)
def test_frames_that_cannot_be_understood(ws, frame, code, id):
    ws.send(frame)
    answer = hear(ws)
    assert answer["error"]["code"] == code
    if code != "too_deep":
        assert answer["id"] == id
    assert ask(ws, "state", session="x")["error"]["code"] == "unknown_session"  # it lives on


def test_a_frame_that_is_no_websocket_ends_the_socket_alone(server, ws):
    sid = begin(ws)
    with opened(server) as other:
        other.socket.sendall(b"\xff\xff not masked, reserved bits set")
        with pytest.raises(ConnectionClosed):
            other.recv(WAIT_S)
    assert ask(ws, "step", session=sid, seq=1, action="a")["ok"]["seq"] == 1


def masked(payload, first=0x81, mask=b"\x01\xfe\x03\x7f"):
    """Return a frame of a client."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xff" + struct.pack(">Q", size)
    if 126 <= size < 1 << 16:
        length = b"\xfe" + struct.pack(">H", size)
    body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
    return bytes([first]) + length + mask + body


@pytest.mark.parametrize("size", [1 << 20, 4096, 13])
def test_frames_are_read_whichever_way_the_network_cuts_them(server, size):
    ask_of = [json.dumps({"id": n, "op": "state", "session": "ä" * n}).encode() for n in range(5)]
    long = json.dumps({"id": 9, "op": "x" * 70_000}).encode()
    stream = b"".join(
        [
            *(masked(ask_of[0]), masked(ask_of[1][:30], 0x01), masked(b"ping", 0x89)),
            *(masked(ask_of[1][30:], 0x80), masked(b""), masked(ask_of[2] + b" " * 200)),
            *(masked(long), masked(ask_of[3]), masked(ask_of[4], mask=bytes(4))),
        ]
    )
    with opened(server) as other:
        for at in range(0, len(stream), size):
            other.socket.sendall(stream[at : at + size])
        answers = [hear(other) for _ in range(7)]
    assert [answer["id"] for answer in answers] == [0, 1, None, 2, 9, 3, 4]
    assert answers[0]["error"]["code"] == "unknown_session"


@pytest.mark.parametrize("payload", [b"\xff\xfe not UTF-8", b"\xed\xa0\x80 half a pair"])
def test_a_text_that_is_not_unicode_ends_the_socket(server, payload):
    with opened(server) as other:
        other.socket.sendall(masked(payload) + masked(b'{"op": "state"}'))
        with pytest.raises(ConnectionClosed):
            other.recv(WAIT_S)
        assert other.protocol.close_rcvd.code == 1007


@pytest.mark.slow
def test_a_client_that_does_not_read_is_not_read_from(server):
    # The answers to a flood are not piled up: the flood comes to a halt. Others are served.
    body = json.dumps({"op": "x", "id": "y" * 1000, "action": "z" * 60_000}).encode()
    frame = b"\x81\xff" + struct.pack(">Q", len(body)) + b"\0\0\0\0" + body
    address = server.url.removeprefix("http://")
    host, _, port = address.partition(":")
    with opened(server) as other, socket.create_connection((host, int(port))) as flood:
        sid = begin(other)
        flood.sendall(
            f"GET /v1/ws HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert flood.recv(12) == b"HTTP/1.1 101"
        flood.settimeout(2.0)
        with pytest.raises(TimeoutError):
            send_for_ever(flood, frame)
        assert ask(other, "step", session=sid, seq=1, action="a")["ok"]["seq"] == 1


def send_for_ever(sock, data):
    for _ in range(200_000):  # 12 GB
        sock.sendall(data)
