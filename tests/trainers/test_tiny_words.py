"""The tokens of a tiny model come from the environment that it plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from verigym import RequestError, make
from verigym.trainers import tiny
from verigym.trainers.config import parse_config, read_config
from verigym.trainers.run import train
from verigym.trainers.tiny_words import learn_words

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_common_actions_are_one_token_and_nothing_is_unknown():
    tokenizer = tiny.build_tokenizer(learn_words("games/household", difficulty=1, tasks=20))
    with make("games/household") as env:
        for seed in range(3):
            seen, _ = env.reset(seed=seed, options={"difficulty": 1})
            ids = tokenizer(str(seen))["input_ids"]
            assert tokenizer.unk_token_id not in ids
            assert tokenizer.decode(ids) == str(seen)
            assert len(ids) < len(str(seen)) / 6
    assert len(tokenizer("go to lamp 1")["input_ids"]) == 1


def test_an_environment_without_an_oracle_is_refused(monkeypatch):
    monkeypatch.setattr("verigym.envs.games.keydoor.KeyDoor.oracle_absent", "too far")
    with pytest.raises(RequestError, match=r"tiny-words .* too far"):
        learn_words("games/keydoor")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_configurations(path):
    read_config(path)


@pytest.mark.slow
def test_a_run_makes_its_model_from_the_words_of_all_its_environments(tmp_path):
    tree = {
        "env": [{"id": "games/household", "difficulty": 1}, {"id": "games/frozen-lake"}],
        "policy": {"model": "tiny-words", "max_new_tokens": 2},
        "train": {"steps": 1, "groups": 2, "group_size": 2, "threads": 1},
        "eval": {"episodes": 2},
    }
    for env in tree["env"]:
        env["max_turns"] = 2
    folder = train(parse_config(tree), tmp_path / "run")
    words = (folder / "model" / "tokenizer.json").read_text()
    assert '"go to lamp 1"' in words
    assert '"left"' in words
