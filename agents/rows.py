"""Training rows from turns: turns whose ids extend each other share a row (law 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verigym.episode import Turn


@dataclass(frozen=True, kw_only=True)
class TokenRow:
    """One sequence to train on; all lists are [L] over prompt and response tokens alike.

    `mask` is 1 on sampled tokens. `logprobs` is 0 elsewhere. `turn` is the index in the episode of
    the turn that sampled the token, -1 elsewhere.
    """

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    turn: list[int]


def token_rows(turns: Sequence[Turn]) -> list[TokenRow]:
    """Return the rows of one episode. Turns without ids give none; each sampled token is in one row."""
    rows: list[TokenRow] = []
    for index, turn in enumerate(turns):
        if not turn.response_ids:
            continue
        row = rows[-1] if rows else None
        if row is None or turn.prompt_ids[: len(row.ids)] != row.ids:
            row = TokenRow(ids=[], mask=[], logprobs=[], turn=[])
            rows.append(row)
        glue = turn.prompt_ids[len(row.ids) :]
        row.ids.extend(glue)
        row.mask.extend([0] * len(glue))
        row.logprobs.extend([0.0] * len(glue))
        row.turn.extend([-1] * len(glue))
        row.ids.extend(turn.response_ids)
        row.mask.extend(turn.mask)
        row.logprobs.extend(p if m else 0.0 for p, m in zip(turn.logprobs, turn.mask, strict=True))
        row.turn.extend(index if m else -1 for m in turn.mask)
    return rows
