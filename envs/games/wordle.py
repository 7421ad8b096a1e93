"""Wordle: find a hidden word from marks on each guess."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.counted_words import find_by_counts
from verigym.envs.games.replayed import ReplayedGame
from verigym.envs.games.words import words
from verigym.verifiers.games.guessing import Guesses, code_marks, word_marks

# Letters, guesses, and how many words are hidden. From level 8 on the marks are counted: a player who knows the list of
# words needs 4, 5 and 6 guesses as a rule. At level 10 words are hidden that this player finds in the guesses there are.
SIZES = {
    1: (3, 10, 1),
    2: (4, 8, 1),
    3: (3, 10, 2),
    4: (5, 6, 1),
    5: (4, 11, 4),
    6: (6, 6, 1),
    7: (5, 12, 6),
    8: (5, 7, 1),
    9: (5, 7, 2),
    10: (5, 6, 3),
}
COUNTED = 8
_FOUND = 10

_PROMPT = """\
Find {what} of {letters} letters{each} in {turns} guesses. A guess is any {letters} letters from a to z.
Each guess is marked letter by letter: + is right and in place, ? is in the word but elsewhere, - is not in the \
word, or not once more.{several} Your guesses are listed in alphabetical order. Answer with one guess."""
_PROMPT_COUNTED = """\
Find {what} of {letters} letters{each} in {turns} guesses. A guess is any {letters} letters from a to z.
Hidden words come from a list of {known} common words of this length, with no names and next to no plurals or past forms.
For each guess you see two numbers: how many of its letters are right and in the right place, and how many others are in the word but \
elsewhere. A letter that a guess repeats counts at most as often as the word has it. You do not see which letters these are.{several} Your guesses are listed in alphabetical order. Answer with one guess."""
_SEVERAL = (
    " It is marked for each hidden word, always in the same order; every word must be guessed."
)

_FREQUENT = "etaoinsrhldcumfpgwybvkxjqz"


class Wordle(ReplayedGame):
    """The environment. An action is a word; guesses are shown in alphabetical order.

    The hidden word is a common one; a guess need not be a word at all. Guessing a word again changes
    nothing and is invalid. From level 8 on marks are counted and not given letter by letter.
    """

    id: ClassVar[str] = "verigym/games/wordle-v0"
    game: ClassVar[str] = "wordle"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False  # the guesses are counted

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        letters, turns, count = SIZES[level]
        known = words(letters)

        def word() -> str:
            while not self.wants(secret := known[int(rng.random() * len(known))]):
                pass
            return secret

        secret = word()
        # Each word is of the split, and so are all together.
        while count > 1 and (
            len(set(secret.split())) < count
            or not self.wants(" ".join(sorted(secret.split())))
            or (level == _FOUND and len(find_by_counts(secret)[0]) > turns)
        ):
            secret = " ".join(word() for _ in range(count))
        counted = level >= COUNTED
        prompt = (_PROMPT_COUNTED if counted else _PROMPT).format(
            what="a hidden English word" if count == 1 else f"{count} hidden English words",
            letters=letters,
            each="" if count == 1 else " each",
            turns=turns,
            known=len(known),
            several="" if count == 1 else _SEVERAL,
        )
        essence = " ".join(sorted(secret.split()))
        reference = {"secret": secret, "turns": turns, "max_moves": turns, "essence": essence}
        return prompt, {**reference, "marks": "counts"} if counted else reference

    @override
    def show(self, board: Guesses) -> str:
        hidden = board.secret.split()
        if board.counted:
            return "\n".join(f"{guess}: {_counts(guess, hidden)}" for guess in board.made)
        return "\n".join(
            [
                " ".join([guess, *(word_marks(word, guess) for word in hidden)])
                for guess in board.made
            ]
        )

    @override
    def position(self, board: Guesses) -> JSON:
        return board.made

    @override
    def best(self, board: Guesses) -> str | None:
        """Return the next hidden word."""
        return next(word for word in board.secret.split() if word not in board.made)

    @override
    def operations(self, board: Guesses) -> int:
        """Count what a player does who first goes through the alphabet and then arranges the letters found.

        With counted marks it is one who knows the list of words.
        """
        if board.counted:
            return find_by_counts(board.secret)[1]
        return find_words(board.secret)[1]


def _counts(guess: str, hidden: list[str]) -> str:
    marks = [code_marks(word, guess) for word in hidden]
    if len(marks) == 1:
        return f"{marks[0][0]} in place, {marks[0][1]} elsewhere"
    return "; ".join(
        f"word {number}: {placed} in place, {elsewhere} elsewhere"
        for number, (placed, elsewhere) in enumerate(marks, 1)
    )


@cache
def _pairs() -> set[str]:
    """Every letter, and all pairs that stand side by side in a word."""
    known = [word for length in range(3, 8) for word in words(length)]
    return {*_FREQUENT, *(a + b for word in known for a, b in pairwise(word))}


class Notes:
    """Notes of a player on one hidden word: letters found, letters in place, letters that are elsewhere."""

    def __init__(self, length: int) -> None:
        self.found: list[str] = []
        self.placed: dict[int, str] = {}
        self.barred: list[set[str]] = [set() for _ in range(length)]


def find_words(secret: str) -> tuple[list[str], int]:
    """Return the guesses of a player who knows words when they are seen, and the operations that they take.

    Whole guesses of untried letters, the most frequent first, show which letters there are. Then they are
    put in order, place by place, no two side by side that no word has so, until they are a word. An operation
    reads a mark, tries a letter in a place, or sees if letters are a word.
    """
    hidden = secret.split()
    length, operations = len(hidden[0]), 0
    known = set(words(length))
    guesses: list[str] = []
    notes = [Notes(length) for _ in hidden]

    def guess(letters: str) -> None:
        nonlocal operations
        guesses.append(letters)
        for word, note in zip(hidden, notes, strict=True):
            if word in guesses[:-1]:
                continue
            for place, mark in enumerate(word_marks(word, letters)):
                operations += 1
                if mark == "+":
                    note.placed[place] = letters[place]
                elif mark == "?":
                    note.barred[place].add(letters[place])
                if mark != "-" and letters[place] not in note.found:
                    note.found.append(letters[place])

    def arranged(note: Notes, letters: str) -> str:
        """The first word that the notes allow, beginning with `letters`; empty if there is none."""
        nonlocal operations
        if len(letters) == length:
            operations += 1
            return letters if letters in known and letters not in guesses else ""
        place = len(letters)
        choices = [*note.found, *(untried if len(note.found) < length else "")]
        if place in note.placed:
            choices = [note.placed[place]]
        for letter in choices:
            operations += 1
            missing = [one for one in note.found if one not in letters + letter]
            if letter in note.barred[place] or len(missing) >= length - place:
                continue
            if letters[-1:] + letter not in _pairs():
                continue
            if word := arranged(note, letters + letter):
                return word
        return ""

    untried = _FREQUENT
    while len(untried) >= length and any(len(note.found) < length for note in notes):
        guess(untried[:length])
        untried = untried[length:]
    for word, note in zip(hidden, notes, strict=True):
        while word not in guesses:
            guess(arranged(note, ""))
    return guesses, operations
