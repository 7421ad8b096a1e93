"""The records of one training step: counters, metrics, certificate, transcripts and alarms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verigym.trainers.alarms import alarms
from verigym.trainers.batch import Row, TurnCredit
from verigym.trainers.certificate import certify
from verigym.trainers.hints import hint_counts, unhinted
from verigym.trainers.measures import (
    generation_tokens,
    hacks,
    optimisation,
    outcome,
    signal,
    total,
    values,
)
from verigym.trainers.progress import Progress
from verigym.trainers.recompute import recompute
from verigym.trainers.run_parts import Run
from verigym.trainers.source import Rollouts
from verigym.trainers.update import Updated

Credit = Sequence[Sequence[TurnCredit]]


def write_transcripts(run: Run, played: Rollouts, credit: Credit) -> dict[str, float]:
    """Write a few episodes, and return the gap between sampled and recomputed log-probabilities.

    Call it before the update, while the trainer has the weights that sampled.
    """
    episodes, settings = played.episodes, run.config.checkpoint
    groups: dict[str, list[int]] = {}
    for i, episode in enumerate(episodes):
        groups.setdefault(episode.group_id, []).append(i)
    shown_groups = list(groups.values())[: settings.transcripts]
    whole = played.number % settings.every == 0
    first = [
        i for n, group in enumerate(shown_groups) for i in group[: None if whole and n == 0 else 1]
    ]
    chosen = [i for i in first if episodes[i].status != "fault"]
    shown, earned = [episodes[i] for i in chosen], [credit[i] for i in chosen]
    per_episode, gaps = recompute(shown, run.engine)
    if shown:
        run.folder.transcripts(played.number, shown, earned, per_episode, run.policy)
    return {"logp_gap_mean": float(np.mean(gaps)), "logp_gap_max": float(np.max(gaps))}


def advance(run: Run, played: Rollouts, credit: Credit, done: Updated) -> int:
    """Count the step, and teach the curriculum; return the version of the weights before it."""
    run.step = played.number
    earned = {e.id: turns for e, turns in zip(played.episodes, credit, strict=True)}
    of_policy = unhinted(played.all_plans, played.all_episodes)
    run.tasks.observe(played.all_plans, of_policy, earned)
    turns = sum(len(episode.turns) for episode in played.all_episodes)
    run.env_steps += turns + played.extra_steps
    run.optimizer_steps += len(done.policy)
    version, run.policy.version = run.policy.version, run.policy.version + 1
    run.is_whole = True
    return version


def record_step(
    run: Run,
    played: Rollouts,
    rows: Sequence[Row],
    credit: Credit,
    done: Updated,
    *,
    version: int,
    gaps: dict[str, float],
    seconds: float,
    waited_s: float,
) -> None:
    """Write the lines of a finished step, whose `version` of the weights trained, and raise alarms.

    `seconds` is its wall time so far, of which the learner waited `waited_s` for episodes.
    """
    plans, everything = played.all_plans, played.all_episodes
    line = {
        "step": played.number,
        "env_steps": run.env_steps,
        "wall_s": run.wall_s + seconds,
        **outcome(unhinted(plans, everything)),
        **hacks(unhinted(plans, everything)),
        **hint_counts(plans, everything),
        **signal(played.episodes, credit),
        **generation_tokens(everything, played.computed_tokens),
        **optimisation(done.policy),
        **values(done.critic),
        **gaps,
        **played.figures,
        **run.players.figures(),
        **({"arms": dict(played.chances)} if len(played.chances) > 1 else {}),
        "time": {
            "generation_s": total(everything, "generate_s"),
            "environment_s": total(everything, "step_s") - total(everything, "verify_s"),
            "verifier_s": total(everything, "verify_s"),
            "update_s": seconds - waited_s,
            "wait_s": waited_s,
            "play_s": played.play_s,
        },
    }
    run.folder.certificate(
        certify(
            played.number,
            version,
            everything,
            played.episodes,
            rows,
            done.policy,
            run.config.train.epochs,
        )
    )
    raise_alarms(run, line)
    run.folder.metrics(line)
    run.listen(
        Progress(
            stage="reinforcement",
            done=played.number,
            total=run.config.train.steps,
            text=f"success {line['success_rate'] or 0:.0%} over {line['episodes']} episodes",
            line=line,
        )
    )


def raise_alarms(run: Run, line: dict[str, Any]) -> None:
    """Say each alarm once when it comes on, and note all that are on in the step's line."""
    run.history.append(line)
    found = alarms(run.history, run.validated)
    for name in found.keys() - run.alarms_on:
        run.say("alarm", found[name])
    run.alarms_on = set(found)
    line["alarms"] = sorted(found)
