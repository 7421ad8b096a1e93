"""Directives that write reference pages from the code: commands, configuration and environments.

`{commands}`: every command of `verigym` with its arguments and options, as typer declares them.
`{configuration}`: every section and key of a training configuration, with type, default and meaning.
`{environments}`, `{verifiers}`: everything that comes with the package.
`{reward-changes}`: the changelog's changes of rewards, sorted by what they name.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import NoneType
from typing import Any, get_args

import click
import typer
from annotated_types import Ge, Gt, Le, Lt
from docutils import nodes
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Written(SphinxDirective, ABC):
    """A directive whose content is Markdown that `lines` yields."""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield the lines."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(self.lines()), allow_section_headings=True)


class Commands(Written):
    """All commands, groups last."""

    def lines(self) -> Iterator[str]:
        from verigym.cli.main import app

        yield from _commands(typer.main.get_command(app), ["verigym"])


def _commands(command: click.Command, words: list[str]) -> Iterator[str]:
    children = getattr(command, "commands", None)
    if children is None:
        yield from _command(command, words)
        return
    for name, child in children.items():
        if not child.hidden:
            yield from _commands(child, [*words, name])


def _command(command: click.Command, words: list[str]) -> Iterator[str]:
    context = click.Context(command, info_name=words[-1])
    yield f"## `{' '.join(words)}`"
    yield ""
    yield _plain((command.help or "").partition("\f")[0])
    yield ""
    yield f"```text\n{' '.join(words)} {' '.join(command.collect_usage_pieces(context))}\n```"
    yield ""
    records = [one for one in (_parameter(p, context) for p in command.params) if one]
    if records:
        yield from ("| argument or option | meaning |", "|---|---|", *records, "")


def _parameter(parameter: click.Parameter, context: click.Context) -> str | None:
    if getattr(parameter, "hidden", False):
        return None
    help_ = _plain(getattr(parameter, "help", None) or "").replace("\n", " ").replace("|", "\\|")
    if parameter.param_type_name == "option":
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    else:
        names = f"`{parameter.metavar or (parameter.name or '').upper()}`"
    default = parameter.get_default(context, call=False)
    shown = getattr(parameter, "show_default", True)
    if shown and default not in (None, False, (), []) and not callable(default):
        help_ += f" Default: `{default}`."
    return f"| {names} | {help_} |"


def _plain(text: str) -> str:
    """Remove rich's colours and click's marks of kept line breaks."""
    from rich.text import Text

    return Text.from_markup(textwrap.dedent(text).replace("\b", "")).plain.strip()


class Configuration(Written):
    """All sections of a training configuration."""

    def lines(self) -> Iterator[str]:
        from verigym.trainers.config import Config

        yield from _section(Config, "")


def _section(model: type[BaseModel], name: str) -> Iterator[str]:
    yield f"## {f'`[{name}]`' if name else 'At the top'}"
    yield ""
    yield _prose(model.__doc__ or "")
    yield ""
    said = _sentences(model)
    below: list[tuple[type[BaseModel], str]] = []
    rows = []
    for key, field in model.model_fields.items():
        inner = _inner(field.annotation)
        path = f"{name}.{key}" if name else key
        if inner is not None:
            below.append((inner, path))
        if inner is None or name or key in said:
            rows.append(
                f"| `{key}` | {_type(field.annotation, field.metadata)} | {_default(field)} | {_prose(said.get(key, ''))} |"
            )
    if rows:
        yield from ("| key | type | default | meaning |", "|---|---|---|---|", *rows, "")
    for inner, path in below:
        yield from _section(inner, path)


def _inner(annotation: Any) -> type[BaseModel] | None:
    """Return the section that a field holds, alone, optional or in a tuple."""
    for found in (annotation, *get_args(annotation)):
        if inspect.isclass(found) and issubclass(found, BaseModel):
            return found
    return None


def _sentences(model: type[BaseModel]) -> dict[str, str]:
    """Return the text that stands below each key in the code."""
    found: dict[str, str] = {}
    for cls in reversed([cls for cls in model.__mro__ if issubclass(cls, BaseModel)][:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(tree, ast.ClassDef)
        for field, below in zip(tree.body, tree.body[1:], strict=False):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=key)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[key] = text
    return found


def _type(annotation: Any, metadata: list[Any]) -> str:
    if _inner(annotation) is not None:
        return "section"
    names = [_name(one) for one in get_args(annotation) or (annotation,) if one is not NoneType]
    limits = [
        f"{sign} {getattr(one, attribute):g}"
        for one in metadata
        for kind, attribute, sign in (
            (Ge, "ge", "≥"),
            (Gt, "gt", ">"),
            (Le, "le", "≤"),
            (Lt, "lt", "<"),
        )
        if isinstance(one, kind)
    ]
    return (
        ", ".join(dict.fromkeys(names)) + (f"; {' and '.join(limits)}" if limits else "")
    ).replace("|", "\\|")


def _name(one: Any) -> str:
    if isinstance(one, str):
        return f'`"{one}"`'
    return f"`{getattr(one, '__name__', str(one).replace('typing.', ''))}`"


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    return "" if isinstance(default, BaseModel) or default is None else f"`{default!r}`"


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


class Environments(Written):
    """One line for each built-in environment."""

    def lines(self) -> Iterator[str]:
        from verigym.registry import list_envs, load

        yield from ("| id | what it is |", "|---|---|")
        for name, entry in list_envs().items():
            yield f"| `{name}` | {_first(load(entry.target, name))} |"


class Verifiers(Written):
    """One line for each built-in verifier."""

    def lines(self) -> Iterator[str]:
        from verigym.registry import list_verifiers, load

        yield from ("| id | what it judges |", "|---|---|")
        for name, target in list_verifiers().items():
            yield f"| `{name}` | {_first(load(target, name))} |"


class RewardChanges(Written):
    """The lines of the changelog about rewards, by the verifiers and environments that they name."""

    def lines(self) -> Iterator[str]:
        import versions

        yield from versions.list_changes()


def _first(thing: Any) -> str:
    """Return the first paragraph of a docstring."""
    return _prose((inspect.getdoc(thing) or "").partition("\n\n")[0])


def _mark_code(
    app: Sphinx, what: str, name: str, thing: object, options: Any, lines: list[str]
) -> None:
    """Say of indented blocks of a docstring that they are literal, as their readers in the code see them."""
    for i in range(len(lines) - 1, 1, -1):
        if lines[i].startswith("    ") and not lines[i - 1].strip():
            before = next((line for line in reversed(lines[: i - 1]) if line.strip()), "")
            if not before.startswith((" ", "- ")):
                lines[i:i] = ["::", ""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    app.add_directive("configuration", Configuration)
    app.add_directive("environments", Environments)
    app.add_directive("verifiers", Verifiers)
    app.add_directive("reward-changes", RewardChanges)
    app.connect("autodoc-process-docstring", _mark_code)
    return {"parallel_read_safe": True, "version": "1"}
