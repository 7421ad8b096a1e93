"""Turns an episode so far into the next prompt, as messages and as token ids (law 3).

Two encodings. `StepRows`: each turn has a fresh prompt of bounded length, so each turn is a row of
its own in training. `Transcript`: messages grow; the next prompt is the previous prompt's ids, the
sampled ids and the template's glue, nothing decoded and encoded again. Where the chat template
changes earlier text (strips thinking, trims), the next prompt is the template's output, and a new
training row begins there: `rows.token_rows` detects it by comparing ids.

Does not defend against a template that renders the same text for different messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec

from verigym.agents.native_tools import ToolSchemas, calls_tool
from verigym.agents.parsing import Parse
from verigym.agents.policy import (
    Completion,
    Message,
    Policy,
    Templating,
    is_templating,
    is_tokenizing,
)
from verigym.errors import RequestError
from verigym.reply import spoken

Thoughts = Literal["keep", "drop"]


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """Prompt of one turn. `ids` and `text` are None for a policy without tokens.

    `extends` is True if `ids` continue the previous turn's prompt and response ids, `grows` if the next turn's
    may begin with these or with a part of them.
    """

    messages: list[Message]
    ids: list[int] | None = None
    text: str | None = None
    extends: bool = False
    grows: bool = False


@dataclass(kw_only=True)
class Conversation:
    """An episode as an encoding sees it: T turns played and one observation that waits.

    `observations` [T + 1] are without the task's prompt; `actions`, `prompts` and `completions` [T].
    `hint` is help with this task, empty for none.
    """

    task_prompt: str
    observations: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    legal_actions: list[str] | None = None
    max_turns: int | None = None
    tools: ToolSchemas | None = None
    hint: str = ""


class Encoding(Protocol):
    """Turns a conversation into a prompt. Stateless: one instance serves all episodes."""

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn. Raises RequestError if the template is unsuitable."""


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Settings that both encodings share.

    `system_prompt` opens a system message. `show_turns` states the turn and the turn limit in each prompt,
    `show_tokens` the limit of tokens of a reply. `parse` names how the action is read from a reply.
    `native_tools` gives the environment's tools to the chat template of a policy that has one.
    """

    system_prompt: str = ""
    native_tools: bool = False
    show_turns: bool = False
    show_tokens: bool = False
    parse: Parse = "environment"

    def offered(self, talk: Conversation) -> dict[str, ToolSchemas]:
        """Return the argument `tools` for the chat template; empty if there is none."""
        return {"tools": talk.tools} if self.native_tools and talk.tools else {}

    def opening(self, task: str, message: str) -> list[Message]:
        """Return the first messages; the `task` part of them goes to the system message."""
        system = "\n\n".join(part for part in (self.system_prompt, task) if part)
        user: Message = {"role": "user", "content": message}
        return [{"role": "system", "content": system}, user] if system else [user]

    def lines(self, talk: Conversation, show_legal: bool, max_tokens: int | None) -> list[str]:
        """Return the lines below the current observation: legal actions and budgets."""
        found = []
        if show_legal and talk.legal_actions is not None:
            found.append(f"Legal actions: {', '.join(talk.legal_actions)}")
        if self.show_turns and talk.max_turns is not None:
            found.append(f"Turn {len(talk.actions) + 1} of {talk.max_turns}.")
        if self.show_tokens:
            if max_tokens is None:
                raise RequestError("show_tokens needs a policy with a token limit (max_new_tokens)")
            found.append(f"Your reply may have at most {max_tokens} tokens, thinking included.")
        return found


@dataclass(frozen=True, kw_only=True)
class StepRows(Prompts):
    """A fresh prompt for each turn: the task, the last `history` turns, the current observation.

    `system` puts the task's prompt into a system message, for templates that have one; otherwise it
    opens the user message. `show_task=False` leaves it out, for a policy trained on one task only.
    `show_legal` lists the legal actions, if the environment can. The history holds only parsed actions;
    with `thoughts="keep"` whole replies.
    """

    history: int = 2
    show_legal: bool = True
    system: bool = True
    show_task: bool = True
    thoughts: Thoughts = "drop"

    def __post_init__(self) -> None:
        if self.history < 0:
            raise RequestError(f"history must be 0 or more, got {self.history}")

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn."""
        messages = self.messages(talk, getattr(policy, "max_new_tokens", None))
        if not is_tokenizing(policy):
            return Prompt(messages=messages)
        ids = policy.tokenize(messages, **self.offered(talk))
        return Prompt(messages=messages, ids=ids, grows=True)

    def messages(self, talk: Conversation, max_tokens: int | None = None) -> list[Message]:
        """Return one user message, after a system message if there is something to put into it."""
        body = self._body(talk)
        below = self.lines(talk, self.show_legal, max_tokens)
        if not body and not (self.show_legal and talk.legal_actions is not None):
            # A question without an observation is the message itself.
            return self.opening("", "\n".join([talk.task_prompt, *below]))
        text = "\n".join([*body, *below])
        if not self.show_task:
            return self.opening("", text)
        if self.system:
            return self.opening(talk.task_prompt, text)
        return self.opening("", f"{talk.task_prompt}\n\n{text}")

    def _body(self, talk: Conversation) -> list[str]:
        turn = len(talk.actions)
        lines = []
        for t in range(max(0, turn - self.history), turn):
            said = talk.completions[t].text if self.thoughts == "keep" else talk.actions[t]
            lines += ["Before:", talk.observations[t], f"Action: {said}"]
        if lines:
            lines.append("Now:")
        lines.append(talk.observations[turn])
        return [line for line in (talk.hint, *lines) if line]


