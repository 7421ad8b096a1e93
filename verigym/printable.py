"""`printable`: text of a model or a program, made safe to show on a terminal.

A terminal executes control sequences in its output: they rename its window, hide or overwrite lines, or
make it answer as if text had been typed. ECMA-48 defines their syntax.
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
    """Return `text` without terminal control sequences or control characters but tab and newline."""
    # What is left of a sequence that was cut short has no control character, so it is harmless.
    return _CONTROLS.sub("", _ORDERS.sub("", text)) if _CONTROLS.search(text) else text


def escape_controls(json_text: str) -> str:
    r"""Return `json_text` with control characters that JSON allows in strings escaped, as in `\u009b`."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
