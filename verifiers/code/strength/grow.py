"""Grows a suite of tests until no wrong program that we know or can make passes it.

Killers are the known wrong programs and small changes (mutate.py) of right and of wrong ones. In rounds,
inputs are drawn: boundary values, random ones of several sizes, changed ones of the suite. An input becomes a candidate if it is valid and all right programs give the same answer to it, twice, in
different order. Of the candidates those are kept, greedily, that catch killers not caught `COPIES`
times so far. What no input of several rounds tells from the right programs is presumed equivalent to
them: deciding it is not possible in general, so the number is bounded by a budget and reported.

Sources: Ma et al. 2025, arXiv 2507.06920 (SAGA: right and wrong programs both guide the tests;
detection rate, verifier accuracy); He et al. 2025, arXiv 2505.24098 (HardTests: generators, edge
cases, agreement of several right programs); DeMillo, Lipton, Sayward 1978 (mutation).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from verigym.errors import TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code.strength import inputs, matrix
from verigym.verifiers.code.strength.matrix import Answer
from verigym.verifiers.code.strength.problem import Input, StrengthProblem

COPIES = 3
"""Number of tests that should catch each known wrong program, so that similar unknown ones are
caught too."""
_SECONDS, _REFERENCE_SECONDS = 0.4, 2.0
_SIZES = (1, 2, 3, 4, 6, 9, 14)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits for growing a test suite."""

    rounds: int = 8
    per_round: int = 80
    mutants: int = 120
    """Changed programs in all."""
    tests: int = 80
    """Maximum number of tests in the suite, including those that were there before."""
    spread: int = 40
    """Tests added whatever they catch, to cover wrong programs not foreseen here."""
    patience: int = 2
    """Rounds without a new killer caught after which survivors are presumed equivalent."""


@dataclass
class Grown:
    """A suite and how it came about."""

    tests: list[dict[str, Any]]
    dropped: list[dict[str, str]] = field(default_factory=list)
    mutants: int = 0
    killed_before: int = 0
    killed: int = 0
    survivors: list[dict[str, str]] = field(default_factory=list)
    candidates: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    rounds: int = 0


def grow(
    problem: StrengthProblem,
    *,
    seed: int = 0,
    budget: Budget | None = None,
    sandbox: Sandbox | None = None,
) -> Grown:
    """Return a stronger suite for `problem`. The same seed gives the same suite.

    Raises TaskError if the right programs do not agree on any test, SandboxError.
    """
    budget = budget or Budget()
    sandbox = sandbox or default_sandbox()
    grown = Grown([])
    _keep_valid(problem, sandbox, grown)
    killers = _killers(problem, sandbox, budget, seed)
    grown.mutants = len(killers) - len(problem.wrong)
    hits = [0] * len(killers)
    if grown.tests:
        given = [problem.input_of(test) for test in grown.tests]
        wanted = _wanted(problem, grown.tests)
        for number, row in enumerate(_caught(problem, sandbox, killers, given, wanted)):
            hits[number] = sum(row)
    grown.killed_before = sum(count > 0 for count in hits[len(problem.wrong) :])
    _rounds(problem, sandbox, grown, killers, hits, budget, seed)
    mutants = range(len(problem.wrong), len(killers))
    grown.killed = sum(hits[number] > 0 for number in mutants)
    grown.survivors = [
        {"kind": killers[number][1], "program": killers[number][0]}
        for number in mutants
        if hits[number] == 0
    ]
    return grown


def _wanted(problem: StrengthProblem, tests: Sequence[dict[str, Any]]) -> list[Answer]:
    return [[test["result" if problem.is_function else "stdout"]] for test in tests]


def _keep_valid(problem: StrengthProblem, sandbox: Sandbox, grown: Grown) -> None:
    """The tests that were there, but for those that a right program fails, or that repeat."""
    tests = [dict(test) for test in problem.reference["tests"]]
    found = matrix.answers(
        sandbox,
        problem,
        problem.right,
        [problem.input_of(test) for test in tests],
        seconds=_REFERENCE_SECONDS,
    )
    seen: set[str] = set()
    for number, (test, wanted) in enumerate(zip(tests, _wanted(problem, tests), strict=True)):
        fails = [n for n, row in enumerate(found) if not matrix.same(problem, row[number], wanted)]
        key = json.dumps(problem.input_of(test), sort_keys=True)
        if fails:
            why = f"right programs {fails} of {len(found)} do not give its answer"
            grown.dropped.append({"test": str(number + 1), "why": why})
        elif key in seen:
            grown.dropped.append({"test": str(number + 1), "why": "it repeats another"})
        else:
            seen.add(key)
            grown.tests.append(test)
    if tests and not grown.tests:
        raise TaskError(
            "the right programs fail every test of the task: they or the tests are wrong"
        )


