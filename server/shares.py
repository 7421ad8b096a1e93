"""Divides what a service has among its callers, so that no key takes everything.

A caller may take more as long as what stays free is at least what it then has: the first may take
half, the next half of the rest, and so on. Nobody is refused the first piece while there is one. Where
there is only one caller, it may take all.
"""

from __future__ import annotations

from collections.abc import Callable


def fits(own: int, taken: int, total: int, n: int, n_callers: int) -> bool:
    """Tell if a caller who has `own` of the `taken` may take `n` more."""
    free = total - taken - n
    return free >= 0 and (n_callers < 2 or own == 0 or own + n <= free)


class Share:
    """Counts what each caller has of `total`. On the event loop."""

    def __init__(self, total: int, n_callers: Callable[[], int]) -> None:
        self.total = total
        self.taken = 0
        self._n_callers = n_callers
        self._by_caller: dict[str, int] = {}

    def has_room(self, caller: str, n: int = 1) -> bool:
        """Tell if `caller` may take `n` more now."""
        own = self._by_caller.get(caller, 0)
        return fits(own, self.taken, self.total, n, self._n_callers())

    def take(self, caller: str, n: int = 1) -> None:
        """Count `n` units as the caller's."""
        self.taken += n
        self._by_caller[caller] = self._by_caller.get(caller, 0) + n

    def give_back(self, caller: str, n: int = 1) -> None:
        """Return `n` units of the caller."""
        self.taken -= n
        left = self._by_caller.get(caller, 0) - n
        if left:
            self._by_caller[caller] = left
        else:
            self._by_caller.pop(caller, None)
