"""The environment contract on every registered environment: each law of `verigym check`.

`make check-envs` takes more seeds.
"""

import os
import subprocess
import sys

import pytest

import verigym
from verigym.envs.check.laws import (
    cheap,
    contract,
    cost,
    determinism,
    levels,
    reward,
    splits,
)
from verigym.envs.check.run import LAWS, apply
from verigym.envs.check.subject import Subject, transcript

SEEDS = 6
SEEDS_OF_MEANS = 12
MEANS = {
    levels.difficulties_are_in_order,
    reward.chance_earns_next_to_nothing,
    splits.seeds_give_different_tasks,
}
"""Laws about means and shares, which a few seeds leave to chance."""
ENVS = sorted(verigym.list_envs())
# The first of code/ costs more than all the others together: it runs many programs and times them.
FIRST_OF_FAMILY = {
    env_id.split("/")[1]: env_id for env_id in reversed(ENVS) if "/code/faster-" not in env_id
}.values()
OTHERS = [env_id for env_id in ENVS if env_id not in FIRST_OF_FAMILY]
LONG = {
    "a_failed_step_can_be_repeated": """
        code/faster search/hops search/lookup search/noise search/unanswerable
    """,
    "chance_earns_next_to_nothing": """
        code/faster code/functions code/predict code/repair code/stdio games/2048
        games/chess-puzzles games/connect-four games/frozen-lake games/hanoi games/household
        games/keydoor games/lights games/mastermind games/nim games/nonogram games/sliding
        games/sokoban games/sudoku games/tic-tac-toe games/twenty-questions games/wordle
        games/zebra math/counting math/equations math/python math/retry search/long
        sql/explore sql/questions sql/repair sql/scale sql/tables tools/api-docs tools/bank
        tools/call tools/home tools/multi tools/office tools/shop web/forms
    """,
    "cheap_answers_earn_no_more_than_guessing": """
        code/stdio games/2048 games/chess-puzzles games/connect-four games/household
        games/lights games/nim games/nonogram games/sokoban games/tic-tac-toe
        math/arithmetic math/calculus math/counting math/equations math/geometry
        math/matrices math/python math/retry math/sequences math/systems math/word-problems
        search/hops search/long search/unanswerable sql/explore sql/questions sql/repair
        sql/scale tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
    "difficulties_are_in_order": """
        code/faster code/functions code/predict code/problems code/repair code/repo
        code/stdio code/tests games/2048 games/blackjack games/chess-puzzles
        games/connect-four games/frozen-lake games/hanoi games/household games/keydoor
        games/liars-dice games/lights games/mastermind games/minesweeper games/nim
        games/nonogram games/sliding games/sokoban games/sudoku games/tic-tac-toe
        games/twenty-questions games/wordle games/zebra math/calculus math/countdown
        math/counting math/equations math/fractions math/geometry math/matrices
        math/number-theory math/python math/retry math/sequences math/systems
        math/word-problems search/long search/lookup search/noise search/unanswerable
        sql/explore sql/questions sql/repair sql/scale tools/api-docs tools/bank tools/call
        tools/home tools/multi tools/office tools/shop web/forms
    """,
    "episodes_are_bounded": """
        code/functions code/repair code/stdio games/2048 games/chess-puzzles
        games/connect-four games/frozen-lake games/hanoi games/household games/keydoor
        games/lights games/mastermind games/nim games/nonogram games/sliding games/sokoban
        games/sudoku games/tic-tac-toe games/twenty-questions games/zebra search/hops
        search/lookup search/noise sql/explore sql/questions sql/repair sql/scale
        tools/api-docs tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
    "equal_keys_have_equal_futures": """
        code/functions code/problems code/repair code/stdio games/chess-puzzles
        games/connect-four games/frozen-lake games/hangman games/hanoi games/household
        games/keydoor games/liars-dice games/lights games/mastermind games/minesweeper
        games/nim games/nonogram games/sliding games/sokoban games/tic-tac-toe
        games/twenty-questions games/zebra math/retry sql/explore sql/questions sql/repair
        sql/scale tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
    "gymnasium_s_checker_finds_nothing": """
        code/faster
    """,
    "info_always_has_its_keys": """
        sql/scale
    """,
    "it_is_pure": """
        code/functions code/predict code/repair code/repo code/stdio games/2048
        games/chess-puzzles games/connect-four games/frozen-lake games/hanoi games/household
        games/keydoor games/lights games/mastermind games/nim games/nonogram games/sliding
        games/sokoban games/sudoku games/tic-tac-toe games/twenty-questions games/wordle
        games/zebra math/countdown math/python search/long search/lookup search/noise
        search/unanswerable sql/explore sql/questions sql/repair sql/scale tools/api-docs
        tools/bank tools/call tools/home tools/multi tools/office tools/shop web/forms
    """,
    "it_plays_through_gymnasium_s_wrappers": """
        code/faster search/hops
    """,
    "keys_have_no_history": """
        code/functions code/problems code/repair code/stdio games/chess-puzzles
        games/connect-four games/hanoi games/household games/keydoor games/lights
        games/mastermind games/nim games/nonogram games/sliding games/sokoban
        games/tic-tac-toe games/zebra math/retry sql/explore sql/questions sql/repair
        sql/scale tools/api-docs tools/bank tools/call tools/home tools/multi tools/office
        tools/shop web/forms
    """,
    "operations_are_counted": """
        code/faster code/functions code/predict code/problems code/repair code/repo
        code/stdio code/tests games/2048 games/blackjack games/chess-puzzles
        games/connect-four games/frozen-lake games/hangman games/hanoi games/household
        games/keydoor games/liars-dice games/lights games/mastermind games/nim
        games/nonogram games/sliding games/sokoban games/tic-tac-toe games/twenty-questions
        games/wordle games/zebra math/arithmetic math/calculus math/countdown math/counting
        math/equations math/fractions math/geometry math/matrices math/number-theory
        math/python math/retry math/sequences math/systems math/word-problems sql/explore
        sql/questions sql/repair sql/scale tools/api-docs tools/bank tools/call tools/home
        tools/multi tools/office tools/shop web/forms
    """,
    "seeds_give_different_tasks": """
        code/functions code/predict code/repair code/repo code/stdio games/chess-puzzles
        games/connect-four games/frozen-lake games/hanoi games/household games/keydoor
        games/lights games/mastermind games/nim games/nonogram games/sliding games/sokoban
        games/sudoku games/tic-tac-toe games/twenty-questions games/wordle games/zebra
        math/counting math/equations math/matrices math/python math/word-problems
        sql/explore sql/questions sql/repair sql/scale sql/tables tools/api-docs tools/bank
        tools/call tools/home tools/multi tools/office tools/shop web/forms
    """,
    "snapshots_continue_identically": """
        sql/scale
    """,
    "splits_share_no_content": """
        code/functions code/predict code/repair code/stdio games/chess-puzzles
        games/connect-four games/frozen-lake games/hanoi games/household games/keydoor
        games/lights games/mastermind games/nim games/nonogram games/sliding games/sokoban
        games/sudoku games/tic-tac-toe games/twenty-questions games/wordle games/zebra
        math/calculus math/counting math/matrices math/python math/retry math/word-problems
        search/hops search/long sql/explore sql/questions sql/repair sql/scale sql/tables
        tools/api-docs tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
    "success_falls_with_the_level": """
        code/faster code/functions code/predict code/repair code/repo code/stdio code/tests
        games/2048 games/blackjack games/chess-puzzles games/connect-four games/frozen-lake
        games/hangman games/hanoi games/household games/keydoor games/liars-dice
        games/lights games/mastermind games/minesweeper games/nim games/nonogram
        games/sliding games/sokoban games/sudoku games/tic-tac-toe games/twenty-questions
        games/wordle games/zebra math/arithmetic math/calculus math/countdown math/counting
        math/equations math/fractions math/geometry math/matrices math/number-theory
        math/python math/retry math/sequences math/systems math/word-problems search/hops
        search/long search/lookup search/noise search/unanswerable sql/explore sql/questions
        sql/repair sql/scale sql/tables tools/api-docs tools/bank tools/call tools/home
        tools/multi tools/office tools/shop web/forms
    """,
    "the_answer_is_hidden": """
        code/functions code/repair code/repo code/stdio code/verilog games/2048
        games/chess-puzzles games/connect-four games/frozen-lake games/hanoi games/household
        games/keydoor games/lights games/mastermind games/nim games/nonogram games/sliding
        games/sokoban games/tic-tac-toe games/twenty-questions games/wordle games/zebra
        math/countdown math/python search/hops search/long search/lookup search/noise
        search/unanswerable sql/explore sql/questions sql/repair sql/scale tools/api-docs
        tools/bank tools/call tools/home tools/multi tools/office tools/shop web/forms
    """,
    "the_oracle_earns_full_marks": """
        code/faster code/functions code/problems code/repair code/repo code/stdio code/tests
        code/verilog games/2048 games/chess-puzzles games/connect-four games/frozen-lake
        games/hanoi games/household games/keydoor games/lights games/mastermind games/nim
        games/nonogram games/sliding games/sokoban games/sudoku games/tic-tac-toe
        games/twenty-questions games/zebra math/python search/hops search/long search/lookup
        search/noise search/unanswerable sql/explore sql/questions sql/repair sql/scale
        tools/api-docs tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
    "tricks_earn_nothing": """
        code/faster code/functions code/predict code/problems code/repair code/stdio
        games/2048 games/blackjack games/chess-puzzles games/connect-four games/frozen-lake
        games/hanoi games/household games/keydoor games/liars-dice games/lights
        games/mastermind games/minesweeper games/nim games/nonogram games/sliding
        games/sokoban games/sudoku games/tic-tac-toe games/twenty-questions games/wordle
        games/zebra math/arithmetic math/calculus math/countdown math/counting
        math/equations math/fractions math/geometry math/matrices math/number-theory
        math/python math/retry math/sequences math/systems math/word-problems search/hops
        search/long search/lookup search/noise search/unanswerable sql/explore sql/questions
        sql/repair sql/scale sql/tables tools/api-docs tools/bank tools/call tools/home
        tools/multi tools/office tools/shop web/forms
    """,
    "vectors_play_the_same": """
        code/functions
    """,
    "wording_leaves_the_split": """
        code/functions code/repair code/stdio games/chess-puzzles games/connect-four
        games/frozen-lake games/hanoi games/household games/keydoor games/mastermind
        games/nim games/nonogram games/sliding games/sokoban games/sudoku games/tic-tac-toe
        games/wordle games/zebra search/hops sql/explore sql/questions sql/repair sql/scale
        tools/api-docs tools/bank tools/call tools/home tools/multi tools/office tools/shop
        web/forms
    """,
}
"""Environments, by law, in which it takes a fifth of a second or more of processor time."""
A_PROCESS_PLAYS = 8
PLAY = """
import sys
from verigym.envs.check.subject import Subject, transcript
for env_id in sys.argv[1:]:
    print(transcript(Subject(env_id), 1))
"""


def laws():
    for env_id in ENVS:
        for law in LAWS:
            # Below: the law starts a process for each environment.
            if law is determinism.another_process_plays_the_same:
                continue
            # Two processes for each, a budget of time, or a hundred programs to run.
            name = env_id.removeprefix("verigym/").rpartition("-v")[0]
            long = (
                name in LONG.get(law.__name__, "").split()
                or law is cost.memory_does_not_grow
                or (law is contract.vectors_play_the_same and env_id not in FIRST_OF_FAMILY)
                or (
                    law is cheap.cheap_answers_earn_no_more_than_guessing
                    and env_id.startswith("verigym/code/")
                    and env_id != "verigym/code/stdio-v0"
                )
            )
            marks = [pytest.mark.slow] if long else []
            yield pytest.param(env_id, law, marks=marks, id=f"{env_id}-{law.__name__}")


def test_what_takes_long_is_known():
    assert set(LONG) <= {law.__name__ for law in LAWS}
    named = {name for names in LONG.values() for name in names.split()}
    assert named <= {env_id.removeprefix("verigym/").rpartition("-v")[0] for env_id in ENVS}


@pytest.mark.parametrize(("env_id", "law"), list(laws()))
def test_the_law_holds(env_id, law):
    outcome = apply(law, Subject(env_id, SEEDS_OF_MEANS if law in MEANS else SEEDS))
    assert outcome.broken is None, f"{env_id}: {outcome.broken}"


@pytest.mark.parametrize(
    "env_ids",
    [
        list(FIRST_OF_FAMILY),
        *(
            pytest.param(OTHERS[i : i + A_PROCESS_PLAYS], marks=pytest.mark.slow)
            for i in range(0, len(OTHERS), A_PROCESS_PLAYS)
        ),
    ],
    ids=lambda env_ids: env_ids[0],
)
def test_another_process_plays_the_same(env_ids):
    done = subprocess.run(
        [sys.executable, "-P", "-c", PLAY, *env_ids],
        env={**os.environ, "PYTHONHASHSEED": "4321"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    here = [transcript(Subject(env_id), 1) for env_id in env_ids]
    assert done.stdout.split() == here