def _killers(
    problem: StrengthProblem, sandbox: Sandbox, budget: Budget, seed: int
) -> list[tuple[str, str]]:
    """The known wrong programs, then changed ones, two thirds of them of right programs."""
    known = [(text, "known wrong") for text in problem.wrong]
    if problem.language != "python":
        return known
    made: dict[str, str] = {}
    for programs, most in (
        (problem.right, budget.mutants * 2 // 3 if problem.wrong else budget.mutants),
        (problem.wrong, budget.mutants // 3),
    ):
        if programs:
            each = max(2, -(-most // len(programs)))
            for text, kind in matrix.mutants_of(sandbox, programs, each, seed):
                made.setdefault(text, kind)
    return known + [pair for pair in made.items() if pair[0] not in problem.wrong + problem.right]


def _caught(
    problem: StrengthProblem,
    sandbox: Sandbox,
    killers: Sequence[tuple[str, str]],
    given: Sequence[Input],
    wanted: Sequence[Answer],
) -> list[list[bool]]:
    """Return, for each killer, the inputs that tell it from the right programs."""
    programs = [text for text, _ in killers]
    found = matrix.answers(sandbox, problem, programs, given, seconds=_SECONDS)
    return [
        [not matrix.same(problem, got, want) for got, want in zip(row, wanted, strict=True)]
        for row in found
    ]


def _rounds(
    problem: StrengthProblem,
    sandbox: Sandbox,
    grown: Grown,
    killers: list[tuple[str, str]],
    hits: list[int],
    budget: Budget,
    seed: int,
) -> None:
    rng = random.Random(seed)
    seen = {json.dumps(problem.input_of(test), sort_keys=True) for test in grown.tests}
    idle = 0
    spare: list[tuple[Input, Answer]] = []
    for grown.rounds in range(1, budget.rounds + 1):
        given = _draw(problem, sandbox, grown, rng, budget.per_round, grown.rounds, seen)
        given, wanted = _agreed(problem, sandbox, given, grown)
        grown.candidates += len(given)
        living = [number for number, count in enumerate(hits) if count < COPIES]
        rows = _caught(problem, sandbox, [killers[n] for n in living], given, wanted)
        survivors = sum(count == 0 for count in hits)
        room = budget.tests - budget.spread - len(grown.tests)
        chosen = _cover(dict(zip(living, rows, strict=True)), hits, room)
        rest = [
            (item, want)
            for n, (item, want) in enumerate(zip(given, wanted, strict=True))
            if n not in chosen
        ]
        spare += rest
        for number in chosen:
            answer = wanted[number]
            assert answer is not None
            grown.tests.append(problem.test(given[number], answer[0]))
        idle = idle + 1 if sum(count == 0 for count in hits) == survivors else 0
        full = len(grown.tests) >= budget.tests - budget.spread
        if full or idle >= budget.patience or not any(count < COPIES for count in hits):
            break
    # Half of them the largest, where most can go wrong; the others by chance.
    room = min(budget.spread, budget.tests - len(grown.tests), len(spare))
    rng.shuffle(spare)
    spare.sort(key=lambda pair: len(json.dumps(pair[0])), reverse=True)
    picked = spare[: room // 2]
    picked += rng.sample(spare[room // 2 :], max(0, room - len(picked)))
    for item, want in picked:
        assert want is not None
        grown.tests.append(problem.test(item, want[0]))


def _cover(rows: dict[int, list[bool]], hits: list[int], room: int) -> list[int]:
    """Return candidates, the most useful first, that bring every killer to `COPIES` if possible."""
    width = len(next(iter(rows.values()), []))
    chosen: list[int] = []
    while len(chosen) < room:
        gains = [0] * width
        for killer, row in rows.items():
            if hits[killer] < COPIES:
                # The first catch of a killer counts most.
                worth = 5 if hits[killer] == 0 else 1
                for number, caught in enumerate(row):
                    gains[number] += worth * caught
        for number in chosen:
            gains[number] = 0
        best = max(range(width), key=gains.__getitem__, default=None)
        if best is None or gains[best] == 0:
            break
        chosen.append(best)
        for killer, row in rows.items():
            hits[killer] += row[best]
    return chosen


def _draw(
    problem: StrengthProblem,
    sandbox: Sandbox,
    grown: Grown,
    rng: random.Random,
    count: int,
    turn: int,
    seen: set[str],
) -> list[Input]:
    """New inputs that are valid."""
    drawn: list[Input] = []
    descriptions = problem.descriptions
    sizes = [rng.choice(_SIZES) for _ in range(count)]
    if descriptions:
        if turn == 1:
            drawn += [[row, {}] for row in inputs.covering(descriptions, rng, count)]
        drawn += [[[inputs.draw(d, rng, size) for d in descriptions], {}] for size in sizes]
    if problem.draw is not None:
        drawn += [problem.draw(rng.randrange(1 << 30), size) for size in sizes]
    if problem.generator:
        calls = [[[rng.randrange(1 << 30), size], {}] for size in sizes]
        rows = matrix.run_batch(
            sandbox, "function", "generate", [problem.generator], calls, _REFERENCE_SECONDS
        )
        made = [answer[0] for answer in rows[0] if answer]
        if not made:
            raise TaskError(
                "the generator failed on every seed; it must define generate(seed, size)"
            )
        drawn += [[item, {}] for item in made] if problem.is_function else made
    if problem.is_function and (descriptions or problem.valid):
        olds = [problem.input_of(test) for test in grown.tests] + drawn
        for _ in range(count // 2):
            args, kwargs = rng.choice(olds)
            drawn.append([inputs.changed(args, rng) if args else args, kwargs])
            if len(drawn[-1][0]) != len(args):
                drawn.pop()
    return _valid(problem, sandbox, _unseen(drawn, seen), grown)


def _unseen(drawn: Sequence[Input], seen: set[str]) -> list[Input]:
    fresh = []
    for item in drawn:
        key = json.dumps(item, sort_keys=True)
        if key not in seen:
            seen.add(key)
            fresh.append(item)
    return fresh


def _valid(
    problem: StrengthProblem, sandbox: Sandbox, drawn: list[Input], grown: Grown
) -> list[Input]:
    if problem.descriptions:
        kept = [
            item
            for item in drawn
            if all(inputs.fits(d, v) for d, v in zip(problem.descriptions, item[0], strict=True))
        ]
        grown.invalid["not as described"] += len(drawn) - len(kept)
        drawn = kept
    if problem.valid and drawn:
        calls = drawn if problem.is_function else [[[text], {}] for text in drawn]
        (row,) = matrix.run_batch(
            sandbox, "function", "valid", [problem.valid], calls, _REFERENCE_SECONDS
        )
        if not any(row):
            raise TaskError("the validator failed on every input; it must define valid(...)")
        kept = [item for item, answer in zip(drawn, row, strict=True) if answer == [True]]
        grown.invalid["not valid"] += len(drawn) - len(kept)
        drawn = kept
    return drawn


def _agreed(
    problem: StrengthProblem, sandbox: Sandbox, given: list[Input], grown: Grown
) -> tuple[list[Input], list[Answer]]:
    """The inputs to which all right programs give one answer, and that answer."""
    there = matrix.answers(sandbox, problem, problem.right, given, seconds=_REFERENCE_SECONDS)
    # In another order, so that what is kept between calls, or drawn by chance, shows.
    back = matrix.answers(sandbox, problem, problem.right, given[::-1], seconds=_REFERENCE_SECONDS)
    kept: list[Input] = []
    wanted: list[Answer] = []
    for number, item in enumerate(given):
        every = [row[number] for row in there] + [row[len(given) - 1 - number] for row in back]
        if every[0] is None or any(answer is None for answer in every):
            grown.invalid["a right program fails"] += 1
        elif there[0][number] != back[0][len(given) - 1 - number]:
            grown.invalid["not the same twice"] += 1
        elif not all(matrix.same(problem, answer, every[0]) for answer in every):
            grown.invalid["right programs disagree"] += 1
        else:
            kept.append(item)
            wanted.append(every[0])
    return kept, wanted
