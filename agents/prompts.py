"""Choice of the prompts that a policy is played with, and the file in which a trained model keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from verigym.agents.chat import StepRows, Thoughts, Transcript
from verigym.agents.parsing import Parse
from verigym.agents.policy import Policy
from verigym.errors import RequestError

PROMPTS_FILE = "verigym_prompts.json"
"""File in a trained model's folder that says which prompts it was trained on."""

_KINDS: Mapping[str, type[StepRows] | type[Transcript]] = {
    "steps": StepRows,
    "transcript": Transcript,
}


@dataclass(frozen=True, kw_only=True)
class PromptChoices:
    """Changes of a policy's prompts; None leaves a setting as the policy was trained, or at its default."""

    encoding: Literal["steps", "transcript"] | None = None
    history: int | None = None
    thoughts: Thoughts | None = None
    parse: Parse | None = None
    system_prompt: str | None = None
    native_tools: bool | None = None
    system: bool | None = None
    show_task: bool | None = None
    show_legal: bool | None = None
    show_turns: bool | None = None
    show_tokens: bool | None = None

    def apply(self, trained: StepRows | Transcript | None) -> StepRows | Transcript:
        """Return `trained`, or the defaults, with these changes.

        Raises RequestError if the encoding has no such setting.
        """
        changes = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = changes.pop("encoding")
        changes = {name: value for name, value in changes.items() if value is not None}
        start = StepRows() if trained is None else trained
        kind = type(start) if chosen is None else _KINDS[chosen]
        known = {field.name for field in fields(kind)}
        for name in changes:
            if name not in known:
                raise RequestError(f"{name} is for encoding steps; leave it out with transcript")
        if isinstance(start, kind):
            return replace(start, **changes)
        return kind(**changes)


def encoding_for(policy: Policy, choices: PromptChoices | None = None) -> StepRows | Transcript:
    """Return the prompts to play `policy` with: as it was trained, with the changes in `choices`."""
    trained: StepRows | Transcript | None = getattr(policy, "prompts", None)
    return (choices or PromptChoices()).apply(trained)


def read_text(given: str) -> str:
    """Return `given`, or, if it is `@PATH`, the text of that file. Raises RequestError if it cannot be read."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise RequestError(f"system prompt file {given[1:]!r} cannot be read: {error}") from error


def write_prompts(folder: Path, encoding: StepRows | Transcript, think: str = "auto") -> None:
    """Write the settings of `encoding`, and the policy's `think`, into a model's folder."""
    kind = "steps" if isinstance(encoding, StepRows) else "transcript"
    kept = {"encoding": kind, "think": think, **asdict(encoding)}
    (folder / PROMPTS_FILE).write_text(json.dumps(kept, indent=1), encoding="utf-8")


def read_prompts(folder: Path) -> tuple[StepRows | Transcript, str] | None:
    """Return the encoding that the model in `folder` was trained on, and its `think`; None if the folder
    does not say.

    Raises RequestError if the file cannot be read.
    """
    path = folder / PROMPTS_FILE
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        kind, think = found.pop("encoding"), found.pop("think", "auto")
        if kind not in _KINDS:
            raise ValueError(f"unknown encoding {kind!r}")
        return _KINDS[kind](**found), think
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(
            f"{path} cannot be read: {error}; delete it to use plain prompts"
        ) from error
