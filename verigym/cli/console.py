"""Where the command line writes: data on stdout, everything said to a person on stderr.

Exit codes, the same for every command (docs/cli.md):

    0    done
    1    a bug in Verigym; a traceback is shown
    2    the request or a task: unknown id, bad option, bad configuration, missing extra
    3    the machine or a service: verifier or model server away, disk full, too many faults
    4    a check was not passed: `verigym run --fail-below`, an attack that escaped in
         `verigym sandbox selfcheck`, a program that did not end well in `verigym sandbox run`
    130  interrupted with Ctrl-C
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from verigym.canonical import JSON, to_json
from verigym.printable import escape_controls, printable

DONE: Final = 0
REQUEST: Final = 2
MACHINE: Final = 3
BELOW: Final = 4
INTERRUPTED: Final = 130


class SafeConsole(Console):
    """A console that keeps what models and programs wrote from giving orders to the terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Those with `control` are rich's own.
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def out() -> Console:
    """For what a person asked to see. A new one each time, since tests swap `sys.stdout`."""
    # Into a pipe nothing is cropped to eighty columns.
    width = None if sys.stdout.isatty() else 240
    return SafeConsole(file=sys.stdout, highlight=False, width=width)


def err() -> Console:
    """For progress, notes and errors."""
    return SafeConsole(file=sys.stderr, highlight=False)


def write_json(value: JSON) -> None:
    """One line of JSON on stdout, sorted keys."""
    sys.stdout.write(escape_controls(to_json(value).decode()) + "\n")


def write_output(stream: TextIO, data: bytes) -> None:
    """Pass on what a program wrote: byte for byte, but on a terminal without control sequences."""
    stream.flush()
    if stream.isatty():
        stream.write(printable(data.decode("utf-8", "replace")))
    else:
        stream.buffer.write(data)
    stream.flush()


def complain(message: str) -> None:
    """One red line on stderr. `message` may hold text of a model: it is never read as markup."""
    line = " ".join(message.split())
    err().print(Text.assemble(("error: ", "bold red"), (line, "red")), soft_wrap=True)


def note(message: str) -> None:
    """One dim line on stderr."""
    err().print(Text(message, style="dim"), soft_wrap=True)
