"""Section `[[env]]` of the configuration: an environment, its options and its verifier."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, StrictInt, model_validator

from verigym.trainers.sections import Section


class VerifierSection(Section):
    """A verifier that takes the place of the environment's own."""

    id: str
    params: dict[str, Any] = Field(default_factory=dict)


class EnvSection(Section):
    """One environment to train on; `[[env]]` may stand many times."""

    id: str
    """Full or short id of the environment, or the path of a data set's TOML file."""
    weight: float = Field(default=1.0, gt=0)
    """Share of the tasks, relative to the other environments'."""
    difficulty: StrictInt | str | None = None
    """Level of the tasks, such as 7, or its name; None for the environment's first name."""
    difficulties: tuple[StrictInt | str, ...] = ()
    """Several levels, for the curriculum to choose from."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the environment."""
    max_turns: int | None = Field(default=None, ge=1)
    """Maximum number of turns; None for the task's own limit."""
    tools: tuple[str, ...] = ()
    """Tools to play an environment of one turn with: `python`, `calculator`, `search` (docs/tools.md)."""
    attempts: int | None = Field(default=None, ge=1)
    """Number of answers to a task of one turn; after a wrong one the policy hears that it was wrong."""
    reflect: bool = False
    """If True, a reply that is not judged follows each wrong answer."""
    corpus: str | None = None
    """Folder of .txt and .md files, or .jsonl file, that the tool `search` searches."""
    verifier: str | VerifierSection | None = None
    """URL of a verifier service (`verigym serve`), or a table of `id` and `params`; None for the
    environment's own verifier, in process."""

    @model_validator(mode="after")
    def _one_way_to_say_levels(self) -> Self:
        if self.difficulties and self.difficulty is not None:
            raise ValueError("give difficulty or difficulties, not both")
        for name in ("difficulty", "max_turns", "verifier", "split"):
            if name in self.options:
                raise ValueError(f"{name} cannot be set in env.options; the run sets it")
        for name in ("tools", "corpus"):
            if name in self.options:
                raise ValueError(f"{name} cannot be set in env.options; it is a key of [[env]]")
        return self
