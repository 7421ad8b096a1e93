"""Section `[policy]` of the configuration: the model, its prompts and its adapter."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from verigym.agents.chat import Thoughts
from verigym.agents.parsing import Parse
from verigym.agents.prompts import read_text
from verigym.errors import RequestError
from verigym.trainers.sections import Section


class LoraSection(Section):
    """Low-rank adapters in place of all weights (arXiv 2106.09685); needs the extra `lora`."""

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    """Scale of the adapter, divided by `rank`."""
    targets: str | tuple[str, ...] = "all-linear"
    """Names of the layers that get an adapter."""
    merge: bool = False
    """Add the adapter to the weights in the folders `best` and `last`."""


class PolicySection(Section):
    """The model and its prompts."""

    model: str = "tiny"
    """Folder of a transformers model; `tiny` for a small model created at the start, whose tokenizer suits
    games/keydoor; `tiny-words` for one whose tokenizer has the environments' own words and actions."""
    max_new_tokens: int = Field(default=16, ge=1)
    temperature: float = Field(default=1.0, gt=0)
    encoding: Literal["steps", "transcript"] = "steps"
    """`steps`: one prompt of bounded length per turn. `transcript`: one growing conversation."""
    history: int = Field(default=0, ge=0)
    """Number of earlier turns that a prompt repeats, with `steps`."""
    show_task: bool = True
    """If True, prompts contain the task's text besides the observation, with `steps`."""
    show_legal: bool = True
    """If True, prompts list the legal actions, if the environment can list them."""
    show_turns: bool = False
    """If True, each prompt states the turn and the turn limit."""
    show_tokens: bool = False
    """If True, each prompt states `max_new_tokens`."""
    system_prompt: str = ""
    """Text that opens the system message; `@PATH` reads it from a file."""
    native_tools: bool = False
    """If True, the chat template lists the environment's tools, and results are messages of role `tool`, with
    `transcript` and a template that has the role."""
    task_in_system: bool | None = None
    """If True, the task's text stands in the system message, else in the first user message; None for True
    with `steps` and False with `transcript`."""
    thoughts: Thoughts | None = None
    """`keep` repeats earlier replies with their thoughts, `drop` without; None for `drop` with `steps` and
    `keep` with `transcript`."""
    parse: Parse = "environment"
    """Place of the action in a reply: as the environment reads it, in the last answer or action `tag`, in
    the last `fence`, or in the `last-line`."""
    think: Literal["auto", "on", "off"] = "auto"
    """Thinking, where the chat template has a switch for it; `auto` for the template's own choice."""
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"
    lora: LoraSection | None = None
    """Train an adapter; None to train all weights."""

    @field_validator("system_prompt")
    @classmethod
    def _from_file(cls, value: str) -> str:
        try:
            return read_text(value)
        except RequestError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _fits_encoding(self) -> Self:
        if self.encoding == "transcript":
            for name in ("history", "show_task"):
                if getattr(self, name) != PolicySection.model_fields[name].default:
                    raise ValueError(
                        f"{name} is for encoding steps; leave it out with encoding transcript"
                    )
        return self
