"""`Stateful`: the base class of environments in which calls change a world, judged by its final
state.

An author sets a `world` and writes `compose` (a world, wishes in words, the goals and a way to
them). This class does the rest: it reads calls, runs them, reports their results, ends the
episode, and provides the oracle and the keys.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON, digest
from verigym.env import Draft, Env, Transition
from verigym.envs.tools.calls import FORM, NoCalls, as_text, calls_of
from verigym.envs.tools.cases.casework import Casework
from verigym.envs.tools.cases.desk_tools import BUDGETED, CORE, DECIDING, HIDDEN
from verigym.envs.tools.cases.loads import LOADS
from verigym.envs.tools.cases.place import Place
from verigym.envs.tools.cases.plan import goals_between, is_blocked, weigh
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.look_up import choose_tool, find_rows, values_of
from verigym.envs.tools.others import OTHERS
from verigym.envs.tools.tool import Refused, Tool, unknown
from verigym.envs.tools.wishes import Story
from verigym.envs.tools.world import Tables, World
from verigym.errors import RequestError, TaskError
from verigym.task import Task
from verigym.verifiers.tools.read_calls import ReadCall

MAX_ANSWER = 6000
"""Maximum number of characters of the answers to one action."""

FINISH = Tool(
    "finish",
    "Say that all is done. Ends the work; nothing can be done after it.",
    {},
    lambda db: None,
)

_ALWAYS = "Do everything that is asked and change nothing else. Then call finish."
_CUT = f"The results of one reply are cut off after {MAX_ANSWER} characters."


@dataclass(frozen=True)
class Held:
    """State: the world, and the answers to the last action."""

    tables: Tables
    told: str = ""


class Stateful(Env[Held]):
    """Calls change a world; at the end its state is judged by `tools/state`, collateral damage included.

    An action is one message with calls (see `calls.py`). Each call gives a line of JSON with its result or
    its error; a call that fails changes nothing. The action is valid if every call succeeded. `finish`, or
    the turn limit, ends the episode.
    """

    verifier_id: ClassVar[str] = "tools/state"
    recoverable: ClassVar[bool] = False
    max_action_chars: ClassVar[int] = 1 << 14
    max_observation_chars: ClassVar[int] = 1 << 15
    world: ClassVar[World]
    core: ClassVar[tuple[str, ...]]
    """Tools of the world that every task offers; the others are distractors."""
    casework: ClassVar[type[Place] | None] = None
    """Kind of casework that the levels from 7 on pose, if they do."""
    desk: ClassVar[World]
    """World of the casework: `with_desk(world)`."""
    extras: ClassVar[Mapping[int, tuple[int, int]]]
    """Number of the world's other tools, and of tools of other worlds, that are offered, by
    level."""

    _followed: Task | None = None
    _track: tuple[tuple[Tables, ReadCall, int], ...] = ()
    _hashed: tuple[Tables | None, str] = (None, "")

    @abstractmethod
    def compose(self, draws: Draws, level: int) -> Story:
        """Return a world and the wishes for it."""

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        draws = Draws(rng)
        if self.casework is not None and level in LOADS:
            return self._cases(draws, level, self.casework)
        story = self.compose(draws, level)
        near, far = self.extras[level]
        others = [name for name in self.world.tools if name not in self.core]
        names = draws.shuffled(
            [*self.core, *draws.some(others, near), *draws.some(list(OTHERS), far)]
        )
        goals = [goal for wish in story.wishes for goal in wish.goals]
        plan = [step for wish in story.wishes for step in wish.plan]
        turns = 2 * sum(step.work for step in plan) + story.spare
        asked = story.asked
        if asked is None:
            asked = "\n".join(f"{i}. {wish.words}" for i, wish in enumerate(story.wishes, 1))
        tools = "\n".join(self._tool(name, self.world.tools).line for name in [*names, FINISH.name])
        return Draft(
            prompt=worded(f"{story.opening}\n\n{asked}", turns, tools),
            reference={
                "initial": self.world.as_rows(story.tables),
                "keys": {name: ["id"] for name in self.world.tables},
                "goals": goals,
                "allowed": [{"table": name} for name in story.hidden],
                "env": {
                    "tools": names,
                    "plan": [[step.name, step.arguments, step.work] for step in plan],
                    "turns": turns,
                },
            },
            tags=(f"wishes={len(story.wishes)}",),
        )

    def _cases(self, draws: Draws, level: int, place: type[Place]) -> Draft:
        while True:
            work = Casework(draws, LOADS[level], place)
            if not self.wants(work.essence):
                return Draft(prompt="", reference=None, essence=work.essence)
            work.settle()
            if work.is_sound():
                break
        return cases_draft(work, self.desk, self._offered(draws, level, place))

    def _offered(self, draws: Draws, level: int, place: type[Place]) -> list[Tool]:
        """Return the tools of a task of casework: those of the desk, of the cases, and others."""
        near, far = self.extras[level]
        core = (*CORE, *(BUDGETED if LOADS[level].budgets else ()), *place.core)
        others = [name for name in self.desk.tools if name not in (*core, *BUDGETED)]
        names = [*core, *draws.some(others, near), *draws.some(list(OTHERS), far)]
        known = {**OTHERS, **self.desk.tools}
        return [known[name] for name in draws.shuffled(names)]

    def tools(self, task: Task | None = None) -> list[dict[str, Any]]:
        """Return the tools of `task`, by default the current one, as the OpenAI chat API takes
        them."""
        task = self.task if task is None else task
        tools = self.world_of(task).tools
        return [self._tool(name, tools).schema() for name in [*_notes(task)["tools"], FINISH.name]]

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """`info` also has `tools`, as `tools()` gives them."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "tools": self.tools()}

    @override
    def initial(self, task: Task) -> Held:
        reference = task.reference
        if not isinstance(reference, dict) or not isinstance(reference.get("initial"), dict):
            raise TaskError("the reference must be an object with the initial state")
        return Held(self.world_of(task).as_tables(reference["initial"]))

    @override
    def turns_allowed(self, task: Task) -> int:
        return int(_notes(task)["turns"])

    @override
    def observe(self, state: Held) -> str:
        """Return the answers to the last calls."""
        return state.told

    @override
    def transition(self, state: Held, action: str) -> Transition[Held]:
        offered = _notes(self.task)["tools"]
        world = self.world_of(self.task)
        try:
            rules = {
                name: self._tool(name, world.tools).parameters for name in (*offered, FINISH.name)
            }
            calls = calls_of(action, rules)
        except NoCalls as wrong:
            return Transition(state=Held(state.tables, line(None, error=str(wrong))), valid=False)
        tables, lines, valid, finished = state.tables, [], True, False
        for call in calls:
            try:
                if call.name == FINISH.name:
                    FINISH.check(call.arguments)
                    finished = True
                    lines.append(line(call.name, result="The task is over."))
                    break
                if call.name not in offered:
                    raise Refused(unknown(call.name, sorted({*offered, FINISH.name})))
                tool = self._tool(call.name, world.tools)
                tables, answer = world.call(tables, tool, call.arguments)
                lines.append(line(call.name, result=answer))
            except Refused as refusal:
                valid = False
                lines.append(line(call.name, error=str(refusal)))
        moved = Held(tables, bounded(lines))
        if finished:
            return Transition(
                state=moved, terminated=True, valid=valid, submission=self.submission(moved)
            )
        return Transition(state=moved, valid=valid)

    @override
    def submission(self, state: Held) -> JSON:
        """Return the current state of the world."""
        return self.world_of(self.task).as_rows(state.tables)

    @override
    def key(self, state: Held) -> JSON:
        """Return the world, and what was answered last: both are seen or decide what follows."""
        # Most actions leave the world as it is, and a large one takes a while to write down.
        if self._hashed[0] is not state.tables:
            self._hashed = (state.tables, digest(state.tables))
        return [self._hashed[1], state.told]

    def looked_up(self, tool: Tool) -> tuple[str, ...]:
        """Return the tables in which the arguments of `tool` have to be found, by default those that it reads
        or writes."""
        return tool.tables

    @override
    def work(self, state: Held) -> int:
        """Count the tools compared until the next one is found, and the rows looked through for each of its
        arguments."""
        call, _ = self._next(state)
        world, notes = self.world_of(self.task), _notes(self.task)
        tool = self._tool(call.name, world.tools)
        operations = choose_tool([*notes["tools"], FINISH.name], call.name)
        tables = dict(zip(world.tables, state.tables, strict=True))
        if call.name in DECIDING and "facts" in notes:
            operations += weigh(notes, tables, call.arguments["case"])
        for value in values_of(call.arguments):
            operations += 1
            for name in self.looked_up(tool):
                operations += find_rows(tables[name], value)[1]
        return operations

    @override
    def solve(self, state: Held) -> str:
        """Return the next call of the plan; RequestError if play has left its way."""
        call, _ = self._next(state)
        return as_text(call)

    def _next(self, state: Held) -> tuple[ReadCall, int]:
        if self._followed is not self.task:
            self._followed, self._track = self.task, self._follow()
        here = self._judged(state.tables)
        for tables, call, work in reversed(self._track):
            if self._judged(tables) == here:
                if is_blocked(self.world_of(self.task), state.tables, call.name):
                    return ReadCall("wait", {}), 1
                return call, work
        raise RequestError("the goals can no longer be reached from here on the way that is known")

    def _judged(self, tables: Tables) -> list[object]:
        """Return the tables that are judged; others hold, for example, the conversation."""
        reference: Any = self.task.reference
        free = {entry["table"] for entry in reference["allowed"]}
        return [
            rows
            for name, rows in zip(self.world_of(self.task).tables, tables, strict=True)
            if name not in free
        ]

    def _follow(self) -> tuple[tuple[Tables, ReadCall, int], ...]:
        """The worlds that the plan leads through, each with the call that leads on."""
        notes, world = _notes(self.task), self.world_of(self.task)
        tables = self.initial_tables()
        track = []
        for name, arguments, work in notes["plan"]:
            track.append((tables, ReadCall(name, arguments), int(work)))
            tool = self._tool(name, world.plain or world.tools)
            tables, _ = world.call(tables, tool, arguments)
        track.append((tables, ReadCall(FINISH.name, {}), 1))
        return tuple(track)

    def initial_tables(self) -> Tables:
        """Return the world in which the current task starts."""
        reference: Any = self.task.reference
        return self.world_of(self.task).as_tables(reference["initial"])

    def world_of(self, task: Task) -> World:
        """Return the world of a task: the desk if it is casework."""
        return self.desk if "facts" in _notes(task) else self.world

    def _tool(self, name: str, tools: Mapping[str, Tool]) -> Tool:
        if name == FINISH.name:
            return FINISH
        return tools[name] if name in tools else OTHERS[name]


