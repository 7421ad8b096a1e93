"""The languages that programs may be judged in: all that the sandbox knows, and their other names."""

from __future__ import annotations

from functools import cache

from verigym.errors import RequestError, suggestion
from verigym.sandbox.languages.load import load_languages


@cache
def _names() -> dict[str, tuple[str, ...]]:
    return {name: (name, *language.aliases) for name, language in load_languages().items()}


def names_of(language: str) -> tuple[str, ...]:
    """Return `language` and its aliases, as code fences name them; an unknown language alone."""
    return _names().get(language, (language,))


def canonical(name: object) -> str:
    """Return the sandbox's name for a language. Raises RequestError for an unknown one."""
    known = _names()
    for language, names in known.items():
        if name in names:
            return language
    raise RequestError(f"no language {name!r} is known; {suggestion(str(name), known)}")
