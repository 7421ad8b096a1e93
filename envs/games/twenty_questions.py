"""Twenty questions: find a hidden thing by questions with yes or no."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.envs.games.things import best_split, most_questions, splitting, table
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
    8: (165, 0),
    9: (195, 0),
    10: (240, 0),
}

_PROMPT = """\
One of these things is hidden: {things}.
Find out which one. Ask questions in exactly these words; each is answered with yes or no, by what is usually true: {asks}.
Answer with one line, such as "ask: {example}", or, when you know it, "guess: {thing}". You have {turns} \
turns, including the guess, and only one guess."""


class TwentyQuestions(ReplayedGame):
    """The environment. An action is `ask: ...` or `guess: ...`; the first guess ends the game.

    The turns are enough for whoever always halves what is left as evenly as can be.
    """

    id: ClassVar[str] = "verigym/games/twenty-questions-v0"
    game: ClassVar[str] = "twenty-questions"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
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
            f"{fact}: {'yes' if fact in board.facts else 'no'}"
            for fact in board.asks
            if fact in board.asked
        )

    @override
    def position(self, board: Inquiry) -> JSON:
        return [board.guess, *sorted(board.asked)]

    @override
    def moves(self, board: Inquiry) -> list[str]:
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
        left, facts = _left(board)
        split = best_split(left, facts)
        if split is not None:
            return f"ask: {split[0]}"
        return f"guess: {table().names[left.bit_length() - 1]}"

    def work(self, state: Play) -> int:
        """Count the things that are asked about, for each fact, to find how evenly it halves them."""
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


def _left(board: Inquiry) -> tuple[int, list[tuple[str, int]]]:
    """The things that fit all answers, and the facts to ask about."""
    known = table()
    left = sum(1 << i for i, name in enumerate(known.names) if name in board.things)
    for fact in board.asked:
        holders = known.holders[fact]
        left &= holders if fact in board.facts else ~holders
    return left, [(fact, known.holders[fact]) for fact in board.asks]
