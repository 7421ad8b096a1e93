"""The command group that turns errors into one line and an exit code (see console.py)."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from verigym.cli import console
from verigym.errors import RequestError, TaskError, VerigymError

# Which extra brings a library that a command imports when it runs.
_EXTRA_OF = {
    "fastapi": "server",
    "uvicorn": "server",
    "jinja2": "train",
    "safetensors": "train",
    "tensorboard": "train",
    "tokenizers": "train",
    "torch": "train",
    "transformers": "train",
    "openai": "openai",
    "vllm": "vllm",
    "docker": "docker",
}


class Group(TyperGroup):
    """Runs a command; what it raises becomes a message and a code. A bug keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command. Raises typer.Exit with the code, never a VerigymError."""
        try:
            return super().invoke(ctx)
        except (RequestError, TaskError) as error:
            raise _stop(str(error), console.REQUEST) from error
        except VerigymError as error:
            raise _stop(str(error), console.MACHINE) from error
        except ModuleNotFoundError as error:
            extra = _EXTRA_OF.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            message = f"this command needs {error.name}; pip install 'verigym[{extra}]'"
            raise _stop(message, console.REQUEST) from error
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
