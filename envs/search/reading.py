"""`Reader`: the base class of environments in which a question is answered by searching and
reading.

`Searching` adds a made-up world for each split, and questions about its facts. The state holds no
history: earlier reading matters only if an option of the constructor counts it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Move, Transition
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.library import Library, world_library
from verigym.envs.search.steps import look_through, read_through
from verigym.envs.search.toolbox import (
    HELP,
    TOOLS,
    Act,
    as_call,
    read_act,
    show_found,
    show_hits,
    show_page,
)
from verigym.envs.search.world import LEAST_PAGES, MOST_PAGES, PAGES, SearchWorld
from verigym.errors import RequestError, TaskError
from verigym.task import SPLITS, Task
from verigym.verdict import Verdict

CITE_FACTS = 'In "citations", list the ids of the pages that state the facts you need: one page for each fact, and no others.'
"""Words for what is to be cited, unless a question says otherwise."""
ANNALS = 7
"""Lowest level whose world has annals."""
SPARE = {8: 30, 9: 20, 10: 10}
"""Turns that are allowed in addition to those that a reader needs, in percent, by level; 50 at level 7."""
MOST_REPEATS = 10
"""Repeated calls that cost something; further ones cost no more."""


@dataclass(frozen=True)
class ReadingState:
    """The state: the page opened last, what was shown last, and (for the oracle) by which query.

    `held` are the groups of supporting pages of which one was opened, and `done` the calls that were made;
    both stay empty unless rewards are given for them. `repeats` counts calls made before.
    """

    view: str = ""
    page: str = ""
    query: str = ""
    held: frozenset[int] = frozenset()
    done: frozenset[str] = frozenset()
    repeats: int = 0


class Reader(Env[ReadingState]):
    """Answers questions by `search`, `open`, `find` and `answer`, one call an action; judged by `qa/answer`.

    `gain` pays, in all, this much for opening supporting pages as they are first opened, and takes it back
    at the end: potential-based (Ng, Harada and Russell 1999), so that the return stays the score and nothing
    is won by reading alone. `redundancy` is what a call costs that was made before, up to ten times: a
    cost, so nothing is won by it either. Both are 0 by default; each is at most 0.5 and 0.05.
    """

    verifier_id: ClassVar[str] = "qa/answer"
    max_action_chars: ClassVar[int] = 8192
    by_title: ClassVar[bool] = False
    """True if the queries on the way are titles, to be opened as they stand."""

    def __init__(self, *, gain: float = 0.0, redundancy: float = 0.0, **kwargs: Any) -> None:
        if not 0 <= gain <= 0.5:
            raise RequestError(f"gain must be from 0 to 0.5, got {gain}")
        if not 0 <= redundancy <= 0.05:
            raise RequestError(f"redundancy must be from 0 to 0.05, got {redundancy}")
        super().__init__(**kwargs)
        self.gain = gain
        self.redundancy = redundancy

    @abstractmethod
    def library(self, task: Task) -> Library:
        """Return the library that `task` is looked up in."""

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as the OpenAI chat API takes them."""
        return TOOLS

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """`info` also has `tools`."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "tools": self.tools()}

    @override
    def commit(
        self, move: Move[ReadingState], verdict: Verdict | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Add `gain` and `redundancy` to the reward."""
        before = self.state
        observation, reward, terminated, truncated, info = super().commit(move, verdict)
        if self.gain or self.redundancy:
            after = 0.0 if terminated or truncated else self._potential(self.state)
            reward += after - self._potential(before)
            reward -= self.redundancy * (self.state.repeats - before.repeats)
        return observation, reward, terminated, truncated, info

    def _potential(self, state: ReadingState) -> float:
        groups = _groups(self.task)
        return self.gain * len(state.held) / len(groups) if groups else 0.0

    @override
    def initial(self, task: Task) -> ReadingState:
        _groups(task)
        return ReadingState()

    @override
    def observe(self, state: ReadingState) -> str:
        """Return the answer to the last call."""
        return state.view

    @override
    def transition(self, state: ReadingState, action: str) -> Transition[ReadingState]:
        act = read_act(action)
        if isinstance(act, str):
            view = f"Invalid call: {act[:300]}."
            return Transition(state=replace(state, view=view, query=""), valid=False)
        if act.name == "answer":
            submission = {"answer": act.text, "citations": list(act.citations)}
            return Transition(state=state, terminated=True, submission=submission)
        moved, valid = self._look(state, act)
        return Transition(state=self._counted(state, moved, act), valid=valid)

    def _look(self, state: ReadingState, act: Act) -> tuple[ReadingState, bool]:
        library = self.library(self.task)
        if act.name == "search":
            view = show_hits(library.search(act.text, act.number), act.number)
            return replace(state, view=view, query=act.text), True
        wanted = act.text if act.name == "open" else state.page
        page = library.open(wanted) if wanted else None
        if page is None:
            view = "No page has this id or title." if wanted else "No page is open; open one first."
            return replace(state, view=view, query=""), False
        if act.name == "open":
            return replace(state, view=show_page(page, act.number), page=page.id, query=""), True
        return replace(state, view=show_found(page, act.text), query=""), True

    def _counted(self, before: ReadingState, moved: ReadingState, act: Act) -> ReadingState:
        if self.gain and act.name == "open":
            opened = {n for n, group in enumerate(_groups(self.task)) if moved.page in group}
            moved = replace(moved, held=moved.held | opened)
        if self.redundancy and moved.repeats < MOST_REPEATS:
            on = moved.page if act.name != "search" else ""
            what = act.text.lower() if act.name != "open" else ""
            made = f"{act.name} {on} {act.number} {what}"
            repeats = before.repeats + (made in before.done)
            moved = replace(moved, done=before.done | {made}, repeats=repeats)
        return moved

    @override
    def submission(self, state: ReadingState) -> JSON:
        """No answer was given."""
        return {"answer": "", "citations": []}

    @override
    def turns_allowed(self, task: Task) -> int:
        return int(_reference(task).get("turns", 20))

    @override
    def key(self, state: ReadingState) -> JSON:
        """Return the open page and the view; past actions only if a reward counts them."""
        counted = [sorted(state.held), sorted(state.done), state.repeats]
        return [state.view, state.page, *(counted if self.gain or self.redundancy else [])]

    @override
    def work(self, state: ReadingState) -> int:
        """Count the results looked at up to the right one, or the statements of the page and the facts noted
        from it; at the end, also the steps of `put_together`. Choosing the next call is one more."""
        route = _reference(self.task).get("route", [])
        at = next((n for n, (_, page) in enumerate(route) if page == state.page), -1)
        if state.query and at + 1 < len(route):
            return look_through(state.view, route[at + 1][1]) + 1
        facts = [group for group in _groups(self.task) if state.page in group]
        operations = read_through(state.view, facts) + 1
        if route and at + 1 == len(route):
            operations += self.put_together()[1]
        return operations

    def put_together(self) -> tuple[str, int]:
        """Return the answer, made of the facts noted on the way, and the number of steps that takes: here one
        for each fact, that the answers are written down in order."""
        operations = 0
        for _ in _groups(self.task):
            operations += 1
        return str(_reference(self.task).get("told", "")), operations

    @override
    def solve(self, state: ReadingState) -> str:
        """Go the known way: from the page that is open to the next, then answer."""
        reference = _reference(self.task)
        route = reference.get("route")
        if not route:
            raise RequestError("no way is known for a question that was not posed here")
        at = next((n for n, (_, page) in enumerate(route) if page == state.page), -1)
        if at == len(route) - 1:
            return as_call("answer", answer=reference["told"], citations=list(reference["cite"]))
        query, page = route[at + 1]
        if self.by_title:
            return as_call("open", page=query)
        if query and state.query != " ".join(query.split()):
            return as_call("search", query=query)
        return as_call("open", page=page)


