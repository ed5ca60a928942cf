"""Token vectors of texts, shared by the metrics of a call, and the features that are made of vectors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles, is_read, locate
from nlgauge.models.tokens import HeldTokens, Ids, TextTokenizer, Tokens
from nlgauge.runtime.runtime import Runtime, by_length, dtype_and_device

if TYPE_CHECKING:
    import torch

    from nlgauge.models.hub import HubNetwork
    from nlgauge.models.packing import PackedBert


_USUAL_WIDTH = 1024  # of a model whose configuration does not say


@dataclass(frozen=True)
class Vectors:
    """Token vectors of several texts in one matrix.

    Attributes:
        matrix: unit vectors, float32, shape (rows, d).
        starts: the first row of each text, shape (n,). The rows of a text are consecutive.
        lengths: the number of rows of each text, shape (n,).
        norms: the length that each vector had, shape (rows, 1); empty where nobody asks for it.
    """

    matrix: torch.Tensor
    starts: Ids
    lengths: Ids
    norms: torch.Tensor | None = None


class SharedVectors:
    """Unit vectors of sequences, held until `clear`.

    Args:
        layers: the layers at which every sequence is encoded.

    Attributes:
        tokens: the pieces of the texts that were read, held as long.
    """

    def __init__(self, layers: Sequence[int]) -> None:
        self.layers = tuple(sorted(set(layers)))
        self.tokens: HeldTokens = {}
        self._chunks: list[Sequence[Vectors]] = []  # what was encoded at once, at each layer
        self._places: dict[bytes, tuple[int, int]] = {}  # sequence -> its chunk, and its number there

    def vectors(
        self,
        sequences: Sequence[Ids],
        layers: Sequence[int],
        encode: Callable[[Sequence[Ids], Sequence[int]], Sequence[Vectors]],
    ) -> list[Vectors]:
        """The vectors of sequences at some of the layers; what is new is encoded first."""
        keys = [ids.tobytes() for ids in sequences]
        new = {key: ids for key, ids in zip(keys, sequences, strict=True) if key not in self._places}
        if new:
            self._places |= {key: (len(self._chunks), number) for number, key in enumerate(new)}
            self._chunks.append(encode(list(new.values()), self.layers))
        places = np.array([self._places[key] for key in keys], dtype=np.int64)
        return [self._at(self.layers.index(layer), places) for layer in layers]

    def clear(self) -> None:
        """Forget all vectors and tokens."""
        self.tokens.clear()
        self._chunks.clear()
        self._places.clear()

    def _at(self, layer: int, places: Ids) -> Vectors:
        """Vectors at one layer, from places (n, 2) in chunks; they are copied only out of several chunks."""
        import torch

        chunks = [self._chunks[number][layer] for number in np.unique(places[:, 0])]
        order = np.searchsorted(np.unique(places[:, 0]), places[:, 0])
        starts = np.array([chunks[c].starts[i] for c, i in zip(order, places[:, 1], strict=True)], dtype=np.int64)
        lengths = np.array([chunks[c].lengths[i] for c, i in zip(order, places[:, 1], strict=True)], dtype=np.int64)
        if len(chunks) == 1:
            return Vectors(chunks[0].matrix, starts, lengths, chunks[0].norms)
        before = np.concatenate([[0], np.cumsum([len(chunk.matrix) for chunk in chunks])])
        norms = [chunk.norms for chunk in chunks if chunk.norms is not None]
        return Vectors(torch.cat([chunk.matrix for chunk in chunks]), starts + before[order], lengths, torch.cat(norms))


def source_of(model: str, revision: str | None, dtype: str, runtime: Runtime) -> tuple[Hashable, ...]:
    """The key of an encoder's vectors: the files of the model, its precision and its device."""
    return "vectors", locate(model, revision), dtype, runtime.device


def bytes_of(wanted: Mapping[Hashable, Sequence[int]]) -> int:
    """The memory that a piece takes at the layers of each source."""
    total = 0
    for source, layers in wanted.items():
        assert isinstance(source, tuple)
        width = source[1].config.get("hidden_size") or source[1].config.get("d_model") or _USUAL_WIDTH
        total += 4 * int(width) * len(layers)
    return total


# --- The features of a regressor: the vectors of its texts, and element-wise comparisons of these

MATCH = "match"  # see `nlgauge.models.matching`
BOTH = "both"  # both texts in one sequence, see `nlgauge.models.regressor`
_SIDE = ("mean", "min", "10 %", "25 %", "50 %", "below .5", "below .7")
# What the block `match` is made of, in the order of its columns. `hyp` looks from the hypothesis to the reference,
# `ref` the other way.
MATCHED = (
    *(f"{side} {name}" for side, name in product(("hyp", "ref"), _SIDE)),
    *("F", "displacement", "log ratio of lengths", "size of that", "log length of the reference"),
)
KINDS = ("4h", "2h", MATCH, f"4h+{MATCH}", f"2h+{MATCH}", BOTH)
TEXTS = ("hyp", "ref", "src")


