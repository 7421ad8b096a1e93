"""Tasks as JSON lines, and the grading of what evaluation programs send back."""

import json

import pytest

from verigym.errors import RequestError
from verigym.trainers.exports.jsonl import grade_lines, main, task_lines
from verigym.trainers.exports.rows import open_env, row_of, start, task_rows


def test_lines_have_prompts_and_no_answers():
    rows = task_rows("math/counting", n=2, split="test")
    for row, line in zip(rows, task_lines(rows), strict=True):
        env = open_env(row)
        observation, info = start(env, row)
        assert line == {
            "id": info["task_id"],
            "prompt": [{"role": "user", "content": observation}],
            **row,
        }


def test_replies_are_graded_as_they_are_played(tmp_path, capsys):
    main(["tasks", "games/keydoor", "-n", "2", "--difficulty", "tiny"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        env = open_env(row_of(line))
        start(env, row_of(line))
        line["replies"], over = [], False
        while not over:
            line["replies"].append(env.oracle())
            *_, terminated, truncated, _ = env.step(line["replies"][-1])
            over = terminated or truncated
    lines[1]["replies"] = lines[1]["replies"][:1]
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    main(["grade", str(path)])
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["reward"], first["over"], first["verdict"]["score"]) == (1.0, True, 1.0)
    assert (second["reward"], second["over"], second["verdict"]) == (0.0, False, None)


def test_a_line_without_a_reply_is_refused():
    (row,) = task_rows("math/counting", n=1)
    with pytest.raises(RequestError, match="line 1 needs a text `reply`"):
        list(grade_lines([row]))
