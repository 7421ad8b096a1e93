"""`printable`: text of a model or a program, fit to be shown on a terminal.

A terminal takes orders from what it shows: to rename its window, to hide or overwrite lines, to answer
with text as if it had been typed. ECMA-48 says how they look.
"""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"""
    (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]                      # CSI: colours, cursor, modes
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] )                   # OSC, DCS, SOS, PM, APC ...
      [^\x07\x1b\x80-\x9f\n]* (?: \x07 | \x1b\\ | \x9c | (?=\x1b) )    # ... to their end
    | \x1b [ -/]* [0-Z\\^-~]                                     # all others
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` without terminal control sequences, and without any control character but tab and newline."""
    # What is left of a sequence that was cut short has no control character, so it is harmless.
    return _CONTROLS.sub("", _ORDERS.sub("", text)) if _CONTROLS.search(text) else text


def escape_controls(json_text: str) -> str:
    r"""`json_text` with the control characters that JSON allows in strings as `\u009b` and the like."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
