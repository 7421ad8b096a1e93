"""Options that `verigym run` and `verigym eval` share."""

from __future__ import annotations

from typing import Annotated

import typer

Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        "-p",
        help="Policy: oracle, random, scripted:FILE, hf:FOLDER or openai:MODEL@URL.",
    ),
]
Split = Annotated[
    str, typer.Option("--split", help="Split to draw tasks from: train, validation or test.")
]
MaxTurns = Annotated[
    int | None,
    typer.Option("--max-turns", help="Maximum number of turns. Default: the task's own limit."),
]
VerifierUrl = Annotated[
    str | None,
    typer.Option("--verifier", metavar="URL", help="Judge with the verifier service at this URL."),
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", min=0, help="Sampling temperature of hf and openai policies."),
]
MaxNewTokens = Annotated[
    int | None,
    typer.Option(
        "--max-new-tokens", min=1, help="Maximum number of tokens per turn, for hf and openai."
    ),
]
Tools = Annotated[
    bool,
    typer.Option("--tools", help="Offer the environment's tools through the chat API, for openai."),
]
History = Annotated[
    int | None,
    typer.Option(
        "--history",
        min=0,
        help="Number of earlier turns to repeat in each prompt. Default: as a trained policy's folder says, or 2.",
    ),
]
Patience = Annotated[
    float,
    typer.Option("--patience", min=0, help="Seconds to wait for a service that does not answer."),
]
