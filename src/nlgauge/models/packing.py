"""BERT, MPNet and DeBERTa over packed tokens: texts lie end to end, so no time is spent on padding."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.models import attention as kernels
from nlgauge.models.attention import (
    STEP,
    Attention,
    Positions,
    Relative,
    packed_attention,
    shape_of,
    to_device,
    unjoined,
)
from nlgauge.models.heads import Head
from nlgauge.models.locate import (
    FAMILIES,
    ModelFiles,
    buckets,
    check_finite,
    is_read,
    refusing_broken,
)
from nlgauge.models.narrow import BYTES, HALF, SCALES, ZERO
from nlgauge.models.pickled import TIED
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import runs

Pair = tuple[torch.Tensor, torch.Tensor]  # weight and bias


# --- BERT's forward pass, MPNet's and DeBERTa's, over packed tokens: texts lie end to end, so no time is spent on
#     padding
# The linear layers read the tokens of all texts as one matrix. Attention runs over each group of texts of equal length.
# The number of rows is rounded up to one of a few fixed sizes, so that the matrix library prepares its kernels only
# once. The other texts in a batch change a token's vector only by rounding, and on some processors not at all.
#
# References:
#     Devlin et al. (2019), "BERT"; Liu et al. (2019), "RoBERTa" (positions count from the padding index on); Song et
#     al. (2020), "MPNet" (numbers by distance are added to scores); He et al. (2021), "DeBERTa" (so are products with
#     vectors of distances).

_CPU_TOKENS = 1024  # of 256 to 4096 the fastest, within noise: a core's own caches hold much of a batch
_GPU_TOKENS = 65536
_LEAST_ROWS = 64
_PARTS = (  # of names, after which a checkpoint says which model it is
    "embeddings.",
    "encoder.layer.",
    "encoder.relative_attention_bias.",
    "encoder.rel_embeddings.",
    "encoder.LayerNorm.",
)
_LEGACY = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


class PackedBert:
    """A BERT-like encoder. Blocks are read from disk when a layer first needs them.

    Args:
        files: the folder with config.json and safetensors.
        dtype: precision of weights and activations.
        device: the device on which it runs.
        adapters: name of a linear layer -> matrices (rank, d_in) and (d_out, rank), whose product is added to its
            weight.
        as_gpu: attend as on a GPU. None does so on all devices but the CPU.
    """

    @refusing_broken
    def __init__(
        self,
        files: ModelFiles,
        dtype: torch.dtype,
        device: torch.device,
        adapters: Mapping[str, tuple[torch.Tensor, torch.Tensor]] | None = None,
        *,
        as_gpu: bool | None = None,
    ) -> None:
        config = files.config
        self.files, self.dtype, self.device = files, dtype, device
        self.width: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.batch_tokens = _CPU_TOKENS if device.type == "cpu" else _GPU_TOKENS
        self._weights = _Weights(files)
        self._adapters = {f"{name}.weight": pair for name, pair in (adapters or {}).items()}
        self._blocks: list[Block] = []
        self._lock = threading.Lock()
        self._as_gpu = device.type != "cpu" if as_gpu is None else as_gpu
        self._family = FAMILIES[config["model_type"]]
        self.epsilon: float = config.get("layer_norm_eps", self._family.epsilon)
        padding = config.get("pad_token_id", 1) if self._family.padding is None else self._family.padding
        self.first_position: int = padding + 1 if self._family.counts_from_padding else 0
        read = self._read
        # Shape (V, d). A narrow table of pieces stays narrow: it is most of such a file, and few of its rows occur.
        self.words = self._weights.narrow("embeddings.word_embeddings.weight", dtype, device) or read(
            "embeddings.word_embeddings.weight"
        )
        self._has_positions, self._has_types = self._family.tables(config)
        # Without vectors of positions all are one position, whose vector is 0.
        self._positions = (
            read("embeddings.position_embeddings.weight")
            if self._has_positions
            else torch.zeros(1, self.words.shape[1], dtype=dtype, device=device)
        )
        self._n_positions = len(self._positions)
        self._reach = self._n_positions + STEP  # texts are padded beyond their end
        if self._has_types:
            # The vector of a token's type joins that of its position once, instead of every token every time: a table a
            # type, one below the other.
            kinds = read("embeddings.token_type_embeddings.weight")[:2]
            self._positions = torch.cat([self._positions + kind for kind in kinds])
        self._by_distance = self._of_distances(read(self._family.relative)) if self._family.relative else None
        self._norm = read("embeddings.LayerNorm.weight"), read("embeddings.LayerNorm.bias")
        self._relative = Relative.of(config) if self._family.is_disentangled else None
        self._distances = None if self._relative is None else read("encoder.rel_embeddings.weight")
        self._check(config)
        if self._relative is not None and self._distances is not None and self._relative.normed:
            norm = read("encoder.LayerNorm.weight"), read("encoder.LayerNorm.bias")
            self._distances = functional.layer_norm(self._distances, (self.width,), *norm, self.epsilon)

    @contextmanager
    def cut(self, layer: int) -> Iterator[Callable[..., torch.Tensor]]:
        """The network cut after `layer` blocks; 0 is the embeddings. Several threads may use it inside the context.

        It is a function from sequences, sorted by length, to the vectors of all their tokens, one after another, shape
        (sum of lengths, d). The types of the tokens (0 or 1) may follow the sequences.
        """
        with self._lock:
            while len(self._blocks) < layer:
                self._blocks.append(self._block(len(self._blocks)))
        blocks = self._blocks[:layer]
        yield lambda sequences, types=None: self._forward(sequences, types, blocks)

    @contextmanager
    def cut_each(self, layers: Sequence[int]) -> Iterator[Callable[[Sequence[Ids]], list[torch.Tensor]]]:
        """Like `cut`, for several layers in one pass: vectors of all tokens at each layer, in the requested order."""

        def forward(sequences: Sequence[Ids]) -> list[torch.Tensor]:
            kept: dict[int, torch.Tensor] = {}
            self._forward(
                sequences, None, blocks, lambda layer, states: kept.update({layer: states}) if layer in layers else None
            )
            n_tokens = sum(len(s) for s in sequences)
            return [kept[layer][:n_tokens] for layer in layers]

        with self.cut(max(layers)):
            blocks = self._blocks[: max(layers)]
            yield forward

    def tensor(self, ending: str) -> torch.Tensor:
        """A weight of a head, in the checkpoint's own precision. Its name is `ending`, or ends in it after a dot.

        Raises:
            InputError: there is no such weight, or more than one.
        """
        return self._weights.ending(ending)

    def _check(self, config: Mapping[str, Any]) -> None:
        """Refuse a configuration that is not of these weights, before a text is read."""
        heads_fit = type(self.heads) is int and self.heads > 0 and self.width % self.heads == 0
        first_fits = type(self.first_position) is int and 0 <= self.first_position < self._n_positions
        tables = [("vocab_size", len(self.words))]
        if self._has_positions:
            tables.append(("max_position_embeddings", self._n_positions))
        epsilon_fits = isinstance(self.epsilon, float | int) and 0 <= self.epsilon < 1
        facts = (  # name, what it is, what is expected, whether it fits
            ("hidden_size", self.width, self.words.shape[1], self.width == self.words.shape[1]),
            ("num_attention_heads", self.heads, f"a divisor of {self.width}", heads_fit),
            ("layer_norm_eps", repr(self.epsilon), "a small number", epsilon_fits),
            ("pad_token_id", config.get("pad_token_id"), f"a number below {self._n_positions - 1}", first_fits),
            *((name, config[name], f"at most {rows}", config[name] <= rows) for name, rows in tables if name in config),
            *self._distances_fit(),
        )
        for name, found, expected, fits in facts:
            if not fits:
                raise InputError(
                    f"model {self.files.name!r}: {name} is {found} in config.json, expected {expected} by the weights;"
                    " is config.json of this model?"
                )

    def _distances_fit(self) -> Iterator[tuple[str, object, object, bool]]:
        """What is to be checked of the vectors of distances, as in `_check`."""
        if self._relative is not None and self._distances is not None:
            name, half = self._relative.told
            rows, width = self._distances.shape
            fits = (rows, width) == (2 * half, self.width)
            yield name, half, rows // 2 if width == self.width else f"vectors of {self.width} numbers", fits

    def _read(self, name: str, shape: tuple[int, ...] | None = None) -> torch.Tensor:
        weight = self._weights[name]
        if shape is not None and weight.shape != shape:
            found, wanted = (" x ".join(map(str, one)) for one in (weight.shape, shape))
            raise InputError(
                f"model {self.files.name!r}: {name} has shape {found} in the weights, expected {wanted}; is"
                " config.json of this model?"
            )
        if name in self._adapters:
            down, up = self._adapters[name]
            if (len(up), down.shape[1]) != tuple(weight.shape):
                raise InputError(
                    f"model {self.files.name!r}: an adapter of shape {len(up)} x {down.shape[1]} for {name} of shape "
                    f"{' x '.join(map(str, weight.shape))}; it was made for another encoder"
                )
            weight = weight.double() + up.double() @ down.double()  # rounded once, whatever the precision
        return weight.to(device=self.device, dtype=self.dtype)

    def _forward(
        self,
        sequences: Sequence[Ids],
        types: Sequence[Ids] | None,
        blocks: Sequence[Block],
        seen: Callable[[int, torch.Tensor], None] = lambda layer, states: None,
    ) -> torch.Tensor:
        lengths = np.array([len(s) for s in sequences], dtype=np.int64)
        n_tokens = int(lengths.sum())
        rows = self._rows(n_tokens)
        ids, positions = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        ids[:n_tokens] = np.concatenate(sequences)
        ends = np.cumsum(lengths)
        if self._has_positions:
            positions[:n_tokens] = np.arange(n_tokens) - np.repeat(ends - lengths, lengths)
        positions += self.first_position
        if self._family.counts_from_padding and (ids[:n_tokens] == self.first_position - 1).any():
            positions[:n_tokens] = self._without_padding(ids[:n_tokens], lengths)
        if types is not None and self._has_types:
            positions[:n_tokens] += np.concatenate(types) * self._n_positions
        states = rows_of(self.words, to_device(ids, self.device))
        if self._has_positions or self._has_types:
            states = states.add_(functional.embedding(to_device(positions, self.device), self._positions))
        states = functional.layer_norm(states, (self.width,), *self._norm, self.epsilon)
        attend = self._by_group(lengths)
        if self._as_gpu:
            bias = None if self._by_distance is None else self._bias
            positioned = self._relative is not None
            attend = packed_attention(lengths, self.heads, self.device, self.dtype, bias, positioned=positioned)
        seen(0, states)
        for number, block in enumerate(blocks, 1):
            states = block(states, attend)
            seen(number, states)
        return states[:n_tokens]

    def _without_padding(self, ids: Ids, lengths: Ids) -> Ids:
        """Positions where texts hold the padding piece: it is not counted, and has the position below the first."""
        counted = np.cumsum(ids != self.first_position - 1)
        before = np.concatenate([[0], counted])[np.cumsum(lengths) - lengths]
        positions = self.first_position - 1 + counted - np.repeat(before, lengths)
        return np.where(ids == self.first_position - 1, self.first_position - 1, positions)

    def _by_group(self, lengths: Ids) -> Attention:
        """Attention over each group of texts of equal length, for a CPU."""
        ends, groups = np.cumsum(lengths), []
        for low, high in runs(lengths):
            length = int(lengths[low])
            bias = None if self._by_distance is None else self._bias(length)
            groups.append((int(ends[low]) - length, int(ends[high - 1]), high - low, bias))

        def attend(joined: torch.Tensor, positions: Positions | None = None) -> torch.Tensor:
            mixed = joined.new_empty(len(joined), self.width)
            mixed[groups[-1][1] :] = 0  # rows beyond the last text, so that nothing undefined is computed on
            for start, end, n, bias in groups:
                if positions is None:
                    kernels.kernel_attention(joined[start:end], mixed[start:end], n, self.heads, bias)
                else:
                    kernels.disentangled_attention(joined[start:end], mixed[start:end], n, self.heads, positions)
            return mixed

        return attend

    def _of_distances(self, table: torch.Tensor) -> torch.Tensor:
        """What is added to scores at each distance, in float32 or wider, shape (heads, 2 * reach + 1)."""
        places = to_device(buckets(self._reach), self.device)
        return table.to(torch.promote_types(self.dtype, torch.float32))[places].T.contiguous()

    def _bias(self, length: int) -> torch.Tensor:
        """What is added to the scores of a text that long, shape (heads, length, length)."""
        assert self._by_distance is not None  # or nothing is added
        near = self._by_distance[:, self._reach + 1 - length : self._reach + length]
        return near.unfold(1, length, 1).flip(1)  # row i: distances from -i to length - 1 - i

    def _rows(self, n_tokens: int) -> int:
        """Round up to one of a few row counts: powers of two up to a full batch, multiples of the least one beyond."""
        if n_tokens > self.batch_tokens:
            return -(-n_tokens // _LEAST_ROWS) * _LEAST_ROWS
        return max(_LEAST_ROWS, min(self.batch_tokens, 1 << (n_tokens - 1).bit_length()))

    def _block(self, number: int) -> Block:
        def own(name: str) -> torch.Tensor:
            shape = None if self._relative is None else shape_of(name, self.width)
            return self._read(f"encoder.layer.{number}.{self._family.named(name)}", shape)

        positions = None
        if self._relative is not None and self._distances is not None:
            positions = Positions(self._relative, self._distances, own, self.heads, self._of_positions())
        read = unjoined(own, self.heads) if self._family.is_joined else own
        return Block.read(read, self.epsilon, self.batch_tokens, positions)

    def _of_positions(self) -> torch.dtype:
        """The precision of keys and queries of distances: one in which products are fast."""
        if self._as_gpu or (self.dtype == torch.bfloat16 and kernels.prepares(self._positions)):
            return self.dtype
        return torch.promote_types(self.dtype, torch.float32)


def below(
    head: Head, dtype: torch.dtype, device: torch.device, wanted: Sequence[str] = ()
) -> tuple[PackedBert, dict[str, torch.Tensor]]:
    """The encoder of a head with its adapters, and the head's own tensors, among which the wanted ones are.

    Raises:
        InputError: the encoder is not of BERT's family, or a tensor is missing or does not fit.
    """
    if not is_read(head.encoder.config):
        raise InputError(
            f"head {head.path}: its encoder {head.encoder.name!r} is not of BERT's family, and heads stand on no other"
        )
    own, adapters = head.tensors()
    for name in wanted:
        if name not in own:
            raise InputError(f"head {head.path} holds no {name}")
    return PackedBert(head.encoder, dtype, device, adapters), own


@dataclass(frozen=True)
class Block:
    """The weights of a block, and its pass."""

    epsilon: float
    query_key_value: kernels.Linear
    attention_out: kernels.Residual
    attention_norm: Pair
    up: kernels.Linear
    down: kernels.Residual
    norm: Pair
    positions: Positions | None = None

    @classmethod
    def read(
        cls, tensor: Callable[[str], torch.Tensor], epsilon: float, rows: int, positions: Positions | None = None
    ) -> Block:
        """Read the weights by their BERT names."""

        def pair(name: str) -> Pair:
            return tensor(f"{name}.weight"), tensor(f"{name}.bias")

        three = [pair(f"attention.self.{part}") for part in ("query", "key", "value")]
        return cls(
            epsilon,
            kernels.linear(torch.cat([w for w, _ in three]), torch.cat([b for _, b in three]), rows),
            kernels.residual(*pair("attention.output.dense"), rows),
            pair("attention.output.LayerNorm"),
            kernels.linear(*pair("intermediate.dense"), rows, gelu=True),
            kernels.residual(*pair("output.dense"), rows),
            pair("output.LayerNorm"),
            positions,
        )

    def __call__(self, states: torch.Tensor, attend: Attention) -> torch.Tensor:
        """The states after the block, shape (rows, d), of those before it."""
        width = states.shape[1]
        mixed = attend(self.query_key_value(states), self.positions)
        states = functional.layer_norm(self.attention_out(mixed, states), (width,), *self.attention_norm, self.epsilon)
        return functional.layer_norm(self.down(self.up(states), states), (width,), *self.norm, self.epsilon)


class _Weights:
    """Tensors by their BERT names, with any prefix in the checkpoint, read one at a time from the shards."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._where: dict[str, tuple[Any, str]] = {}
        for path in files.weight_files():
            try:  # stays open: whoever opens it maps all of it, for as long as one of its tensors lives
                shard: Any = safe_open(str(path), framework="pt")
                keys, tied = shard.keys(), json.loads((shard.metadata() or {}).get(TIED, "{}"))
                self._where |= {_plain(name): (shard, key) for name, key in tied.items() if key in keys}
                self._where |= {_plain(key): (shard, key) for key in keys}
            except Exception as error:
                raise InputError(f"model {files.name!r}: {path} is not a readable safetensors file: {error}") from None

    def narrow(self, name: str, dtype: torch.dtype, device: torch.device) -> NarrowRows | None:
        """A matrix in four bits; None if the weights hold it as it is."""
        both = self._where.get(name + BYTES), self._where.get(name + SCALES)
        if both[0] is None or both[1] is None:
            return None
        halves, scales = self._get(*both[0]), self._get(*both[1])
        return NarrowRows(halves.to(device), scales.to(device), dtype)

    def __getitem__(self, name: str) -> torch.Tensor:
        found = self._where.get(name)
        if found is None and (narrow := self.narrow(name, torch.float32, torch.device("cpu"))) is not None:
            return narrow.rows(slice(None))
        for new, old in _LEGACY.items():
            if found is None and name.endswith(new):
                found = self._where.get(name.removesuffix(new) + old)
        if found is None:
            raise InputError(f"model {self._files.name!r}: the weights hold no {name}; is config.json of this model?")
        return self._get(*found)

    def ending(self, ending: str) -> torch.Tensor:
        """The tensor whose name is `ending`, or ends in it after a dot."""
        found = [place for name, place in self._where.items() if f".{name}".endswith(f".{ending}")]
        if len(found) != 1:
            count = "no" if not found else f"{len(found)} tensors named"
            raise InputError(
                f"model {self._files.name!r}: the weights hold {count} {ending}; is config.json of this model?"
            )
        return self._get(*found[0])

    def _get(self, shard: Any, key: str) -> torch.Tensor:
        tensor: torch.Tensor = shard.get_tensor(key)
        check_finite(f"model {self._files.name!r}", [(key, tensor)])
        return tensor


