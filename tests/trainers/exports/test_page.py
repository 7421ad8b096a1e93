"""Snippets of docs/exports.md that need a package of others run in its virtual environment."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "exports.md").read_text("utf-8")
PEERS = {"Prime": "prime", "SkyRL": "gyms", "GEM": "gyms", "NeMo Gym": "nemo", "verl": "verl"}


@pytest.mark.slow
@pytest.mark.parametrize(("section", "name"), PEERS.items())
def test_a_snippet_runs_with_its_package(peer, section, name):
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    snippets = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert snippets
    for snippet in snippets:
        assert peer(name, "run_snippet.py", given=snippet) == "ran"