@dataclass(frozen=True, kw_only=True)
class Quest:
    """A question over a world. `route` are steps `(query or "", page)` on which each page occurs once;
    `support` the pages that hold the facts, one group a fact, and `optional` others that may be cited as well; `form`
    how an answer is to look; `cited` what is to be cited, if it is not one page for each fact."""

    question: str
    answer: str
    kind: str
    form: str
    route: list[tuple[str, int]]
    support: list[list[int]]
    turns: int
    aliases: tuple[str, ...] = ()
    optional: tuple[int, ...] = ()
    rules: str = ""
    cited: str = ""
    tags: tuple[str, ...] = ()


def turns_for(route: list[tuple[str, int]], level: int, more: int = 0) -> int:
    """Return what the way takes, and what `SPARE` adds: a turn for each search, each page, `more` and the answer."""
    least = len(route) + sum(bool(query) for query, _ in route) + more + 1
    return least + least * SPARE.get(level, 50) // 100


class Searching(Reader):
    """Questions over a made-up world of 20,000 pages; an author writes `pose`.

    Each split has a world of its own, so that nothing that was read in training helps in a test. `world` is
    the seed of the three, `pages` how many each has; tasks carry both and can be played anywhere. From level 7 on
    a world has its annals besides.
    """

    rules: ClassVar[str] = ""
    """Rules for special cases that a reader may meet; part of the prompt."""
    corrected: ClassVar[tuple[int, ...]] = ()
    """Levels whose world has errata to its annals."""

    def __init__(self, *, world: int = 0, pages: int = PAGES, **kwargs: Any) -> None:
        if not LEAST_PAGES <= pages <= MOST_PAGES:
            raise RequestError(f"pages must be from {LEAST_PAGES} to {MOST_PAGES}, got {pages}")
        if world < 0:
            raise RequestError(f"world must be at least 0, got {world}")
        super().__init__(**kwargs)
        self.world = world
        self.pages = pages

    @abstractmethod
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        """Return a question with one right answer; None if the draws led to none, and others
        follow."""

    @override
    def split_of(self, draft: Draft) -> str:
        """Each world belongs to one split."""
        assert isinstance(draft.reference, dict)
        return SPLITS[draft.reference["world"][1]]

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        plain = (self.world, SPLITS.index(self._drawing), self.pages)
        where = (*plain, 1 + (level in self.corrected)) if level >= ANNALS else plain
        world = world_library(*where).world
        draws = BlockDraws(rng)
        quest = None
        while quest is None:
            quest = self.pose(world, draws, level)
        named = world.page_id
        groups = [[named(page) for page in group] for group in quest.support]
        paragraphs = (
            f"Answer a question with the help of an encyclopedia of {world.pages} pages about a fictional world.",
            HELP,
            f"Question: {quest.question}",
            f"{quest.form} {quest.cited or CITE_FACTS} {quest.rules or self.rules}".strip(),
            f"You have {quest.turns} turns, including the answer.",
        )
        return Draft(
            prompt="\n\n".join(paragraphs),
            reference={
                "answers": [quest.answer, *quest.aliases],
                "kind": quest.kind,
                "supporting": groups,
                **({"optional": [*map(named, quest.optional)]} if quest.optional else {}),
                "world": list(where),
                "route": [[query, named(page)] for query, page in quest.route],
                "told": quest.answer,
                "cite": list(dict.fromkeys(group[0] for group in groups)),
                "turns": quest.turns,
            },
            tags=quest.tags,
        )

    @override
    def library(self, task: Task) -> Library:
        where = _reference(task).get("world")
        if (
            not isinstance(where, list | tuple)
            or len(where) not in (3, 4)
            or not all(isinstance(n, int) and n >= 0 for n in where)
            or where[1] >= len(SPLITS)
            or not LEAST_PAGES <= where[2] <= MOST_PAGES
            or sum(where[3:]) > 2
        ):
            raise TaskError(
                f"world must be [seed, split, pages], perhaps with a 1 for its annals or a 2 for errata too, got {where!r}"
            )
        return world_library(*where)


def _reference(task: Task) -> dict[str, Any]:
    if not isinstance(task.reference, dict):
        raise TaskError("the reference must be an object")
    return task.reference


def _groups(task: Task) -> list[list[str]]:
    groups = _reference(task).get("supporting", [])
    if not isinstance(groups, list | tuple):
        raise TaskError("supporting must be a list")
    if groups and all(isinstance(page, str) for page in groups):
        return [list(groups)]
    return [list(group) for group in groups]