def _plain(key: str) -> str:
    for part in _PARTS:
        place = key.find(part)
        if place > 0 and key[place - 1] == ".":
            return key[place:]
    return key


# --- Matrices in four bits (`models.narrow`), made wide


class NarrowRows:
    """A matrix whose rows are made wide when they are asked for.

    Args:
        halves: uint8, shape (rows, d / 2).
        scales: float16, shape (rows, d / 32).
        dtype: of the rows that are asked for.

    Raises:
        InputError: the shapes do not fit.
    """

    def __init__(self, halves: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> None:
        if halves.shape != (len(scales), HALF * scales.shape[-1]):
            raise InputError(
                f"a narrow matrix has bytes of shape {tuple(halves.shape)} and scales of {tuple(scales.shape)},"
                f" expected {HALF} bytes a scale"
            )
        self.halves, self.scales, self.dtype = halves, scales, dtype
        self.shape = len(halves), 2 * halves.shape[1]

    def __len__(self) -> int:
        return len(self.halves)

    def rows(self, ids: torch.Tensor | slice) -> torch.Tensor:
        """The rows of these numbers, shape (n, d); a slice stands for a range of them."""
        blocks = self.halves[ids].unflatten(1, (-1, HALF))
        both = torch.cat([blocks & 15, blocks >> 4], dim=2).to(torch.float32) - ZERO
        return (both * self.scales[ids].to(torch.float32).unsqueeze(2)).flatten(1).to(self.dtype)


def fill_narrow(files: ModelFiles, model: torch.nn.Module) -> set[str]:
    """Fill the parameters of a model of transformers, which cannot read them, from matrices in four bits.

    Returns:
        The names of the parameters.
    """
    weights, filled = _Weights(files), set()
    for name, parameter in model.named_parameters():
        narrow = weights.narrow(_plain(name), parameter.dtype, parameter.device)
        if narrow is not None:
            with torch.no_grad():
                parameter.copy_(narrow.rows(slice(None)))
            filled.add(name)
    return filled


def rows_of(matrix: torch.Tensor | NarrowRows, ids: torch.Tensor) -> torch.Tensor:
    """The rows of these numbers, shape (n, d), of a matrix in either form."""
    return matrix.rows(ids) if isinstance(matrix, NarrowRows) else functional.embedding(ids, matrix)
