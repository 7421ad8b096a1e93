"""The base of environments in which a database is explored by commands before the answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Env, Transition
from verigym.envs.sql.commands import HELP, read_command
from verigym.verdict import Status, Verdict

STEPS = "steps="
"""Heads the tag that says how much work the answer is."""

OVER = "The task is over."

_COMMANDS = (
    "<tables></tables>, <describe>...</describe>, <query>...</query> or <answer>...</answer>"
)


@dataclass(frozen=True)
class LastResult:
    """The state: what the last command showed, and the rows that queries have read where that counts. The database itself
    never changes."""

    shown: str = ""
    rows_read: int = 0


class Explorer(Env[LastResult]):
    """Base: one command in each reply, of which the answer is judged and ends the episode."""

    @abstractmethod
    def tables(self) -> str:
        """Return the text that `<tables>` shows."""

    @abstractmethod
    def describe(self, table: str) -> str | None:
        """Return the text that `<describe>` shows; None if there is no such table."""

    @abstractmethod
    def query(self, text: str) -> tuple[str, bool]:
        """Return the text that `<query>` shows, and True if it ran."""

    @override
    def initial(self, task: Any) -> LastResult:
        return LastResult()

    @override
    def observe(self, state: LastResult) -> str:
        return state.shown

    @override
    def transition(self, state: LastResult, action: str) -> Transition[LastResult]:
        command = read_command(action)
        if command is None:
            return Transition(state=replace(state, shown=HELP.format(_COMMANDS)), valid=False)
        if command.name == "answer":
            over = replace(state, shown=OVER)
            return Transition(state=over, terminated=True, submission=command.text)
        if command.name == "tables":
            return Transition(state=replace(state, shown=self.tables()))
        if command.name == "describe":
            said = self.describe(command.text.lower())
            shown = said or "There is no such table; <tables></tables> lists them."
            return Transition(state=replace(state, shown=shown), valid=said is not None)
        after, valid = self.after_query(state, command.text)
        return Transition(state=after, valid=valid)

    def after_query(self, state: LastResult, text: str) -> tuple[LastResult, bool]:
        """Return the state after a query, and True if it ran."""
        shown, valid = self.query(text)
        return replace(state, shown=shown), valid

    @override
    def judged(self, moved: Transition[LastResult], verdict: Verdict) -> Transition[LastResult]:
        return replace(moved, valid=moved.valid and verdict.status is not Status.POLICY_FAULT)

    @override
    def submission(self, state: LastResult) -> JSON:
        """Return the empty text, which is judged if the turns end without an answer."""
        return ""

    @override
    def key(self, state: LastResult) -> JSON:
        """Return the state without the database, which is part of the task in every key."""
        return state.shown

    @override
    def work(self, state: LastResult) -> int:
        steps = [int(tag.removeprefix(STEPS)) for tag in self.task.tags if tag.startswith(STEPS)]
        return steps[-1] if steps and self.solve(state).startswith("<answer>") else 1
