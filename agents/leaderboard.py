"""Leaderboards of finished evaluations, as JSON, Markdown and HTML.

Only evaluations of the same tasks (worlds, verifiers, seeds, split) are ranked against each other. A policy's
rank is one more than the number of policies whose whole interval lies above its own, so policies that
cannot be told apart share a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from verigym import __version__
from verigym.agents.evaluate import RESULT, SETTINGS, read_json
from verigym.canonical import digest
from verigym.errors import RequestError

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1f24 }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid #d8dee4; vertical-align: middle }
th { font-weight: 600 } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
svg { display: block } .track { fill: #eaeef2 } .range { fill: #9cc4f2 } .mean { fill: #0b5cad }
p { color: #57606a }
@media (prefers-color-scheme: dark) {
  body { background: #0d1117; color: #e6edf3 } th, td { border-color: #30363d } p { color: #8b949e }
  .track { fill: #21262d } .range { fill: #1f4b7d } .mean { fill: #79b8ff } }
"""


def find_results(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of finished evaluations: those given, and those directly inside one given.

    Raises RequestError if a folder holds none, or an evaluation that is not finished was named.
    """
    found: list[Path] = []
    for folder in folders:
        if (folder / RESULT).is_file():
            inner = [folder]
        elif (folder / SETTINGS).is_file():
            raise RequestError(
                f"the evaluation in {folder} is not finished; run `verigym eval` again to resume it"
            )
        else:
            inner = sorted(path.parent for path in folder.glob(f"*/{RESULT}"))
        if not inner:
            raise RequestError(f"no finished evaluation in {folder}; `verigym eval` makes one")
        found += [one for one in inner if one not in found]
    return found


def make_leaderboard(folders: Sequence[Path]) -> dict[str, Any]:
    """Return the leaderboard as plain data for JSON: one board for each set of tasks."""
    boards: dict[str, dict[str, Any]] = {}
    for folder in find_results(folders):
        result = read_json(folder / RESULT)
        try:
            settings = result["settings"]
            key = digest(
                *(settings[name] for name in ("worlds", "tasks", "seed", "split", "max_turns")),
                *([options] if (options := settings.get("env_options")) else []),
            )
            row = _row(folder, result)
        except (KeyError, TypeError) as error:
            raise RequestError(
                f"{folder / RESULT} is no result of `verigym eval`: {error}"
            ) from error
        board = boards.setdefault(
            key,
            {
                "worlds": settings["worlds"],
                "tasks": settings["tasks"],
                "seed": settings["seed"],
                "split": settings["split"],
                "max_turns": settings["max_turns"],
                "entries": [],
            },
        )
        board["entries"].append(row)
    for board in boards.values():
        _rank(board["entries"])
    return {"verigym": __version__, "boards": list(boards.values())}


def _row(folder: Path, result: dict[str, Any]) -> dict[str, Any]:
    settings, overall = result["settings"], result["overall"]
    k = settings["samples"]
    tokens = result["tokens"]
    return {
        "policy": settings["policy"],
        "temperature": settings["temperature"],
        "folder": str(folder),
        "finished": result["finished"],
        "verigym": settings["verigym"],
        "samples": k,
        "pass_at_1": overall["pass_at"]["1"],
        "pass_at_k": overall["pass_at"][str(k)],
        "score": overall["score"],
        "by_environment": {
            env_id: group["pass_at"]["1"] for env_id, group in result["by_environment"].items()
        },
        "episodes": overall["samples"],
        "faults": overall["faults"],
        "response_tokens": tokens["response"] if not tokens["uncounted_samples"] else None,
        "cost": tokens["cost"],
    }


def _rank(entries: list[dict[str, Any]]) -> None:
    entries.sort(key=lambda one: (one["pass_at_1"] is None, -_value(one), one["policy"]))
    for entry in entries:
        entry["rank"] = None
        if (own := entry["pass_at_1"]) is not None:
            others = [one["pass_at_1"] for one in entries if one["pass_at_1"] is not None]
            entry["rank"] = 1 + sum(one["interval"][0] > own["interval"][1] for one in others)


def _value(entry: dict[str, Any]) -> float:
    return entry["pass_at_1"]["value"] if entry["pass_at_1"] is not None else 0.0


def markdown(made: dict[str, Any]) -> str:
    """Return the leaderboard as Markdown."""
    parts = ["# Leaderboard", ""]
    for board in made["boards"]:
        header, rows = _cells(board)
        parts += [_described(board), "", _line(header), _line(["---"] * len(header))]
        parts += [_line([_safe(cell) for cell in row]) for row in rows]
        parts += ["", *_environments(board), ""]
    parts.append(f"{_footnote()} Verigym {made['verigym']}.")
    return "\n".join(parts) + "\n"


def _environments(board: dict[str, Any]) -> list[str]:
    names = sorted({name for entry in board["entries"] for name in entry["by_environment"]})
    if len(names) < 2:
        return []
    lines = [
        "Success by environment:",
        "",
        _line(["environment", *(_safe(e["policy"]) for e in board["entries"])]),
    ]
    lines.append(_line(["---"] * (len(board["entries"]) + 1)))
    for name in names:
        cells = [_percent(entry["by_environment"].get(name)) for entry in board["entries"]]
        lines.append(_line([_safe(name), *cells]))
    return lines


def html(made: dict[str, Any]) -> str:
    """Return the leaderboard as one HTML page that needs no network."""
    parts = []
    for board in made["boards"]:
        header, rows = _cells(board)
        names = sorted({name for entry in board["entries"] for name in entry["by_environment"]})
        extra = names if len(names) > 1 else []
        parts.append(f"<p>{escape(_described(board))}</p><table><thead><tr>")
        parts += [f"<th>{escape(cell)}</th>" for cell in (*header[:3], "", *header[3:], *extra)]
        parts.append("</tr></thead><tbody>")
        for entry, row in zip(board["entries"], rows, strict=True):
            bar = _bar(entry["pass_at_1"])
            cells = [f"<td>{escape(cell)}</td>" for cell in row[:2]]
            cells.append(f'<td class="number">{escape(row[2])}</td><td>{bar}</td>')
            more = [_percent(entry["by_environment"].get(name)) for name in extra]
            cells += [f'<td class="number">{escape(cell)}</td>' for cell in (*row[3:], *more)]
            parts.append(f"<tr>{''.join(cells)}</tr>")
        parts.append("</tbody></table>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Leaderboard</title><style>{_STYLE}</style></head><body><h1>Leaderboard</h1>\n"
        + "\n".join(parts)
        + f"\n<p>{escape(_footnote())} Verigym {escape(made['verigym'])}.</p></body></html>\n"
    )


def _bar(estimate: dict[str, Any] | None) -> str:
    """Return the interval and the mean as a drawing 160 units wide."""
    if estimate is None:
        return ""
    low, high = (160 * bound for bound in estimate["interval"])
    mean = 160 * estimate["value"]
    return (
        '<svg width="160" height="12" role="img" aria-hidden="true">'
        '<rect class="track" y="4" width="160" height="4"/>'
        f'<rect class="range" x="{low:.1f}" y="2" width="{max(1.0, high - low):.1f}" height="8"/>'
        f'<rect class="mean" x="{min(158.0, max(0.0, mean - 1)):.1f}" width="2" height="12"/></svg>'
    )


def _cells(board: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a board as text."""
    largest = max(entry["samples"] for entry in board["entries"])
    header = ["rank", "policy", "pass@1"]
    header += ["pass@k"] if largest > 1 else []
    header += ["mean score", "episodes", "faults", "answer tokens", "cost", "date", "verigym"]
    rows = []
    for entry in board["entries"]:
        name = entry["policy"]
        if entry["temperature"] is not None:
            name += f" (temperature {entry['temperature']:g})"
        row = [str(entry["rank"] or "–"), name, _percent(entry["pass_at_1"])]
        if largest > 1:
            row.append(f"{_percent(entry['pass_at_k'])}, k = {entry['samples']}")
        tokens, cost, score = entry["response_tokens"], entry["cost"], entry["score"]
        row += [
            "–" if score is None else f"{score['value']:.3f}",
            str(entry["episodes"]),
            str(entry["faults"]),
            "–" if tokens is None else f"{tokens:,}",
            "–" if cost is None else f"{cost:.4f}",
            entry["finished"][:10],
            entry["verigym"],
        ]
        rows.append(row)
    return header, rows


def _described(board: dict[str, Any]) -> str:
    levels: dict[tuple[str, str], list[str]] = {}
    for world in board["worlds"]:
        name = (world["env"].removeprefix("verigym/"), world["verifier"])
        levels.setdefault(name, []).append(world["difficulty"])
    worlds = ", ".join(
        f"{env} {' and '.join(found)} ({verifier})" for (env, verifier), found in levels.items()
    )
    last = board["seed"] + board["tasks"] - 1
    return f"{worlds}; split {board['split']}, seeds {board['seed']} to {last}"


def _percent(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "–"
    low, high = estimate["interval"]
    return f"{100 * estimate['value']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _footnote() -> str:
    return (
        "Intervals are 95 %, over tasks. Policies share a rank unless the whole interval of one lies above "
        "the other's; `verigym compare` tells two apart by their tasks. Faults are in no rate."
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    """Return text that neither ends a cell nor becomes markup."""
    line = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\|`*_[]<>" else sign for sign in line)
