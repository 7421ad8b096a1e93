"""Laws of GiGPO and GRPO credit, beside an independent program of plain loops."""

from __future__ import annotations

import importlib.util
from dataclasses import fields
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.trainers.credit import gigpo, grpo

SPEED = Path(__file__).resolve().parents[2] / "benchmarks" / "credit_speed.py"
_spec = importlib.util.spec_from_file_location("bench_reference", SPEED)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
reference = _module.reference

NORMS = st.sampled_from(["mean_std", "mean"])
SEMANTICS = st.sampled_from(["paper", "verl_agent"])


@st.composite
def batches(draw, min_members=1):
    """Step rows of a few groups, as keyword arguments; rewards are whole, so sums are exact."""
    rows = {"group": [], "trajectory": [], "anchor": [], "reward": [], "invalid": []}
    for g in range(draw(st.integers(1, 3))):
        for t in range(draw(st.integers(min_members, 4))):
            for _ in range(draw(st.integers(1, 5))):
                rows["group"].append(f"g{g}")
                rows["trajectory"].append(t)
                rows["anchor"].append(draw(st.sampled_from("abcd")))
                rows["reward"].append(float(draw(st.integers(-4, 10))))
                rows["invalid"].append(draw(st.integers(0, 1)))
    return rows


def take(batch, order):
    return {key: [values[i] for i in order] for key, values in batch.items()}


def arrays(credit):
    return {f.name: getattr(credit, f.name) for f in fields(credit)}


def assert_same(one, other, order=None, atol=1e-9):
    for name, x in arrays(one).items():
        if name != "step_group":
            x = x if order is None else x[order]
            np.testing.assert_allclose(getattr(other, name), x, atol=atol, rtol=0, err_msg=name)


@given(batches(), st.booleans())
def test_agrees_with_plain_loops(batch, cross_steps):
    batch = {
        **batch,
        "trajectory": [f"{g}{t}" for g, t in zip(batch["group"], batch["trajectory"], strict=True)],
    }
    batch.pop("invalid")
    ours = gigpo(**batch, semantics="verl_agent" if cross_steps else "paper")
    np.testing.assert_allclose(
        ours.advantage, reference(**batch, cross_steps=cross_steps), atol=1e-7, rtol=0
    )


