"""`web/forms`: fill in a form or a wizard, filter a table, book a slot, on pages shown as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import FORM, BrowserSession, BrowserState, act, read_action
from verigym.envs.web.claims import Claims
from verigym.envs.web.invoices import Invoices
from verigym.envs.web.order import Order
from verigym.envs.web.pages import WebPage, as_text, started
from verigym.envs.web.registration import Registration
from verigym.envs.web.rooms import Rooms
from verigym.envs.web.site import ChoreSite, facts_of, together
from verigym.errors import RequestError, TaskError
from verigym.task import Task

SITES: dict[str, ChoreSite] = {
    site.name: site for site in (Invoices(), Order(), Registration(), Rooms(), Claims())
}

OVER = "The task is over."


class Forms(Env[BrowserSession]):
    """A chore on a small web site, at level 7 two of a kind, from level 8 on claims to be decided by rules; what its
    tables hold at the end is judged by `tools/state`.

    `browser` is `python` (the default: pages as text, nothing is started) or `chromium`: the same pages,
    served on the loopback interface and driven in a real headless browser; needs `verigym[browser]` and a
    Chromium on PATH. Both show and do the same. `close()` ends the browser.
    """

    id: ClassVar[str] = "verigym/web/forms-v0"
    verifier_id: ClassVar[str] = "tools/state"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    def __init__(self, *, browser: str = "python", **kwargs: Any) -> None:
        if browser not in ("python", "chromium"):
            raise RequestError(f"browser must be 'python' or 'chromium', got {browser!r}")
        super().__init__(**kwargs)
        self.browser = browser
        self._chromium: Any = None

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        draws = BlockDraws(rng)
        site = draws.one([one for one in SITES.values() if level in one.sizes])
        size, count = site.sizes[level], site.counts.get(level, 1)
        chore = together([site.pose(draws, size) for _ in range(count)])
        return Draft(
            prompt=f"{chore.words}\n\n{FORM}\nWrite only the action, without the words in parentheses. Do only what is asked.",
            reference={
                "initial": {name: list(map(dict, rows)) for name, rows in chore.tables.items()},
                "keys": {name: ["id"] for name in chore.tables},
                "goals": chore.goals,
                "env": {
                    "site": site.name,
                    "facts": chore.facts,
                    "kept": chore.kept,
                    "turns": chore.turns,
                },
            },
            tags=(site.name,),
        )

    @override
    def initial(self, task: Task) -> BrowserSession:
        reference, notes = _parts(task)
        return BrowserSession(BrowserState(reference["initial"], kept=notes["kept"]))

    @override
    def turns_allowed(self, task: Task) -> int:
        return int(_parts(task)[1]["turns"])

    @override
    def observe(self, state: BrowserSession) -> str:
        if state.note == OVER:
            return OVER
        if self.browser == "chromium":
            shown: str = self._real().show(self._site(), state)
        else:
            shown = as_text(self._page(state), state.draft)
        return f"{shown}\n{state.note}" if state.note else shown

    @override
    def transition(self, state: BrowserSession, action: str) -> Transition[BrowserSession]:
        read = read_action(action)
        if read is None:
            note = "Nothing was done: the last line was no action."
            return Transition(state=replace(state, note=note), valid=False)
        if read.verb == "done":
            over = replace(state, note=OVER)
            return Transition(state=over, terminated=True, submission=self.submission(state))
        if self.browser == "chromium":
            moved, valid = self._real().act(self._site(), state, read)
        else:
            moved, valid = act(self._site(), state, read)
        return Transition(state=moved, valid=valid)

    @override
    def submission(self, state: BrowserSession) -> JSON:
        """Return the tables of the site."""
        return {name: list(map(dict, rows)) for name, rows in state.place.tables.items()}

    @override
    def key(self, state: BrowserSession) -> JSON:
        """Return the server's tables, the entered values and the message shown."""
        place = state.place
        return [
            {name: list(rows) for name, rows in place.tables.items()},
            place.page,
            dict(place.kept),
            place.message,
            dict(state.draft),
            state.note,
        ]

    @override
    def solve(self, state: BrowserSession) -> str:
        """Enter what is wanted on each page; RequestError if damage was done."""
        if self._damaged(state):
            raise RequestError("what was done here cannot be taken back")
        return self._next(state)[0]

    @override
    def work(self, state: BrowserSession) -> int:
        """Count the chores compared with what is on the site, the lines and controls of the page that is read,
        and the options of a box up to the one wanted."""
        return self._next(state)[1]

    def _next(self, state: BrowserSession) -> tuple[str, int]:
        aim, operations = None, 0
        for facts in facts_of(_parts(self.task)[1]["facts"]):
            operations += 1
            aim = self._site().aim(state.place, facts)
            if aim is not None:
                break
        if aim is None:
            return "done", operations
        page = self._page(state)
        values = {**started(page), **state.draft}
        for _ in page.parts:
            operations += 1
        for number, control in enumerate(page.controls(), 1):
            wanted = aim.fields.get(control.name)
            if wanted is None or control.role == "button" or values[control.name] == wanted:
                continue
            if control.role == "textbox":
                return f"type {number} {wanted}", operations
            if control.role == "combobox":
                for option in control.options:
                    operations += 1
                    if option == wanted:
                        break
                return f"select {number} {wanted}", operations
            if control.role == "checkbox" or control.label == wanted:
                return f"click {number}", operations
        return f"click {_button(page, aim.button)}", operations

    def close(self) -> None:
        """Close the browser, if there is one."""
        if self._chromium is not None:
            self._chromium.close()
            self._chromium = None
        super().close()

    def _site(self) -> ChoreSite:
        return SITES[_parts(self.task)[1]["site"]]

    def _page(self, state: BrowserSession) -> WebPage:
        return self._site().show(state.place)

    def _damaged(self, state: BrowserSession) -> bool:
        """Return True if the tables differ from those at the start in anything but the wanted
        changes."""
        reference, _ = _parts(self.task)
        verdict = self.verifier.verify(self.task, self.submission(state))
        return state.place.tables != reference["initial"] and verdict.parts.get("unharmed") != 1

    def _real(self) -> Any:
        if self._chromium is None:
            from verigym.envs.web.chromium import Chromium  # starts nothing until it is used

            self._chromium = Chromium()
        return self._chromium


def _button(page: WebPage, name: str) -> int:
    return 1 + next(
        n for n, one in enumerate(page.controls()) if (one.role, one.name) == ("button", name)
    )


def _parts(task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
    reference = task.reference
    notes = reference.get("env") if isinstance(reference, dict) else None
    if (
        not isinstance(reference, dict)
        or not isinstance(notes, Mapping)
        or notes.get("site") not in SITES
    ):
        raise TaskError(f'the reference must have "env" with a site of {", ".join(SITES)}')
    return reference, dict(notes)
