"""Wordle with counted marks: a player who knows the words and asks for what leaves the fewest of them."""

from __future__ import annotations

from collections import Counter

from verigym.envs.games.words import words
from verigym.verifiers.games.guessing import code_marks

_OPTIONS = 24
"""Words that a player weighs against each other before a guess."""
_LOOKED_AT = 60
"""Words by which they are weighed, of those that fit."""


def find_by_counts(secret: str) -> tuple[list[str], int]:
    """Return the guesses of the player until all words are found, and the operations that they take.

    A guess is a word that fits all marks of one hidden word, and among some of those it is the one whose marks tell the most
    words apart, for all hidden words together. An operation compares two words.
    """
    hidden, operations = secret.split(), 0
    known = list(words(len(hidden[0])))
    fitting = dict.fromkeys(hidden, known)
    guesses: list[str] = []
    while fitting:
        least = min(fitting.values(), key=len)
        options = _spread(least, _OPTIONS)
        best, most = options[0], -1
        for option in options if len(least) > 2 else options[:1]:
            told = 0
            for some in fitting.values():
                parts: Counter[tuple[int, int]] = Counter()
                for word in _spread(some, _LOOKED_AT):
                    operations += 1
                    parts[code_marks(word, option)] += 1
                told += len(parts)
            if told > most:
                best, most = option, told
        guesses.append(best)
        fitting.pop(best, None)
        for word, some in fitting.items():
            marks = code_marks(word, best)
            left = []
            for one in some:
                operations += 1
                if code_marks(one, best) == marks and one != best:
                    left.append(one)
            fitting[word] = left
    return guesses, operations


def _spread(some: list[str], most: int) -> list[str]:
    """Some words of a list, evenly over all of it."""
    return some[:: max(1, -(-len(some) // most))]
