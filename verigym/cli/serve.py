"""`verigym serve`: the verifier service. Its options come from `verigym.server.settings.Settings`."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console

if TYPE_CHECKING:
    from verigym.server.options import Entry


class Serve:
    """The command; its signature is made when the command line is parsed, not when it is imported."""

    __name__ = "serve"
    __doc__ = "Serve verifiers, environments and jobs over HTTP until Ctrl-C or SIGTERM; API docs at /docs."

    def __init__(self) -> None:
        self.__annotations__: dict[str, Any] = {}  # Typer asks each callback for them

    @property
    def __signature__(self) -> inspect.Signature:
        from verigym.server.options import entries

        own = inspect.signature(_run, eval_str=True).parameters.values()
        settings = [_parameter(one) for one in entries().values()]
        return inspect.Signature([*(one for one in own if one.name != "given"), *settings])

    def __call__(self, **given: Any) -> None:
        _run(**given)


def _run(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file of these options (max_sessions = 100); options given here win.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help='Print {"url": ...} on stdout once the service listens.')
    ] = False,
    until_stdin_closes: Annotated[
        bool, typer.Option(help="Stop when standard input ends or the parent dies.", hidden=True)
    ] = False,
    **given: Any,
) -> None:
    from verigym.server import logs
    from verigym.server.options import read_settings
    from verigym.server.run import run

    options = {name: value for name, value in given.items() if value not in (None, [])}
    _warn_of_passwords(options)
    settings = read_settings(options, config)
    logs.configure(settings.log_format, settings.log_level)

    def say(url: str) -> None:
        if as_json:
            console.write_json({"url": url, "pid": os.getpid()})
        else:
            console.out().print(f"Serving verifiers on {url} (docs at {url}/docs)", soft_wrap=True)
        sys.stdout.flush()  # the reader at the other end of a pipe waits for this line

    run(settings, say, until_stdin_closes=until_stdin_closes)


def _parameter(entry: Entry) -> inspect.Parameter:
    option = typer.Option(
        f"{entry.flag}/--no-{entry.flag[2:]}" if entry.given is bool else entry.flag,
        help=entry.help,
        metavar=entry.metavar,
        show_default=False,
        rich_help_panel=entry.option.group,
    )
    kind: Any = Annotated[entry.given | None, option]
    return inspect.Parameter(
        entry.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
    )


def _warn_of_passwords(options: dict[str, Any]) -> None:
    """Say that other users can read command lines."""
    for name in ("store", "sql_engine"):
        values = options.get(name, ())
        for value in [values] if isinstance(values, str) else values:
            user, at, _ = value.partition("://")[2].partition("@")
            if at and ":" in user:
                flag = f"--{name.replace('_', '-')}"
                console.complain(
                    f"every user of this machine can read the password in {flag}; give env:VARIABLE instead"
                )


serve = Serve()
