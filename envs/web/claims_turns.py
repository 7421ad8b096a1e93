"""The turns that it takes to read all pages of a claims desk and to decide every claim, one session after another."""

from __future__ import annotations

PRESSES = 30
"""Buttons that may be pressed between two sign-ins."""
ROWS = 6
"""Rows on a page."""
_ENTERED = (1, 5, 1)
"""Entries before each of the three buttons by which a claim is opened, checked and confirmed: its number, the
decision, and a tick."""
_SIGN_IN = 2
"""Turns of a sign-in: the PIN and a button."""


def turns_needed(people: int, documents: int, claims: int) -> int:
    """Return the turns of who reads the table, all people and all documents once and then decides the claims.

    The end of a session costs the button that was pressed, the sign-in, and all that was entered for a claim.
    """
    turns = pages_of(claims) - 1 + pages_of(people) + 1 + documents + 1
    left = PRESSES - turns
    for _ in range(claims):
        button = 0
        while button < len(_ENTERED):
            turns += _ENTERED[button] + 1
            if left:
                left -= 1
                button += 1
            else:
                turns += _SIGN_IN
                left, button = PRESSES, 0
    return turns + 1


def pages_of(rows: int) -> int:
    """Return the number of pages that a table of so many rows has."""
    return max(1, -(-rows // ROWS))
