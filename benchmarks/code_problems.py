"""Grows the tests of `code/problems` and says how strong they are.

    python benchmarks/code_problems.py                 # every problem; rewrites the .jsonl files
    python benchmarks/code_problems.py --missing       # those without tests
    python benchmarks/code_problems.py lamp-ring ...   # these

A problem's tests are written only if both its solutions pass them and all its wrong programs fail; those with
large inputs only if the solution takes less than a quarter of the time allowed and the second program too long on one of them.
Prints a line for each: tests, wrong programs caught, small changes caught, and those that survive, which are
presumed to change nothing (`--survivors` prints them). Exits with 1 where a problem could not be done.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from verigym import Task
from verigym.envs.code.attempts import LIMITS
from verigym.envs.code.problem_files import Problem, read_problems
from verigym.envs.code.talks import as_talk, write_judge
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code.stdio import StdioVerifier
from verigym.verifiers.code.strength import matrix
from verigym.verifiers.code.strength.grow import Budget
from verigym.verifiers.code.strength.problem import read_problem
from verigym.verifiers.code.strength.report import strengthen

FOLDER = Path(__file__).resolve().parent.parent / "envs" / "code" / "problemset"
BUDGET = Budget(rounds=4, per_round=40, mutants=45, tests=34, spread=12)


def main() -> int:
    """Run the command line of the module."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--missing", action="store_true", help="those without tests")
    parser.add_argument("--survivors", action="store_true", help="print changes that survive")
    args = parser.parse_args()
    problems = read_problems()
    names = args.names or [n for n, p in problems.items() if not (args.missing and p.tests)]
    failed = 0
    for name in names:
        began = time.perf_counter()
        if problems[name].judge:
            talks, line = talked(problems[name])
            print(f"{name:18} {line}, {time.perf_counter() - began:.0f} s", flush=True)
            failed += talks is None
            if talks is not None:
                write(problems[name].theme, name, *talks)
            continue
        tests, line, survivors = grown(problems[name])
        large = timed(problems[name])
        if large is None:
            tests, line = None, f"{line}; the limits are wrong for the large inputs"
        print(f"{name:18} {line}, {time.perf_counter() - began:.0f} s", flush=True)
        if args.survivors:
            print("\n".join(survivors))
        if tests is None or large is None:
            failed += 1
        else:
            write(problems[name].theme, name, tests, large)
    return min(failed, 1)


def timed(problem: Problem) -> list[list[str]] | None:
    """Return the tests with large inputs; None if the solution is slow or the second program is not."""
    found = []
    refused = not problem.large
    for given in problem.large:
        answer = answer_of(problem, problem.solution, given, LIMITS["cpu_s"] / 4)
        if answer is None:
            return None
        found.append([given, answer])
        refused = refused or answer_of(problem, problem.second, given, LIMITS["cpu_s"]) is None
    return found if refused else None


def talked(problem: Problem) -> tuple[tuple[list[list[str]], list[list[str]]] | None, str]:
    """Return the tests and large tests of an interactive problem, and what is to be said of them."""
    space: dict[str, Any] = {}
    exec(problem.generator, space)  # noqa: S102 - a file of this repository
    drawn = [space["generate"](seed, size) for size in (1, 2, 3, 4, 6, 8) for seed in range(4)]
    small = list(dict.fromkeys([*problem.examples, *problem.edges, *drawn]))
    large = list(problem.large)
    if not all(talks_well(problem, problem.solution, small)):
        return None, "the solution fails"
    if not all(talks_well(problem, problem.solution, large, LIMITS["cpu_s"] / 4)):
        return None, "the solution is slow, or asks too often, on large inputs"
    if all(talks_well(problem, problem.second, large)):
        return None, "the limits do not refuse the second program"
    passed = [all(talks_well(problem, wrong, small)) for wrong in problem.wrong]
    if any(passed):
        return None, f"these pass: {[w for w, p in zip(problem.wrong, passed, strict=True) if p]}"
    both = sum(talks_well(problem, problem.second, small))
    line = f"{len(small)} talks, wrong caught {len(passed)}/{len(passed)}, second right on {both}"
    return ([[given, ""] for given in small], [[given, ""] for given in large]), line


