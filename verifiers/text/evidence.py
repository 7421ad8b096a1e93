"""Shows parts of a reply as evidence."""

from __future__ import annotations


def shown(value: object, chars: int = 40) -> str:
    """What a reply held, for evidence: printable ASCII in quotes, at most `chars` characters."""
    text = value if isinstance(value, str) else repr(value)[: chars + 1]
    quoted = ascii(text[:chars])
    return quoted + ("..." if len(text) > chars else "")
