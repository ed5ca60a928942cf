"""Texts compared by an encoder: cosines of their vectors, SentSim, SUPERT, and DiscoScore's focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from math import e
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import (
    BaseMetric,
    Documents,
    Policy,
    check_needs,
    known,
    nonfinite,
    over_references,
    signature_of,
    spec_of,
    unknown,
)
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, stripped
from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding.bertscore import BertScore, f1
from nlgauge.metrics.embedding.kernel import Side
from nlgauge.metrics.embedding.points import (
    ENGLISH,
    MatchedPoints,
    Read,
    Stopwords,
    WordPoints,
    are_stopped,
    identity_of,
    points_info,
    stopwords,
)
from nlgauge.metrics.embedding.transport import Wmd
from nlgauge.metrics.embedding.vectors import ByEncoder, hypothesis_documents, reference_documents, with_sources
from nlgauge.metrics.run import joined_flags, score_segments
from nlgauge.metrics.wrapped import moments, zero_and_width
from nlgauge.models.encoder import Encoder, load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.tokens import Long, TextTokenizer
from nlgauge.runtime.pool import Moments
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.tagging import tag
from nlgauge.text.tokenize import split_sentences

# Over the development rows of MLQE-PE, scores centred on draws of so many texts correlate at .98 with those centred on
# all thousand; at five texts at .93 to .97 (docs/studies/languages.md).
_LEAST_CENTERED = 10


@dataclass(frozen=True, kw_only=True)
class Cosine(Checked, ByEncoder):
    """Cosine of the mean token vectors of hypothesis and reference, or of hypothesis and source.

    `embedded` was trained for this cosine of its last layer, so with it this is a strong baseline; expect little with a
    plain masked language model. A near-copy with an error fools it less often than `bertscore` over the same encoder. A
    copy scores 1; an empty side gets -1, the lowest value (flag `empty`).

    Args:
        model: `embedded`, `base`, `multilingual`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        references: with several references, the `mean` of the cosines or the `best`.
        special_tokens: whether special tokens are in the mean (`keep`, as in SEScore) or not (`drop`).
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the encoder; None takes the runtime's.
        against: `source` compares the hypothesis with its source, and reads no reference; the model must read both
            languages (`multilingual`). It tells poor translations from good ones, and hardly good ones from better.
        center: take off each side's vectors their mean over the different texts of that side in the call, apart for
            each group (language pair, task or topic): what is left does not say which language a text is in. A score
            then depends on the other segments of the call, and a copy need not score best. Fewer than ten texts of a
            side in a group are refused.

    References:
        Xu et al. (2022), "Not All Errors are Equal", table 5, the row without synthesis. For `center`: Libovický et al.
        (2020), "On the Language Neutrality of Pre-trained Multilingual Representations".
    """

    model: str = "embedded"
    revision: str | None = None
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    references: Literal["mean", "best"] = "mean"
    special_tokens: Literal["keep", "drop"] = "keep"
    max_tokens: int | None = None
    dtype: DType | None = None
    against: Literal["source"] | None = None
    center: bool = False
    info: ClassVar = MetricInfo(
        "cosine",
        range=(-1.0, 1.0),
        cached=True,
        flags={"unknown", "nonfinite"},
        summary="cosine of mean token vectors: SEScore before it has learnt",
        tasks=TASKS,
        paper='Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error'
        ' Synthesis"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.against == "source" and self.references != "mean":
            raise SpecError("cosine:references is about references; against=source reads none, leave it out")
        needs = {"source"} if self.against == "source" else type(self).info.needs
        is_best = not (self.against or self.center)
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, copy_is_best=is_best))

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.center

    rounds: ClassVar = None

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts whose mean vectors are taken off."""
        compared = self._compared(segments)
        return [hypothesis_documents(compared), reference_documents(compared)]

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse a group with too few different texts on a side to take their mean vector off.

        Raises:
            InputError: there is such a group; the error names it.
        """
        groups: dict[str | None, list[Segment]] = {}
        for one in self._compared(segments) if self.center else ():
            groups.setdefault(one.group, []).append(one)
        for group, own in groups.items():
            sides = [one.hypothesis for one in own], [text for one in own for text in one.references]
            if (n := min(len({*map(stripped, side)} - {""}) for side in sides)) < _LEAST_CENTERED:
                where = "the call" if group is None else f"the group {group!r}"
                raise InputError(
                    f"cosine:center takes off a mean vector, of at least {_LEAST_CENTERED} different texts of a side,"
                    f" and {where} has {n}: score more segments in one call, or leave center out"
                )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = locate(self.model, self.revision)
        found = {"layer": self._layer(files.depth), "dtype": runtime.precision(self.dtype), **files.facts()}
        return found | {"center": self.center or None}  # unsigned where nothing is taken off, as before it was there

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from -1 to 1; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty side gets -1, the lowest value, and sets the flag `empty`. A segment with a text of which no piece is
        known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment has no reference (or no source), a group has too few texts for `center`, or the model
                cannot be read.
        """
        check_needs(self, segments)
        compared = self._compared(segments)
        return over_references(compared, self.references, lambda single: self._score_single(single, runtime))

    def _compared(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        return with_sources(segments) if self.against == "source" else segments

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._layer(depth),)

    def _layer(self, depth: int) -> int:
        if self.layer is not None and self.layer > depth:
            raise SpecError(f"cosine:layer is {self.layer}, but model {self.model!r} has layers 0 to {depth}")
        return depth if self.layer is None else self.layer

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        files = locate(self.model, self.revision)
        layer = self._layer(files.depth)
        tokenizer = runtime.once(
            ("plain tokenizer", files, self.max_tokens), lambda: TextTokenizer(files, self.max_tokens, space=False)
        )
        numbers: dict[str, int] = {}
        pairs = [(s.hypothesis.strip(), s.references[0].strip()) for s in segments]
        places = np.array(
            [[numbers.setdefault(text, len(numbers)) for text in pair] for pair in pairs], dtype=np.int64
        ).reshape(-1, 2)
        tokens = tokenizer.tokens(list(numbers))
        seen = np.array([(t.n_content == 0, t.truncated) for t in tokens], dtype=np.bool_).reshape(-1, 2)
        empty, truncated = seen[places].any(axis=1).reshape(-1, 2).T  # each (n,)
        unread = tokenizer.unknown_shares(tokenizer.content(t) for t in tokens)
        shares = unread[places].max(axis=1)
        values = np.full(len(segments), -1.0)
        asked = np.flatnonzero(~empty)
        if len(asked):
            wanted, rows = np.unique(places[asked], return_inverse=True)
            outer = (len(tokenizer.prefix), len(tokenizer.suffix)) if self.special_tokens == "drop" else (0, 0)
            encoder = load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime)
            from nlgauge.models.matching import cosines, encoder_means  # behind what says that torch is missing

            with runtime.progress(len(wanted), "cosine") as advance:
                sequences = [tokens[i].ids for i in wanted]
                means = encoder_means(encoder, sequences, [layer], outer=outer, advance=advance)[:, 0]
            named: dict[str | None, int] = {}
            groups = np.array([named.setdefault(segments[i].group, len(named)) for i in asked.tolist()], dtype=np.int64)
            values[asked] = cosines(means, rows.reshape(-1, 2), groups if self.center else None)
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": nonfinite(values)}
        return Scores(signature_of(self, runtime), ids(segments), known(values, shares), flags=flags)


