"""The bookkeeping certificate of a run: what was sampled is what was trained, step by step.

RUN/certificate.jsonl has one line per training step. `verify_run` checks it against itself, the metrics,
the recorded episodes and the checkpoints. It proves that no token, group or version was lost on the way;
it does not prove that a recorded verdict is right (`verigym replay` judges again).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from verigym.canonical import digest
from verigym.episode import Episode
from verigym.errors import RequestError
from verigym.trainers import checkpoint
from verigym.trainers.batch import Row
from verigym.trainers.learner import StepStats
from verigym.trainers.staleness import staleness, tokens_by_version

FILE = "certificate.jsonl"
GAP_LIMIT = {"float32": 1e-3, "bfloat16": 0.5}
"""Largest difference in nats between sampler and trainer that `verify_run` accepts for one token."""


def certify(
    step: int,
    version: int,
    played: Sequence[Episode],
    trained: Sequence[Episode],
    rows: Sequence[Row],
    stats: Sequence[StepStats],
    epochs: int,
) -> dict[str, Any]:
    """Return the line of one training step. `played` are all episodes, `trained` those of kept groups.

    `rows` are the trained ones, demonstrations included; `stats` those of the optimiser steps.
    """
    own = [row for row in rows if not row.demonstration]
    kept = {episode.group_id for episode in trained}
    faults = Counter(e.fault.cause for e in trained if e.fault is not None)
    return {
        "step": step,
        "version": version,
        "tokens_by_version": {
            str(old): n
            for old, n in tokens_by_version(e for e in trained if e.fault is None).items()
        },
        "tokens_sampled": sum(sum(t.mask) for e in trained if e.fault is None for t in e.turns),
        "tokens_in_rows": sum(sum(row.mask) for row in own),
        "tokens_shown": sum(sum(row.mask) for row in rows) - sum(sum(row.mask) for row in own),
        "tokens_dropped": sum(sum(row.dropped or ()) for row in rows),
        "tokens_per_epoch": sum(s.n_tokens for s in stats) / epochs if stats else None,
        "groups_played": len({episode.group_id for episode in played}),
        "groups_trained": len(kept),
        "group_ids": sorted(kept),
        "episodes_left_out": {"no_signal": len(played) - len(trained), **faults},
        "verdicts": _verdicts(trained),
        "gap": asdict(stats[0].gap) if stats and stats[0].gap is not None else None,
    }


def _verdicts(episodes: Sequence[Episode]) -> str:
    """Return one digest of the digests of all verdicts, by episode and turn."""
    found = {
        episode.id: [turn.verdict.digest for turn in episode.turns if turn.verdict is not None]
        for episode in episodes
        if episode.fault is None
    }
    return digest(found)


def verify_run(folder: Path) -> list[str]:
    """Return what does not add up in the run folder, one sentence each; empty if all does.

    Raises RequestError if it is no run folder, or one from before certificates.
    """
    if not (folder / "run.json").exists():
        raise RequestError(f"{folder} is no run folder: it has no run.json")
    if not (folder / FILE).exists():
        raise RequestError(f"{folder} has no {FILE}; only runs of this release write one")
    facts = msgspec.json.decode((folder / "run.json").read_bytes())
    lines, metrics = _lines(folder / FILE), _lines(folder / "metrics.jsonl")
    if any("tokens_by_version" not in line for line in lines):
        raise RequestError(
            f"{folder / FILE} was written by an earlier release; verify it with that"
        )
    config = facts["config"]
    problems = [*_steps(lines, metrics), *_groups(lines)]
    train = config["train"]
    oldest = {"sync": 0, "one-step-off": 1, "async": train["max_staleness"]}[train["mode"]]
    # Weights that differ by updates give other log-probabilities; then the gap is no error.
    limit = GAP_LIMIT[config["policy"]["dtype"]] if oldest == 0 else math.inf
    for line in lines:
        problems += _line(line, limit, oldest)
    problems += _episodes(folder)
    problems += _checkpoints(folder)
    return problems


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [msgspec.json.decode(raw) for raw in path.read_bytes().splitlines()]
    except (OSError, msgspec.DecodeError) as error:
        raise RequestError(f"{path} cannot be read: {error}") from error


def _steps(lines: list[dict[str, Any]], metrics: list[dict[str, Any]]) -> Iterator[str]:
    steps = [line["step"] for line in lines]
    if steps != list(range(1, len(steps) + 1)):
        yield f"the steps of {FILE} are not 1 to {len(steps)}, each once"
    if steps != [line["step"] for line in metrics]:
        yield f"{FILE} and metrics.jsonl hold different steps"


def _groups(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Compare the groups of all steps: none may be trained on twice."""
    steps: dict[str, int] = {}
    for line in lines:
        for name in line["group_ids"]:
            if name in steps:
                yield f"step {line['step']}: group {name} was trained on in step {steps[name]} already"
            steps[name] = line["step"]


def _line(line: dict[str, Any], limit: float, oldest: int) -> Iterator[str]:
    step = f"step {line['step']}"
    if line["tokens_sampled"] != line["tokens_in_rows"]:
        yield (
            f"{step}: {line['tokens_sampled']} tokens were sampled and {line['tokens_in_rows']} are in rows"
        )
    per_epoch = line["tokens_per_epoch"]
    rows = line["tokens_in_rows"] + line["tokens_shown"]
    if per_epoch is not None and per_epoch != rows:
        yield f"{step}: rows hold {rows} tokens and {per_epoch} were trained in each epoch"
    versions = {int(version): n for version, n in line["tokens_by_version"].items()}
    if sum(versions.values()) != line["tokens_sampled"]:
        yield (
            f"{step}: {line['tokens_sampled']} tokens were sampled, {sum(versions.values())} by a known version"
        )
    ages = [staleness(line["version"], version) for version in versions]
    if line["version"] != line["step"] - 1 or any(not 0 <= age <= oldest for age in ages):
        yield (
            f"{step}: sampled by versions {sorted(versions)} of the policy, "
            f"trained as version {line['version']}"
            + (f", with a staleness of at most {oldest} allowed" if oldest else "")
        )
    gap = line["gap"]
    if gap is not None and not gap["max"] <= limit:
        yield (
            f"{step}: log-probabilities of sampler and trainer differ by {gap['max']:.3g} nats, "
            f"above {limit:g}"
        )


def _episodes(folder: Path) -> Iterator[str]:
    """Compare the recorded episodes' tokens with each other and with the trainer's log-probabilities."""
    for path in sorted((folder / "episodes").glob("step-*.jsonl")):
        for line in _lines(path):
            episode = Episode.from_json(msgspec.json.encode(line["episode"]))
            recomputed = line["train_logprobs"]
            if len(recomputed) != len(episode.turns):
                yield (
                    f"{path.name}, episode {episode.id}: {len(episode.turns)} turns were played and "
                    f"{len(recomputed)} recomputed"
                )
                continue
            for number, (turn, trained) in enumerate(zip(episode.turns, recomputed, strict=True)):
                if len(trained) != len(turn.response_ids):
                    yield (
                        f"{path.name}, episode {episode.id}, turn {number}: {len(turn.response_ids)} "
                        f"tokens were sampled and {len(trained)} recomputed"
                    )


def _checkpoints(folder: Path) -> Iterator[str]:
    for path in checkpoint.find(folder / "checkpoints"):
        state, _, _ = checkpoint.load(path)
        found = checkpoint.checksum(path / "policy")
        if found != state.weights:
            yield f"{path.name}: the weights have checksum {found}, and {state.weights} were saved"
