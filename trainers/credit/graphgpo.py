"""GraphGPO: steps valued by the distance to success in the graph of all states a group visited.

Source: arXiv 2605.26684 and its code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
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
class GraphCredit:
    """Per row [N]: steps from the next state to success, the step's value, and advantages."""

    distance: Floats
    step_value: Floats
    episode_advantage: Floats
    graph_advantage: Floats
    advantage: Floats


def graphgpo(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    anchor: Sequence[Hashable],
    reward: npt.ArrayLike,
    *,
    next_anchor: Sequence[Hashable] | None = None,
    invalid: npt.ArrayLike | None = None,
    decay: float = 0.1,
    scale: float = 10.0,
    penalty: float = 0.0,
    norm: Norm = "mean_std",
    omega: float = 1.0,
    episode_weight: float = 1.0,
    progress: bool = False,
    semantics: Semantics = "paper",
    eps: float = 1e-6,
    valid: npt.ArrayLike | None = None,
) -> GraphCredit:
    """Return episode_weight A_E + omega A_graph of each step row; arguments as for `gigpo`.

    Edges lead from each state to the next of its trajectory; the last row of a trajectory with a
    positive return (penalties aside) leads to the goal, that of another to its `next_anchor`, or to a
    state of its own if that is None. d is the fewest edges to the goal, and one more than the largest
    for states that cannot reach it. A step is worth scale * decay^d(s'), with `progress`
    scale * decay^(d(s') - d(s) + 1), less `penalty` if invalid; A_graph compares it among the visits
    of its state.
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
    n = len(rows.kept)
    ends = [None] * n if next_anchor is None else list(next_anchor)
    segments.same_length(n, anchor=anchor, next_anchor=ends)
    raw = segments.floats(reward, "reward")[rows.kept]
    won = (np.bincount(rows.trajectory, raw, rows.n_trajectories) > 0)[rows.trajectory]
    keep = rows.kept.tolist()
    following, _ = step_rows.successors(rows)
    node, after, owner = _edges(
        rows.group.tolist(),
        list(compress(anchor, keep)),
        list(compress(ends, keep)),
        following.tolist(),
        won.tolist(),
    )
    d = _distances(node, after, owner, rows.n_groups)
    bad = np.zeros(n) if invalid is None else segments.floats(invalid, "invalid")
    exponent = d[after] - d[node] + 1.0 if progress else d[after]
    value = scale * decay**exponent - penalty * bad[rows.kept]
    graph = group_advantage(value, node.tolist(), norm=norm, eps=eps)
    returns = step_rows.episode_returns(rows)
    episode = episode_advantage(rows, returns, norm=norm, semantics=semantics, ddof=1, eps=eps)
    graph[rows.lonely] = 0.0
    episode[rows.lonely] = 0.0
    return GraphCredit(
        distance=rows.spread(d[after]),
        step_value=rows.spread(value),
        episode_advantage=rows.spread(episode),
        graph_advantage=rows.spread(graph),
        advantage=rows.spread(episode_weight * episode + omega * graph),
    )


def _edges(
    group: Sequence[int],
    anchor: Sequence[Hashable],
    end: Sequence[Hashable],
    following: Sequence[int],
    won: Sequence[bool],
) -> tuple[Ints, Ints, Ints]:
    """Return the node of each row and of what follows it, and the group of each node.

    Node g is the goal of group g.
    """
    n_groups = max(group, default=-1) + 1
    owner = list(range(n_groups))
    known: dict[Hashable, int] = {}

    def number(g: int, key: Hashable) -> int:
        found = known.setdefault((g, key), len(owner))
        if found == len(owner):
            owner.append(g)
        return found

    node = [number(g, ("state", a)) for g, a in zip(group, anchor, strict=True)]
    after = []
    for i, g in enumerate(group):
        if following[i] >= 0:
            after.append(node[following[i]])
        elif won[i]:
            after.append(g)
        else:
            after.append(number(g, ("end", i) if end[i] is None else ("state", end[i])))
    return np.array(node, np.intp), np.array(after, np.intp), np.array(owner, np.intp)


def _distances(node: Ints, after: Ints, owner: Ints, n_groups: int) -> Floats:
    """Return the fewest edges from each node to its group's goal, unreachable ones filled in."""
    before: dict[int, list[int]] = {}
    for a, b in zip(node.tolist(), after.tolist(), strict=True):
        before.setdefault(b, []).append(a)
    d = np.full(len(owner), -1.0)
    goals = range(min(n_groups, len(owner)))
    d[list(goals)] = 0.0
    queue = deque(goals)
    while queue:
        here = queue.popleft()
        for previous in before.get(here, ()):
            if d[previous] < 0:
                d[previous] = d[here] + 1.0
                queue.append(previous)
    largest = np.zeros(n_groups)
    np.maximum.at(largest, owner, d)
    return np.where(d < 0, largest[owner] + 1.0, d)
