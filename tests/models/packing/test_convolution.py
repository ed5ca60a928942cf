"""The convolution beside the first block of DeBERTa v2, against torch's own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from nlgauge.models.packing.convolution import Convolution

WIDTH, ROWS = 8, 64
LENGTHS = np.array([1, 2, 5, 5, 30])


@pytest.mark.parametrize("act", ["gelu", "tanh"])
@pytest.mark.parametrize("neighbours", [1, 3, 5])
def test_each_text_has_its_own_borders(neighbours, act):
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    tensors = {
        "encoder.conv.conv.weight": drawn(WIDTH, WIDTH, neighbours),
        "encoder.conv.conv.bias": drawn(WIDTH),
        "encoder.conv.LayerNorm.weight": drawn(WIDTH),
        "encoder.conv.LayerNorm.bias": drawn(WIDTH),
    }
    embedded, states = drawn(ROWS, WIDTH), drawn(ROWS, WIDTH)
    weight, bias, *norm = tensors.values()
    found = Convolution(tensors.__getitem__, act, 1e-7, ROWS)(embedded, states, LENGTHS)
    assert torch.isfinite(found).all()  # beyond the last text, too
    after = getattr(torch.nn.functional, act) if act == "gelu" else torch.tanh
    start = 0
    for length in LENGTHS.tolist():
        rows = slice(start, start + length)
        beside = torch.nn.functional.conv1d(embedded[rows].T[None], weight, bias, padding=neighbours // 2)[0].T
        expected = torch.nn.functional.layer_norm(states[rows] + after(beside), (WIDTH,), *norm, 1e-7)
        torch.testing.assert_close(found[rows], expected, atol=1e-12, rtol=0)
        start += length