# --- Cosine of two texts' average or most extreme vectors, and the mean of the best cosines of their tokens

_info = partial(points_info, range=(-1.0, 1.0), blank=0.0, tasks=TASKS)


@dataclass(frozen=True, kw_only=True)
class Pooled(WordPoints):
    """Base of metrics that make one vector of a text from the vectors of its tokens as they are."""

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=False)


@dataclass(frozen=True, kw_only=True)
class EmbeddingAverage(Pooled):
    """Cosine of the mean token vectors, without special tokens.

    Unlike in `cosine`, no special token is in the mean, and an empty side gets 0 (flag `empty`). Vectors count as the
    model or the file gives them, not brought to length 1. A copy scores 1.

    References:
        Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"; as a metric, Liu et
        al. (2016), "How NOT To Evaluate Your Dialogue System", section 3.2.2.
    """

    info: ClassVar = _info(
        "embedding-average",
        paper='Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"',
        summary="cosine of mean vectors, contextual or of words",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(hypothesis.vectors.mean(axis=0), reference.vectors.mean(axis=0)),)


@dataclass(frozen=True, kw_only=True)
class VectorExtrema(Pooled):
    """Cosine of the extreme vectors: in each dimension the number of the text that is farthest from 0.

    Vectors count as the model or the file gives them, not brought to length 1, and without special tokens. A copy
    scores 1; an empty side gets 0 (flag `empty`).

    References:
        Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings". Of a maximum and a minimum that are
        equally far from 0, the maximum counts. nlg-eval takes 0 if the minimum is exactly 0.
    """

    info: ClassVar = _info(
        "vector-extrema",
        paper='Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings"',
        summary="cosine of the most extreme numbers of each dimension",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(_extremes(hypothesis.vectors), _extremes(reference.vectors)),)


