"""A trained regressor: its files, of which only the header is read, and what it says of n segments."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.models.checkpoints import comet_folder
from nlgauge.models.encoder import (
    BOTH,
    MATCH,
    Encoder,
    SharedVectors,
    combined,
    load_encoder,
    n_features,
    source_of,
    texts_of,
)
from nlgauge.models.entailment import PairTokenizer, pair_tokenizer
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.heads import Head, find_head, is_head
from nlgauge.models.locate import LazyModel, is_read
from nlgauge.models.tokens import Ids, TextTokenizer, Tokens
from nlgauge.runtime.runtime import Advance, Runtime, by_length, dtype_and_device, wide_dtype

if TYPE_CHECKING:
    import torch

    from nlgauge.models.networks import Classifier


KIND = "regressor"
WEIGHTS = "regressor.safetensors"  # in a folder, beside the encoder that was trained with it
MIX = "mix"  # all layers under learnt weights


@dataclass(frozen=True)
class RegressorFiles:
    """The file of a regressor, of which only the header was read.

    Attributes:
        head: the head file. Its metadata say how the regressor was trained.
    """

    head: Head

    @property
    def features(self) -> tuple[str, ...]:
        """See `nlgauge.models.encoder.feature_names`."""
        return self.head.items("features")

    @property
    def texts(self) -> tuple[str, ...]:
        """Which of `hyp`, `ref` and `src` the regressor reads."""
        return texts_of(self.features)

    @property
    def match_layer(self) -> int | None:
        """The layer whose token vectors are matched; None if none are."""
        if MATCH not in self.features:
            return None
        layer, depth = self.head.whole("match_layer"), self.head.encoder.depth
        if layer is None or layer > depth:
            raise InputError(
                f"regressor {self.head.path}: match_layer is {layer}, expected a number from 0 to {depth}, since its"
                f" features have {MATCH!r}"
            )
        return layer

    @property
    def read_layers(self) -> tuple[int, ...]:
        """All layers whose vectors are read."""
        matched = () if self.match_layer is None else (self.match_layer,)
        return tuple(dict.fromkeys((*self.layers, *matched)))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers whose mean vectors the regressor reads; empty if it reads none."""
        if self.features in ((MATCH,), (BOTH,)):
            return ()
        named = self.head.items("layers")
        depth = self.head.encoder.depth
        if named == (MIX,):
            return tuple(range(depth + 1))
        if not named or not all(name.isdigit() and int(name) <= depth for name in named):
            raise InputError(
                f"regressor {self.head.path}: layers is {','.join(named)!r}, expected {MIX} or numbers from 0 to"
                f" {depth}"
            )
        return tuple(map(int, named))

    @property
    def encoder_name(self) -> str:
        """The name under which the encoder is loaded."""
        files = self.head.encoder
        return files.name if files.name in ENCODERS else str(files.folder)

    def source(self, dtype: str, runtime: Runtime) -> Hashable:
        """The key of the vectors that the regressor reads; those of a head with adapters are its own."""
        source = source_of(self.encoder_name, None, dtype, runtime)
        return (*source, self.head.identity) if self.head.has_adapters else source

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score that the regressor was trained on."""
        return self.number("low"), self.number("high")

    @property
    def calibration(self) -> tuple[tuple[float, float], ...]:
        """Points (output of the network, score) of a curve that rises; empty for a regressor without one."""
        try:
            points = tuple(
                (float(x), float(y)) for x, _, y in (point.partition(":") for point in self.head.items("calibration"))
            )
        except ValueError:
            points = ((np.nan, np.nan),)
        steps = np.diff(np.array(points), axis=0)
        if points and not (len(points) > 1 and (steps > 0).all()):
            raise InputError(
                f"regressor {self.head.path}: calibration is {self.head.get('calibration')!r}, expected two points or"
                " more OUTPUT:SCORE, with commas, in which both rise"
            )
        return points

    def number(self, key: str, default: float | None = None) -> float:
        """A number of the metadata."""
        value = self.head.get(key)
        try:
            found = default if value is None else float(value)
        except ValueError:
            found = None
        if found is None or not np.isfinite(found):
            raise InputError(f"regressor {self.head.path}: {key} is {value!r}, expected a number")
        return found

    def max_tokens(self, asked: int | None) -> int | None:
        """The requested limit, else the one from training."""
        return self.head.whole("max_tokens") if asked is None else asked

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        files = self.head.encoder
        model = self.head.facts("folder" if files.folder == self.head.path.parent else "file")
        return model | files.facts(head=self.head.identity) | {"weights": f"sha256:{files.weights_digest}"[:23]}


def is_here(model: str) -> bool:
    """Whether the name of a regressor is that of a file or a folder, or of a head that ships; else it is on the hub."""
    return is_head(model) or os.path.isdir(os.path.expanduser(model))


def locate_regressor(model: str) -> RegressorFiles:
    """Find the files of a regressor.

    Args:
        model: `sescore` (shipped), a head file, a folder that `nlgauge train` wrote, or a checkpoint of unbabel-comet:
            its folder, or its name on the hub with or without @REVISION.

    Raises:
        InputError: there is no such file, it is not a regressor, or its encoder is not the one that it was made for.
    """
    if not is_head(model) and (made := comet_folder(model, WEIGHTS)) is not None:
        return RegressorFiles(find_head(str(made / WEIGHTS), KIND))
    folder = Path(os.path.expanduser(model))  # a user who is unknown stays as typed
    if os.path.isdir(folder):
        if not (folder / WEIGHTS).is_file():
            raise InputError(
                f"model folder {folder} holds no {WEIGHTS}, expected a folder that 'nlgauge train sescore' or"
                " 'regressor' wrote"
            )
        return RegressorFiles(find_head(str(folder / WEIGHTS), KIND))
    if not is_head(model):
        raise InputError(
            f"model {model!r} is no regressor: expected a .safetensors head or a folder, as 'nlgauge train sescore'"
            " writes them"
        )
    return RegressorFiles(find_head(model, KIND))


@dataclass(frozen=True)
class Ratings:
    """A regressor's scores of n segments.

    Attributes:
        values: the scores, shape (n,).
        truncated: whether a text was longer than the model's limit, shape (n,).
        unknown: the highest share of unknown pieces in a text of the segment, shape (n,).
        empty: whether the tokenizer keeps nothing of a text of the segment, as BERT's of U+FFFD alone, shape (n,).
    """

    values: Array
    truncated: npt.NDArray[np.bool_]
    unknown: Array
    empty: npt.NDArray[np.bool_]


_NOTHING = Ratings(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0), np.zeros(0, dtype=np.bool_))


# --- A regressor that reads hypothesis and reference in one sequence, so that each sees the other in every layer


class CrossedRegressor(LazyModel[RegressorFiles, PairTokenizer, "Classifier"]):
    """A head with one output on an encoder that reads two texts. The reference stands first, as a premise does."""

    def score(self, texts: Mapping[str, Sequence[str]], advance: Advance = lambda count: None) -> Ratings:
        """Scores of n segments; see `nlgauge.models.regressor.LoadedRegressor.score`."""
        pairs = [(ref.strip(), hyp.strip()) for hyp, ref in zip(texts["hyp"], texts["ref"], strict=True)]
        if not pairs:
            return _NOTHING
        found = rate_pairs(pairs, self.tokenizer, self.network, self.budget, advance, str(self.found.head.path))
        values = found.values * self.found.number("target_sd", 1.0) + self.found.number("target_mean", 0.0)
        return replace(found, values=values)


def rate_pairs(
    pairs: Sequence[tuple[str, str]],
    tokenizer: PairTokenizer,
    network: Classifier,
    budget: int | None,
    advance: Advance,
    model: str,
) -> Ratings:
    """What a network with one output says of pairs of texts that it reads in one sequence; equal pairs once.

    Args:
        pairs: n pairs, the text that another is held against first.
        tokenizer: of the network.
        network: the network.
        budget: the largest number of tokens in a batch; None is left to the network.
        advance: called with the number of distinct texts done, or with a part of it.
        model: what errors call the network.

    Raises:
        InputError: the network has another number of outputs.
    """
    distinct = list(dict.fromkeys(pairs))
    contents = tokenizer.read(text for pair in distinct for text in pair)
    prepared = tokenizer.pairs(distinct, contents)
    shares = dict(zip(contents, tokenizer.unknown_shares(contents.values()), strict=True))
    values = np.zeros(len(distinct))
    done, n_texts = 0.0, len(contents)

    def work(batch: npt.NDArray[np.int64]) -> Array:
        ids, types = zip(*(prepared.ids(int(i)) for i in batch), strict=True)
        logits = network.logits(ids, types)
        if logits.shape[1] != 1:
            raise InputError(f"regressor {model}: its last layer gives {logits.shape[1]} numbers, expected one")
        return np.asarray(logits[:, 0].double().numpy())

    from nlgauge.models.hub import side_by_side

    batches = list(by_length(prepared.lengths, budget or network.batch_tokens))
    for batch, found in zip(batches, side_by_side(work, batches, network.device), strict=True):
        values[batch] = found
        before, done = done, done + len(batch) * n_texts / len(distinct)
        advance(int(done) - int(before))
    advance(n_texts - int(done))
    number = {pair: i for i, pair in enumerate(distinct)}
    places = np.array([number[pair] for pair in pairs], dtype=np.int64)
    return Ratings(
        values[places],
        prepared.truncated[places],
        np.array([max(shares[first], shares[second]) for first, second in pairs]),
        np.array([not (len(contents[first]) and len(contents[second])) for first, second in pairs], dtype=np.bool_),
    )


def _network(found: RegressorFiles, dtype: str, runtime: Runtime) -> Classifier:
    kind, where = dtype_and_device(dtype, runtime.device, f"regressor {found.head.name!r}")
    from nlgauge.models.networks import headed

    found.head.encoder.check()
    return headed(found.head, kind, where)


# --- A regressor: mean vectors of texts, comparisons of these, and a feed-forward network that gives one number

_ROWS = 1024  # segments in one pass of the feed-forward network
_HELD_BYTES = 128 << 20  # means of texts at all layers that are held at once until they are mixed


def calibrate(outputs: Array, points: Sequence[tuple[float, float]]) -> Array:
    """Scores from outputs of the network, along the straight lines through the points; the last lines go on.

    The curve rises everywhere, so that no two texts change places.
    """
    (x, y), n = np.array(points).T, len(points)
    left = np.clip(np.searchsorted(x, outputs) - 1, 0, n - 2)
    return np.asarray(y[left] + (outputs - x[left]) * ((y[left + 1] - y[left]) / (x[left + 1] - x[left])))


class LoadedRegressor(LazyModel[RegressorFiles, TextTokenizer, "_Loaded"]):
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
            return _NOTHING
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

        from nlgauge.models.matching import encoder_means

        encoder = Encoder(self.found.head.encoder, self.tokenizer, network, self.budget, self.shared)
        sequences, layer, mix = [t.ids for t in tokens], self.found.match_layer, self.network.mix
        layers = self.found.layers
        if layer is None:
            few = max(1, _HELD_BYTES // (4 * encoder.width * len(layers))) if mix else len(sequences)
            parts = (sequences[start : start + few] for start in range(0, len(sequences), few))
            read = [text_vectors(encoder_means(encoder, part, layers, advance=advance), mix) for part in parts]
            return (read[0] if len(read) == 1 else torch.cat(read)), None
        from nlgauge.models.matching import read_pairs

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
        if size != 1:
            raise InputError(f"regressor {found.head.path}: its last layer gives {size} numbers, expected one")

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
) -> LoadedRegressor | CrossedRegressor:
    """Load a regressor. A runtime holds one copy per precision.

    Raises:
        InputError: see `locate_regressor`; or an encoder that reads both texts is not of BERT's family.
        MissingExtra: torch is not installed.
    """
    found = locate_regressor(model)
    files, limit = found.head.encoder, found.max_tokens(max_tokens)
    if found.features == (BOTH,):
        of_pairs = ("crossed", found.head.identity, files, dtype, runtime.device)
        return CrossedRegressor(
            found,
            pair_tokenizer(files, limit, runtime),
            lambda: runtime.once(of_pairs, lambda: _network(found, dtype, runtime)),
            runtime.token_budget,
        )
    tokenizer = runtime.once(("plain tokenizer", files, limit), lambda: TextTokenizer(files, limit, space=False))
    key = ("regressor", found.head.identity, files, dtype, runtime.device)
    loaded = LoadedRegressor(
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
    from nlgauge.models.packing import PackedBert

    if not is_read(files.config):
        raise InputError(
            f"head {found.head.path}: its encoder {files.name!r} is not of BERT's family, and adapters stand on no"
            " other"
        )
    files.check()
    return _Loaded(found, PackedBert(files, kind, where, adapters), own)
