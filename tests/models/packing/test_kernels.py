"""Kernels held by torch's own: the same numbers, whichever way they are computed."""

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

from nlgauge.models.packing import kernels


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


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_a_residual_is_added_to_the_product(dtype, near):
    weight, bias, states = random(32, 48, dtype=dtype) / 8, random(32, dtype=dtype), random(200, 48, dtype=dtype)
    more = states[:, :32].contiguous() / 4
    with torch.inference_mode():
        found = kernels.residual(weight, bias, 64)(states, more.clone())
        after = kernels.linear(weight, bias, 64)(states).add_(more)
    wanted = functional.linear(states.double(), weight.double(), bias.double()) + more.double()
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), wanted, atol=near, rtol=0)  # numbers up to about 5
    if dtype != torch.bfloat16:
        assert torch.equal(found, after)  # not a bit moves in the precisions that are kept from version to version
    elif kernels.prepares(weight):
        assert (found - wanted).abs().mean() < 0.9 * (after - wanted).abs().mean()  # 0.7: one rounding, not two


def test_without_onednn_it_is_torchs(monkeypatch):
    weight, bias, states = random(8, 4), random(8), random(3, 4)
    monkeypatch.setattr(kernels, "prepares", lambda weight: False)
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
@pytest.mark.parametrize(
    "length", [1, 2, 7, 15, 16, 17, 31, 48, 96, 97, 300]
)  # to 96 by matrix products, beyond by torch's fused kernel
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


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)])
@pytest.mark.parametrize("length", [1, 7, 31, 96, 97, 300])
def test_a_bias_is_added_to_scaled_scores(dtype, near, length):
    n, heads, size = 3, 2, 4
    joined = random(n * length, 3 * heads * size, dtype=dtype)
    bias = random(heads, length, length, dtype=torch.promote_types(dtype, torch.float32))
    out = torch.zeros(n * length, heads * size, dtype=dtype)
    with torch.inference_mode():
        kernels.attention(joined, out, n, heads, bias)
    query, key, value = joined.double().view(n, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(query @ key.transpose(-1, -2) / size**0.5 + bias.double(), dim=-1)
    wanted = (weights @ value).transpose(1, 2).reshape(n * length, heads * size)
    torch.testing.assert_close(out.double(), wanted, atol=near, rtol=0)


def softmax(joined, n, heads):
    """Attention in float32 by the softmax of each row, rounded at the end."""
    length, size = len(joined) // n, joined.shape[1] // 3 // heads
    query, key, value = joined.float().view(n, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(query @ key.transpose(-1, -2) * size**-0.5, dim=-1)
    return (weights @ value).transpose(1, 2).reshape(n * length, heads * size).to(joined.dtype)


@pytest.mark.parametrize("scale", [0.01, 1, 3, 10, 100])  # scores of up to 3e-4, 3, 30, 300 and 30,000
@pytest.mark.parametrize("length", [1, 16, 48])
def test_scores_of_any_size_give_the_softmax_in_bfloat16(length, scale):
    joined = random(3 * length, 3 * 8, dtype=torch.bfloat16) * scale
    out = torch.zeros(3 * length, 8, dtype=torch.bfloat16)
    kernels.attention(joined, out, 3, 2)
    # the same float32 numbers but for their last digits: some are rounded the other way, by 1 of 2^7 to 2^8
    torch.testing.assert_close(out, softmax(joined, 3, 2), atol=1e-3 * scale, rtol=2**-7)


@pytest.mark.parametrize(("query", "key"), [(30, 30), (30, -30), (-30, 30)])
def test_a_row_far_from_the_others_keeps_its_weights(query, key):
    # one text's scores are 900 * 4 / 2 = 1800 or -1800, whose exponentials are infinite or 0; the other's are 0
    joined = torch.zeros(4, 12, dtype=torch.bfloat16)
    joined[:2, :4], joined[:2, 4:8] = query, key
    joined[:, 8:] = torch.tensor([1, 2, 3, 4], dtype=torch.bfloat16)[:, None]
    out = torch.zeros(4, 4, dtype=torch.bfloat16)
    kernels.attention(joined, out, 2, 1)
    assert out[:, 0].tolist() == [1.5, 1.5, 3.5, 3.5]  # equal scores: the mean of the text's own values


def test_attention_in_float32_and_beyond_bfloat16_subtracts_the_maximum(monkeypatch):
    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr(kernels, "_without_maximum", refuse)
    for dtype in (torch.float64, torch.float32, torch.float16):  # their numbers are kept from version to version
        kernels.attention(random(6, 24, dtype=dtype), torch.zeros(6, 8, dtype=dtype), 2, 2)


def test_a_text_attends_to_itself_alone():
    joined = random(10, 24)
    both, first = torch.zeros(10, 8), torch.zeros(5, 8)
    kernels.attention(joined, both, 2, 2)
    kernels.attention(joined[:5], first, 1, 2)
    torch.testing.assert_close(
        both[:5], first, atol=1e-6, rtol=0
    )  # float32; how many matrices are multiplied may change the last digit
