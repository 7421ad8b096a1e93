"""The command group that turns errors into one line and an exit code (see console.py)."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from verigym.cli import console
from verigym.errors import RequestError, TaskError, VerigymError
from verigym.missing import explain


class Group(TyperGroup):
    """Runs a command and turns its errors into a message and an exit code. Bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command. Raises typer.Exit with the code, never a VerigymError."""
        try:
            return super().invoke(ctx)
        except (RequestError, TaskError) as error:
            raise _stop(str(error), console.REQUEST) from error
        except VerigymError as error:
            raise _stop(str(error), console.MACHINE) from error
        except ModuleNotFoundError as error:
            known = explain(error, "this command")
            if known is None:
                raise
            raise _stop(str(known), console.REQUEST) from error
        except KeyboardInterrupt as error:
            raise _stop(str(error) or "interrupted", console.INTERRUPTED) from error
        except BrokenPipeError as error:
            # The reader has gone (`verigym list | head -1`). Python would complain again when it
            # flushes stdout at exit, so stdout is pointed at nothing first.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(console.DONE) from error
        except OSError as error:
            raise _stop(f"{type(error).__name__}: {error}", console.MACHINE) from error


def _stop(message: str, code: int) -> typer.Exit:
    console.complain(message)
    return typer.Exit(code)
