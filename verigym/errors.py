"""Every error that Verigym raises on purpose; the class says whose fault it is.

    VerigymError
    ├── RequestError     the caller's: a bad argument, an unknown id, a malformed body
    │   ├── ConfigError  a configuration file that cannot be used
    │   └── MissingError a package, program or device that is not on this machine
    ├── TaskError        the task author's: a task that breaks the contract
    ├── SandboxError     the machine's: the sandbox could not run or judge a program
    ├── PolicyError      the model server's: there is no completion
    └── VerifierFault    a verdict without a score (law 1); carries the verdict, so it is defined
                         in `verdict.py`

A wrong answer is none of these: it is a `Verdict` with score 0.0.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class VerigymError(Exception):
    """Base of all errors raised on purpose by Verigym."""


class RequestError(VerigymError, ValueError):
    """The caller made an invalid request; the message says what is valid."""


class ConfigError(RequestError):
    """A configuration file has an unknown key, a wrong type or an impossible value."""


class MissingError(RequestError):
    """A requirement is missing on this machine; the message says how to install it."""


class TaskError(VerigymError):
    """An environment or a task breaks the contract; its author has to fix it."""


class SandboxError(VerigymError):
    """The machine could not run a program or observe its result; says nothing about the program."""


class PolicyError(VerigymError):
    """The policy gave no completion: model server down, model folder broken, time limit exceeded."""


_LONGEST_NAME = 200


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the known names closest to `name`, or lists a few of them."""
    known = sorted(known)
    name = name[:_LONGEST_NAME]  # comparing takes longer than linear time
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(repr(c) for c in close)}?"
    if not known:
        return "none is known here"
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return f"known: {shown}"
