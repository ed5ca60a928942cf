"""Linear layers and attention, optimised for CPUs. Other devices use torch's own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

Linear = Callable[[torch.Tensor], torch.Tensor]
Residual = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# Up to here attention by batches of matrix products beats torch's fused kernel, whose cost for each short text is
# mostly fixed.
_SHORT = 96
# Between these, float32 keeps all that bfloat16 needs of a row of exponentials and of their sum.
_SUMS = 1e-30, 1e30


def linear(weight: torch.Tensor, bias: torch.Tensor, rows: int, *, gelu: bool = False) -> Linear:
    """A function from states, shape (rows, d_in), to weight @ states + bias, shape (rows, d_out).

    Exact GELU is applied to the result if requested.

    On a CPU the weights are arranged once as oneDNN needs them for `rows` rows, and GELU is applied while the product
    is still in the cache. The result is correct for any number of rows, and `rows` is the fastest.
    """
    if prepares(weight):
        kernels = torch.ops.mkldnn
        prepared = kernels._reorder_linear_weight(weight, rows)
        after = "gelu" if gelu else "none"
        return lambda states: kernels._linear_pointwise(states, prepared, bias, after, [], "none")
    if gelu:
        return lambda states: functional.gelu(functional.linear(states, weight, bias))
    return lambda states: functional.linear(states, weight, bias)


def residual(weight: torch.Tensor, bias: torch.Tensor, rows: int) -> Residual:
    """A function from two arrays, shapes (rows, d_in) and (rows, d_out), to weight @ first + bias + second.

    In bfloat16 on a CPU the sum is rounded once: the second array is added before the product is rounded. In other
    precisions it is added to the rounded product.
    """
    if weight.dtype == torch.bfloat16 and prepares(weight):
        kernels = torch.ops.mkldnn
        prepared = kernels._reorder_linear_weight(weight, rows)
        return lambda states, more: kernels._linear_pointwise.binary(states, more, prepared, bias, "add")
    product = linear(weight, bias, rows)
    return lambda states, more: product(states).add_(more)


def attention(joined: torch.Tensor, out: torch.Tensor, n: int, heads: int, bias: torch.Tensor | None = None) -> None:
    """Multi-head attention of `n` texts of one length over themselves.

    Args:
        joined: query, key and value of every token side by side, shape (n * length, 3 * d).
        out: the array that receives the result, shape (n * length, d).
        n: the number of texts.
        heads: the number of heads; d is a multiple of it.
        bias: what is added to the scores of every text, shape (heads, length, length), float32 or wider.
    """
    length, size = len(joined) // n, out.shape[1] // heads
    parts = joined.view(n, length, 3, heads, size)
    result = out.view(n, length, heads, size)
    if joined.device.type != "cpu" or length > _SHORT:
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mask = None if bias is None else bias.to(query.dtype)
        result.copy_(functional.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2))
        return
    if joined.dtype == torch.bfloat16 and _without_maximum(parts, result, bias):
        return
    # Half precision has no fast product of matrices this small; float32 does, and rounds only once, at the end.
    wide = torch.promote_types(joined.dtype, torch.float32)
    query, key, value = parts.permute(2, 0, 3, 1, 4).to(wide).reshape(3, n * heads, length, size)
    weights = torch.empty(n * heads, length, length, dtype=wide)
    torch.baddbmm(weights, query, key.transpose(1, 2), beta=0, alpha=size**-0.5, out=weights)
    if bias is not None:
        weights.view(n, heads, length, length).add_(bias)
    weights = torch.softmax(weights, dim=-1)
    result.copy_(torch.bmm(weights, value).view(n, heads, length, size).transpose(1, 2))


def _without_maximum(parts: torch.Tensor, result: torch.Tensor, bias: torch.Tensor | None) -> bool:
    """Attention in bfloat16, with exponentials of the scores as they are, divided by their sum after the last product.

    Keys are transposed while they are converted to float32, for products of matrices as small as these are twice as
    fast if neither is transposed.

    Args:
        parts: query, key and value, shape (n, length, 3, heads, size).
        result: the array that receives the result, shape (n, length, heads, size).
        bias: as for `attention`.

    Returns:
        Whether it was computed. If not, scores are so large or so small that each row needs its maximum subtracted.
    """
    n, length, _, heads, size = parts.shape
    outer = torch.empty(2, n, heads, length, size, dtype=torch.float32).copy_(parts[:, :, ::2].permute(2, 0, 3, 1, 4))
    query, value = outer.view(2, n * heads, length, size)
    key = torch.empty(n, heads, size, length, dtype=torch.float32).copy_(parts[:, :, 1].permute(0, 2, 3, 1))
    weights = torch.empty(n * heads, length, length, dtype=torch.float32)
    torch.baddbmm(weights, query, key.view(n * heads, size, length), beta=0, alpha=size**-0.5, out=weights)
    if bias is not None:
        weights.view(n, heads, length, length).add_(bias)
    sums = exponentials(weights)
    if sums is None:
        return False
    mixed = torch.bmm(weights, value).div_(sums)
    result.copy_(mixed.view(n, heads, length, size).transpose(1, 2))
    return True


def exponentials(scores: torch.Tensor) -> torch.Tensor | None:
    """Write exponentials of scores, shape (k, length, length) in float32, where these were.

    Returns:
        Their sums by row, shape (k, length, 1); None if scores are so large or so small that each row needs its maximum
        subtracted first.
    """
    weights, length = scores.exp_(), scores.shape[-1]
    sums = torch.mv(weights.view(-1, length), weights.new_ones(length)).view(-1, length, 1)
    least, most = torch.aminmax(sums)
    return sums if _SUMS[0] < float(least) and float(most) < _SUMS[1] else None


def prepares(weight: torch.Tensor) -> bool:
    """Whether oneDNN can prepare this weight: it must be on a CPU, in a precision that its instructions support."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    kernels = torch.ops.mkldnn
    if not hasattr(kernels, "_reorder_linear_weight") or not hasattr(kernels, "_linear_pointwise"):
        return False
    if weight.dtype == torch.bfloat16:
        return bool(kernels._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32
