"""A regressor by ridge regression: features of a frozen encoder, and weights from one system of equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.models.encoder import MATCH, MATCHED, Encoder, combined, load_encoder
from nlgauge.models.heads import SUFFIX
from nlgauge.models.locate import locate
from nlgauge.models.matching import encoder_means, read_pairs
from nlgauge.models.regressor import KIND
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Advance, Runtime
from nlgauge.stats.correlate import correlation
from nlgauge.training.examples import Encoded, Example, Texts
from nlgauge.training.heads import check_output, head_metadata, write_head
from nlgauge.training.linear import ridge
from nlgauge.training.recipe import RegressorRecipe

# How much larger features of matching are made, of which there are few: the penalty on their weights is a hundredth of
# that on the weights of vectors, of which there are many.
_FREE = 10.0


@dataclass(frozen=True)
class RidgeTrained:
    """How a regression went.

    Attributes:
        n: the number of examples.
        strength: the penalty, for one example and standardised features.
        agreement: Pearson's r of scores and predictions, each from a fit to all other examples.
    """

    n: int
    strength: float
    agreement: float


def train_ridge(
    examples: Sequence[Example],
    output: str,
    recipe: RegressorRecipe,
    runtime: Runtime,
    *,
    strength: float | None = None,
    untrained: float = 0.0,
    about: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RidgeTrained:
    """Fit scores by a weighted sum of features, and write the head; whole or not at all.

    Args:
        examples: see `nlgauge.training.examples`.
        output: a `.safetensors` file.
        recipe: encoder, layers and features; of its other fields none counts.
        runtime: where the encoder runs, in which precision, and progress.
        strength: the penalty; None takes the best of a fixed list by the squared error on examples that are left out,
            one at a time.
        untrained: how much of BERTScore's F, which learns nothing, is added to the prediction, each over its standard
            deviation in the training data. It keeps a head that learns from errors made on purpose near what holds for
            outputs of systems.
        about: more metadata; all values are strings.
        tell: called with lines about the progress.

    Raises:
        InputError: examples, options or the output are not usable; also what `locate` raises.

    References:
        Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", section 3.4.1; the features of
        vectors: Shimanaka et al. (2018), "RUSE".
    """
    check_output(output, recipe.method)
    if not output.endswith(SUFFIX):
        raise InputError(f"{output}: the encoder stays as it is and is not written again; name a head, {SUFFIX}")
    files = locate(recipe.model, recipe.revision)
    matched = MATCH in recipe.blocks
    if untrained and not matched:
        raise InputError(f"untrained is {untrained:g}, and features are {','.join(recipe.blocks)}; F is one of 'match'")
    layer = best_layer(recipe.model, files.depth) if recipe.match_layer is None else recipe.match_layer
    if matched and layer > files.depth:
        raise InputError(
            f"the layer that is matched is {layer}, but model {recipe.model!r} has layers 0 to {files.depth}"
        )
    layers = () if recipe.blocks == (MATCH,) else recipe.chosen_layers(files.depth)
    tokenizer = TextTokenizer(files, recipe.max_tokens, space=False)
    texts = Texts(tokenizer)
    train = texts.encode(examples)
    tell(f"{len(train)} examples, {texts.summary}, in {runtime.dtype}")
    if len(train) < 3 or train.scores.min() == train.scores.max():
        raise InputError(f"{len(train)} examples with equal scores or too few, expected three that differ, or more")
    network = load_encoder(recipe.model, recipe.revision, runtime.dtype, runtime).network
    encoder = Encoder(files, tokenizer, network, runtime.token_budget)
    with runtime.progress(len(texts.ids), "encoding") as advance:
        features = _features(train, texts, recipe, layers, layer, encoder, advance)
    mean, sd = features.mean(axis=0), features.std(axis=0)
    scale = np.where(sd > 0, 1 / np.where(sd > 0, sd, 1), 0.0)
    if matched:
        scale[-len(MATCHED) :] *= _FREE  # the block stands last
    weights, strength, predicted = ridge((features - mean) * scale, train.scores, strength)
    weights = weights * scale
    if untrained:
        weights = _with_f(weights, untrained, features, train.scores)
    tensors = {
        "out.weight": torch.from_numpy(weights[None]).float(),
        "out.bias": torch.tensor([train.scores.mean() - mean @ weights], dtype=torch.float32),
    }
    metadata = {
        "method": recipe.method,
        "features": ",".join(recipe.blocks),
        "layers": ",".join(map(str, layers)),
        "pooling": "mean of all tokens",
        "widths": "",
        "strength": f"{strength:g}",
        **({"untrained": f"{untrained:g}"} if untrained else {}),
        "low": f"{train.scores.min():g}",
        "high": f"{train.scores.max():g}",
        **({"match_layer": str(layer)} if matched else {}),
        **(about or {}),
    }
    write_head(output, tensors, {**head_metadata(KIND, recipe, files, runtime.dtype), **metadata})
    return RidgeTrained(len(train), strength, correlation("pearson", predicted, train.scores).value)


def _with_f(weights: Array, share: float, features: Array, scores: Array) -> Array:
    """Weights of a prediction to which a share of F is added, on the scale of the scores again."""
    place = len(weights) - len(MATCHED) + MATCHED.index("F")
    mixed = weights.copy()
    mixed[place] += share * (features @ weights).std() / features[:, place].std()
    predicted = features @ mixed
    slope: float = np.cov(predicted, scores, bias=True)[0, 1] / predicted.var()
    return np.asarray(slope * mixed)


def _features(
    train: Encoded,
    texts: Texts,
    recipe: RegressorRecipe,
    layers: Sequence[int],
    layer: int,
    encoder: Encoder,
    advance: Advance,
) -> Array:
    """The features of all examples, float64, shape (n, k)."""
    rows = train.places
    if MATCH in recipe.blocks:
        outer = len(encoder.tokenizer.prefix) + len(encoder.tokenizer.suffix)
        bare = np.array([len(ids) <= outer for ids in texts.ids], dtype=np.bool_)
        pairs = rows["hyp"], rows["ref"]
        means, matched = read_pairs(encoder, texts.ids, layers, layer, pairs, bare, advance)
    else:
        means, matched = encoder_means(encoder, texts.ids, layers, advance=advance), None
    vectors = means.flatten(1).cpu().double()
    found = combined(recipe.blocks, {name: vectors[torch.from_numpy(row)] for name, row in rows.items()}, matched)
    return np.asarray(found.numpy())
