"""Contextual vectors of texts. Each text is encoded once, without padding, and no layer above the chosen one is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.scores import say
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import Ids, TextTokenizer, Tokens
from nlgauge.models.vectors import SharedVectors, Vectors, source_of
from nlgauge.runtime.runtime import Runtime, by_length

if TYPE_CHECKING:
    import torch


# Sequences of ids, sorted by length, to the vectors of all their tokens, one after another: shape (sum of lengths, d).
Forward = Callable[[Sequence[Ids]], "torch.Tensor"]


class Network(Protocol):
    """A loaded encoder."""

    width: int
    device: Any
    batch_tokens: int

    def cut(self, layer: int) -> AbstractContextManager[Forward]:
        """The network cut after `layer` blocks; 0 is the embeddings. Several threads may use it inside the context."""
        ...


class Encoder:
    """A tokenizer and a network at one precision, shared by all metrics that name the model."""

    def __init__(
        self,
        files: ModelFiles,
        tokenizer: TextTokenizer,
        network: Network,
        budget: int | None,
        shared: SharedVectors | None = None,
    ) -> None:
        self.files, self.network, self.shared = files, network, shared
        self.tokenizer = tokenizer if shared is None else tokenizer.holding(shared.tokens)
        self.depth = files.depth
        self.budget = budget or network.batch_tokens

    @property
    def width(self) -> int:
        """The number of dimensions of a vector."""
        return self.network.width

    def encode(
        self, tokens: Sequence[Tokens], layer: int, advance: Callable[[int], None] = lambda count: None
    ) -> Vectors:
        """Compute unit vectors of each text's pieces at a layer; see `encode_layers`."""
        return self.encode_layers(tokens, (layer,), advance)[0]

    def encode_layers(
        self, tokens: Sequence[Tokens], layers: Sequence[int], advance: Callable[[int], None] = lambda count: None
    ) -> list[Vectors]:
        """Compute unit vectors of each text's pieces at several layers, in one pass where the network can do so.

        Args:
            tokens: the tokenized texts. A text longer than the model's limit is read in half-overlapping windows, and
                each of its pieces takes its vector from the window in which it is farthest from an edge.
            layers: from 0 (the embeddings) to `depth`, in any order.
            advance: called with the number of pieces done.

        Returns:
            The vectors at each layer. Their rows lie in the same places.
        """
        sequences: list[Ids] = []
        pieces: list[list[tuple[int, int, int]]] = []  # text -> (sequence, first row, last row + 1)
        for text in tokens:
            if self.tokenizer.max_tokens is None or len(text.ids) <= self.tokenizer.max_tokens:
                pieces.append([(len(sequences), 0, len(text.ids))])
                sequences.append(text.ids)
            else:
                parts = list(self._windows(text.ids))
                pieces.append([(len(sequences) + i, low, high) for i, (_, low, high) in enumerate(parts)])
                sequences += [ids for ids, _, _ in parts]
        found = self.encode_sequences(sequences, layers, advance)
        if len(sequences) == len(tokens):
            return found
        starts = found[0].starts
        spans = [[(int(starts[s]) + low, int(starts[s]) + high) for s, low, high in parts] for parts in pieces]
        return [_gather(vectors, spans) for vectors in found]

    def encode_sequences(
        self, sequences: Sequence[Ids], layers: Sequence[int], advance: Callable[[int], None] = lambda count: None
    ) -> list[Vectors]:
        """Unit vectors of sequences that the model reads at once, out of what the metrics of the call share, if so."""
        shared = self.shared
        if shared is None or not set(layers) <= set(shared.layers):
            return self._encoded(sequences, layers, advance)
        return shared.vectors(sequences, layers, lambda new, at: self._encoded(new, at, advance))

    def _encoded(
        self, sequences: Sequence[Ids], layers: Sequence[int], advance: Callable[[int], None]
    ) -> list[Vectors]:
        """The vectors of sequences that the model reads at once."""
        import torch

        from nlgauge.models.workers import side_by_side

        lengths = np.array([len(s) for s in sequences], dtype=np.int64)
        starts = np.zeros(len(sequences), dtype=np.int64)
        rows, device = int(lengths.sum()), self.network.device
        matrices = [_matrix(rows, self.width, device) for _ in layers]
        norms = [torch.empty(rows, 1, dtype=torch.float32, device=device) for _ in layers]
        batches = list(by_length(lengths, self.budget))
        places, row = [], 0  # first row of a batch, and the row after it
        for batch in batches:
            ends = row + np.cumsum(lengths[batch])
            starts[batch] = ends - lengths[batch]
            places.append((row, row := int(ends[-1])))

        with cut_layers(self.network, layers) as forward:

            def fill(number: int) -> int:
                first, last = places[number]
                states = forward([sequences[i] for i in batches[number]])
                for matrix, norm, found in zip(matrices, norms, states, strict=True):
                    block = matrix[first:last]
                    block.copy_(found)
                    norm[first:last] = block.norm(dim=1, keepdim=True)
                    block.div_(norm[first:last].clamp_min(torch.finfo(torch.float32).tiny))
                return last - first

            for done in side_by_side(fill, range(len(batches)), device):
                advance(done)
        return [Vectors(matrix, starts, lengths, norm) for matrix, norm in zip(matrices, norms, strict=True)]

    def _windows(self, ids: Ids) -> Iterator[tuple[Ids, int, int]]:
        prefix, suffix = self.tokenizer.prefix, self.tokenizer.suffix
        content = ids[len(prefix) : len(ids) - len(suffix)]
        assert self.tokenizer.max_tokens is not None
        room = self.tokenizer.max_tokens - len(prefix) - len(suffix)
        step = max(1, room // 2)
        begins = [*range(0, len(content) - room, step), len(content) - room]
        # Between two windows the border lies half-way through what they share.
        borders = [0, *((b + a + room) // 2 for a, b in pairwise(begins)), len(content)]
        for i, begin in enumerate(begins):
            low = 0 if i == 0 else borders[i] - begin + len(prefix)
            high = borders[i + 1] - begin + len(prefix) + (len(suffix) if i == len(begins) - 1 else 0)
            yield np.concatenate([prefix, content[begin : begin + room], suffix]), low, high


@contextmanager
def cut_layers(network: Any, layers: Sequence[int]) -> Iterator[Callable[[Sequence[Ids]], list[torch.Tensor]]]:
    """A function from sequences to the token vectors of each layer, computed in one pass if the network can do so."""
    if len(layers) > 1 and hasattr(network, "cut_each"):
        with network.cut_each(layers) as forward:
            yield forward
        return

    def one_by_one(sequences: Sequence[Ids]) -> list[torch.Tensor]:
        found = []
        for layer in layers:
            with network.cut(layer) as forward:
                found.append(forward(sequences))
        return found

    if len(layers) == 1:  # cut once, so that batches may run side by side
        with network.cut(layers[0]) as forward:
            yield lambda sequences: [forward(sequences)]
    else:
        yield one_by_one


def _matrix(rows: int, width: int, device: Any) -> torch.Tensor:
    """An array to be filled. For large ones numpy asks the system for large pages, which are faster to fill."""
    import torch

    if device.type != "cpu":
        return torch.empty(rows, width, dtype=torch.float32, device=device)
    return torch.from_numpy(np.empty((rows, width), dtype=np.float32))


def _gather(vectors: Vectors, spans: list[list[tuple[int, int]]]) -> Vectors:
    """Bring the rows of each text together, since a text that was read in windows lies in several places."""
    import torch

    rows = np.concatenate([np.arange(low, high) for parts in spans for low, high in parts])
    lengths = np.array([sum(high - low for low, high in parts) for parts in spans], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    places = torch.from_numpy(rows).to(vectors.matrix.device)
    assert vectors.norms is not None
    return Vectors(vectors.matrix.index_select(0, places), starts, lengths, vectors.norms.index_select(0, places))


def load_encoder(
    model: str, revision: str | None, dtype: str, runtime: Runtime, max_tokens: int | None = None
) -> Encoder:
    """Load the encoder of a model. A runtime holds one copy per precision.

    Raises:
        InputError: see `nlgauge.models.locate.locate`.
        MissingExtra: torch is not installed.
    """
    files = locate(model, revision)
    tokenizer = runtime.once(("tokenizer", files, max_tokens), lambda: TextTokenizer(files, max_tokens))
    network = runtime.once(("network", files, dtype, runtime.device), lambda: _network(files, dtype, runtime))
    shared = runtime.shared(source_of(model, revision, dtype, runtime))
    return Encoder(files, tokenizer, network, runtime.token_budget, shared)


def _network(files: ModelFiles, dtype: str, runtime: Runtime) -> Network:
    kind, where = dtype_and_device(dtype, runtime.device, f"model {files.name!r}")
    files.check()
    from nlgauge.models.packing.packed import PackedBert

    if runtime.compile and (where.type == "cpu" or not PackedBert.reads(files.config)):
        say(f"compile=True changes nothing for {files.name!r}: it is for encoders of BERT's family on a GPU")
    if PackedBert.reads(files.config):
        return PackedBert(files, kind, where, compiled=runtime.compile)
    from nlgauge.models.hub import HubNetwork

    return HubNetwork(files, kind, where)


def dtype_and_device(dtype: str, device: str, wanted_by: str) -> tuple[Any, Any]:
    """The torch objects for a precision and a device.

    Args:
        dtype: the precision, as in a runtime.
        device: the device, as in a runtime.
        wanted_by: what needs torch, for the error.

    Raises:
        MissingExtra: torch is not installed.
        InputError: the device cannot be used on this machine.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtra(wanted_by, "neural") from None
    return getattr(torch, dtype), torch_device(torch, device)


def wide_dtype(device: Any) -> Any:
    """The torch dtype for sums whose rounding must not show: float64, or float32 on a device of Apple, which has none.

    Args:
        device: a torch device.
    """
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


def torch_device(torch: Any, name: str) -> Any:
    """The torch device with a name; `auto` is a GPU if there is one.

    Raises:
        InputError: the device cannot be used on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device {name!r} cannot be used here: {str(error).splitlines()[0]}; try --device cpu"
        ) from None
    return device
