"""Nim by steps: the solver against all play on plain tuples, the opponent, starts and their rules."""

import random
from functools import cache

import pytest

import verigym
from verigym.envs.games.step_starts import count_steps, narrow_turns, say_steps
from verigym.errors import TaskError
from verigym.verifiers.games.heap_steps import hardest_steps, winning_steps
from verigym.verifiers.games.rules import RULES


def after(heaps, step):
    left = tuple(n - many for n, many in zip(heaps, step, strict=True))
    return left if min(left) >= 0 else None


def games(count):
    rng = random.Random(5)
    for _ in range(count):
        size = rng.choice([2, 3])
        steps = {tuple(rng.randrange(4) for _ in range(size)) for _ in range(5)}
        steps = tuple(sorted(step for step in steps if any(step)))
        yield tuple(rng.randrange(9) for _ in range(size)), steps, rng.random() < 0.5


def test_winning_steps_agree_with_all_play():
    outcomes = set()
    for heaps, steps, misere in games(80):

        @cache
        def wins(here, steps=steps, misere=misere):
            options = [one for step in steps if (one := after(here, step))]
            return any(not wins(one) for one in options) if options else misere

        wanted = [
            number
            for number, step in enumerate(steps)
            if (one := after(heaps, step)) and not wins(one)
        ]
        assert winning_steps(heaps, steps, misere) == wanted
        if any(after(heaps, step) for step in steps):
            outcomes.add((misere, bool(wanted)))

            def answers(number, heaps=heaps, steps=steps, wins=wins):
                """The number of winning answers to a step."""
                here = after(heaps, steps[number])
                options = [one for step in steps if (one := after(here, step))]
                return sum(not wins(one) for one in options)

            legal = [number for number, step in enumerate(steps) if after(heaps, step)]
            fewest = min(map(answers, legal))
            held = [number for number in legal if answers(number) == fewest]
            assert hardest_steps(heaps, steps, misere) == (wanted or held)
        assert count_steps(heaps, steps, misere) >= len(steps) - 1
    assert outcomes == {(a, b) for a in (True, False) for b in (True, False)}


@pytest.mark.parametrize("misere", [False, True])
def test_whoever_cannot_move_loses_or_wins(misere):
    nim = RULES["nim"]
    reference = {"heaps": [3, 2], "steps": [[2, 1], [1, 1]], "misere": misere, "seed": 1}
    state = nim.start({**reference, "opponent": "perfect"})
    assert nim.read("2") == nim.read(2) == nim.read([2]) == (1, 0)
    assert not nim.legal(state, nim.read("3"))
    assert not nim.legal(state, nim.read("1 1"))
    # Two moves at most: if the first leaves [1, 1], the opponent makes the last one.
    last = nim.apply(state, (0, 0))
    assert last.board == (0, 0)
    assert (nim.won(last), nim.lost(last)) == (misere, not misere)
    assert not nim.legal(last, (1, 0))


@pytest.mark.parametrize("level", [8, 9, 10])
def test_one_step_wins_from_the_start_and_another_does_not(level):
    env = verigym.make("games/nim", difficulty=level)
    prompt, _ = env.reset(seed=level)
    board = env.state.board
    winning = winning_steps(board.board, board.steps, board.misere)
    assert len(winning) == 1
    assert say_steps(board.steps) in prompt
    assert f"cannot move {'wins' if board.misere else 'loses'}" in prompt
    assert narrow_turns(board.board, board.steps, board.misere) >= 2
    other = next(m for m in env.legal_actions(env.state) if int(m) - 1 not in winning)
    snapshot = env.snapshot()
    for first, wanted in ((env.oracle(), 1.0), (other, 0.0)):
        env.restore(snapshot)
        _, reward, over, _, _ = env.step(first)
        while not over:
            state = env.state.board
            best = winning_steps(state.board, state.steps, state.misere)
            assert bool(best) == (wanted == 1.0)  # an opponent that never errs gives nothing back
            move = env.legal_actions(env.state)[0] if not best else str(best[0] + 1)
            _, reward, over, _, _ = env.step(move)
        assert reward == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"steps": []},
        {"steps": [[0, 0]]},
        {"steps": [[1]]},
        {"steps": [[1, -1]]},
        {"steps": [[9, 9]]},
        {"steps": [[1, 1000]]},
        {"steps": "1 1"},
        {"misere": 1},
        {"takes": [[1], [1]]},
        {"heaps": [400, 400]},
    ],
)
def test_other_references_are_refused(change):
    reference = {"heaps": [3, 2], "steps": [[1, 1]], "opponent": "perfect", "seed": 1}
    assert RULES["nim"].start(reference).steps == ((1, 1),)
    with pytest.raises(TaskError, match="nim"):
        RULES["nim"].start(reference | change)
