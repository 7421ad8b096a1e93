"""Cards: written, read, and stale ones shown to nobody."""

import json

import pytest

from verigym import make_verifier, scored
from verigym.builtin import read_tables
from verigym.verifiers.audit import card as cards
from verigym.verifiers.audit.cases import Case, general_task
from verigym.verifiers.audit.measure import CaseOutcome, summarise


def report():
    task = general_task({"reference": 1}, "t")
    outcomes = [
        CaseOutcome(
            case=Case(name="c", task=task, submission=1, label=label, category="a|b"),
            verdict=scored(score, "judged"),
            seconds=0.002,
        )
        for label, score in ((1, 1.0), (0, 0.0), (0, 1.0))
    ]
    return summarise(outcomes)


def test_a_card_in_both_forms(tmp_path):
    described = make_verifier("math/countdown").describe()
    hacks = {"total": 3, "paid": ["h1"], "controls_failed": [], "hack_errors": []}
    card = cards.make_card(described, {"Seeds": report(), "Hacks": hacks})
    written = cards.write_card(tmp_path / "deep" / "countdown.md", card)
    assert [path.name for path in written] == ["countdown.json", "countdown.md"]
    assert json.loads(written[0].read_text()) == card
    text = written[1].read_text()
    assert text.startswith("# math/countdown@2\n")
    assert "| **all** | 3 | 0.0 % (0.0 to 79.3) | 50.0 % (9.5 to 90.5) | 0 |" in text
    assert "paid: h1" in text


def test_a_card_of_another_version_is_not_shown(tmp_path, monkeypatch):
    path = tmp_path / "countdown.json"
    monkeypatch.setattr(cards, "beside", lambda verifier, folder, suffix: path)
    assert cards.read_card("math/countdown", 1) is None
    path.write_text('{"version": 1}')
    assert cards.read_card("math/countdown", 1) == {"version": 1}
    assert cards.read_card("math/countdown", 2) is None
    path.write_text("{")
    assert cards.read_card("math/countdown", 1) is None


@pytest.mark.parametrize("name", sorted(read_tables("verifiers")))
def test_shipped_cards_are_of_the_version_that_ships(name):
    path = cards.beside(name, "cards", "json")
    if path is None or not path.exists():
        pytest.skip("no card yet")
    verifier = make_verifier(name)
    card = json.loads(path.read_text())
    assert (card["verifier"], card["version"]) == (name, verifier.version), (
        f"write it again: verigym audit {name} --card {path.with_suffix('')}"
    )
    assert path.with_suffix(".md").read_text() == cards.markdown(card)
