"""Disentangled attention: a score has a part for what a token is to a distance, and for what a distance is to a token.

A distance is i - j, from query i to key j. Each has a vector that the blocks share, and each block makes a key and a
query of it. With Q and K of the tokens, and K' and Q' of distances, a score is

    (Q[i] K[j] + Q[i] K'[i - j] + K[j] Q'[i - j]) / sqrt(s * (1 + number of such parts))

Texts of length L need 2 L - 1 distances. A product with all of them gives row i of the scores as L neighbouring
numbers, which begin one number earlier from row to row, so that a view of it is the scores, and nothing is gathered.

References:
    He et al. (2021), "DeBERTa", equation 4; He et al. (2023), "DeBERTaV3".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.models.packing import kernels
from nlgauge.models.packing.families import distance_parts

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


def attention(joined: torch.Tensor, out: torch.Tensor, n: int, heads: int, positions: Positions) -> None:
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
        sums = kernels.exponentials(weights)
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
