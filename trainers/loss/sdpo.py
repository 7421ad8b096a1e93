"""SDPO: distil the policy into itself, the teacher having seen feedback or a successful attempt.

The teacher is the same model with a prompt that holds the demonstration or the feedback; its
distribution on the student's own tokens is the target.
Source: Hübotter et al. 2026, arXiv 2601.20802, and its code; TRL's code for `sampled`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor

from verigym.trainers.credit.options import UseFeedback
from verigym.trainers.loss.tokens import bounded_exp, keep
from verigym.trainers.losses import Distance


def sdpo(
    student_BTV: Tensor,
    teacher_BTV: Tensor,
    ids_BT: Tensor,
    mask_BT: Tensor,
    *,
    mode: Distance = "full",
    alpha: float = 1.0,
    topk: int | None = None,
    tail: bool = False,
    active_B: Tensor | None = None,
    old_BT: Tensor | None = None,
    is_clip: float | None = 2.0,
) -> tuple[Tensor, Tensor]:
    """Return the loss per token and the tokens that count, both [B, T].

    `student_BTV` and `teacher_BTV` are logits; the teacher's carry no gradient. `full` compares whole
    distributions, `topk` those of the student's `topk` tokens, renormalised or with one bucket for
    the rest (`tail`), `sampled` uses the sampled token alone: stopgrad(s - t) s.
    `alpha` 1 is KL(S || T), 0 KL(T || S), between them (1 - alpha) KL(S || M) + alpha KL(T || M) with
    M = (1 - alpha) S + alpha T. `active_B` marks the rows that have a teacher.
    With `old_BT`, the log-probabilities of the sampler, the loss is multiplied by the detached ratio
    exp(s - old), at most `is_clip`.
    """
    if mode not in get_args(Distance):
        raise ValueError(f"mode must be one of {', '.join(get_args(Distance))}, got {mode!r}")
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha must be in [0, 1], got {alpha}")
    on = mask_BT != 0
    if active_B is not None:
        on = on & (active_B != 0)[:, None]
    student = torch.log_softmax(keep(student_BTV, on[..., None]), dim=-1)
    teacher = torch.log_softmax(keep(teacher_BTV.detach(), on[..., None]), dim=-1)
    chosen = torch.where(on, ids_BT, torch.zeros_like(ids_BT))[..., None]
    s_BT = student.gather(-1, chosen)[..., 0]
    if mode == "sampled":
        loss = (s_BT - teacher.gather(-1, chosen)[..., 0]).detach() * s_BT
    else:
        if mode == "topk":
            student, teacher = _largest(student, teacher, topk, tail)
        loss = _divergence(student, teacher, alpha)
    if old_BT is not None:
        ratio = bounded_exp(keep(s_BT.detach() - old_BT.detach(), on))
        loss = loss * (ratio if is_clip is None else ratio.clamp(max=is_clip))
    return keep(loss, on), on


def _largest(
    student: Tensor, teacher: Tensor, topk: int | None, tail: bool
) -> tuple[Tensor, Tensor]:
    if topk is None or not 1 <= topk <= student.shape[-1]:
        raise ValueError(f"topk must be in 1..{student.shape[-1]} with mode topk, got {topk}")
    ids = student.detach().topk(topk, dim=-1).indices
    student, teacher = student.gather(-1, ids), teacher.gather(-1, ids)
    if not tail:
        return student.log_softmax(-1), teacher.log_softmax(-1)
    return _with_rest(student), _with_rest(teacher)


def _with_rest(log_p: Tensor) -> Tensor:
    inside = log_p.logsumexp(-1, keepdim=True).clamp(max=-1e-7)
    return torch.cat([log_p, torch.log(-torch.expm1(inside))], dim=-1)


def _divergence(student: Tensor, teacher: Tensor, alpha: float) -> Tensor:
    if alpha == 1.0:
        return _kl(student, teacher)
    if alpha == 0.0:
        return _kl(teacher, student)
    weights = torch.log(torch.tensor([1.0 - alpha, alpha], dtype=student.dtype))
    mixture = torch.logaddexp(student + weights[0], teacher + weights[1])
    return (1.0 - alpha) * _kl(student, mixture) + alpha * _kl(teacher, mixture)


def _kl(p: Tensor, q: Tensor) -> Tensor:
    return (p.exp() * (p - q)).sum(dim=-1)


@dataclass(frozen=True)
class Teachers:
    """Per row [N]: the index of its demonstration or None, and if it uses feedback, or either."""

    demo: list[int | None]
    feedback_used: list[bool]
    active: list[bool]


def choose_teachers(
    reward: Sequence[float],
    group: Sequence[Hashable],
    *,
    threshold: float = 1.0,
    exclude_self: bool = True,
    feedback: Sequence[str | None] | None = None,
    use_feedback: UseFeedback = "never",
    valid: Sequence[bool] | None = None,
) -> Teachers:
    """Return what each row's teacher is shown; rows without anything to show are not active.

    The demonstration is the first valid member of the row's group with a reward of at least
    `threshold`, the row itself excepted. Feedback that is not blank is used `always`, or as
    `fallback` if there is no demonstration. With `valid` given, a group with fewer than two valid
    members learns nothing.
    """
    if use_feedback not in get_args(UseFeedback):
        raise ValueError(
            f"use_feedback must be one of {', '.join(get_args(UseFeedback))}, got {use_feedback!r}"
        )
    counted = [True] * len(reward) if valid is None else [bool(v) for v in valid]
    if valid is not None:
        members = Counter(name for name, on in zip(group, counted, strict=True) if on)
        counted = [on and members[name] > 1 for name, on in zip(group, counted, strict=True)]
    successes: dict[Hashable, list[int]] = {}
    for i, name in enumerate(group):
        if counted[i] and reward[i] >= threshold:
            successes.setdefault(name, []).append(i)
    demo: list[int | None] = []
    used: list[bool] = []
    for i, name in enumerate(group):
        others = (j for j in successes.get(name, ()) if j != i or not exclude_self)
        found = next(others, None) if counted[i] else None
        text = feedback[i] if feedback is not None else None
        wanted = use_feedback == "always" or (use_feedback == "fallback" and found is None)
        demo.append(found)
        used.append(bool(counted[i] and wanted and text and text.strip()))
    active = [d is not None or f for d, f in zip(demo, used, strict=True)]
    return Teachers(demo=demo, feedback_used=used, active=active)
