"""Reads a patch out of a reply, and applies it to a folder of text files.

A patch is one or more fenced blocks: unified diffs (a block that holds `--- ` and `+++ ` lines), or whole
files (a block whose first line is `# file: PATH`). Line numbers of a hunk only decide between places
that fit as well, since they are often wrong in what models write; the lines themselves must fit.

Files are edited as texts with one character a line, so that a hunk costs a search and a copy of memory
however often its lines occur: a reply of 200,000 characters takes seconds at the very worst.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verigym.reply import fenced, scope

_FILE = re.compile(r"#\s*file:\s*(\S+)\s*", re.IGNORECASE)
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@.*")
_PATH = re.compile(r"(?:[A-Za-z0-9_]{1,100}/){0,8}[A-Za-z0-9_]{1,100}\.[a-z]{1,8}")
MAX_FILES = 200
"""Files that one patch may change or make."""


class BadPatch(Exception):
    """Raised if the reply holds no patch, or one that does not fit; the text says why."""


@dataclass(frozen=True)
class _Hunk:
    line: int
    old: list[str]
    new: list[str]


class _Lines:
    """Encodes each different line as one character, and back."""

    def __init__(self) -> None:
        self._signs: dict[str, str] = {}
        self._lines: list[str] = []

    def write(self, lines: Sequence[str]) -> str:
        for line in lines:
            if line not in self._signs:
                self._signs[line] = chr(len(self._lines))
                self._lines.append(line)
        return "".join(map(self._signs.__getitem__, lines))

    def read(self, signs: str) -> str:
        return "\n".join(self._lines[ord(sign)] for sign in signs)


def holds_patch(reply: str) -> bool:
    """Return True if a reply has a block that looks like a patch."""
    return any(_FILE.match(block.body) or "+++ " in block.body for block in fenced(scope(reply)))


def patched(files: Mapping[str, str], reply: str) -> dict[str, str]:
    """Return the files that the patch in `reply` changes or makes, whole. Raises BadPatch."""
    changed: dict[str, str] = {}
    lines = _Lines()
    for block in fenced(scope(reply.replace("\r\n", "\n"))):
        body = block.body
        first, _, rest = body.partition("\n")
        if named := _FILE.fullmatch(first.strip()):
            whole = rest if rest.endswith("\n") else rest + "\n"
            changed[_checked(named[1])] = lines.write(whole.split("\n"))
        elif "+++ " in body:
            for path, hunks in _read(body):
                if path not in files and any(hunk.old for hunk in hunks):
                    raise BadPatch(f"there is no file {path}")
                if path not in changed:
                    changed[path] = lines.write(files.get(path, "").split("\n"))
                changed[path] = _applied(path, changed[path], hunks, lines)
        if len(changed) > MAX_FILES:
            raise BadPatch(f"the patch changes more than {MAX_FILES} files")
    if not changed:
        raise BadPatch("the reply holds no patch")
    return {path: lines.read(signs) for path, signs in changed.items()}


def _checked(path: str) -> str:
    path = path.removeprefix("./")
    if not _PATH.fullmatch(path):
        raise BadPatch(f"{path[:80]!a} is no path in the repository")
    return path


def _read(body: str) -> list[tuple[str, list[_Hunk]]]:
    """Return the hunks of a unified diff by the path after `+++`."""
    found: list[tuple[str, list[_Hunk]]] = []
    lines = body.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("--- ") and at < len(lines) and lines[at].startswith("+++ "):
            path = lines[at][4:].split("\t")[0].strip()
            at += 1
            found.append((_checked(path.removeprefix("b/")), []))
        elif (match := _HUNK.fullmatch(line)) or line.strip() == "@@":
            if not found:
                raise BadPatch("a hunk stands before the name of its file")
            old: list[str] = []
            new: list[str] = []
            while at < len(lines) and not lines[at].startswith(("@@", "--- ", "diff ")):
                mark, text = lines[at][:1], lines[at][1:]
                at += 1
                if mark == "\\":
                    continue  # No newline at end of file
                if mark not in ("", " ", "+", "-"):
                    raise BadPatch(f"a line of a hunk begins with {mark!a}, not ' ', '+' or '-'")
                if mark != "+":
                    old.append(text)
                if mark != "-":
                    new.append(text)
            # An empty line before the closing fence belongs to neither side.
            while old and new and not old[-1] and not new[-1]:
                old.pop()
                new.pop()
            found[-1][1].append(_Hunk(int(match[1]) if match else 1, old, new))
    return found


def _applied(path: str, text: str, hunks: list[_Hunk], lines: _Lines) -> str:
    moved = 0
    for hunk in hunks:
        old, new = lines.write(hunk.old), lines.write(hunk.new)
        at = _nearest(text, old, hunk.line - 1 + moved)
        if at is None:
            raise BadPatch(f"a hunk does not fit {path}")
        text = text[:at] + new + text[at + len(old) :]
        moved += len(new) - len(old)
    return text


def _nearest(text: str, old: str, wanted: int) -> int | None:
    """Return the place of `old` in `text` that is nearest to `wanted`; None if there is none."""
    wanted = max(0, min(wanted, len(text)))
    after = text.find(old, wanted)
    # Backwards by a search in the reversed text: find is linear, rfind is not.
    end = min(len(text), wanted + len(old))
    backwards = text[:end][::-1].find(old[::-1])
    before = end - backwards - len(old) if backwards >= 0 else -1
    if before < 0 or (after >= 0 and after - wanted < wanted - before):
        return after if after >= 0 else None
    return before
