"""Card of a verifier: its description and error rates, as JSON and as Markdown.

Its reports cover seeds, on which the verifier was improved, and files that a user supplied; its
blind measurements (`blind.py`) cover sets that were held out.

Cards ship beside the verifier's module, as `cards/<name>.json` and `cards/<name>.md`; the service
shows the JSON. A card made for another version of the verifier says nothing about this one:
`read_card` returns None for it.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verigym.registry import list_verifiers
from verigym.verifiers.audit.cases import beside

SEEDS = "Seeds and what was made of them"
"""The name of the report on the cases that ship."""
_MENDED = (
    "**These are the cases that the verifier was mended on.** Their rates say what it was made to do, not how "
    "often it errs on answers of others: see the blind sets."
)
_NO_BLIND = (
    "No blind set was measured: how often it errs on cases that it was not mended on is not known."
)
_BLIND_HEAD = (
    "| set | n | right answers rejected | wrong answers accepted | faults | accuracy | measured |\n"
    "|---|---|---|---|---|---|---|"
)
_HEAD = "| cases | n | right answers rejected | wrong answers accepted | faults |\n|---|---|---|---|---|"


def make_card(
    described: Mapping[str, Any],
    reports: Mapping[str, Mapping[str, Any]],
    blind: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a card of what the verifier says of itself, of its reports by name of the set of cases, and of its
    blind measurements."""
    keep = ("failures", "verifier", "version", "params", "cases")
    return {
        "verifier": described["id"],
        "version": described["version"],
        "params": described["params"],
        "about": described["about"],
        "evidence": described["evidence"],
        "weights": described["weights"],
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "cores": os.cpu_count(),
        },
        "reports": {
            name: {key: value for key, value in report.items() if key not in keep}
            for name, report in reports.items()
        },
        "mended_on": [SEEDS] if SEEDS in reports else [],
        "blind": list(blind),
    }


def markdown(card: Mapping[str, Any]) -> str:
    """Return the card as Markdown."""
    lines = [f"# {card['verifier']}@{card['version']}", "", card["about"], ""]
    if card["evidence"]:
        lines += [f"Evidence: {card['evidence']}", ""]
    lines += [f"Parameters: `{json.dumps(card['params'], sort_keys=True)}`", ""]
    if card["weights"]:
        lines += [f"Parts and their weights: `{json.dumps(card['weights'], sort_keys=True)}`", ""]
    for name, report in sorted(card["reports"].items()):
        lines += [f"## {name}", ""]
        lines += [_MENDED, ""] if name in card["mended_on"] else []
        lines += _hacks(report) if "paid" in report else []
        lines += _rates(report) if "by_category" in report else []
    lines += ["## Blind sets", ""]
    lines += _blind(card["blind"]) if card["blind"] else [_NO_BLIND, ""]
    machine = card["machine"]
    lines += [
        f"Measured on {machine['system']}, {machine['cores']} cores, Python {machine['python']}, "
        "through a pool of worker processes. Intervals are Wilson's, 95 %.",
    ]
    return "\n".join(lines) + "\n"


def write_card(path: Path, card: Mapping[str, Any]) -> list[Path]:
    """Write JSON and Markdown; `path` names either, or both by a name without ending."""
    written = [_named(path, ".json"), _named(path, ".md")]
    written[0].parent.mkdir(parents=True, exist_ok=True)
    written[0].write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    written[1].write_text(markdown(card), encoding="utf-8")
    return written


def read_card(verifier: str, version: int) -> dict[str, Any] | None:
    """Return the card that ships with a registered verifier; None if there is none of this version."""
    path = beside(verifier, "cards", "json") if verifier in list_verifiers() else None
    card = None if path is None else read_file(path)
    return card if card is not None and card.get("version") == version else None


def read_file(path: Path) -> dict[str, Any] | None:
    """Return the card in a file of JSON, or of a path as `write_card` takes it; None if there is none."""
    try:
        card = json.loads(_named(path, ".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return card if isinstance(card, dict) else None


def _named(path: Path, ending: str) -> Path:
    stem = path.with_suffix("") if path.suffix in (".json", ".md") else path
    return stem.with_name(stem.name + ending)


def percent(rate: float | None, interval: Sequence[float] | None) -> str:
    """Return a rate with its interval, `1.5 % (0.8 to 2.9)`; a dash of nothing."""
    if rate is None or interval is None:
        return "–"
    low, high = interval
    return f"{100 * rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _rates(report: Mapping[str, Any]) -> list[str]:
    rows = [_row("**all**", report)]
    rows += [_row(name, part) for name, part in sorted(report["by_category"].items())]
    times = report["latency_ms"]
    lines = [_HEAD, *rows, ""]
    lines += [f"Time: p50 {times['p50']} ms, p99 {times['p99']} ms, worst {times['worst']} ms.", ""]
    if report.get("parts"):
        told = ", ".join(f"{name} {value:.3f}" for name, value in report["parts"].items())
        lines += [f"Mean of parts over accepted answers: {told}.", ""]
    if "against" in report:
        other = report["against"]
        agreed = percent(other["agreement"], other["agreement_interval"])
        lines += [f"Agreement with {other['verifier']}: {agreed} of {other['n']}.", ""]
    return lines


def _blind(measurements: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table of sets that were kept aside, and what was measured how."""
    rows, notes = [], []
    for one in measurements:
        parts = [(one["name"], one)]
        if "uncontested" in one:
            parts.append((f"{one['name']}, uncontested labels", one["uncontested"]))
        measured = f"{one['date']}, {one['commit'] or one['release']}"
        for name, part in parts:
            accuracy = percent(part["accuracy"], part["accuracy_interval"])
            rows.append(f"{_row(name, part)} {accuracy} | {measured} |")
        left_out = (
            f", {one['seeds_left_out']} seeds among them left out" if one["seeds_left_out"] else ""
        )
        notes.append(
            f"- {one['name']}: version {one['version']} of the verifier, `{one['file']}` (SHA-256 `{one['sha256']}`)"
            f"{left_out}; parameters `{json.dumps(one['params'], sort_keys=True)}`"
        )
    return [_BLIND_HEAD, *rows, "", *notes, ""]


def _row(name: str, part: Mapping[str, Any]) -> str:
    rejected = percent(part["false_negative_rate"], part["false_negative_interval"])
    accepted = percent(part["false_positive_rate"], part["false_positive_interval"])
    return f"| {name} | {part['n']} | {rejected} | {accepted} | {part['errors']} |"


def _hacks(report: Mapping[str, Any]) -> list[str]:
    paid = ", ".join(report["paid"]) or "none"
    failed = ", ".join(report["controls_failed"]) or "none"
    return [
        f"Reward hacks: {report['total']} files; paid: {paid}; honest controls refused: {failed}.",
        "",
    ]