def feature_names(kind: str = "4h", reference: bool = True, source: bool = False) -> tuple[str, ...]:
    """The names of the blocks of features, in order. Each but `match` is as wide as a text's vector.

    Args:
        kind: `4h` for the vectors themselves, their product and their absolute difference; `2h` for the product and the
            difference only; `match` for how hypothesis and reference match, alone or with `4h+` or `2h+` before it;
            `both` for what an encoder makes of hypothesis and reference in one sequence.
        reference: whether there is a reference.
        source: whether there is a source.

    Raises:
        InputError: the kind is unknown, there is neither a reference nor a source, or nothing to match.

    References:
        Xu et al. (2022), "Not All Errors are Equal", section 3.4, names 2h; their released code computes 4h. For source
        and reference together: Rei et al. (2020), "COMET", section 2.3.
    """
    if kind not in KINDS:
        raise InputError(f"features is {kind!r}, expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    if not (reference or source):
        raise InputError("a regressor without reference and without source has nothing to hold a text against")
    if kind == BOTH:
        if source or not reference:
            raise InputError(
                f"features is {kind!r}, which reads hypothesis and reference in one sequence and no source"
            )
        return (BOTH,)
    of_vectors, _, matched = kind.rpartition("+") if kind.endswith(MATCH) else (kind, "", "")
    if matched and not reference:
        raise InputError(f"features is {kind!r}, which matches a text with its reference, and no reference is read")
    if not of_vectors:
        return (MATCH,)
    against = [name for name, wanted in (("src", source), ("ref", reference)) if wanted]
    compared = [f"hyp*{name}" for name in against] + [f"|hyp-{name}|" for name in against]
    alone = ["hyp", "ref" if reference else "src"] if of_vectors == "4h" else []
    return (*alone, *compared, *([MATCH] if matched else ()))


def texts_of(names: Sequence[str]) -> tuple[str, ...]:
    """The texts that the features are made of, in the order of `TEXTS`.

    Raises:
        InputError: a feature is neither a text, nor a product or an absolute difference of two.
    """
    found = {text for name in names for text in _operands(name)[1]}
    return tuple(text for text in TEXTS if text in found)


def n_features(names: Sequence[str], width: int) -> int:
    """How many numbers blocks of features are, for text vectors of a width."""
    return sum(len(MATCHED) if name == MATCH else width for name in names)


def combined(
    names: Sequence[str], vectors: Mapping[str, torch.Tensor], matched: torch.Tensor | None = None
) -> torch.Tensor:
    """The features of n segments, block beside block, from the vectors of their texts, each (n, d).

    Args:
        names: the blocks, as `feature_names` gives them.
        vectors: text -> its vectors.
        matched: the features of the block `match`, shape (n, 19).
    """
    import torch

    blocks = []
    for name in names:
        if name == MATCH:
            assert matched is not None  # who names the block computes it
            blocks.append(matched)
            continue
        kind, texts = _operands(name)
        first, last = vectors[texts[0]], vectors[texts[-1]]
        blocks.append(first if kind == "own" else first * last if kind == "product" else (first - last).abs())
    return torch.cat(blocks, dim=1)


def _operands(name: str) -> tuple[str, list[str]]:
    """The kind of a feature, and its texts. One is written as `hyp`, `hyp*ref`, `|hyp-ref|`, `match` or `both`."""
    if name in (MATCH, BOTH):
        return name, ["hyp", "ref"]
    if name.startswith("|") and name.endswith("|"):
        kind, texts = "difference", name[1:-1].split("-")
    else:
        texts = name.split("*")
        kind = "own" if len(texts) == 1 else "product"
    if any(text not in TEXTS for text in texts) or len(texts) != (1 if kind == "own" else 2):
        raise InputError(
            f"feature {name!r} is unknown, expected one like hyp, hyp*ref or |hyp-ref|, of {', '.join(TEXTS)}"
        )
    return kind, texts


# --- Contextual vectors of texts. Each text is encoded once, without padding, and no layer above the chosen one is run

Network: TypeAlias = "PackedBert | HubNetwork"


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

        from nlgauge.models.hub import side_by_side

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
def cut_layers(network: Network, layers: Sequence[int]) -> Iterator[Callable[[Sequence[Ids]], list[torch.Tensor]]]:
    """A function from sequences to the token vectors of each layer, computed in one pass if the network can do so."""
    if len(layers) > 1:
        with network.cut_each(layers) as forward:
            yield forward
    else:
        with network.cut(layers[0]) as forward:
            yield lambda sequences: [forward(sequences)]


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
    from nlgauge.models.packing import PackedBert

    if is_read(files.config):
        return PackedBert(files, kind, where)
    from nlgauge.models.hub import HubNetwork

    return HubNetwork(files, kind, where)
