"""Accuracy and throughput of `math/answer`, beside math-verify, in one run on the same cases.

    python benchmarks/math_verifier.py --rounds 5

Cases are a natural mix made from the golden file: whole replies and bare answers, mostly easy, half of
them right. Both run in one process, in turns, each case timed alone; math-verify parses reference and
reply and verifies, with its own defaults and its time limits of 5 s, as its users call it. Accuracy is
also measured on the golden file itself and on any `--cases` (rows of gold, answer, label), and the
worst time on a list of hostile answers (ours alone; math-verify's limits cannot stop some of them).

Prints medians with least and most over the rounds, and writes JSON (`--out`, by default
results/math_verifier.json).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "math_answer.jsonl"
FRAMES = (
    "Let us work step by step. We set up the equation and simplify it term by term.\n\n"
    "The final answer is $\\boxed{%s}$.",
    "Adding the parts and dividing gives what was asked for.\n\nTherefore, the answer is $%s$.",
    "We substitute and collect terms.\n\n**Answer:** $%s$",
    "%s",
)
HOSTILE = (
    "9**9**9", "9^{9^{9^{9}}}", "(" * 100_000 + "7" + ")" * 100_000, "7" * (1 << 20),
    "\\frac{1}{" * 300 + "2" + "}" * 300, "(((9!)!)!)!", "__import__('os').system('true')",
    "e^{e^{e^{e^{e}}}}", "the answer is " * 40_000, "\\boxed{" * 20_000, "\\binom{10^9}{5\\cdot 10^8}",
)  # fmt: skip
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mix", type=int, default=400, help="cases of the natural mix")
    parser.add_argument("--cases", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=Path("results/math_verifier.json"))
    options = parser.parse_args()

    methods = {"verigym": ours(), "math-verify": theirs()}
    mix = natural_mix(options.mix)
    speed: dict[str, list[float]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(options.rounds):
        for name, method in methods.items():
            spent = timed(method, mix)
            speed[name].append(len(mix) / sum(spent))
            times[name] += spent
    report: dict[str, Any] = {
        "machine": {"python": platform.python_version(), "cores": os.cpu_count()},
        "mix": len(mix),
        "per_second": {name: spread(values) for name, values in speed.items()},
        "ratio": statistics.median(speed["verigym"]) / statistics.median(speed["math-verify"]),
        "latency_ms": {name: latency(values) for name, values in times.items()},
        "accuracy": {"mix": {name: accuracy(m, mix) for name, m in methods.items()}},
        "hostile_worst_s": max(
            timed(methods["verigym"], [{"gold": "7", "answer": text} for text in HOSTILE])
        ),
    }
    for path in (GOLDEN, *options.cases):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        report["accuracy"][path.stem] = {name: accuracy(m, rows) for name, m in methods.items()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    show(report)
    print(f"written to {options.out}")


def ours() -> Callable[[Row], bool]:
    verifier = AnswerVerifier()
    return lambda row: verifier.verify(task_of(row), row["answer"]).score == 1.0


def theirs() -> Callable[[Row], bool]:
    """math-verify with its defaults; what it raises counts as a refusal."""
    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)

    def judge(row: Row) -> bool:
        gold = row["gold"] if "$" in row["gold"] else f"${row['gold']}$"
        answer = row["answer"]
        if row.get("kind") == "bare" and "$" not in answer:
            answer = f"${answer}$"
        try:
            return bool(verify(parse(gold), parse(answer)))
        except Exception:  # noqa: BLE001 - whatever a competitor raises is its verdict
            return False

    return judge


def natural_mix(count: int) -> list[Row]:
    """Seeded: three easy kinds of answers in four, in replies three times in four, half right."""
    rows = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    bare = [row for row in rows if row["kind"] == "bare" and len(row["answer"]) < 80]
    easy = [
        row for row in bare
        if row["category"] in ("same-number", "mixed-numbers", "near-miss", "separators", "precision")
    ]  # fmt: skip
    draw = random.Random(7)
    found: list[Row] = []
    for k in range(count):
        pool = [row for row in (bare if k % 4 == 3 else easy) if row["label"] == k % 2]
        row = draw.choice(pool)
        frame = draw.choice(FRAMES)
        kind = "bare" if frame == "%s" else "response"
        found.append({**row, "answer": frame.replace("%s", row["answer"].strip("$")), "kind": kind})
    return found


def timed(method: Callable[[Row], bool], rows: list[Row]) -> list[float]:
    """Seconds for each row."""
    found = []
    for row in rows:
        started = time.perf_counter()
        method(row)
        found.append(time.perf_counter() - started)
    return found


def accuracy(method: Callable[[Row], bool], rows: list[Row]) -> dict[str, Any]:
    """Shares of errors, and errors by category."""
    wrong = right = accepted = rejected = 0
    errors: dict[str, int] = defaultdict(int)
    for row in rows:
        paid, label = method(row), bool(row["label"])
        right, wrong = right + label, wrong + (not label)
        accepted += paid and not label
        rejected += label and not paid
        errors[row["category"]] += paid != label
    return {
        "n": len(rows),
        "accuracy": 1 - (accepted + rejected) / max(1, len(rows)),
        "false_positive_rate": accepted / max(1, wrong),
        "false_negative_rate": rejected / max(1, right),
        "errors_by_category": {name: count for name, count in sorted(errors.items()) if count},
    }


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def latency(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "p50": 1e3 * ordered[len(ordered) // 2],
        "p99": 1e3 * ordered[int(len(ordered) * 0.99)],
        "worst": 1e3 * ordered[-1],
    }


def show(report: dict[str, Any]) -> None:
    for name, values in report["per_second"].items():
        at = report["latency_ms"][name]
        print(
            f"{name:12} {values['median']:8.0f} a second ({values['least']:.0f} to {values['most']:.0f}),"
            f" p50 {at['p50']:.2f} ms, p99 {at['p99']:.2f} ms"
        )
    print(f"ratio {report['ratio']:.1f}; worst hostile {report['hostile_worst_s']:.3f} s")
    for cases, by_name in report["accuracy"].items():
        for name, found in by_name.items():
            print(
                f"{cases:12} {name:12} accuracy {found['accuracy']:.3f}, false positives "
                f"{found['false_positive_rate']:.3f}, false negatives {found['false_negative_rate']:.3f}"
            )


if __name__ == "__main__":
    main()
