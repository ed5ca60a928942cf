"""Many ridge heads from one pass of the encoder: features of pairs of texts, and weights for some of their columns.

What `train_ridge` does with all columns of one training set, for many choices of columns and sets.
With all columns and the same strength the scores are those of its head, up to their zero and their unit, which no
coefficient of correlation sees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.models.encoder import MATCHED, Encoder, combined, feature_names, load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.matching import read_pairs
from nlgauge.models.tokens import TextTokenizer
from nlgauge.training.linear import ridge

Mask = NDArray[np.bool_]
Pairs = Sequence[tuple[str, str]]  # of hypothesis and reference
VECTORS, MATCH = 3, 4  # the layers of the heads on the embedded encoder
FREE = 10.0  # as in nlgauge/training/regressor.py: the penalty on `match` is a hundredth of that on vectors
STRENGTH, UNTRAINED = 3.0, 0.5  # of the head sescore
F = MATCHED.index("F")
BATCH = 2048  # pairs whose features are held in double precision


class Triple(NamedTuple):
    """A text with errors, or untouched, beside another text of its item: a line of `nlgauge synth --paraphrase`."""

    set: str
    id: str
    hyp: str
    ref: str
    score: float
    original: str
    steps: Sequence[Mapping[str, Any]]


class Reader:
    """Features `4h+match` of an encoder; `folder` keeps what was read of it, for the next run.

    Args:
        layers: that of the vectors, and that of `match`.
    """

    def __init__(
        self,
        runtime: ng.Runtime,
        folder: Path | None = None,
        model: str = "embedded",
        layers: tuple[int, int] = (VECTORS, MATCH),
    ) -> None:
        files = locate(model, None)
        self.tokenizer = TextTokenizer(files, 256, space=False)
        network = load_encoder(model, None, "float32", runtime).network
        self.encoder = Encoder(files, self.tokenizer, network, runtime.token_budget)
        self.folder, self.layers = folder, layers

    def pairs(self, pairs: Pairs) -> Array:
        """The features of each pair, float32, shape (n, 4 d + 19)."""
        name = sha256("\0".join(text for pair in pairs for text in pair).encode()).hexdigest()[:16]
        kept = None if self.folder is None else self.folder / f"features.{name}.npy"
        if kept is not None and kept.exists():
            return np.load(kept, allow_pickle=False)
        found = self._read(pairs)
        if kept is not None:
            np.save(kept, found, allow_pickle=False)
        return found

    def drawn(self, draws: Sequence[Sequence[Triple]]) -> list[Array]:
        """The features of the triples of each draw; texts of several draws are encoded once."""
        every = self.pairs([(triple.hyp, triple.ref) for draw in draws for triple in draw])
        return np.split(every, np.cumsum([len(draw) for draw in draws])[:-1])

    def segments(self, segments: Sequence[ng.Segment]) -> Array:
        """The features of each segment, the mean over its references, as a weighted sum of them is, shape (n, k)."""
        counts = np.array([len(segment.references) for segment in segments])
        every = self.pairs([(segment.hypothesis, ref) for segment in segments for ref in segment.references])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return (np.add.reduceat(every, starts, axis=0) / counts[:, None]).astype(np.float32)

    def bertscore(self, segments: Sequence[ng.Segment]) -> Array:
        """BERTScore's F of each segment, the best over its references, as is its default, shape (n,)."""
        counts = np.array([len(segment.references) for segment in segments])
        every = self.pairs([(segment.hypothesis, ref) for segment in segments for ref in segment.references])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return np.asarray(np.maximum.reduceat(every[:, F - len(MATCHED)], starts), dtype=np.float64)

    def _read(self, pairs: Pairs) -> Array:
        number: dict[str, int] = {}
        rows = np.array([[number.setdefault(text.strip(), len(number)) for text in pair] for pair in pairs])
        tokens = self.tokenizer.tokens(list(number))
        bare = np.array([not one.n_content for one in tokens], dtype=np.bool_)
        ids = [one.ids for one in tokens]
        vectors_at, match_at = self.layers
        means, matched = read_pairs(
            self.encoder, ids, (vectors_at,), match_at, (rows[:, 0].copy(), rows[:, 1].copy()), bare
        )
        vectors, blocks = means.flatten(1).double(), feature_names("4h+match")
        parts = []
        for start in range(0, len(rows), BATCH):
            hyp, ref = (vectors[torch.from_numpy(column)] for column in rows[start : start + BATCH].T.copy())
            parts.append(combined(blocks, {"hyp": hyp, "ref": ref}, matched[start : start + BATCH]).float().numpy())
        return np.concatenate(parts)


def columns(width: int, names: Sequence[str] = MATCHED, vectors: bool = True) -> Mask:
    """Which of `width` features are vectors (or not), and of `match` which are named, shape (k,)."""
    return np.array([vectors] * (width - len(MATCHED)) + [name in names for name in MATCHED])


