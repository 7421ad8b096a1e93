"""Branch credit: advantages of stretches between states whose value was measured by continuations.

An episode is cut at the states whose value V(s) is known: its first one, valued by the other members of the
group, and those from which the policy played on several times. With cuts at turns k < k', each turn
from k to k' - 1 gets

    A = r_k + gamma r_{k+1} + ... + gamma^(k'-k) V(s_k') - V(s_k),

and V is 0 after the end. V does not depend on the episode's own actions from there on, so at a cut A is
an unbiased estimate of Q(s, a) - V(s), and elsewhere its baseline depends on the past alone. Without
continuations this is RLOO, with one at every state VinePPO.

Sources: VinePPO, arXiv 2410.01679 (all states); SPO, arXiv 2505.23564 (stretches); the choice of states
and the first value are ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit.group import rloo
from verigym.trainers.credit.segments import Bools, Floats, floats, kept, same_length


def branch(
    reward: npt.ArrayLike,
    trajectory: Sequence[int],
    group: Sequence[Hashable],
    value: npt.ArrayLike,
    *,
    gamma: float = 1.0,
    valid: Bools | None = None,
) -> Floats:
    """Return the advantage of each turn, [N], the turns of an episode in order.

    `trajectory` numbers the episodes 0..M-1 and `group` [M] names their tasks. `value` [N] is that of the
    state before each turn, NaN where it was not measured. `valid` [M] is False for faulted episodes, which get
    0 and are not counted; so does a group with fewer than two valid members.
    """
    r, v = floats(reward, "reward"), np.array(value, dtype=np.float64)
    same_length(len(r), trajectory=trajectory, value=v)
    number = np.array(trajectory, dtype=np.intp)
    first = np.flatnonzero(np.diff(number, prepend=-1))
    last = np.append(first[1:], len(r)) - 1
    on = kept(valid, len(first))
    returns = discounted(r, number, gamma)[first]
    # The return less the mean of the others' is what RLOO gives.
    start = returns - rloo(returns, group, valid=on)
    alone = _alone(group, on)
    out = np.zeros(len(r))
    for m, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if not on[m] or alone[m]:
            continue
        ahead, end = 0.0, high + 1
        for t in range(high, low - 1, -1):
            ahead = r[t] + gamma * ahead
            before = start[m] if t == low and np.isnan(v[t]) else v[t]
            if np.isnan(before):
                continue
            out[t:end] = ahead - before
            ahead, end = before, t
    return out


def discounted(reward: Floats, trajectory: npt.NDArray[np.intp], gamma: float) -> Floats:
    """Return the discounted sum of the rewards from each turn on, [N]."""
    out = np.zeros(len(reward))
    ahead, before = 0.0, -1
    for t in range(len(reward) - 1, -1, -1):
        ahead = reward[t] + (gamma * ahead if trajectory[t] == before else 0.0)
        out[t], before = ahead, trajectory[t]
    return out


def _alone(group: Sequence[Hashable], valid: Bools) -> list[bool]:
    count: dict[Hashable, int] = {}
    for name, on in zip(group, valid.tolist(), strict=True):
        count[name] = count.get(name, 0) + on
    return [count[name] < 2 for name in group]
