"""Twenty questions with several hidden things: the questions against plain sets, the rules, and what the oracle sees."""

import itertools
import random
from dataclasses import replace

import pytest

import verigym
from verigym.envs.games import several_things
from verigym.envs.games.kinds_of_things import part_sizes
from verigym.envs.games.several_things import (
    count_splitting,
    list_by_halves,
    next_question,
    questions_needed,
)
from verigym.errors import TaskError
from verigym.verifiers.games.rules import RULES

NAME = "games/twenty-questions"
REFERENCE = {
    "secret": ["owl", "bat"],
    "things": ["bat", "owl", "pig", "ant"],
    "asks": ["can fly", "is a bird", "is big"],
    "facts": {"can fly": 2, "is a bird": 1},
    "max_moves": 4,
}


def brute_question(count, hidden, facts, answers, base):
    """The same by sets of sets, and all choices."""
    sets = [{thing for thing in range(count) if held >> thing & 1} for held in facts]
    left = [
        choice
        for choice in itertools.combinations(range(count), hidden)
        if all(len(sets[fact] & set(choice)) % base == answer for fact, answer in answers)
    ]
    if len(left) == 1:
        return left[0]
    worst = [
        max(sum(len(held & set(choice)) % base == n for choice in left) for n in range(base))
        for held in sets
    ]
    return worst.index(min(worst)) if min(worst) < len(left) else None


@pytest.mark.parametrize(("hidden", "base"), [(2, 3), (3, 4), (2, 2), (3, 2)])
def test_the_next_question_agrees_with_sets(hidden, base):
    rng, ends = random.Random(hidden), set()
    for _ in range(25):
        count = rng.randint(hidden + 2, 9)
        facts = tuple(rng.randrange(1, 1 << count) for _ in range(7))
        secret = tuple(sorted(rng.sample(range(count), hidden)))
        answers = ()
        while True:
            move = next_question(count, hidden, facts, answers, base)
            assert move == brute_question(count, hidden, facts, answers, base)
            if not isinstance(move, int):
                break
            told = sum(facts[move] >> thing & 1 for thing in secret) % base
            answers += ((move, told),)
        assert move in (None, secret)
        ends.add(move is None)
        needed = questions_needed(secret, count, facts, base)
        assert needed == (None if move is None else len(answers))
    assert ends == {True, False}


def test_work_falls_as_choices_are_ruled_out():
    facts = (0b000111, 0b011001, 0b101010)
    first = count_splitting(6, 2, facts, (), 3)
    assert first == 6 * 3
    asked = count_splitting(6, 2, facts, ((0, 2),), 3)
    assert asked == 15 + 3 * 3  # all pairs are looked at; three fit, for three facts
    assert count_splitting(6, 2, facts, ((0, 2), (1, 0)), 3) < asked


@pytest.mark.parametrize(("hidden", "base"), [(2, 3), (4, 3), (4, 2), (3, 4)])
def test_the_sizes_of_parts_agree_with_listing_the_choices(hidden, base):
    rng = random.Random(hidden * base)
    for asked in (0, 1, 2, 3, 1, 2, 3):
        count = rng.randint(hidden + 1, 10)
        facts = tuple(rng.randrange(1, 1 << count) for _ in range(6))
        secret = rng.sample(range(count), hidden)
        answers = tuple(
            (fact, sum(facts[fact] >> thing & 1 for thing in secret) % base)
            for fact in rng.sample(range(6), asked)
        )
        left = [
            choice
            for choice in itertools.combinations(range(count), hidden)
            if all(sum(facts[f] >> i & 1 for i in choice) % base == n for f, n in answers)
        ]
        wanted = [
            [
                sum(sum(held >> i & 1 for i in choice) % base == n for choice in left)
                for n in range(base)
            ]
            for held in facts
        ]
        sizes, operations = part_sizes(count, hidden, facts, answers, base)
        assert sizes == wanted
        assert operations > len(facts)


@pytest.mark.parametrize(("hidden", "base"), [(2, 2), (3, 4), (4, 3), (4, 2)])
def test_long_lists_are_shortened_without_a_change(hidden, base, monkeypatch):
    rng = random.Random(base)
    count, facts = 9, tuple(rng.randrange(1, 1 << 9) for _ in range(12))
    secret = tuple(sorted(rng.sample(range(count), hidden)))
    answers = ()
    while True:
        listed = next_question(count, hidden, facts, answers, base)
        left = [
            sum(1 << thing for thing in choice)
            for choice in itertools.combinations(range(count), hidden)
            if all(sum(facts[f] >> i & 1 for i in choice) % base == n for f, n in answers)
        ]
        halves, looks = list_by_halves(count, hidden, facts, answers, base)
        assert sorted(halves) == sorted(left)
        with monkeypatch.context() as patch:
            patch.setattr(several_things, "_LISTED", 10)
            next_question.cache_clear()
            assert next_question(count, hidden, facts, answers, base) == listed
            operations = count_splitting(count, hidden, facts, answers, base)
            if len(answers) > 3:
                assert operations == looks + (len(left) > 1) * len(left) * len(facts)
            elif answers:
                assert operations == part_sizes(count, hidden, facts, answers, base)[1]
        next_question.cache_clear()
        if not isinstance(listed, int):
            break
        told = sum(facts[listed] >> thing & 1 for thing in secret) % base
        answers += ((listed, told),)
    assert listed == secret
    assert len(answers) > 3


