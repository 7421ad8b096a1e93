"""The answer that a reply commits to, or the reason why it commits to none."""

from __future__ import annotations

from msgspec import Struct

OTHER = "the reply names another quantity than the one that is asked for"


class Found(Struct, frozen=True):
    """The answer that a reply commits to. `answer` is empty if there is none, and `why` then gives the reason;
    `also` holds other commitments that nothing took back."""

    answer: str
    also: tuple[str, ...] = ()
    why: str = ""
    line: str = ""
    """The last line of a reply without a commitment, from which `answer` is read."""
    text: str = ""
    """All of such a reply, without its thoughts and with fixed phrases in English."""
