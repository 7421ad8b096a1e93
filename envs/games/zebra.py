"""Zebra puzzles: deduce from clues which people, pets and other items belong to which house."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.clues import Clue, PairClue, clues_for, count_solving, link
from verigym.envs.games.group_clues import GroupClue
from verigym.envs.games.long_clues import draw_long_clues, say_long_clue
from verigym.question import Ask, Question, QuestionState
from verigym.task import Task
from verigym.verifiers.games.zebra import PAIRS

# Houses, words in each, and the share of clues about a house by its number.
SIZES = {
    1: (3, 2, 0.3),
    2: (3, 3, 0.3),
    3: (3, 4, 0.25),
    4: (4, 4, 0.2),
    5: (5, 4, 0.15),
    6: (5, 5, 0.1),
    7: (6, 5, 0.05),
    8: (7, 6, 0.03),
    9: (7, 7, 0.02),
    10: (8, 7, 0.0),
}

# Number of long clues to begin with, and of tries to prove that a short or a long clue can be spared: the more tries, the
# deeper the cases that a solver has to go through.
LONG = {7: (9, 1, 1), 8: (22, 9, 9), 9: (26, 10, 10), 10: (26, 50, 10)}

# The words of each row, and the phrase by which a clue names one.
ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "name": ("{}", ("Anna", "Boris", "Clara", "David", "Elena", "Felix", "Greta", "Hugo")),
    "colour": (
        "whoever has the {} house",
        ("red", "green", "blue", "white", "yellow", "brown", "black", "pink"),
    ),
    "pet": (
        "whoever keeps the {}",
        ("dog", "cat", "parrot", "horse", "rabbit", "tortoise", "zebra", "hamster"),
    ),
    "drink": (
        "whoever drinks {}",
        ("tea", "coffee", "milk", "water", "juice", "cocoa", "cola", "lemonade"),
    ),
    "job": ("the {}", ("baker", "doctor", "farmer", "judge", "nurse", "pilot", "tailor", "writer")),
    "game": (
        "whoever plays {}",
        ("chess", "tennis", "golf", "cricket", "poker", "darts", "hockey", "rugby"),
    ),
    "fruit": (
        "whoever likes {}",
        ("apples", "cherries", "figs", "grapes", "lemons", "melons", "peaches", "plums"),
    ),
}

SAYINGS = {
    "at": "{a} lives in house {b}.",
    "not at": "{a} does not live in house {b}.",
    "same": "{a} lives in the same house as {b}.",
    "apart": "{a} does not live in the same house as {b}.",
    "next": "{a} lives directly to the left of {b}.",
    "beside": "{a} lives next door to {b}.",
    "left": "{a} lives somewhere to the left of {b}.",
}

_PROMPT = """\
{houses} houses stand in a row, numbered 1 to {houses} from left to right. One person lives in each. Each \
house has exactly one item from each of these lists, and no item belongs to two houses:
{rows}
Clues:
{clues}
To which house does each item belong?"""


class Zebra(Question):
    """The environment. One reply, with a line for each word and its house: `Anna 2`."""

    id: ClassVar[str] = "verigym/games/zebra-v0"
    verifier_id: ClassVar[str] = "games/replay"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    form: ClassVar[str] = (
        "Think as long as you like, then list every item once, one per line with the number of its house, "
        "in tags, for example:\n<answer>\ncastle 2\nlion 1\n...\n</answer>"
    )

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw clues until one solution is left, then drop those that are not needed, of levels with long clues those
        that are soon seen not to be."""
        houses, count, direct = SIZES[level]
        titles = list(ROWS)
        while True:
            draws = rng.random(1024).tolist()
            chosen = [titles[i] for i in sorted(_order(draws[:7])[:count])]
            rows, places = [], []
            for number, title in enumerate(chosen):
                at = 16 * (number + 1)
                picked = _order(draws[at : at + 8])[:houses]
                rows.append([ROWS[title][1][i] for i in picked])
                places += _order(draws[at + 8 : at + 8 + houses])
            essence = [rows, places]
            if not self.wants(essence):
                continue
            given: list[Clue] = []
            most: tuple[int, int] | None = None
            if level in LONG:
                count, *tries = LONG[level]
                most = (tries[0], tries[1])
                given = draw_long_clues(rng, places, houses, count)
            links = clues_for(draws[128:], places, houses, direct, given, most)
            if links is not None:
                break
        words = [word.lower() for row in rows for word in row]
        listed = [f"- {title}: {', '.join(row)}" for title, row in zip(chosen, rows, strict=True)]
        if level in LONG:
            links = [links[int(i)] for i in rng.permutation(len(links))]
        said = [f"{i}. {_said(one, chosen, rows, houses)}" for i, one in enumerate(links, 1)]
        solution = {word: place + 1 for word, place in zip(words, places, strict=True)}
        return Ask(
            prompt=_PROMPT.format(houses=houses, rows="\n".join(listed), clues="\n".join(said)),
            answer="",
            essence=essence,
            steps=len(links) + houses,
            reference={
                "game": "zebra",
                "words": [[word.lower() for word in row] for row in rows],
                "clues": [_plain(one, words) for one in links],
                "solution": solution,
            },
        )

    @override
    def reply(self, reference: Any) -> str:
        lines = [f"{word} {house}" for word, house in reference["solution"].items()]
        return "<answer>\n" + "\n".join(lines) + "\n</answer>"

    @override
    def work(self, state: QuestionState) -> int:
        """Count what a solver does with the clues of the task."""
        reference: Any = state.task.reference
        rows = reference["words"]
        places = {word: i for i, word in enumerate(word for row in rows for word in row)}
        houses = len(rows[0])
        links = [_read(clue, places, houses) for clue in reference["clues"]]
        return count_solving(len(places), links, houses)

    @override
    def candidates(self, task: Task) -> list[str]:
        """Return every word in every house."""
        assert isinstance(task.reference, dict)
        solution: Any = task.reference["solution"]
        return [f"{word} {house}" for house in set(solution.values()) for word in solution]


def _order(draws: list[float]) -> list[int]:
    """A random order of as many things as there are draws."""
    return sorted(range(len(draws)), key=draws.__getitem__)


def _plain(one: Clue, words: list[str]) -> list[JSON]:
    """Return the clue as the verifier reads it."""
    if isinstance(one, GroupClue):
        return [one.kind, [words[word] for word in one.words], list(one.numbers)]
    if one.numbers:
        return [one.kind, [words[one.a], words[one.b]], list(one.numbers)]
    return [one.kind, words[one.a], one.b + 1 if one.alone else words[one.b]]


def _read(clue: Any, places: dict[str, int], houses: int) -> Clue:
    kind, a, b = clue
    if isinstance(a, str):
        return link(kind, places[a], b - 1 if isinstance(b, int) else places[b], houses)
    words, numbers = tuple(places[word] for word in a), tuple(b)
    if kind in PAIRS:
        return link(kind, *words, houses, True, numbers)
    return GroupClue(kind, words, numbers)


def _said(one: Clue, titles: list[str], rows: list[list[str]], houses: int) -> str:
    """The clue in words."""

    def who(word: int) -> str:
        row, at = divmod(word, houses)
        return ROWS[titles[row]][0].format(rows[row][at])

    if isinstance(one, PairClue) and not one.numbers:
        text = SAYINGS[one.kind].format(a=who(one.a), b=one.b + 1 if one.alone else who(one.b))
    else:
        words = one.words if isinstance(one, GroupClue) else (one.a, one.b)
        text = say_long_clue(one.kind, [who(word) for word in words], one.numbers)
    return text[0].upper() + text[1:]
