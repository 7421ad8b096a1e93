"""Error rates and time of `sql/query` on labelled pairs, beside one generated database.

    python benchmarks/sql_verifier.py --cases pairs.jsonl --out results/sql_verifier.json

Without `--cases` the pairs are our own. A row is `{"schema", "query_a", "query_b", "equivalent",
"dialect"}`. The baseline is what is commonly done: one database of `--rows` rows a table, drawn
without a look at the queries, run on the same engine with the same comparison. Pairs that do not run
are counted apart. Times are of whole verdicts, parsing included, in one process.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from verigym.verifiers.sql import databases, pair, wanted, witness
from verigym.verifiers.sql.cases import seeds, task_of
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.databases import family
from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.query import SqlVerifier
from verigym.verifiers.sql.schema import Schema

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Count:
    """Results of one verifier on all pairs."""

    equivalent: int = 0
    different: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    not_run: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    times_ms: list[float] = field(default_factory=list)

    def add(self, label: bool, score: float | None, reason: str, time_ms: float) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.times_ms.append(time_ms)
        if score is None or reason in ("query_error", "refused_syntax", "unknown_table"):
            self.not_run += 1
            return
        if label:
            self.equivalent += 1
            self.false_negatives += score < 1
        else:
            self.different += 1
            self.false_positives += score >= 1

    def told(self) -> dict[str, Any]:
        ordered = sorted(self.times_ms)
        return {
            **{name: value for name, value in asdict(self).items() if name != "times_ms"},
            "false_positive_rate": self.false_positives / max(1, self.different),
            "false_negative_rate": self.false_negatives / max(1, self.equivalent),
            "median_ms": median(ordered),
            "p95_ms": ordered[int(0.95 * (len(ordered) - 1))],
            "worst_ms": ordered[-1],
        }


def one_database(rows: int) -> Any:
    """A stand-in for `family`: one database that knows the schema alone."""

    def make(
        schema: Schema, hints: Hints, count: int, seed: int, name: str = ""
    ) -> Iterator[Database]:
        blind = Hints(kinds=hints.kinds)
        for foreign in schema.foreign:
            for child, parent in zip(foreign.columns, foreign.parent_columns, strict=True):
                blind.join((foreign.table, child), (foreign.parent, parent))
        rng = random.Random(seed)
        maker = databases._Maker(schema, blind)
        plan = databases._Plan(rows, 0.1, 8, 0.5, 0.0, True, 0.0, False, False, False)
        yield maker.make(plan, rng)

    return make


def measure(cases: list[Mapping[str, Any]], maker: Any) -> Count:
    """All cases with one way to make databases; witnesses only beside the verifier's own."""
    count = Count()
    for module in (wanted, pair):
        setattr(module, "family", maker)  # noqa: B010
    if maker is not family:
        setattr(witness.Witnesses, "make", lambda self, count: iter(()))  # noqa: B010
    verifier = SqlVerifier()
    for row in cases:
        task, submission, label = task_of(row)
        start = time.perf_counter()
        verdict = verifier.verify(task, submission)
        count.add(label, verdict.score, verdict.reason, 1e3 * (time.perf_counter() - start))
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--rows", type=int, default=50, help="rows a table of the baseline")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.cases:
        lines = options.cases.read_text(encoding="utf-8").splitlines()
        cases = [json.loads(line) for line in lines if line.strip()]
    else:
        cases = list(seeds())
    measure(cases[:5], family)  # Imports and warms.
    found = {
        "cases": len(cases),
        "family": measure(cases, family).told(),
        "one_database": measure(cases, one_database(options.rows)).told(),
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip(),
        "python": platform.python_version(),
        "machine": platform.platform(),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
