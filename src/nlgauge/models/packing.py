"""BERT, MPNet, DeBERTa and ModernBERT over packed tokens: texts lie end to end, so no time is spent on padding."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.models import attention as disentangled
from nlgauge.models import attention as kernels
from nlgauge.models.attention import (
    STEP,
    Attention,
    Convolution,
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
    attention_kinds,
    buckets,
    check_finite,
    is_read,
    refusing_broken,
    thetas,
)
from nlgauge.models.narrow import BYTES, HALF, SCALES, ZERO
from nlgauge.models.pickled import TIED
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import runs

Pair = tuple[torch.Tensor, torch.Tensor]  # weight and bias


@dataclass(frozen=True)
class Block:
    """The weights of a block.

    Attributes:
        epsilon: of the layer norms.
        compiled: whether what follows attention is compiled; all blocks share the compiled code.
        positions: what DeBERTa has for distances.
    """

    epsilon: float
    compiled: bool
    query_key_value: Pair
    attention_out: Pair
    attention_norm: Pair
    up: Pair
    down: Pair
    norm: Pair
    positions: Positions | None = None

    @classmethod
    def read(
        cls, tensor: Callable[[str], torch.Tensor], epsilon: float, compiled: bool, positions: Positions | None = None
    ) -> Block:
        """Read the weights by their BERT names."""

        def pair(name: str) -> Pair:
            return tensor(f"{name}.weight"), tensor(f"{name}.bias")

        three = [pair(f"attention.self.{part}") for part in ("query", "key", "value")]
        return cls(
            epsilon,
            compiled,
            (torch.cat([w for w, _ in three]), torch.cat([b for _, b in three])),
            pair("attention.output.dense"),
            pair("attention.output.LayerNorm"),
            pair("intermediate.dense"),
            pair("output.dense"),
            pair("output.LayerNorm"),
            positions,
        )

    def __call__(self, states: torch.Tensor, attend: Attention) -> torch.Tensor:
        """The states after the block, shape (rows, d), of those before it."""
        mixed = attend(functional.linear(states, *self.query_key_value), self.positions)
        finish = compiled_finish() if self.compiled else finished
        found: torch.Tensor = finish(
            states, mixed, self.attention_out, self.attention_norm, self.up, self.down, self.norm, self.epsilon
        )
        return found


def finished(
    states: torch.Tensor, mixed: torch.Tensor, out: Pair, first: Pair, up: Pair, down: Pair, last: Pair, epsilon: float
) -> torch.Tensor:
    """A block after its attention. The weights are arguments, so that it is compiled once for all blocks."""
    width = (states.shape[1],)
    states = functional.layer_norm(functional.linear(mixed, *out) + states, width, *first, epsilon)
    risen = functional.gelu(functional.linear(states, *up))
    return functional.layer_norm(functional.linear(risen, *down) + states, width, *last, epsilon)


@cache
def compiled_finish() -> Callable[..., Any]:
    """`finished`, compiled when it first runs, for any number of rows."""
    return torch.compile(finished, dynamic=True)


# --- BERT's forward pass, MPNet's and DeBERTa's, over packed tokens: texts lie end to end, so no time is spent on
#     padding
# The linear layers read the tokens of all texts as one matrix. Attention runs over each group of texts of equal length.
# The number of rows is rounded up to one of a few fixed sizes, so that the matrix library prepares its kernels only
# once. The other texts in a batch change a token's vector only by rounding, and on some processors not at all. On a GPU
# the blocks are those of `models.packing.blocks`.
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
    "encoder.conv.",
    "layers.",
    "final_norm.",
)
_LEGACY = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


class Packed:
    """What packed encoders share. Blocks are read from disk when a layer first needs them.

    Args:
        files: the folder with config.json and safetensors.
        dtype: precision of weights and activations.
        device: the device on which it runs.
        adapters: name of a linear layer -> matrices (rank, d_in) and (d_out, rank), whose product is added to its
            weight.
    """

    def __init__(
        self,
        files: ModelFiles,
        dtype: torch.dtype,
        device: torch.device,
        adapters: Mapping[str, tuple[torch.Tensor, torch.Tensor]] | None = None,
    ) -> None:
        config = files.config
        self.files, self.dtype, self.device = files, dtype, device
        self.width: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.batch_tokens = _CPU_TOKENS if device.type == "cpu" else _GPU_TOKENS
        self._weights = _Weights(files)
        self._adapters = {f"{name}.weight": pair for name, pair in (adapters or {}).items()}
        self._blocks: list[Any] = []
        self._lock = threading.Lock()

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
        yield lambda sequences, types=None: self._ended(self._forward(sequences, types, blocks))

    @contextmanager
    def cut_each(self, layers: Sequence[int]) -> Iterator[Callable[[Sequence[Ids]], list[torch.Tensor]]]:
        """Like `cut`, for several layers in one pass: vectors of all tokens at each layer, in the requested order."""

        def forward(sequences: Sequence[Ids]) -> list[torch.Tensor]:
            kept: dict[int, torch.Tensor] = {}
            self._forward(
                sequences, None, blocks, lambda layer, states: kept.update({layer: states}) if layer in layers else None
            )
            n_tokens = sum(len(s) for s in sequences)
            return [self._ended(kept[layer][:n_tokens]) for layer in layers]

        with self.cut(max(layers)):
            blocks = self._blocks[: max(layers)]
            yield forward

    def tensor(self, ending: str) -> torch.Tensor:
        """A weight of a head, in the checkpoint's own precision. Its name is `ending`, or ends in it after a dot.

        Raises:
            InputError: there is no such weight, or more than one.
        """
        return self._weights.ending(ending)

    def _block(self, number: int) -> Any:
        """The block of that number, from 0 on."""
        raise NotImplementedError

    def _forward(
        self,
        sequences: Sequence[Ids],
        types: Sequence[Ids] | None,
        blocks: Sequence[Any],
        seen: Callable[[int, torch.Tensor], None] = lambda layer, states: None,
    ) -> torch.Tensor:
        """The states after some blocks, shape (sum of lengths, d); `seen` gets those of each layer, with more rows."""
        raise NotImplementedError

    def _ended(self, states: torch.Tensor) -> torch.Tensor:
        """What the network gives of the states of a layer."""
        return states

    def _refuse(self, *facts: tuple[str, object, object, bool]) -> None:
        """Refuse a configuration of which a fact (name, what it is, what is expected, whether it fits) does not fit."""
        for name, found, expected, fits in facts:
            if not fits:
                raise InputError(
                    f"model {self.files.name!r}: {name} is {found} in config.json, expected {expected} by the weights;"
                    " is config.json of this model?"
                )

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


class PackedBert(Packed):
    """A BERT-like encoder. Blocks are read from disk when a layer first needs them.

    Args:
        files: the folder with config.json and safetensors.
        dtype: precision of weights and activations.
        device: the device on which it runs.
        adapters: name of a linear layer -> matrices (rank, d_in) and (d_out, rank), whose product is added to its
            weight.
        compiled: compile the blocks of a GPU; a CPU has its own kernels.
        as_gpu: compute as on a GPU. None does so on all devices but the CPU.
    """

    @refusing_broken
    def __init__(
        self,
        files: ModelFiles,
        dtype: torch.dtype,
        device: torch.device,
        adapters: Mapping[str, tuple[torch.Tensor, torch.Tensor]] | None = None,
        *,
        compiled: bool = False,
        as_gpu: bool | None = None,
    ) -> None:
        super().__init__(files, dtype, device, adapters)
        config = files.config
        self._as_gpu, self._compiled = device.type != "cpu" if as_gpu is None else as_gpu, compiled
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
        self._convolution = (
            Convolution(read, config.get("conv_act", "tanh"), self.epsilon, self.batch_tokens)
            if self._family.convolves(config)
            else None
        )

    def _check(self, config: Mapping[str, Any]) -> None:
        """Refuse a configuration that is not of these weights, before a text is read."""
        heads_fit = type(self.heads) is int and self.heads > 0 and self.width % self.heads == 0
        first_fits = type(self.first_position) is int and 0 <= self.first_position < self._n_positions
        tables = [("vocab_size", len(self.words))]
        if self._has_positions:
            tables.append(("max_position_embeddings", self._n_positions))
        epsilon_fits = isinstance(self.epsilon, float | int) and 0 <= self.epsilon < 1
        self._refuse(
            ("hidden_size", self.width, self.words.shape[1], self.width == self.words.shape[1]),
            ("num_attention_heads", self.heads, f"a divisor of {self.width}", heads_fit),
            ("layer_norm_eps", repr(self.epsilon), "a small number", epsilon_fits),
            ("pad_token_id", config.get("pad_token_id"), f"a number below {self._n_positions - 1}", first_fits),
            *((name, config[name], f"at most {rows}", config[name] <= rows) for name, rows in tables if name in config),
            *self._distances_fit(),
        )

    def _distances_fit(self) -> Iterator[tuple[str, object, object, bool]]:
        """What is to be checked of the vectors of distances, as in `_check`."""
        if self._relative is not None and self._distances is not None:
            name, half = self._relative.told
            rows, width = self._distances.shape
            fits = (rows, width) == (2 * half, self.width)
            yield name, half, rows // 2 if width == self.width else f"vectors of {self.width} numbers", fits

    def _forward(
        self,
        sequences: Sequence[Ids],
        types: Sequence[Ids] | None,
        blocks: Sequence[_Block | Block],
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
        embedded = states
        for number, block in enumerate(blocks, 1):
            states = block(states, attend)
            if number == 1 and self._convolution is not None:
                states = self._convolution(embedded, states, lengths)
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
                    disentangled.disentangled_attention(joined[start:end], mixed[start:end], n, self.heads, positions)
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

    def _block(self, number: int) -> _Block | Block:
        def own(name: str) -> torch.Tensor:
            shape = None if self._relative is None else shape_of(name, self.width)
            return self._read(f"encoder.layer.{number}.{self._family.named(name)}", shape)

        positions = None
        if self._relative is not None and self._distances is not None:
            positions = Positions(self._relative, self._distances, own, self.heads, self._of_positions())
        read = unjoined(own, self.heads) if self._family.is_joined else own
        if self._as_gpu:
            return Block.read(read, self.epsilon, self._compiled, positions)
        return _Block.read(read, self.epsilon, self.batch_tokens, positions)

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
class _Block:
    epsilon: float
    query_key_value: kernels.Linear
    attention_out: kernels.Residual
    attention_norm: tuple[torch.Tensor, torch.Tensor]
    up: kernels.Linear
    down: kernels.Residual
    norm: tuple[torch.Tensor, torch.Tensor]
    positions: Positions | None = None

    @classmethod
    def read(
        cls, tensor: Callable[[str], torch.Tensor], epsilon: float, rows: int, positions: Positions | None = None
    ) -> _Block:
        def pair(name: str) -> tuple[torch.Tensor, torch.Tensor]:
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
        width = states.shape[1]
        mixed = attend(self.query_key_value(states), self.positions)
        states = functional.layer_norm(self.attention_out(mixed, states), (width,), *self.attention_norm, self.epsilon)
        return functional.layer_norm(self.down(self.up(states), states), (width,), *self.norm, self.epsilon)


# --- ModernBERT's forward pass, on a CPU
# Blocks begin with their norms, and what a layer gives goes through the norm that stands behind the last block. Queries
# and keys are turned by their positions: a head's numbers k and k + size / 2 are a complex number that is multiplied
# with e^(i position theta^(-2 k / size)). The rows of the weights are put in an order in which the two are neighbours,
# so that one product turns all in their place; scores are the same in any order. In some blocks a token sees only its
# neighbourhood. The MLP is gelu(first half) * second half.
#
# References:
#     Warner et al. (2024), "Smarter, Better, Faster, Longer" (ModernBERT), appendix A; Marone et al. (2025), "mmBERT";
#     Su et al. (2021), "RoFormer" (positions); Shazeer (2020), "GLU Variants Improve Transformer" (the MLP).

_Layer = tuple[torch.Tensor, torch.Tensor | None]  # weight and bias
_LOCAL = "sliding_attention"


class PackedModernBert(Packed):
    """A ModernBERT, as `Packed`, on a CPU.

    Vectors are those that transformers computes in eval mode; a text may be of any length.

    Raises:
        InputError: config.json is not of these weights.
    """

    @refusing_broken
    def __init__(self, files: ModelFiles, dtype: torch.dtype) -> None:
        super().__init__(files, dtype, torch.device("cpu"))
        self._config = config = files.config
        self._epsilon: float = config.get("norm_eps", 1e-5)
        self._words = self._read("embeddings.tok_embeddings.weight")  # shape (V, d)
        n_words, width = self._words.shape
        heads_fit = type(self.heads) is int and self.heads > 0 and self.width % (2 * self.heads) == 0
        self._refuse(
            ("hidden_size", self.width, width, self.width == width),
            ("num_attention_heads", self.heads, f"a divisor of half of {self.width}", heads_fit),
            ("vocab_size", config.get("vocab_size"), f"at most {n_words}", config.get("vocab_size", 0) <= n_words),
            ("norm_eps", repr(self._epsilon), "a small number", 0 <= self._epsilon < 1),
        )
        self._first_norm, self._last_norm = self._norm("embeddings.norm"), self._norm("final_norm")
        self._kinds, self._thetas = attention_kinds(config), thetas(config)
        self._reach: int = config.get("local_attention", 128) // 2

    def _forward(
        self,
        sequences: Sequence[Ids],
        types: Sequence[Ids] | None,
        blocks: Sequence[_ModernBlock],
        seen: Callable[[int, torch.Tensor], None] = lambda layer, states: None,
    ) -> torch.Tensor:
        lengths = np.array([len(s) for s in sequences], dtype=np.int64)
        n_tokens = int(lengths.sum())
        # Not few row counts as in BERT: a deep network gains more by rows left out than kernels cost to prepare.
        ids = np.zeros(-(-n_tokens // _LEAST_ROWS) * _LEAST_ROWS, dtype=np.int64)
        ids[:n_tokens] = np.concatenate(sequences)
        states = functional.embedding(torch.from_numpy(ids), self._words)
        states = functional.layer_norm(states, (self.width,), *self._first_norm, self._epsilon)
        attend = {kind: self._attention(lengths, len(ids), kind) for kind in {block.kind for block in blocks}}
        seen(0, states)
        for number, block in enumerate(blocks, 1):
            states = block(states, attend[block.kind])
            seen(number, states)
        return states[:n_tokens]

    def _ended(self, states: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(states, (self.width,), *self._last_norm, self._epsilon)

    def _attention(self, lengths: Ids, rows: int, kind: str) -> Attention:
        """Attention over each group of texts of equal length, of queries and keys that are turned first."""
        ends = np.cumsum(lengths)
        n_tokens, longest = int(ends[-1]), int(lengths.max())
        groups = [(int(ends[low] - lengths[low]), int(ends[high - 1]), high - low) for low, high in runs(lengths)]
        positions = np.zeros(rows, dtype=np.int64)
        positions[:n_tokens] = np.arange(n_tokens) - np.repeat(ends - lengths, lengths)
        turns = rotations(
            self._thetas[kind], self.width // self.heads, 1 << (longest - 1).bit_length(), self.dtype
        ).index_select(0, torch.from_numpy(positions))[:, None, None]
        reach = self._reach if kind == _LOCAL else longest

        def attend(joined: torch.Tensor) -> torch.Tensor:
            turn(joined, turns, self.heads)
            mixed = joined.new_empty(rows, self.width)
            mixed[n_tokens:] = 0  # rows beyond the last text, so that nothing undefined is computed on
            for start, end, n in groups:
                kernels.local_attention(joined[start:end], mixed[start:end], n, self.heads, reach)
            return mixed

        return attend

    def _block(self, number: int) -> _ModernBlock:
        width, rows, prefix = self.width, self.batch_tokens, f"layers.{number}"
        inner: int = self._config.get("intermediate_size", 1152)

        def layer(name: str, flag: str, shape: tuple[int, int]) -> _Layer:
            return self._layer(f"{prefix}.{name}", flag, shape)

        joined = layer("attn.Wqkv", "attention_bias", (3 * width, width))
        both = layer("mlp.Wi", "mlp_bias", (2 * inner, width))
        return _ModernBlock(
            self._kinds[number],
            self._epsilon,
            self._norm(f"{prefix}.attn_norm") if number else None,  # the embeddings come out of a norm
            kernels.linear(*_both(joined, lambda tensor: beside(tensor, self.heads)), rows),
            kernels.residual(*layer("attn.Wo", "attention_bias", (width, width)), rows),
            self._norm(f"{prefix}.mlp_norm"),
            kernels.linear(*_both(both, lambda tensor: tensor[:inner]), rows, gelu=True),
            kernels.linear(*_both(both, lambda tensor: tensor[inner:]), rows),
            kernels.residual(*layer("mlp.Wo", "mlp_bias", (width, inner)), rows),
        )

    def _norm(self, name: str) -> _Layer:
        return self._layer(name, "norm_bias", (self.width,))

    def _layer(self, name: str, flag: str, shape: tuple[int, ...]) -> _Layer:
        """A weight and its bias, where a flag in config.json says that there is one; else one is refused."""
        if self._config.get(flag, False):
            return self._read(f"{name}.weight", shape), self._read(f"{name}.bias", shape[:1])
        if f"{name}.bias" in self._weights:
            raise InputError(
                f"model {self.files.name!r}: the weights hold {name}.bias, and by {flag} in config.json there is none;"
                " is config.json of this model?"
            )
        return self._read(f"{name}.weight", shape), None


@dataclass(frozen=True)
class _ModernBlock:
    kind: str
    epsilon: float
    attention_norm: _Layer | None
    query_key_value: kernels.Linear
    attention_out: kernels.Residual
    norm: _Layer
    up: kernels.Linear
    gate: kernels.Linear
    down: kernels.Residual

    def __call__(self, states: torch.Tensor, attend: Attention) -> torch.Tensor:
        normed = states if self.attention_norm is None else self._normed(states, self.attention_norm)
        states = self.attention_out(attend(self.query_key_value(normed)), states)
        normed = self._normed(states, self.norm)
        return self.down(self.up(normed).mul_(self.gate(normed)), states)

    def _normed(self, states: torch.Tensor, norm: _Layer) -> torch.Tensor:
        return functional.layer_norm(states, states.shape[1:], *norm, self.epsilon)


def _both(layer: _Layer, change: Callable[[torch.Tensor], torch.Tensor]) -> _Layer:
    weight, bias = layer
    return change(weight), None if bias is None else change(bias)


def beside(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of the layer of queries, keys and values, shape (3 d, ...), with those that `turn` needs side by side."""
    width = len(tensor) // 3
    halves = tensor[: 2 * width].view(2 * heads, 2, -1, *tensor.shape[1:])
    return torch.cat([halves.transpose(1, 2).reshape(2 * width, *tensor.shape[1:]), tensor[2 * width :]])


@cache
def rotations(theta: float, size: int, length: int, dtype: torch.dtype) -> torch.Tensor:
    """By what a head's numbers are turned at each position, complex, shape (length, size / 2).

    Angles are computed in float32, as transformers computes them: at position 8,000 others are off by up to 0.0005.
    """
    frequencies = 1.0 / (theta ** (torch.arange(0, size, 2, dtype=torch.float32) / size))
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequencies
    wide = torch.promote_types(dtype, torch.float32)
    return torch.complex(angles.cos().to(wide), angles.sin().to(wide))


def turn(joined: torch.Tensor, turns: torch.Tensor, heads: int) -> None:
    """Turn queries and keys in their place; of half precision in float32.

    Args:
        joined: query, key and value of every token side by side, shape (rows, 3 * d).
        turns: by what each row is turned, complex, shape (rows, 1, 1, size / 2).
        heads: the number of heads.
    """
    parts = joined.view(len(joined), 3, heads, -1, 2)[:, :2]
    wide = parts.to(turns.real.dtype)  # itself, if it is as wide
    torch.view_as_complex(wide).mul_(turns)
    if wide is not parts:
        parts.copy_(wide)


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

    def __contains__(self, name: str) -> bool:
        return name in self._where

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
