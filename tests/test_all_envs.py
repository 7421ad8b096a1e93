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
        code/faster
    """,
    "chance_earns_next_to_nothing": """
        code/faster games/2048 games/chess-puzzles games/connect-four games/frozen-lake
        games/household games/keydoor games/nonogram games/sokoban math/retry search/long tools/bank
        tools/home tools/office tools/shop web/forms
    """,
    "cheap_answers_earn_no_more_than_guessing": """
        games/2048 games/chess-puzzles games/connect-four games/nonogram games/sokoban
        math/arithmetic math/calculus math/counting math/equations math/geometry math/matrices
        math/python math/retry math/sequences math/systems math/word-problems search/long
        sql/explore sql/questions sql/repair sql/scale tools/call tools/office tools/shop web/forms
    """,
    "difficulties_are_in_order": """
        code/faster code/problems code/repair code/repo code/stdio code/tests games/2048
        games/blackjack games/chess-puzzles games/frozen-lake games/household games/keydoor
        games/liars-dice games/lights games/mastermind games/minesweeper games/nonogram
        games/sliding games/sokoban games/sudoku games/twenty-questions games/wordle games/zebra
        search/long search/lookup search/noise search/unanswerable sql/explore sql/scale
        tools/api-docs tools/bank tools/home tools/multi tools/office tools/shop web/forms
    """,
    "episodes_are_bounded": """
        games/chess-puzzles search/hops sql/scale
    """,
    "equal_keys_have_equal_futures": """
        code/problems code/repair code/stdio games/connect-four games/hangman games/household
        games/liars-dice games/lights games/nim games/nonogram games/sokoban games/twenty-questions
        math/retry sql/scale
    """,
    "gymnasium_s_checker_finds_nothing": """
        code/faster
    """,
    "it_is_pure": """
        code/repair code/repo games/2048 games/chess-puzzles games/frozen-lake games/household
        games/keydoor games/twenty-questions search/long tools/bank tools/office tools/shop
        web/forms
    """,
    "keys_have_no_history": """
        code/repair math/retry sql/scale tools/shop
    """,
    "operations_are_counted": """
        code/faster code/problems code/repair code/repo code/stdio code/tests games/2048
        games/blackjack games/chess-puzzles games/frozen-lake games/hangman games/keydoor
        games/liars-dice games/mastermind games/nonogram games/sliding games/sokoban
        games/twenty-questions games/wordle games/zebra math/countdown math/python sql/explore
        sql/scale tools/bank tools/home tools/office tools/shop web/forms
    """,
    "seeds_give_different_tasks": """
        code/repair code/repo games/chess-puzzles games/connect-four games/frozen-lake games/keydoor
        games/zebra sql/scale tools/shop
    """,
    "snapshots_continue_identically": """
        sql/scale
    """,
    "splits_share_no_content": """
        games/chess-puzzles games/connect-four games/frozen-lake games/keydoor
        games/twenty-questions games/zebra search/hops sql/scale tools/office tools/shop
    """,
    "success_falls_with_the_level": """
        code/faster code/predict code/repair code/repo code/stdio code/tests games/2048
        games/blackjack games/chess-puzzles games/frozen-lake games/hanoi games/household
        games/keydoor games/liars-dice games/lights games/mastermind games/minesweeper
        games/nonogram games/sliding games/sokoban games/sudoku games/twenty-questions
        games/wordle games/zebra math/arithmetic math/calculus math/counting math/equations
        math/fractions math/geometry math/matrices math/number-theory math/python math/retry
        math/sequences math/systems math/word-problems search/hops search/long search/lookup
        search/noise search/unanswerable sql/explore sql/scale sql/tables tools/api-docs
        tools/bank tools/call tools/home tools/multi tools/office tools/shop web/forms
    """,
    "the_answer_is_hidden": """
        code/repair code/repo games/2048 games/chess-puzzles games/connect-four games/household
        games/keydoor games/nonogram games/sliding games/sokoban games/twenty-questions search/long
        search/noise search/unanswerable sql/explore sql/questions sql/scale tools/api-docs
        tools/bank tools/call tools/home tools/office tools/shop web/forms
    """,
    "the_oracle_earns_full_marks": """
        code/faster code/problems code/repair code/repo code/tests code/verilog games/2048
        games/chess-puzzles games/connect-four games/frozen-lake games/keydoor games/sliding
        games/zebra search/hops search/long search/lookup search/noise sql/explore sql/questions
        sql/repair sql/scale tools/home web/forms
    """,
    "wording_leaves_the_split": """
        games/chess-puzzles search/hops sql/scale
    """,
    "tricks_earn_nothing": """
        code/faster code/functions code/problems code/repair games/2048 games/blackjack
        games/chess-puzzles games/connect-four games/frozen-lake games/hanoi games/household
        games/keydoor games/liars-dice games/minesweeper games/nim games/nonogram games/sliding
        games/sokoban games/sudoku games/twenty-questions math/arithmetic math/calculus
        math/counting math/equations math/fractions math/geometry math/matrices math/number-theory
        math/python math/retry math/sequences math/systems math/word-problems search/hops
        search/long search/lookup search/noise search/unanswerable tools/api-docs tools/bank
        tools/home tools/multi tools/office tools/shop web/forms
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
