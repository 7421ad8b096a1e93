"""Environments of the library that have their named levels only, and whose `work` is an estimate.

The laws of operations are not applied to them. A family that is finished has no line here.
"""

from __future__ import annotations

REASON = "its levels are not filled so far, and its work is an estimate"

UNFILLED: frozenset[str] = frozenset()
