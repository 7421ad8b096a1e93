"""Training rows from turns: turns whose ids extend each other share a row (law 3).

The turns of an agent program may belong to several conversations at once, so each looks at all rows before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verigym.episode import Turn


@dataclass(kw_only=True)
class TokenRow:
    """One sequence to train on; all lists are [L] over prompt and response tokens alike.

    `mask` is 1 on sampled tokens. `logprobs` is 0 elsewhere. `turn` is the index in the episode of
    the turn that sampled the token, -1 elsewhere. `answer` is the place from which the row's only turn sampled all
    tokens to the end, 0 if there are others.
    """

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    turn: list[int]
    answer: int = 0


def token_rows(turns: Sequence[Turn]) -> list[TokenRow]:
    """Return the rows of one episode. Turns without ids give none; each sampled token is in one row.

    A turn goes on with the latest row that its prompt begins with.
    """
    rows: list[TokenRow] = []
    for index, turn in enumerate(turns):
        if not turn.response_ids:
            continue
        row = _row_before(turn.prompt_ids, rows)
        if row is None:
            place = len(turn.prompt_ids) if all(turn.mask) else 0
            row = TokenRow(ids=[], mask=[], logprobs=[], turn=[], answer=place)
            rows.append(row)
        else:
            row.answer = 0
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


def _row_before(ids: list[int], rows: Sequence[TokenRow]) -> TokenRow | None:
    # A plain loop, since an episode of hundreds of step rows compares all pairs; lengths and last ids mostly differ.
    n = len(ids)
    for row in reversed(rows):
        start = row.ids
        size = len(start)
        if size <= n and ids[size - 1] == start[-1] and ids[:size] == start:
            return row
    return None
