"""Configuration: what is refused, and what the message offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from verigym import ConfigError
from verigym.agents.chat import StepRows, Transcript
from verigym.trainers.config import parse_config, read_config
from verigym.trainers.how_to_play import make_encoding, make_settings

GOOD = {"env": {"id": "games/keydoor"}}


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({**GOOD, "trian": {}}, "unknown key trian; did you mean 'train'"),
        ({**GOOD, "train": {"step": 3}}, "unknown key train.step; did you mean 'steps'"),
        ({**GOOD, "train": {"steps": -1}}, "train.steps"),
        ({**GOOD, "train": {"steps": "many"}}, "got 'many'"),
        ({**GOOD, "algorithm": {"name": "ggpo"}}, "unknown algorithm.name 'ggpo'; did you mean"),
        (
            {**GOOD, "policy": {"parse": "fense"}},
            "unknown policy.parse 'fense'; did you mean 'fence'",
        ),
        ({**GOOD, "policy": {"think": "of"}}, "unknown policy.think 'of'; did you mean 'off'"),
        ({**GOOD, "play": {"batching": "reddy"}}, "did you mean 'ready'"),
        ({**GOOD, "policy": {"system_promt": "x"}}, "did you mean 'system_prompt'"),
        ({**GOOD, "policy": {"system_prompt": "@/no/such"}}, "cannot be read"),
        ({**GOOD, "policy": {"encoding": "transcript", "history": 2}}, "history is for encoding"),
        ({**GOOD, "warmup": {"source": "episode"}}, "did you mean 'episodes'"),
        ({**GOOD, "warmup": {"source": "episodes"}}, "warmup.paths and warmup.source"),
        ({**GOOD, "warmup": {"paths": ["x"]}}, "warmup.paths and warmup.source"),
        ({**GOOD, "warmup": {"source": "teacher", "teacher": "random"}}, "number of tasks"),
        ({**GOOD, "warmup": {"loss": "dpo", "episodes": 3}}, "compares recorded replies"),
        ({**GOOD, "warmup": {"samples": 2}}, "warmup.samples is for"),
        ({"env": {}}, "env.id is missing"),
        ({}, "env is missing"),
    ],
)
def test_mistakes_are_named(tree: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match="configuration: ") as caught:
        parse_config(tree)
    assert said in str(caught.value)


def test_toml_and_overrides(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[env]\nid = "keydoor"\n[train]\nsteps = 5\n')
    config = read_config(path, {"train.steps": 7, "policy.model": "somewhere", "seed": 2})
    assert (config.train.steps, config.policy.model, config.seed) == (7, "somewhere", 2)


@pytest.mark.parametrize("text", ["[env\n", "\x00"])
def test_files_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"c\.toml"):
        read_config(path)
    with pytest.raises(ConfigError, match=r"no configuration at .*absent\.toml"):
        read_config(tmp_path / "absent.toml")


def test_the_demo_configuration_is_good() -> None:
    path = Path(__file__).parents[2] / "examples" / "demo.toml"
    config = read_config(path)
    assert config.algorithm.name == "gigpo"


def test_whatever_play_takes_has_a_key(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Be brief.\n")
    config = parse_config(
        {
            **GOOD,
            "policy": {
                "history": 3,
                "thoughts": "keep",
                "parse": "tag",
                "system_prompt": f"@{tmp_path / 'system.txt'}",
                "task_in_system": False,
                "show_turns": True,
                "show_tokens": True,
            },
            "play": {"batching": "ready", "cohorts": 3, "max_live": 5, "env_workers": 2},
            "limits": {"error_retries": 0, "backoff_s": 0.5, "generate_timeout_s": 9},
        }
    )
    assert make_encoding(config.policy) == StepRows(
        history=3,
        thoughts="keep",
        parse="tag",
        system_prompt="Be brief.",
        system=False,
        show_turns=True,
        show_tokens=True,
    )
    settings = make_settings(config)
    given = (settings.batching, settings.n_cohorts, settings.max_live, settings.env_workers)
    assert given == ("ready", 3, 5, 2)
    assert (settings.error_retries, settings.backoff_s, settings.generate_deadline_s) == (0, 0.5, 9)
    transcript = parse_config({**GOOD, "policy": {"encoding": "transcript"}})
    assert make_encoding(transcript.policy) == Transcript(show_legal=True)


def test_a_configuration_is_read_without_torch() -> None:
    code = "import sys, verigym.trainers.config; print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
