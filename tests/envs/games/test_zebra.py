"""Zebra puzzles: one solution and no clue too many, by a search of another kind; how replies are read."""

import itertools
import random

import pytest

import verigym
from verigym.envs.games import zebra
from verigym.envs.games.group_clues import GroupClue
from verigym.envs.games.zebra import ROWS
from verigym.verifiers.games.zebra import GROUPS, KINDS

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
            if all(holds(clue, more) for clue in clues):
                go(row + 1, more)
            if len(found) >= most:
                return

    go(0, {})
    return found


def holds(clue, house):
    """True if the clue holds, or speaks of words without a house."""
    kind, a, b = clue
    if isinstance(a, str):
        if a not in house or (isinstance(b, str) and b not in house):
            return True
        return KINDS[kind](house[a], b if isinstance(b, int) else house[b])
    if not set(a) <= house.keys():
        return True
    h = [house[word] for word in a]
    if kind == "count":
        return len([one for one in h if one in range(b[1], b[2] + 1)]) == b[0]
    return {
        "far": lambda: not -b[0] < h[0] - h[1] < b[0],
        "gap": lambda: h[0] - h[1] in (-b[0], b[0]),
        "either": lambda: [h[0] == b[0], h[1] == b[1]].count(True) == 1,
        "less": lambda: sum(h[:2]) < sum(h[2:]),
        "equal": lambda: sum(h[:2]) == sum(h[2:]),
        "if": lambda: h[2] < h[3] if h[0] < h[1] else True,
    }[kind]()


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


def test_a_puzzle_with_long_clues_has_one_solution(monkeypatch):
    monkeypatch.setitem(zebra.SIZES, 7, (4, 4, 0.1))
    monkeypatch.setitem(zebra.LONG, 7, (10, 5, 5))
    env, kinds = verigym.make(NAME), set()
    for seed in range(12):
        reference = env.sample_task(seed, 7).reference
        assert solutions(reference, reference["clues"]) == [reference["solution"]]
        kinds |= {clue[0] for clue in reference["clues"]}
    assert kinds > set(GROUPS)


def test_long_clues_are_said_as_they_are_meant():
    env, kinds = verigym.make(NAME), set()
    for seed in range(4):
        task = env.sample_task(seed, 8)
        said = [line for line in task.prompt.splitlines() if line.partition(". ")[0].isdigit()]
        for line, (kind, a, b) in zip(said, task.reference["clues"], strict=True):
            if isinstance(a, str):
                continue
            kinds.add(kind)
            assert holds((kind, a, b), task.reference["solution"])
            first = b[0] if b else ""
            marks = {
                "far": f" differ by at least {first}.",
                "gap": f" differ by exactly {first}.",
                "either": f" lives in house {b and b[-1]}, but not both.",
                "less": " add up to less than those of ",
                "equal": " add up to the same as those of ",
                "if": ", then ",
                "count": f" the houses {b[1]} to {b[2]}" if kind == "count" else "",
            }
            assert marks[kind] in line
            places = [line.lower().index(word) for word in a]
            assert places == sorted(places)
    assert kinds >= set(GROUPS) - {"equal"}


@pytest.mark.parametrize("kind", ["count", "less", "equal", "if"])
@pytest.mark.parametrize("is_true", [True, False])
def test_narrowing_leaves_out_no_solution(kind, is_true):
    dice = random.Random(kind)
    for _ in range(300):
        known = [dice.randrange(1, 32) for _ in range(4)]
        numbers = (dice.randrange(5), 2, dice.randrange(2, 6)) if kind == "count" else ()
        clue = GroupClue(kind, (0, 1, 2, 3), numbers, is_true)
        sets = [[house for house in range(5) if one >> house & 1] for one in known]
        good = []
        for houses in itertools.product(*sets):
            house = dict(zip("abcd", [place + 1 for place in houses], strict=True))
            if holds((kind, list("abcd"), numbers), house) == is_true:
                good.append(houses)
        left = list(known)
        found = clue.narrow(left) and all(left)
        assert found or not good
        for houses in good:
            assert all(one >> house & 1 for one, house in zip(left, houses, strict=True))
        if all(len(one) == 1 for one in sets):
            assert found == bool(good)


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
        {"clues": [["far", ["a"], [1]]]},
        {"clues": [["far", ["a", "b"], []]]},
        {"clues": [["far", ["a", "b"], [3]]]},
        {"clues": [["gap", ["b", "a"], [2]]]},
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


def test_a_word_without_a_house_ends_a_trial_and_not_the_drawing():
    env = verigym.make("games/zebra", difficulty=10, split="validation")
    env.reset(
        seed=0
    )  # a clue on sums met a word that had no house left: a shift by a negative count
    assert env.step(env.oracle())[1] == 1.0
