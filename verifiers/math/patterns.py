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
_ESCAPE = re.compile(r"\\[^uUxN]|\(\?P[<=]\w+[>)]", re.DOTALL)
_NO_TWIN = re.compile(
    r"[A-Z]|\(\?-?[aiLmsux]|\[[^\]]*[\x00-\x60]-[^\x00-\x7f]|[\u0130\u0131\u017f\u212a]|\\[uUxN]"
)
"""Parts that keep a pattern that ignores case from having a twin: capital letters, flags of its own, and letters beyond ASCII
that count as another case of one in it."""
_LEAST_CHARS = 60
"""Length of a pattern from which on a twin pays."""


class _Pattern:
    """A pattern that becomes the compiled one, method by method, when the first of them is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        made = self.__dict__[name] = self._made(name)
        return made

    def _made(self, name: str) -> Any:
        return getattr(self._compiled, name)


class _GuardedPattern(_Pattern):
    """A pattern behind a cheap test that most texts fail; it is compiled for the first text that passes.

    No text matches it without one of `needs`. One that ignores case is tried on the text in lower case first, with a
    twin that minds the case, which is faster.
    """

    def __init__(self, text: str, flags: int, needs: str) -> None:
        super().__init__(text, flags)
        self._any_case = bool(flags & re.IGNORECASE)
        self.needs = tuple(needs.split("|")) if needs else ()

    def has_twin(self) -> bool:
        """Return True if the pattern matches a text just where its twin matches the text in lower case.

        The text is ASCII, or the pattern is.
        """
        return (
            self._any_case
            and len(self._text) > _LEAST_CHARS
            and _NO_TWIN.search(_ESCAPE.sub("", self._text)) is None
        )

    @cached_property
    def _twin(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags & ~re.IGNORECASE)

    def _made(self, name: str) -> Any:
        if name == "search" and self.has_twin():
            return self._search_by_twin()
        if not self.needs or name not in _WITHOUT:
            return super()._made(name)
        return self._method_of_sub(name) if name.startswith("sub") else self._method(name)

    def _method(self, name: str) -> Callable[..., Any]:
        needs, any_case, without = self.needs or ("",), self._any_case, _WITHOUT[name]
        is_none = name in ("search", "match", "fullmatch")
        compiled: Callable[..., Any] | None = None

        def call(text: str, *bounds: int) -> Any:
            nonlocal compiled
            low = text if not any_case else text.lower() if text.isascii() else folded(text)
            for need in needs:
                if need in low:
                    if compiled is None:
                        compiled = getattr(self._compiled, name)
                    return compiled(text, *bounds)
            return None if is_none else without(text)

        return self._method_of_one(name, needs[0]) if len(needs) == 1 and not any_case else call

    def _method_of_one(self, name: str, need: str) -> Callable[..., Any]:
        """A method for the pattern that minds the case and has one need, as many have."""
        compiled: Callable[..., Any] | None = None
        without = _WITHOUT[name]

        if name in ("search", "match", "fullmatch"):

            def find(text: str, *bounds: int) -> Any:
                nonlocal compiled
                if need not in text:
                    return None
                if compiled is None:
                    compiled = getattr(self._compiled, name)
                return compiled(text, *bounds)

            return find

        def call(text: str, *bounds: int) -> Any:
            nonlocal compiled
            if need not in text:
                return without(text)
            if compiled is None:
                compiled = getattr(self._compiled, name)
            return compiled(text, *bounds)

        return call

    def _search_by_twin(self) -> Callable[..., re.Match[str] | None]:
        needs, is_ascii = self.needs or ("",), self._text.isascii()
        twin: Callable[..., re.Match[str] | None] | None = None

        def search(text: str, start: int = 0, *end: int) -> re.Match[str] | None:
            nonlocal twin
            if text.isascii():
                low = text.lower()
            else:
                low = folded(text)
                if not is_ascii:
                    is_needed = any(need in low for need in needs)
                    return self._compiled.search(text, start, *end) if is_needed else None
            for need in needs:
                if need in low:
                    if twin is None:
                        twin = self._twin.search
                    found = twin(low, start, *end)
                    if found is None or low == text:
                        return found
                    return self._compiled.match(text, found.start(), *end)
            return None

        return search

    def _method_of_sub(self, name: str) -> Callable[..., Any]:
        needs, any_case, counts = self.needs or ("",), self._any_case, name == "subn"
        compiled: Callable[..., Any] | None = None

        def call(by: Any, text: str, count: int = 0) -> Any:
            nonlocal compiled
            low = text if not any_case else text.lower() if text.isascii() else folded(text)
            for need in needs:
                if need in low:
                    if compiled is None:
                        compiled = getattr(self._compiled, name)
                    return compiled(by, text, count)
            return (text, 0) if counts else text

        return call


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Text in lower case, with the letters that count as another case of an ASCII one in patterns as that one."""
    for other, plain in (("\u212a", "k"), ("\u017f", "s"), ("\u0130", "i"), ("\u0131", "i")):
        text = text.replace(other, plain)
    return text.lower()


@lru_cache(maxsize=8192)
def is_in(pattern: re.Pattern[str], text: str) -> bool:
    """Return True if a pattern is found in a text that comes again, as a question does."""
    return pattern.search(text) is not None


def lazy_pattern(text: str, flags: int = 0, *, needs: str = "") -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; an error in it is raised then.

    `needs` holds texts set apart by "|": no text without one of them has a match, which `test_patterns.py` proves.
    They are in lower case where the pattern ignores case.
    """
    is_guarded = needs or flags & re.IGNORECASE
    made = _GuardedPattern(text, flags, needs) if is_guarded else _Pattern(text, flags)
    return cast("re.Pattern[str]", made)
