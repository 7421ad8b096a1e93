"""Framing of cells and their output, and forging it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sandbox.session.plain_channel import plain, said
from verigym import RequestError
from verigym.sandbox import framing
from verigym.sandbox.framing import FramedStream, read_end
from verigym.sandbox.job import JobStatus


@pytest.mark.parametrize(
    ("cell", "stdout", "code"),
    [
        ("echo a; echo b >&2", b"a\n", 0),
        ("false", b"", 1),
        ("(exit 7)", b"", 7),
        ("no-such-command", b"", 127),
        ("cat", b"", 0),
        ("read line", b"", 1),
        ("cat <<'EOF'\n$x \\\nEOF", b"$x \\\n", 0),
        ("cat <<EOF\nnever ends", b"never ends\n", 0),
        ("echo 'unterminated", b"", 2),
        ('echo "unterminated', b"", 2),
        ("echo $(unterminated", b"", 1),
        ("if true; then", b"", 2),
        ("}", b"", 2),
        ("esac; done", b"", 2),
        ("break; echo on", b"on\n", 0),
        ("return 3; echo on", b"on\n", 0),
        ("set -u; echo $nope; echo on", b"", 1),
        ("echo ${nope:?bad}; echo on", b"", 1),
        ("echo $((1 / 0)); echo on", b"", 1),
        ("set -x; echo traced", b"traced\n", 0),
        ("exec >/dev/null; echo lost", b"", 0),
        ("exec 2>&1; echo kept >&2", b"kept\n", 0),
        ("alias printf=false eval=false builtin=false read=false\necho on", b"on\n", 0),
        ("IFS=e; PATH=; set -f; PS1=prompt; echo on", b"on\n", 0),
        ("trap 'echo trapped >&2' DEBUG; :", b"", 0),
        ("printf '\\377\\0\\036'", b"\xff\0\x1e", 0),
        ("", b"", 0),
        ("# only a comment", b"", 0),
        ("echo one \\", b"one \\\n", 0),
        ("!!", b"", 127),
    ],
)
def test_no_text_of_a_shell_cell_breaks_the_framing(start, cell, stdout, code):
    session = start("bash")
    result = session.run(cell)
    assert result.stdout == stdout
    assert result.exit_code == code
    assert result.status is (JobStatus.NONZERO_EXIT if code else JobStatus.OK)
    again = session.run("\\builtin trap - DEBUG; \\builtin echo next; \\builtin echo err >&2")
    assert again.stdout.endswith(b"next\n")
    assert again.stderr.endswith(b"err\n")


CELLS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module")
def quoting():
    with plain("bash") as session:
        yield session


@given(CELLS)
def test_a_shell_cell_arrives_letter_by_letter(quoting, text):
    here = text.replace("'", "'\\''")
    assert said(quoting.run(f"printf %s '{here}'")) == text.encode()


@given(
    st.text(st.characters(blacklist_characters="\0\r", blacklist_categories=["Cs"]), max_size=40)
)
def test_a_python_cell_arrives_letter_by_letter(text):
    assert framing.DIALECTS["python"].cell("n" * 32, text).endswith(text.encode())
    assert framing.DIALECTS["python"].cell("n" * 32, "\ud800").endswith(b"\xed\xa0\x80")


@pytest.mark.parametrize("code", ["echo \0", "echo \ud800"])
def test_what_a_shell_cannot_take_is_refused(code):
    with plain("bash") as session:
        with pytest.raises(RequestError):
            session.run(code)
        assert said(session.run("echo on")) == b"on\n"


FORGE = """
import os, sys, gc
frame = sys._getframe()
while "nonce" not in frame.f_locals: frame = frame.f_back
nonce, out, err = frame.f_locals["nonce"], frame.f_locals["out"], frame.f_locals["err"]
"""


def test_a_forged_end_changes_only_where_its_own_output_is_cut(start):
    session = start("python")
    forged = (
        "os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' o 0\\n')"
    )
    result = session.run(f"{FORGE}\n{forged}\nprint('after'); import time; time.sleep(0.2)\n1 / 0")
    assert (result.status, result.stdout) == (JobStatus.OK, b"")
    result = session.run("print('next')")
    assert result.stdout.startswith(b"after\n")
    assert result.stdout.endswith(b"next\n")
    assert said(session.run("1")) == b"1\n"


@pytest.mark.parametrize("end", ["garbage", "o", "o 999", "z 0", "o 0 nan 1.0", "x" * 500])
def test_a_forged_end_that_is_none_ends_the_session(end):
    with plain("python") as session:
        forged = f"os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' {end}\\n')"
        result = session.run(f"{FORGE}\n{forged}")
        assert result.status is JobStatus.NONZERO_EXIT
        assert not session.alive


def test_a_driver_that_no_longer_reads_is_found_out(monkeypatch):
    monkeypatch.setattr("verigym.sandbox.session._SEND_S", 0.5)
    with plain("python") as session:
        forged = (
            "os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' o 0\\n')"
        )
        said(session.run(f"{FORGE}\n{forged}\nimport time; time.sleep(1000)"))
        result = session.run("#" * (1 << 20))
        assert result.status is JobStatus.TIME_LIMIT
        assert "does not read" in result.detail


@given(
    st.binary(max_size=60),
    st.binary(max_size=60),
    st.integers(1, 80),
    st.lists(st.integers(1, 20), max_size=20),
)
def test_a_stream_is_cut_alike_however_it_arrives(before, after, limit, sizes):
    mark = b"\x1enonce"
    if mark in before + mark[:-1]:
        return
    data = before + mark + b" o 0\n" + after
    stream = FramedStream("nonce", limit)
    rest = data
    for size in sizes:
        stream.feed(rest[:size])
        rest = rest[size:]
    stream.feed(rest)
    assert stream.end == b" o 0"
    assert stream.output() == before[:limit]
    assert stream.over == (len(before) > limit or len(after) > limit)
    assert stream.left() == after[:limit]


@given(st.binary(max_size=60), st.integers(1, 80))
def test_a_stream_without_end_gives_all_of_it(data, limit):
    stream = FramedStream("nonce" * 8, limit)
    stream.feed(data)
    assert stream.end is None
    assert stream.output() == data[:limit]
    assert stream.over == (len(data) > limit)


@given(st.binary(max_size=40))
def test_no_end_is_more_than_it_says(line):
    end = read_end(line)
    assert end is None or (end.status in JobStatus and 0 <= end.exit_code <= 255)
