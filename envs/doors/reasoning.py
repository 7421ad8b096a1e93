"""Adapter to reasoning-gym: its tasks as questions, judged as `verifiers/doors/reasoning.py` says.

Difficulties are the first three levels of the task's own curriculum. Left out: `composite` (a mixture of
others), `boxnet` and `propositional_logic` (no answer is known; repeating a premise is paid in full),
`codeio` (runs programs of its data in this process, which draw from the global generator) and
`knight_swap` (its curriculum makes settings that it refuses; its defaults take seconds an item).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.doors.foreign import LUCK, ORDER, AnyText
from verigym.errors import TaskError
from verigym.question import Ask, Question
from verigym.verifiers.doors.reasoning_items import NotMade, item

# How each task is judged; all others by `exact`.
_JUDGES = {
    "math/answer": """basic_arithmetic bitwise_arithmetic chain_sum complex_arithmetic count_bits count_primes
        decimal_chain_sum dice gcd gsm_symbolic intermediate_integration largest_island lcm leg_counting
        letter_counting maze number_format number_sequence polynomial_multiplication products
        rectangle_count rotten_oranges simple_equations simple_integration""",
    "math/countdown": "countdown puzzle24",
    "nocase": """aiw base_conversion calendar_arithmetic color_cube_rotation family_relationships figlet_font
        game_of_life_halting letter_jumble needle_haystack spell_backward syllogism tsumego zebra_puzzles""",
    "json": "game_of_life",
    "items": "number_filtering number_sorting word_sequence_reversal word_sorting",
    "factors": "prime_factorization",
    "reals": "polynomial_equations",
    "near": "coin_flip",
    "one_of": "n_queens",
    "theirs": """advanced_geometry cryptarithm decimal_arithmetic fraction_simplification graph_color
        group_anagrams jugs kakurasu knights_knaves palindrome_generation palindrome_partitioning
        pool_matrix power_function quantum_lock rubiks_cube rush_hour
        shortest_path sokoban tower_of_hanoi word_ladder""",
}
JUDGED = {task: kind for kind, tasks in _JUDGES.items() for task in tasks.split()}

# Levels that cannot be made, take seconds, or ask for too much text, are left out.
_USUAL: dict[str, int | None] = {"easy": 0, "medium": 1, "hard": 2}
LEVELS: dict[str, dict[str, int | None]] = {
    "acre": {"standard": None},
    "caesar_cipher": {"easy": 0, "hard": 1},
    # Its first level has 8 questions; at its last, chances are less than what `near` forgives.
    "coin_flip": {"easy": 2, "medium": 4, "hard": 6},
    "game_of_life_halting": {"easy": 0, "hard": 1},
    "gsm_symbolic": {"standard": None},
    "jugs": {"standard": 0},
    "list_functions": {"standard": None},
    "modulo_grid": {"easy": 0, "hard": 2},
    "number_sequence": {"standard": 0},
    "polynomial_multiplication": {"easy": 0, "hard": 1},
    "sokoban": {"easy": 1, "hard": 2},
    "survo": {"easy": 0, "hard": 1},
}
_MOST_SEEDS = 20

# Tasks whose answer may stand in the question, by why that is no leak.
_IN_SIGHT = {
    "the answer is one of the words, names or numbers that the question offers": """acre
        color_cube_rotation course_schedule game_of_life_halting isomorphic_strings needle_haystack
        number_format ransom_note zebra_puzzles""",
    "the answer is now and then what the question shows: a text or grid that its rules leave as it is, "
    "or a word of its example": "rearc shortest_path string_insertion string_manipulation",
}
OWN_WAIVED = {
    task: {"the_answer_is_hidden": why}
    for why, tasks in _IN_SIGHT.items()
    for task in tasks.split()
} | {
    "binary_alternation": {
        "tricks_earn_nothing": "a reply's last answer counts, and that of the law's list, 119, may be right"
    }
}
# Tasks that the library draws so that one answer is right more often than a guess.
_UNEVEN = {
    "game_of_life": "the library's cells mostly die out, so an empty board is right in 2 of 3 tasks",
    "polynomial_equations": "the library's polynomials have the root 0 in 2 of 5 tasks",
    "rotten_oranges": "the library's oranges cannot all rot in 2 of 5 tasks, and each prompt names that answer, -1",
    "shortest_path": "the library's grids have no path in half of all tasks",
    "syllogism": "the library's syllogisms hold in 3 of 4 tasks",
}

UNSOLVED = ("graph_color", "rubiks_cube", "rush_hour")


class Reasoning(Question):
    """A task of reasoning-gym. Subclasses name it."""

    task_name: ClassVar[str]
    verifier_id: ClassVar[str] = "doors/reasoning-gym"
    only_named: ClassVar[bool] = True
    max_observation_chars: ClassVar[int] = 1 << 16

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = AnyText(self.max_observation_chars)
        self.action_space = AnyText(self.max_action_chars)

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        setting = LEVELS.get(self.task_name, _USUAL)[self.written(level)]
        seed, entry = _drawn(rng, self.task_name, setting)
        kind = JUDGED.get(self.task_name, "exact")
        answer = "" if entry["answer"] is None else str(entry["answer"])
        reference: dict[str, Any] = {"task": self.task_name, "judge": kind, "answer": answer}
        if kind == "math/answer":
            form = "expanded" if self.task_name == "polynomial_multiplication" else "evaluated"
            reference = {"answer": answer, "form": form}
        elif kind == "math/countdown":
            facts = entry["metadata"]
            numbers = sorted(map(int, facts["numbers"]))
            reference = {"numbers": numbers, "target": int(facts.get("target", 24))}
            reference["solution"] = answer
        elif kind == "one_of":
            reference["answers"] = list(entry["metadata"]["valid_answers"])
        elif kind == "theirs":
            reference |= {"level": setting, "seed": seed}
        return Ask(prompt=entry["question"], answer=answer, reference=reference)

    @override
    def reply(self, reference: Any) -> str:
        return f"<answer>{reference.get('solution', reference.get('answer'))}</answer>"


def _drawn(rng: np.random.Generator, task: str, level: int | None) -> tuple[int, dict[str, Any]]:
    """The first of the drawn seeds that has a question, and that."""
    for _ in range(_MOST_SEEDS):
        seed = int(rng.integers(2**31))
        try:
            return seed, item(task, level, seed)[1]
        except NotMade as error:
            why = error
    raise TaskError(f"reasoning-gym made no {task} of {_MOST_SEEDS} seeds: {why}")


@cache
def __getattr__(name: str) -> type[Reasoning]:
    # Gymnasium and `verigym.make` find a task's class by its name.
    if name.startswith("_") or not name.islower():
        raise AttributeError(name)
    kind = JUDGED.get(name, "exact")
    levels = LEVELS.get(name, _USUAL)
    waived: Mapping[str, str] = (
        LUCK
        | ORDER
        | ({} if len(levels) > 2 else _FEW)
        | _OWN_TEXT
        | OWN_WAIVED.get(name, {})
        | ({"cheap_answers_earn_no_more_than_guessing": _UNEVEN[name]} if name in _UNEVEN else {})
    )
    fields: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": f"{name} of reasoning-gym, judged by {kind}. See docs/envs-doors.md.",
        "id": f"verigym/reasoning-gym/{name}-v0",
        "task_name": name,
        "difficulties": tuple(levels),
        "verifier_id": kind if "/" in kind else "doors/reasoning-gym",
        "waived": waived,
    }
    if name in UNSOLVED:
        fields["oracle_absent"] = "reasoning-gym gives no answer to this task"
    return type(name, (Reasoning,), fields)


_OWN_TEXT = {"wording_leaves_the_split": "the library gives a task as text alone"}
_FEW = {"at_least_three_difficulties": "the library has fewer settings that can be made"}
