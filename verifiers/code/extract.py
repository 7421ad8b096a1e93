"""Finds the program in what a policy wrote."""

from __future__ import annotations

from verigym.reply import program
from verigym.verifiers.code.languages import names_of


def extract_program(text: str, language: str) -> str:
    """The program in a reply: in the last answer tag, else in all that is spoken (`verigym.reply`), the last
    complete fenced block that is tagged with `language`, else the last of any tag, else the text itself.

    Thoughts are never the program. Pure.
    """
    return program(text, tuple(names_of(language)))
