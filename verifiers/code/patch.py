"""Reads a patch out of a reply, and applies it to a folder of text files.

A patch is one or more fenced blocks: unified diffs (a block that holds `--- ` and `+++ ` lines), or whole
files (a block whose first line is `# file: PATH`). Line numbers of a hunk only decide between places
that fit as well, since they are often wrong in what models write; the lines themselves must fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from verigym.reply import fenced, scope

_FILE = re.compile(r"#\s*file:\s*(\S+)\s*", re.IGNORECASE)
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@.*")
_PATH = re.compile(r"(?:[A-Za-z0-9_]+/){0,8}[A-Za-z0-9_]+\.[a-z]{1,8}")


class BadPatch(Exception):
    """The reply holds no patch, or one that does not fit; the text says why."""


@dataclass(frozen=True)
class _Hunk:
    line: int
    old: list[str]
    new: list[str]


def holds_patch(reply: str) -> bool:
    """Whether a reply has a block that looks like one."""
    return any(_FILE.match(block.body) or "+++ " in block.body for block in fenced(scope(reply)))


def patched(files: Mapping[str, str], reply: str) -> dict[str, str]:
    """The files that the patch in `reply` changes or makes, whole. Raises BadPatch."""
    changed: dict[str, str] = {}
    for block in fenced(scope(reply.replace("\r\n", "\n"))):
        body = block.body
        first, _, rest = body.partition("\n")
        if named := _FILE.fullmatch(first.strip()):
            changed[_checked(named[1])] = rest if rest.endswith("\n") else rest + "\n"
        elif "+++ " in body:
            for path, hunks in _read(body):
                text = changed.get(path, files.get(path, ""))
                if path not in files and any(hunk.old for hunk in hunks):
                    raise BadPatch(f"there is no file {path}")
                changed[path] = _applied(path, text, hunks)
    if not changed:
        raise BadPatch("the reply holds no patch")
    return changed


def _checked(path: str) -> str:
    path = path.removeprefix("./")
    if not _PATH.fullmatch(path):
        raise BadPatch(f"{path[:80]!a} is no path in the repository")
    return path


def _read(body: str) -> list[tuple[str, list[_Hunk]]]:
    """The hunks of a unified diff by the path after `+++`."""
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


def _applied(path: str, text: str, hunks: list[_Hunk]) -> str:
    lines = text.split("\n")
    moved = 0
    for hunk in hunks:
        places = [
            at
            for at in range(len(lines) - len(hunk.old) + 1)
            if lines[at : at + len(hunk.old)] == hunk.old
        ]
        if not places:
            raise BadPatch(f"a hunk does not fit {path}")
        wanted = hunk.line - 1 + moved
        at = min(places, key=lambda place: abs(place - wanted))
        lines[at : at + len(hunk.old)] = hunk.new
        moved += len(hunk.new) - len(hunk.old)
    return "\n".join(lines)
