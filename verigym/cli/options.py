"""Options that `verigym run` and `verigym eval` share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
    typer.Option(
        "--tools",
        help="Offer the environment's tools natively: through the chat API (openai) or the chat template (hf).",
    ),
]
Encoding = Annotated[
    Literal["steps", "transcript"] | None,
    typer.Option(
        "--encoding",
        help="Prompts: a fresh one per turn (steps), or one growing conversation (transcript). Default of this and "
        "the options below: as a trained policy's folder says, or steps.",
    ),
]
History = Annotated[
    int | None,
    typer.Option(
        "--history",
        min=0,
        help="Number of earlier turns to repeat in each prompt, with steps. Default: 2.",
    ),
]
Thoughts = Annotated[
    Literal["keep", "drop"] | None,
    typer.Option(
        "--thoughts",
        help="Repeat earlier replies with or without their thoughts. Default: drop with steps, keep with transcript.",
    ),
]
Parse = Annotated[
    Literal["environment", "tag", "fence", "last-line"] | None,
    typer.Option(
        "--parse",
        help="Where the action stands in a reply: as the environment reads it, in the last answer or action tag, in "
        "the last fence, or in the last line. Default: environment.",
    ),
]
SystemPrompt = Annotated[
    str | None,
    typer.Option(
        "--system-prompt", help="Text that opens the system message; @PATH reads it from a file."
    ),
]
ShowTurns = Annotated[
    bool | None,
    typer.Option(
        "--show-turns/--hide-turns", help="State the turn and the turn limit in each prompt."
    ),
]
ShowTokens = Annotated[
    bool | None,
    typer.Option("--show-tokens/--hide-tokens", help="State --max-new-tokens in each prompt."),
]
Think = Annotated[
    Literal["auto", "on", "off"] | None,
    typer.Option(
        "--think", help="Thinking, where the chat template has a switch for it, for hf and openai."
    ),
]
WithTools = Annotated[
    list[str] | None,
    typer.Option(
        "--with-tool",
        metavar="NAME",
        help="Play environments of one turn with a tool: python, calculator or search; repeatable.",
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(
        "--attempts", min=1, help="Number of answers to each task of one turn; wrong ones cost."
    ),
]
Reflect = Annotated[
    bool,
    typer.Option("--reflect", help="Add a reply that is not judged after each wrong answer."),
]
Corpus = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="Folder of .txt and .md files, or .jsonl file, for the tool search.",
    ),
]
Patience = Annotated[
    float,
    typer.Option("--patience", min=0, help="Seconds to wait for a service that does not answer."),
]


def chosen_tools(
    tools: list[str] | None, attempts: int | None, reflect: bool, corpus: str | None
) -> dict[str, Any]:
    """Return the arguments of `verigym.make` for the tools and attempts that were asked for."""
    given = {"tools": tools or None, "attempts": attempts, "reflect": reflect or None}
    return {name: value for name, value in {**given, "corpus": corpus}.items() if value is not None}


def chat_api_tools(asked: bool, policy: str) -> bool | None:
    """Return the option `tools` of a policy: True if it is one that asks a chat API, and tools were asked for."""
    return True if asked and policy.startswith("openai:") else None
