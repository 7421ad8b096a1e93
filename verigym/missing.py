"""Says what installs a package, a program or a device that is not here.

    except ModuleNotFoundError as error:
        raise_explained(error, "sql/scale")      # MissingError: ... pip install 'verigym[sql]'

The one place that knows which extra brings which package; whoever meets an import that fails, or lists
what could be installed, asks here.
"""

from __future__ import annotations

from typing import Final, NoReturn

from verigym.errors import MissingError

REASON: Final = "not_installed"
"""Reason of the fault of a verifier that lacks something; trying again does not help."""

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
    "openai": "openai",
    "opentelemetry": "otel",
    "playwright": "browser",
    "prometheus_client": "server",
    "psycopg": "postgres",
    "py3langid": "text",
    "pyspiel": "openspiel",
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
    "tokenizers": "train",
    "torch": "train",
    "transformers": "train",
    "uvicorn": "server",
    "uvloop": "server",
    "vllm": "vllm",
    "websockets": "remote",
}
"""Extra of this package by the name that is imported."""


def explain(error: ImportError, what: str = "this") -> MissingError | None:
    """Return the error to raise in place of `error`; None where no extra brings the module."""
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
