"""Decides which databases `sql/query` may connect to.

In a program of one's own, any `postgresql://` URL. In the processes of a service, whose callers are
others, only the databases that its operator named: `restrict` is called there before the first
verifier is made, so that a URL is refused wherever it stands, however deep in a composition.
"""

from __future__ import annotations

from collections.abc import Mapping

from verigym.errors import RequestError, suggestion

BUILT_IN = ("auto", "sqlite", "duckdb")
URL_SCHEMES = ("postgres://", "postgresql://")

_named: dict[str, str] | None = None


def restrict(named: Mapping[str, str]) -> None:
    """Allow from now on no URL in this process, only the databases `named`, URLs by name."""
    global _named
    _named = dict(named)


def check_engine(engine: str, show: str) -> None:
    """Raise RequestError for an engine that cannot be used here, with what can be."""
    if engine in BUILT_IN:
        return
    if _named is None:
        if engine.startswith(URL_SCHEMES):
            return
        hint = f"{suggestion(engine, BUILT_IN)} or a postgresql:// URL"
        raise RequestError(f"sql/query has no engine {engine!r}; {hint}")
    if "://" in engine:
        known = ", ".join((*BUILT_IN, *sorted(_named)))
        raise RequestError(
            "callers of a service cannot give the URL of an engine; the operator names databases "
            f"with --sql-engine NAME=URL. Engines here: {known}"
        )
    if engine not in _named:
        hint = suggestion(engine, (*BUILT_IN, *_named))
        raise RequestError(f"sql/query has no engine {engine!r} here; {hint}")
    if show != "reason":
        raise RequestError(
            f"show must be 'reason' on engine {engine!r}: its rows are not shown to callers of a service"
        )


def url_of(engine: str) -> str:
    """Return the URL of an engine that `check_engine` let pass and that is not built in."""
    return engine if _named is None else _named[engine]
