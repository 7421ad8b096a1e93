"""Blind measurements: a card's figures on labelled cases that nobody used to improve the verifier.

Seeds and the cases made from them are the ones that a verifier was improved on, so their rates
show only what it was built to do. Its error rate on other answers can be measured only on a set
that was held out. A card holds neither the cases of that set nor their categories, so nobody can
improve the verifier on them by reading the card.

Covers: the identity of the file (SHA-256), the date and commit of the measurement, and seeds among
its cases, which are left out. Does not cover: whether the file was really held out; that rests on
the word of the person who supplied it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verigym.errors import RequestError
from verigym.submission import identity
from verigym.verifiers.audit.cases import Case, package_of, seeds_of

_KEPT = (
    *("n", "right_answers", "wrong_answers", "accuracy", "accuracy_interval", "errors"),
    *("false_positives", "false_positive_rate", "false_positive_interval"),
    *("false_negatives", "false_negative_rate", "false_negative_interval"),
)


def without_seeds(verifier: str, cases: Sequence[Case]) -> list[Case]:
    """Return the cases that are not also seeds of the verifier. Raises RequestError if all are."""
    known = {_identity(case) for case in seeds_of(verifier)}
    unknown = [case for case in cases if _identity(case) not in known]
    if not unknown:
        raise RequestError(
            f"all of these cases are seeds of {verifier}: nothing about them is blind"
        )
    return unknown


def make_measurement(
    name: str,
    path: Path,
    verifier: str,
    described: Mapping[str, Any],
    report: Mapping[str, Any],
    n_seeds: int,
) -> dict[str, Any]:
    """Return the entry of a blind set called `name` in the card of `verifier`; `report` is of `summarise`.

    `n_seeds` cases of the file were seeds and left out.
    """
    with path.open("rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
    uncontested = report.get("uncontested")
    return {
        "name": name,
        "file": path.name,
        "sha256": sha256,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit_of(verifier),
        "release": release_of(verifier),
        "version": described["version"],
        "params": described["params"],
        "seeds_left_out": n_seeds,
        **{key: report[key] for key in _KEPT},
        **({"uncontested": {key: uncontested[key] for key in _KEPT}} if uncontested else {}),
    }


def add_measurement(
    measurements: Sequence[Mapping[str, Any]], new: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Return the blind measurements of a card with `new` among them, in place of the one of that name."""
    others = [one for one in measurements if one["name"] != new["name"]]
    return sorted([*others, new], key=lambda one: str(one["name"]))


def commit_of(verifier: str) -> str | None:
    """Return the git commit that the verifier's module is of, with `-dirty` if tracked programs differ from it; None if
    no repository tracks the module."""
    spec = find_spec(package_of(verifier))
    if spec is None or not spec.origin:
        return None
    module = Path(spec.origin).resolve()
    if _git(module.parent, "ls-files", "--error-unmatch", module.name) is None:
        return None
    commit = _git(module.parent, "rev-parse", "--short=12", "HEAD")
    changed = _git(module.parent, "status", "--porcelain", "--untracked-files=no", "--", ":/*.py")
    return f"{commit}-dirty" if commit and changed else commit


def release_of(verifier: str) -> str:
    """Return the distribution of a verifier and its version, such as `verigym 0.1.0`."""
    package = package_of(verifier).partition(".")[0]
    found = packages_distributions().get(package)
    return f"{found[0]} {version(found[0])}" if found else package


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints, stripped; None if it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _identity(case: Case) -> str:
    return identity("", 0, None, case.task.content, case.submission)
