"""Numbers of a reply as they are written in other countries, in the form that `values.py` reads."""

from __future__ import annotations

import re

_SPLIT = re.compile(r"\d[ ,'\u00a0\u2009\u202f]\d", re.ASCII)
_SPACED = re.compile(
    r"(?<![\w.,])(\d{1,3})((?:[ \u00a0\u2009\u202f']\d{3})+)(?![\d'])(?![.,]\d{3})", re.ASCII
)
_COMMA = re.compile(r"(?<![\w.,])(\d{1,6}),(\d{1,2})(?![\w.,]*\d)", re.ASCII)

_MINUS = re.compile(
    r"((?:^|\b(?:is|was|equals|at)\s|[=:]\s?))(?:minus|negative)\s(?=\d)", re.IGNORECASE
)


def with_minus(text: str) -> str:
    """Return `text` with "minus 5" as "-5"."""
    return _MINUS.sub(r"\1-", text.replace("−", "-"))


def with_points(text: str) -> str:
    """Return `text` with "12 345" as "12345" and "51,9" as "51.9"; "1,234" stays, as a thousands comma."""
    if not _SPLIT.search(text):
        return text
    text = _SPACED.sub(lambda match: match[1] + re.sub(r"\D", "", match[2]), text)
    return _COMMA.sub(r"\1.\2", text)
