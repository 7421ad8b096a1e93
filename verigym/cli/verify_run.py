"""`verigym verify-run`: check the bookkeeping of a training run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console


def verify_run(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Run folder to check.")],
) -> None:
    """Check that a run trained the tokens that it sampled, with the weights that it says.

    Compares steps, tokens, policy versions, log-probabilities and the checksums of the weights. Exits with 1
    if something does not add up.
    """
    from verigym.trainers.certificate import verify_run

    problems = verify_run(run)
    for problem in problems:
        console.out().print(problem, markup=False, highlight=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)
    console.out().print(f"{run}: all adds up", markup=False, highlight=False, soft_wrap=True)
