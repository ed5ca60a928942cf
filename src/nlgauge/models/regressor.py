"""A regressor: mean vectors of texts, comparisons of these, and a feed-forward network that gives one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.models.encoder import Encoder, dtype_and_device, load_encoder, wide_dtype
from nlgauge.models.features import BOTH, combined, n_features
from nlgauge.models.lazy import LazyModel
from nlgauge.models.regressor_files import MIX, Ratings, RegressorFiles, locate_regressor
from nlgauge.models.tokens import Ids, TextTokenizer, Tokens
from nlgauge.models.vectors import SharedVectors
from nlgauge.runtime.runtime import Advance, Runtime

if TYPE_CHECKING:
    import torch

    from nlgauge.models.crossed import CrossedRegressor

_ROWS = 1024  # segments in one pass of the feed-forward network
_HELD_BYTES = 128 << 20  # means of texts at all layers that are held at once until they are mixed


def calibrate(outputs: Array, points: Sequence[tuple[float, float]]) -> Array:
    """Scores from outputs of the network, along the straight lines through the points; the last lines go on.

    The curve rises everywhere, so that no two texts change places.
    """
    (x, y), n = np.array(points).T, len(points)
    left = np.clip(np.searchsorted(x, outputs) - 1, 0, n - 2)
    return np.asarray(y[left] + (outputs - x[left]) * ((y[left + 1] - y[left]) / (x[left + 1] - x[left])))


class Regressor(LazyModel[RegressorFiles, TextTokenizer, "_Loaded"]):
    """A regressor with its tokenizer, its encoder and its feed-forward network.

    Attributes:
        shared: the vectors that metrics of the call share; None if they share none of its encoder.
    """

    shared: SharedVectors | None = None

    def score(self, texts: Mapping[str, Sequence[str]], advance: Advance = lambda count: None) -> Ratings:
        """Scores of n segments.

        Args:
            texts: those of `hyp`, `ref` and `src` that the regressor reads, with n texts each. Equal texts are encoded
                once.
            advance: called with the number of distinct texts done, or with a part of it.
        """
        number: dict[str, int] = {}
        places = {
            name: np.array([number.setdefault(text.strip(), len(number)) for text in texts[name]], dtype=np.int64)
            for name in self.found.texts
        }
        tokenizer = self.tokenizer if self.shared is None else self.tokenizer.holding(self.shared.tokens)
        tokens = tokenizer.tokens(list(number))
        n = len(next(iter(places.values())))
        if not n:
            return Ratings(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0), np.zeros(0, dtype=np.bool_))
        unread = self.tokenizer.unknown_shares(self.tokenizer.content(t) for t in tokens)
        cut, bare = np.array([(t.truncated, not t.n_content) for t in tokens], dtype=np.bool_).T
        # Equal segments once: in a matrix product their last bits could differ, and a tie would be none.
        distinct, again = np.unique(np.stack(list(places.values()), axis=1), axis=0, return_inverse=True)
        rows = dict(zip(places, distinct.T.copy(), strict=True))
        vectors, matched = self._read(tokens, rows, bare, advance)
        values = self.network.values(vectors, rows, matched)
        return Ratings(
            values[again.reshape(-1)],
            np.logical_or.reduce([cut[place] for place in places.values()]),
            np.maximum.reduce([unread[place] for place in places.values()]),
            np.logical_or.reduce([bare[place] for place in places.values()]),
        )

    def _read(
        self, tokens: Sequence[Tokens], rows: Mapping[str, Ids], bare: Mask, advance: Advance
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The vectors of texts, as in `text_vectors`, and how the pairs in rows match.

        The second has shape (pairs, 19), with zeros where a text of a pair is bare; it is None if nothing is matched.
        """
        network = self.network.encoder  # says that torch is missing, if it is
        import torch

        from nlgauge.models.pooled import encoder_means

        encoder = Encoder(self.found.head.encoder, self.tokenizer, network, self.budget, self.shared)
        sequences, layer, mix = [t.ids for t in tokens], self.found.match_layer, self.network.mix
        layers = self.found.layers
        if layer is None:
            few = max(1, _HELD_BYTES // (4 * encoder.width * len(layers))) if mix else len(sequences)
            parts = (sequences[start : start + few] for start in range(0, len(sequences), few))
            read = [text_vectors(encoder_means(encoder, part, layers, advance=advance), mix) for part in parts]
            return (read[0] if len(read) == 1 else torch.cat(read)), None
        from nlgauge.models.matched import read_pairs

        means, matched = read_pairs(encoder, sequences, layers, layer, (rows["hyp"], rows["ref"]), bare, advance)
        return text_vectors(means, mix), matched


class _Loaded:
    """The tensors of a regressor on their device, and its encoder."""

    def __init__(self, found: RegressorFiles, encoder: Any, own: Mapping[str, torch.Tensor]) -> None:
        import torch

        self.found, self.encoder = found, encoder
        # Small beside the encoder, and computed so that no company of other segments shows in a score.
        self._wide = wide_dtype(encoder.device)
        self._layers = []
        for i in range(len(found.head.items("widths"))):
            self._layers.append(self._layer(own, f"hidden.{i}"))
        self._layers.append(self._layer(own, "out"))
        self.mix: tuple[torch.Tensor, torch.Tensor] | None = None
        if found.head.items("layers") == (MIX,):
            weights, scale = self._tensor(own, "mix.weights"), self._tensor(own, "mix.scale")
            if len(weights) != len(found.layers):
                raise InputError(
                    f"regressor {found.head.path}: mix.weights holds {len(weights)} weights, its encoder has"
                    f" {len(found.layers)} layers"
                )
            self.mix = torch.softmax(weights, dim=0), scale
        size = n_features(found.features, encoder.width * (1 if self.mix else len(found.layers)))
        for weight, _ in self._layers:
            if weight.shape[1] != size:
                raise InputError(
                    f"regressor {found.head.path}: a layer takes {weight.shape[1]} numbers, expected {size}; is its"
                    " encoder another?"
                )
            size = weight.shape[0]

    def values(self, vectors: torch.Tensor, places: Mapping[str, Ids], matched: torch.Tensor | None = None) -> Array:
        """The network's outputs for segments, whose texts are rows of `vectors`, as in `text_vectors`.

        `matched` says how hypotheses and references match, if the network reads that, shape (segments, 19).
        """
        import torch

        n = len(next(iter(places.values())))
        values = np.zeros(n)
        with torch.inference_mode():
            for start in range(0, n, _ROWS):
                rows = {
                    name: torch.from_numpy(place[start : start + _ROWS]).to(vectors.device)
                    for name, place in places.items()
                }
                own = {name: vectors[row].to(self._wide) for name, row in rows.items()}
                pairs = None if matched is None else matched[start : start + _ROWS].to(vectors.device, self._wide)
                states = combined(self.found.features, own, pairs)
                for weight, bias in self._layers[:-1]:
                    states = torch.tanh(torch.nn.functional.linear(states, weight, bias))
                states = torch.nn.functional.linear(states, *self._layers[-1])
                values[start : start + _ROWS] = states[:, 0].cpu().numpy()
        return values * self.found.number("target_sd", 1.0) + self.found.number("target_mean", 0.0)

    def _layer(self, own: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
        return self._tensor(own, f"{name}.weight"), self._tensor(own, f"{name}.bias")

    def _tensor(self, own: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
        if name not in own:
            raise InputError(f"regressor {self.found.head.path} holds no {name}")
        return own[name].to(device=self.encoder.device, dtype=self._wide)


def text_vectors(means: torch.Tensor, mix: tuple[torch.Tensor, torch.Tensor] | None) -> torch.Tensor:
    """One vector per text from its means at several layers.

    Args:
        means: means of each text at each layer, shape (n, layers, d). The mean of a mix of layers equals the mix of
            their means.
        mix: the weight of each layer, and a factor of the sum. If None, the means are put side by side.

    Returns:
        Vectors of shape (n, layers * d) if the means are side by side, (n, d) if they are mixed.
    """
    if mix is None:
        return means.flatten(1)
    weights, scale = mix
    return scale.to(means) * (means * weights.to(means)[:, None]).sum(dim=1)


def load_regressor(
    model: str, dtype: str, runtime: Runtime, max_tokens: int | None = None
) -> Regressor | CrossedRegressor:
    """Load a regressor. A runtime holds one copy per precision.

    Raises:
        InputError: see `locate_regressor`.
        MissingExtra: torch is not installed.
    """
    found = locate_regressor(model)
    if found.features == (BOTH,):
        from nlgauge.models.crossed import load_crossed

        return load_crossed(found, dtype, runtime, max_tokens)
    files = found.head.encoder
    limit = found.max_tokens(max_tokens)
    tokenizer = runtime.once(("plain tokenizer", files, limit), lambda: TextTokenizer(files, limit, space=False))
    key = ("regressor", found.head.identity, files, dtype, runtime.device)
    loaded = Regressor(
        found, tokenizer, lambda: runtime.once(key, lambda: _loaded(found, dtype, runtime)), runtime.token_budget
    )
    loaded.shared = runtime.shared(found.source(dtype, runtime))
    return loaded


def _loaded(found: RegressorFiles, dtype: str, runtime: Runtime) -> _Loaded:
    kind, where = dtype_and_device(dtype, runtime.device, f"regressor {found.head.name!r}")
    files = found.head.encoder
    own, adapters = found.head.tensors()
    if not adapters:
        return _Loaded(found, load_encoder(found.encoder_name, None, dtype, runtime).network, own)
    from nlgauge.models.packing.packed import PackedBert

    if not PackedBert.reads(files.config):
        raise InputError(
            f"head {found.head.path}: its encoder {files.name!r} is not of BERT's family, and adapters stand on no"
            " other"
        )
    files.check()
    return _Loaded(found, PackedBert(files, kind, where, adapters), own)
