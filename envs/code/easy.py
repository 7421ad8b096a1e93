"""Easy families: one pass over a short input."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import (
    LISTED,
    Params,
    ProblemFamily,
    letters,
    listed,
    one_of,
    read_listed,
    whole,
    wholes,
)

_LOWER = "abcdefghijklmnopqrstuvwxyz"


class SumPicked(ProblemFamily):
    """Add the numbers that meet a condition."""

    name: ClassVar[str] = "sum-picked"
    _RULES: ClassVar[dict[str, str]] = {
        "divisible": "divisible by {k}",
        "not divisible": "not divisible by {k}",
        "greater": "greater than {k}",
        "less": "less than {k}",
    }

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"rule": one_of(rng, tuple(self._RULES)), "k": whole(rng, 2, 12)}

    @override
    def statement(self, p: Params) -> str:
        picked = self._RULES[str(p["rule"])].format(k=p["k"])
        return f"{LISTED} Print the sum of those that are {picked} (0 if there are none)."

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return listed(wholes(rng, size, -30, 60))

    @override
    def answer(self, p: Params, stdin: str) -> str:
        rule, k = p["rule"], int(p["k"])
        total = 0
        for number in read_listed(stdin):
            fits = {
                "divisible": number % k == 0,
                "not divisible": number % k != 0,
                "greater": number > k,
                "less": number < k,
            }
            total += number if fits[str(rule)] else 0
        return str(total)


class MapEach(ProblemFamily):
    """Apply one formula to every number."""

    name: ClassVar[str] = "map-each"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"a": whole(rng, 2, 9), "b": whole(rng, 1, 9), "m": whole(rng, 7, 31)}

    @override
    def statement(self, p: Params) -> str:
        return (
            f"{LISTED} For each x of them, in order, print the remainder of {p['a']} * x + {p['b']} "
            f"divided by {p['m']}. No x is negative. Separate the results by spaces, on one line."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return listed(wholes(rng, size, 0, 99))

    @override
    def answer(self, p: Params, stdin: str) -> str:
        a, b, m = int(p["a"]), int(p["b"]), int(p["m"])
        return " ".join(str((a * number + b) % m) for number in read_listed(stdin))


class CountWords(ProblemFamily):
    """Count the words of a line that meet a condition."""

    name: ClassVar[str] = "count-words"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        rule = one_of(rng, ("contain", "start", "end", "long without"))
        return {"rule": rule, "letter": one_of(rng, "abcdef"), "length": whole(rng, 3, 5)}

    @override
    def statement(self, p: Params) -> str:
        letter = p["letter"]
        what = {
            "contain": f"contain the letter {letter}",
            "start": f"start with the letter {letter}",
            "end": f"end with the letter {letter}",
            "long without": f"have at least {p['length']} letters and do not contain {letter}",
        }[str(p["rule"])]
        return (
            "The input is one line of words in lower-case letters, separated by spaces. "
            f"Print how many of the words {what}."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return " ".join(letters(rng, whole(rng, 1, 6), "abcdefg") for _ in range(size)) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        rule, letter = p["rule"], str(p["letter"])
        count = 0
        for word in stdin.split():
            if rule == "long without":
                count += len(word) >= int(p["length"]) and letter not in word
            else:
                place = {"contain": word, "start": word[0], "end": word[-1]}[str(rule)]
                count += letter in place
        return str(count)


class ShiftLetters(ProblemFamily):
    """Move letters along the alphabet."""

    name: ClassVar[str] = "shift-letters"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"k": whole(rng, 1, 25), "keep": one_of(rng, "aeiou")}

    @override
    def statement(self, p: Params) -> str:
        return (
            "The input is one line of lower-case letters and spaces. Replace every letter by the one "
            f"{p['k']} places later in the alphabet, going on with a after z, but leave every letter "
            f"{p['keep']} of the input and every space as it is. Print the result."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return " ".join(letters(rng, whole(rng, 1, 6), _LOWER) for _ in range(size)) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        k = int(p["k"])
        moved = dict(zip(_LOWER, _LOWER[k:] + _LOWER[:k], strict=True))
        moved[str(p["keep"])] = str(p["keep"])
        return "".join(moved.get(letter, letter) for letter in stdin.rstrip("\n"))


class RankedPick(ProblemFamily):
    """Find the k-th largest or smallest."""

    name: ClassVar[str] = "ranked-pick"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "end": one_of(rng, ("largest", "smallest")),
            "repeats": one_of(rng, ("once", "each time")),
            "k": whole(rng, 2, 6),
        }

    @override
    def statement(self, p: Params) -> str:
        return (
            f"{LISTED} Order them so that the {p['end']} comes first; a number that occurs several "
            f"times counts {p['repeats']}. Print number {p['k']} in that order, or none if there are "
            f"fewer than {p['k']}."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return listed(wholes(rng, size + 2, -9, max(9, size)))

    @override
    def answer(self, p: Params, stdin: str) -> str:
        numbers: list[int] = sorted(read_listed(stdin))
        if p["repeats"] == "once":
            numbers = sorted(dict.fromkeys(numbers))
        k = int(p["k"])
        if len(numbers) < k:
            return "none"
        return str(numbers[-k] if p["end"] == "largest" else numbers[k - 1])


FAMILIES: tuple[ProblemFamily, ...] = (
    SumPicked(),
    MapEach(),
    CountWords(),
    ShiftLetters(),
    RankedPick(),
)
