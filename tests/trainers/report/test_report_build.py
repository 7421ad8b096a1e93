"""Reading run folders, the report's statistics, and the file itself, without a browser."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym import RequestError
from verigym.trainers.report.build import build
from verigym.trainers.report.difficulty import difficulty_order
from verigym.trainers.report.read import read_run
from verigym.trainers.report.stats import interval, pool, spread, thin
from verigym.trainers.report.svg import labels, seconds, short, ticks
from verigym.trainers.report.transcripts import choose, embed

MakeRun = Callable[..., Path]


def _data(page: Path) -> dict[str, Any]:
    """The JSON that the page carries."""
    match = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def test_nothing_points_outside(tmp_path: Path, make_run: MakeRun) -> None:
    text = build(make_run(tmp_path / "run")).read_text()
    assert not re.search(r"""(src|href)\s*=|url\(|@import|https?://|//cdn""", text)
    assert "default-src 'none'" in text
    assert "unsafe-inline" not in text
    assert "{{" not in text


def test_build_is_repeatable_and_leaves_no_other_file(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=10)
    before = {path.name for path in run.iterdir()}
    first = build(run).read_bytes()
    assert build(run).read_bytes() == first
    assert {path.name for path in run.iterdir()} == before | {"report.html"}


def test_data_can_be_taken_out_again(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=10)
    data = _data(build(run, tmp_path / "out.html"))
    assert len(data["runs"][0]["metrics"]) == 10
    assert data["runs"][0]["run"]["algorithm"] == "gigpo"
    assert len(data["transcripts"]) == 6


@pytest.mark.parametrize(
    ("spoil", "note"),
    [
        (lambda run: (run / "metrics.jsonl").unlink(), "metrics.jsonl cannot be read"),
        (lambda run: (run / "eval.jsonl").unlink(), "eval.jsonl cannot be read"),
        (lambda run: _append(run / "metrics.jsonl", '{"step": 11, "env_'), "torn off"),
        (lambda run: _append(run / "metrics.jsonl", '{"step": "x"}\n'), "line 11: "),
        (lambda run: _append(run / "metrics.jsonl", '{"step": 10}\n'), "1 steps twice"),
        (lambda run: _append(run / "metrics.jsonl", b"\xff\xfe\n"), "line 11: "),
        (lambda run: _append(run / "eval.jsonl", "[" * 100_000 + "\n"), "eval.jsonl has lines"),
        (lambda run: _append(run / "episodes/step-000010.jsonl", '{"step"'), "step-000010.jsonl"),
        (lambda run: _append(run / "episodes/step-000010.jsonl", '{"step": 1}\n'), "episode"),
    ],
)
def test_missing_and_torn_files_become_notes(
    tmp_path: Path, make_run: MakeRun, spoil: Callable[[Path], None], note: str
) -> None:
    run = make_run(tmp_path / "run", n_steps=10)
    spoil(run)
    page = build(run).read_text()
    notes = re.search(r'id="notes">(.*?)</aside>', page, re.DOTALL)
    assert notes is not None
    assert note in notes[1]


def _append(file: Path, text: str | bytes) -> None:
    with file.open("ab") as stream:
        stream.write(text if isinstance(text, bytes) else text.encode())


def test_a_whole_run_has_no_notes(tmp_path: Path, make_run: MakeRun) -> None:
    assert 'id="notes"' not in build(make_run(tmp_path / "run", n_steps=10)).read_text()


def test_no_run_folder_is_the_callers_mistake(tmp_path: Path, make_run: MakeRun) -> None:
    with pytest.raises(RequestError, match="not a folder"):
        build(tmp_path / "absent")
    with pytest.raises(RequestError, match=r"no run\.json"):
        build(tmp_path)
    with pytest.raises(RequestError, match="at least one"):
        build([])
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(RequestError, match="not JSON"):
        build(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(RequestError, match="must hold an object"):
        build(tmp_path)
    run = make_run(tmp_path / "run", n_steps=5)
    with pytest.raises(RequestError, match="does not exist"):
        build(run, tmp_path / "absent" / "report.html")
    with pytest.raises(RequestError, match="is a folder"):
        build(run, tmp_path)
    with pytest.raises(RequestError, match="several places"):
        build([run, run])


def test_unexpected_header_still_gives_a_report(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=5)
    (run / "run.json").write_text('{"name": "odd", "seed": "seven", "stages": 3}')
    page = build(run).read_text()
    assert "run.json is not as expected" in page
    assert "<h1>odd</h1>" in page


def test_not_a_number_is_no_data(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=5)
    _append(run / "metrics.jsonl", '{"step": 6, "success_rate": NaN, "loss": Infinity}\n')
    step = read_run(run).steps[-1]
    assert step.success_rate is None
    assert step.loss is None
    assert "NaN" not in json.dumps(_data(build(run)))


def test_training_on_test_is_said_aloud(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=5)
    file = run / "episodes/step-000005.jsonl"
    file.write_text(file.read_text().replace('"split": "train"', '"split": "test"'))
    page = build(run).read_text()
    assert 'role="alert"' in page
    assert "held out and only measured" not in page


def test_lone_surrogates_do_not_stop_the_report(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=5)
    header = json.loads((run / "run.json").read_text())
    header["config"]["odd"] = "\ud800"
    header["name"] = "odd \ud800 name"
    (run / "run.json").write_text(json.dumps(header))
    file = run / "episodes/step-000005.jsonl"
    file.write_text(file.read_text().replace("Keys: none", "Keys: \\udfff"))
    assert "odd ? name" in build(run).read_text()


def test_size_is_capped_and_what_is_left_out_is_counted(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_episodes=10)
    whole, small = tmp_path / "whole.html", tmp_path / "small.html"
    build(run, whole)
    build(run, small, max_transcript_bytes=60_000)
    n = len(_data(small)["transcripts"])
    assert 5 < n < 60
    assert f"{n} of 120 recorded transcripts" in small.read_text()
    assert whole.stat().st_size - small.stat().st_size > 50_000
    shown = _data(small)["transcripts"]
    # Spread over the run, good ones and bad.
    assert {shown[0]["step"], shown[-1]["step"]} == {5, 60}
    assert {item["success"] for item in shown} == {True, False}


def test_groups_are_kept_whole_while_there_is_room(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_episodes=10)
    small = tmp_path / "small.html"
    build(run, small, max_transcript_bytes=60_000)
    recorded: Counter[str] = Counter()
    for file in (run / "episodes").iterdir():
        for line in file.read_text().splitlines():
            recorded[json.loads(line)["episode"]["group_id"]] += 1
    shown = Counter(item["group"] for item in _data(small)["transcripts"])
    assert sum(shown[group] != recorded[group] for group in shown) <= 1


def test_many_episode_files_are_not_all_read(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=500, n_episodes=1)
    notes: list[str] = []
    chosen = choose([read_run(run)], 10_000_000, notes)
    assert len(chosen.packed) == 60
    assert chosen.left_out == 40
    assert notes == []


def test_long_texts_are_cut_and_say_so(tmp_path: Path, make_run: MakeRun) -> None:
    run = make_run(tmp_path / "run", n_steps=5, n_episodes=1)
    file = run / "episodes/step-000005.jsonl"
    line = json.loads(file.read_text())
    line["episode"]["turns"] = line["episode"]["turns"][:1] * 250
    line["episode"]["turns"][0]["observation"] = "x" * 30_000
    file.write_text(json.dumps(line) + "\n")
    (item,) = _data(build(run))["transcripts"]
    assert item["turns_left_out"] == 50
    assert item["turns"][0]["observation"].endswith("[10000 characters left out]")


_NUMBERS = st.none() | st.integers(-3, 70) | st.floats() | st.integers() | st.just(10**400)
_COUNTS = st.dictionaries(st.sampled_from(["easy", "1", "-4", "<b>", "33"]), _NUMBERS)
_ROW = st.fixed_dictionaries(
    {"step": st.integers(-2, 40) | _NUMBERS},
    optional={
        **dict.fromkeys(
            ("env_steps", "wall_s", "success_rate", "episodes", "groups", "kl", "loss"), _NUMBERS
        ),
        "groups_without_signal": _NUMBERS,
        "step_group_sizes": _COUNTS,
        "faults": _COUNTS,
        "time": st.dictionaries(st.sampled_from(["generation_s", "update_s"]), _NUMBERS),
        "interval": st.lists(_NUMBERS, max_size=3),
        "by_difficulty": st.dictionaries(
            st.sampled_from(["easy", "x"]),
            st.dictionaries(st.sampled_from(["n", "success_rate"]), _NUMBERS),
        ),
    },
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_ROW, max_size=6), st.lists(_ROW, max_size=4), st.integers(1, 2))
def test_no_figures_stop_the_report(steps: list[Any], evals: list[Any], n_runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n_runs):
            run = Path(folder, str(i))
            run.mkdir()
            (run / "run.json").write_text("{}")
            (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in steps))
            (run / "eval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in evals))
        page = build(folder).read_text()
    assert not re.search(r'="[^"]*\b(nan|inf)\b', page.partition("<script")[0])


@given(st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x, max_size=4)))
def test_embedded_json_is_inert_and_true(value: Any) -> None:
    text = embed({"v": value})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"v": value}


