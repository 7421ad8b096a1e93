"""Adapter to TextArena: single-player games as they are, two-player ones against a random legal
opponent.

The settings of a game are its own variants, from easy to hard. Left out, of the 96 games of TextArena
0.7.4: those that ask a language model or a jury, need word lists that it downloads, hold conversations
between players, or for which no legal opponent can be made up; Chess, Checkers, Klondike,
ReverseTicTacToe and UltimateTexasHoldem, whose source is no Python below 3.12; and Countdown, Cryptarithm,
Slitherlink and ThreeCardMonte, which mix up the arguments of messages or rewards.
"""

from __future__ import annotations

from functools import cache

from verigym.envs.doors.foreign import LUCK, ONE_SETTING, ORDER, REPEATED, ForeignGame, environment

# The variants (their ids after the name), and the turns that the policy has.
SINGLE: dict[str, tuple[tuple[str, ...], int]] = {
    "2048": (("v0-ultra-easy", "v0-super-easy", "v0-easy"), 800),
    "Bandit": (("v0", "v0-hard"), 60),
    "Blackjack": (("v0", "v0-long"), 200),
    "Crosswords": (("v0", "v0-hardcore"), 30),
    "FifteenPuzzle": (("v0",), 200),
    "FrozenLake": (("v0", "v0-random", "v0-hardcore"), 50),
    "GuessTheNumber": (("v0", "v0-hardcore"), 10),
    "LightsOut": (("v0",), 20),
    "LogicPuzzle": (("v0", "v0-hard"), 30),
    "Mastermind": (("v0", "v0-hard", "v0-extreme"), 20),
    "Minesweeper": (("v0-small", "v0", "v0-medium", "v0-hard"), 100),
    "PegJump": (("v0",), 20),
    "RushHour": (("v0",), 100),
    "Secretary": (("v0", "v0-long"), 12),
    "Set": (("v0",), 60),
    "Sokoban": (("v0", "v0-medium"), 50),
    "Sudoku": (("v0-very-easy", "v0-easy", "v0", "v0-medium", "v0-hard"), 100),
    "TowerOfHanoi": (("v0", "v0-medium", "v0-hard", "v0-hardcore"), 126),
}
TWO: dict[str, tuple[tuple[str, ...], int]] = {
    "Battleship": (("v0", "v0-standard", "v0-large"), 100),
    "Breakthrough": (("v0-tiny", "v0-small", "v0"), 60),
    "Chopsticks": (("v0",), 20),
    "ConnectFour": (("v0", "v0-blind", "v0-large"), 60),
    "GameOfPureStrategy": (("v0",), 15),
    "IteratedMatchingPennies": (("v0",), 12),
    "IteratedRockPaperScissors": (("v0",), 12),
    "KuhnPoker": (("v0", "v0-medium", "v0-long"), 60),
    "MemoryGame": (("v0", "v0-medium", "v0-hard"), 80),
    "Nim": (("v0", "v0-medium", "v0-large"), 40),
    "Othello": (("v0-tiny", "v0-small", "v0"), 40),
    "PigDice": (("v0-short", "v0", "v0-long"), 200),
    "QuantumTicTacToe": (("v0",), 12),
    "SimpleTak": (("v0", "v0-medium", "v0-large"), 20),
    "TicTacToe": (("v0",), 6),
    "UltimateTicTacToe": (("v0",), 45),
    "WildTicTacToe": (("v0",), 6),
}

_OWN_WAIVED = {
    "Mastermind": {
        "tricks_earn_nothing": "the guess that the prompt writes as an example may be the code"
    }
}


@cache
def __getattr__(name: str) -> type[ForeignGame]:
    if name not in SINGLE and name not in TWO:
        raise AttributeError(name)
    variants, turns = SINGLE.get(name) or TWO[name]
    setting: dict[str, str | int] = {"turns": turns}
    if name in TWO:
        setting["opponent"] = "random"
    return environment(
        "textarena",
        name,
        __name__,
        difficulties=tuple(one.removeprefix("v0-") for one in variants),
        settings={
            one.removeprefix("v0-"): {"game": f"{name}-{one}", **setting} for one in variants
        },
        oracle_absent="TextArena has no solvers of its games",
        recoverable=False,
        waived=LUCK
        | (ORDER if len(variants) > 2 else ONE_SETTING)
        | (REPEATED if name in TWO else {})
        | _OWN_WAIVED.get(name, {}),
    )
