"""Chooses environments by ids, short ids, files and patterns."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from verigym.doors import need_library
from verigym.errors import RequestError
from verigym.registry import list_doors, list_envs, resolve


def choose_envs(asked: Iterable[str]) -> dict[str, bool]:
    """Return the full ids of the environments asked for, in order; True if one was named exactly.

    A name with `*`, `?` or `[` is a pattern of full ids, of which `verigym/` may be left out. Raises
    RequestError for an unknown name and for a pattern without a match.
    """
    found: dict[str, bool] = {}
    for name in asked:
        if not any(sign in name for sign in "*?["):
            found[resolve(name)] = True
            continue
        full = name if name.startswith("verigym/") else f"verigym/{name}"
        matching = [one for one in (*list_envs(), *list_doors()) if fnmatchcase(one, full)]
        if not matching:
            for closed in list_doors(installed=False):
                if fnmatchcase(closed, full):
                    need_library(closed)
            raise RequestError(f"no environment matches {name!r}; `verigym list` shows them")
        for one in matching:
            found.setdefault(one, False)
    return found
