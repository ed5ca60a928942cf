"""Attention of packed texts of several lengths in few kernels, and how arrays get to the device without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.models.packing.disentangled import Positions
from nlgauge.models.tokens import Ids

# Query, key and value of every token side by side, shape (rows, 3 d), to the mixed values, shape (rows, d). What a
# block has for distances may follow.
Attention = Callable[..., torch.Tensor]
# A number of tokens to what is added to the scores of a text that long, shape (heads, length, length).
Bias = Callable[[int], torch.Tensor]

STEP = 16  # texts whose lengths round up to the same multiple are padded to it
_FLASH = (8, 0)  # the least compute capability of a card that runs attention over packed texts


def to_device(array: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """The array on a device. A GPU copies it from pinned memory while this thread goes on."""
    tensor = torch.from_numpy(array)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def attention(
    lengths: Ids,
    heads: int,
    device: torch.device,
    dtype: torch.dtype,
    bias: Bias | None = None,
    *,
    positioned: bool = False,
) -> Attention:
    """Multi-head attention within each of several texts, which lie end to end.

    Args:
        lengths: the number of tokens of each text, shape (n,); rows beyond the last text are mixed into nothing.
        heads: the number of heads.
        device: where it runs.
        dtype: the precision.
        bias: what is added to scores.
        positioned: whether each block adds more, by the keys and queries that it has for distances.
    """
    if bias is None and not positioned and device.type == "cuda" and dtype in (torch.bfloat16, torch.float16):
        packed = _flash_attention()
        if packed is not None and torch.cuda.get_device_capability(device) >= _FLASH:
            return _packed(lengths, heads, device, packed)
    return _padded(lengths, heads, device, None if bias is None else lambda length: bias(length).to(dtype))


def _flash_attention() -> Callable[..., Any] | None:
    """torch's attention over packed texts; None before torch 2.10."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn


def _packed(lengths: Ids, heads: int, device: torch.device, kernel: Callable[..., Any]) -> Attention:
    """One kernel for all texts, which reads them where they lie."""
    n_tokens, longest = int(lengths.sum()), int(lengths.max())
    ends = to_device(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), device)

    def attend(joined: torch.Tensor, positions: None = None) -> torch.Tensor:
        parts = joined[:n_tokens].view(n_tokens, 3, heads, -1)
        mixed = joined.new_zeros(len(joined), joined.shape[1] // 3)
        found = kernel(*parts.unbind(1), ends, ends, longest, longest)
        mixed[:n_tokens] = found.reshape(n_tokens, -1)
        return mixed

    return attend


def _padded(lengths: Ids, heads: int, device: torch.device, bias: Bias | None) -> Attention:
    """One kernel for all texts of about the same length; keys beyond the end of a text are masked."""
    starts = np.cumsum(lengths) - lengths
    rounded = -(-lengths // STEP) * STEP
    buckets = []
    for width in np.unique(rounded).tolist():
        chosen = np.flatnonzero(rounded == width)
        place = np.arange(width)
        real = place < lengths[chosen, None]  # (n, width)
        rows = np.where(real, starts[chosen, None] + place, starts[chosen, None])
        kept = np.flatnonzero(real.ravel())
        to_read, seen, targets, to_keep = (to_device(array, device) for array in (rows, real, rows.ravel()[kept], kept))
        mask = seen[:, None, None, :]
        if bias is not None:
            mask = bias(width).expand(len(chosen), -1, -1, -1).masked_fill(~mask, -torch.inf)
        buckets.append((to_read, mask, targets, to_keep))

    def attend(joined: torch.Tensor, positions: Positions | None = None) -> torch.Tensor:
        mixed = joined.new_zeros(len(joined), joined.shape[1] // 3)
        for rows, mask, targets, kept in buckets:
            n, width = rows.shape
            parts = joined[rows.view(-1)].view(n, width, 3, heads, -1)
            if positions is None:
                query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (n, heads, width, size)
                found = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2)
            else:
                found = positions.mixed(parts.permute(2, 3, 0, 1, 4), mask[:, 0]).permute(1, 2, 0, 3)
            mixed[targets] = found.reshape(n * width, -1)[kept]
        return mixed

    return attend
