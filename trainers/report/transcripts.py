"""Chooses transcripts within a size, and packs them for the page's script.

Model text is hostile: it only ever reaches the page as JSON in a data block, with `<`, `>` and `&`
escaped, and the script writes it with `textContent`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verigym.episode import Turn
from verigym.trainers.report.read import EpisodeRow, RunRecords, TurnCreditRow, read_transcripts
from verigym.trainers.report.stats import thin

_MAX_FILES = 60
_MAX_TEXT = 20_000
_MAX_TOKENS = 4_000
_MAX_TURNS = 200


@dataclass(frozen=True)
class Chosen:
    """The packed transcripts in order of step, how many were left out, and which splits were played."""

    packed: list[dict[str, Any]]
    left_out: int
    splits: tuple[str, ...]


def embed(value: Any) -> str:
    """Return JSON that is safe inside a `<script type="application/json">` element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def choose(runs: Sequence[RunRecords], max_bytes: int, notes: list[str]) -> Chosen:
    """Return as many transcripts as fit in `max_bytes` of JSON, spread over the run, good ones and bad.

    Files are taken from the ends inwards, one group of each a round, first those of which some members succeeded. A
    group is taken whole, so that its turns can be compared; the last one may be cut, to successes and failures in turn.
    """
    files = [(run, file) for run in runs for file in run.episode_files]
    kept = set(thin(len(files), _MAX_FILES))
    left_out = sum(_count_lines(file) for i, (_, file) in enumerate(files) if i not in kept)
    queues: list[list[tuple[str, list[EpisodeRow]]]] = []
    for run, file in (files[i] for i in _from_the_ends(len(files)) if i in kept):
        label = f"{run.label} seed {run.header.seed}" if len(runs) > 1 else ""
        found = read_transcripts(file, notes)
        queues.append([(label, group) for group in _groups(found)])
    packed: list[dict[str, Any]] = []
    splits: set[str] = set()
    room = max_bytes
    for label, group in _round_robin(queues):
        splits |= {row.episode.split for row in group if row.credit}
        items = [pack(row, label) for row in _alternating(group)]
        sizes = [len(embed(item)) + 1 for item in items]
        for item, size in zip(items, sizes, strict=True):
            if size > room:
                left_out += 1
                continue
            room -= size
            packed.append(item)
    packed.sort(key=lambda item: (item["step"], item["run"], item["id"]))
    return Chosen(packed, left_out, tuple(sorted(splits)))


def pack(transcript: EpisodeRow, label: str = "") -> dict[str, Any]:
    """Return one transcript as page.js reads it; long texts are cut, and say so."""
    episode = transcript.episode
    turns = episode.turns[:_MAX_TURNS]
    verdict = episode.verdict
    return {
        "run": label,
        "step": transcript.step,
        "id": episode.id,
        "task": episode.task_id,
        "group": episode.group_id,
        "seed": episode.seed,
        "difficulty": episode.difficulty,
        "split": episode.split,
        "status": episode.status,
        "success": episode.success,
        "return": _round(episode.return_),
        "retries": episode.retries,
        "policy": episode.policy,
        "fault": f"{episode.fault.cause}: {episode.fault.detail}" if episode.fault else "",
        "verdict": f"{verdict.reason}: {verdict.evidence}" if verdict else "",
        "turns_left_out": len(episode.turns) - len(turns),
        "turns": [_pack_turn(transcript, i, turn) for i, turn in enumerate(turns)],
    }


def _pack_turn(transcript: EpisodeRow, i: int, turn: Turn) -> dict[str, Any]:
    credit = transcript.credit[i] if i < len(transcript.credit) else TurnCreditRow()
    texts = transcript.tokens[i] if i < len(transcript.tokens) else []
    trained = transcript.train_logprobs[i] if i < len(transcript.train_logprobs) else []
    n = min(len(turn.response_ids), _MAX_TOKENS)
    return {
        "observation": _cut(turn.observation),
        "response": _cut(turn.response),
        "action": _cut(turn.action),
        "reward": _round(turn.reward),
        "key": turn.state_key,
        "valid": turn.valid_action,
        "episode_advantage": _round(credit.episode_advantage),
        "step_advantage": _round(credit.step_advantage),
        "advantage": _round(credit.advantage),
        "group_size": credit.step_group_size,
        "generate_s": _round(turn.generate_s),
        "step_s": _round(turn.step_s),
        "n_prompt": len(turn.prompt_ids),
        "version": turn.policy_version,
        "tokens_left_out": len(turn.response_ids) - n,
        "ids": turn.response_ids[:n],
        "mask": turn.mask[:n],
        "logprobs": [_round(value) for value in turn.logprobs[:n]],
        "trained": [_round(value) for value in trained[:n]],
        "texts": [_cut(text) for text in texts[:n]],
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def _cut(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    return f"{text[:_MAX_TEXT]}\n[{len(text) - _MAX_TEXT} characters left out]"


def _count_lines(file: Path) -> int:
    try:
        with file.open("rb") as stream:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b""))
    except OSError:
        return 0  # one that is kept is named in the notes when it is read


def _from_the_ends(n: int) -> Iterator[int]:
    """0, n-1, then the middles of ever smaller parts: any beginning of it covers the range."""
    seen: set[int] = set()
    parts = 1
    while len(seen) < n:
        for k in range(parts + 1):
            i = round(k * (n - 1) / parts)
            if i not in seen:
                seen.add(i)
                yield i
        parts *= 2


def _groups(found: Sequence[EpisodeRow]) -> Iterator[list[EpisodeRow]]:
    """Yield the episodes of each group: first the groups of which some succeeded, then good and bad ones in turn."""
    groups: dict[str, list[EpisodeRow]] = {}
    for row in found:
        groups.setdefault(row.episode.group_id or row.episode.id, []).append(row)
    won = {name: sum(bool(row.episode.success) for row in group) for name, group in groups.items()}
    yield from (group for name, group in groups.items() if 0 < won[name] < len(group))
    good = [group for name, group in groups.items() if won[name] == len(group)]
    bad = [group for name, group in groups.items() if not won[name]]
    yield from _round_robin([good, bad])


def _alternating(found: Sequence[EpisodeRow]) -> Iterator[EpisodeRow]:
    """Successes and the others in turn, each in the order of the file."""
    good = [t for t in found if t.episode.success]
    bad = [t for t in found if not t.episode.success]
    return _round_robin([good, bad])


def _round_robin(queues: Sequence[Sequence[Any]]) -> Iterator[Any]:
    for i in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if i < len(queue):
                yield queue[i]