def draws(paths: Sequence[Path], name: str = "") -> list[list[Triple]]:
    """The triples of files, one for each reference; each variant of each file is a draw, with the untouched texts."""
    found = []
    for path in paths:
        with path.open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        triples = [
            Triple(name, row["id"], row["hyp"], ref, row["score"], row["original"], row["steps"])
            for row in rows
            for ref in row["refs"]
        ]
        of: dict[str, list[Triple]] = {}
        for triple in triples:
            of.setdefault(triple.id.partition("/")[2], []).append(triple)
        untouched = of.pop("untouched", [])
        found += [own + untouched for own in of.values()]
    return found


@dataclass(frozen=True)
class Fits:
    """Ridge regressions on one training set, from its products of features.

    Attributes:
        n: the number of examples.
        mean, scale: what standardises a feature, and what makes `match` larger, shape (k,).
        gram: products of the features, shape (k, k).
        along: products of the features and the scores, shape (k,).
    """

    n: int
    mean: Array
    scale: Array
    gram: Array
    along: Array

    @classmethod
    def of(cls, features: Array, scores: Array) -> Fits:
        """The products of a training set: features (n, k) and scores (n,)."""
        scaled, mean, scale = standardised(features)
        return cls(len(scores), mean, scale, scaled.T @ scaled, scaled.T @ (scores - scores.mean()))

    def weights(self, kept: Mask, strength: float = STRENGTH, untrained: float = UNTRAINED) -> Array:
        """Weights of the features as they are read, shape (k,): 0 for those that are not kept.

        Args:
            kept: shape (k,); none at all leaves BERTScore's F alone.
            strength: the penalty, for one example.
            untrained: how many deviations of F are added to one deviation of the rest.
        """
        f = len(kept) - len(MATCHED) + F
        weights = np.zeros(len(kept))
        if kept.any():
            gram = self.gram[np.ix_(kept, kept)]
            weights[kept] = np.linalg.solve(gram + self.n * strength * np.eye(len(gram)), self.along[kept])
            weights /= np.sqrt(weights @ self.gram @ weights / self.n)
        deviation_of_f = np.sqrt(self.gram[f, f] / self.n)
        weights[f] += (untrained if kept.any() else 1.0) / deviation_of_f
        return weights * self.scale


def standardised(features: Array) -> tuple[Array, Array, Array]:
    """Features with mean 0, those of `match` with a larger deviation than the rest; the means, and the factors."""
    found = features.astype(np.float64)
    mean, sd = found.mean(axis=0), found.std(axis=0)
    scale = np.where(sd > 0, 1 / np.where(sd > 0, sd, 1), 0.0)
    scale[-len(MATCHED) :] *= FREE
    return (found - mean) * scale, mean, scale


def best_strength(features: Array, scores: Array, kept: Mask) -> float:
    """The penalty with the least error on examples that are left out one at a time."""
    return ridge(standardised(features)[0][:, kept], scores, None)[1]


@dataclass(frozen=True)
class Test:
    """A set that people rated, its features, and what is asked of a metric there.

    Attributes:
        name: of set and statistic.
        dataset: the rated segments.
        features: of each segment, shape (n, k).
        criteria: what people rated.
        how: level and statistic, as for `nlgauge.meta_evaluate`.
    """

    name: str
    dataset: ng.Dataset
    features: Array
    criteria: Sequence[str]
    how: Mapping[str, str]

    def measure(
        self, scores: Mapping[str, Array], baseline: str | None = None, draws: int = 500
    ) -> tuple[dict[str, float], dict[str, tuple[int, int]]]:
        """Metric -> the mean over groups and criteria; and in how many criteria it is above and below the baseline.

        Above and below: p < 0.05, two-sided, adjusted after Holm over the metrics.
        """
        test = {"baseline": baseline, "test": "auto", "alternative": "two-sided", "draws": draws} if baseline else {}
        values: dict[str, list[float]] = {name: [] for name in scores}
        signs: dict[str, list[int]] = {name: [] for name in scores}
        for criterion in self.criteria:
            rows = ng.meta_evaluate(
                self.dataset, scores=scores, criterion=criterion, intervals="none", **self.how, **test
            ).rows
            grouped = any(row["group"] == "mean" for row in rows)
            for row in (row for row in rows if row["group"] == "mean" or not grouped):
                if row.get("against") is None:
                    values[row["metric"]].append(row["value"])
                else:
                    signs[row["metric"]].append(int(np.sign(row["delta"])) if row["p_adjusted"] < 0.05 else 0)
        told = {name: (sum(s > 0 for s in own), sum(s < 0 for s in own)) for name, own in signs.items()}
        return {name: float(np.mean(own)) for name, own in values.items()}, told


def every(dataset: ng.Dataset, step: int, start: int = 0) -> ng.Dataset:
    """All outputs for every so many-th input."""
    items = set(list(dict.fromkeys(segment.item for segment in dataset))[start::step])
    return ng.Dataset(tuple(segment for segment in dataset if segment.item in items), dataset.name)


def mean_and_sd(values: Sequence[float], sign: str = "", digits: int = 3) -> str:
    """As a cell of a table."""
    return f"{np.mean(values):{sign}.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"
