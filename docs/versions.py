"""Write the table of versions into the page docs/versions.md, and group the changelog by what it names.

    python -P docs/versions.py

The table is read from the code; the site lists below it the lines of CHANGELOG.md under "Rewards that
change". Covers: what comes with the package. Does not cover: plug-ins, and adapters to other packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verigym.registry import list_envs, list_group_verifiers, list_verifiers, load

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "versions.md"
CHANGELOG = ROOT / "CHANGELOG.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEADING = "### Rewards that change"
SEVERAL = "Several, or none by name"


class Change(NamedTuple):
    """One line of the changelog; `versions` are the ids that it names, with the number beside each."""

    release: str
    text: str
    versions: dict[str, int | None]


def read_versions() -> dict[str, int]:
    """Return the version of every verifier, by id."""
    targets = {**list_verifiers(), **list_group_verifiers()}
    return {name: load(target, name).version for name, target in targets.items()}


def read_environments() -> dict[str, tuple[int, str]]:
    """Return version and verifier of every environment of our own, by id without version."""
    found = {}
    for name, entry in list_envs().items():
        if not entry.target.startswith("verigym.envs.doors"):
            short = name.removeprefix("verigym/").rpartition("-v")[0]
            found[short] = (entry.version, load(entry.target, name).verifier_id)
    return found


def read_changes() -> Iterator[Change]:
    """Yield the changes of rewards, newest release first."""
    known = {*read_versions(), *read_environments()}
    for release in CHANGELOG.read_text(encoding="utf-8").split("\n## ")[1:]:
        section = release.partition(f"{HEADING}\n")[2].partition("\n### ")[0]
        for line in re.findall(r"^- (.*?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL):
            text = " ".join(line.split())
            named = re.findall(r"`([a-z]+/[\w-]+)`(?: (\d+)\b)?", text)
            versions: dict[str, int | None] = {}
            for name, number in named:
                if name in known:
                    versions[name] = int(number) if number else versions.get(name)
            yield Change(release.partition("\n")[0], text, versions)


def list_changes() -> Iterator[str]:
    """Yield Markdown: the changes of each release under the verifiers and environments that they name."""
    releases: dict[str, dict[str, list[str]]] = {}
    for change in read_changes():
        named = releases.setdefault(change.release, {})
        for name in change.versions or [SEVERAL]:
            named.setdefault(name, []).append(change.text.replace("](docs/", "]("))
    for release, named in releases.items():
        yield from (f"### {release}", "")
        for name in sorted(named, key=lambda name: (name == SEVERAL, name)):
            yield from (f"#### {name if name == SEVERAL else f'`{name}`'}", "")
            yield from (*(f"- {text}" for text in named[name]), "")


def draw() -> str:
    """Return the table: each verifier, its version, and the environments that it judges."""
    judged: dict[str, list[str]] = {}
    for name, (version, verifier) in read_environments().items():
        judged.setdefault(verifier, []).append(f"`{name}`" + (f" -v{version}" if version else ""))
    lines = ["| verifier | version | judges |", "|---|---|---|"]
    for name, version in read_versions().items():
        lines.append(f"| `{name}` | {version} | {', '.join(sorted(judged.get(name, [])))} |")
    return "\n".join(lines)


def insert(page: str, table: str) -> str:
    """Return the page with `table` between its two markers."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(insert(PAGE.read_text(encoding="utf-8"), draw()), encoding="utf-8")
