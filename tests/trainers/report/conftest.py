"""A generator of run folders as the training loop writes them, with seeded made-up numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verigym import Episode, Fault, Status, Turn, Verdict, scored
from verigym.agents.record import wilson

HOSTILE = (
    "<script>document.title='owned'</script></script><img src=x onerror=\"document.title='owned'\">"
    "&lt; \u2028\u2029 {{CARDS}} {{DATA}} ]]> <!-- <script> \u202e \x00"
)
GRID = "a.#..\n.@#..\n..A..\n..#.*\nKeys: none"
MOVES = ("up", "down", "left", "right")


def _episode(rng: random.Random, step: int, i: int, skill: float) -> dict[str, Any]:
    """A line of an episodes file."""
    n_turns = rng.randint(3, 9)
    success = rng.random() < skill
    turns = []
    credit = []
    trained = []
    texts = []
    keys = [f"{rng.getrandbits(128):032x}" for _ in range(4)]
    for t in range(n_turns):
        move = rng.choice(MOVES)
        pieces = ["I ", "go", " to the ", "door", ".\n", move, "<|end|>"]
        last = t == n_turns - 1
        logprobs = [-rng.expovariate(3.0) for _ in pieces]
        verdict = None
        if last:
            reason = "goal_reached" if success else "goal_not_reached"
            verdict = scored(float(success), reason, "replayed the moves")
        turns.append(
            Turn(
                observation=GRID,
                response="".join(pieces[:-1]),
                action=move,
                reward=float(last and success),
                state_key=rng.choice(keys),
                valid_action=rng.random() > 0.1,
                prompt_ids=list(range(40)),
                response_ids=[rng.randrange(512) for _ in pieces],
                logprobs=logprobs,
                mask=[1] * (len(pieces) - 1) + [int(rng.random() > 0.5)],
                policy_version=step,
                verdict=verdict,
                generate_s=0.02,
                step_s=0.001,
            )
        )
        episode_advantage = 0.9 if success else -0.6
        step_advantage = rng.gauss(0, 0.7)
        credit.append(
            {
                "episode_advantage": episode_advantage,
                "step_advantage": step_advantage,
                "advantage": episode_advantage + step_advantage,
                "step_group_size": rng.randint(1, 8),
            }
        )
        trained.append([lp + rng.gauss(0, 1) * 10 ** rng.uniform(-5, -0.2) for lp in logprobs])
        texts.append(pieces)
    episode = Episode(
        id=f"e{step:04d}-{i}",
        env_id="verigym/games/keydoor-v0",
        task_id=f"verigym/games/keydoor-v0:train:easy:{step * 8 + i}",
        seed=step * 8 + i,
        group_id=f"g{step}-{i // 8}",
        difficulty=rng.choice(["easy", "medium", "hard"]),
        split="train",
        turns=turns,
        policy="hf:tiny",
        versions={"verigym": "0.1.0"},
    )
    return {
        "step": step,
        "episode": episode.to_builtins(),
        "credit": credit,
        "train_logprobs": trained,
        "tokens": texts,
    }


def _levels(rng: random.Random, skill: float, n: int) -> dict[str, Any]:
    rates = {"easy": skill, "medium": skill * 0.85, "hard": skill * 0.6}
    return {
        name: {"n": n // 3, "success_rate": round(rate * (n // 3)) / (n // 3)}
        for name, rate in rates.items()
    }


def write_run(
    folder: Path,
    *,
    seed: int = 0,
    n_steps: int = 60,
    algorithm: str = "gigpo",
    lift: float = 0.6,
    faults: bool = True,
    n_episodes: int = 3,
) -> Path:
    """A whole run folder at `folder`, which is made."""
    rng = random.Random(seed)
    (folder / "episodes").mkdir(parents=True)
    header = {
        "name": f"keydoor with {algorithm}",
        "algorithm": algorithm,
        "env_id": "verigym/games/keydoor-v0",
        "started": "2025-11-21T09:00:00+00:00",
        "seed": seed,
        "config": {
            "seed": seed,
            "train": {"steps": n_steps, "learning_rate": 0.001, "groups": 8},
            "credit": {"name": algorithm, "gamma": 0.95, "omega": 1.0},
            "env": {"id": "games/keydoor-v0", "difficulty": ["easy", "medium", "hard"]},
        },
        "versions": {"verigym": "0.1.0", "torch": "2.11.0", "transformers": "5.10.1"},
        "stages": [
            {"name": "warm-up", "success_rate": 0.31, "interval": [0.25, 0.38], "episodes": 200}
        ],
    }
    (folder / "run.json").write_text(json.dumps(header))
    wall = 0.0
    with (
        (folder / "metrics.jsonl").open("w") as metrics,
        (folder / "eval.jsonl").open("w") as evals,
    ):
        for step in range(n_steps + 1):
            skill = 0.3 + lift * (1 - 2.7 ** (-4 * step / n_steps))
            if step % 10 == 0:
                rate = round(skill * 200) / 200
                for split in ("test",):
                    row = {
                        "step": step,
                        "env_steps": step * 700,
                        "split": split,
                        "episodes": 200,
                        "success_rate": rate,
                        "interval": wilson(round(rate * 200), 200),
                        "faults": {},
                        "by_difficulty": _levels(rng, skill, 200),
                    }
                    evals.write(json.dumps(row) + "\n")
            if step == 0:
                continue
            n_faults = int(faults and rng.random() < 0.06)
            wins = sum(rng.random() < skill for _ in range(64))
            time = {
                "generation_s": rng.uniform(1.8, 2.4) * (1.3 - skill / 2),
                "environment_s": rng.uniform(0.1, 0.2),
                "verifier_s": rng.uniform(0.3, 0.6),
                "update_s": rng.uniform(1.2, 1.6),
            }
            wall += sum(time.values())
            metrics.write(
                json.dumps(
                    {
                        "step": step,
                        "env_steps": step * 700,
                        "wall_s": wall + step * 0.2,
                        "success_rate": wins / 64,
                        "return_mean": wins / 64,
                        "episodes": 64,
                        "groups": 8,
                        "groups_without_signal": min(8, int(rng.random() * 10 * abs(skill - 0.5))),
                        "step_group_sizes": {
                            str(size): int(60 * 0.7**size * (1 + (skill if size > 3 else 0))) + 1
                            for size in (1, 2, 3, 4, 5, 7, 9, 14, 30)
                        },
                        "faults": {"verifier_unreachable": n_faults} if n_faults else {},
                        "time": time,
                        "loss": rng.gauss(0, 0.02),
                        "kl": 0.001 * step,
                        "clip_share": abs(rng.gauss(0.02, 0.01)),
                        "entropy": 1.2 - skill,
                        "grad_norm": abs(rng.gauss(1, 0.3)),
                        "logp_gap_mean": 1e-5 * rng.random(),
                        "logp_gap_max": 1e-3 * rng.random(),
                        "n_tokens": 4200,
                        "turns_mean": 14 - 6 * skill,
                        "by_difficulty": _levels(rng, skill, 63),
                    }
                )
                + "\n"
            )
            if step % 5 == 0:
                lines = [json.dumps(_episode(rng, step, i, skill)) for i in range(n_episodes)]
                (folder / "episodes" / f"step-{step:06d}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def add_hostile_episode(folder: Path, step: int = 60) -> None:
    """A faulted-looking, hostile transcript whose every text tries to break out of the page."""
    verdict = Verdict(status=Status.OK, score=0.0, reason="wrong", evidence=HOSTILE)
    turn = Turn(
        observation=HOSTILE,
        response=HOSTILE,
        action=HOSTILE,
        reward=0.0,
        state_key=HOSTILE,
        response_ids=[1, 2],
        logprobs=[-0.5, -1.0],
        mask=[1, 0],
        verdict=verdict,
    )
    good = Episode(
        id=f"hostile {HOSTILE}",
        env_id=HOSTILE,
        task_id=HOSTILE,
        seed=1,
        group_id=HOSTILE,
        difficulty=HOSTILE,
        split="train",
        turns=[turn],
        policy=HOSTILE,
    )
    faulted = Episode(
        id="faulted",
        env_id="e",
        task_id="t",
        seed=2,
        group_id="g",
        difficulty="easy",
        split="train",
        status="fault",
        fault=Fault(cause="verifier_unreachable", detail=HOSTILE),
    )
    lines = [
        {
            "step": step,
            "episode": good.to_builtins(),
            "credit": [{"episode_advantage": -1.0}],
            "train_logprobs": [[-0.2, -1.0]],
            "tokens": [[HOSTILE, "</script>"]],
        },
        {"step": step, "episode": faulted.to_builtins()},
    ]
    with (folder / "episodes" / f"step-{step:06d}.jsonl").open("a") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def make_run() -> Callable[..., Path]:
    """`write_run`."""
    return write_run


@pytest.fixture
def spoil() -> Callable[..., None]:
    """`add_hostile_episode`."""
    return add_hostile_episode


@pytest.fixture
def hostile() -> str:
    """A text that tries to break out of wherever it is put."""
    return HOSTILE
