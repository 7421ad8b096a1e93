"""Adapter to OpenSpiel: board games of perfect information against opponents of graded strength."""

from __future__ import annotations

from functools import cache

from verigym.envs.doors.foreign import LUCK, ORDER, REPEATED, ForeignGame, environment

# The library's parameters, and the turns that the policy has; half the moves of a game are its own.
GAMES: dict[str, tuple[str, int]] = {
    "breakthrough": ("breakthrough(rows=6,columns=6)", 60),
    "checkers": ("checkers", 100),
    "chess": ("chess", 120),
    "clobber": ("clobber(rows=5,columns=6)", 20),
    "connect_four": ("connect_four", 21),
    "dots_and_boxes": ("dots_and_boxes", 12),
    "einstein_wurfelt_nicht": ("einstein_wurfelt_nicht", 60),
    "go": ("go(board_size=7)", 60),
    "gomoku": ("gomoku(size=9)", 41),
    "havannah": ("havannah(board_size=4)", 20),
    "hex": ("hex(board_size=7)", 25),
    "lines_of_action": ("lines_of_action", 100),
    "mancala": ("mancala", 60),
    "mnk": ("mnk(m=5,n=5,k=4)", 13),
    "nim": ("nim", 16),
    "nine_mens_morris": ("nine_mens_morris", 100),
    "othello": ("othello", 40),
    "oware": ("oware", 100),
    "pentago": ("pentago", 18),
    "pig": ("pig(winscore=50)", 150),
    "tic_tac_toe": ("tic_tac_toe", 5),
    "twixt": ("twixt(board_size=8,ansi_color_output=false)", 31),
    "ultimate_tic_tac_toe": ("ultimate_tic_tac_toe", 45),
    "y": ("y(board_size=7)", 28),
}

# How many games the opponent plays out in its head before each move; none: it plays at random.
OPPONENTS = {"random": 0, "weak": 20, "strong": 200}


@cache
def __getattr__(name: str) -> type[ForeignGame]:
    if name not in GAMES:
        raise AttributeError(name)
    game, turns = GAMES[name]
    return environment(
        "openspiel",
        name,
        __name__,
        difficulties=tuple(OPPONENTS),
        settings={
            strength: {"game": game, "simulations": simulations, "turns": turns}
            for strength, simulations in OPPONENTS.items()
        },
        oracle_absent="OpenSpiel solves none of its larger games; a search would earn less than 1",
        recoverable=False,
        waived=LUCK | ORDER | REPEATED,
    )
