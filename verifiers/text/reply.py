"""Finds the part of a reply that is to be judged: thoughts off, tags and fences read."""

from __future__ import annotations

import re

# Possessive: a line of 64,000 marks and a backtick at its end would take a quarter of a minute.
_FENCE = re.compile(r" {0,3}+(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^`]*+")
_OPEN = re.compile(r"<answer>", re.IGNORECASE | re.ASCII)
_CLOSE = re.compile(r"</answer>", re.IGNORECASE | re.ASCII)


def without_thoughts(text: str) -> str:
    """`text` after its last `</think>`; nothing where a thought that opens it never ends."""
    _, closed, tail = text.rpartition("</think>")
    if closed:
        return tail
    return "" if tail.lstrip().startswith("<think>") else tail


def last_answer(text: str) -> str | None:
    """The inside of the last `<answer>` tag, closed or cut short; None where there is no tag."""
    opened = None
    for match in _OPEN.finditer(text):
        opened = match.end()
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened)
    return text[opened : closed.start() if closed else len(text)]


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Tag (small letters) and body of each complete fenced block of Markdown, in order."""
    blocks: list[tuple[str, str]] = []
    opening: tuple[str, str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        bare = line.rstrip()
        if opening is None:
            match = _FENCE.fullmatch(bare)
            if match:
                opening = match[1], match[2].lower()
                lines = []
            continue
        mark = opening[0]
        closing = bare.lstrip(" ")
        if len(closing) >= len(mark) and set(closing) == {mark[0]}:
            blocks.append((opening[1], "\n".join(lines)))
            opening = None
        else:
            lines.append(line)
    return blocks


def shown(value: object, chars: int = 40) -> str:
    """What a reply held, for evidence: printable ASCII in quotes, at most `chars` characters."""
    text = value if isinstance(value, str) else repr(value)[: chars + 1]
    quoted = ascii(text[:chars])
    return quoted + ("..." if len(text) > chars else "")
