"""The published audit has the loopholes of raw reasoning-gym that were found by hand, and none of our environments."""

import json
from pathlib import Path

import verigym

FIGURES = Path(__file__).parents[2] / "docs" / "results" / "audit_tasks.json"
KNOWN = {
    "tampering": ("n_queens", "string_insertion", "spiral_matrix", "binary_matrix"),
    "empty": ("game_of_life_halting",),
    "constant": (
        *("coin_flip", "syllogism", "isomorphic_strings", "course_schedule"),
        *("ransom_note", "circuit_logic"),
    ),
}
RAISING = ("prime_factorization", "boxnet")


def test_the_known_loopholes_are_in_the_figures():
    sources = json.loads(FIGURES.read_text(encoding="utf-8"))["sources"]
    raw = {name.partition("raw:reasoning-gym/")[2]: one for name, one in sources.items()}
    for policy, names in KNOWN.items():
        for name in names:
            assert any(one.startswith(f"{policy}: ") for one in raw[name]["paid"]), name
    assert all(raw[name]["cheats_without_a_score"] for name in RAISING)
    assert raw["list_functions"]["unrepeatable"]


def test_nothing_of_ours_is_paid_and_every_environment_is_there():
    sources = json.loads(FIGURES.read_text(encoding="utf-8"))["sources"]
    ours = {name: one for name, one in sources.items() if not name.startswith("raw:")}
    assert all(one["hack_rate"] == 0 and "paid" not in one for one in ours.values())
    # Doors to libraries of others are audited by hand.
    families = {name.split("/")[1] for name in ours}
    assert {env for env in verigym.list_envs() if env.split("/")[1] in families} == set(ours)
