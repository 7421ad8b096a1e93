"""Episodes on disk and their summary."""

from __future__ import annotations

import errno
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import Episode, Fault, Turn
from verigym.agents.record import append_episodes, read_episodes, summarise, wilson
from verigym.verdict import scored


def episode(name="a", score=1.0, *, status="done", difficulty="easy", n_turns=2, cause=""):
    turns = [
        Turn(observation="é\n", response="up", action="up", reward=0.0, state_key=str(i))
        for i in range(n_turns)
    ]
    if turns and not cause:
        turns[-1].reward = score
        turns[-1].verdict = scored(score, "correct")
    return Episode(
        id=name,
        env_id="verigym/tests/counter-v0",
        task_id="t",
        seed=1,
        group_id="g",
        difficulty=difficulty,
        split="train",
        status="fault" if cause else status,
        fault=Fault(cause=cause, detail="it broke") if cause else None,
        turns=turns,
    )


def test_what_is_appended_is_read_back(tmp_path):
    path = tmp_path / "new folder" / "episodes.jsonl"
    first, second = [episode("a"), episode("b", cause="env_timeout")], [episode("c", 0.0)]
    append_episodes(path, first)
    append_episodes(path, second)
    append_episodes(path, [])
    assert read_episodes(path) == first + second
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


@given(cut=st.integers(1, 400))
def test_a_torn_last_line_costs_that_line_only(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "episodes.jsonl"
    append_episodes(path, [episode("a")])
    whole = path.stat().st_size
    append_episodes(path, [episode("b")])
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.truncate(max(whole + 1, size - cut))
    assert read_episodes(path) == [episode("a")]
    append_episodes(path, [episode("c")])
    assert read_episodes(path) == [episode("a"), episode("c")]


def test_a_torn_line_is_told(tmp_path, caplog):
    path = tmp_path / "episodes.jsonl"
    append_episodes(path, [episode("a")])
    with path.open("ab") as file:
        file.write(b'{"id": "b", "tu')
    with caplog.at_level(logging.WARNING, logger="verigym.agents.record"):
        read_episodes(path)
        append_episodes(path, [episode("c")])
    assert "last line (2, 15 bytes) is torn" in caplog.messages[0]
    assert "cutting off a torn last line of 15 bytes" in caplog.messages[1]


def test_a_torn_line_longer_than_a_read_is_cut_whole(tmp_path):
    path = tmp_path / "episodes.jsonl"
    append_episodes(path, [episode("a")])
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    append_episodes(path, [episode("b")])
    assert read_episodes(path) == [episode("a"), episode("b")]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "episodes.jsonl"
    append_episodes(path, [episode("a")])
    before = path.read_bytes()

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        append_episodes(path, [episode("b")])
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_named(tmp_path, refused):
    path = tmp_path / "episodes.jsonl"
    append_episodes(path, [episode("a")])
    with path.open("ab") as file:
        file.write(b'{"id": 3}\n')
    append_episodes(path, [episode("b")])
    with refused(r"episodes\.jsonl, line 2: not an episode"):
        read_episodes(path)
    with refused("cannot be read from"):
        read_episodes(tmp_path / "nowhere.jsonl")


def test_summary_leaves_faults_out_of_every_rate():
    played = [
        episode("a", 1.0),
        episode("b", 0.0, status="truncated", n_turns=4),
        episode("c", 0.5, difficulty="hard"),
        episode("d", cause="verifier:infra:unreachable"),
        episode("e", cause="verifier:infra:unreachable", n_turns=0),
        episode("f", cause="env_timeout"),
    ]
    summary = summarise(played)
    assert summary["episodes"] == 6
    assert summary["faults"] == 3
    assert summary["faults_by_cause"] == {"verifier:infra:unreachable": 2, "env_timeout": 1}
    assert summary["success_rate"] == pytest.approx(1 / 3)
    assert summary["mean_return"] == pytest.approx(0.5)
    assert summary["turns_mean"] == pytest.approx(8 / 3)
    assert summary["truncated"] == 1
    assert summary["by_difficulty"]["easy"]["success_rate"] == 0.5
    assert summary["by_difficulty"]["hard"]["episodes"] == 1
    assert json.loads(json.dumps(summary)) == summary


@pytest.mark.parametrize("played", [[], [episode(cause="env_timeout")]])
def test_nothing_played_has_no_rates(played):
    summary = summarise(played)
    assert summary["success_rate"] is None
    assert summary["success_interval"] is None
    assert summary["mean_return"] is None
    assert summary["faults"] == len(played)


def test_wilson_agrees_with_published_values():
    # R: binom::binom.wilson(8, 10) and (0, 10).
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    with pytest.raises(ValueError, match="n > 0"):
        wilson(0, 0)


@given(n=st.integers(1, 500), data=st.data())
def test_wilson_holds_the_rate(n, data):
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
