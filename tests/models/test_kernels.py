"""Kernels held by torch's own: the same numbers, whichever way they are computed."""

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

from nlgauge.models import kernels


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


# numbers up to about 5: float32 keeps 7 digits of them, bfloat16 between 2 and 3
@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)])
@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("rows", [1, 64, 200])  # 64 is what the weights are prepared for; others are right too
def test_a_linear_layer_is_torchs_for_any_number_of_rows(dtype, near, gelu, rows):
    weight, bias, states = random(32, 48, dtype=dtype) / 8, random(32, dtype=dtype), random(rows, 48, dtype=dtype)
    with torch.inference_mode():
        found = kernels.linear(weight, bias, 64, gelu=gelu)(states)
    wanted = functional.linear(states.double(), weight.double(), bias.double())
    wanted = functional.gelu(wanted) if gelu else wanted
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), wanted, atol=near, rtol=0)


def test_without_onednn_it_is_torchs(monkeypatch):
    weight, bias, states = random(8, 4), random(8), random(3, 4)
    monkeypatch.setattr(kernels, "_prepares", lambda weight: False)
    torch.testing.assert_close(
        kernels.linear(weight, bias, 64)(states), functional.linear(states, weight, bias), atol=0, rtol=0
    )
    torch.testing.assert_close(
        kernels.linear(weight, bias, 64, gelu=True)(states),
        functional.gelu(functional.linear(states, weight, bias)),
        atol=0,
        rtol=0,
    )


@pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)]
)  # as above
@pytest.mark.parametrize("length", [1, 7, 96, 97])  # to 96 by matrix products, beyond by torch's fused kernel
def test_attention_is_softmax_of_scaled_products(dtype, near, length):
    n, heads, size = 3, 2, 4
    joined = random(n * length, 3 * heads * size, dtype=dtype)
    out = torch.zeros(n * length, heads * size, dtype=dtype)
    with torch.inference_mode():
        kernels.attention(joined, out, n, heads)
    query, key, value = joined.double().view(n, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(query @ key.transpose(-1, -2) / size**0.5, dim=-1)
    wanted = (weights @ value).transpose(1, 2).reshape(n * length, heads * size)
    torch.testing.assert_close(out.double(), wanted, atol=near, rtol=0)


def test_a_text_attends_to_itself_alone():
    joined = random(10, 24)
    both, first = torch.zeros(10, 8), torch.zeros(5, 8)
    kernels.attention(joined, both, 2, 2)
    kernels.attention(joined[:5], first, 1, 2)
    torch.testing.assert_close(
        both[:5], first, atol=1e-6, rtol=0
    )  # float32; how many matrices are multiplied may change the last digit