@dataclass(frozen=True, kw_only=True)
class Greedy(WordPoints):
    """The mean of both directions' mean best cosines, without special tokens.

    Each token takes its best cosine on the other side. The parts are the two means, `precision` of the hypothesis and
    `recall` of the reference; `bertscore` joins them to F in place of their mean. A copy scores 1; an empty side gets 0
    (flag `empty`).

    References:
        Rus and Lintean (2012), "A Comparison of Greedy and Optimal Assessment of Natural Language Student Input Using
        Word-to-Word Similarity Metrics". With word vectors, nlg-eval compares punctuation marks as well.
    """

    info: ClassVar = _info(
        "greedy",
        paper=(
            'Rus and Lintean (2012), "A Comparison of Greedy and Optimal Assessment of Natural Language Student Input'
            ' Using Word-to-Word Similarity Metrics"'
        ),
        summary="mean of both directions' mean best cosines of tokens",
    )
    columns: ClassVar = ("value", "precision", "recall")

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return (precision + recall) / 2, precision, recall


def _extremes(vectors: Array) -> Array:
    """The number of each dimension that is farthest from 0, shape (n, d) to (d,)."""
    highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
    return np.asarray(np.where(highest >= np.abs(lowest), highest, lowest))


def cosine(first: Array, second: Array) -> float:
    """The cosine of two vectors; 0 where one of them is 0."""
    product = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.clip(first @ second / product, -1.0, 1.0)) if product else 0.0


# --- SentSim: the cosine of whole texts and a match of their tokens, each scaled over the call, then joined


