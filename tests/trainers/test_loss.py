"""Losses: gradients by finite differences, micro-batches, masks, and the formulas by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym.trainers import loss
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens

MODES = [
    "token-mean",
    "seq-mean-token-sum",
    "seq-mean-token-mean",
    "seq-mean-token-mean/all-rows",
    "dr-grpo",
    "sum-norm",
    "trajectory-mean",
]


def batch(seed=0, rows=6, tokens=5):
    """logp, old, other, adv, mask; the first row fully masked, the second fully unmasked."""
    rng = np.random.default_rng(seed)
    logp, old, other = (torch.tensor(-rng.gamma(1.5, 0.6, (rows, tokens))) for _ in range(3))
    mask = torch.tensor(rng.random((rows, tokens)) < 0.6)
    mask[0], mask[1] = False, True
    return logp, old, other, torch.tensor(rng.normal(size=(rows, tokens))), mask


# name -> loss per token from (logp, old, other, adv, mask)
LOSSES = {
    "ppo": lambda p, o, _, a, m: loss.ppo(p, o, a, m).loss_BT,
    "ppo-open": lambda p, o, _, a, m: loss.ppo(p, o, a, m, clip_low=None, clip_high=None).loss_BT,
    "ppo-dual": lambda p, o, _, a, m: loss.ppo(p, o, a, m, dual_clip_c=3.0).loss_BT,
    "ppo-cap": lambda p, o, _, a, m: loss.ppo(p, o, a, m, ratio_cap=1.5).loss_BT,
    "gspo": lambda p, o, _, a, m: loss.gspo(p, o, a[:, 0], m, clip_low=0.2, clip_high=0.3).loss_BT,
    "decoupled": lambda p, o, b, a, m: loss.decoupled(p, o, b, a, m, cap=2.0)[0].loss_BT,
    "dppo-ratio": lambda p, o, _, a, m: loss.dppo(p, o, a, m, form="ratio", kl_coef=0.1).loss_BT,
    "sapo": lambda p, o, _, a, m: loss.sapo(p, o, a, m).loss_BT,
    "gmpo": lambda p, o, _, a, m: loss.gmpo(p, o, a[:, 0], m)[0].loss_BT,
    "luffy": lambda p, o, b, a, m: loss.luffy(p, o, a, m, b < o, clip_high=0.2).loss_BT,
    "kl-cov": lambda p, o, _, a, m: loss.kl_cov(p, o, a, m, a > 0).loss_BT,
    "clip-cov": lambda p, o, _, a, m: loss.clip_cov(p, o, a, m, a > 0).loss_BT,
    "unbiased-kl": lambda p, o, b, _, m: loss.unbiased_kl(p, o, b, m)[1],
    "k1": lambda p, o, _, a, m: loss.kl(p, o, m, kind="k1"),
    "k2": lambda p, o, _, a, m: loss.kl(p, o, m, kind="k2"),
    "k3": lambda p, o, _, a, m: loss.kl(p, o, m, kind="k3"),
}
# Those whose value is not what their gradient is the gradient of.
ALL = {
    **LOSSES,
    "cispo": lambda p, o, _, a, m: loss.cispo(p, o, a, m, ratio_max=1.3, ratio_min=0.8).loss_BT,
    "dppo": lambda p, o, _, a, m: loss.dppo(p, o, a, m, kind="kl").loss_BT,
    "vespo": lambda p, o, b, a, m: (
        loss.vespo(p, o, a[:, 0], m, rollout_weight_BT=b.exp())[0].loss_BT
    ),
    "k3+": lambda p, o, _, a, m: loss.kl(p, o, m, kind="k3+"),
}
# Those with one advantage per row.
PER_ROW = {"gspo", "gmpo", "vespo"}


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_that_of_finite_differences(name):
    logp, old, other, adv, mask = batch()
    logp.requires_grad_(True)
    assert torch.autograd.gradcheck(lambda x: LOSSES[name](x, old, other, adv, mask).sum(), logp)


@pytest.mark.parametrize("name", ALL)
def test_nan_and_infinity_at_masked_positions_do_not_leak(name):
    inputs = batch(1)
    mask = inputs[-1]
    clean = [x.clone() for x in inputs[:-1]]
    clean[3] = torch.where(mask, clean[3], 0.0)
    if name in PER_ROW:
        clean[3][:, 0] = inputs[3][:, 0]  # these read one advantage per row
    grads = []
    for poison in (0.0, float("nan"), float("inf"), -float("inf")):
        poisoned = [torch.where(mask, x, poison) for x in clean]
        if name in PER_ROW:
            poisoned[3] = clean[3].clone()
            poisoned[3][0] = poison  # a row without tokens may hold anything
        logp = poisoned[0].requires_grad_(True)
        out = ALL[name](logp, *poisoned[1:], mask)
        total = aggregate(out, mask, "token-mean")
        total.backward()
        assert not out[~mask].any()
        grads.append((total.item(), logp.grad))
        assert not logp.grad[~mask].any()
    for value, grad in grads[1:]:
        assert value == grads[0][0]
        assert torch.equal(grad, grads[0][1])


_LIKE_PPO = ("cispo", "decoupled", "sapo", "vespo", "dppo", "luffy", "k3")
partitions = st.lists(st.integers(0, 3), min_size=6, max_size=6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "name",
    [
        *("ppo", "gspo", "gmpo"),  # by token, by sequence, and by the geometric mean of one
        *(pytest.param(name, marks=pytest.mark.slow) for name in _LIKE_PPO),
    ],
)
@given(parts=partitions, seed=st.integers(0, 5))
@settings(max_examples=8)
def test_micro_batches_sum_to_the_gradient_of_one_batch(mode, name, parts, seed):
    inputs = batch(seed)
    mask, names = inputs[-1], list("aababc")
    whole = Denominators.of(mask, max_tokens=7, trajectory=names)
    tokens_B = trajectory_tokens(mask, names)

    def gradient(groups):
        logp = inputs[0].clone().requires_grad_(True)
        value = 0.0
        for rows in groups:
            out = ALL[name](logp[rows], *(x[rows] for x in inputs[1:]))
            part = aggregate(
                out, mask[rows], mode, denominators=whole, trajectory_tokens_B=tokens_B[rows]
            )
            part.backward()
            value += part.item()
        return value, logp.grad

    one_value, one = gradient([list(range(6))])
    cut = [[i for i, p in enumerate(parts) if p == k] for k in range(4)]
    many_value, many = gradient([rows for rows in cut if rows])
    torch.testing.assert_close(many, one, atol=1e-12, rtol=0)
    assert many_value == pytest.approx(one_value, abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_padding_changes_nothing_but_what_counts_rows(mode):
    _, _, _, x, mask = batch(2)
    names = list("aababc")
    wide_x = torch.nn.functional.pad(x, (0, 3), value=float("nan"))
    wide_mask = torch.nn.functional.pad(mask, (0, 3))
    options = {"max_tokens": 7, "trajectory": names}

    def total(x, mask):
        return aggregate(
            x,
            mask,
            mode,
            denominators=Denominators.of(mask, **options),
            trajectory_tokens_B=trajectory_tokens(mask, options["trajectory"]),
        )

    want = total(x, mask)
    torch.testing.assert_close(total(wide_x, wide_mask), want)
    options["trajectory"] = [*names, "padding"]
    taller_x = torch.nn.functional.pad(x, (0, 0, 0, 1), value=float("nan"))
    taller = total(taller_x, torch.nn.functional.pad(mask, (0, 0, 0, 1)))
    counts_rows = mode in ("seq-mean-token-mean/all-rows", "dr-grpo")
    torch.testing.assert_close(taller, want * (6 / 7 if counts_rows else 1))


def test_modes_by_hand():
    x = torch.tensor([[1.0, 2.0, 9.0], [3.0, 9.0, 9.0], [9.0, 9.0, 9.0]])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    whole = Denominators.of(mask, max_tokens=10, trajectory=["a", "a", "b"])
    assert whole == Denominators(tokens=3, live_rows=2, rows=3, max_tokens=10, trajectories=1)
    want = {
        "token-mean": 2.0,
        "seq-mean-token-sum": 3.0,
        "seq-mean-token-mean": 2.25,
        "seq-mean-token-mean/all-rows": 1.5,
        "dr-grpo": 0.2,
        "sum-norm": 0.6,
        "trajectory-mean": 2.0,
    }
    for mode, value in want.items():
        got = aggregate(
            x,
            mask,
            mode,
            denominators=whole,
            trajectory_tokens_B=trajectory_tokens(mask, ["a", "a", "b"]),
        )
        assert got.item() == pytest.approx(value), mode


def test_trajectory_mean_weighs_trajectories_alike():
    x, mask = torch.tensor([[1.0, 1.0], [1.0, 1.0], [0.0, 5.0]]), torch.ones(3, 2)
    names = ["long", "long", "short"]
    got = aggregate(
        x,
        mask,
        "trajectory-mean",
        denominators=Denominators.of(mask, trajectory=names),
        trajectory_tokens_B=trajectory_tokens(mask, names),
    )
    assert got.item() == pytest.approx((1.0 + 2.5) / 2)


def test_denominators_add_over_ranks():
    mask = torch.tensor([[1, 0], [1, 1], [0, 0]])
    left = Denominators.of(mask[:1], max_tokens=4, trajectory=["a"])
    right = Denominators.of(mask[1:], max_tokens=4, trajectory=["b", "c"])
    assert left + right == Denominators.of(mask, max_tokens=4, trajectory=["a", "b", "c"])
    with pytest.raises(ValueError, match="max_tokens differ"):
        left + Denominators.of(mask)


def test_a_micro_batch_without_tokens_gives_zero_and_a_batch_without_raises():
    x = torch.ones(2, 3, requires_grad=True)
    none, whole = torch.zeros(2, 3), Denominators.of(torch.ones(2, 3))
    part = aggregate(x * float("nan"), none, "seq-mean-token-mean", denominators=whole)
    assert part.item() == 0.0
    with pytest.raises(ValueError, match="no unmasked token"):
        aggregate(x, none, "token-mean")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("mean", "mode must be one of"),
        ("dr-grpo", "needs denominators with max_tokens"),
        ("sum-norm", "needs denominators with max_tokens"),
        ("trajectory-mean", "needs trajectory_tokens_B"),
    ],
)
def test_what_a_mode_lacks_is_named(mode, message):
    with pytest.raises(ValueError, match=message):
        aggregate(torch.ones(2, 2), torch.ones(2, 2), mode)


def test_on_policy_ppo_is_the_policy_gradient_for_every_clip():
    logp, _, _, adv, mask = batch(3)
    logp.requires_grad_(True)
    for options in ({}, {"dual_clip_c": 3.0}, {"clip_low": 0.0, "clip_high": 0.28}):
        out = loss.ppo(logp, logp.detach(), adv, mask, **options)
        (grad,) = torch.autograd.grad(out.loss_BT.sum(), logp)
        if options.get("clip_low") != 0.0:
            torch.testing.assert_close(grad, torch.where(mask, -adv, 0.0))
        assert not out.clipped_BT.any()


def test_log_ratio_is_clamped():
    far, near, on = torch.tensor([[50.0, -50.0]]), torch.zeros(1, 2), torch.ones(1, 2)
    ratio = loss.importance_ratio(far, near, on)
    torch.testing.assert_close(ratio, torch.tensor([[20.0, -20.0]]).exp())
    k1, k2, k3 = loss.kl_terms(far, near)
    assert k1.tolist() == [[50.0, -50.0]]
    assert k2.tolist() == [[1250.0, 1250.0]]
    assert k3.tolist() == [[10.0, 10.0]]


def test_one_advantage_per_row_is_spread_over_its_tokens():
    logp, old, _, adv, mask = batch(4)
    a = loss.ppo(logp, old, adv[:, 0], mask).loss_BT
    b = loss.ppo(logp, old, adv[:, :1].expand_as(logp), mask).loss_BT
    assert torch.equal(a, b)
    with pytest.raises(ValueError, match="adv must be"):
        loss.ppo(logp, old, adv[:, :2], mask)
    with pytest.raises(ValueError, match="adv must be"):
        loss.gspo(logp, old, adv, mask)


def test_clipping_is_reported_where_it_binds():
    old = torch.zeros(1, 4, dtype=torch.float64)
    logp = torch.tensor([[1.5, 1.5, 0.5, 5.0]], dtype=torch.float64).log()
    adv = torch.tensor([[1.0, -1.0, -1.0, -1.0]], dtype=torch.float64)
    out = loss.ppo(logp, old, adv, torch.ones(1, 4), dual_clip_c=3.0)
    assert out.clipped_BT.tolist() == [[True, False, True, True]]
    torch.testing.assert_close(
        out.loss_BT, torch.tensor([[-1.2, 1.5, 0.8, 3.0]], dtype=torch.float64)
    )
    capped = loss.ppo(logp, old, adv, torch.ones(1, 4), ratio_cap=2.0)
    assert capped.loss_BT[0, 3].item() == pytest.approx(2.0)
    with pytest.raises(ValueError, match="dual_clip_c must be above 1"):
        loss.ppo(logp, old, adv, torch.ones(1, 4), dual_clip_c=0.5)


def test_cispo_bounds_the_ratio_itself():
    old = torch.zeros(1, 3)
    logp = torch.tensor([[8.0, 0.1, 1.0]]).log().requires_grad_(True)
    out = loss.cispo(logp, old, torch.ones(1, 3), torch.ones(1, 3), ratio_max=5.0, ratio_min=0.5)
    torch.testing.assert_close(out.ratio_BT, torch.tensor([[5.0, 0.5, 1.0]]))
    assert out.clipped_BT.tolist() == [[True, True, False]]
    out.loss_BT.sum().backward()
    torch.testing.assert_close(logp.grad, torch.tensor([[-5.0, -0.5, -1.0]]))


def _weights(mode, **bounds):
    rollout = torch.zeros(2, 3, dtype=torch.float64)
    train = torch.tensor([[4.0, 0.5, 7.0], [0.1, 1.0, 1.0]], dtype=torch.float64).log()
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    level, action = mode.split("_")
    w = loss.rollout_weight(
        train.requires_grad_(True), rollout, mask, level=level, action=action, **bounds
    )
    assert not w.requires_grad
    return [[round(x, 9) for x in row] for row in w.tolist()]


def test_rollout_weights_by_hand():
    assert _weights("token_truncate", c_max=2.0) == [[2, 0.5, 0], [0.1, 1, 1]]
    assert _weights("token_truncate", c_max=2.0, c_min=0.3) == [[2, 0.5, 0], [0.3, 1, 1]]
    assert _weights("token_mask", c_max=2.0) == [[0, 0.5, 0], [0.1, 1, 1]]
    assert _weights("token_mask", c_max=None, c_min=0.3) == [[4, 0.5, 0], [0, 1, 1]]
    assert _weights("sequence_truncate", c_max=1.5) == [[1.5, 1.5, 0], [0.1, 0.1, 0.1]]
    assert _weights("sequence_truncate", c_max=3.0, c_min=0.2) == [[2, 2, 0], [0.2, 0.2, 0.2]]
    assert _weights("sequence_mask", c_max=3.0) == [[2, 2, 0], [0.1, 0.1, 0.1]]
    assert _weights("sequence_mask", c_max=1.5, c_min=0.05) == [[0, 0, 0], [0.1, 0.1, 0.1]]
    root = round(2**0.5, 9)
    cube = round(0.1 ** (1 / 3), 9)
    assert _weights("geometric_truncate", c_max=9.0) == [[root, root, 0], [cube, cube, cube]]
    assert _weights("geometric_mask", c_max=1.01, c_min=0.99) == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="level must be one of"):
        _weights("row_mask", c_max=1.0)


def test_decoupled_ppo_caps_by_dropping_the_token():
    prox, behav = torch.zeros(1, 2), torch.tensor([[0.1, 0.9]]).log()
    out, w = loss.decoupled(prox, prox, behav, torch.ones(1, 2), torch.ones(1, 2), cap=5.0)
    torch.testing.assert_close(w, torch.tensor([[0.0, 1 / 0.9]]))
    assert out.clipped_BT.tolist() == [[True, False]]
    assert out.loss_BT[0, 0] == 0.0


def test_decoupled_ppo_is_ppo_when_the_sampler_was_the_proximal_policy():
    logp, old, _, adv, mask = batch(5)
    out, w = loss.decoupled(logp, old, old, adv, mask)
    torch.testing.assert_close(out.loss_BT, loss.ppo(logp, old, adv, mask).loss_BT)
    torch.testing.assert_close(w, mask.to(w.dtype))


def test_dppo_drops_by_difference_of_probabilities():
    mu = torch.tensor([[0.5, 0.5, 0.5, 0.5]], dtype=torch.float64).log()
    pi = torch.tensor([[0.8, 0.8, 0.2, 0.2]], dtype=torch.float64).log()
    adv = torch.tensor([[1.0, -1.0, 1.0, -1.0]], dtype=torch.float64)
    out = loss.dppo(pi, mu, adv, torch.ones(1, 4), form="ratio")
    assert out.clipped_BT.tolist() == [[True, False, False, True]]
    want = torch.tensor([[0.0, 1.6, -0.4, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(out.loss_BT, want)
    squared = loss.dppo(pi, mu, adv, torch.ones(1, 4), form="ratio", kl_coef=1.0).loss_BT - want
    torch.testing.assert_close(squared, (pi - mu).square())
    both = loss.dppo(pi, mu, adv, torch.ones(1, 4), kind="abs", delta_low=0.4)
    assert both.clipped_BT.tolist() == [[True, False, True, False]]


@pytest.mark.parametrize("option", ["kind", "form"])
def test_dppo_names_its_kinds(option):
    logp, old, _, adv, mask = batch()
    with pytest.raises(ValueError, match=f"{option} must be one of"):
        loss.dppo(logp, old, adv, mask, **{option: "x"})


def test_gates_are_on_policy_identities():
    logp, _, _, adv, mask = batch(3)
    for name, slope in (("sapo", 1.0), ("gmpo", None), ("vespo", 1.0)):
        x = logp.clone().requires_grad_(True)
        ALL[name](x, logp, torch.zeros_like(logp), adv, mask).sum().backward()
        if slope is not None:
            row = adv if name == "sapo" else adv[:, :1].expand_as(adv)
            torch.testing.assert_close(x.grad, torch.where(mask, -row * slope, 0.0))


def test_bounds_of_rejection_hold_for_the_row_or_the_token():
    train = torch.tensor([[0.0, 0.0, 3.0], [0.1, 0.1, 0.1]], dtype=torch.float64)
    zero, on = torch.zeros(2, 3, dtype=torch.float64), torch.ones(2, 3)
    one_token = [loss.Reject(option="token_k1", upper=2.0)]
    assert loss.accepted(train, zero, on, reject=one_token).tolist() == [
        [True, True, False],
        [True, True, True],
    ]
    row = [loss.Reject(option="seq_max_k2", upper=2.0)]
    assert loss.accepted(train, zero, on, reject=row).all(dim=1).tolist() == [False, True]
    assert loss.accepted(train, zero, on, veto_high=10.0).any(dim=1).tolist() == [False, True]
    with pytest.raises(ValueError, match="option must be one of"):
        loss.accepted(train, zero, on, reject=[loss.Reject(option="seq_max_k1", upper=2.0)])


def test_m2po_drops_the_fewest_tokens_and_keeps_one():
    behav = torch.tensor([[0.0, 0.1, 1.0, 2.0]], dtype=torch.float64)
    zero, on = torch.zeros_like(behav), torch.ones(1, 4)
    moment, kept = loss.m2po_mask(behav, zero, on, threshold=0.04)
    assert moment.item() == pytest.approx(5.01 / 4)
    assert kept.tolist() == [[True, True, False, False]]
    assert loss.m2po_mask(behav + 5, zero, on)[1].sum() == 1
    assert not loss.m2po_mask(behav, zero, torch.zeros(1, 4))[1].any()


def test_a_teacher_that_agrees_teaches_nothing():
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ids, on = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)
    for options in ({}, {"alpha": 0.5}, {"alpha": 0.0}, {"mode": "topk", "topk": 2, "tail": True}):
        student = logits.clone().requires_grad_(True)
        each, live = loss.sdpo(student, logits, ids, on, **options)
        assert live.all()
        torch.testing.assert_close(each, torch.zeros_like(each), atol=1e-9, rtol=0)
        each.sum().backward()
        torch.testing.assert_close(student.grad, torch.zeros_like(logits), atol=1e-9, rtol=0)
    with pytest.raises(ValueError, match="topk must be in"):
        loss.sdpo(logits, logits, ids, on, mode="topk")


def test_k3_plus_has_the_value_of_k3_and_the_gradient_of_k2():
    logp, ref, _, _, mask = batch(6)
    logp.requires_grad_(True)
    plus, k2, k3 = (loss.kl(logp, ref, mask, kind=kind) for kind in ("k3+", "k2", "k3"))
    torch.testing.assert_close(plus, k3)
    grads = [torch.autograd.grad(x.sum(), logp)[0] for x in (plus, k2)]
    torch.testing.assert_close(*grads)
    with pytest.raises(ValueError, match="kind must be one of"):
        loss.kl(logp, ref, mask, kind="k4")


def test_entropy_of_logits_allows_forbidden_tokens():
    logits = torch.tensor([[[0.0, 0.0, -float("inf")], [0.0, 50.0, 0.0]]], requires_grad=True)
    entropy = loss.token_entropy(logits)
    np.testing.assert_allclose(entropy.detach().numpy(), [[np.log(2), 0.0]], atol=1e-6)
    entropy.sum().backward()
    assert torch.isfinite(logits.grad).all()
    full = torch.randn(2, 3, 7, dtype=torch.float64)
    want = torch.distributions.Categorical(logits=full).entropy()
    torch.testing.assert_close(loss.token_entropy(full), want)


@given(st.integers(0, 50), st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_entropy_threshold_is_the_quantile_of_unmasked_tokens(seed, rho):
    _, _, entropy, _, mask = batch(seed)
    got = loss.entropy_threshold(torch.where(mask, -entropy, float("nan")), mask, rho=rho)
    assert got.item() == pytest.approx(np.quantile(-entropy[mask].numpy(), 1 - rho), abs=1e-12)
    selected = loss.entropy_mask(-entropy, mask, got)
    assert not selected[~mask].any()
    assert selected.sum() >= 1
    if rho == 1.0:
        assert torch.equal(selected, mask)


def test_entropy_threshold_needs_tokens():
    with pytest.raises(ValueError, match="no unmasked token"):
        loss.entropy_threshold(torch.ones(1, 2), torch.zeros(1, 2))
    with pytest.raises(ValueError, match="rho must be in"):
        loss.entropy_threshold(torch.ones(1, 2), torch.ones(1, 2), rho=0.0)


def test_contribution_loss_sums_the_steps_that_exist():
    c = torch.tensor([[0.5, 0.25, float("nan")]], requires_grad=True)
    got = loss.contribution_loss(c, torch.tensor([[1, 1, 0]]), torch.tensor([1.0]))
    assert got.tolist() == [0.0625]
    got.sum().backward()
    assert c.grad.tolist() == [[-0.5, -0.5, 0.0]]
