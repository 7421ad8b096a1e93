"""Writes docs/results/audit_tasks.json from audits: what raw reasoning-gym pays, and what our environments pay.

verigym audit --tasks 'raw:reasoning-gym/*' --json > raw.json
for family in games math tools search sql web code; do verigym audit --tasks "$family/*" --json > $family.json; done
python -P benchmarks/audit_tasks.py raw.json games.json ... > docs/results/audit_tasks.json
"""

import importlib.metadata
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any


def summary(source: dict[str, Any]) -> dict[str, Any]:
    """Return what a reader asks of a source: its hack rate and how it was cheated."""
    found = {
        "tasks": source["tasks"],
        "hack_rate": round(source["hack_rate"], 3),
        "hack_interval": [round(bound, 3) for bound in source["hack_interval"]],
    }
    more = {
        "paid": sorted({f"{one['policy']}: {one['name']}" for one in source["paid"]}),
        "cheats_without_a_score": len(source["faults"]),
        "refused": len(source["refused"]),
        "unrepeatable": len(source["unrepeatable"]),
        "oracle": source["oracle"] if source["oracle"] != "played" else "",
    }
    return found | {key: value for key, value in more.items() if value}


def main() -> None:
    """Print the summary of the reports that the arguments name."""
    reports = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]]
    sources = {one["source"]: summary(one) for report in reports for one in report["sources"]}
    not_audited = [one for report in reports for one in report["not_audited"]]
    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    found = {
        "commit": git.stdout.strip(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "reasoning_gym": importlib.metadata.version("reasoning-gym"),
        "not_audited": not_audited,
        "sources": dict(sorted(sources.items())),
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
