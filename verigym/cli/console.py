"""Output of the command line: data on stdout, messages for people on stderr.

Exit codes, the same for every command (docs/cli.md):

    0    success
    1    internal error, with a traceback; or `verigym replay` found a difference
    2    invalid request or task: unknown id, bad option, bad configuration, missing extra
    3    machine or service failure: verifier or model server down, disk full, too many faults
    4    failed check: `verigym run --fail-below`, an attack that escaped in
         `verigym sandbox selfcheck`, a program that failed in `verigym sandbox run`
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
DIFFERENT: Final = 1
REQUEST: Final = 2
MACHINE: Final = 3
BELOW: Final = 4
INTERRUPTED: Final = 130


class SafeConsole(Console):
    """A console that strips terminal control sequences from text of models and programs."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # Those with `control` are rich's own.
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def out() -> Console:
    """Return a console for requested output. A new one each time, since tests swap `sys.stdout`."""
    # Into a pipe nothing is cropped to eighty columns.
    width = None if sys.stdout.isatty() else 240
    return SafeConsole(file=sys.stdout, highlight=False, width=width)


def err() -> Console:
    """Return a console for progress, notes and errors."""
    return SafeConsole(file=sys.stderr, highlight=False)


def write_json(value: JSON) -> None:
    """Write one line of JSON with sorted keys to stdout."""
    sys.stdout.write(escape_controls(to_json(value).decode()) + "\n")


def write_output(stream: TextIO, data: bytes) -> None:
    """Write a program's output byte for byte; on a terminal, without control sequences."""
    stream.flush()
    if stream.isatty():
        stream.write(printable(data.decode("utf-8", "replace")))
    else:
        stream.buffer.write(data)
    stream.flush()


def complain(message: str) -> None:
    """Print one red line on stderr. `message` may hold a model's text: it is never read as markup."""
    line = " ".join(message.split())
    err().print(Text.assemble(("error: ", "bold red"), (line, "red")), soft_wrap=True)


def note(message: str) -> None:
    """Print one dim line on stderr."""
    err().print(Text(message, style="dim"), soft_wrap=True)
