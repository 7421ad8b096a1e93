"""`verigym train --plan`: a probe says what a run needs."""

from __future__ import annotations

import pytest

from verigym.errors import RequestError
from verigym.trainers.config import Config, parse_config
from verigym.trainers.forecast import forecast


def config(**train: object) -> Config:
    return parse_config(
        {
            "env": {"id": "games/keydoor", "max_turns": 4},
            "policy": {"max_new_tokens": 2, "show_task": False},
            "warmup": {"episodes": 48, "epochs": 2, "batch_rows": 16},
            "train": {"steps": 40, "groups": 2, "group_size": 3, "threads": 1, **train},
            "eval": {"every": 10, "episodes": 12},
            "log": {"wandb": "offline"},
        }
    )


@pytest.mark.slow  # a probe starts a process with torch
def test_a_probe_adds_up_the_run() -> None:
    found = forecast(config())
    assert found.steps == 40
    assert found.evaluations == 6
    assert 100 * 2**20 < found.memory < 4 * 2**30
    assert found.fits
    assert min(found.warmup_s, found.step_s, found.evaluation_s) > 0
    parts = found.warmup_s + 40 * found.step_s + 6 * found.evaluation_s
    assert found.total_s == pytest.approx(parts)


@pytest.mark.slow
def test_a_probe_that_fails_says_why() -> None:
    broken = config().model_copy(
        update={"policy": config().policy.model_copy(update={"model": "/nowhere"})}
    )
    with pytest.raises(RequestError, match="nowhere"):
        forecast(broken)
