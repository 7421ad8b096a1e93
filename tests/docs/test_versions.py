"""The page docs/versions.md has the versions of the code, and the changelog says why they rose."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("versions", FOLDER / "versions.py")
versions = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(versions)

# They got these versions with the rule by which all verifiers read replies, which the changelog has once for all.
BY_A_RULE_FOR_ALL = {
    "code/cost": 3,
    "code/value": 3,
    "code/verilog": 2,
    "doors/reasoning-gym": 2,
    "math/attempts": 3,
    "math/countdown": 2,
}


def test_the_table_has_the_versions_of_the_code():
    page = versions.PAGE.read_text(encoding="utf-8")
    assert versions.insert(page, versions.draw()) == page, (
        "the table in docs/versions.md is stale; run: python -P docs/versions.py"
    )


def test_the_changelog_names_no_version_that_does_not_exist():
    now = versions.read_versions()
    for change in versions.read_changes():
        for name, number in change.versions.items():
            if number is not None:
                assert 1 < number <= now[name], f"`{name}` has version {now[name]}: {change.text}"


def test_the_changelog_names_every_verifier_with_a_new_version():
    named = {name for change in versions.read_changes() for name in change.versions}
    risen = {name: version for name, version in versions.read_versions().items() if version > 1}
    silent = [n for n, v in risen.items() if n not in named and BY_A_RULE_FOR_ALL.get(n) != v]
    assert not silent, f"CHANGELOG.md says nothing of these under {versions.HEADING!r}"


def test_changes_are_listed_under_each_name_and_links_lead_from_the_page():
    lines = list(versions.list_changes())
    under = lines[lines.index("#### `code/function`") :]
    assert under[2].startswith("- `code/stdio` 2")
    assert under[2] in lines[lines.index("#### `code/stdio`") :]
    assert not any("](docs/" in line for line in lines)
