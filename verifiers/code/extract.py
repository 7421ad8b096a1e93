"""Finds the program in what a policy wrote."""

from __future__ import annotations

import re

from verigym.verifiers.code.languages import names_of

# Possessive: a line of 64,000 marks and a backtick at its end would take a quarter of a minute.
_FENCE = re.compile(r" {0,3}+(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^`]*+")


def extract_program(text: str, language: str) -> str:
    """The program in `text`: the last complete fenced block that is tagged with `language`, else the
    last complete one of any tag, else the whole text.

    Fences are Markdown's: three or more backticks or tildes at the start of a line, closed by as
    many of the same kind. A fence that is never closed (an answer cut short) is no block. Pure.
    """
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
    tags = names_of(language)
    tagged = [body for tag, body in blocks if tag in tags]
    if tagged:
        return tagged[-1]
    return blocks[-1][1] if blocks else text
