"""Finds the program in what a policy wrote."""

from __future__ import annotations

from verigym.reply import program
from verigym.verifiers.code.languages import names_of


def extract_program(text: str, language: str) -> str:
    """Return the program in a reply: the last complete fenced block tagged with `language`, else
    the last block of any tag, else the text itself.

    It is looked for in the last answer tag, else in everything outside thoughts (`verigym.reply`).
    Pure.
    """
    return program(text, tuple(names_of(language)))
