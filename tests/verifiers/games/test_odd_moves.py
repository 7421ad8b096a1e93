"""Odd submissions to every game: nothing paid, no fault, and no time lost."""

import json
import time
from pathlib import Path

import pytest

from verigym import make_verifier
from verigym.verifiers.audit.cases import general_task
from verigym.verifiers.games.rules import RULES

GOLDEN = Path(__file__).parents[2] / "golden" / "games_replay.jsonl"
REPLAY = make_verifier("games/replay")
LONG = "9" * 5000  # more digits than Python reads
ATOMS = [
    *(None, True, -1, 0, 1.5, 1e308, 10**30, "", "\0", "\u2460 \u2460", "\u00b2", "\u2460->3"),
    *("e2e4", "0-0", "O-O-O", "nan", "1e999", "0x1", "1_0", LONG, f"1 {LONG}", "-" + LONG, "1 2 3 4 5"),
    *("(1,2)", "[1, 2", "{}", "null", "ask:", "guess: \0", "go to", "\U0001f600", "\u0130", "a" * 50_000),
]  # fmt: skip
FLOODS = [
    *([], {}, {"a": 1}, "", "[" * 5000, "[1]" * 100_000, "(1" * 100_000, "1. " * 100_000, "-" * 200_000),
    *("\n" * 200_000, "->" * 100_000, "1,1;" * 9999, [[0, 0]] * 9999, ["up"] * 10_001, ["zz"] * 9999),
]  # fmt: skip


def references():
    """One reference of each game that can be used, by the game's name."""
    found = {}
    for line in GOLDEN.read_text("utf-8").splitlines():
        reference = json.loads(line)["answer"]
        if not isinstance(reference, dict) or reference.get("opponent") == "self":
            continue
        game = reference.get("game")
        if game not in found and not judge(reference, ["zzz"]).fault:
            found[game] = reference
    return found


def judge(reference, moves):
    return REPLAY.verify(general_task({"reference": reference}, "t"), moves)


REFERENCES = references()


def test_every_game_is_here():
    assert REFERENCES.keys() == set(RULES)


@pytest.mark.parametrize("game", sorted(REFERENCES))
def test_odd_moves_are_scored_and_unpaid(game):
    shapes = [lambda a: a, lambda a: [a], lambda a: [[a]], lambda a: [[[[a]]]], lambda a: [a, [a]],
              lambda a: [[a, 1]], lambda a: [[1, a]], lambda a: [[a, a, a]], lambda a: [{"a": a}],
              lambda a: f"<answer>{a}</answer>", lambda a: json.dumps([a])]  # fmt: skip
    for odd in [*(shape(atom) for atom in ATOMS for shape in shapes), *FLOODS]:
        began = time.process_time()
        verdict = judge(REFERENCES[game], odd)
        assert verdict.score == 0.0, (repr(odd)[:100], verdict)
        assert time.process_time() - began < 10
