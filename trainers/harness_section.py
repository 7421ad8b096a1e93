"""Section of the configuration for an agent program that plays the training episodes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from verigym.trainers.sections import Section


class HarnessSection(Section):
    """An agent program that plays each episode against the gateway (docs/gateway.md)."""

    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments; `{prompt}`, `{model}` and `{base_url}` are filled in."""
    deadline_s: float = Field(default=300.0, gt=0)
    """Seconds that one run may take, without those in which it waits for the model; then it is killed."""
    max_calls: int = Field(default=200, ge=1)
    """Maximum number of calls of the model in one run."""
    concurrency: int = Field(default=8, ge=1)
    """Number of programs that run at once."""
    answer: Literal["stdout", "reply"] = "stdout"
    """Answer of a program that took no action over HTTP: its standard output, or the model's last reply."""
    variables: tuple[str, ...] = ()
    """Names of environment variables that the program inherits, besides PATH, HOME and the like."""
    sandbox: bool = False
    """Run the program in the sandbox, with the host's network."""
    files: tuple[str, ...] = ()
    """Files that the program sees in the sandbox, by relative path."""

    def options(self) -> dict[str, Any]:
        """Return the arguments of `Harness`."""
        return self.model_dump()
