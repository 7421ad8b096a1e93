"""Linear layers by oneDNN give the same values and gradients, and leave a model what it was."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from verigym.agents import onednn_linear  # noqa: E402
from verigym.agents.onednn_linear import OneDnnLinear, use_onednn  # noqa: E402

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this build of torch has no oneDNN"
)


@pytest.fixture(autouse=True)
def anywhere(monkeypatch):
    monkeypatch.setattr(onednn_linear, "is_faster", lambda: True)


def both(shape, n_out, *, bias=True, dtype=torch.float32):
    """Return a linear layer and its copy by oneDNN, with an input of `shape` for each."""
    torch.manual_seed(0)
    plain = torch.nn.Linear(shape[-1], n_out, bias=bias, dtype=dtype)
    fast = torch.nn.Sequential(copy.deepcopy(plain))
    use_onednn(fast)
    x = torch.randn(shape, dtype=dtype)
    return plain, fast[0], x.clone().requires_grad_(), x.clone().requires_grad_()


def is_near(found, want):
    found, want = found.detach().double(), want.detach()
    return float((found - want).norm()) <= 1e-6 * float(want.norm())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("shape", "n_out"),
    [
        ((2, 30, 16), 48),
        ((1, 1337, 48), 16),  # pieces of every length, and a rest
        ((640, 16), 48),
        ((33, 48), 16),
        ((3, 16), 8),  # too few
    ],
)
def test_values_and_gradients_are_those_of_the_plain_layer(shape, n_out, bias):
    plain, fast, x, y = both(shape, n_out, bias=bias)
    assert type(fast) is OneDnnLinear
    exact = copy.deepcopy(plain).double()
    x = x.detach().double().requires_grad_()
    want, found = exact(x), fast(y)
    slope = torch.randn_like(found)
    want.backward(slope.double())
    found.backward(slope)
    assert is_near(found, want)
    assert is_near(y.grad, x.grad)
    for mine, other in zip(fast.parameters(), exact.parameters(), strict=True):
        assert is_near(mine.grad, other.grad)


def test_a_frozen_layer_passes_the_gradient_on():
    plain, fast, x, y = both((40, 16), 8)
    fast.requires_grad_(False)
    plain(x).sum().backward()
    fast(y).sum().backward()
    torch.testing.assert_close(y.grad, x.grad)
    assert fast.weight.grad is None


def test_other_precisions_are_the_plain_layer_bit_for_bit():
    plain, fast, x, y = both((40, 16), 8, dtype=torch.float64)
    assert torch.equal(plain(x), fast(y))


def test_a_model_stays_the_same_to_those_who_save_or_copy_it():
    plain, fast, x, _ = both((40, 16), 8)
    assert fast.state_dict().keys() == plain.state_dict().keys()
    assert isinstance(fast, torch.nn.Linear)
    again = copy.deepcopy(fast)
    with torch.no_grad():
        again.weight.zero_()
        assert torch.equal(again(x), again.bias.expand(40, 8))
        torch.testing.assert_close(fast(x), plain(x))


def test_layers_of_other_kinds_are_left_alone():
    class Own(torch.nn.Linear):
        pass

    model = torch.nn.Sequential(Own(4, 4))
    use_onednn(model)
    assert type(model[0]) is Own
