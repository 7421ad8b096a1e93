"""Counts the wrong programs that pass a weak test suite and the same suite strengthened.

    python benchmarks/code_verifier.py --json out.json
    python benchmarks/code_verifier.py --check        # are the wrong programs of the set wrong?

On the problems in code_problems/, written for this by hand: each has a weak suite of three tests, three
right and at least eight wrong programs. Tests are grown with two of the right ones and the wrong ones
that are not marked `held out`; the third right program and the held out wrong ones are seen only when
both suites are measured, by `code/function` and `code/stdio` as they judge policies.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verigym import Task
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code.strength import inputs, matrix
from verigym.verifiers.code.strength.grow import Budget
from verigym.verifiers.code.strength.problem import StrengthProblem
from verigym.verifiers.code.strength.report import Measured, Rate, measure, strengthen

FOLDER = Path(__file__).parent / "code_problems"


@dataclass(frozen=True)
class Entry:
    """One problem of the set; `problem` holds what growing may see."""

    name: str
    problem: StrengthProblem
    right: tuple[str, ...]
    held_out: tuple[str, ...]


def read(path: Path) -> Entry:
    """A problem file: a JSON header, then programs under lines that begin with `---`."""
    head, *parts = path.read_text(encoding="utf-8").split("\n--- ")
    header = json.loads(head)
    programs: dict[str, list[str]] = {"right": [], "wrong": [], "held out": []}
    for part in parts:
        kind, _, text = part.partition("\n")
        programs[kind.strip()].append(text.strip("\n") + "\n")
    reference: dict[str, Any] = {"limits": {"wall_s": 5.0, "cpu_s": 2.0}}
    for key in ("function", "checker"):
        if key in header:
            reference[key] = header[key]
    task = Task(
        id=path.stem,
        env_id="",
        seed=0,
        prompt=header["about"],
        difficulty="easy",
        reference={**reference, "tests": []},
    )
    problem = StrengthProblem(
        task=task,
        right=tuple(programs["right"][:2]),
        wrong=tuple(programs["wrong"]),
        descriptions=tuple(inputs.check(header["inputs"])) if "inputs" in header else (),
        generator=header.get("generator", ""),
        valid=header.get("valid", ""),
    )
    given = [test if "stdio" in header else [test, {}] for test in header["tests"]]
    (answers,) = matrix.answers(default_sandbox(), problem, problem.right[:1], given, seconds=2.0)
    tests = [
        problem.test(item, answer[0]) for item, answer in zip(given, answers, strict=True) if answer
    ]
    assert len(tests) == len(given), f"{path}: the first right program fails a test"
    return Entry(
        path.stem,
        replace(problem, task=problem.with_tests(tests)),
        tuple(programs["right"]),
        tuple(programs["held out"]),
    )


def wrongness(entry: Entry, count: int) -> dict[str, Any]:
    """Return how often each wrong program differs from the right ones on many valid inputs."""
    problem, rng, sandbox = entry.problem, random.Random(99), default_sandbox()
    sizes = [rng.choice((1, 2, 3, 5, 8, 12)) for _ in range(count)]
    if problem.descriptions:
        given: list[Any] = [
            [[inputs.draw(d, rng, size) for d in problem.descriptions], {}] for size in sizes
        ]
        given += [[row, {}] for row in inputs.covering(problem.descriptions, rng, 200)]
    else:
        given = []
    if problem.generator:
        calls = [[[rng.randrange(1 << 30), size], {}] for size in sizes]
        rows = matrix.run_batch(sandbox, "function", "generate", [problem.generator], calls, 5.0)
        made = [answer[0] for answer in rows[0] if answer]
        given += [[item, {}] for item in made] if problem.is_function else made
    if problem.valid:
        (row,) = matrix.run_batch(sandbox, "function", "valid", [problem.valid], given, 5.0)
        given = [item for item, answer in zip(given, row, strict=True) if answer == [True]]
    rights = matrix.answers(sandbox, problem, entry.right, given, seconds=5.0)
    wrongs = matrix.answers(sandbox, problem, [*problem.wrong, *entry.held_out], given, seconds=0.5)
    differing = [
        sum(not matrix.same(problem, a, b) for a, b in zip(row, rights[0], strict=True))
        for row in [*rights, *wrongs]
    ]
    return {
        "inputs": len(given),
        "right_differ": differing[: len(rights)],
        "wrong_differ": differing[len(rights) :],
    }


def compare(entry: Entry, seed: int) -> dict[str, Any]:
    """The weak suite and the strengthened one on programs that growing saw and on others."""
    began = time.perf_counter()
    strong = strengthen(entry.problem, seed=seed, budget=Budget())
    seconds = time.perf_counter() - began
    verifier = entry.problem.verifier()
    out: dict[str, Any] = {
        "problem": entry.name,
        "seconds": round(seconds, 2),
        "growth": strong.to_builtins(),
    }
    for suite, task in (("weak", entry.problem.task), ("strong", strong.task)):
        known = measure(verifier, task, entry.right, entry.problem.wrong)
        held_out = measure(verifier, task, (), entry.held_out)
        out[suite] = {
            "tests": known.tests,
            "right": [known.accepted.hits, known.accepted.total],
            "known_wrong": [known.detected.hits, known.detected.total],
            "held_out_wrong": [held_out.detected.hits, held_out.detected.total],
        }
    return out


def total(rows: list[dict[str, Any]], suite: str) -> dict[str, Any]:
    """All problems together."""

    def rate(what: str) -> Rate:
        return Rate(sum(r[suite][what][0] for r in rows), sum(r[suite][what][1] for r in rows))

    known, held = rate("known_wrong"), rate("held_out_wrong")
    every = Rate(known.hits + held.hits, known.total + held.total)
    whole = [
        all(r[suite][what][0] == r[suite][what][1] for what in ("known_wrong", "held_out_wrong"))
        for r in rows
    ]
    right = rate("right")
    measured = Measured(tests=0, accepted=right, detected=every)
    return {
        "tests": statistics.mean(r[suite]["tests"] for r in rows),
        "right_accepted": right.to_builtins(),
        "known_wrong_detected": known.to_builtins(),
        "held_out_wrong_detected": held.to_builtins(),
        "wrong_detected": every.to_builtins(),
        "accuracy": measured.accuracy.to_builtins(),
        "verifier_accuracy": Rate(sum(whole), len(whole)).to_builtins(),
    }


def main() -> None:
    """Run the command line of the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write everything there")
    parser.add_argument("--check", action="store_true", help="see that wrong programs are wrong")
    parser.add_argument("--only", nargs="*", help="names of problems")
    parser.add_argument("--seeds", type=int, default=1, help="grow with so many seeds")
    options = parser.parse_args()
    paths = sorted(FOLDER.glob("*.txt"))
    entries = [read(path) for path in paths if not options.only or path.stem in options.only]
    if options.check:
        for entry in entries:
            print(entry.name, json.dumps(wrongness(entry, 3000)))
        return
    rows = []
    for seed in range(options.seeds):
        for entry in entries:
            row = {"seed": seed, **compare(entry, seed)}
            rows.append(row)
            weak, strong = row["weak"], row["strong"]
            print(
                f"{entry.name:18} tests {weak['tests']:3} -> {strong['tests']:3}   right "
                f"{strong['right'][0]}/{strong['right'][1]}   known wrong {weak['known_wrong'][0]} -> "
                f"{strong['known_wrong'][0]} of {strong['known_wrong'][1]}   held out "
                f"{weak['held_out_wrong'][0]} -> {strong['held_out_wrong'][0]} of "
                f"{strong['held_out_wrong'][1]}   {row['seconds']} s",
                flush=True,
            )
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=FOLDER, check=False
    )
    report = {
        "commit": commit.stdout.strip(),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "weak": total(rows, "weak"),
        "strong": total(rows, "strong"),
        "problems": rows,
    }
    for suite in ("weak", "strong"):
        found = report[suite]
        print(suite, json.dumps({k: v["rate"] for k, v in found.items() if isinstance(v, dict)}))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
