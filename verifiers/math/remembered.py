"""Bound on what is remembered of questions and texts, in characters.

Readings of questions, references and short texts are remembered, as a group of replies has one question. The caches hold
up to 4,096 entries each; a caller who sends long texts would fill them with hundreds of megabytes. So all of them
are emptied after `LIMIT_CHARS` characters of questions and replies.
"""

from __future__ import annotations

import sys
from functools import _lru_cache_wrapper, cache
from typing import Any, Final

LIMIT_CHARS: Final = 4 << 20

_PACKAGE = __name__.rpartition(".")[0] + "."
_judged = 0


def count(n: int) -> None:
    """Count `n` characters that are about to be judged; empty the caches if it is time to."""
    global _judged
    _judged += n
    if _judged > LIMIT_CHARS:
        _judged = n
        for one in bounded_caches():
            one.cache_clear()


@cache
def bounded_caches() -> tuple[_lru_cache_wrapper[Any], ...]:
    """Return the bounded caches of the modules of mathematics; those without a bound hold a few fixed things."""
    modules = [module for name, module in sys.modules.items() if name.startswith(_PACKAGE)]
    values = [value for module in modules for value in vars(module).values()]
    caches = {id(one): one for one in values if isinstance(one, _lru_cache_wrapper)}
    return tuple(one for one in caches.values() if one.cache_parameters()["maxsize"] is not None)
