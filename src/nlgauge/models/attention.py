"""What blocks of packed encoders are made of: linear layers and attention, for CPUs and for other devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.models.locate import distance_parts
from nlgauge.models.tokens import Ids

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


def kernel_attention(
    joined: torch.Tensor, out: torch.Tensor, n: int, heads: int, bias: torch.Tensor | None = None
) -> None:
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


# --- Disentangled attention: a score has a part for what a token is to a distance, and for what a distance is to a
#     token
# A distance is i - j, from query i to key j. Each has a vector that the blocks share, and each block makes a key and a
# query of it. With Q and K of the tokens, and K' and Q' of distances, a score is
#
#     (Q[i] K[j] + Q[i] K'[i - j] + K[j] Q'[i - j]) / sqrt(s * (1 + number of such parts))
#
# Texts of length L need 2 L - 1 distances. A product with all of them gives row i of the scores as L neighbouring
# numbers, which begin one number earlier from row to row, so that a view of it is the scores, and nothing is gathered.
#
# References:
#     He et al. (2021), "DeBERTa", equation 4; He et al. (2023), "DeBERTaV3".

_WHOLE = 128  # texts up to here are one strip
_STRIP = 64  # rows of scores whose distances are one product: of 2 L - 1 distances a strip needs L + 63
_TOGETHER = 1 << 19  # scores of as many heads as stay in a core's cache
_LEAST, _KEPT = 32, 1024  # the shortest text for which tables are made, and the longest whose are kept
_NAMES = {  # key and query of a distance, by model type
    "deberta": ("pos_proj", "pos_q_proj"),
    "deberta-v2": ("pos_key_proj", "pos_query_proj"),
}
_BIASLESS = ("pos_proj",)
_ORDER = ("attention.self.query", "attention.self.key", "attention.self.value")


@dataclass(frozen=True)
class Relative:
    """How a model treats distances.

    Attributes:
        to_keys: whether scores have a part for Q and distances (c2p), and `to_queries` for K and distances (p2c).
        names: the names of the layers that make keys and queries of distances, or those of tokens where they do both.
        normed: whether the vectors of distances go through a norm.
        reach: the distance from which on all are one.
        buckets: the number of distances to each side that are told apart; None if all below `reach` are.
    """

    to_keys: bool
    to_queries: bool
    names: tuple[str, str]
    normed: bool
    reach: int
    buckets: int | None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Relative:
        """Read config.json of a model that `families.is_read` accepts."""
        kind, reach = config["model_type"], config.get("max_relative_positions", -1)
        parts, second = distance_parts(config), kind == "deberta-v2"
        buckets = config.get("position_buckets", -1) if second else -1
        return cls(
            "c2p" in parts,
            "p2c" in parts,
            ("key", "query") if second and config.get("share_att_key") else _NAMES[kind],
            second and "layer_norm" in str(config.get("norm_rel_ebd", "none")).lower(),
            reach if reach > 0 else config.get("max_position_embeddings", 512),
            buckets if buckets > 0 else None,
        )

    @property
    def told(self) -> tuple[str, int]:
        """Which part of config.json says half the number of vectors, and that number."""
        return ("max_relative_positions", self.reach) if self.buckets is None else ("position_buckets", self.buckets)

    def scale(self, size: int) -> float:
        """What scores are divided by, for heads of this size; in float32, in which transformers computes it."""
        return float(np.sqrt(np.float32(size * (1 + self.to_keys + self.to_queries))))

    def places(self, length: int) -> npt.NDArray[np.int64]:
        """The row of each distance from 1 - length to length - 1, shape (2 * length - 1,)."""
        ahead, half = np.arange(1 - length, length), self.told[1]
        if self.buckets is not None:
            far = np.abs(ahead)
            middle = self.buckets // 2
            shared = middle + np.searchsorted(_borders(self.buckets, self.reach), far, side="left")
            ahead = np.where(far <= middle, ahead, np.sign(ahead) * shared)
        found: npt.NDArray[np.int64] = np.clip(ahead + half, 0, 2 * half - 1)
        return found


@cache
def _borders(buckets: int, reach: int) -> npt.NDArray[np.int64]:
    """The largest distance of each shared bucket, from half their number on: ascending, the last is reach - 1.

    With m = buckets // 2, distance n > m is in bucket m + ceil((m - 1) log(n / m) / log((reach - 1) / m)). It is in
    bucket m + k or before if n^(m - 1) m^k <= (reach - 1)^k m^(m - 1), which is told with whole numbers: a logarithm
    may round to either side of a border, from processor to processor.
    """
    middle = buckets // 2
    borders, low = [middle], middle
    for k in range(1, middle):
        most = (reach - 1) ** k * middle ** (middle - 1 - k)
        high = reach - 1
        while low < high:  # the largest n for which it holds
            n = (low + high + 1) // 2
            low, high = (n, high) if n ** (middle - 1) <= most else (low, n - 1)
        borders.append(low)
    return np.array(borders, dtype=np.int64)


class Positions:
    """Keys and queries of distances in one block, for texts of any length.

    Args:
        relative: how the model treats distances.
        vectors: the vectors of distances, shape (rows, d).
        read: reads a tensor of the block by its name.
        heads: the number of heads.
        dtype: the precision of keys and queries.
    """

    def __init__(
        self,
        relative: Relative,
        vectors: torch.Tensor,
        read: Callable[[str], torch.Tensor],
        heads: int,
        dtype: torch.dtype,
    ) -> None:
        self.relative, self.dtype = relative, dtype
        self.scale = relative.scale(vectors.shape[1] // heads)
        wanted = zip(relative.names, (relative.to_keys, relative.to_queries), strict=True)
        # What is small is computed precisely, in half precision too.
        wide = torch.promote_types(vectors.dtype, torch.float32)
        self._rows: list[torch.Tensor | None] = []
        for name, is_part in wanted:
            if not is_part:
                self._rows.append(None)
                continue
            weight = read(f"attention.self.{name}.weight")
            bias = None if name in _BIASLESS else read(f"attention.self.{name}.bias").to(wide)
            made = functional.linear(vectors.to(wide), weight.to(wide), bias)
            made = made.div_(self.scale).to(dtype).view(len(vectors), heads, -1)
            self._rows.append(made.permute(1, 2, 0).contiguous())  # (heads, size, rows)
        self._state = _LEAST, self._made(_LEAST)

    def write(self, query: torch.Tensor, key: torch.Tensor, out: torch.Tensor, first: int = 0) -> None:
        """Write the parts of scores that have to do with distances.

        Args:
            query: of all tokens of n texts of one length, shape (heads, n, length, size).
            key: likewise.
            out: what is written, shape (heads, n, length, length), in any precision.
            first: the first of these heads.
        """
        heads, _, length, _ = query.shape
        reach, tables = self._near(length)
        strip = length if length <= _WHOLE else _STRIP
        written = False
        # Keys are read by falling distance and queries by rising, so both meet in the same places: the part of Q[i]
        # and distance i - j is what that of K[j] and i - j is after rows and columns have changed places. The latter
        # is the first, since numbers are copied faster than added where they lie across.
        for table, tokens, place in ((tables[1], key, out.transpose(2, 3)), (tables[0], query, out)):
            if table is None:
                continue
            near = table[first : first + heads]
            for start in range(0, length, strip):
                end = min(start + strip, length)
                found = _product(tokens[:, :, start:end], near[:, :, reach - end : reach - 1 - start + length])
                part = place[:, :, start:end]
                if written:
                    part.add_(_by_pair(found, length))
                else:
                    part.copy_(_by_pair(found, length))
            written = True

    def mixed(self, parts: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """Attention in torch's own operations, on any device: mixed values, shape (heads, n, length, size).

        Args:
            parts: query, key and value of n texts that are padded to one length, shape (3, heads, n, length, size).
            seen: the keys that are no padding, shape (n, 1, length).
        """
        query, key, value = parts
        added = query.new_empty(*query.shape[:3], query.shape[2])
        self.write(query, key, added)
        added.masked_fill_(~seen, -torch.inf)
        found: torch.Tensor = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=added, scale=1 / self.scale
        )
        return found

    def _near(self, length: int) -> tuple[int, list[torch.Tensor | None]]:
        """Tables for texts at least that long, each of shape (heads, size, 2 * reach - 1), and their reach."""
        if length > _KEPT:
            return length, self._made(length)
        reach, tables = self._state
        if reach < length:  # two threads may both make them, and both are right
            reach = 1 << (length - 1).bit_length()
            tables = self._made(reach)
            self._state = reach, tables
        return reach, tables

    def _made(self, reach: int) -> list[torch.Tensor | None]:
        places = torch.from_numpy(self.relative.places(reach))
        keys, queries = self._rows
        return [
            None if keys is None else keys.index_select(2, places.flip(0).to(keys.device)),
            None if queries is None else queries.index_select(2, places.to(queries.device)),
        ]


def disentangled_attention(joined: torch.Tensor, out: torch.Tensor, n: int, heads: int, positions: Positions) -> None:
    """Multi-head attention of `n` texts of one length over themselves, on a CPU.

    Args:
        joined: query, key and value of every token side by side, shape (n * length, 3 * d).
        out: the array that receives the result, shape (n * length, d).
        n: the number of texts.
        heads: the number of heads; d is a multiple of it.
        positions: keys and queries of distances.
    """
    length, size = len(joined) // n, out.shape[1] // heads
    parts = joined.view(n, length, 3, heads, size).permute(2, 3, 0, 1, 4)
    result = out.view(n, length, heads, size).permute(2, 0, 1, 3)
    step = max(1, _TOGETHER // (n * length * length))
    for first in range(0, heads, step):
        some = slice(first, first + step)
        result[some] = _mixed(parts[:, some], positions, first)


def unjoined(read: Callable[[str], torch.Tensor], heads: int) -> Callable[[str], torch.Tensor]:
    """A function that reads query, key and value of the first DeBERTa by BERT's names.

    Its block has one matrix, in which query, key and value of a head follow each other, and no bias of keys.

    Args:
        read: reads a tensor of the block by its name.
        heads: the number of heads.
    """
    joined = read("attention.self.in_proj.weight")
    biases = {"attention.self.query": "attention.self.q_bias", "attention.self.value": "attention.self.v_bias"}

    def tensor(name: str) -> torch.Tensor:
        part, _, kind = name.rpartition(".")
        if part not in _ORDER:
            return read(name)
        if kind == "weight":
            width = joined.shape[1]
            return joined.view(heads, 3, -1, width)[:, _ORDER.index(part)].reshape(-1, width)
        return read(biases[part]) if part in biases else joined.new_zeros(joined.shape[1])

    return tensor


def shape_of(name: str, width: int) -> tuple[int, ...] | None:
    """The shape of a layer from which queries, keys and values are made, of tokens and of distances; None of others.

    Args:
        name: as BERT names it, if it does.
        width: the number of dimensions of a vector.
    """
    if not name.startswith("attention.self."):
        return None
    rows = 3 * width if name.endswith("in_proj.weight") else width
    return (rows, width) if name.endswith(".weight") else (rows,)


def _mixed(parts: torch.Tensor, positions: Positions, first: int) -> torch.Tensor:
    """Mixed values of some heads, at least float32, shape (heads, n, length, size).

    Args:
        parts: query, key and value, shape (3, heads, n, length, size).
        positions: keys and queries of distances, of all heads.
        first: the first of these heads.
    """
    _, heads, n, length, size = parts.shape
    # Half precision has no fast product of matrices as small as those of a text; float32 does, and rounds only once.
    wide = torch.promote_types(parts.dtype, torch.float32)
    tokens = torch.empty(parts.shape, dtype=wide).copy_(parts)
    query, key, value = tokens.view(3, heads * n, length, size)
    asked = parts if positions.dtype == parts.dtype else tokens  # all texts against all distances is a large product

    def scores() -> torch.Tensor:
        found = torch.empty(heads, n, length, length, dtype=wide)
        positions.write(asked[0], asked[1], found, first)
        flat = found.view(heads * n, length, length)
        return torch.baddbmm(flat, query, key.transpose(1, 2), alpha=1 / positions.scale, out=flat)

    weights, sums = scores(), None
    if wide == torch.float32:  # of a sum above 1e-30 float32 loses less than 1e-8, and softmax of short rows is slow
        sums = exponentials(weights)
        if sums is None:
            weights = scores()
    mixed = torch.bmm(torch.softmax(weights, dim=-1) if sums is None else weights, value)
    return (mixed if sums is None else mixed.div_(sums)).view(heads, n, length, size)


def _product(tokens: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Products of tokens, shape (heads, n, k, size), and distances, (heads, size, m): shape (heads, n, k, m)."""
    heads, n, k, size = tokens.shape
    return torch.bmm(tokens.reshape(heads, n * k, size), table).view(heads, n, k, -1)


def _by_pair(found: torch.Tensor, length: int) -> torch.Tensor:
    """Row i from its place k - 1 - i on, shape (heads, n, k, length), of rows of length + k - 1 numbers."""
    heads, n, k, m = found.shape
    return found.as_strided((heads, n, k, length), (n * k * m, k * m, m - 1, 1), k - 1)


# --- Attention of packed texts of several lengths in few kernels, and how arrays get to the device without waiting

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


def packed_attention(
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