@dataclass(frozen=True, kw_only=True)
class SentSim(Checked, BaseMetric):
    """The sum of exp(cosine) of mean vectors and exp(match of tokens), each of the two scaled to 0..1 over the call.

    A score depends on the other segments of the call and is not cached: compare systems in one call, never across
    calls. An empty side gets 2, the lowest value (flag `empty`), and does not count in the scales. The parts `sentence`
    and `words` are the two numbers before they are scaled.

    Args:
        model: `embedded`, `base`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        words: how tokens are matched: `bertscore` (its F) or `wmd` (1 - word mover's distance).
        references: with several references, the `mean` of the parts or the `best`.
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Song et al. (2021), "SentSim: Crosslingual Semantic Evaluation of Machine Translation", section 3. There, the
        sentence model and the token model are two, and the hypothesis is compared with the source; here one encoder
        does both, and the reference is read.
    """

    model: str = "embedded"
    revision: str | None = None
    words: Literal["bertscore", "wmd"] = "bertscore"
    references: Literal["mean", "best"] = "mean"
    max_tokens: int | None = None
    dtype: DType | None = None
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "sentsim",
        range=(2.0, 2 * e),
        flags={"unknown", "nonfinite"},
        tasks={"mt"},
        paper='Song et al. (2021), "SentSim: Crosslingual Semantic Evaluation of Machine Translation"',
        summary="cosine of texts joined with a match of tokens, scaled over the call (Song et al. 2021)",
    )

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """Both parts."""
        return tuple(self._parts().values())

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to: the facts of both parts."""
        facts = {name: dict(part.facts(runtime)) for name, part in self._parts().items()}
        return {**facts["words"], "layer": f"{facts['sentence']['layer']}, {facts['words']['layer']}"}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 2 to 2 e; parts `sentence` and `words`, the numbers before they are scaled.

        An empty side gets 2 and sets the flag `empty`; it does not count in the scales.

        Raises:
            InputError: a segment has no reference, or a part is the same for all segments.
        """
        check_needs(self, segments)
        scored = score_segments(self._parts(), segments, runtime)
        empty = scored["sentence"].flags["empty"]
        up = {name: s.values if s.higher_is_better else -s.values for name, s in scored.items()}
        lie = moments(self, {name: values[~empty] for name, values in up.items()}, runtime)
        total = np.zeros(len(segments))
        for name, part in self._parts().items():
            total = total + _scaled(part, up[name], empty, lie[name])
        flags = joined_flags(scored, ("empty", "truncated", "unknown", "nonfinite"))
        values = np.where(empty, self.info.range[0], total)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {name: scores.values for name, scores in scored.items()},
            flags=flags,
        )

    def _parts(self) -> dict[str, ByEncoder]:
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "words"}
        kind = BertScore if self.words == "bertscore" else Wmd
        return {"sentence": Cosine(**shared), "words": kind(**shared)}


def _scaled(part: BaseMetric, values: Array, empty: Mask, lie: Moments) -> Array:
    """exp of the values, scaled to 0..1 over those whose sides are not empty, the best of them at 1; NaN stays."""
    if empty.all():
        return np.ones(len(values))
    low, width = zero_and_width(lie, "minmax", spec_of(part))
    return np.asarray(np.exp(np.clip((values - low) / width, 0.0, 1.0)))


# --- SUPERT: a summary held against the first sentences of its source, without a reference


