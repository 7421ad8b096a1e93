"""Configuration: what is refused, and what the message offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from verigym import ConfigError
from verigym.trainers.config import parse_config, read_config

GOOD = {"env": {"id": "games/keydoor"}}


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({**GOOD, "trian": {}}, "unknown key trian; did you mean 'train'"),
        ({**GOOD, "train": {"step": 3}}, "unknown key train.step; did you mean 'steps'"),
        ({**GOOD, "train": {"steps": 0}}, "train.steps"),
        ({**GOOD, "train": {"steps": "many"}}, "got 'many'"),
        ({**GOOD, "algorithm": {"name": "ggpo"}}, "unknown algorithm.name 'ggpo'; did you mean"),
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
