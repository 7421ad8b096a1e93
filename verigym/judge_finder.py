"""Hook by which environments get their judges, so that `Env` knows neither the registry nor the client.

`import verigym` installs `registry.find_judge`. Whoever constructs an environment may give a `Judge` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.judge import Judge

JudgeFinder: TypeAlias = Callable[[str, Mapping[str, JSON], str | None], Judge]
"""Returns the judge for a verifier's id and parameters: at the URL of a service, or in this process if it is None."""

_installed: list[JudgeFinder] = []


def install_finder(finder: JudgeFinder) -> None:
    """Use `finder` for every environment that is constructed without a judge, in place of the one before."""
    _installed[:] = [finder]


def judge_for(name: str, params: Mapping[str, JSON], given: Judge | str | None) -> Judge:
    """Return the judge of an environment whose verifier is `name` with `params`.

    `given` is a judge, the URL of a service, or None for a verifier in this process. Raises RequestError if it is
    something else or a judge of another verifier, or if no finder is installed.
    """
    if isinstance(given, Judge):
        if given.id != name:
            raise RequestError(f"the environment is judged by {name!r}, got verifier {given.id!r}")
        return given
    if not isinstance(given, str | None):
        raise RequestError(f"verifier must be a Judge, the URL of a service or None, got {given!r}")
    if not _installed:
        raise RequestError(
            f"nothing finds the verifier {name!r}, got verifier={given!r}; "
            "import verigym first, or pass a Judge as `verifier`"
        )
    return _installed[0](name, params, given)
