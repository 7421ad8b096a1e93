"""The card of a verifier: what it is and how often it errs, as JSON and as Markdown.

Cards ship beside the verifier's module, as `cards/<name>.json` and `cards/<name>.md`; the service
shows the JSON. A card that was made of another version of the verifier says nothing about this one:
`read_card` gives None for it.
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

_HEAD = "| cases | n | right answers rejected | wrong answers accepted | faults |\n|---|---|---|---|---|"


def make_card(
    described: Mapping[str, Any], reports: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A card of what the verifier says of itself and of its reports by name of the set of cases."""
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
    }


def markdown(card: Mapping[str, Any]) -> str:
    """The card for people."""
    lines = [f"# {card['verifier']}@{card['version']}", "", card["about"], ""]
    if card["evidence"]:
        lines += [f"Evidence: {card['evidence']}", ""]
    lines += [f"Parameters: `{json.dumps(card['params'], sort_keys=True)}`", ""]
    if card["weights"]:
        lines += [f"Parts and their weights: `{json.dumps(card['weights'], sort_keys=True)}`", ""]
    for name, report in sorted(card["reports"].items()):
        lines += [f"## {name}", ""]
        lines += _hacks(report) if "paid" in report else []
        lines += _rates(report) if "by_category" in report else []
    machine = card["machine"]
    lines += [
        f"Measured on {machine['system']}, {machine['cores']} cores, Python {machine['python']}, "
        "through a pool of worker processes. Intervals are Wilson's, 95 %.",
    ]
    return "\n".join(lines) + "\n"


def write_card(path: Path, card: Mapping[str, Any]) -> list[Path]:
    """Write JSON and Markdown; `path` names either, or both by a name without ending."""
    stem = path.with_suffix("") if path.suffix in (".json", ".md") else path
    stem.parent.mkdir(parents=True, exist_ok=True)
    written = [stem.with_name(stem.name + ".json"), stem.with_name(stem.name + ".md")]
    written[0].write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    written[1].write_text(markdown(card), encoding="utf-8")
    return written


def read_card(verifier: str, version: int) -> dict[str, Any] | None:
    """The card that ships with a registered verifier; None where there is none of this version."""
    path = beside(verifier, "cards", "json") if verifier in list_verifiers() else None
    if path is None:
        return None
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return card if card.get("version") == version else None


def percent(rate: float | None, interval: Sequence[float] | None) -> str:
    """A rate with its interval, `1.5 % (0.8 to 2.9)`; a dash of nothing."""
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
    if "against" in report:
        other = report["against"]
        agreed = percent(other["agreement"], other["agreement_interval"])
        lines += [f"Agreement with {other['verifier']}: {agreed} of {other['n']}.", ""]
    return lines


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
