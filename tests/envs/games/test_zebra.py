"""Zebra puzzles: one solution and no clue too many, by a search of another kind; how replies are read."""

import itertools

import pytest

import verigym
from verigym.envs.games.zebra import ROWS
from verigym.verifiers.games.zebra import KINDS

NAME = "games/zebra-v0"


def solutions(reference, clues, most=2):
    """Solutions, row by row over all orders of its words, as many as `most`."""
    found = []
    houses = range(1, len(reference["words"][0]) + 1)

    def go(row, house):
        if row == len(reference["words"]):
            found.append(dict(house))
            return
        for order in itertools.permutations(houses):
            more = house | dict(zip(reference["words"][row], order, strict=True))
            fits = all(
                KINDS[kind](more[a], b if isinstance(b, int) else more[b])
                for kind, a, b in clues
                if a in more and (isinstance(b, int) or b in more)
            )
            if fits:
                go(row + 1, more)
            if len(found) >= most:
                return

    go(0, {})
    return found


@pytest.mark.parametrize(
    ("difficulty", "seeds"),
    [("easy", 40), ("medium", 6), pytest.param("hard", 1, marks=pytest.mark.slow)],
)
def test_a_puzzle_has_one_solution_and_needs_each_of_its_clues(difficulty, seeds):
    env = verigym.make(NAME)
    for seed in range(seeds):
        reference = env.sample_task(seed, difficulty).reference
        clues = reference["clues"]
        assert solutions(reference, clues) == [reference["solution"]]
        for i in range(len(clues)):
            assert len(solutions(reference, clues[:i] + clues[i + 1 :])) == 2, (seed, clues[i])


def test_every_kind_of_clue_is_met_and_said_as_it_is_meant():
    env = verigym.make(NAME)
    kinds = set()
    for seed in range(60):
        task = env.sample_task(seed, ("easy", "medium", "hard")[seed % 3])
        said = [line for line in task.prompt.splitlines() if line.partition(". ")[0].isdigit()]
        clues = task.reference["clues"]
        assert len(said) == len(clues)
        for line, (kind, a, b) in zip(said, clues, strict=True):
            kinds.add(kind)
            line = line.lower()
            assert line.index(a) < line.index(str(b), line.index(". ")) or kind == "at"
            marks = {
                "at": f"lives in house {b}.",
                "not at": f"does not live in house {b}.",
                "same": " lives in the same house as ",
                "apart": " does not live in the same house as ",
                "next": " lives directly to the left of ",
                "beside": " lives next door to ",
                "left": " lives somewhere to the left of ",
            }
            assert marks[kind] in line
    assert kinds == set(KINDS)


def test_no_word_stands_in_two_rows():
    words = [word.lower() for _, row in ROWS.values() for word in row]
    assert len(set(words)) == len(words)
    assert all(word.isascii() and word.isalpha() for word in words)


def first(difficulty="easy", seed=4):
    env = verigym.make(NAME, difficulty=difficulty)
    env.reset(seed=seed)
    return env, env.task.reference["solution"]


@pytest.mark.parametrize(
    "write",
    [
        lambda word, house: f"{word.capitalize()} {house}",
        lambda word, house: f"- {word}: {house}",
        lambda word, house: f"{word} = house {house}",
    ],
)
@pytest.mark.parametrize("gap", ["\n", ", ", "; "])
def test_forms_of_a_right_reply(write, gap):
    env, solution = first()
    lines = gap.join(write(word, house) for word, house in reversed(solution.items()))
    verdict = env.verifier.verify(env.task, f"So it is.\n<answer>{lines}</answer>")
    assert (verdict.score, verdict.parts["progress"]) == (1.0, 1.0)


def test_a_reply_with_two_words_swapped_earns_a_part_and_no_score():
    env, solution = first("medium")
    row = env.task.reference["words"][0]
    other = solution | {row[0]: solution[row[1]], row[1]: solution[row[0]]}
    verdict = env.verifier.verify(env.task, [f"{word} {house}" for word, house in other.items()])
    assert verdict.score == 0.0
    assert verdict.reason == "goal_not_reached"
    assert verdict.parts["progress"] == 14 / 16


def test_hedged_and_half_replies_are_not_paid():
    env, solution = first()
    lines = [f"{word} {house}" for word, house in solution.items()]
    every = [f"{word} {house}" for word in solution for house in (1, 2, 3)]
    for moves in (lines[:-1], [*lines, lines[0]], every, lines[:-1] + lines[:1]):
        assert env.verifier.verify(env.task, moves).score == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"clues": [["same", "a", "b"]]},
        {"clues": [["at", "a", 3]]},
        {"clues": [["above", "a", "b"]]},
        {"words": [["a", "a"]]},
        {"words": [["a", "b"], ["c"]]},
        {"solution": {"a": 1, "b": 1}},
        {"solution": {"a": 1}},
        {"clues": [["left", "b", "a"]]},
    ],
)
def test_a_puzzle_that_makes_no_sense_is_the_author_s_fault(change):
    reference = {
        "game": "zebra",
        "words": [["a", "b"]],
        "clues": [["left", "a", "b"]],
        "solution": {"a": 1, "b": 2},
    }
    env, _ = first()
    fields = {"id": "x", "env_id": "x", "seed": 0, "prompt": "", "difficulty": "easy"}
    task = verigym.Task(**fields, reference=reference)
    assert env.verifier.verify(task, ["a 1", "b 2"]).score == 1.0
    verdict = env.verifier.verify(verigym.Task(**fields, reference=reference | change), ["a 1"])
    assert (verdict.score, verdict.reason) == (None, "bad_task")