def test_pooling_weighs_episodes_and_skips_empty_steps() -> None:
    pooled = pool([(1, 0.0, 10), (2, None, 0), (3, 1.0, 30)], window=3)
    assert [p.x for p in pooled] == [1, 2, 3]
    assert pooled[-1].rate == pytest.approx(0.75)
    assert pooled[-1].n == 40
    assert pooled[-1].low < 0.75 < pooled[-1].high


def test_spread_covers_only_what_all_curves_cover() -> None:
    curves = [[(0.0, 0.0), (10.0, 1.0)], [(2.0, 0.0), (8.0, 0.6), (20.0, 0.6)]]
    points = spread(curves, n_grid=3)
    assert [p.x for p in points] == [2.0, 6.0, 10.0]
    assert points[0].mean == pytest.approx(0.1)
    assert points[0].sd == pytest.approx(float(np.std([0.2, 0.0], ddof=1)))
    assert spread([]) == []
    assert spread([[(0.0, 1.0)], [(5.0, 1.0)]]) == []


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9))
def test_ticks_are_few_and_inside(low: float, width: float) -> None:
    high = low + width
    found = ticks(low, high)
    assert len(found) <= 12
    assert all(low - width * 1e-6 <= t <= high + width * 1e-6 for t in found)


@given(st.integers(0, 3000), st.integers(2, 400))
def test_thin_keeps_the_ends(n: int, limit: int) -> None:
    kept = thin(n, limit)
    assert len(kept) <= limit
    assert kept == sorted(set(kept))
    if n:
        assert kept[0] == 0
        assert kept[-1] == n - 1


def test_words_and_numbers() -> None:
    assert difficulty_order({"hard", "easy", "medium"}) == ["easy", "medium", "hard"]
    assert difficulty_order({"size-10", "size-9"}) == ["size-9", "size-10"]
    assert [short(v) for v in (0, 12, 0.034, 1234, 3.4e6, 1.2e-5)] == [
        "0", "12", "0.034", "1.23k", "3.4M", "1.2e-5",
    ]  # fmt: skip
    assert [seconds(v) for v in (0.42, 12, 200, 7500)] == [
        "0.42 s",
        "12 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert interval(0.5, 0) == (0.0, 1.0)
    assert labels([19.9, 19.95, 20.0], short) == ["19.9", "19.95", "20"]
    assert labels([19.998, 20.0], short) == ["19.998", "20"]
