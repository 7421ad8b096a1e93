"""Speed of `math/answer` beside another version of it, by kinds of reply, in turns on the same replies.

    git worktree add ../before adcd33c && cd ../before && python -m venv .venv && .venv/bin/pip install -e .
    python -P benchmarks/math_versions.py --against ../before/.venv/bin/python --rounds 7

Two processes, one a version, judge the same rows: those of the golden file and of any `--cases`. Each judges all
rows of a kind once untimed and then once by processor time, while the other waits. So patterns are compiled, and what is
remembered of questions and short texts holds, as it does for the later replies of a group to one question.

Kinds: bare answers; boxed ones; other replies below 30 characters, of 30 to 69 and of 70 and more; three paragraphs that
end in "the answer is"; and `all`, a sample in the proportions of the files. Prints medians over the rounds: microseconds
a verdict of each, and the speed as a share of the other version's.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "math_answer.jsonl"
PROSE = (
    "Let us work step by step. First we write down what is given and give each unknown a name. The two facts of the "
    "text make two equations, and we solve them one after the other.\n\nFrom the first equation we get one unknown in "
    "terms of the other. We put that into the second, multiply out and collect the terms. What is left has one "
    "unknown, and dividing by its coefficient gives its value.\n\nWe check by putting it back: both sides agree. "
    "Therefore, the answer is %s."
)
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--against", type=Path, help="Python of the other version's environment")
    parser.add_argument("--cases", type=Path, nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=400, help="rows of each kind at most")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = by_kind([GOLDEN, *options.cases], options.rows)
    if options.judge:
        judge_in_turns(json.loads(options.judge.read_text(encoding="utf-8")))
    elif options.against is None:
        parser.error("--against is needed: the Python of the other version's environment")
    else:
        show(kinds, compare(options.against, kinds, options.rounds))


def by_kind(files: list[Path], most: int) -> dict[str, list[Row]]:
    """Rows of each kind, a seeded sample of at most so many."""
    rows = [
        json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()
    ]
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[kind_of(row)].append(row)
        if row["kind"] == "bare" and len(row["answer"]) < 40:
            found["prose"].append({**row, "kind": "response", "answer": PROSE % row["answer"]})
    found["all"] = rows
    draw = random.Random(7)
    return {
        kind: draw.sample(of_kind, min(most, len(of_kind)))
        for kind, of_kind in sorted(found.items())
    }


def kind_of(row: Row) -> str:
    if row["kind"] == "bare":
        return "bare"
    if "boxed" in row["answer"]:
        return "boxed"
    chars = len(row["answer"])
    return "below 30" if chars < 30 else "30 to 69" if chars < 70 else "70 and more"


def compare(other: Path, kinds: dict[str, list[Row]], rounds: int) -> dict[str, list[list[float]]]:
    """Seconds by kind of each round: ours and the other version's."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
        json.dump(kinds, file)
    rows_at = Path(file.name)
    judges = [
        subprocess.Popen(
            [python, "-P", __file__, "--judge", rows_at],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for python in (sys.executable, str(other))
    ]
    spent: dict[str, list[list[float]]] = defaultdict(list)
    try:
        for _ in range(rounds):
            for kind in kinds:
                spent[kind].append([ask(judge, kind) for judge in judges])
    finally:
        for judge in judges:
            judge.communicate()
        rows_at.unlink()
    return spent


def ask(judge: subprocess.Popen[str], kind: str) -> float:
    assert judge.stdin is not None
    assert judge.stdout is not None
    print(kind, file=judge.stdin, flush=True)
    return float(judge.stdout.readline())


def judge_in_turns(kinds: dict[str, list[Row]]) -> None:
    """Answer each kind that is asked for with the processor time of one pass over its rows."""
    verifier = AnswerVerifier()
    tasks = {kind: [(task_of(row), row["answer"]) for row in rows] for kind, rows in kinds.items()}
    for line in sys.stdin:
        asked = tasks[line.strip()]
        for task, answer in asked:
            verifier.verify(task, answer)
        started = time.process_time()
        for task, answer in asked:
            verifier.verify(task, answer)
        print(time.process_time() - started, flush=True)


def show(kinds: dict[str, list[Row]], spent: dict[str, list[list[float]]]) -> None:
    print(f"{'kind':12} {'rows':>5} {'us now':>8} {'us other':>9} {'speed':>6}  (least to most)")
    for kind, rounds in spent.items():
        ours, theirs = (
            1e6 * statistics.median(of_one) / len(kinds[kind])
            for of_one in zip(*rounds, strict=True)
        )
        shares = [other / our for our, other in rounds]
        print(
            f"{kind:12} {len(kinds[kind]):5} {ours:8.0f} {theirs:9.0f} {statistics.median(shares):6.2f}"
            f"  ({min(shares):.2f} to {max(shares):.2f})"
        )


if __name__ == "__main__":
    main()