@pytest.mark.parametrize("level", [8, 9, 10])
def test_the_oracle_finds_all_within_the_turns_and_knows_the_answers_alone(level):
    env, met = verigym.make(NAME, difficulty=level), {}
    prompt, _ = env.reset(seed=level)
    task = env.task
    # What the prompt says of the facts is what the answers are counted by.
    held = dict(line[2:].split(": ") for line in prompt.splitlines() if line.startswith("- "))
    secret = set(task.reference["secret"])
    base = {8: len(secret) + 1, 9: 3, 10: 2}[level]
    counts = {ask: len(secret & set(things.split(", "))) % base for ask, things in held.items()}
    assert list(held) == task.reference["asks"]
    assert task.reference["facts"] == {ask: count for ask, count in counts.items() if count}
    fitting = [
        set(choice)
        for choice in itertools.combinations(task.reference["things"], len(secret))
        if all(
            len(set(choice) & set(held[ask].split(", "))) % base == n for ask, n in counts.items()
        )
    ]
    assert fitting == [secret]
    over, turns = False, 0
    while not over:
        met[env.view()] = env.oracle()
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        over, turns = terminated or truncated, turns + 1
    assert reward == 1.0
    assert f"{turns - 1} questions are enough" in prompt
    assert turns == task.reference["turns"] - {8: 2, 9: 1, 10: 0}[level]
    # Another secret with the same answers so far gets the same question.
    other = sorted(set(task.reference["things"]) - secret)[: len(secret)]
    facts = {ask: len(set(other) & set(things.split(", "))) % base for ask, things in held.items()}
    facts = {ask: count for ask, count in facts.items() if count}
    env.reset(
        options={
            "task": replace(task, reference={**task.reference, "secret": other, "facts": facts})
        }
    )
    while (seen := env.view()) in met:
        assert env.oracle() == met[seen]
        env.step(met[seen])


def test_all_hidden_things_are_guessed_at_once_in_any_order():
    rules = RULES["twenty-questions"]
    start = rules.start(REFERENCE)
    for text, won in [
        ("guess: bat and owl", True),
        ("guess: the owl and the bat.", True),
        ("guess: owl and ant", False),
    ]:
        move = rules.read(text)
        assert rules.legal(start, move)
        after = rules.apply(start, move)
        assert (rules.won(after), rules.lost(after)) == (won, not won)
    for text in (
        "guess: owl",
        "guess: owl and owl",
        "guess: owl and bat and pig",
        "guess: owl and cow",
    ):
        assert not rules.legal(start, rules.read(text))


def test_the_answers_are_numbers():
    env = verigym.make(NAME, difficulty=8)
    env.reset(seed=1)
    ask = next(ask for ask in env.task.reference["asks"] if ask in env.task.reference["facts"])
    none = next(ask for ask in env.task.reference["asks"] if ask not in env.task.reference["facts"])
    env.step(f"ask: {ask}")
    seen, *_ = env.step(f"ask: {none}")
    assert set(seen.splitlines()) == {f"{ask}: {env.task.reference['facts'][ask]}", f"{none}: 0"}


def test_odd_and_even_are_all_that_is_told_at_the_top():
    env = verigym.make(NAME, difficulty=10)
    prompt, _ = env.reset(seed=1)
    assert "odd or even" in prompt
    odd = next(ask for ask in env.task.reference["asks"] if ask in env.task.reference["facts"])
    even = next(ask for ask in env.task.reference["asks"] if ask not in env.task.reference["facts"])
    env.step(f"ask: {odd}")
    seen, *_ = env.step(f"ask: {even}")
    assert set(seen.splitlines()) == {f"{odd}: odd", f"{even}: even"}


def test_remainders_of_three_are_told_below_it():
    env = verigym.make(NAME, difficulty=9)
    prompt, _ = env.reset(seed=1)
    assert "1 means one or all four" in prompt
    facts = env.task.reference["facts"]
    seen = ""
    for ask in (asks := env.task.reference["asks"][:8]):
        seen, *_ = env.step(f"ask: {ask}")
    assert set(seen.splitlines()) == {f"{ask}: {facts.get(ask, 0)}" for ask in asks}


@pytest.mark.parametrize(
    "change",
    [
        {"secret": ["owl"]},
        {"secret": ["owl", "cow"]},
        {"facts": ["can fly"]},
        {"facts": {"is red": 1}},
        {"facts": {"can fly": 3}},
        {"facts": {"can fly": True}},
        {"answers": "parity"},
        {"answers": "modulo 3", "facts": {"can fly": 3}},
        {"answers": "none"},
        {"answers": ["parity"]},
        {"things": ["bat", "owl", "pig and ant"]},
    ],
)
def test_other_references_are_refused(change):
    with pytest.raises(TaskError):
        RULES["twenty-questions"].start(REFERENCE | change)
