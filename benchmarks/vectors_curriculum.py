"""The functions of curricula and of admission as test vectors call them: lists in, named outputs out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from verigym.trainers import curriculum, staleness

Outputs = dict[str, Any]


def dump_probs(*, L: Any, n: Any, tau: float) -> Outputs:
    return {
        "ucb": curriculum.dump_ucb(L, n),
        "prob": curriculum.dump_probabilities(L, n, tau=tau),
    }


def areal_capacity(*, cases: list[dict[str, int]]) -> Outputs:
    return {"capacity": [staleness.admission_capacity(**case) for case in cases]}


def dars_extra(*, acc: Any, n: int = 8, n_max_ET: int = 32, n_max_HW: int = 64) -> Outputs:
    extra = partial(curriculum.dars_extra, acc, n=n)
    return {
        "ET": extra(schedule="et", n_max=n_max_ET),
        "HW": extra(schedule="hw", n_max=n_max_HW),
        "ET_std": extra(schedule="et", n_max=n_max_ET, with_std=True),
    }


def sec_update(*, Q: Any, mean_abs_adv: Any, alpha: float = 0.5, tau: float = 1.0) -> Outputs:
    arms = list(Q)
    after = curriculum.sec_update(
        [Q[arm] for arm in arms],
        [mean_abs_adv.get(arm, 0.0) for arm in arms],
        [arm in mean_abs_adv for arm in arms],
        alpha=alpha,
    )
    return {
        "Q": dict(zip(arms, after.tolist(), strict=True)),
        "prob": curriculum.softmax(after, tau=tau),
    }


FUNCTIONS: dict[str, Callable[..., Outputs]] = {
    "areal_capacity": areal_capacity,
    "dars_extra": dars_extra,
    "dump_probs": dump_probs,
    "sec_update": sec_update,
}
