"""Finds the program in what a policy wrote."""

from __future__ import annotations

from verigym.verifiers.code.languages import names_of
from verigym.verifiers.text.reply import fenced_blocks


def extract_program(text: str, language: str) -> str:
    """The program in `text`: the last complete fenced block that is tagged with `language`, else the
    last complete one of any tag, else the whole text.

    Fences are Markdown's: three or more backticks or tildes at the start of a line, closed by as
    many of the same kind. A fence that is never closed (an answer cut short) is no block. Pure.
    """
    blocks = fenced_blocks(text)
    tags = names_of(language)
    tagged = [body for tag, body in blocks if tag in tags]
    if tagged:
        return tagged[-1]
    return blocks[-1][1] if blocks else text
