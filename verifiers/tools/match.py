"""Matches calls with the calls wanted, and measures how near they are, as ToolRL does.

Source: Qian et al. 2025, "ToolRL: Reward is All Tool Learning Needs", arXiv 2504.13958, section 3.3.
With G the calls wanted and P those submitted, each pair of one name is worth

    r_param = |keys(G_j) & keys(P_i)| / |keys(G_j) | keys(P_i)|        (1 if neither has any)
    r_value = number of keys k of G_j with P_i[k] = G_j[k]

and with the pairing that makes their sum largest

    match = (r_name + sum of r_param + sum of r_value) / (1 + |G| + sum of |keys(G_j)|)

where r_name = |N_G & N_P| / |N_G | N_P| over the names as multisets. This is R_max / S_max of the
paper; its reward is 6 * match - 3. Two additions: where order counts, the pairing must keep it; and
optional arguments are left out of both sides where the call leaves them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verigym.canonical import JSON
from verigym.verifiers.tools.read_calls import ReadCall
from verigym.verifiers.tools.values import Sameness


@dataclass(frozen=True)
class WantedCall:
    """One call that the task wants. `accepted` has the right values of each argument."""

    name: str
    accepted: Mapping[str, Sequence[JSON]]
    free: frozenset[str] = frozenset()
    """Arguments that may have any value that the schema allows."""
    optional: frozenset[str] = frozenset()
    """Arguments that may be left out."""
    defaults: Mapping[str, JSON] = field(default_factory=dict)
    """Values that the tool uses for arguments left out."""

    @property
    def keys(self) -> frozenset[str]:
        """Every argument that may be given."""
        return frozenset(self.accepted) | self.free


@dataclass(frozen=True)
class CallPair:
    """Similarity of one call to a wanted one."""

    params: float
    values: float
    """r_value, in [0, the number of arguments that must be given]."""
    full: bool
    wrong: tuple[str, ...] = ()
    """Arguments, of those submitted, whose values are wrong or that are not wanted."""

    @property
    def weight(self) -> float:
        """Quantity that the pairing maximises."""
        return self.params + self.values


@dataclass(frozen=True)
class Match:
    """The best pairing: for each call wanted the index of its call, and the shares of the score."""

    pairs: dict[int, tuple[int, CallPair]]
    names: float
    params: float
    values: float
    total: float
    full: bool


def compare(call: ReadCall, wanted: WantedCall, sameness: Sameness) -> CallPair | None:
    """Return the similarity of `call` to `wanted`; None if the names differ."""
    if call.name != wanted.name:
        return None

    def accepted(key: str, value: JSON) -> bool:
        if key in wanted.free:
            return True
        return any(sameness.same(value, right) for right in wanted.accepted.get(key, ()))

    given = dict(call.arguments)
    wanted_keys = set(wanted.keys)
    for key, default in wanted.defaults.items():
        if key in wanted_keys:
            if key not in wanted.optional:
                given.setdefault(key, default)
        elif key in given and sameness.same(given[key], default):
            del given[key]  # said what holds anyway
    wanted_keys -= {key for key in wanted.optional if key not in given}
    right = [key for key in wanted_keys if key in given and accepted(key, given[key])]
    union = wanted_keys | given.keys()
    params = len(wanted_keys & given.keys()) / len(union) if union else 1.0
    must = len(wanted.keys - wanted.optional)
    share = len(right) / len(wanted_keys) if wanted_keys else 1.0
    wrong = tuple(sorted((given.keys() & call.arguments.keys()) - set(right)))
    return CallPair(params, must * share, len(right) == len(union), wrong)


def match_calls(
    calls: Sequence[ReadCall], wanted: Sequence[WantedCall], ordered: bool, sameness: Sameness
) -> Match:
    """Return the pairing of largest weight, in order if `ordered`, and its shares."""
    table = [[compare(call, one, sameness) for call in calls] for one in wanted]
    chosen = _in_order(table) if ordered else _any_order(table)
    pairs: dict[int, tuple[int, CallPair]] = {}
    for row, column in chosen.items():
        pair = table[row][column]
        if pair is not None:
            pairs[row] = (column, pair)
    asked = Counter(one.name for one in wanted)
    made = Counter(call.name for call in calls)
    either = (asked | made).total()
    names = (asked & made).total() / either if either else 1.0
    params = sum(pair.params for _, pair in pairs.values())
    values = sum(pair.values for _, pair in pairs.values())
    most = sum(len(one.keys - one.optional) for one in wanted)
    full = len(calls) == len(wanted) == len(pairs) and all(pair.full for _, pair in pairs.values())
    total = (names + params + values) / (1 + len(wanted) + most)
    return Match(
        pairs,
        names,
        params / len(wanted) if wanted else 1.0,
        values / most if most else 1.0,
        1.0 if full else min(total, 1.0),
        full,
    )


def _in_order(table: Sequence[Sequence[CallPair | None]]) -> dict[int, int]:
    """Row to column, both rising, with the largest sum of weights."""
    rows, columns = len(table), len(table[0]) if table else 0
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            pair = table[i][j]
            taken = best[i + 1][j + 1] + _worth(pair) if pair else 0.0
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    chosen: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        pair = table[i][j]
        if pair and best[i][j] == best[i + 1][j + 1] + _worth(pair):
            chosen[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return chosen


def _any_order(table: Sequence[Sequence[CallPair | None]]) -> dict[int, int]:
    """Row to column with the largest sum of weights: the Hungarian method, O(n^3), n at most 64."""
    if not table or not table[0]:
        return {}
    size = max(len(table), len(table[0]))
    cost = [[0.0] * (size + 1) for _ in range(size + 1)]
    for i, row in enumerate(table, 1):
        for j, pair in enumerate(row, 1):
            cost[i][j] = -_worth(pair) if pair else 0.0
    row_price, column_price = [0.0] * (size + 1), [0.0] * (size + 1)
    owner = [0] * (size + 1)  # of each column; column 0 is the row that looks for one
    for start in range(1, size + 1):
        owner[0] = start
        column = 0
        least = [float("inf")] * (size + 1)
        came = [0] * (size + 1)
        done = [False] * (size + 1)
        while True:
            done[column] = True
            row_at = owner[column]
            step, following = float("inf"), 0
            for j in range(1, size + 1):
                if done[j]:
                    continue
                reduced = cost[row_at][j] - row_price[row_at] - column_price[j]
                if reduced < least[j]:
                    least[j], came[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(size + 1):
                if done[j]:
                    row_price[owner[j]] += step
                    column_price[j] -= step
                else:
                    least[j] -= step
            column = following
            if owner[column] == 0:
                break
        while column:
            owner[column] = owner[came[column]]
            column = came[column]
    return {owner[j] - 1: j - 1 for j in range(1, len(table[0]) + 1) if 0 < owner[j] <= len(table)}


def _worth(pair: CallPair) -> float:
    # A pair is better than none even where nothing but the name is right: the paper pairs it too,
    # and the evidence can then say which argument is wrong.
    return pair.weight + 1e-9