def talks_well(
    problem: Problem, program: str, inputs: list[str], seconds: float = LIMITS["cpu_s"]
) -> list[bool]:
    """Return, for each hidden input, whether the judge accepts the program within `seconds`."""
    cases = [{"stdin": given, "stdout": ""} for given in inputs]
    tests = [as_talk(["A"], [case], is_visible=False) for case in cases]
    reference = {
        "judge": {"program": write_judge({"A": problem.judge}, is_joined=False)},
        "tests": tests,
        "limits": {**LIMITS, "cpu_s": seconds},
    }
    task = replace(task_of(problem), reference=reference)
    return [one.passed for one in StdioVerifier().report(task, program)]


def answer_of(problem: Problem, program: str, given: str, seconds: float) -> str | None:
    """Return what a program prints; None if it takes more than `seconds` of processor time, or fails."""
    task = task_of(problem)
    ((answer,),) = matrix.answers(
        default_sandbox(), read_problem(task), [program], [given], seconds=seconds
    )
    return None if answer is None else str(answer[0])


def task_of(problem: Problem) -> Task:
    """Return a task without tests."""
    return Task(
        id=problem.name,
        env_id="",
        seed=0,
        prompt="",
        difficulty=problem.level,
        reference={
            "tests": [],
            "checker": problem.checker,
            "solutions": {
                "right": [problem.solution, problem.second],
                "wrong": list(problem.wrong),
            },
            "generator": problem.generator,
        },
    )


def grown(problem: Problem) -> tuple[list[list[str]] | None, str, list[str]]:
    """The tests, or None if something is wrong; what is to be said; and the surviving changes."""
    given = [*problem.examples, *problem.edges]
    task = task_of(problem)
    (answers,) = matrix.answers(
        default_sandbox(), read_problem(task), [problem.solution], given, seconds=2.0
    )
    if None in answers:
        return None, f"the solution fails on {given[answers.index(None)]!r}", []
    reference: dict[str, Any] = task.reference  # type: ignore[assignment]
    reference["tests"] = [
        {"stdin": stdin, "stdout": answer[0], "visible": number < problem.shown}
        for number, (stdin, answer) in enumerate(zip(given, answers, strict=True))
        if answer
    ]
    result = strengthen(read_problem(task), budget=BUDGET)
    grew, after = result.grown, result.after
    line = (
        f"{len(grew.tests)} tests, wrong caught {after.detected.hits}/{after.detected.total}, "
        f"changes caught {grew.killed}/{grew.mutants}, refused {sum(grew.invalid.values())}"
    )
    survivors = [f"--- {one['kind']}\n{one['program']}" for one in grew.survivors]
    if grew.dropped:
        return None, f"{line}; tests were dropped: {grew.dropped[:2]}", survivors
    if after.missed or after.rejected:
        missed = [problem.wrong[n - 1] for n in after.missed]
        return None, f"{line}; these pass or fail: {missed} {after.rejected}", survivors
    tests = [[test["stdin"], test["stdout"]] for test in grew.tests]
    shown, hidden = tests[: problem.shown], tests[problem.shown :]
    return shown + sorted(hidden, key=lambda test: len(test[0])), line, survivors


def write(theme: str, name: str, tests: list[list[str]], large: list[list[str]]) -> None:
    """Put the tests of one problem into its theme's file, in the order of the problems."""
    path = FOLDER / f"{theme}.jsonl"
    rows = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["name"]] = row
    rows[name] = {"name": name, "tests": tests} | ({"large": large} if large else {})
    order = [n for n, problem in read_problems().items() if problem.theme == theme]
    text = "".join(json.dumps(rows[n]) + "\n" for n in order if n in rows)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
