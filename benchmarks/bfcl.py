"""`tools/call` on the ground truth of the Berkeley Function Calling Leaderboard (BFCL v4).

    python benchmarks/bfcl.py                   # downloads the wheel `bfcl-eval` (Apache-2.0) into a cache
    python benchmarks/bfcl.py --wheel PATH --show 20

The single-turn cases in Python of the wheel, live ones included: 2,351. Each becomes a task with its tools. The calls of the
ground truth must earn 1: with the first right value of each argument, with the last one, and without the
arguments that may be left out. Wrong calls, made from the right ones, must earn 0: one call left out, made twice, with
another name, with an argument that no tool has, with another value. Prints shares and writes JSON (`--out`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from verigym import Task, make_verifier

VERSION = "2026.3.23"
PARTS = (
    "simple_python", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "verigym-peers/bfcl"
MAX_CHOICES = 64
"""Right values of one argument that are listed; a dictionary has one for each choice of its members."""


def wheel() -> Path:
    """Return the wheel; it is downloaded without its dependencies if the cache lacks it."""
    path = CACHE / f"bfcl_eval-{VERSION}-py3-none-any.whl"
    if not path.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*command, "--dest", str(CACHE), f"bfcl-eval=={VERSION}"], check=True)
    return path


def read(path: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each case with its ground truth."""
    with zipfile.ZipFile(path) as archive:
        for part in PARTS:
            rows, answers = (
                [json.loads(line) for line in archive.read(f"bfcl_eval/data/{name}").splitlines()]
                for name in (f"BFCL_v4_{part}.json", f"possible_answer/BFCL_v4_{part}.json")
            )
            truth = {answer["id"]: answer["ground_truth"] for answer in answers}
            for row in rows:
                yield row, truth[row["id"]]


def choices(values: list[Any]) -> list[Any]:
    """Return the right values that a list of BFCL stands for: the members of a dictionary are lists again."""
    found: list[Any] = []
    for value in values:
        found += _expand(value)
    return found[:MAX_CHOICES]


def _expand(value: Any) -> list[Any]:
    if isinstance(value, dict):
        each = [
            [("", None)] * ("" in options) + [(name, one) for one in choices(_set(options))]
            for name, options in value.items()
            if isinstance(options, list)
        ]
        rest = {name: one for name, one in value.items() if not isinstance(one, list)}
        # The fullest dictionary comes first.
        made = [
            rest | {name: one for name, one in chosen if name}
            for chosen in itertools.islice(
                itertools.product(*(options[::-1] for options in each)), MAX_CHOICES
            )
        ]
        return sorted(made, key=len, reverse=True)
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        lists = itertools.product(*(_expand(one) for one in value))
        return [list(one) for one in itertools.islice(lists, MAX_CHOICES)]
    return [value]


def _set(options: list[Any]) -> list[Any]:
    """Return the values of an argument without the mark "" of one that may be left out."""
    return [one for one in options if one != ""]


def task_of(row: Mapping[str, Any], truth: list[dict[str, Any]]) -> Task:
    """Return the case as a task of `tools/call`."""
    expected = []
    for call in truth:
        ((name, arguments),) = call.items()
        # An argument whose only right value is "" is right as "" and left out.
        given = {key: choices(_set(options)) or [""] for key, options in arguments.items()}
        expected.append(
            {
                "name": name,
                "arguments": {key: values[0] for key, values in given.items()},
                "accept": {key: values[1:] for key, values in given.items() if len(values) > 1},
                "optional": [key for key, options in arguments.items() if "" in options],
            }
        )
    tools = [{"type": "function", "function": tool} for tool in row["function"]]
    prompt = "\n".join(message["content"] for message in row["question"][0])
    reference = {"tools": tools, "expected": expected, "order": "bag"}
    return Task(
        id=row["id"],
        env_id="bfcl",
        seed=0,
        prompt=prompt,
        difficulty="",
        reference=reference,
    )


def right(task: Task) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield kinds of right calls."""
    wanted: Any = task.reference["expected"]  # type: ignore[index,call-overload]
    first = [{"name": c["name"], "arguments": c["arguments"]} for c in wanted]
    yield "first value", first
    yield (
        "last value",
        [
            {
                "name": c["name"],
                "arguments": {k: c["accept"].get(k, [v])[-1] for k, v in c["arguments"].items()},
            }
            for c in wanted
        ],
    )
    yield (
        "least",
        [
            {
                "name": c["name"],
                "arguments": {k: v for k, v in c["arguments"].items() if k not in c["optional"]},
            }
            for c in wanted
        ],
    )


def wrong(task: Task) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield kinds of wrong calls."""
    _, calls = next(right(task))
    head = calls[0]
    yield "call left out", calls[1:]
    yield "call twice", [*calls, head]
    yield "other name", [{**head, "name": head["name"] + "s"}, *calls[1:]]
    extra = {**head["arguments"], "no_such_argument": 1}
    yield "unknown argument", [{**head, "arguments": extra}, *calls[1:]]
    wanted: Any = task.reference["expected"][0]  # type: ignore[index,call-overload]
    for key, value in head["arguments"].items():
        if key not in wanted["optional"]:
            other = {**head["arguments"], key: _other(value)}
            yield "other value", [{**head, "arguments": other}, *calls[1:]]
            break


def _other(value: Any) -> Any:
    """Return a value of the same type that no ground truth holds."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 977
    if isinstance(value, str):
        return value + " qzx"
    if isinstance(value, list):
        return [*value, *value, "qzx"]
    return {**value, "qzx": 1}


def main() -> None:
    """Judge all cases and print the shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, help="the wheel; downloaded if left out")
    parser.add_argument("--show", type=int, default=0, help="number of errors to print")
    parser.add_argument("--out", type=Path, default=Path("results/bfcl.json"))
    arguments = parser.parse_args()
    # As the leaderboard compares texts: without case, spaces and marks.
    verifier = make_verifier("tools/call", strings="loose")
    counts: dict[str, Counter[str]] = {"right": Counter(), "wrong": Counter()}
    paid: dict[str, Counter[str]] = {"right": Counter(), "wrong": Counter()}
    errors: list[str] = []
    cases = 0
    for row, truth in read(arguments.wheel or wheel()):
        cases += 1
        task = task_of(row, truth)
        for label, made in (("right", right(task)), ("wrong", wrong(task))):
            for kind, calls in made:
                message = {"role": "assistant", "content": "", "tool_calls": [
                    {"type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}}
                    for c in calls
                ]}  # fmt: skip
                verdict = verifier.verify(task, message)
                counts[label][kind] += 1
                paid[label][kind] += verdict.score == 1.0
                if (verdict.score == 1.0) != (label == "right"):
                    errors.append(
                        f"{task.id}, {label}, {kind}: {verdict.reason}: {verdict.evidence}"
                    )
    for line in errors[: arguments.show]:
        print(line)
    result: dict[str, Any] = {
        "bfcl": VERSION,
        "verifier": f"tools/call v{verifier.version}",
        "cases": cases,
    }
    for label in counts:
        result[label] = {
            kind: {"n": n, "paid": paid[label][kind] / n} for kind, n in counts[label].items()
        }
        for kind, n in counts[label].items():
            print(f"{label:6} {kind:18} {n:5} judged, {paid[label][kind] / n:7.2%} paid")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
