"""Word problems: a chain of quantities told in a shuffled story with facts that do not matter; one turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.math.contest import stories
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

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
MORE_PEOPLE = (
    *("Abel", "Anouk", "Arno", "Bela", "Birgit", "Carl", "Celia", "Dora", "Edgar", "Elif", "Enzo"),
    *("Farah", "Flora", "Gero", "Greta", "Hana", "Heidi", "Igor", "Imani", "Ivo", "Jana", "Joris"),
    *("Kaya", "Kim", "Lars", "Leila", "Luca", "Maud", "Milan", "Nadia", "Noah", "Olga", "Otto"),
    *("Petra", "Priya", "Ralf", "Remy", "Ruth", "Saul", "Selma", "Taro", "Thea", "Udo", "Vito"),
    *("Wanda", "Xenia", "Yusuf", "Zara"),
)
"""People of the stories above level 6, besides the others."""

THINGS = ("apples", "books", "marbles", "stamps", "shells", "coins", "cards", "pencils")
OTHERS = ("birds", "cups", "hats", "keys", "lamps", "maps", "plants", "spoons")


@dataclass(frozen=True)
class StorySize:
    """Number of people in the chain and of irrelevant facts; `shuffled` if the story is.

    A person is compared with one of the `back` people named before, or with any if it is 0.
    """

    people: range
    distractors: int
    shuffled: bool
    back: int = 0


LEVELS = {
    1: StorySize(range(2, 3), 0, False),
    2: StorySize(range(3, 4), 0, False),
    3: StorySize(range(3, 5), 1, False),
    4: StorySize(range(4, 6), 2, False),
    5: StorySize(range(5, 7), 4, False),
    6: StorySize(range(6, 9), 4, True),
    7: StorySize(range(9, 12), 6, True, 3),
    8: StorySize(range(14, 17), 9, True, 3),
    9: StorySize(range(22, 26), 13, True, 3),
    10: StorySize(range(44, 53), 18, True, 3),
}

_TIMES = {"twice": 2, "three times": 3, "four times": 4}
_PARTS = {"half": 2, "a third": 3, "a quarter": 4}


class WordProblems(Worked):
    """Word problems that compare the numbers of things people have, and ask for one person's or
    everybody's; from level 7 on linked stories that need earlier answers, some of them told from their end.

    Each person's number follows from earlier ones; all numbers are whole and positive. Distractors
    mention other things, or people who do not matter.
    """

    id: ClassVar[str] = "verigym/math/word-problems-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = stories.KINDS
    parts: ClassVar[Mapping[int, int]] = stories.PARTS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        settings = LEVELS[level]
        count = int(rng.integers(settings.people.start, settings.people.stop))
        known = PEOPLE if level <= 6 else (*PEOPLE, *MORE_PEOPLE)
        names = [known[int(i)] for i in rng.permutation(len(known))]
        people, strangers = names[:count], names[count:]
        thing = THINGS[int(rng.integers(len(THINGS)))]
        amounts = [int(rng.integers(3, 30))]
        story = [f"{people[0]} has {amounts[0]} {thing}."]
        facts: list[JSON] = [amounts[0]]
        for i in range(1, count):
            first = max(0, i - settings.back) if settings.back else 0
            j = i - 1 if i == count - 1 else int(rng.integers(first, i))
            text, compared, amount = _comparison(rng, people[i], people[j], amounts[j], thing)
            story.append(text)
            facts.append([j, *compared])
            amounts.append(amount)
        for i in range(settings.distractors):
            story.insert(
                int(rng.integers(len(story) + 1)), _distractor(rng, people, strangers[i], thing)
            )
        if settings.shuffled:
            story = [story[int(i)] for i in rng.permutation(len(story))]
        one = bool(rng.integers(3))
        if one:
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
            essence=[list(people), thing, facts, one],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        """Follow the story back from the person who is asked for, and add."""
        *story, last = re.split(r"(?<=\.) ", question)
        asked = re.search(r"How many (\w+) (?:does|do) (.*) have", last)
        assert asked
        thing, people = asked[1], re.findall(r"[A-Z]\w+", asked[2])
        known: dict[str, int] = {}
        total = 0
        for place, who in enumerate(people):
            amount = _amount(paper, story, thing, who, known)
            total = paper.add(total, amount) if place else amount
        return str(total)


def _amount(paper: Paper, story: list[str], thing: str, who: str, known: dict[str, int]) -> int:
    """Return the number that `who` has; `known` holds the numbers found so far."""
    chain: list[tuple[str, str]] = []
    while who not in known:
        line = _find(paper, story, thing, who)
        if " as many " in line or " than " in line:
            other = line.rsplit(" ", 1)[1].rstrip(".")
            chain.append((who, line))
            who = other
        else:
            known[who] = int(line.split()[2])
    for person, line in reversed(chain):
        known[person] = _compared(paper, line, known[who])
        who = person
    return known[who]


def _find(paper: Paper, story: list[str], thing: str, who: str) -> str:
    """Return the sentence that says how many `who` has."""
    for line in story:
        paper.look()
        if line.startswith(f"{who} has ") and f" {thing}" in line:
            return line
    raise ValueError(f"no sentence about {who}")


def _compared(paper: Paper, line: str, amount: int) -> int:
    words = line.split()
    if words[3] == "more":
        return paper.add(amount, int(words[2]))
    if words[3] == "fewer":
        return paper.subtract(amount, int(words[2]))
    phrase = " ".join(words[2 : words.index("as")])
    if phrase in _PARTS:
        return paper.divide_exactly(amount, _PARTS[phrase])
    return paper.multiply(amount, _TIMES[phrase])


def _comparison(
    rng: np.random.Generator, who: str, other: str, amount: int, thing: str
) -> tuple[str, list[JSON], int]:
    """A sentence that gives `who` a whole positive number in terms of `other`'s `amount`, its content, and that
    number."""
    kinds = ["more", "times"]
    if amount > 3:
        kinds.append("fewer")
    kinds += [f"/{n}" for n in (2, 3, 4) if amount % n == 0 and amount > n]
    kind = kinds[int(rng.integers(len(kinds)))]
    if kind == "times" and amount > 200:
        kind = "more"
    if kind == "more":
        n = int(rng.integers(2, 20))
        return f"{who} has {n} more {thing} than {other}.", ["+", n], amount + n
    if kind == "fewer":
        n = int(rng.integers(2, amount))
        return f"{who} has {n} fewer {thing} than {other}.", ["-", n], amount - n
    if kind == "times":
        n = int(rng.integers(2, 5))
        words = {2: "twice", 3: "three times", 4: "four times"}[n]
        return f"{who} has {words} as many {thing} as {other}.", ["*", n], amount * n
    words = {"/2": "half", "/3": "a third", "/4": "a quarter"}[kind]
    n = int(kind[1:])
    return f"{who} has {words} as many {thing} as {other}.", ["/", n], amount // n


def _distractor(rng: np.random.Generator, people: list[str], stranger: str, thing: str) -> str:
    n = int(rng.integers(2, 40))
    if rng.integers(2):
        return f"{people[int(rng.integers(len(people)))]} also has {n} {OTHERS[int(rng.integers(len(OTHERS)))]}."
    return f"{stranger} has {n} more {thing} than {people[int(rng.integers(len(people)))]}."
