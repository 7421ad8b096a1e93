"""Options that `verigym run` and `verigym eval` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from verigym.agents.policy import Policy as AgentPolicy
    from verigym.agents.prompts import PromptChoices

Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        "-p",
        help="Policy: oracle, random, scripted:FILE, hf:FOLDER, vllm:FOLDER or openai:MODEL@URL.",
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
    typer.Option(
        "--temperature", min=0, help="Sampling temperature of hf, vllm and openai policies."
    ),
]
MaxNewTokens = Annotated[
    int | None,
    typer.Option(
        "--max-new-tokens",
        min=1,
        help="Maximum number of tokens per turn, for hf, vllm and openai.",
    ),
]
Tools = Annotated[
    bool,
    typer.Option(
        "--native-tools",
        "--tools",
        help="How the model calls the tools that an environment has: by the native tool calls of the chat API "
        "(openai) or of the chat template (hf, vllm). Default: by text, as the prompt says. It adds no tool: see "
        "--with-tool. --tools is the earlier name.",
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
        help="Part of a reply that is the action: what the environment's own rules find, the last answer or action "
        "tag, the last fence, or the last line. Default: environment.",
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
        "--think",
        help="Thinking, where the chat template has a switch for it, for hf, vllm and openai.",
    ),
]
TokenIds = Annotated[
    bool,
    typer.Option(
        "--token-ids",
        help="Record the token ids and log-probabilities of an openai policy, which its server must give (vLLM does).",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        min=1,
        help="Number of requests at once, for openai (default: 32) and vllm (default: 64).",
    ),
]
WithTools = Annotated[
    list[str] | None,
    typer.Option(
        "--with-tool",
        metavar="NAME",
        help="Tool to add to environments of one turn: python, calculator or search; repeatable.",
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


def chosen_prompts(
    encoding: Encoding,
    history: History,
    thoughts: Thoughts,
    parse: Parse,
    system_prompt: SystemPrompt,
    show_turns: ShowTurns,
    show_tokens: ShowTokens,
    tools: Tools,
) -> PromptChoices:
    """Return the prompts that were asked for; None leaves a choice to the policy's folder."""
    from verigym.agents.prompts import PromptChoices, read_text

    return PromptChoices(
        encoding=encoding,
        history=history,
        thoughts=thoughts,
        parse=parse,
        system_prompt=None if system_prompt is None else read_text(system_prompt),
        show_turns=show_turns,
        show_tokens=show_tokens,
        native_tools=tools or None,
    )


@contextmanager
def open_policy(
    policy: str,
    temperature: float | None,
    max_new_tokens: int | None,
    tools: bool,
    think: str | None,
    token_ids: bool,
    concurrency: int | None,
) -> Iterator[AgentPolicy]:
    """Make the policy that was asked for, and close it at the end."""
    from verigym.agents.make_policy import make_policy

    made = make_policy(
        policy,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        tools=True if tools and policy.startswith("openai:") else None,
        think=think,
        token_ids=token_ids or None,
        concurrency=concurrency,
    )
    try:
        yield made
    finally:
        close = getattr(made, "close", None)
        if close is not None:
            close()


def max_live(concurrency: int | None) -> int:
    """Return the number of episodes that are played at once: enough to keep all requests busy."""
    return max(256, 2 * (concurrency or 0))