@dataclass(frozen=True, kw_only=True)
class Supert(MatchedPoints):
    """F of the best cosines between the tokens of a summary and of the first sentences of its source.

    What matters must stand at the beginning of the source. A summary that copies it scores high, and negations and
    antonyms cost little. Special tokens are left out. The parts are `f1`, `precision` and `recall`. An empty side gets
    0 (flag `empty`).

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        sentences: how many sentences at the beginning of the source stand for a reference.
        stopwords: words that are left out: `english`, or a file with one word per line; None for no word.
        value: which of the three is the metric's value.
        long: a text beyond the model's limit is read in half-overlapping windows (`windows`) or cut and flagged
            (`truncate`).

    References:
        Gao et al. (2020), "SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for Multi-Document
        Summarization", sections 3 and 4 (the first 10 to 15 sentences do best). The released code encodes each
        sentence alone and reads several sources; here one source is read as a whole.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    sentences: Annotated[int, Range(least=1)] = 15
    stopwords: str | None = ENGLISH
    value: Literal["f1", "precision", "recall"] = "f1"
    long: Long = "windows"
    info: ClassVar = points_info(
        "supert",
        needs={"source"},
        range=(-1.0, 1.0),
        copy_is_best=False,
        blank=0.0,
        tasks={"as"},
        paper=(
            'Gao et al. (2020), "SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for Multi-Document'
            ' Summarization"'
        ),
        summary="tokens matched with the first sentences of the source (Gao et al. 2020)",
    )
    columns: ClassVar = ("f1", "precision", "recall")

    def facts(self, runtime: Runtime) -> dict[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {**super().facts(runtime), "stopwords": identity_of(self.stopwords)}

    def scorer(self, pool: Sequence[Segment], runtime: Runtime) -> Callable[[Sequence[Segment]], Scores]:
        """A function that scores segments against the first sentences of their sources."""
        against = super().scorer(pool, runtime)

        def first(segment: Segment) -> str:
            return " ".join(split_sentences(segment.source or "")[: self.sentences])

        return lambda segments: against([replace(s, references=(first(s),)) for s in segments])

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> Stopwords:
        return stopwords(self.stopwords)

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Stopwords) -> Side:
        pieces = read.ids[read.content]
        side = Side(kernel.as_points([read.layers[0][read.content]], False), np.ones(len(pieces)), pieces)
        return side.take(~are_stopped(read.ids, read.content, tables, encoder.tokenizer)[read.content])

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return float(f1(np.array([precision]), np.array([recall]))[0]), precision, recall

    def _value(self) -> str:
        return self.value


# --- The focus difference of DiscoScore, roughly: whether two texts say the same around the same nouns

_NOUNS = ("NN", "NNS", "NNP", "NNPS")


@dataclass(frozen=True, kw_only=True)
class DiscoScore(MatchedPoints):
    """1 / (1 + the mean squared distance of the nouns of hypothesis and reference); an approximation.

    Do not report it as DiscoScore. A noun lies at the sum of the vectors of its places, so it says how often a text
    speaks of it, and in which context. Nouns are found in English text alone. A copy scores 1; a text without a noun
    counts as empty and gets 0 (flag `empty`).

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is two thirds of the depth (8 of 12).
        references: with several references, the `mean`, as in the released code, the `best`, or that of the `first`;
            `best_each` is the same as `best` here.

    References:
        Zhao et al. (2023), "DiscoScore: Evaluating Text Generation with BERT and Discourse Coherence", section 3.1,
        DS-Focus with nouns. A noun lies at the sum of the unit vectors of its places (the last piece of each). Where
        this differs from the released code: nouns come from the tagger of this package, the encoder need not be one
        of discourse, a noun that one text lacks lies at 0 (theirs compares common nouns only, so that a hypothesis
        without any gets the best value), and the difference is turned into a similarity.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    references: Policy = "mean"
    info: ClassVar = points_info(
        "discoscore",
        tasks={"as"},
        paper='Zhao et al. (2023), "DiscoScore: Evaluating Text Generation with BERT and Discourse Coherence"',
        summary="distance of the nouns' vectors, an approximation of DS-Focus (Zhao et al. 2023)",
    )

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, max(min(depth, 1), depth * 2 // 3), depth),)

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        labels, numbers = encoder.tokenizer.words(read.text)
        vectors = kernel.unit_vectors(np.asarray(read.layers[0], dtype=np.float64))
        kept = numbers[: read.content.stop]  # of a text that is cut, a special token stands behind
        last = {number: place for place, number in enumerate(kept) if number is not None}
        nouns: dict[str, Any] = {}
        for number, kind in enumerate(tag(labels)):
            if kind in _NOUNS and number in last:
                word = labels[number].lower()
                nouns[word] = nouns.get(word, 0.0) + vectors[last[number]]
        self._names(nouns, tables)
        points = np.array(list(nouns.values())).reshape(len(nouns), vectors.shape[1])
        marks = np.array([tables[word] for word in nouns], dtype=np.int64)
        return Side(points, np.ones(len(nouns)), marks)

    def _tables(self, pool: Any, encoder: Encoder, runtime: Runtime) -> dict[str, int]:
        return {}  # noun -> its number in this call, filled as nouns are met

    def _names(self, nouns: Mapping[str, Any], numbers: dict[str, int]) -> None:
        for word in nouns:
            numbers.setdefault(word, len(numbers))

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        nouns = np.union1d(hypothesis.marks, reference.marks)
        places = [np.zeros((len(nouns), hypothesis.vectors.shape[1])) for _ in range(2)]
        for table, side in zip(places, (hypothesis, reference), strict=True):
            table[np.searchsorted(nouns, side.marks)] = side.vectors
        return (1 / (1 + float(((places[0] - places[1]) ** 2).sum() / len(nouns))),)
