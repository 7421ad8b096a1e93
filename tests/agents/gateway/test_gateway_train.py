"""Training by an agent program: the configuration, and steps of a run that keep their certificate."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from verigym.errors import ConfigError
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import parse_config, read_config
from verigym.trainers.run import train

BARE = Path(__file__).parent / "programs" / "keydoor_bare.py"
EXAMPLE = Path(__file__).parents[3] / "examples" / "keydoor_agent.toml"


def tree(**sections):
    return {
        "env": {"id": "games/keydoor"},
        "policy": {"max_new_tokens": 2, "show_task": False},
        "harness": {"command": [sys.executable, "-S", str(BARE)], "deadline_s": 60.0},
        **sections,
    }


def test_the_example_can_be_read():
    assert read_config(EXAMPLE).harness.command[-1] == "examples/keydoor_agent.py"


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"harness": {"command": []}}, "harness.command"),
        ({"harness": {"command": ["x"], "deadline": 3}}, "deadline_s"),
        ({"algorithm": {"name": "branch"}}, "agent program"),
        ({"algorithm": {"loss": "luffy", "demonstrations": 1, "name": "grpo"}}, "agent program"),
    ],
)
def test_what_a_program_cannot_do_is_refused(sections, message):
    with pytest.raises(ConfigError, match=message):
        parse_config(tree(**sections))


@pytest.mark.slow
def test_a_run_trains_what_its_program_sampled(tmp_path):
    config = parse_config(
        tree(
            warmup={"episodes": 40, "epochs": 1, "lr": 1.5e-3},
            train={"steps": 2, "groups": 2, "group_size": 3, "lr": 1e-4},
            eval={"every": 100, "episodes": 2},
            canary={"every": 0},
        )
    )
    lines = []
    folder = train(config, tmp_path / "run", listen=lambda event: lines.append(event.line))
    assert verify_run(folder) == []
    steps = [line for line in lines if line and "logp_gap_max" in line]
    assert len(steps) == 2
    for line in steps:
        assert line["faults"] == {}
        assert line["episodes"] == 6
        assert line["logp_gap_max"] < 1e-4
        assert line["generation_tokens_computed"] > 0
