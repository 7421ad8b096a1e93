"""Word problems: a chain of quantities told in a shuffled story with facts that do not matter; one turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

PEOPLE = (
    *("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena"),
    *(
        "Mara",
        "Nils",
        "Oona",
        "Pavel",
        "Quinn",
        "Rosa",
        "Sami",
        "Tove",
        "Uma",
        "Vera",
        "Wim",
        "Yara",
    ),
)
THINGS = ("apples", "books", "marbles", "stamps", "shells", "coins", "cards", "pencils")
OTHERS = ("birds", "cups", "hats", "keys", "lamps", "maps", "plants", "spoons")


@dataclass(frozen=True)
class Level:
    """Number of people in the chain and of irrelevant facts; `shuffled` if the story is."""

    people: range
    distractors: int
    shuffled: bool


LEVELS = {
    2: Level(range(3, 4), 0, False),
    4: Level(range(4, 6), 2, False),
    6: Level(range(6, 9), 4, True),
}


class WordProblems(Question):
    """Word problems that compare the numbers of things people have, and ask for one person's or
    everybody's.

    Each person's number follows from earlier ones; all numbers are whole and positive. Distractors
    mention other things, or people who do not matter.
    """

    id: ClassVar[str] = "verigym/math/word-problems-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        settings = LEVELS[level]
        count = int(rng.integers(settings.people.start, settings.people.stop))
        names = [PEOPLE[int(i)] for i in rng.permutation(len(PEOPLE))]
        people, strangers = names[:count], names[count:]
        thing = THINGS[int(rng.integers(len(THINGS)))]
        amounts = [int(rng.integers(3, 30))]
        story = [f"{people[0]} has {amounts[0]} {thing}."]
        for i in range(1, count):
            j = i - 1 if i == count - 1 else int(rng.integers(i))
            text, amount = _comparison(rng, people[i], people[j], amounts[j], thing)
            story.append(text)
            amounts.append(amount)
        for i in range(settings.distractors):
            story.insert(
                int(rng.integers(len(story) + 1)), _distractor(rng, people, strangers[i], thing)
            )
        if settings.shuffled:
            story = [story[int(i)] for i in rng.permutation(len(story))]
        if rng.integers(3):
            text, value = f"How many {thing} does {people[-1]} have?", amounts[-1]
        else:
            who = f"{', '.join(people[:-1])} and {people[-1]}"
            text, value = f"How many {thing} do {who} have together?", sum(amounts)
        return Ask(
            prompt=" ".join([*story, text]),
            answer=str(value),
            answer_form="evaluated",
            steps=2 * count + settings.distractors,
            tags=(f"people={count}",),
        )


def _comparison(
    rng: np.random.Generator, who: str, other: str, amount: int, thing: str
) -> tuple[str, int]:
    """A sentence that gives `who` a whole positive number in terms of `other`'s `amount`."""
    kinds = ["more", "times"]
    if amount > 3:
        kinds.append("fewer")
    kinds += [f"/{n}" for n in (2, 3, 4) if amount % n == 0 and amount > n]
    kind = kinds[int(rng.integers(len(kinds)))]
    if kind == "times" and amount > 200:
        kind = "more"
    if kind == "more":
        n = int(rng.integers(2, 20))
        return f"{who} has {n} more {thing} than {other}.", amount + n
    if kind == "fewer":
        n = int(rng.integers(2, amount))
        return f"{who} has {n} fewer {thing} than {other}.", amount - n
    if kind == "times":
        n = int(rng.integers(2, 5))
        words = {2: "twice", 3: "three times", 4: "four times"}[n]
        return f"{who} has {words} as many {thing} as {other}.", amount * n
    words = {"/2": "half", "/3": "a third", "/4": "a quarter"}[kind]
    return f"{who} has {words} as many {thing} as {other}.", amount // int(kind[1:])


def _distractor(rng: np.random.Generator, people: list[str], stranger: str, thing: str) -> str:
    n = int(rng.integers(2, 40))
    if rng.integers(2):
        return f"{people[int(rng.integers(len(people)))]} also has {n} {OTHERS[int(rng.integers(len(OTHERS)))]}."
    return f"{stranger} has {n} more {thing} than {people[int(rng.integers(len(people)))]}."
