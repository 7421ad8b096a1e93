"""`verigym check` finds what is wrong: a package with environments that break one law each.

The package is installed as pip would leave it, in a folder on the path, and checked by the command
line in a process of its own.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app

SOURCE = Path(__file__).parents[2] / "data" / "broken_envs" / "broken_envs.py"

# What each breaks; it may break other laws with it.
EXPECTED = {
    "Sound": set(),
    "PaysEmpty": {"tricks_earn_nothing"},
    "IgnoresSeed": {"a_seed_decides_the_task", "another_process_plays_the_same"},
    "FewTasks": {"seeds_give_different_tasks"},
    "OverlappingSplits": {"splits_share_no_content"},
    "TellsAnswer": {"the_answer_is_hidden"},
    "WeakOracle": {"the_oracle_earns_full_marks"},
    "SameDifficulty": {"difficulties_are_in_order"},
    "LuckyGuess": {"chance_earns_next_to_nothing"},
    "ForgetfulKey": {"equal_keys_have_equal_futures"},
    "GlobalRandom": {"it_is_pure"},
    "Clock": {"it_is_pure"},
    "Prints": {"it_is_pure"},
    "HashOrder": {"another_process_plays_the_same"},
    "LongObservation": {"episodes_are_bounded"},
    "Mutable": {"snapshots_continue_identically"},
    "InvalidLegal": {"legal_actions_are_valid"},
    "TwoDifficulties": {"at_least_three_difficulties"},
    "Crashes": {"episodes_are_bounded"},
    "Endless": {"episodes_are_bounded"},
    "Sums": set(),
    "SplitsByWords": {"wording_leaves_the_split"},
    "SplitsByPrompt": {"wording_leaves_the_split"},
    "PaysRestating": {"cheap_answers_earn_no_more_than_guessing"},
    "PaysEcho": {"cheap_answers_earn_no_more_than_guessing"},
    "PaysConstant": {"cheap_answers_earn_no_more_than_guessing"},
    "PaysWrapped": {"cheap_answers_earn_no_more_than_guessing"},
    "MostlyYes": {"cheap_answers_earn_no_more_than_guessing"},
    "YesOrNo": set(),
}


def ids():
    tree = ast.parse(SOURCE.read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.Assign) and line.targets[0].id == "id":
                    yield node.name, ast.literal_eval(line.value)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment variables under which the package is installed."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "broken_envs.py").write_text(SOURCE.read_text())
    info = folder / "broken_envs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-envs\nVersion: 1.0\n")
    lines = ["[verigym.verifiers]", "broken/code = broken_envs:CodeVerifier", "[verigym.envs]"]
    for name, env_id in ids():
        if env_id.startswith("verigym/"):
            lines.append(f"{env_id.removeprefix('verigym/')} = broken_envs:{name}")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def check(installed, *arguments):
    return subprocess.run(
        [sys.executable, "-P", "-m", "verigym", "check", *arguments],
        env=installed,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_each_broken_environment_is_found(installed):
    laws = sorted(set().union(*EXPECTED.values()))
    only = [part for law in laws for part in ("--only", law)]
    done = check(installed, "broken/*", "--seeds", "24", "--json", *only)
    assert done.returncode == 4, done.stderr
    names = {env_id: name for name, env_id in ids()}
    found = {
        names[card["id"]]: {law for law, why in card["laws"].items() if why != "holds"}
        for card in json.loads(done.stdout)
    }
    assert set(found) == set(EXPECTED)
    for name, expected in EXPECTED.items():
        assert expected <= found[name], f"{name}: {found[name]}"
    assert found["Sound"] == set()
    for name in ("Sums", "YesOrNo"):
        assert not found[name] & {
            "cheap_answers_earn_no_more_than_guessing",
            "wording_leaves_the_split",
        }


def test_a_sound_environment_passes_every_law_and_gets_a_card(installed, tmp_path):
    done = check(installed, "sound", "--seeds", "24", "--card", str(tmp_path / "cards"))
    assert done.returncode == 0, done.stderr + done.stdout
    assert "every law holds" in done.stdout
    card = json.loads((tmp_path / "cards" / "broken-sound-v0.json").read_bytes())
    assert card["passed"]
    assert card["figures"]["oracle_turns"]["hard"] == 8
    assert card["figures"]["random_return"]["hard"] <= 0.05
    assert (tmp_path / "cards" / "broken-sound-v0.md").read_text() in done.stdout + "\n"


def test_mistakes_of_the_caller_are_told():
    for arguments, wanted in (
        ((), "no environment was named"),
        (("nothing/*",), "no environment matches"),
        (("keydor",), "keydoor"),
        (("keydoor", "--only", "it_is_pur"), "it_is_pure"),
    ):
        done = CliRunner().invoke(app, ["check", *arguments], catch_exceptions=False)
        assert done.exit_code == 2
        assert wanted in done.stderr


def test_the_laws_can_be_listed():
    done = CliRunner().invoke(app, ["check", "--laws"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "the_oracle_earns_full_marks" in done.stdout