def worded(asked: str, turns: int, tools: str) -> str:
    """Return the prompt of a task: what is asked, how to reply, and the tools."""
    return f"{asked}\n\n{_ALWAYS} You have {turns} replies.\n{FORM} {_CUT}\n\nTools:\n{tools}"


def cases_draft(work: Casework, desk: World, offered: Sequence[Tool]) -> Draft:
    """Return casework as a task in a world with a desk."""
    tables = work.tables()
    after = desk.play(tables, [(step.name, step.arguments) for step in work.plan])
    tools = "\n".join(tool.line for tool in (*offered, FINISH))
    return Draft(
        prompt=worded(work.manual(), work.turns(), tools),
        reference={
            "initial": desk.as_rows(tables),
            "keys": {name: ["id"] for name in desk.tables},
            "goals": goals_between(desk, tables, after),
            "allowed": [{"table": name} for name in HIDDEN],
            "env": {
                "tools": [tool.name for tool in offered],
                "plan": [[step.name, step.arguments, step.work] for step in work.plan],
                "turns": work.turns(),
                **work.notes(),
            },
        },
        tags=(f"cases={len(work.cases)}",),
        essence=work.essence,
    )


def line(name: str | None, **what: JSON) -> str:
    """Return one answer as a line of JSON."""
    # Escaped to ASCII, whatever the world holds: observations are.
    return json.dumps(what if name is None else {"tool": name[:80], **what})


def bounded(lines: list[str]) -> str:
    """Return the answers of one action, at most `MAX_ANSWER` characters."""
    told = "\n".join(lines)
    return told if len(told) <= MAX_ANSWER else told[:MAX_ANSWER] + "... (cut)"


def _notes(task: Task) -> dict[str, Any]:
    reference = task.reference
    notes = reference.get("env") if isinstance(reference, dict) else None
    if not isinstance(notes, dict) or not {"tools", "plan", "turns"} <= notes.keys():
        raise TaskError('the reference must have "env" with tools, plan and turns')
    return notes
