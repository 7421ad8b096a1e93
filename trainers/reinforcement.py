"""Gradient of reinforcement on token rows: the configured loss over micro-batches, with what it reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from verigym.agents.prefix_tree import count_distinct
from verigym.trainers.batch import Batch, Row
from verigym.trainers.forward import ForwardEngine, MicroBatch, place
from verigym.trainers.learner import Gap, StepStats
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens
from verigym.trainers.loss.compute import DISTIL, Distributions
from verigym.trainers.objective import Objective


def reinforce(
    engine: ForwardEngine,
    objective: Objective,
    rows: Sequence[Row],
    seed: Sequence[int],
    max_tokens: int,
) -> StepStats:
    """Add up the gradient of the configured objective over the micro-batches of `rows`.

    `max_tokens` is the constant of `dr-grpo`; `seed` is for the objective's draws.
    """
    whole = engine.batch(rows)
    names = whole.trajectory_B.tolist()
    denominators = Denominators.of(whole.mask_BT, max_tokens=max_tokens, trajectory=names)
    share_B = trajectory_tokens(whole.mask_BT, names)
    share_of = {id(row): n for row, n in zip(rows, share_B.tolist(), strict=True)}
    rows, marked = _selected(engine, objective, rows, share_of, seed)
    # A row without advantage has no policy gradient; it still counts in the denominators.
    reference = None if engine.algorithm.taxes_rewards else engine.reference
    every = reference is not None or engine.algorithm.entropy_coef > 0
    live = [row for row in rows if every or any(row.advantage) or row.teacher is not None]
    sums = dict.fromkeys(("loss", "kl", "clipped", "entropy", "seen", "computed"), 0.0)
    gaps: list[Tensor] = []
    with engine.reading_trees():
        for part in engine.parts(live):
            batch = part.batch
            distilled_BT = None
            if not objective.loss.distils:
                logp_BT, entropy_BT = engine.forward(engine.model, part)
            else:
                found_EV = engine.distribution(engine.model, part)
                logp_BT, entropy_BT = (
                    place(x_E, part) for x_E in engine.chosen(found_EV, part.edges.ids_E)
                )
                distilled_BT = _distilled(engine, objective, part, found_EV)
            ref_BT = None
            if reference is not None:
                with torch.no_grad():
                    ref_BT = engine.forward(reference, part)[0]
            found = objective.token_loss(
                batch,
                logp_BT,
                entropy_BT,
                ref_BT,
                _marks(part.rows, marked, batch),
                distilled_BT,
            )
            loss = aggregate(
                found.loss_BT,
                batch.mask_BT,
                engine.algorithm.aggregation_mode,
                denominators=denominators,
                trajectory_tokens_B=torch.tensor(
                    [share_of[id(row)] for row in part.rows], device=whole.mask_BT.device
                ),
            )
            loss.backward()  # type: ignore[no-untyped-call]
            sums["loss"] += loss.item()
            sums["kl"] += float(found.k3_BT.sum())
            sums["clipped"] += float(found.clipped_BT.sum())
            sums["entropy"] += float((entropy_BT.detach() * batch.mask_BT).sum())
            own_BT = batch.mask_BT & ~batch.demonstration_B[:, None]
            gaps.append((logp_BT.detach() - batch.rollout_BT).abs()[own_BT])
            sums["seen"] += int(batch.mask_BT.sum())
            sums["computed"] += part.reading.computed
    sums, gaps = engine.over_ranks(sums, gaps)
    seen = max(sums["seen"], 1)
    return StepStats(
        loss=sums["loss"],
        kl=sums["kl"] / seen,
        clip_share=sums["clipped"] / seen,
        entropy=sums["entropy"] / seen,
        grad_norm=0.0,
        n_tokens=denominators.tokens,
        gap=Gap.of(gaps),
        computed=int(sums["computed"]),
        distinct=count_distinct([row.ids for row in live]),
    )


def _selected(
    engine: ForwardEngine,
    objective: Objective,
    rows: Sequence[Row],
    share_of: dict[int, int],
    seed: Sequence[int],
) -> tuple[Sequence[Row], dict[int, list[bool]]]:
    """Return the rows with the tokens that this mini-batch drops, and those that are marked."""
    if not objective.ranks_tokens:
        return rows, {}
    with torch.no_grad():
        both = engine.per_row(
            rows, lambda part: torch.stack(engine.forward(engine.model, part), dim=-1)
        )
    selected, marks = objective.select(
        rows,
        [[pair[0] for pair in line] for line in both],
        [[pair[1] for pair in line] for line in both],
        seed,
    )
    for before, after in zip(rows, selected, strict=True):
        share_of[id(after)] = share_of[id(before)]
    if marks is None:
        return selected, {}
    return selected, {id(row): line for row, line in zip(selected, marks, strict=True)}


def _marks(part: Sequence[Row], marked: dict[int, list[bool]], batch: Batch) -> Tensor | None:
    if not marked:
        return None
    width = batch.mask_BT.shape[1]
    lines = [marked[id(row)][:width] for row in part]
    full = [[*line, *[False] * (width - len(line))] for line in lines]
    return torch.tensor(full, device=batch.mask_BT.device)


def _distilled(
    engine: ForwardEngine, objective: Objective, part: MicroBatch, logp_EV: Tensor
) -> Tensor:
    """Return the distillation loss of each token, [B, T]; 0 on rows without a teacher."""
    batch = part.batch
    loss_BT = torch.zeros(batch.mask_BT.shape, dtype=logp_EV.dtype, device=logp_EV.device)
    taught_B = torch.tensor([row.teacher is not None for row in part.rows], device=logp_EV.device)
    on_BT = batch.mask_BT & taught_B[:, None]
    if not bool(on_BT.any()):
        return loss_BT
    shown = engine.part([_after_teacher(row) for row in part.rows if row.teacher is not None])
    with torch.no_grad():
        teacher_EV = engine.distribution(engine.model, shown)
    loss_N = DISTIL[engine.algorithm.loss_name](
        Distributions(
            student_NV=logp_EV[part.edges.edge_M[taught_B[batch.mask_BT.nonzero()[:, 0]]]],
            teacher_NV=teacher_EV[shown.edges.edge_M],
            ids_N=batch.ids_BT[on_BT],
            old_N=batch.old_BT[on_BT],
        ),
        objective.options,
    )
    return loss_BT.masked_scatter(on_BT, loss_N)


def _after_teacher(row: Row) -> Row:
    """Return the row as the teacher reads it: its ids after those that it is shown."""
    assert row.teacher is not None
    n = len(row.teacher)
    zeros = [0.0] * n
    return replace(
        row,
        ids=[*row.teacher, *row.ids],
        mask=[*[0] * n, 0, *row.mask[1:]],
        logprobs=[*zeros, *row.logprobs],
        turn=[*[-1] * n, *row.turn],
        advantage=[*zeros, *row.advantage],
        old=[*zeros, *row.old],
        weight=None,
        dropped=None,
        answer=0,
    )
