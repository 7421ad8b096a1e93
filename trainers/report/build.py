"""`build`: the report of one run or several, one HTML file that needs nothing else.

The file carries a content policy that allows its own script and style by digest and nothing more:
no network, no inline handler, no style in a mark. What a model wrote cannot run even if escaping
were ever wrong.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import msgspec

from verigym.errors import RequestError
from verigym.trainers.report import difficulty, header, learning, ledger, signal
from verigym.trainers.report.read import RunRecords, find_runs, read_run
from verigym.trainers.report.stats import thin
from verigym.trainers.report.transcripts import Chosen, choose, embed

_MAX_ROWS = 5_000
_MAX_UNFOLDED = 12


def build(
    run_dir: Path | str | Sequence[Path | str],
    out: Path | str | None = None,
    *,
    max_transcript_bytes: int = 6_000_000,
) -> Path:
    """Write the report of `run_dir` and give its path, `run_dir/report.html` unless `out` says else.

    `run_dir` is a run folder, a folder of run folders, or several of either; runs of one algorithm
    are averaged. Raises RequestError if nothing can be reported; what is missing or torn in a run
    is listed in the report instead.
    """
    places = [run_dir] if isinstance(run_dir, (str, Path)) else list(run_dir)
    if not places:
        raise RequestError("build needs at least one run folder")
    runs = [read_run(path) for path in find_runs([Path(place) for place in places])]
    if out is None and len(places) > 1:
        raise RequestError("say with out where to write the report of several places")
    target = Path(out) if out is not None else Path(places[0]) / "report.html"
    if target.is_dir():
        raise RequestError(f"{target} is a folder; out must name an HTML file")
    if not target.parent.is_dir():
        raise RequestError(f"the folder {target.parent} does not exist; make it first")
    _write(target, render(runs, max_transcript_bytes))
    return target


def render(runs: Sequence[RunRecords], max_transcript_bytes: int) -> str:
    """Return the page as text."""
    notes: list[str] = []
    chosen = choose(runs, max_transcript_bytes, notes)
    notes = [_named(run, note, len(runs)) for run in runs for note in run.notes] + notes
    one = runs[0] if len(runs) == 1 else None
    cards = [
        _card(
            "learning",
            "Learning curve",
            learning.one_run(one) if one else learning.several_runs(runs),
            wide=True,
        ),
        _each(runs, "difficulty", "Success by difficulty", difficulty.by_difficulty),
        _card(
            "signal",
            "Groups without signal",
            '<p class="about">A group in which no turn has an advantage teaches nothing: its '
            "members all earned the same.</p>" + signal.without_signal(runs),
        ),
        _each(runs, "step-groups", "Step groups", signal.step_groups),
        _card("faults", "Faults by cause", ledger.faults(runs)),
        _each(runs, "time", "Where the time went", ledger.time_ledger, wide=True),
        _card("optimiser", "Optimiser", signal.optimiser(runs), wide=True),
    ]
    script, style = _resource("page.js"), _resource("page.css")
    return _fill(
        _resource("page.html"),
        {
            "TITLE": header.title(runs),
            "SCRIPT_DIGEST": _digest(script),
            "STYLE_DIGEST": _digest(style),
            "STYLE": style,
            "HEADER": header.header(runs, chosen.splits),
            "NOTES": header.notes(notes),
            "TILES": header.tiles(runs),
            "CARDS": "".join(cards),
            "EVALUATIONS": header.evaluations(runs),
            "TRANSCRIPTS_ABOUT": header.transcripts_about(len(chosen.packed), chosen.left_out),
            "CONFIG": header.configuration(runs),
            "DATA": embed(_data(runs, chosen)),
            "SCRIPT": script,
        },
    )


def _card(name: str, title: str, body: str, *, wide: bool = False) -> str:
    size = " wide" if wide else ""
    return f'<section class="card{size}" id="{name}"><h2>{title}</h2>{body}</section>'


def _each(
    runs: Sequence[RunRecords],
    name: str,
    title: str,
    draw: Callable[[RunRecords], str],
    *,
    wide: bool = False,
) -> str:
    """One card for what cannot be averaged over runs: the first run's, and the others to unfold."""
    body = draw(runs[0])
    if len(runs) > 1:
        body = f'<p class="about">{escape(_run_name(runs[0]))}</p>{body}' + "".join(
            f"<details><summary>{escape(_run_name(run))}</summary>{draw(run)}</details>"
            for run in runs[1:_MAX_UNFOLDED]
        )
        if len(runs) > _MAX_UNFOLDED:
            body += (
                f'<p class="about">{len(runs) - _MAX_UNFOLDED} further runs are left out here.</p>'
            )
    return _card(name, title, body, wide=wide)


def _run_name(run: RunRecords) -> str:
    return f"{run.label}, seed {run.header.seed}, {run.path.name}"


def _named(run: RunRecords, note: str, n_runs: int) -> str:
    return f"{run.path.name}: {note}" if n_runs > 1 else note


def _data(runs: Sequence[RunRecords], chosen: Chosen) -> dict[str, object]:
    """Return the data for page.js, which a reader may also extract from the file."""
    return {
        "runs": [
            {
                "run": msgspec.to_builtins(run.header, str_keys=True),
                "metrics": [
                    msgspec.to_builtins(run.steps[i], str_keys=True)
                    for i in thin(len(run.steps), _MAX_ROWS)
                ],
                "eval": msgspec.to_builtins(run.evals, str_keys=True),
            }
            for run in runs
        ],
        "transcripts": chosen.packed,
    }


def _resource(name: str) -> str:
    return files("verigym.trainers.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Put `parts` into their `{{NAME}}` places, in one pass, so that no part is read as a template."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _write(target: Path, page: str) -> None:
    """Write whole or not at all. Text that UTF-8 cannot hold (lone surrogates) becomes `?`."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(page.encode("utf-8", "replace"))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
