"""Attention of several lengths at once is that of each text alone; what only a GPU has is stood in for."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from nlgauge.models.packing import lengths as gpu

CPU = torch.device("cpu")
HEADS, SIZE = 2, 4
LENGTHS = np.array([1, 3, 16, 17, 17, 40])
ROUNDING = 1e-6


def one_by_one(joined, lengths=LENGTHS):
    """The definition: softmax of scaled products within each text; rows beyond the last text are 0."""
    mixed, start = torch.zeros(len(joined), HEADS * SIZE), 0
    for length in lengths.tolist():
        query, key, value = joined[start : start + length].view(length, 3, HEADS, SIZE).permute(1, 2, 0, 3)
        weights = torch.softmax(query @ key.transpose(1, 2) / SIZE**0.5, dim=-1)
        mixed[start : start + length] = (weights @ value).transpose(0, 1).reshape(length, -1)
        start += length
    return mixed


@pytest.fixture
def joined():
    return torch.randn(128, 3 * HEADS * SIZE, generator=torch.Generator().manual_seed(0))


def test_texts_of_about_one_length_share_a_padded_batch(joined, monkeypatch):
    calls, kernel = [], torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        gpu.functional,
        "scaled_dot_product_attention",
        lambda q, *rest, **how: calls.append(q.shape) or kernel(q, *rest, **how),
    )
    found = gpu.attention(LENGTHS, HEADS, CPU, torch.float32)(joined)
    torch.testing.assert_close(found, one_by_one(joined), atol=ROUNDING, rtol=0)
    assert [shape[0::2] for shape in calls] == [(3, 16), (2, 32), (1, 48)]  # texts, and the length they are padded to


def test_packed_texts_are_handed_over_where_they_lie(joined):
    def kernel(query, key, value, starts, of_keys, longest, longest_key):
        assert starts is of_keys
        assert (longest, longest_key) == (40, 40)
        assert starts.dtype == torch.int32
        parts = torch.stack([query, key, value], dim=1).reshape(len(query), -1)
        return one_by_one(parts, np.diff(starts.numpy())).view(len(query), HEADS, SIZE)

    found = gpu._packed(LENGTHS, HEADS, CPU, kernel)(joined)
    torch.testing.assert_close(found, one_by_one(joined), atol=ROUNDING, rtol=0)


def test_torch_has_the_kernel_for_packed_texts_with_these_arguments():
    from inspect import signature

    kernel = gpu._flash_attention()
    if kernel is None:
        pytest.skip("torch before 2.10")
    assert list(signature(kernel).parameters)[:7] == ["query", "key", "value", "cu_seq_q", "cu_seq_k", "max_q", "max_k"]


def test_arrays_come_whole():
    assert gpu.to_device(np.arange(3), CPU).tolist() == [0, 1, 2]
