"""Explains how to install a missing package, program or device.

    except ModuleNotFoundError as error:
        raise_explained(error, "sql/scale")      # MissingError: ... pip install 'verigym[sql]'

The only place that knows which extra installs which package; used after a failed import and to list
what could be installed.
"""

from __future__ import annotations

from typing import Final, NoReturn

from verigym.errors import MissingError

REASON: Final = "not_installed"
"""Reason of a fault if a verifier lacks a requirement; a retry does not help."""

EXTRA_OF: Final = {
    "accelerate": "train",
    "anyio": "mcp",
    "datasets": "hub",
    "docker": "docker",
    "duckdb": "sql",
    "fastapi": "server",
    "httptools": "server",
    "jinja2": "train",
    "jsonschema_rs": "schema",
    "latex2sympy2_extended": "math",
    "math_verify": "math",
    "matplotlib": "bench",
    "mcp": "mcp",
    "minigrid": "minigrid",
    "mpmath": "math",
    "opentelemetry": "otel",
    "peft": "lora",
    "playwright": "browser",
    "prometheus_client": "server",
    "psutil": "vllm",
    "psycopg": "postgres",
    "py3langid": "text",
    "pyspiel": "openspiel",
    "ray": "ray",
    "reasoning_gym": "reasoning-gym",
    "rensa": "dataset",
    "requests": "docker",
    "safetensors": "train",
    "sqlglot": "sql",
    "starlette": "server",
    "sympy": "math",
    "tensorboard": "train",
    "textarena": "textarena",
    "textworld": "textworld",
    "tinker": "tinker",
    "tokenizers": "train",
    "torch": "train",
    "transformers": "train",
    "uvicorn": "server",
    "uvloop": "server",
    "vllm": "vllm",
    "wandb": "wandb",
    "websockets": "remote",
}
"""Extra of this package by name of the imported module."""


def explain(error: ImportError, what: str = "this") -> MissingError | None:
    """Return the error to raise instead of `error`; None if no extra installs the module."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(module)
    if extra is None:
        return None
    return MissingError(f"{what} needs {module}, which is not installed; {command(extra)}")


def raise_explained(error: ImportError, what: str = "this") -> NoReturn:
    """Raise what `explain` returns, or `error` itself."""
    known = explain(error, what)
    if known is None:
        raise error
    raise known from error


def command(extra: str) -> str:
    """Return the command that installs an extra of this package."""
    return f"pip install 'verigym[{extra}]'"
