"""Writes parts of a reply into the evidence of a verdict."""

from __future__ import annotations


def show(value: object, chars: int = 40) -> str:
    """Return what a reply held as printable ASCII in quotes, cut off after `chars` characters."""
    text = value if isinstance(value, str) else repr(value)[: chars + 1]
    quoted = ascii(text[:chars])
    return quoted + ("..." if len(text) > chars else "")
