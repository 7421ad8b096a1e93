"""Opens the store that a URL names, or the default file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from verigym.errors import ConfigError
from verigym.server.jobs.sql import Store
from verigym.server.jobs.sqlite import SqliteStore

_SQLITE = "sqlite:///"


def default_path() -> Path:
    """Return `$XDG_STATE_HOME/verigym/jobs.sqlite`, by default in `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification has relative paths ignored.
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "verigym" / "jobs.sqlite"


def opener(url: str | None) -> Callable[[], Store]:
    """Return a function that opens the store at `url`.

    `url` is `sqlite:///file`, `postgresql://...`, or None for the default. Raises ConfigError for any
    other.
    """
    if url is None:
        path = default_path()
        return lambda: SqliteStore(path)
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        # As elsewhere: three slashes and a path from the current folder, or four.
        path = Path(url.removeprefix(_SQLITE)).absolute()
        return lambda: SqliteStore(path)
    if url.startswith(("postgresql://", "postgres://")):
        from verigym.server.jobs.postgres import PostgresStore

        return lambda: PostgresStore(url)
    scheme = url.partition("://")[0] if "://" in url else "no scheme"
    raise ConfigError(
        "--store takes sqlite:///jobs.sqlite (four slashes for an absolute path) or "
        f"postgresql://user@host/database, got {scheme}"
    )
