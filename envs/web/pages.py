"""A page as a list of texts and controls: shown as accessibility text, or written as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

MAX_TYPED = 200
"""Characters that a text box takes."""


@dataclass(frozen=True)
class Control:
    """Something to act on. `name` is what a form sends it as; `value` what it starts with.

    `role` is textbox, combobox (one of `options`), checkbox (value "on" or ""), radio (one of a group of
    one `name`; `label` is what it sends, `value` "on" for the one that is chosen) or button.
    """

    role: str
    name: str
    label: str
    value: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class WebPage:
    """Content of a browser window: a title, texts and controls in order. All controls belong to
    one form."""

    title: str
    parts: tuple[str | Control, ...]

    def controls(self) -> list[Control]:
        """Return the controls in order; the first is number 1."""
        return [part for part in self.parts if isinstance(part, Control)]


Draft = Mapping[str, str]
"""Values entered since the page was loaded, by name of the control."""


def started(page: WebPage) -> dict[str, str]:
    """Return the initial value of each control of the page, by name; for radios the label of the
    chosen one."""
    values: dict[str, str] = {}
    for control in page.controls():
        if control.role == "radio":
            if control.value or control.name not in values:
                values[control.name] = control.label if control.value else ""
        elif control.role != "button":
            values[control.name] = control.value
    return values


def as_text(page: WebPage, draft: Draft) -> str:
    """Return the accessibility text of a page with what was entered."""
    return "\n".join(_lines(page, {**started(page), **draft}))


def _lines(page: WebPage, values: Mapping[str, str]) -> Iterator[str]:
    yield f'page "{page.title}"'
    number = 0
    for part in page.parts:
        if isinstance(part, str):
            yield part
            continue
        number += 1
        yield describe(number, part.role, part.label, values.get(part.name, ""), part.options)


def describe(number: int, role: str, label: str, value: str, options: tuple[str, ...] = ()) -> str:
    """Return one control as a line. `value` is that of the control, or of its group if it is a
    radio button."""
    line = f'[{number}] {role} "{label}"'
    if role == "textbox":
        return f'{line} value "{value}"'
    if role == "combobox":
        return f'{line} value "{value}", options: {" | ".join(options)}'
    if role == "checkbox":
        return f"{line} {'checked' if value else 'not checked'}"
    if role == "radio":
        return f"{line} {'chosen' if value == label else 'not chosen'}"
    return line


def as_html(page: WebPage) -> str:
    """Return the page as an HTML document; its one form is posted back to the page's address."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(page.title)}</title></head>'
        f'<body><h1>{escape(page.title)}</h1><form method="post" action="" autocomplete="off">'
        f"{_html_parts(page)}</form></body></html>"
    )


def _html_parts(page: WebPage) -> str:
    written = []
    number = 0
    for part in page.parts:
        if isinstance(part, str):
            written.append(f"<p>{escape(part)}</p>")
        else:
            number += 1
            written.append(f"<div>{_element(number, part)}</div>")
    return "\n".join(written)


def _element(number: int, one: Control) -> str:
    name, label = escape(one.name), escape(one.label)
    at = f'id="c{number}" data-role="{one.role}"'
    if one.role == "button":
        return f'<button {at} type="submit" name="button" value="{name}">{label}</button>'
    tag = f'<label for="c{number}">{label}</label>'
    if one.role == "combobox":
        options = "".join(
            f"<option{' selected' if option == one.value else ''}>{escape(option)}</option>"
            for option in one.options
        )
        return f'{tag} <select {at} name="{name}">{options}</select>'
    checked = " checked" if one.value else ""
    if one.role == "checkbox":
        return f'<input {at} type="checkbox" name="{name}" value="on"{checked}> {tag}'
    if one.role == "radio":
        return f'<input {at} type="radio" name="{name}" value="{label}"{checked}> {tag}'
    value = escape(one.value)
    return f'{tag} <input {at} type="text" name="{name}" value="{value}" maxlength="{MAX_TYPED}">'
