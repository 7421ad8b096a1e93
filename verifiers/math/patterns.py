"""Regular expressions that are compiled at their first use.

`math/answer` knows about a thousand; a reply needs few of them, and to compile all takes longer than to judge a
hundred replies. One that can be told by a few characters is not even tried on a text without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, cast

_METHODS = (
    "search",
    "match",
    "fullmatch",
    "sub",
    "subn",
    "split",
    "findall",
    "finditer",
    "pattern",
    "flags",
    "groups",
    "groupindex",
)

_WITHOUT: dict[str, Callable[[str], Any]] = {
    "search": lambda _: None,
    "match": lambda _: None,
    "fullmatch": lambda _: None,
    "findall": lambda _: [],
    "finditer": lambda _: iter(()),
    "split": lambda text: [text],
    "sub": lambda text: text,
    "subn": lambda text: (text, 0),
}
"""Result of each method for a text without a match."""
_OF_SUB = ("sub", "subn")


class _Pattern:
    """A pattern that becomes the compiled one, method by method, when the first of them is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return self.__dict__[name]


class _NeedyPattern:
    """A pattern that no text matches without one of `needs`; compiled for the first text that has one.

    Each method is made when it is first asked for, as one function: a reply passes through hundreds of them.
    """

    def __init__(self, text: str, flags: int, needs: str) -> None:
        self._text = text
        self._flags = flags
        self._any_case = bool(flags & re.IGNORECASE)
        self.needs = tuple(needs.split("|"))

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name in _WITHOUT:
            made = self._method(name) if name not in _OF_SUB else self._method_of_sub(name)
            self.__dict__[name] = made
            return made
        if name not in _METHODS:
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def _method(self, name: str) -> Callable[..., Any]:
        needs, any_case, without = self.needs, self._any_case, _WITHOUT[name]
        compiled: Callable[..., Any] | None = None

        def call(text: str, *bounds: int) -> Any:
            nonlocal compiled
            low = text
            if any_case:
                low = text.lower() if text.isascii() else folded(text)
            for need in needs:
                if need in low:
                    if compiled is None:
                        compiled = getattr(self._compiled, name)
                    return compiled(text, *bounds)
            return without(text)

        return call

    def _method_of_sub(self, name: str) -> Callable[..., Any]:
        needs, any_case, without = self.needs, self._any_case, _WITHOUT[name]
        compiled: Callable[..., Any] | None = None

        def call(by: Any, text: str, count: int = 0) -> Any:
            nonlocal compiled
            low = text
            if any_case:
                low = text.lower() if text.isascii() else folded(text)
            for need in needs:
                if need in low:
                    if compiled is None:
                        compiled = getattr(self._compiled, name)
                    return compiled(by, text, count)
            return without(text)

        return call


@lru_cache(maxsize=256)
def folded(text: str) -> str:
    """Text in lower case, with the letters that count as another case of an ASCII one in patterns as that one."""
    for other, plain in (("\u212a", "k"), ("\u017f", "s"), ("\u0130", "i"), ("\u0131", "i")):
        text = text.replace(other, plain)
    return text.lower()


@lru_cache(maxsize=4096)
def is_in(pattern: re.Pattern[str], text: str) -> bool:
    """Return True if a pattern is found in a text that comes again, as a question does."""
    return pattern.search(text) is not None


def lazy_pattern(text: str, flags: int = 0, *, needs: str = "") -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; an error in it is raised then.

    `needs` holds texts set apart by "|": no text without one of them has a match, which `test_patterns.py` proves.
    They are in lower case where the pattern ignores case.
    """
    made = _NeedyPattern(text, flags, needs) if needs else _Pattern(text, flags)
    return cast("re.Pattern[str]", made)
