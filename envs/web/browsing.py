"""A browser in a few functions: reads actions, keeps what was entered, sends forms to a site.

Text only, one form a page, no scripts: what `chromium.py` does with a real browser over the same pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from verigym.env import CHARSET
from verigym.envs.web.pages import MAX_TYPED, Control, WebPage, started

FORM = """\
Each page is shown as text, with a number before each control. End each reply with one action on a line of its \
own. Examples:
click 3 (presses a button, or ticks a checkbox or radio button)
type 1 Ann Lee (replaces the text in a field)
select 2 Express (picks an option of a box)
done (ends the task)"""

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]


@dataclass(frozen=True)
class BrowserState:
    """State of the server: its tables, the page that is shown, and the values kept for it (as
    text)."""

    tables: Tables
    page: str = "start"
    kept: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


class Site(Protocol):
    """A web site without memory of its own: pure functions of a `BrowserState`."""

    def show(self, place: BrowserState) -> WebPage:
        """Return the page that is shown."""
        ...

    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        """Return the place that a button of the page leads to, given the fields of the form.
        Unchecked boxes send nothing."""
        ...


@dataclass(frozen=True)
class BrowserSession:
    """The whole state: the server's, and what was entered on the page since it was loaded."""

    place: BrowserState
    draft: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """Problem with the last action."""


@dataclass(frozen=True)
class BrowserAction:
    """`click`, `type`, `select` or `done`; a control by number from 1."""

    verb: str
    number: int = 0
    text: str = ""


_ACTION = re.compile(r"(click|type|select)\s+\[?(\d{1,3})\]?(?:\s+(.*))?", re.IGNORECASE)


def read_action(reply: str) -> BrowserAction | None:
    """Return the action on the last line of a reply, or None."""
    lines = reply.strip().splitlines()
    last = lines[-1].strip() if lines else ""
    if last.lower() == "done":
        return BrowserAction("done")
    match = _ACTION.fullmatch(last)
    if match is None:
        return None
    verb, text = match[1].lower(), (match[3] or "").strip()
    if (verb == "click") == bool(text) and verb != "type":
        return None
    return BrowserAction(verb, int(match[2]), text)


def target(page: WebPage, action: BrowserAction) -> Control | str:
    """Return the control that an action is meant for, or why it cannot be done."""
    controls = page.controls()
    if not 1 <= action.number <= len(controls):
        return f"there is no control {action.number}"
    control = controls[action.number - 1]
    fitting = {
        "click": ("button", "checkbox", "radio"),
        "type": ("textbox",),
        "select": ("combobox",),
    }[action.verb]
    if control.role not in fitting:
        return f"control {action.number} is a {control.role}, which takes no {action.verb}"
    if action.verb == "select" and action.text not in control.options:
        return f"control {action.number} has no such option"
    if len(action.text) > MAX_TYPED or not CHARSET.issuperset(action.text):
        return f"a text has at most {MAX_TYPED} plain ASCII characters"
    return control


def act(site: Site, session: BrowserSession, action: BrowserAction) -> tuple[BrowserSession, bool]:
    """Return the session after an action, and whether the action could be done."""
    page = site.show(session.place)
    control = target(page, action)
    if isinstance(control, str):
        return replace(session, note=f"Nothing was done: {control}."), False
    values = {**started(page), **session.draft}
    if control.role == "button":
        fields = {name: value for name, value in values.items() if value or name in _texts(page)}
        return BrowserSession(site.submit(session.place, control.name, fields)), True
    if control.role == "checkbox":
        value = "" if values[control.name] else "on"
    else:
        value = control.label if control.role == "radio" else action.text
    # Only what differs is kept: entering and taking back leaves the session as it was.
    draft = {**session.draft, control.name: value}
    first = started(page)
    kept = {name: entered for name, entered in draft.items() if first[name] != entered}
    return BrowserSession(session.place, kept), True


def _texts(page: WebPage) -> set[str]:
    return {control.name for control in page.controls() if control.role in ("textbox", "combobox")}
