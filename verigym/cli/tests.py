"""`verigym tests`: measure how many wrong programs a task's tests catch, and add tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console

if TYPE_CHECKING:
    from verigym.verifiers.code.strength.problem import StrengthProblem
    from verigym.verifiers.code.strength.report import Strengthened

app = typer.Typer(
    name="tests",
    help="Measure and strengthen the tests of programming tasks.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def _group() -> None:
    pass


@app.command(
    "strengthen", epilog="[dim]verigym tests strengthen task.json --out stronger.json[/dim]"
)
def strengthen(
    task: Annotated[
        Path | None,
        typer.Argument(metavar="TASK.json", help="JSON file with a task and its solutions."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            "--env", help="Environment to draw tasks from, instead of a file: code/stdio."
        ),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Only this family of --env; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Maximum number of rounds.")] = 8,
    mutants: Annotated[
        int, typer.Option("--mutants", min=0, help="Number of mutants to generate.")
    ] = 120,
    most: Annotated[
        int, typer.Option("--tests", min=1, help="Maximum number of tests in the suite.")
    ] = 80,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="JSON file to write the strengthened task to."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Add tests until every known wrong program and every mutant fails.

    The reference of the task holds its tests, right and wrong solutions, and inputs or a generator;
    see docs/verifiers-code.md. Exit code 4 if a wrong program still passes or a right one fails.
    """
    from verigym.errors import RequestError
    from verigym.verifiers.code.strength.grow import Budget
    from verigym.verifiers.code.strength.problem import read_problem
    from verigym.verifiers.code.strength.report import strengthen as grow

    if (task is None) == (env is None):
        raise RequestError("give either a TASK.json or --env code/stdio")
    if family and env is None:
        raise RequestError("--family works with --env only")
    if task is not None:
        problems = [read_problem(_read_task(task))]
    else:
        problems = _of_env(str(env), family or [], seed)
    if out is not None and len(problems) > 1:
        raise RequestError(f"--out takes one task, got {len(problems)}; choose one with --family")
    budget = Budget(rounds=rounds, mutants=mutants, tests=most, spread=most // 2)
    found = []
    for problem in problems:
        console.note(f"strengthening {problem.task.id} ...")
        found.append(grow(problem, seed=seed, budget=budget))
    if out is not None:
        out.write_bytes(found[0].task.to_json() + b"\n")
    if as_json:
        console.write_json(_as_json(found))
    else:
        for each in found:
            _print(each)
    if any(
        not (e.after.detects_all and e.after.accepted.hits == e.after.accepted.total) for e in found
    ):
        raise typer.Exit(console.BELOW)


def _read_task(path: Path) -> Any:
    """Read a task; only its reference is required."""
    import json

    import msgspec

    from verigym.errors import RequestError
    from verigym.task import Task

    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        defaults = {"id": path.stem, "env_id": "", "seed": 0, "prompt": "", "difficulty": "easy"}
        return msgspec.convert({**defaults, **value}, Task)
    except (OSError, ValueError, TypeError, msgspec.ValidationError) as error:
        raise RequestError(f"{path} is not a task: {error}") from error


def _of_env(env: str, names: list[str], seed: int) -> list[StrengthProblem]:
    """Return a problem for each family of the environment, with its first tests as the weak suite."""
    import numpy as np

    from verigym import make
    from verigym.envs.code.stdio import FAMILIES
    from verigym.errors import RequestError, suggestion
    from verigym.registry import resolve
    from verigym.verifiers.code.strength.problem import StrengthProblem

    if resolve(env) != "verigym/code/stdio-v0":
        raise RequestError(f"--env takes code/stdio, got {env!r}; pass other tasks as TASK.json")
    for name in names:
        if name not in FAMILIES:
            raise RequestError(f"unknown family {name!r}; {suggestion(name, FAMILIES)}")
    wanted = names or sorted(FAMILIES)
    found: dict[str, StrengthProblem] = {}
    instance = make(env)
    for number in range(2000):
        for difficulty in instance.difficulties:
            instance.reset(seed=seed + number, options={"difficulty": difficulty})
            task = instance.task
            assert isinstance(task.reference, dict)
            name, params = task.reference["family"], task.reference["params"]
            if name not in wanted or name in found:
                continue
            family = FAMILIES[str(name)]

            def draw(key: int, size: int, family: Any = family, params: Any = params) -> str:
                text: str = family.write(np.random.default_rng(key), params, size)
                return text

            found[str(name)] = StrengthProblem(task=task, right=(family.source(params),), draw=draw)
        if len(found) == len(wanted):
            break
    instance.close()
    return [found[name] for name in wanted if name in found]


def _as_json(found: list[Strengthened]) -> Any:
    from verigym.verifiers.code.strength.report import Rate

    rows = [each.to_builtins() for each in found]
    if len(rows) == 1:
        return rows[0]
    whole = sum(each.after.detects_all for each in found)
    return {"tasks": rows, "verifier_accuracy": Rate(whole, len(found)).to_builtins()}


def _print(each: Strengthened) -> None:
    from rich.table import Table
    from rich.text import Text

    grown = each.grown
    table = Table(title=Text(each.task.id), box=None, title_justify="left")
    for head in ("", "before", "after"):
        table.add_column(head)
    before, after = each.before, each.after
    table.add_row("tests", str(before.tests), str(after.tests))
    table.add_row("right programs accepted", str(before.accepted), str(after.accepted))
    table.add_row("wrong programs detected", str(before.detected), str(after.detected))
    table.add_row("judged rightly", str(before.accuracy), str(after.accuracy))
    table.add_row(
        "small changes caught",
        f"{grown.killed_before} of {grown.mutants}",
        f"{grown.killed} of {grown.mutants}"
        + (", the others presumed equivalent" if grown.killed < grown.mutants else ""),
    )
    console.out().print(table)
    for number in after.missed:
        console.note(
            f"wrong program {number} still passes: no tried input tells it from a right "
            "one; widen inputs or the generator, or it is right on every valid input"
        )
    for number in after.rejected:
        console.note(f"right program {number} fails: it differs from the others, or is too slow")
    for dropped in grown.dropped:
        console.note(f"dropped test {dropped['test']}: {dropped['why']}")
