"""Turns an episode so far into the next prompt, as messages and as token ids (law 3).

Two encodings. `StepRows`: each turn has a fresh prompt of bounded length, so each turn is a row of
its own in training. `Transcript`: messages grow; the next prompt is the previous prompt's ids, the
sampled ids and the template's glue, nothing decoded and encoded again. Where the chat template
changes earlier text (strips thinking, trims), the next prompt is the template's output, and a new
training row begins there: `rows.token_rows` detects it by comparing ids.

Does not defend against a template that renders the same text for different messages.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from verigym.agents.policy import Completion, Message, Policy, Templating, Tokenizing
from verigym.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Prompt of one turn. `ids` and `text` are None for a policy without tokens.

    `extends` is True if `ids` continue the previous turn's prompt and response ids.
    """

    messages: list[Message]
    ids: list[int] | None = None
    text: str | None = None
    extends: bool = False


@dataclass(kw_only=True)
class Conversation:
    """An episode as an encoding sees it: T turns played and one observation that waits.

    `observations` [T + 1] are without the task's prompt; `actions`, `prompts` and `completions` [T].
    """

    task_prompt: str
    observations: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    legal_actions: list[str] | None = None


class Encoding(Protocol):
    """Turns a conversation into a prompt. Stateless: one instance serves all episodes."""

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn. Raises RequestError if the template is unsuitable."""


@dataclass(frozen=True, kw_only=True)
class StepRows:
    """A fresh prompt for each turn: the task, the last `history` turns, the current observation.

    `system` puts the task's prompt into a system message, for templates that have one; otherwise it
    opens the user message. `show_task=False` leaves it out, for a policy trained on one task only.
    `show_legal` lists the legal actions, if the environment can. The history holds only parsed actions,
    not the reasoning before them.
    """

    history: int = 2
    show_legal: bool = True
    system: bool = True
    show_task: bool = True

    def __post_init__(self) -> None:
        if self.history < 0:
            raise RequestError(f"history must be 0 or more, got {self.history}")

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn."""
        messages = self.messages(talk)
        ids = policy.tokenize(messages) if isinstance(policy, Tokenizing) else None
        return Prompt(messages=messages, ids=ids)

    def messages(self, talk: Conversation) -> list[Message]:
        """Return one user message, after a system message if `system` is set."""
        body = self._body(talk)
        if not body:
            return [{"role": "user", "content": talk.task_prompt}]
        if not self.show_task:
            return [{"role": "user", "content": body}]
        if self.system:
            return [
                {"role": "system", "content": talk.task_prompt},
                {"role": "user", "content": body},
            ]
        return [{"role": "user", "content": f"{talk.task_prompt}\n\n{body}"}]

    def _body(self, talk: Conversation) -> str:
        turn = len(talk.actions)
        first = max(0, turn - self.history)
        lines = []
        for t in range(first, turn):
            lines += ["Before:", talk.observations[t], f"Action: {talk.actions[t]}"]
        if lines:
            lines.append("Now:")
        lines.append(talk.observations[turn])
        lines.append(_legal(talk, self.show_legal))
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """Messages that grow: task and first observation, then answers and observations in turn.

    `system` and `show_legal` as in `StepRows`. Answers are kept whole, reasoning included, as far as
    the chat template keeps them.
    """

    show_legal: bool = False
    system: bool = False

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn, which extends the previous row if that is exact."""
        messages = self.messages(talk)
        if not isinstance(policy, Templating):
            return Prompt(messages=messages)
        text = policy.render(messages)
        if talk.completions:
            ids = continued(talk.prompts[-1], talk.completions[-1], text, policy)
            if ids is not None:
                return Prompt(messages=messages, ids=ids, text=text, extends=True)
        return Prompt(messages=messages, ids=policy.encode(text), text=text)

    def messages(self, talk: Conversation) -> list[Message]:
        """Return all messages so far. Earlier ones come from the last prompt, so they never change."""
        latest = "\n".join(
            part for part in (talk.observations[-1], _legal(talk, self.show_legal)) if part
        )
        if talk.completions:
            return [
                *talk.prompts[-1].messages,
                {"role": "assistant", "content": talk.completions[-1].text},
                {"role": "user", "content": latest},
            ]
        if self.system and latest:
            return [
                {"role": "system", "content": talk.task_prompt},
                {"role": "user", "content": latest},
            ]
        opening = f"{talk.task_prompt}\n\n{latest}" if latest else talk.task_prompt
        return [{"role": "user", "content": opening}]


PROMPTS_FILE = "verigym_prompts.json"
"""File in a trained model's folder that says which prompts it was trained on."""


def write_prompts(folder: Path, encoding: StepRows | Transcript) -> None:
    """Write the settings of `encoding` into a model's folder."""
    kind = "steps" if isinstance(encoding, StepRows) else "transcript"
    text = json.dumps({"encoding": kind, **asdict(encoding)}, indent=1)
    (folder / PROMPTS_FILE).write_text(text, encoding="utf-8")


def read_prompts(folder: Path) -> StepRows | Transcript | None:
    """Return the encoding that the model in `folder` was trained on; None if the folder does not say.

    Raises RequestError if the file cannot be read.
    """
    path = folder / PROMPTS_FILE
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        kind = found.pop("encoding")
        if kind == "steps":
            return StepRows(**found)
        if kind == "transcript":
            return Transcript(**found)
        raise ValueError(f"unknown encoding {kind!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(
            f"{path} cannot be read: {error}; delete it to use plain prompts"
        ) from error


def encoding_for(policy: Policy, history: int | None) -> Encoding:
    """Return the prompts to play `policy` with: `history` earlier turns if given, else as it was trained."""
    if history is not None:
        return StepRows(history=history)
    trained: Encoding | None = getattr(policy, "prompts", None)
    return trained if trained is not None else StepRows()


def continued(
    before: Prompt, answer: Completion, text: str, policy: Templating
) -> list[int] | None:
    """Return ids for the rendered `text` that begin with the ids of `before` and `answer`.

    None if the template changed earlier text, since no such ids would then be faithful. The sampled ids
    are kept even if encoding their text again would give others.
    """
    if before.ids is None or before.text is None or not answer.response_ids:
        return None
    sampled = [*before.ids, *answer.response_ids]
    if text.startswith(before.text + answer.text):
        glue = policy.encode(text[len(before.text) + len(answer.text) :])
        if answer.finish_reason == "length":
            # No end token was sampled; the template's own is part of the glue, so it is not trained.
            return sampled + glue
        if glue[:1] == answer.response_ids[-1:]:
            return sampled + glue[1:]
    # The text differs but the ids may still agree: a tokenizer that drops white space, say.
    ids = policy.encode(text)
    return ids if ids[: len(sampled)] == sampled else None


def _legal(talk: Conversation, show: bool) -> str:
    if not show or talk.legal_actions is None:
        return ""
    return f"Legal actions: {', '.join(talk.legal_actions)}"