@given(batches(), st.data(), NORMS, SEMANTICS)
def test_interleaving_trajectories_and_groups_changes_nothing(batch, data, norm, semantics):
    options = {"norm": norm, "semantics": semantics, "penalty": 0.5}
    key = list(zip(batch["group"], batch["trajectory"], strict=True))
    # A random merge of the trajectories that keeps each one's own order.
    tickets = data.draw(st.permutations(key))
    queues = {k: iter([i for i, own in enumerate(key) if own == k]) for k in key}
    order = [next(queues[k]) for k in tickets]
    whole, mixed = gigpo(**batch, **options), gigpo(**take(batch, order), **options)
    assert_same(whole, mixed, order)
    pairs = set(zip(whole.step_group[order].tolist(), mixed.step_group.tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    batch = {k: v for k, v in batch.items() if k != "anchor"}
    assert_same(grpo(**batch, **options), grpo(**take(batch, order), **options), order)


@given(batches(), SEMANTICS)
def test_step_advantages_of_a_step_group_sum_to_zero(batch, semantics):
    credit = gigpo(**batch, norm="mean", semantics=semantics)
    sums = np.bincount(credit.step_group, credit.step_advantage)
    np.testing.assert_allclose(sums, 0.0, atol=1e-9)


@given(batches(), NORMS)
def test_episode_advantages_of_a_group_sum_to_zero_over_trajectories(batch, norm):
    credit = gigpo(**batch, norm=norm)
    one = {}
    for g, t, a in zip(batch["group"], batch["trajectory"], credit.episode_advantage, strict=True):
        assert one.setdefault((g, t), a) == a, "rows of one trajectory share its advantage"
    for g in set(batch["group"]):
        assert abs(sum(a for (h, _), a in one.items() if h == g)) < 1e-9


@given(batches(), NORMS, SEMANTICS, st.sampled_from([0.0, 0.1]))
def test_omega_zero_is_grpo(batch, norm, semantics, penalty):
    options = {"norm": norm, "semantics": semantics, "penalty": penalty}
    without = {k: v for k, v in batch.items() if k != "anchor"}
    got = gigpo(**batch, omega=0.0, **options).advantage
    np.testing.assert_array_equal(got, grpo(**without, **options).advantage)


@given(batches(), NORMS, SEMANTICS)
def test_unique_anchors_are_grpo(batch, norm, semantics):
    batch["anchor"] = list(range(len(batch["reward"])))
    without = {k: v for k, v in batch.items() if k != "anchor"}
    credit = gigpo(**batch, norm=norm, semantics=semantics)
    assert not credit.step_advantage.any()
    np.testing.assert_array_equal(
        credit.advantage, grpo(**without, norm=norm, semantics=semantics).advantage
    )


@given(batches())
def test_an_anchor_in_two_groups_never_merges(batch):
    credit = gigpo(**batch)
    owner = {}
    for group, anchor, step in zip(batch["group"], batch["anchor"], credit.step_group, strict=True):
        assert owner.setdefault(step, (group, anchor)) == (group, anchor)
    assert len(owner) == len(set(zip(batch["group"], batch["anchor"], strict=True)))


@given(batches(min_members=2), st.integers(-6, 9), SEMANTICS)
def test_scale_of_rewards_does_not_matter_with_deviations(batch, scale, semantics):
    # Powers of two, so that returns that are equal stay equal to the last bit.
    scaled = {**batch, "reward": [2.0**scale * r for r in batch["reward"]]}
    a, b = (gigpo(**x, semantics=semantics, eps=1e-12) for x in (batch, scaled))
    raw_return = np.asarray([batch["group"].count(g) == 1 for g in batch["group"]])
    np.testing.assert_allclose(a.advantage[~raw_return], b.advantage[~raw_return], atol=1e-6)


@given(batches(min_members=2), st.data(), NORMS, SEMANTICS)
def test_rows_left_out_change_nothing(batch, data, norm, semantics):
    options = {"norm": norm, "semantics": semantics, "penalty": 0.3}
    n = len(batch["reward"])
    alone = gigpo(**batch, valid=[True] * n, **options)
    # A faulted try in each group, its reward NaN, and padding of a group nobody else is in.
    extra = [("g0", "faulted", "a", float("nan"), 0), ("pad", "pad", "pad", float("inf"), 1)]
    places = sorted(data.draw(st.integers(0, n)) for _ in extra)
    order, mixed = list(range(n)), {k: list(v) for k, v in batch.items()}
    valid = [True] * n
    for place, row in reversed(list(zip(places, extra, strict=True))):
        for key, value in zip(
            ("group", "trajectory", "anchor", "reward", "invalid"), row, strict=True
        ):
            mixed[key].insert(place, value)
        valid.insert(place, False)
        order.insert(place, None)
    credit = gigpo(**mixed, valid=valid, **options)
    keep = np.asarray(valid)
    for name, x in arrays(alone).items():
        got = getattr(credit, name)
        assert np.isfinite(got).all(), name
        assert (got[~keep] == (-1 if name == "step_group" else 0)).all(), name
        np.testing.assert_array_equal(got[keep], x, err_msg=name)


def test_a_group_with_one_valid_trajectory_earns_nothing():
    batch = {
        "group": ["g"] * 5,
        "trajectory": [0, 0, 0, 1, 1],
        "anchor": ["s", "s", "t", "s", "t"],
        "reward": [0.0, 0.0, 1.0, 5.0, float("nan")],
    }
    for semantics in ("paper", "verl_agent"):
        for norm in ("mean", "mean_std"):
            options = {"semantics": semantics, "norm": norm, "valid": [1, 1, 1, 0, 0]}
            assert not gigpo(**batch, **options).advantage.any()
            assert not gigpo(**batch, **options).step_advantage.any()
            without = {k: v for k, v in batch.items() if k != "anchor"}
            assert not grpo(**without, **options).advantage.any()
    # The papers' algorithm, which knows no faults, does give a lone trajectory step credit.
    rest = {k: v[:3] for k, v in batch.items()}
    assert gigpo(**rest).advantage.any()


def test_penalty_of_the_paper_is_part_of_the_reward():
    credit = gigpo(
        ["g"] * 4, [0, 0, 1, 1], ["a", "b", "a", "c"], [0.0, 1.0, 0.0, 0.0],
        invalid=[0, 1, 1, 0], penalty=0.1, gamma=0.5, norm="mean",
    )  # fmt: skip
    np.testing.assert_allclose(credit.episode_return, [0.9, 0.9, -0.1, -0.1])
    np.testing.assert_allclose(credit.step_return, [0.45, 0.9, -0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(credit.step_advantage, [0.275, 0.0, -0.275, 0.0], atol=1e-12)


def test_penalty_of_verl_agent_stays_in_its_row():
    credit = gigpo(
        ["g"] * 4, [0, 0, 1, 1], ["a", "b", "a", "c"], [0.0, 1.0, 0.0, 0.0],
        invalid=[0, 1, 1, 0], penalty=0.1, gamma=0.5, norm="mean", semantics="verl_agent",
    )  # fmt: skip
    np.testing.assert_allclose(credit.episode_return, [1.0, 0.9, -0.1, 0.0])
    np.testing.assert_allclose(credit.step_return, [0.5, 0.9, -0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(credit.episode_advantage, [0.55, 0.45, -0.55, -0.45])


def test_group_of_one_row_keeps_its_raw_return_only_under_verl_agent():
    one = (["g"], ["t"], ["s"], [2.0])
    assert gigpo(*one).advantage.tolist() == [0.0]
    assert gigpo(*one, norm="mean", semantics="verl_agent").advantage.tolist() == [2.0]
    raw = gigpo(*one, semantics="verl_agent").advantage
    np.testing.assert_allclose(raw, 2.0 / (1 + 1e-6), rtol=1e-15)
    # Law 1 goes before compatibility.
    assert gigpo(*one, semantics="verl_agent", valid=[True]).advantage.tolist() == [0.0]


def _cluster(texts, threshold):
    """Similarity grouping as the specification words it."""
    first, out = [], []
    for text in texts:
        for k, rep in enumerate(first):
            if SequenceMatcher(None, text, rep).ratio() >= threshold:
                out.append(k)
                break
        else:
            out.append(len(first))
            first.append(text)
    return out


@given(
    st.lists(st.text("ab ", max_size=8), min_size=1, max_size=12),
    st.sampled_from([0.5, 0.8, 0.95, 1.0]),
)
def test_similarity_joins_the_first_cluster_that_is_near(texts, threshold):
    n = len(texts)
    credit = gigpo(["g"] * n, list(range(n)), texts, [0.0] * n, similarity=threshold)
    assert credit.step_group.tolist() == _cluster(texts, threshold)


def test_similarity_stays_within_a_group_and_wants_text():
    texts = ["the same old page"] * 2
    assert gigpo(["g", "h"], [0, 0], texts, [0, 1], similarity=0.9).step_group.tolist() == [0, 1]
    with pytest.raises(ValueError, match="compares texts, got an anchor of tuple"):
        gigpo(["g"], [0], [("a",)], [0], similarity=0.9)
    with pytest.raises(ValueError, match=r"in \(0, 1\]"):
        gigpo(["g"], [0], ["a"], [0], similarity=1.5)


def test_group_sizes_count_members():
    credit = gigpo(["g"] * 5, [0, 0, 1, 1, 2], list("abaaz"), [0] * 5, valid=[1, 1, 1, 1, 0])
    assert sorted(credit.group_sizes().tolist()) == [1, 3]


def test_empty_batch_gives_empty_credit():
    assert gigpo([], [], [], []).advantage.shape == (0,)
    assert grpo([], [], []).advantage.shape == (0,)
    none = gigpo(["g"], [0], ["a"], [float("nan")], valid=[False])
    assert none.advantage.tolist() == [0.0]
    assert none.group_sizes().tolist() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trajectory": [0]}, "trajectory must hold one entry per row: got 1, expected 2"),
        ({"anchor": ["a"] * 3}, "anchor must hold one entry per row: got 3, expected 2"),
        ({"reward": [1.0, float("nan")]}, "reward must be finite"),
        ({"reward": [[1.0], [2.0]]}, "one dimension"),
        ({"norm": "std"}, "norm must be one of"),
        ({"semantics": "verl"}, "semantics must be paper or verl_agent"),
        ({"gamma": 1.5}, r"gamma must be in \[0, 1\]"),
        ({"valid": [True]}, "valid must have shape"),
        ({"invalid": [0]}, "invalid must hold one entry per row"),
    ],
)
def test_bad_arguments_are_named(change, message):
    good = {"group": ["g", "g"], "trajectory": [0, 1], "anchor": ["a", "a"], "reward": [0.0, 1.0]}
    with pytest.raises(ValueError, match=message):
        gigpo(**{**good, **change})
