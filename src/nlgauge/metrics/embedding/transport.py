"""The cost of moving one text onto the other: MoverScore, WMD, WMDo, sentence mover's similarity, BaryScore."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.metric import Documents, Policy
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding.kernel import Side
from nlgauge.metrics.embedding.points import (
    UNKNOWN,
    MatchedPoints,
    Read,
    Stopwords,
    WordPoints,
    are_stopped,
    identity_of,
    last_layers,
    points_info,
    stopwords,
)
from nlgauge.metrics.embedding.vectors import IdfTable, hypothesis_documents, reference_documents
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import split_sentences

_RANGES = {"pmeans": (-3.0, 1.0), "last": (0.0, 1.0)}  # squared distances of unit vectors reach 4


@dataclass(frozen=True, kw_only=True)
class MoverScore(MatchedPoints):
    """1 minus the exact transport cost between the n-grams of hypothesis and reference, or 1 / (1 + cost).

    The score falls with the least cost of moving the weight of one text's pieces onto those of the other. Unlike in
    `bertscore`, two pieces of the hypothesis cannot both take the whole weight of one piece of the reference. Special
    tokens take part; ASCII punctuation, stop words and pieces that continue a word do not.

    `pmeans` runs from -3 to 1, often below 0 for unrelated texts; `last` from 0 to 1. A copy scores 1, but not with
    idf, where a score depends on all texts of the call and is not cached. An empty side gets the lowest value (flag
    `empty`); one without any weight has no score (flag `unweighted`). To repeat the paper, name its model: BERT base,
    fine-tuned on MNLI, in a folder.

    Args:
        variant: `pmeans`, the first published code: minimum, mean and maximum over the last five layers, squared
            Euclidean cost, 1 - cost. `last`, the second: the last layer, Euclidean cost, 1 / (1 + cost).
        ngram: move single pieces (1) or pairs of neighbours (2), each at the weighted mean of its pieces.
        idf: weight a piece by log((N + 1) / (df + 1)) in place of 1, those of hypotheses in the N hypotheses of the
            call, those of references in its references. References of one item count once.
        stopwords: leave out the words of a list: `english`, or a file with one word per line.
        drop_subwords: leave out pieces that continue a word (`##ing`). Vocabularies without `##`, as of `multilingual`,
            RoBERTa and XLM-R, mark those that begin one: all are kept, since a text without blanks has one beginning.
        references: with several references, the `mean`, as in the published examples, the `best`, or that of the
            `first`; `best_each` is the same as `best` here.

    References:
        Zhao et al. (2019), "MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth Mover
        Distance", section 3. The ten settings of the published code (`last` with and without idf; `pmeans` with one or
        two grams, with and without idf and subwords) agree with it to 1e-5 on 64 pairs.

        Where this differs from the published code: an empty text gets the worst value (theirs gets 1 with idf), and a
        text without any weight gets none (theirs gets 1, as "..." against "!!!" with idf). The weights of a side sum to
        exactly 1 (theirs adds 0.00001 to their sum). `ngram=2` works under `variant=last`, too.
    """

    variant: Literal["pmeans", "last"] = "pmeans"
    ngram: Literal[1, 2] = 1
    idf: bool = False
    stopwords: str | None = None
    drop_subwords: bool = True
    references: Policy = "mean"
    info: ClassVar = points_info(
        "moverscore",
        tasks={"mt", "as", "ic", "d2t"},
        paper=(
            'Zhao et al. (2019), "MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth Mover'
            ' Distance"'
        ),
        summary="least cost of moving n-grams of token vectors onto each other (Zhao et al. 2019)",
    )

    def __post_init__(self) -> None:
        checked(self)
        # The two sides of a copy have different weights if their frequencies come from different texts.
        info = replace(type(self).info, range=_RANGES[self.variant], copy_is_best=not self.idf)
        object.__setattr__(self, "info", info)

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [hypothesis_documents(segments), reference_documents(segments)]

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {**super().facts(runtime), "stopwords": identity_of(self.stopwords)}

    def _layers(self, depth: int) -> tuple[int, ...]:
        return last_layers(depth) if self.variant == "pmeans" else (depth,)

    def _tables(
        self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime
    ) -> tuple[Stopwords, IdfTable | None, IdfTable | None]:
        stopped = stopwords(self.stopwords)
        if not self.idf:
            return stopped, None, None
        hypotheses, references = self._idf(self.documents(pool), encoder, runtime)
        return stopped, hypotheses, references

    def _side(
        self,
        read: Read,
        is_hypothesis: bool,
        encoder: Encoder,
        tables: tuple[Stopwords, IdfTable | None, IdfTable | None],
    ) -> Side:
        stopped, *weighed = tables
        table = weighed[0 if is_hypothesis else 1]
        tokenizer = encoder.tokenizer
        dropped = tokenizer.which(kernel.is_mark)[read.ids]
        if self.drop_subwords:
            dropped = dropped | tokenizer.which(kernel.is_subword)[read.ids]
        dropped = dropped | are_stopped(read.ids, read.content, stopped, tokenizer)
        pieces = read.ids[~dropped]
        weights = np.ones(len(pieces)) if table is None else table.weights(pieces).astype(np.float64)
        points = kernel.as_points(read.layers, self.variant == "pmeans", ~dropped)
        return kernel.ngrams(Side(points, weights, pieces), self.ngram)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        cost: kernel.Cost = "squared" if self.variant == "pmeans" else "euclidean"
        costs = kernel.unit_distances(hypothesis.vectors, reference.vectors, cost)
        moved, _ = kernel.transport(costs, hypothesis.weights, reference.weights)
        return (1 - moved if self.variant == "pmeans" else 1 / (1 + moved),)


# --- Word mover's distance: the cost of moving the tokens of one text onto those of the other


@dataclass(frozen=True, kw_only=True)
class Wmd(WordPoints):
    """The exact transport cost between the tokens of hypothesis and reference; lower is better.

    Tokens are all pieces of a text but the special tokens, or its words with `vectors=FILE`. Each has the same weight
    and a vector of length 1. A copy costs 0; an empty side costs 2, the most (flag `empty`).

    Args:
        cost: the distance of two unit vectors: `euclidean`, or `cosine` (1 - cosine).
        references: with several references, the `best`, which is the lowest cost, the `mean`, or that of the `first`;
            `best_each` is the same as `best` here.

    References:
        Kusner et al. (2015), "From Word Embeddings to Document Distances", section 4.
    """

    cost: Literal["euclidean", "cosine"] = "euclidean"
    info: ClassVar = points_info(
        "wmd",
        range=(0.0, 2.0),
        higher_is_better=False,
        tasks=TASKS,
        paper='Kusner et al. (2015), "From Word Embeddings to Document Distances"',
        summary="word mover's distance: least cost of moving token vectors (Kusner et al. 2015)",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, self.cost)
        return (kernel.transport(costs, hypothesis.weights, reference.weights)[0],)


# --- WMDo: word mover's distance with penalties for another word order and for words without a vector

_EQUAL = 1e-9  # flows that differ by rounding are equal
Penalty = Annotated[float, Range(least=0)]


@dataclass(frozen=True, kw_only=True)
class Wmdo(WordPoints):
    """The word mover's distance, plus penalties for fragments and for words without a vector; lower is better.

    The distance is that of `wmd:cost=cosine`. For the order, each word of the reference is matched to the word of the
    hypothesis with which it exchanges most weight. A fragment ends where the next match is not the next word of the
    hypothesis, and the penalty is `delta` times the fragments per word of the reference, at most 1. So a copy of n
    words costs `delta` / n, not 0. The parts are `distance` and `fragments`. The range ends at 2 + `delta` + `alpha`,
    which an empty side gets (flag `empty`).

    Args:
        delta: the weight of the share of fragments among the matched words.
        alpha: the weight of the share of hypothesis words without a vector; no piece of an encoder is without.
        references: with several references, `best` takes value and parts of that with the lowest value, `best_each`
            the lowest of each, `mean` the means, `first` those of the first.

    References:
        Chow et al. (2019), "WMDO: Fluency-based Word Mover's Distance for Machine Translation Evaluation"; the numbers
        0.18 and 0.1 and the way fragments are counted are the released code's. There, a word without a vector takes
        part in the transport as a vector of zeros; here it is left out.
    """

    delta: Penalty = 0.18
    alpha: Penalty = 0.1
    info: ClassVar = points_info(
        "wmdo",
        range=(0.0, np.inf),
        higher_is_better=False,
        tasks={"mt"},
        paper='Chow et al. (2019), "WMDO: Fluency-based Word Mover\'s Distance for Machine Translation Evaluation"',
        summary="word mover's distance with a penalty for word order (Chow et al. 2019)",
    )
    columns: ClassVar = ("value", "distance", "fragments")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "info", replace(self.info, range=(0.0, 2.0 + self.delta + self.alpha)))

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        # Equal words with static vectors are one point, since their flow could be split between them in any way.
        first, hyp_places = self._merged(hypothesis)
        second, ref_places = self._merged(reference)
        costs = kernel.distances(first.vectors, second.vectors, "cosine")
        distance, flow = kernel.transport(costs, first.weights, second.weights)
        order = sorted((place, point) for point, places in enumerate(ref_places) for place in places)
        fragments = fragmentation(flow, [point for _, point in order], hyp_places)
        return distance + self.delta * fragments + self.alpha * hypothesis.missing, distance, fragments

    def _merged(self, side: Side) -> tuple[Side, list[list[int]]]:
        """The points, and the places of each in its text."""
        if self.vectors is None:
            return side, [[place] for place in range(len(side.weights))]
        marks, first, point = np.unique(side.marks, return_index=True, return_inverse=True)
        places = [np.flatnonzero(point == number).tolist() for number in range(len(marks))]
        return Side(side.vectors[first], np.array([float(len(p)) for p in places]), marks), places

    def _worst(self) -> tuple[float, ...]:
        return self.info.range[1], 2.0, 1.0


def fragmentation(flow: Array, order: Sequence[int], places: Sequence[Sequence[int]]) -> float:
    """The number of fragments per matched word, at most 1.

    Each word of the reference is matched to the hypothesis word that it exchanges most weight with; of equals, and of a
    word's places, the one nearest to the last match. A fragment ends where the next match is not the next word.

    Args:
        flow: the weight moved, shape (hypothesis points, reference points).
        order: the point of each reference word, in the order of the text.
        places: the places of each hypothesis point in its text, in order.
    """
    fragments, current = 1, -1
    for point in order:
        column = flow[:, point]
        best = np.flatnonzero(column >= column.max() - _EQUAL)
        place = _nearest(sorted(_nearest(places[i], current) for i in best.tolist()), current)
        fragments += place != current + 1
        current = place
    return min(fragments / len(order), 1.0)


def _nearest(places: Sequence[int], current: int) -> int:
    """The place nearest to the current one; of two, the earlier."""
    after = bisect_left(places, current)
    near = places[max(after - 1, 0) : after + 1]
    return min(near, key=lambda place: (abs(place - current), place))


# --- Sentence mover's similarity: the cost of moving the sentences of one text onto those of the other


@dataclass(frozen=True, kw_only=True)
class Sms(WordPoints):
    """`exp(-cost)` of moving the sentence vectors of the hypothesis onto those of the reference, or words as well.

    A sentence lies at the mean of its tokens' unit vectors and weighs as many tokens as it has; the cost is Euclidean
    and exact. A copy scores 1; an empty side gets 0 (flag `empty`).

    Args:
        words: move the words, too (the name `swms`); they have half of the weight.

    References:
        Clark et al. (2019), "Sentence Mover's Similarity: Automatic Evaluation for Multi-Sentence Texts", section 3.
        There, stop words are left out with GloVe vectors, and vectors are not brought to length 1.
    """

    words: bool = False
    info: ClassVar = points_info(
        "sms",
        tasks={"as"},
        paper='Clark et al. (2019), "Sentence Mover\'s Similarity: Automatic Evaluation for Multi-Sentence Texts"',
        summary="least cost of moving sentence vectors onto each other (Clark et al. 2019)",
    )

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        points = self._points(read, unit=True)
        pieces = encoder.tokenizer.tokens(split_sentences(read.text), "windows")
        sizes = np.array([len(encoder.tokenizer.content(t)) for t in pieces], dtype=np.int64)
        numbers = np.repeat(np.arange(len(sizes)), sizes)[: read.content.stop - read.content.start]
        if self.vectors is not None:
            numbers = numbers[read.ids[: len(numbers)] != UNKNOWN]
        numbers = np.pad(numbers, (0, len(points.weights) - len(numbers)), mode="edge") if len(numbers) else numbers
        kept, sizes = np.unique(numbers, return_counts=True)
        means = np.array([points.vectors[numbers == number].mean(axis=0) for number in kept]).reshape(
            len(kept), points.vectors.shape[1]
        )
        sentences = Side(means, sizes.astype(np.float64), kept)
        if not self.words or not len(kept):
            return sentences
        return Side(
            np.concatenate([points.vectors, means]),
            np.concatenate([points.weights, sentences.weights]),
            np.concatenate([points.marks, kept]),
        )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, "euclidean")
        return (exp(-kernel.transport(costs, hypothesis.weights, reference.weights)[0]),)


# --- BaryScore: the distance of two texts' Wasserstein barycenters, in which the layers of an encoder are averaged

_STEPS, _MOVED = 100, 1e-7  # rounds of the barycenter at most, and the squared way of its points that ends it


@dataclass(frozen=True, kw_only=True)
class BaryScore(MatchedPoints):
    """The exact transport cost between the barycenters of hypothesis and reference; lower is better.

    Each of the last five layers turns a text into a set of unit vectors. Their Wasserstein barycenter is one set of as
    many points, as near to all five as can be; the cost of moving one barycenter onto the other is in squared
    distances. A copy costs 0, but for idf, with which a score depends on all texts of the call. An empty side costs 4,
    the most (flag `empty`).

    Args:
        idf: weight pieces by inverse document frequency, those of hypotheses in the hypotheses of the call, those of
            references in its references; the released code does so by default.
        references: with several references, the `best`, which is the lowest cost, the `mean`, or that of the `first`;
            `best_each` is the same as `best` here.

    References:
        Colombo et al. (2021), "Automatic Text Evaluation through the Lens of Wasserstein Barycenters", section 3. The
        barycenter starts at the mean of each piece over the layers, in the released code at 0.
    """

    idf: bool = False
    references: Policy = "best"
    info: ClassVar = points_info(
        "baryscore",
        range=(0.0, 4.0),
        higher_is_better=False,
        tasks={"mt", "as", "ic", "d2t"},
        paper='Colombo et al. (2021), "Automatic Text Evaluation through the Lens of Wasserstein Barycenters"',
        summary="distance of the texts' Wasserstein barycenters over layers (Colombo et al. 2021)",
    )

    def __post_init__(self) -> None:
        checked(self)
        # The two sides of a copy have different weights if their frequencies come from different texts.
        object.__setattr__(self, "info", replace(type(self).info, copy_is_best=not self.idf))

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [hypothesis_documents(segments), reference_documents(segments)]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return last_layers(depth)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> list[IdfTable] | None:
        return self._idf(self.documents(pool), encoder, runtime) if self.idf else None

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        n = len(read.ids)
        weights = np.ones(n) if tables is None else tables[0 if is_hypothesis else 1].weights(read.ids).astype(float)
        layers = [kernel.unit_vectors(np.asarray(vectors, dtype=np.float64)) for vectors in read.layers]
        if not weights.any() or not all(np.isfinite(layer).all() for layer in layers):
            return Side(layers[-1], weights, read.ids)
        return Side(barycenter(layers, weights), np.ones(n), read.ids)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, "squared")
        return (kernel.transport(costs, hypothesis.weights, reference.weights)[0],)


def barycenter(layers: Sequence[Array], weights: Array) -> Array:
    """n points of equal weight whose mean squared transport cost to k weighted sets of n points is least.

    Args:
        layers: k sets of points, each (n, d); the points of one piece stand in one row.
        weights: the weight of each point, the same in every set, shape (n,).

    References:
        Cuturi and Doucet (2014), "Fast Computation of Wasserstein Barycenters", algorithm 2.
    """
    points = np.mean(layers, axis=0)
    even = np.ones(len(points))
    for _ in range(_STEPS):
        flows = [kernel.transport(kernel.distances(points, layer, "squared"), even, weights)[1] for layer in layers]
        moved = np.mean([flow @ layer for flow, layer in zip(flows, layers, strict=True)], axis=0) * len(points)
        way = float(((moved - points) ** 2).sum())
        points = moved
        if way <= _MOVED:
            break
    return np.asarray(points)
