"""Card of an environment: its description, the laws that hold, and the measured figures."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import verigym
from verigym import __version__
from verigym.env import Env
from verigym.envs.check.run import CheckReport


def card(report: CheckReport) -> dict[str, Any]:
    """Return the card as plain data; `markdown` writes it out."""
    # What an environment prints must not end up in the card.
    with contextlib.redirect_stdout(io.StringIO()):
        env = verigym.make(report.env_id)
        turns = _turns(env)
    return {
        "id": env.id,
        "about": (type(env).__doc__ or "").strip().partition("\n\n")[0],
        "verifier": env.verifier.name,
        "difficulties": list(env.difficulties),
        "levels": dict(env.scale().levels),
        "max_turns": turns,
        "oracle_absent": env.oracle_absent,
        "chance": env.chance,
        "checked_with": {"verigym": __version__, "seeds": report.seeds},
        "passed": report.passed,
        "laws": {one.law: one.broken or "holds" for one in report.outcomes if not one.waived},
        "waived": {one.law: one.waived for one in report.outcomes if one.waived},
        "figures": report.figures,
    }


def _turns(env: Env[Any]) -> dict[str, int]:
    try:
        return {name: env.turns_allowed(env.sample_task(0, name)) for name in env.scale().levels}
    except Exception:  # noqa: BLE001 - no task could be drawn; the laws tell of it
        return {}


def markdown(one: dict[str, Any]) -> str:
    """Return the card as Markdown."""
    lines = [
        f"# {one['id']}",
        "",
        one["about"],
        "",
        f"- verifier: `{one['verifier']}`",
        f"- checked with verigym {one['checked_with']['verigym']} on "
        f"{one['checked_with']['seeds']} seeds: "
        + (_passed(one) if one["passed"] else "**not passed**"),
        "",
        "| difficulty | " + " | ".join(one["levels"]) + " |",
        "|---|" + "---|" * len(one["levels"]),
        _row("level", one["levels"], one),
        _row("turns allowed", one["max_turns"], one),
    ]
    scalars = []
    for name, value in one["figures"].items():
        if isinstance(value, dict):
            lines.append(_row(name.replace("_", " "), value, one))
        else:
            scalars.append(f"- {name.replace('_', ' ')}: {value}")
    lines += ["", *scalars, ""]
    broken = {law: why for law, why in one["laws"].items() if why != "holds"}
    if broken:
        lines += [
            "## Laws that do not hold",
            "",
            *(f"- {law}: {why}" for law, why in broken.items()),
        ]
    if one["waived"]:
        lines += ["", "## Laws that it does not claim", ""]
        lines += [f"- {law}: {why}" for law, why in one["waived"].items()]
    return "\n".join(lines).rstrip() + "\n"


def _passed(one: dict[str, Any]) -> str:
    return "every law that it claims holds" if one["waived"] else "every law holds"


def _row(title: str, values: dict[str, Any], one: dict[str, Any]) -> str:
    return f"| {title} | " + " | ".join(str(values.get(d, "")) for d in one["levels"]) + " |"
