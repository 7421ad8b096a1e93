"""Answers of HTTP/1.1 servers, read from bytes that arrive in any pieces."""

from __future__ import annotations

import pytest

from verigym.agents.http_answer import AnswerReader, BadAnswer

OK = b"HTTP/1.1 200 OK\r\n"
GOOD = [
    (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
    (OK + b"content-length:0\r\n\r\n", b"", True),
    (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
    (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", b"hi", True),
    (b"HTTP/1.1 204\r\n\r\n", b"", True),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + OK
     + b"Content-Length: 2\r\n\r\nhi", b"hi", True),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
     b"abc0123456789", True),
    (OK + b"Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nDigest: x\r\n\r\n", b"a", True),
    (OK + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\na\r\n0\r\n\r\n", b"a", False),
]  # fmt: skip
BAD = [
    b"<html>\r\n\r\n",
    b"HTTP/2 200 OK\r\n\r\n",
    b"HTTP/1.1 2000 OK\r\n\r\n",
    b"HTTP/1.1 2x0 OK\r\n\r\n",
    b"HTTP/1.1 101 Switching\r\n\r\n",
    OK + b"no colon\r\n\r\n",
    OK + b"Content-Length : 2\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
    OK + b"Content-Length: -1\r\n\r\n",
    OK + b"Content-Length: 99999999999\r\n\r\n",
    OK + b"Content-Length: 1\r\n\r\nhi",
    OK + b"Transfer-Encoding: gzip\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK",
    OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
    OK + b"A: " + b"a" * 70_000,
]


@pytest.mark.parametrize(("data", "body", "keeps"), GOOD)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_answer_is_complete_with_its_last_byte(data, body, keeps, size):
    reader = AnswerReader()
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    *earlier, last = [reader.feed(piece) for piece in pieces]
    assert earlier == [None] * len(earlier)
    assert (last.body, last.keeps) == (body, keeps)
    assert last.status == (204 if b" 204" in data else 200)


@pytest.mark.parametrize("data", BAD)
def test_what_is_no_answer_is_refused(data):
    with pytest.raises(BadAnswer):
        AnswerReader().feed(data)


def test_a_body_without_length_ends_with_the_connection():
    reader = AnswerReader()
    assert reader.feed(OK + b"\r\nall ") is reader.feed(b"of it") is None
    answer = reader.end()
    assert (answer.body, answer.keeps) == (b"all of it", False)


@pytest.mark.parametrize("data", [b"", OK, GOOD[0][0][:-1], GOOD[7][0][:-2]])
def test_an_answer_that_breaks_off_is_no_answer(data):
    reader = AnswerReader()
    assert reader.feed(data) is None
    with pytest.raises(BadAnswer, match="in the middle"):
        reader.end()


def test_a_tunnel_has_no_body():
    answer = AnswerReader(is_connect=True).feed(OK + b"\r\n")
    assert (answer.status, answer.body) == (200, b"")
