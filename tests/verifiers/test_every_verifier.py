"""Contract of every registered verifier: a described schema, evidence, seeds and a card."""

import pytest

from verigym import make_verifier
from verigym.builtin import read_tables
from verigym.verifiers.audit.card import read_card
from verigym.verifiers.audit.cases import seed_params, seeds_of

NAMES = sorted(read_tables("verifiers"))


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_takes_and_what_counts(name):
    told = make_verifier(name).describe()
    assert told["about"].endswith(".")
    assert told["evidence"].endswith(".")
    assert told["schema"]["type"] == "object"
    properties = told["schema"]["properties"]
    assert properties.keys() == told["params"].keys()
    for field, schema in properties.items():
        assert schema.get("description", "").endswith("."), field
        assert {"type", "enum"} & schema.keys(), field
        assert "default" in schema, field


@pytest.mark.parametrize("name", NAMES)
def test_it_ships_seeds_and_a_card_of_its_version(name):
    seeds = seeds_of(name)
    assert {case.label for case in seeds} == {0, 1}
    card = read_card(name, make_verifier(name).version)
    assert card is not None, f"no card of this version: verigym audit {name} --card PATH"
    assert card["verifier"] == name
    (report,) = [one for title, one in card["reports"].items() if title.startswith("Seeds")]
    assert report["n"] >= len(seeds)
    assert report["errors"] == 0
    # The seeds' own parameters, and perhaps an address.
    assert seed_params(name).keys() <= card["params"].keys()


ODD = [
    "",
    None,
    True,
    7,
    float("nan"),
    "\ud800",
    "\0",
    [],
    {},
    [[[]]],
    {"a": {"b": []}},
    "(" * 10**5,
]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "text/length"])
def test_odd_submissions_are_not_paid_and_no_fault(name):
    verifier = make_verifier(name, **seed_params(name))
    # Of text/constraints the first task asks for words, which noise lacks.
    task = next(case.task for case in seeds_of(name) if case.label)
    for odd in ODD:
        verdict = verifier.verify(task, odd)
        assert verdict.score is not None, (odd, verdict)
        assert verdict.score <= seed_params(name).get("low", 0.0), (odd, verdict)
