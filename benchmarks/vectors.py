"""Run a file of test vectors against the credit and loss functions.

    python benchmarks/vectors.py tests/data/vectors.json

Prints the vectors that fail and why, and last `N passed, M failed`. Exit status: 0 if all pass, 1 if
one fails, 2 if the file cannot be read. `--json` prints one JSON object instead.

A vector is {"name", "function", "inputs", "expected", "tolerance"}; the tolerance is absolute, in
float64. The tables `FUNCTIONS` of `vectors_credit`, `vectors_loss`, `vectors_correction` and `vectors_curriculum`
map a vector's function to the library: each entry takes the inputs as keyword arguments, so that an input
nobody knows is a failure, not a thing passed over. Only what `expected` names is compared. `step_group`
numbers are compared as a partition, since its labels carry no meaning.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
import vectors_correction
import vectors_credit
import vectors_curriculum
import vectors_loss

FUNCTIONS = {
    **vectors_credit.FUNCTIONS,
    **vectors_loss.FUNCTIONS,
    **vectors_correction.FUNCTIONS,
    **vectors_curriculum.FUNCTIONS,
}


def check(vector: dict[str, Any]) -> str | None:
    """Why a vector fails, in a sentence; None if it passes."""
    function = FUNCTIONS.get(vector["function"])
    if function is None:
        return f"unknown function {vector['function']!r}; known: {', '.join(sorted(FUNCTIONS))}"
    try:
        got = function(**vector["inputs"])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this vector's failure
        return f"{type(error).__name__}: {error}"
    for key, want in vector["expected"].items():
        if key not in got:
            return f"no output {key!r}; got {', '.join(sorted(got))}"
        have = plain(got[key])
        if key == "step_group":
            want, have = canonical(want), canonical(have)
        why = difference(want, have, float(vector["tolerance"]), key)
        if why:
            return why
    return None


def plain(value: Any) -> Any:
    """Arrays, tensors, and lists and dicts of them as lists and numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, torch.Tensor):
        value = value.detach()
    return value.tolist() if hasattr(value, "tolist") else value


def canonical(labels: list[Any]) -> list[int]:
    """Labels renumbered by first appearance."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


def difference(want: Any, have: Any, tolerance: float, where: str) -> str | None:
    """First place where `have` is not `want` within `tolerance`, in a sentence."""
    if isinstance(want, dict):
        if not isinstance(have, dict) or not want.keys() <= have.keys():
            return f"{where}: got {have!r}, want keys {', '.join(want)}"
        pairs = [(f"{where}[{key}]", item, have[key]) for key, item in want.items()]
    elif isinstance(want, list):
        if not isinstance(have, list) or len(have) != len(want):
            return f"{where}: got {have!r}, want a list of {len(want)}"
        pairs = [(f"{where}[{i}]", item, have[i]) for i, item in enumerate(want)]
    elif isinstance(want, bool) or want is None or isinstance(want, str):
        return None if have == want else f"{where}: got {have!r}, want {want!r}"
    else:
        if not isinstance(have, (int, float)):
            return f"{where}: got {have!r}, want {want!r}"
        # Written so that NaN never passes for a number.
        near = abs(have - want) <= tolerance or have == want
        both_nan = math.isnan(want) and math.isnan(have)
        return None if near or both_nan else f"{where}: got {have!r}, want {want!r}"
    return next(filter(None, (difference(w, h, tolerance, at) for at, w, h in pairs)), None)


def load(path: Path) -> list[dict[str, Any]]:
    """The vectors of a file. Raises ValueError if it holds none."""
    data = json.loads(path.read_text(encoding="utf-8"))
    vectors = data.get("vectors") if isinstance(data, dict) else data
    if not isinstance(vectors, list) or not vectors:
        raise ValueError(f"{path} holds no vectors; want a list, or an object with 'vectors'")
    return vectors


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path, help="JSON file of vectors")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        vectors = load(options.file)
    except (OSError, ValueError) as error:
        print(f"cannot read vectors: {error}", file=sys.stderr)
        return 2
    failures = [
        {"name": vector.get("name", f"number {i}"), "why": why}
        for i, vector in enumerate(vectors)
        if (why := check(vector)) is not None
    ]
    passed = len(vectors) - len(failures)
    if options.json:
        print(json.dumps({"passed": passed, "failed": len(failures), "failures": failures}))
    else:
        for failure in failures:
            print(f"FAILED {failure['name']}: {failure['why']}")
        print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
