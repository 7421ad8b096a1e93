"""Episodes on disk, one JSON object per line, and their summary."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from verigym.episode import Episode
from verigym.errors import RequestError
from verigym.verifiers.audit.intervals import wilson

__all__ = ["append_episodes", "iterate_episodes", "read_episodes", "summarise", "wilson"]

_log = logging.getLogger(__name__)


def append_episodes(path: str | Path, episodes: Iterable[Episode]) -> None:
    """Append to `path`, all or nothing; the folder is created if it is missing.

    A torn last line from an earlier crash is cut off first. If the disk is full, the file is restored and
    OSError is raised, which names it. One writer at a time.
    """
    path = Path(path)
    data = b"".join(episode.to_json() + b"\n" for episode in episodes)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        size = _whole(file.fileno(), path)
        try:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            # Writing to an open file does not name it.
            raise OSError(error.errno, error.strerror, str(path)) from error


def _whole(fd: int, path: Path) -> int:
    """Cut a torn last line off the file, and return the new size in bytes."""
    size = os.fstat(fd).st_size
    end = size
    while end > 0:
        first = max(0, end - 65536)
        found = os.pread(fd, end - first, first).rfind(b"\n")
        if found >= 0:
            end = first + found + 1
            break
        end = first
    if end < size:
        _log.warning("%s: cutting off a torn last line of %d bytes", path, size - end)
        os.ftruncate(fd, end)
    return end


def read_episodes(path: str | Path) -> list[Episode]:
    """Read all episodes in `path`.

    A torn last line, left by a crash during a write, is skipped with a logged warning. Raises
    RequestError if any other line is not an episode.
    """
    return list(iterate_episodes(path))


def iterate_episodes(path: str | Path) -> Iterator[Episode]:
    """Yield the episodes in `path` one at a time, for files larger than memory; else `read_episodes`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    _log.warning(
                        "%s: the last line (%d, %d bytes) is torn, left out",
                        path,
                        number,
                        len(line),
                    )
                    return
                try:
                    episode = Episode.from_json(line)
                except (RequestError, ValueError) as error:
                    raise RequestError(f"{path}, line {number}: {error}") from error
                yield episode
    except OSError as error:
        raise RequestError(f"episodes cannot be read from {path}: {error}") from error


def summarise(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return success rate, mean return and other statistics, as plain data for JSON.

    Faulted episodes are counted in `episodes` and `faults` and left out of everything else; rates
    and means are None if no episode is left. `success_interval` is Wilson's 95 % interval.
    """
    played = [episode for episode in episodes if episode.status != "fault"]
    causes = Counter(e.fault.cause for e in episodes if e.fault is not None)
    by_difficulty: dict[str, list[Episode]] = {}
    for episode in played:
        by_difficulty.setdefault(episode.difficulty, []).append(episode)
    return {
        **_rates(played),
        "episodes": len(episodes),
        "faults": len(episodes) - len(played),
        "faults_by_cause": dict(causes.most_common()),
        "truncated": sum(e.status == "truncated" for e in played),
        "turns_mean": _mean([len(e.turns) for e in played]),
        "valid_action_rate": _mean([float(t.valid_action) for e in played for t in e.turns]),
        "retries": sum(e.retries for e in episodes),
        "by_difficulty": {
            difficulty: {**_rates(group), "episodes": len(group)}
            for difficulty, group in sorted(by_difficulty.items())
        },
    }


def _rates(played: Sequence[Episode]) -> dict[str, Any]:
    successes = sum(e.success for e in played)
    return {
        "success_rate": successes / len(played) if played else None,
        "success_interval": list(wilson(successes, len(played))) if played else None,
        "mean_return": _mean([e.return_ for e in played]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
