"""`Attack`: one program that tries to leave the sandbox, and what its header says of it.

The first lines of the file are its header, one `# key: text` each (`// key: text` in C):

    attack    its name; files without this line are no attacks
    threat    what it is after, in a word
    expect    how it should be contained: CONTAINED: ..., or LEAK ...: where it is tolerated
    oracle    how that is seen from outside, for people
    status    the statuses that the job may end with, by name, where no other is right
    exit      the exit code that must be reported
    wall      seconds that are enough for it, where the usual limit would only cost time
    cpu       seconds of processor time, in place of the usual limit
    stdin     one line that it gets on standard input

A line `# then:` begins a second program, run as the next job of the same sandbox: it looks for what
the first one left. With nothing below that line the first one runs again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from verigym.errors import RequestError, suggestion
from verigym.sandbox.job import JobStatus, Limits

LANGUAGES = {".py": "python", ".c": "c", ".sh": "bash", ".cpp": "cpp"}
LIMITS = Limits(
    wall_s=4.0,
    cpu_s=6.0,
    memory_mib=512,
    processes=12,
    disk_mib=32,
    inodes=2000,
    output_bytes=1 << 20,
)
_DIGITS = re.compile(r"(\d+)")
_HEADER = re.compile(r"(?:#|//)\s*([a-z]+):\s*(.*)")
_THEN = re.compile(r"^(?:#|//) then:[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One program, its second part if it has one, and how it is to be judged."""

    name: str
    file: str
    language: str
    source: str
    then: str | None = None
    threat: str = ""
    expect: str = ""
    oracle: str = ""
    statuses: tuple[str, ...] = ()
    exit_code: int | None = None
    wall_s: float = LIMITS.wall_s
    cpu_s: float = LIMITS.cpu_s
    stdin: str = ""

    @property
    def tolerated(self) -> bool:
        """True if the header accepts the information that the program can learn."""
        return self.expect.upper().startswith("LEAK")


def parse(text: str, file: str) -> Attack | None:
    """Return the attack that `file` holds; None if it has no header. Raises RequestError for a bad one."""
    header: dict[str, str] = {}
    for line in text.splitlines():
        match = _HEADER.fullmatch(line.strip())
        if match is None:
            break
        header[match[1]] = match[2].strip()
    if "attack" not in header:
        return None
    source, *rest = _THEN.split(text, maxsplit=1)
    statuses = tuple(header.get("status", "").replace(",", " ").split())
    unknown = set(statuses) - set(JobStatus)
    if unknown:
        raise RequestError(
            f"{file}: status {min(unknown)!r}; {suggestion(min(unknown), JobStatus)}"
        )
    try:
        wall_s = float(header.get("wall", LIMITS.wall_s))
        cpu_s = float(header.get("cpu", LIMITS.cpu_s))
        exit_code = int(header["exit"]) if "exit" in header else None
    except ValueError as error:
        raise RequestError(f"{file}: wall, cpu and exit must be numbers: {error}") from error
    return Attack(
        name=header["attack"],
        file=file,
        language=LANGUAGES[Path(file).suffix],
        source=source,
        then=(rest[0] if rest[0].strip() else source) if rest else None,
        threat=header.get("threat", ""),
        expect=header.get("expect", ""),
        oracle=header.get("oracle", ""),
        statuses=statuses,
        exit_code=exit_code,
        wall_s=wall_s,
        cpu_s=cpu_s,
        stdin=header.get("stdin", ""),
    )


def load(folder: Path | None = None) -> list[Attack]:
    """Return the attacks in `folder` (default: ours) in the order of their file names.

    Raises RequestError if the folder holds none, or two of one name.
    """
    folder = folder or Path(__file__).with_name("attacks")
    if not folder.is_dir():
        raise RequestError(f"{str(folder)!r} is not a folder of attacks")
    found: dict[str, Attack] = {}
    for path in sorted(folder.iterdir(), key=_order):
        if path.suffix not in LANGUAGES or not path.is_file():
            continue
        # A program may hold any bytes; those that are no UTF-8 come back as they were.
        attack = parse(path.read_text(encoding="utf-8", errors="surrogateescape"), path.name)
        if attack is None:
            continue
        if attack.name in found:
            raise RequestError(
                f"{path.name} and {found[attack.name].file} are both called {attack.name!r}"
            )
        found[attack.name] = attack
    if not found:
        raise RequestError(
            f"no attack in {str(folder)!r}: each is a file whose first line is '# attack: NAME'"
        )
    return list(found.values())


def _order(path: Path) -> list[tuple[int, str]]:
    """By numbers as numbers: 2_b before 10_a."""
    return [
        (int(part or 0), "") if part.isdigit() else (0, part) for part in _DIGITS.split(path.name)
    ]


def choose(attacks: Iterable[Attack], names: Iterable[str]) -> list[Attack]:
    """Return the attacks whose name or file is in `names`; all attacks if `names` is empty."""
    attacks, wanted = list(attacks), list(names)
    if not wanted:
        return attacks
    known = {attack.name: attack for attack in attacks}
    known |= {Path(attack.file).stem: attack for attack in attacks}
    for name in wanted:
        if name not in known:
            raise RequestError(f"unknown attack {name!r}; {suggestion(name, known)}")
    chosen = {known[name].name for name in wanted}
    return [attack for attack in attacks if attack.name in chosen]
