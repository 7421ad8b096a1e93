"""Twenty questions: find hidden things by questions about facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.envs.games.several_things import (
    Answers,
    Facts,
    count_splitting,
    next_question,
    questions_needed,
)
from verigym.envs.games.things import best_split, most_questions, splitting, table
from verigym.errors import TaskError
from verigym.verifiers.games.questioning import Inquiry

# How many things, and how many more turns than the best split needs at most.
SIZES = {
    1: (12, 5),
    2: (24, 4),
    3: (40, 3),
    4: (60, 2),
    5: (90, 1),
    6: (120, 0),
    7: (140, 0),
}
# From level 8 on: how many things, how many of them are hidden, what the answers are, how many questions the best split needs at
# least (what fewer find is found by luck), and how many more turns there are.
SEVERAL = {
    8: (48, 2, "counts", 9, 2),
    9: (44, 4, "modulo 3", 13, 1),
    10: (48, 4, "parity", 18, 0),
}
_NUMBERS = {2: "two", 4: "four"}

_PROMPT = """\
One of these things is hidden: {things}.
Find out which one. Ask questions in exactly these words; each is answered with yes or no, by what is usually true: {asks}.
Answer with one line, such as "ask: {example}", or, when you know it, "guess: {thing}". You have {turns} \
turns, including the guess, and only one guess."""
_COUNT = "Each question is answered with the number of hidden things of which the fact is true."
_REMAINDER = """\
Each question is answered with the remainder when the number of hidden things of which the fact is true is divided by 3, so \
the answer 0 means none or three of them, 1 means one or all four, and 2 means two."""
_PARITY = """\
Each question is answered with odd or even: that is what the number of hidden things of which the fact is true is. 0 is even."""
# By what the answers are: the sentence about them, and one more than the largest.
_ANSWERS = {"counts": (_COUNT, None), "modulo 3": (_REMAINDER, 3), "parity": (_PARITY, 2)}
_PROMPT_SEVERAL = """\
{count} of these things are hidden: {things}.
Find out which. Ask about these facts, in exactly these words; the things of which each is true are given, and it is true of \
no others:
{asks}
{answer} The answers to all questions would \
leave one choice of {number} things.
Answer with one line, such as "ask: {example}", or, when you know all, with all of them in any order: "guess: {guess}". You \
have {turns} turns, including the guess, and only one guess. If you always ask the question that leaves the fewest choices even \
when its answer is the least helpful one (of several such questions, the first in the list), {needed} questions are enough."""


class TwentyQuestions(ReplayedGame):
    """The environment. An action is `ask: ...` or `guess: ...`; the first guess ends the game.

    The turns are enough for whoever always halves what is left as evenly as can be. From level 8 on several things are
    hidden at once, what holds of each thing is said, and the answers are numbers.
    """

    id: ClassVar[str] = "verigym/games/twenty-questions-v0"
    game: ClassVar[str] = "twenty-questions"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        if level in SEVERAL:
            return _draw_several(rng, *SEVERAL[level])
        count, slack = SIZES[level]
        known = table()
        chosen = rng.permutation(len(known.names))[:count].tolist()
        among = sum(1 << i for i in chosen)
        facts = splitting(among, list(known.holders.items()))
        turns = most_questions(among, facts) + 1 + slack
        secret = chosen[0]
        things = [known.names[i] for i in sorted(chosen)]
        asks = [fact for fact, _ in facts]
        prompt = _PROMPT.format(
            things=", ".join(things),
            asks=", ".join(asks),
            example=asks[0],
            thing=things[0],
            turns=turns,
        )
        return prompt, {
            "secret": known.names[secret],
            "things": things,
            "asks": asks,
            "facts": [fact for fact, holders in facts if holders >> secret & 1],
            "turns": turns,
            "max_moves": turns,
        }

    @override
    def show(self, board: Inquiry) -> str:
        return "\n".join(
            f"{fact}: {answer}"
            for fact, answer in zip(board.asks, _answers(board), strict=True)
            if fact in board.asked
        )

    @override
    def position(self, board: Inquiry) -> JSON:
        return [board.guess, *sorted(board.asked)]

    @override
    def moves(self, board: Inquiry) -> list[str] | None:
        if board.counts:
            return None  # thousands of guesses
        asks = [f"ask: {fact}" for fact in board.asks if fact not in board.asked]
        return asks + [f"guess: {thing}" for thing in board.things]

    @override
    def lost(self, board: Inquiry) -> bool:
        return bool(board.guess) and board.guess != board.secret

    @override
    def best(self, board: Inquiry) -> str | None:
        """It knows the answers to what was asked, not the secret."""
        if board.guess:
            return None
        if board.counts:
            return _best_of_several(board)
        left, facts = _left(board)
        split = best_split(left, facts)
        if split is not None:
            return f"ask: {split[0]}"
        return f"guess: {table().names[left.bit_length() - 1]}"

    def work(self, state: Play) -> int:
        """Count the things that are asked about, for each fact, to find how evenly it halves them."""
        if state.board.counts:
            return count_splitting(*_several(state.board))
        operations, (left, facts) = 1, _left(state.board)
        things = [thing for thing in range(left.bit_length()) if left >> thing & 1]
        if len(things) == 1:
            return operations
        fewest = len(things)
        for _, holders in facts:
            yes = 0
            for thing in things:
                operations += 1
                yes += holders >> thing & 1
            fewest = min(fewest, max(yes, len(things) - yes))
        return operations


def _draw_several(
    rng: np.random.Generator, count: int, hidden: int, answers: str, least: int, slack: int
) -> tuple[str, dict[str, Any]]:
    """Draw things until the questions single out those that are hidden."""
    known, (sentence, modulus) = table(), _ANSWERS[answers]
    base = modulus or hidden + 1
    while True:
        chosen = sorted(rng.permutation(len(known.names))[:count].tolist())
        things = [known.names[i] for i in chosen]
        secret = tuple(sorted(rng.choice(count, hidden, replace=False).tolist()))
        facts = _facts_of(things)
        needed = questions_needed(secret, count, tuple(facts.values()), base)
        if needed is not None and needed >= least:
            break
    turns = needed + 1 + slack
    asks, number = list(facts), _NUMBERS[hidden]
    prompt = _PROMPT_SEVERAL.format(
        count=number.capitalize(),
        number=number,
        things=", ".join(things),
        asks="\n".join(f"- {fact}: {_listed(things, held)}" for fact, held in facts.items()),
        answer=sentence,
        example=asks[0],
        guess=" and ".join(things[:hidden]),
        turns=turns,
        needed=needed,
    )
    counts = {
        fact: sum(held >> thing & 1 for thing in secret) % base for fact, held in facts.items()
    }
    return prompt, {
        "answers": answers,
        "secret": [things[thing] for thing in secret],
        "things": things,
        "asks": asks,
        "facts": {fact: count for fact, count in counts.items() if count},
        "turns": turns,
        "max_moves": turns,
    }


@lru_cache(maxsize=64)
def _splitting_facts(things: tuple[str, ...]) -> dict[str, int]:
    """The facts that hold of some things but not of all, with the things of which each holds: bit i stands for thing i."""
    known = table()
    places = [known.names.index(thing) for thing in things]
    found = {
        fact: sum((holders >> place & 1) << i for i, place in enumerate(places))
        for fact, holders in known.holders.items()
    }
    return {fact: held for fact, held in found.items() if 0 < held.bit_count() < len(things)}


def _facts_of(things: Sequence[str]) -> dict[str, int]:
    return _splitting_facts(tuple(things))


def _listed(things: list[str], held: int) -> str:
    return ", ".join(thing for i, thing in enumerate(things) if held >> i & 1)


def _several(board: Inquiry) -> tuple[int, int, Facts, Answers, int]:
    """Return what is known if several things are hidden: the numbers of things and of hidden ones, facts, the answers so
    far, and the base of answers."""
    facts = tuple(_facts_of(board.things).values())
    answers = tuple(
        (i, count)
        for i, (ask, count) in enumerate(zip(board.asks, board.counts, strict=True))
        if ask in board.asked
    )
    hidden = len(board.secret.split(" and "))
    return len(board.things), hidden, facts, answers, board.modulus or hidden + 1


def _best_of_several(board: Inquiry) -> str:
    move = next_question(*_several(board))
    if move is None:
        raise TaskError("several choices of things have the same answers to all questions")
    if isinstance(move, int):
        return f"ask: {board.asks[move]}"
    return f"guess: {' and '.join(board.things[thing] for thing in move)}"


def _answers(board: Inquiry) -> list[str]:
    if board.modulus == 2:
        return ["odd" if count else "even" for count in board.counts]
    if board.counts:
        return list(map(str, board.counts))
    return ["yes" if fact in board.facts else "no" for fact in board.asks]


def _left(board: Inquiry) -> tuple[int, list[tuple[str, int]]]:
    """The things that fit all answers, and the facts to ask about."""
    known = table()
    left = sum(1 << i for i, name in enumerate(known.names) if name in board.things)
    for fact in board.asked:
        holders = known.holders[fact]
        left &= holders if fact in board.facts else ~holders
    return left, [(fact, known.holders[fact]) for fact in board.asks]
