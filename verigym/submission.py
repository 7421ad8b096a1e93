"""Submissions that JSON cannot hold, and who is at fault for them.

A model can write half of a surrogate pair, `NaN` among the arguments of a call, or a thousand
brackets: that is the policy's fault and a scored verdict. An object that no JSON text can represent
comes from the calling program: that is a fault without a score (law 1).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from verigym.canonical import JSON, digest, to_json
from verigym.errors import RequestError
from verigym.verdict import Status, Verdict, fault, unusable

MAX_DEPTH = 60
"""Maximum nesting depth of lists and objects in a submission; JSON parsers may fail beyond it."""
_NESTING = (list, tuple, dict)


def refusal(submission: JSON) -> Verdict | None:
    """Return the verdict on a submission that JSON cannot represent; None for any other."""
    if isinstance(submission, str):
        return None if submission.isascii() else _refused_text(submission)
    # Before it is written: parts that are shared many times over would take all memory.
    if (
        isinstance(submission, _NESTING)
        and not _texts(submission)
        and _depth(submission) > MAX_DEPTH
    ):
        return unusable("too_deep", f"lists and objects may be nested {MAX_DEPTH} deep")
    try:
        to_json(submission)
    except RequestError as error:
        if _plain(submission):
            return unusable("not_json", f"the submission is not JSON: {error}")
        return fault(Status.VERIFIER_ERROR, "not_json", str(error))
    return None


def identity(id: str, version: int, params: Any, task: Any, submission: JSON) -> str:
    """Return the digest of a verdict, also for a submission that `refusal` scores.

    Six values are hashed for such a submission and five for any other, so the digests never collide.
    Raises RequestError if the task or the submission is the caller's mistake.
    """
    return identity_of(refusal(submission), id, version, params, task, submission)


def identity_of(
    refused: Verdict | None, id: str, version: int, params: Any, task: Any, submission: JSON
) -> str:
    """Return the same as `identity`, given the result `refused` of `refusal`."""
    if refused is None or refused.fault:
        return digest(id, version, params, task, submission)
    if isinstance(submission, str):
        raw = submission.encode("utf-8", "surrogatepass")
    elif refused.reason == "too_deep":
        raw = b"too deep"  # walking it further is what must not happen
    else:
        try:
            raw = json.dumps(submission, sort_keys=True).encode()
        except ValueError:
            raw = b"too long"  # a number of more digits than Python writes
    return digest(id, version, params, task, refused.reason, hashlib.sha256(raw).hexdigest())


def _refused_text(text: str) -> Verdict | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        what = f"half of a surrogate pair at character {error.start}"
        return unusable("not_text", f"the submission is not Unicode text: {what}")
    return None


def _texts(value: JSON) -> bool:
    """Return True if `value` is a flat list of strings, as most lists of moves are."""
    return not isinstance(value, dict) and set(map(type, value)) == {str}  # type: ignore[arg-type]


def _depth(value: JSON) -> int:
    """Return the nesting depth of lists and objects, counted to just above the limit, without recursion."""
    depth = 0
    level: list[Any] = [value]
    seen: set[int] = set()
    while level and depth <= MAX_DEPTH:
        depth += 1
        inner: list[Any] = []
        for one in level:
            if id(one) in seen:  # shared parts are walked once a level
                continue
            seen.add(id(one))
            children = one.values() if isinstance(one, dict) else one
            inner += [c for c in children if isinstance(c, _NESTING)]
        level, seen = inner, set()
    return depth


def _plain(value: JSON) -> bool:
    """Return True if a JSON parser that is lax about numbers and text could have produced `value`."""
    if isinstance(value, dict):
        return all(isinstance(k, str) for k in value) and all(map(_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str)
