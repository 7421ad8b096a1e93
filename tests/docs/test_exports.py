"""Snippets of docs/exports.md run as they stand, as far as they need no package of others."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
OTHERS = (
    "from inspect_ai",
    "import verifiers.v1",
    "import gem",
    "import skyrl_gym",
    "exports.nemo_gym",
    "exports.verl",
)


@pytest.mark.parametrize("block", [b for b in BLOCKS if not any(name in b for name in OTHERS)])
def test_a_snippet_runs(block):
    if "VerigymSpec" in block:
        pytest.importorskip("datasets")
    exec(compile(block, str(PAGE), "exec"), {})


def test_every_adapter_is_in_the_index():
    folder = PAGE.parents[1] / "trainers" / "exports"
    page = PAGE.read_text("utf-8")
    shared = {"__init__", "rows", "play", "tokens", "packages"}
    for file in folder.glob("*.py"):
        if file.stem not in shared:
            assert file.stem in page, f"{file.name} is not named in docs/exports.md"
