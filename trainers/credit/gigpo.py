"""GiGPO: a trajectory's group advantage plus a step's advantage among visits to the same state.

Covered: repeats of a state inside one trajectory, dense rewards, invalid-action penalties,
similarity of texts, faulted episodes, both the paper's statistics and those of its public code.
Not covered: making the anchor. It must be history-free; an environment's `state_key` is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import compress

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import rows as step_rows
from verigym.trainers.credit import segments
from verigym.trainers.credit.group import Norm, check_norm, group_advantage
from verigym.trainers.credit.grpo import episode_advantage
from verigym.trainers.credit.rows import Semantics
from verigym.trainers.credit.segments import Floats, Ints


@dataclass(frozen=True, eq=False)
class GigpoCredit:
    """Per row [N]. Rows left out with `valid` hold 0, and -1 as their step group.

    `episode_return` R, `step_return` G_t, `step_group` the number of the step group by first
    appearance, `episode_advantage` A_E, `step_advantage` A_S, `advantage` A_E + omega * A_S.
    """

    episode_return: Floats
    step_return: Floats
    step_group: Ints
    episode_advantage: Floats
    step_advantage: Floats
    advantage: Floats

    def group_sizes(self) -> Ints:
        """Return the members of each step group, [K]; for the report's histogram."""
        return np.bincount(self.step_group[self.step_group >= 0]).astype(np.intp, copy=False)


def gigpo(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    anchor: Sequence[Hashable],
    reward: npt.ArrayLike,
    *,
    invalid: npt.ArrayLike | None = None,
    norm: Norm = "mean_std",
    semantics: Semantics = "paper",
    gamma: float = 0.95,
    omega: float = 1.0,
    penalty: float = 0.0,
    ddof: int = 1,
    eps: float = 1e-6,
    similarity: float | None = None,
    valid: npt.ArrayLike | None = None,
) -> GigpoCredit:
    """Credit of each step row; see `GigpoCredit` for what comes back.

    One entry per row: `group` names the task instance, `trajectory` the try within it, `anchor` the
    state in which the step was taken, `reward` [N] what the step earned, `invalid` [N] 1 where the
    action could not be used. Rows of one trajectory stand in time order and may be interleaved.

    A step group holds all rows of one group with the same anchor, over trajectories and time,
    repeats included; the same anchor in two groups is two step groups. A step group of one gives
    A_S = 0. `norm` is `mean_std`, or `mean` to leave the deviations out of A_E and A_S alike.

    `penalty` is taken off the reward of an invalid row: under `paper` before returns, so that R and
    earlier steps feel it; under `verl_agent` after, from that row's R and G_t only. `verl_agent`
    also takes A_E's statistics over rows, not trajectories, and gives a group of one row its raw
    return.

    `similarity` in (0, 1] merges text anchors of a group: in row order, a text joins the first
    cluster whose first member it resembles with a difflib ratio of at least that (0.95 is usual,
    0.9 for search). This depends on order and compares each new text with each cluster.

    `valid` [N] False leaves a row out of everything: mark every row of a faulted episode, and
    padding. With `valid` given, a group with fewer than two valid trajectories gives advantage 0
    altogether (law 1); without it, a lone trajectory that visits a state twice has step credit,
    as in the paper.
    Source: Feng et al. 2025, arXiv 2505.10978, eqs. 3 to 8; public code as of 2025-10-15.
    """
    check_norm(norm)
    rows = step_rows.read(
        group,
        trajectory,
        reward,
        invalid=invalid,
        penalty=penalty,
        semantics=semantics,
        valid=valid,
    )
    segments.same_length(len(rows.kept), anchor=anchor)
    episode_return = step_rows.episode_returns(rows)
    step_return = step_rows.step_returns(rows, gamma)
    steps = step_groups(rows.group, list(compress(anchor, rows.kept.tolist())), similarity)

    in_episode = episode_advantage(
        rows, episode_return, norm=norm, semantics=semantics, ddof=ddof, eps=eps
    )
    in_step = group_advantage(step_return, steps, norm=norm, ddof=ddof, eps=eps)
    in_episode[rows.lonely] = 0.0
    in_step[rows.lonely] = 0.0

    step_group = np.full(len(rows.kept), -1, dtype=np.intp)
    step_group[rows.kept] = steps
    return GigpoCredit(
        episode_return=rows.spread(episode_return),
        step_return=rows.spread(step_return),
        step_group=step_group,
        episode_advantage=rows.spread(in_episode),
        step_advantage=rows.spread(in_step),
        advantage=rows.spread(in_episode + omega * in_step),
    )


def step_groups(group: Ints, anchor: Sequence[Hashable], similarity: float | None = None) -> Ints:
    """Return the number of each row's step group, by first appearance; `similarity` as for `gigpo`."""
    if similarity is None:
        return segments.number_pairs(group, anchor)[0]
    if not 0.0 < similarity <= 1.0:
        raise ValueError(f"similarity must be in (0, 1] or None, got {similarity}")

    clusters: dict[int, list[tuple[int, SequenceMatcher[str]]]] = {}
    known: dict[tuple[int, str], int] = {}
    count = 0
    out = np.empty(len(anchor), dtype=np.intp)
    for row, (task, text) in enumerate(zip(group.tolist(), anchor, strict=True)):
        if not isinstance(text, str):
            raise ValueError(f"similarity compares texts, got an anchor of {type(text).__name__}")
        # An equal text meets the same clusters in the same order, so it always joins its twin.
        if (task, text) not in known:
            mine = clusters.setdefault(task, [])
            found = next((number for number, rep in mine if _alike(rep, text, similarity)), count)
            if found == count:
                mine.append((count, SequenceMatcher(None, "", text)))
                count += 1
            known[task, text] = found
        out[row] = known[task, text]
    return out


def _alike(representative: SequenceMatcher[str], text: str, threshold: float) -> bool:
    # ratio() is not symmetric: the new text comes first, as in the public code. The two quick
    # ratios are upper bounds of it, so they only save time.
    representative.set_seq1(text)
    return (
        representative.real_quick_ratio() >= threshold
        and representative.quick_ratio() >= threshold
        and representative.ratio() >= threshold
    )