@dataclass(frozen=True, kw_only=True)
class Transcript(Prompts):
    """Messages that grow: task and first observation, then answers and observations in turn.

    `system` and `show_legal` as in `StepRows`. Answers are kept whole, reasoning included, as far as
    the chat template keeps them; with `thoughts="drop"` later prompts hold them without their thoughts,
    and a new training row begins after each answer that had some.
    """

    show_legal: bool = False
    system: bool = False
    thoughts: Thoughts = "keep"

    def prompt(self, talk: Conversation, policy: Policy) -> Prompt:
        """Return the prompt of the next turn, which extends the previous row if that is exact."""
        offered = self.offered(talk)
        has_template = is_templating(policy)
        results = getattr(policy, "role_of_results", "user") if offered and has_template else "user"
        messages = self.messages(talk, getattr(policy, "max_new_tokens", None), results)
        if not is_templating(policy):
            return Prompt(messages=messages)
        text = policy.render(messages, **offered)
        if talk.completions:
            ids = continued(talk.prompts[-1], talk.completions[-1], text, policy)
            if ids is not None:
                return Prompt(messages=messages, ids=ids, text=text, extends=True, grows=True)
        return Prompt(messages=messages, ids=policy.encode(text), text=text, grows=True)

    def messages(
        self, talk: Conversation, max_tokens: int | None = None, results: str = "user"
    ) -> list[Message]:
        """Return all messages so far. Earlier ones come from the last prompt, so they never change.

        `results` is the role of a message that follows a tool call.
        """
        hint = "" if talk.completions else talk.hint
        below = self.lines(talk, self.show_legal, max_tokens)
        latest = "\n".join(part for part in (hint, talk.observations[-1], *below) if part)
        if talk.completions:
            said = talk.completions[-1].text
            return [
                *talk.prompts[-1].messages,
                {
                    "role": "assistant",
                    "content": said if self.thoughts == "keep" else spoken(said).strip(),
                },
                {"role": _role_after(said, results), "content": latest},
            ]
        if self.system and latest:
            return self.opening(talk.task_prompt, latest)
        return self.opening("", f"{talk.task_prompt}\n\n{latest}" if latest else talk.task_prompt)


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


def _role_after(said: str, results: str) -> str:
    return results if results != "user" and calls_tool(said) else "user"
