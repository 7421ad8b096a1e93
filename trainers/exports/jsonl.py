"""Tasks as a JSONL file for evaluation programs, and the grading of their replies.

    python -m verigym.trainers.exports.jsonl tasks 'math/*' -n 200 --split test > tasks.jsonl
    python -m verigym.trainers.exports.jsonl grade replies.jsonl > verdicts.jsonl

A line of tasks has `id`, `prompt` (a chat) and the columns that name the task. A line of replies is the same line with
the `reply` of a model to a task of one turn, or its `replies` in turn. A verdict has `reward`, null for a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from verigym.canonical import to_json
from verigym.errors import RequestError
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import TaskRow, first_prompt, open_env, row_of, start, task_rows


def task_lines(rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Yield the line of each task."""
    for row in rows:
        with open_env(row) as env:
            _, info = start(env, row)
        yield {"id": info["task_id"], "prompt": first_prompt(row), **row}


def grade_lines(lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the verdict on the replies of each line. Replies after the end of the episode are not played.

    Raises RequestError if a line has no replies.
    """
    play = EpisodePlayer()
    for number, line in enumerate(lines, 1):
        replies = line["replies"] if "replies" in line else [line.get("reply")]
        if not isinstance(replies, list) or not all(isinstance(one, str) for one in replies):
            raise RequestError(
                f"line {number} needs a text `reply`, or `replies`, a list of texts; got {replies!r}"
            )
        _, info = play.start(row_of(line))
        for reply in replies:
            if not play.over:
                play.step(reply)
        verdict = play.verdict
        yield {
            "id": info["task_id"],
            "reward": play.reward,
            "over": play.over,
            "verdict": None if verdict is None else verdict.to_builtins(),
        }
    play.close()


def main(arguments: list[str] | None = None) -> None:
    """Write tasks, or grade replies, as JSON lines on standard output."""
    parser = argparse.ArgumentParser(description="Tasks as JSON lines, and the grading of replies.")
    commands = parser.add_subparsers(dest="command", required=True)
    tasks = commands.add_parser("tasks", help="Write the lines of tasks.")
    tasks.add_argument("envs", nargs="+", help="Environment ids or patterns, such as 'math/*'.")
    tasks.add_argument("-n", type=int, default=100, help="Number of tasks.")
    tasks.add_argument("--split", default="test")
    tasks.add_argument("--difficulty")
    tasks.add_argument("--seed", type=int, default=0, help="First seed.")
    graded = commands.add_parser("grade", help="Grade the replies in a file.")
    graded.add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "tasks":
        found = task_lines(
            task_rows(
                *given.envs,
                n=given.n,
                split=given.split,
                difficulty=given.difficulty,
                seed=given.seed,
            )
        )
    else:
        found = grade_lines(
            json.loads(line)
            for line in given.file.read_text(encoding="utf-8").splitlines()
            if line.strip()
        )
    for line in found:
        sys.stdout.write(to_json(line).decode() + "\n")


if __name__ == "__main__":
    main()
