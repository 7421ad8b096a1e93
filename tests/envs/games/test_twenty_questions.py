"""Twenty questions: the table tells all things apart, and the budget is enough for every secret."""

import random
from dataclasses import replace

import pytest

import verigym
from verigym.envs.games.things import best_split, most_questions, table
from verigym.verifiers.games.rules import RULES

NAME = "games/twenty-questions-v0"


def test_the_table_is_large_and_no_two_things_are_alike():
    known = table()
    facts = {tuple(known.facts(i)) for i in range(len(known.names))}
    assert len(known.names) == len(facts) >= 200
    assert len(known.holders) >= 30
    assert all(0 < holders.bit_count() < len(known.names) for holders in known.holders.values())
    # Commas and semicolons part the moves of a reply, and capitals are not read.
    texts = (*known.names, *known.holders)
    assert len({text.lower() for text in texts}) == len(texts)
    assert not set("".join(texts)) & set(",;:")


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_the_oracle_finds_every_thing_within_the_turns(difficulty):
    env = verigym.make(NAME)
    env.reset(seed=3, options={"difficulty": difficulty})
    task = env.task
    known = table()
    longest = 0
    for secret in task.reference["things"]:
        held = known.facts(known.names.index(secret))
        facts = [fact for fact in task.reference["asks"] if fact in held]
        reference = task.reference | {"secret": secret, "facts": facts}
        env.reset(options={"task": replace(task, reference=reference)})
        turns, over = 0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.oracle())
            over = terminated or truncated
            turns += 1
        assert reward == 1.0, secret
        longest = max(longest, turns)
    slack = {"easy": 4, "hard": 0}[difficulty]
    assert longest == task.reference["turns"] - slack


def test_the_oracle_does_not_look_at_the_secret():
    """Two secrets with the same answers so far get the same question."""
    env = verigym.make(NAME)
    met = {}
    for secret in (0, 5, 11, 17):
        env.reset(seed=9)
        things = env.task.reference["things"]
        name = things[secret]
        held = table().facts(table().names.index(name))
        facts = [fact for fact in env.task.reference["asks"] if fact in held]
        reference = env.task.reference | {"secret": name, "facts": facts}
        env.reset(options={"task": replace(env.task, reference=reference)})
        over = False
        while not over:
            seen, action = env.view(), env.oracle()
            assert met.setdefault(seen, action) == action
            over = any(env.step(action)[2:4])


def brute_depth(among, facts):
    """The depth of the tree of best splits, on sets of names, by another route."""
    if len(among) <= 1:
        return 0
    halves = [(f, [t for t in among if t in f], [t for t in among if t not in f]) for f in facts]
    _, yes, no = min(halves, key=lambda one: max(len(one[1]), len(one[2])))
    return 1 + max(brute_depth(yes, facts), brute_depth(no, facts))


def test_the_depth_of_the_tree_agrees_with_sets():
    known = table()
    rng = random.Random(4)
    for _ in range(20):
        chosen = rng.sample(range(len(known.names)), 12)
        among = sum(1 << i for i in chosen)
        facts = list(known.holders.items())
        sets = [{i for i in chosen if holders >> i & 1} for _, holders in facts]
        assert most_questions(among, facts) == brute_depth(chosen, sets)
        assert best_split(1 << chosen[0], facts) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ask: can fly", ("ask", "can fly")),
        ("Ask:  Can Fly?", ("ask", "can fly")),
        ("guess: the dog.", ("guess", "dog")),
        ("GUESS: an apple", ("guess", "apple")),
        ("can fly", None),
        ("ask: can fly\nguess: dog", None),
        ("guess: dog, cat", None),
        ("ask:", None),
        (7, None),
    ],
)
def test_how_a_move_is_read(written, read):
    assert RULES["twenty-questions"].read(written) == read


def test_guessing_on_and_on_is_not_paid():
    env = verigym.make(NAME)
    env.reset(seed=2)
    things = env.task.reference["things"]
    guesses = [f"guess: {thing}" for thing in things]
    assert env.verifier.verify(env.task, guesses).score == 0.0
    wrong = next(g for g in guesses if not g.endswith(env.task.reference["secret"]))
    _, reward, terminated, _, info = env.step(wrong)
    assert (reward, terminated, info["valid_action"]) == (0.0, True, True)
