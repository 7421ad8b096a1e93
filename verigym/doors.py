"""Adapters to environments of other libraries, by name; a library is imported on its first `make`.

    verigym.make("textarena/TicTacToe")      # after pip install 'verigym[textarena]'

An id is `verigym/<adapter>/<name>-v0`, with the library's own name. The names stand here as text, so
that listing and registering them imports nothing. docs/envs-doors.md describes each adapter, and why
other libraries have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from verigym.errors import MissingError
from verigym.missing import command

_REASONING_GYM = """
ab acre advanced_geometry aiw arc_1d arc_agi base_conversion basic_arithmetic bf binary_alternation
binary_matrix bitwise_arithmetic caesar_cipher calendar_arithmetic chain_sum circuit_logic coin_flip
color_cube_rotation complex_arithmetic count_bits count_primes countdown course_schedule cryptarithm
decimal_arithmetic decimal_chain_sum dice emoji_mystery family_relationships figlet_font
fraction_simplification futoshiki game_of_life game_of_life_halting gcd graph_color group_anagrams
gsm_symbolic intermediate_integration isomorphic_strings jugs kakurasu knights_knaves
largest_island lcm leg_counting letter_counting letter_jumble list_functions mahjong_puzzle
manipulate_matrix maze mini_sudoku modulo_grid n_queens needle_haystack number_filtering number_format
number_sequence number_sorting palindrome_generation palindrome_partitioning path_star
polynomial_equations polynomial_multiplication pool_matrix power_function prime_factorization products
puzzle24 quantum_lock ransom_note rearc rectangle_count rotate_matrix rotten_oranges rubiks_cube
rush_hour self_reference sentence_reordering shortest_path simple_equations simple_geometry
simple_integration sokoban spell_backward spiral_matrix string_insertion string_manipulation
string_splitting string_synthesis sudoku survo syllogism time_intervals tower_of_hanoi tsumego
word_ladder word_sequence_reversal word_sorting zebra_puzzles
"""
_TEXTARENA = """
2048 Bandit Battleship Blackjack Breakthrough Chopsticks ConnectFour Crosswords FifteenPuzzle FrozenLake
GameOfPureStrategy GuessTheNumber IteratedMatchingPennies IteratedRockPaperScissors
KuhnPoker LightsOut LogicPuzzle Mastermind MemoryGame Minesweeper Nim Othello
PegJump PigDice QuantumTicTacToe RushHour Secretary Set SimpleTak Sokoban Sudoku TicTacToe TowerOfHanoi
UltimateTicTacToe WildTicTacToe
"""
_OPENSPIEL = """
breakthrough checkers chess clobber connect_four dots_and_boxes einstein_wurfelt_nicht go gomoku havannah
hex lines_of_action mancala mnk nim nine_mens_morris othello oware pentago pig tic_tac_toe twixt
ultimate_tic_tac_toe y
"""
_MINIGRID = """
DoorKey Dynamic-Obstacles Empty Fetch GoToDoor KeyCorridor LavaCrossing LavaGap Memory MultiRoom
SimpleCrossing
"""


@dataclass(frozen=True)
class Door:
    """The adapter to the environments of one library. `extra` is the pip extra that installs it."""

    name: str
    library: str
    extra: str
    module: str
    games: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Return True if the library is installed, without importing it."""
        return find_spec(self.library) is not None


def _door(name: str, library: str, module: str, games: str, extra: str = "") -> Door:
    return Door(name, library, extra, f"verigym.envs.doors.{module}", tuple(games.split()))


DOORS: tuple[Door, ...] = (
    _door("gymnasium", "gymnasium", "toy_text", "Blackjack CliffWalking FrozenLake Taxi"),
    _door("minigrid", "minigrid", "grids", _MINIGRID, "minigrid"),
    _door("openspiel", "pyspiel", "spiel", _OPENSPIEL, "openspiel"),
    _door("reasoning-gym", "reasoning_gym", "reasoning", _REASONING_GYM, "reasoning-gym"),
    _door("textarena", "textarena", "arena", _TEXTARENA, "textarena"),
    _door("textworld", "textworld", "stories", "cooking treasure coins", "textworld"),
)


def need_library(env_id: str) -> None:
    """Raise MissingError with the package to install if `env_id` needs a library that is missing."""
    family, _, name = env_id.removeprefix("verigym/").partition("/")
    for door in DOORS:
        if door.name == family and name.removesuffix("-v0") in door.games and not door.installed:
            raise MissingError(
                f"{env_id} is played by {door.library}, which is not installed; {command(door.extra)}"
            )
