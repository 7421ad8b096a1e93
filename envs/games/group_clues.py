"""Clues of zebra puzzles about three to five words: counts, sums of house numbers, conditions.

As in `clues.py` a word is a number, and what is known of it a set of houses, bit i for house i from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from verigym.verifiers.games.zebra import GROUPS


@dataclass(frozen=True)
class GroupClue:
    """A clue about some words. `numbers` are as in the verifier; with `is_true` False its denial."""

    kind: str
    words: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    is_true: bool = True

    def denied(self) -> GroupClue:
        """Return the denial of the clue."""
        return replace(self, is_true=not self.is_true)

    def holds(self, places: list[int]) -> bool:
        """Return True if the clue, not its denial, is true of the houses of all words, from 0."""
        return GROUPS[self.kind].holds([places[word] + 1 for word in self.words], self.numbers)

    def narrow(self, known: list[int]) -> bool:
        """Leave out houses that the clue rules out; False if nothing is left for a word."""
        if self.kind == "count":
            return self._narrow_count(known)
        if self.kind == "if":
            return self._narrow_condition(known)
        a, b, c, d = self.words
        if self.kind == "less":
            if self.is_true:
                return _keep_order(known, (a, b), (c, d), 1)
            return _keep_order(known, (c, d), (a, b), 0)
        if self.is_true:
            return _keep_order(known, (a, b), (c, d), 0) and _keep_order(known, (c, d), (a, b), 0)
        left, right = (known[a], known[b]), (known[c], known[d])
        is_fixed = not any(here & (here - 1) for here in left + right)
        return not is_fixed or sum(map(_first, left)) != sum(map(_first, right))

    def _narrow_count(self, known: list[int]) -> bool:
        wanted, low, high = self.numbers
        mask = (1 << high) - (1 << (low - 1))
        inside = sum(not known[word] & ~mask for word in self.words)
        unclear = [word for word in self.words if known[word] & mask and known[word] & ~mask]
        most = inside + len(unclear)
        if self.is_true:
            if not inside <= wanted <= most:
                return False
            if wanted == inside:
                _keep(known, unclear, ~mask)
            elif wanted == most:
                _keep(known, unclear, mask)
            return True
        if len(unclear) > 1:
            return True
        if not unclear:
            return inside != wanted
        if wanted in (inside, most):
            _keep(known, unclear, mask if wanted == inside else ~mask)
        return True

    def _narrow_condition(self, known: list[int]) -> bool:
        a, b, c, d = self.words
        if not self.is_true:
            return _keep_order(known, (a,), (b,), 1) and _keep_order(known, (d,), (c,), 0)
        if _last(known[a]) < _first(known[b]):
            return _keep_order(known, (c,), (d,), 1)
        if _first(known[c]) >= _last(known[d]):
            return _keep_order(known, (b,), (a,), 0)
        return True


def _first(here: int) -> int:
    return (here & -here).bit_length() - 1


def _last(here: int) -> int:
    return here.bit_length() - 1


def _keep(known: list[int], words: list[int], mask: int) -> None:
    for word in words:
        known[word] &= mask


def _keep_order(known: list[int], left: tuple[int, ...], right: tuple[int, ...], gap: int) -> bool:
    """Narrow the words so that the houses on the left can add up to `gap` less than those on the right."""
    if not all(known[word] for word in (*left, *right)):
        return False
    spare = -gap
    for word in right:
        spare += known[word].bit_length() - 1
    for word in left:
        spare -= _first(known[word])
    if spare < 0:
        return False
    for word in left:
        known[word] &= (2 << (_first(known[word]) + spare)) - 1
    for word in right:
        known[word] &= -1 << max(0, known[word].bit_length() - 1 - spare)
    return True
