"""Metrics over words, their common part, and those that count: GLEU, NIST, CIDEr, and SQuAD's of answers."""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, scores_of_stats, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import version
from nlgauge.metrics.lexical import sacrebleu
from nlgauge.runtime.pool import Counts, Term
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import TOKENIZERS, TokenizerName

WordTokenizer = Literal["13a", "intl", "zh", "char", "blanks", "unicode", "rouge"]
Words = tuple[str, ...]
Gram = tuple[str, ...]
P = TypeVar("P")

_OF_SACREBLEU = ("13a", "intl", "zh", "char")


@dataclass(frozen=True, kw_only=True)
class WordMetric(Checked, BaseMetric):
    """A metric over words, with the options that say what a word is.

    Args:
        tokenizer: `13a`, `intl`, `zh` and `char` are sacrebleu's; `blanks` splits texts that are tokenised already;
            `unicode` and `rouge` drop punctuation and case (see `text.tokenize`).
        lowercase: compare in lower case.
    """

    tokenizer: WordTokenizer = "13a"
    lowercase: bool = False

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The version of what splits the texts."""
        return {
            "sacrebleu": version("sacrebleu") if self.tokenizer in _OF_SACREBLEU else None,
            "unicode": unicodedata.unidata_version if self.tokenizer == "unicode" else None,
        }

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the tokenizer that splits them."""
        if self.tokenizer == "rouge" and not writing.may_be_english:
            return "the tokenizer rouge keeps only a-z and 0-9; take tokenizer=unicode"
        if writing.spaced or self.tokenizer in ("unicode", "char"):
            return None
        if self.tokenizer == "zh" and writing.script in ("Han", "Kana"):  # it cuts both into characters
            return None
        return f"the tokenizer {self.tokenizer} splits words at blanks, of which they have few; take tokenizer=unicode"

    def splitter(self) -> Callable[[str], Words]:
        """The function that splits a text into words; one without a visible character has none."""
        if self.tokenizer in _OF_SACREBLEU:
            split = sacrebleu.splitter(self.tokenizer)
        else:
            split = TOKENIZERS[cast(TokenizerName, self.tokenizer)]
        if self.lowercase:
            # Other scripts word by word: how a sigma is lowered depends on what stands around it.
            return lambda text: (
                ()
                if is_blank(text)
                else tuple(split(text.lower()) if text.isascii() else [w.lower() for w in split(text)])
            )
        return lambda text: () if is_blank(text) else tuple(split(text))


def measured(
    segments: Sequence[Segment],
    k: int,
    runtime: Runtime,
    label: str,
    split: Callable[[str], Words],
    prepare: Callable[[Sequence[Words]], P],
    measure: Callable[[Words, P], Sequence[float] | float],
) -> tuple[Array, dict[str, Mask]]:
    """Numbers of each segment against its own references, and flags of sides without words.

    Each distinct tuple of references is split and prepared once and dropped again before the next; each distinct
    hypothesis is measured once against it.

    Args:
        segments: segments with references.
        k: how many numbers `measure` gives.
        runtime: for progress.
        label: what progress calls the metric.
        split: splits a text into words.
        prepare: what is needed of the references, from the words of each.
        measure: the numbers of a hypothesis, from its words and what was prepared.

    Returns:
        The numbers, shape (n, k); and, each of shape (n,), where a side is blank (`empty`), and where it is not but
        has no word (`untokenized`).
    """
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, segment in enumerate(segments):
        groups.setdefault(segment.references, {}).setdefault(segment.hypothesis, []).append(place)
    found: list[Sequence[float] | float] = []
    wordless: list[bool] = []
    numbers = [0] * len(segments)  # of each segment: its distinct pair of texts
    with runtime.progress(len(segments), label) as advance:
        for references, hypotheses in groups.items():
            listed = [split(reference) for reference in references]
            prepared = prepare(listed)
            for hypothesis, places in hypotheses.items():
                words = split(hypothesis)
                for place in places:
                    numbers[place] = len(found)
                found.append(measure(words, prepared))
                wordless.append(not words or not any(listed))
                advance(len(places))
    rows = np.array(found, dtype=np.float64).reshape(-1, k)[numbers]  # (n, k)
    empty = sacrebleu.is_empty(segments)
    return rows, {"empty": empty, "untokenized": np.array(wordless, dtype=np.bool_)[numbers] & ~empty}


def grams(words: Words, order: int) -> Counter[Gram]:
    """How often each n-gram of one order occurs."""
    return Counter(zip(*(words[i:] for i in range(order)), strict=False))


def ratio(totals: Array) -> Array:
    """The first of two summed counts over the second: shape (..., 2) to (...); NaN where nothing was counted."""
    over, under = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    return np.where((over == 0) & (under == 0), np.nan, over / np.maximum(under, 1))


# --- Texts as numbers, and the n-grams in them, held in arrays so that a corpus is counted in a few passes

Index = npt.NDArray[np.int64]

_LARGEST = np.iinfo(np.int64).max
_ENTRIES = 1 << 20  # n-grams of hypotheses looked up at once; a bound on memory


@dataclass(frozen=True)
class Numbered:
    """Texts one after the other; equal tokens have equal numbers.

    Attributes:
        tokens: the numbers of all tokens, shape (T,).
        starts: where each text begins, and T, shape (t + 1,).
        size: the highest number plus one; numbers need not follow each other.
    """

    tokens: Index
    starts: Index
    size: int

    @property
    def lengths(self) -> Index:
        """Tokens of each text, shape (t,)."""
        return np.diff(self.starts)

    def joined(self, first: Index) -> Numbered:
        """Neighbouring texts made one: text i is what was `first[i]` up to `first[i + 1]`."""
        return Numbered(self.tokens, self.starts[first], self.size)


@dataclass(frozen=True)
class Bags:
    """How often each n-gram occurs in each text.

    Attributes:
        keys: text * size + n-gram, ascending, shape (e,).
        counts: shape (e,).
        starts: where the entries of each text begin, and e, shape (t + 1,).
        size: the highest number of an n-gram plus one.
    """

    keys: Index
    counts: Index
    starts: Index
    size: int

    def count(self, texts: Index, grams: Index) -> Index:
        """How often each n-gram occurs in the text beside it; both of shape (q,)."""
        wanted = texts * self.size + grams
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return (
            np.where(self.keys[places] == wanted, self.counts[places], 0) if len(self.keys) else np.zeros_like(wanted)
        )


def bags(texts: Numbered, n: int) -> Bags:
    """The n-grams of each text, counted; none crosses from one text into the next."""
    grams, size = texts.tokens, texts.size
    owner = np.repeat(np.arange(len(texts.lengths)), texts.lengths)  # (T,)
    ends = texts.starts[1:][owner]
    places = np.arange(len(grams))
    for order in range(2, n + 1):
        fits = places + order <= ends
        places, ends, owner = places[fits], ends[fits], owner[fits]
        grams, size = grams[fits] * texts.size + texts.tokens[places + order - 1], size * texts.size
        if size * max(len(texts.lengths), texts.size) > _LARGEST:  # the next products would be too large for a number
            distinct, grams = np.unique(grams, return_inverse=True)
            size = len(distinct)
    return gather(owner, grams.reshape(-1), len(texts.lengths), size)


def gather(owner: Index, grams: Index, n_texts: int, size: int) -> Bags:
    """Bags from (text, n-gram) pairs in any order, each of shape (q,)."""
    keys, counts = np.unique(owner * size + grams, return_counts=True)
    starts = np.searchsorted(keys, np.arange(n_texts + 1) * size)
    return Bags(keys, counts, starts, size)


def clipped_overlap(counted: Bags, hypotheses: Index, references: Index) -> Index:
    """Matches between pairs of texts; no n-gram counts more often than it occurs on either side. Shapes (p,)."""
    matches = np.zeros(len(hypotheses), dtype=np.int64)
    spans = counted.starts[hypotheses + 1] - counted.starts[hypotheses]  # entries of each hypothesis
    for batch in batches(spans, _ENTRIES):
        span, hypothesis = spans[batch], hypotheses[batch]
        entries = ranges(counted.starts[hypothesis], span)
        pair = np.repeat(np.arange(len(batch)), span)
        grams = counted.keys[entries] - hypothesis[pair] * counted.size
        matched = np.minimum(counted.counts[entries], counted.count(references[batch][pair], grams))
        matches[batch] = np.bincount(pair, weights=matched, minlength=len(batch))
    return matches


def batches(costs: Index, budget: int) -> list[Index]:
    """Neighbouring places grouped so that the costs of a group sum to about the budget, or to what one place costs."""
    edges = np.flatnonzero(np.diff(np.cumsum(costs) // budget)) + 1
    return np.split(np.arange(len(costs)), edges)


def ranges(starts: Index, lengths: Index) -> Index:
    """The whole numbers from each start, as many as its length, end to end."""
    offsets = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(starts - offsets, lengths))


# --- GLEU: the smaller of n-gram precision and recall, over all orders together


@dataclass(frozen=True, kw_only=True)
class Gleu(WordMetric):
    """Google-BLEU as nltk computes it from the same words.

    The n-grams of one to four words that both sides share, over those of the longer side: the smaller of precision and
    recall. The corpus number divides sums, so long segments weigh more. nltk takes lists of words: with `text.split()`
    its number is that of `tokenizer=blanks`. A side without a word scores 0 (flag `empty` or `untokenized`).

    Args:
        min_ngram_order: shortest n-gram counted.
        max_ngram_order: longest n-gram counted.

    References:
        Wu et al. (2016), "Google's Neural Machine Translation System", section 9.3. Of several references the one with
        the best GLEU counts, segment by segment.
    """

    min_ngram_order: Annotated[int, Range(least=1)] = 1
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    info: ClassVar = MetricInfo(
        "gleu",
        summary="the smaller of n-gram precision and recall",
        tasks={"mt"},
        paper='Wu et al. (2016), "Google\'s Neural Machine Translation System: Bridging the Gap"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_ngram_order > self.max_ngram_order:
            raise SpecError(
                f"gleu:min_ngram_order is {self.min_ngram_order}, expected at most max_ngram_order, which is"
                f" {self.max_ngram_order}"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; `stats` are (matched n-grams, n-grams of the longer side).

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.
        """
        check_needs(self, segments)
        stats, flags = measured(
            segments, 2, runtime, "gleu", self.splitter(), lambda refs: [self._grams(r) for r in refs], self._best
        )
        return scores_of_stats(self, segments, runtime, stats, flags)

    def corpus(self, totals: Array) -> Array:
        """GLEU of summed statistics: shape (..., 2) to (...), in 0 to 1."""
        totals = np.asarray(totals, dtype=np.float64)
        return np.asarray(totals[..., 0] / np.maximum(totals[..., 1], 1))

    def _grams(self, words: Words) -> Counter[Gram]:
        counted: Counter[Gram] = Counter()
        for order in range(self.min_ngram_order, self.max_ngram_order + 1):
            counted.update(grams(words, order))
        return counted

    def _best(self, hypothesis: Words, references: Sequence[Counter[Gram]]) -> tuple[int, int]:
        produced = self._grams(hypothesis)
        n_produced = produced.total()
        pairs = [((produced & r).total(), max(n_produced, r.total())) for r in references]
        return max(pairs, key=lambda pair: pair[0] / max(pair[1], 1))


# --- NIST: n-gram precision in which rare n-grams of the references count more

_HALF_AT = math.log(1.5)  # the penalty is 1/2 where the references have one and a half times the words
_BETA = math.log(0.5) / _HALF_AT**2


@dataclass(frozen=True)
class _Reference:
    grams: list[Counter[Gram]]  # of each order from 1
    length: int


@dataclass(frozen=True)
class _Information:
    """How much an n-gram tells: the binary logarithm of how rarely its first n - 1 words go on with its last."""

    counts: Mapping[Gram, int]
    n_words: int

    def weigh(self, matched: Counter[Gram]) -> float:
        return sum(self.of(gram) * count for gram, count in matched.items())

    def of(self, gram: Gram) -> float:
        return math.log((self.counts[gram[:-1]] if len(gram) > 1 else self.n_words) / self.counts[gram], 2)


@dataclass(frozen=True, kw_only=True)
class Nist(WordMetric):
    """NIST as nltk computes it from the same words.

    N-grams of up to five words, weighed by how seldom their last word follows the first ones; the weighted precisions
    are added up over the lengths, and a hypothesis of two thirds of the reference's length loses half. A copy need not
    be best: a shorter text of rarer n-grams can get more, and numbers of different sets cannot be compared. The corpus
    number weighs n-grams by the references of all segments of the call, as `corpus_nist` does. A hypothesis too short
    for a length scores without it, where nltk divides by zero. A side without a word scores 0 (flag `empty` or
    `untokenized`).

    Args:
        max_ngram_order: longest n-gram counted.
        information: the references that weigh the n-grams of a segment's value: its own (`segment`, nltk's
            `sentence_nist`) or all of the call (`call`).

    References:
        Doddington (2002), "Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence Statistics",
        section 3. Of several references each order takes the one with the best precision, as in nltk.
    """

    max_ngram_order: Annotated[int, Range(least=1)] = 5
    information: Literal["segment", "call"] = "segment"
    pooled: ClassVar = True  # the corpus number always, and under `call` the values
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "nist",
        range=(0.0, float("inf")),
        copy_is_best=False,
        summary="n-gram precision weighted by information; a shorter text of rarer n-grams can beat a copy",
        tasks={"mt", "d2t", "qg"},
        paper=(
            'Doddington (2002), "Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence'
            ' Statistics"'
        ),
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of 0 or more; `stats` are (information matched, n-grams) of each order, then words of both sides.

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.
        """
        check_needs(self, segments)
        split = self.splitter()
        prepared = {refs: [self._reference(split(r)) for r in refs] for refs in {s.references for s in segments}}
        call = self._of_call([r for s in segments for r in prepared[s.references]], runtime)

        def rows(call: _Information | None) -> tuple[Array, dict[str, Mask]]:
            k = 2 * self.max_ngram_order + 2
            return measured(segments, k, runtime, "nist", split, self._references, partial(self._row, call))

        stats, flags = rows(call)
        values = self.corpus(stats if self.information == "call" else rows(None)[0])
        return scores_of_stats(self, segments, runtime, stats, flags, values)

    def corpus(self, totals: Array) -> Array:
        """NIST of summed statistics: shape (..., 2 * max_ngram_order + 2) to (...)."""
        totals = np.asarray(totals, dtype=np.float64)
        order = self.max_ngram_order
        information, produced = totals[..., : 2 * order : 2], totals[..., 1 : 2 * order : 2]  # (..., order)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(produced > 0, information / produced, 0.0).sum(axis=-1)
            ratio = np.where(totals[..., -2] > 0, totals[..., -1] / totals[..., -2], 0.0)
            penalty = np.where(ratio < 1, np.exp(_BETA * np.log(ratio) ** 2), 1.0)
        return np.asarray(np.where(ratio > 0, precision * penalty, 0.0))

    def _of_call(self, references: Sequence[_Reference], runtime: Runtime) -> _Information:
        """The references of the call, or of the pool that it is a part of."""
        if runtime.pool is None:
            return _information(references)

        def gather() -> Counts:
            found = _information(references)
            return Counts(found.n_words, dict[Term, int](found.counts.items()))

        (counted,) = runtime.pool.counts({f"n-grams of references: {signature_of(self, runtime)}": gather})
        return _Information(cast(Mapping[Gram, int], counted.of), counted.n)

    def _reference(self, words: Words) -> _Reference:
        return _Reference([grams(words, order) for order in range(1, self.max_ngram_order + 1)], len(words))

    def _references(self, references: Sequence[Words]) -> tuple[list[_Reference], _Information]:
        counted = [self._reference(words) for words in references]
        return counted, _information(counted)

    def _row(
        self, call: _Information | None, hypothesis: Words, prepared: tuple[list[_Reference], _Information]
    ) -> list[float]:
        references, own = prepared
        information = own if call is None else call
        row: list[float] = []
        words = 0  # of the references chosen for each order
        for order in range(1, self.max_ngram_order + 1):
            produced = grams(hypothesis, order)
            n_produced = produced.total()
            weighed = [(information.weigh(produced & r.grams[order - 1]), r.length) for r in references]
            matched, length = max(weighed)
            row += [matched, n_produced]
            words += length
        return [*row, words, self.max_ngram_order * len(hypothesis)]


def _information(references: Sequence[_Reference]) -> _Information:
    counts: Counter[Gram] = Counter()
    for reference in references:
        for counted in reference.grams:
            counts.update(counted)
    return _Information(counts, sum(r.length for r in references))


# --- CIDEr: cosines of n-gram counts that are weighted by how few items' references have the n-gram

_SCALE = 10.0
_Documents = tuple[tuple[str, ...], ...]  # the references of each segment


@dataclass(frozen=True)
class _Vector:
    """The weighted counts of a text: for each order n-gram -> weight and the norm; and its number of pairs of words."""

    weights: list[dict[Gram, float]]
    norms: list[float]
    length: int


@dataclass(frozen=True)
class _Rarity:
    """log(N / df) of n-grams; log(N) of those that no reference has. Those that were asked for are kept."""

    of: Mapping[Term, int]
    unseen: float
    known: dict[Gram, float] = field(default_factory=dict)

    def vector(self, counts: Sequence[Counter[Gram]]) -> _Vector:
        known, of, unseen = self.known, self.of, self.unseen
        for order in counts:
            for gram in order:
                if gram not in known:
                    known[gram] = unseen - math.log(of.get(gram, 1))
        weights = [{gram: n * known[gram] for gram, n in order.items()} for order in counts]
        norms = [math.sqrt(sum([w * w for w in order.values()])) for order in weights]
        return _Vector(weights, norms, max(counts[0].total() - 1, 0))


@dataclass(frozen=True, kw_only=True)
class Cider(WordMetric):
    """CIDEr as pycocoevalcap computes it from the same words, which is the formula of CIDEr-D.

    The cosine of the n-grams of a caption, one to four words, with those of each reference, averaged over
    references; n-grams that few items have weigh more. Papers often print it times 100. What they call CIDEr is the
    COCO evaluation code, pycocoevalcap today, whose formula its authors call CIDEr-D: so `cider` and `cider-d` are
    the same, and the formula that the paper calls CIDEr is `clip=false,sigma=none`.

    Rarity is counted over the references of all segments of a system, so a score depends on the others of the call;
    a single segment is refused. `unicode` is near the Stanford tokenizer of the COCO code (0.036219 against
    0.036211 on 1,945 captions); for words split by that one take `tokenizer=blanks`. A copy of fewer than four
    words does not get 10. A side without a word scores 0 (flag `empty` or `untokenized`).

    Args:
        max_ngram_order: longest n-gram counted.
        sigma: how far two texts may differ in length: standard deviation, in words, of the factor for it. None leaves
            the factor out.
        clip: an n-gram counts no more often than in the reference.

    References:
        Vedantam et al. (2015), "CIDEr: Consensus-based Image Description Evaluation"; the formula without `clip` and
        `sigma` is the paper's CIDEr, with both its CIDEr-D. The cosines with several references are averaged. An item's
        references are one document.
    """

    tokenizer: WordTokenizer = "unicode"
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    sigma: Annotated[float, Range(above=0)] | None = 6.0
    clip: bool = True
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "cider",
        range=(0.0, _SCALE),
        summary="cosine of n-gram counts weighted by rarity, with a penalty for length",
        tasks={"ic", "d2t"},
        paper='Vedantam et al. (2015), "CIDEr: Consensus-based Image Description Evaluation"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Over what the rarity of n-grams is counted."""
        return {**super().facts(runtime), "pool": "system"}

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse a system with one segment: every n-gram of its references would weigh nothing."""
        for system, n in Counter(segment.system for segment in segments).items():
            self._check(system, n)

    def _check(self, system: str | None, n: int) -> None:
        if n < 2:
            of = "" if system is None else f" of system {system!r}"
            raise InputError(
                f"{self.info.name} needs at least two segments{of}, found {n}: from one, every n-gram of its"
                " references weighs nothing; score more segments in one call"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 10; the corpus number is their mean.

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.

        Raises:
            InputError: a system has one segment only, so that every n-gram of its references weighs nothing.
        """
        check_needs(self, segments, runtime)
        values = np.zeros(len(segments))
        flags: dict[str, Mask] = {name: np.zeros(len(segments), dtype=np.bool_) for name in ("empty", "untokenized")}
        places: dict[str | None, list[int]] = {}
        for place, segment in enumerate(segments):
            places.setdefault(segment.system, []).append(place)
        counter = _Counter(self.splitter(), self.max_ngram_order)
        documents = {system: tuple(segments[i].references for i in where) for system, where in places.items()}
        rarities = self._rarities(counter, documents, runtime)
        for system, where in places.items():
            mine, rarity = [segments[place] for place in where], rarities[system]

            def prepare(references: Sequence[Words], rarity: _Rarity = rarity) -> tuple[_Rarity, list[_Vector]]:
                return rarity, [rarity.vector(counter.counts(words)) for words in references]

            rows, raised = measured(mine, 1, runtime, "cider", counter.split, prepare, partial(self._mean, counter))
            values[where] = rows[:, 0]
            for name, flag in raised.items():
                flags[name][where] = flag
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags)

    def _rarities(
        self, counter: _Counter, documents: Mapping[str | None, _Documents], runtime: Runtime
    ) -> dict[str | None, _Rarity]:
        """Of each system, over its segments in the call, or in the pool that the call is a part of."""
        if runtime.pool is None:
            return {system: counter.rarity(counter.frequencies(mine)) for system, mine in documents.items()}
        own = signature_of(self, runtime)
        wanted = {
            f"n-grams of references of system {system!r}: {own}": partial(counter.frequencies, mine)
            for system, mine in documents.items()
        }
        found = dict(zip(documents, runtime.pool.counts(wanted), strict=True))
        for system, counted in found.items():
            self._check(system, counted.n)
        return {system: counter.rarity(counted) for system, counted in found.items()}

    def _mean(self, counter: _Counter, hypothesis: Words, prepared: tuple[_Rarity, list[_Vector]]) -> float:
        rarity, references = prepared
        vector = rarity.vector([grams(hypothesis, order) for order in counter.orders])
        return _SCALE * sum(self._cosine(vector, r) for r in references) / len(references)

    def _cosine(self, hypothesis: _Vector, reference: _Vector) -> float:
        """The mean over the orders; an order in which one side has no weight counts 0."""
        total = 0.0
        for ours, theirs, own, other in zip(
            hypothesis.weights, reference.weights, hypothesis.norms, reference.norms, strict=True
        ):
            if own and other:
                shared = [(ours[gram], theirs[gram]) for gram in ours.keys() & theirs.keys()]
                product = math.fsum([min(h, r) * r if self.clip else h * r for h, r in shared])
                total += product / (own * other)
        if self.sigma is not None:
            total *= math.exp(-((hypothesis.length - reference.length) ** 2) / (2 * self.sigma**2))
        return total / len(hypothesis.weights)


class _Counter:
    """The n-grams of references, each counted once, and how rare they are among the documents of a system."""

    def __init__(self, split: Callable[[str], Words], max_order: int) -> None:
        self.split, self.orders = cache(split), range(1, max_order + 1)
        self._counts: dict[Words, list[Counter[Gram]]] = {}
        self._frequencies: dict[_Documents, Counts] = {}  # most systems have the same references
        self._rarities: dict[int, tuple[Counts, _Rarity]] = {}

    def counts(self, words: Words) -> list[Counter[Gram]]:
        """The n-grams of a reference, by order."""
        if words not in self._counts:
            self._counts[words] = [grams(words, order) for order in self.orders]
        return self._counts[words]

    def frequencies(self, documents: _Documents) -> Counts:
        """In how many documents n-grams are; a document is the references of a segment."""
        if documents not in self._frequencies:
            frequency: Counter[Term] = Counter()
            for document in documents:
                frequency.update({g for text in document for order in self.counts(self.split(text)) for g in order})
            self._frequencies[documents] = Counts(len(documents), frequency)
        return self._frequencies[documents]

    def rarity(self, counted: Counts) -> _Rarity:
        """How rare n-grams are."""
        if id(counted) not in self._rarities:
            self._rarities[id(counted)] = counted, _Rarity(counted.of, math.log(counted.n))
        return self._rarities[id(counted)][1]


# --- Answers as SQuAD compares them: exact match and F1 of their words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_UNMARKED = str.maketrans("", "", string.punctuation)
# Marks that tell one answer from another, but not those between thousands: 3.5, 1/2, 10:30, -5; C++ and C#.
_TELLING = re.compile(r"(?<=\d)(?:,(?!\d{3}(?!\d))|[.:/^*-])(?=\d)|(?<![\w-])-(?=[\d.])|(?<=\w)[+#^=<>]")
_KEPT = 0xE000  # where marks are kept, out of the way of `_UNMARKED`
_RAJPURKAR = 'Rajpurkar et al. (2016), "SQuAD: 100,000+ Questions for Machine Comprehension of Text"'


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Checked, BaseMetric):
    """1 where the hypothesis is a reference, word by word, and else 0; for short answers.

    Texts are compared in lower case, without ASCII punctuation and the words a, an and the, whatever their language;
    white space of any kind is as good as a blank. Of several references the best counts, the first among equals. The
    number of a system is the mean; tables of SQuAD have it times 100. An answer that should be none is blank where the
    reference is, and gets 1 (flag `both_empty`); any other blank side gets 0 (flag `empty`). A match that needs marks
    to be left out which tell answers apart, as of 3.5 and 35 or C++ and C, counts, and is flagged (`markless`).

    Args:
        normalized: False compares texts as they are, but for white space.

    References:
        Rajpurkar et al. (2016), "SQuAD", section 6.1. Values are those of the script evaluate-v2.0 divided by 100, but
        for texts of articles or punctuation alone, which are words here: with the script the answers "", "?" and
        "The" match the reference "A".
    """

    normalized: bool = True
    _n_parts: ClassVar = 0
    info: ClassVar = MetricInfo(
        "exact_match",
        summary="whether the hypothesis is a reference, but for case and punctuation",
        tasks={"dg"},
        paper=_RAJPURKAR,
    )

    def split(self, text: str) -> Words:
        """The words that are compared."""
        if is_blank(text):
            return ()
        if self.normalized:
            plain = text.lower().translate(_UNMARKED)
            return next(filter(None, map(_words, (_ARTICLES.sub(" ", plain), plain, text.lower()))))
        return _words(text)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; the flags are `empty`, `both_empty` and `markless`."""
        check_needs(self, segments)
        name = self.info.name
        rows, flags = measured(segments, 1 + self._n_parts, runtime, name, self.split, _as_given, self._best)
        nothing = np.array([not self.split(s.hypothesis) for s in segments], dtype=np.bool_)
        alike = nothing & (rows[:, 0] == 1)
        marks = {flag: mask & ~alike for flag, mask in flags.items()}
        markless = np.array([v > 0 and self._is_markless(s, v) for s, v in zip(segments, rows[:, 0], strict=True)])
        parts = dict(zip(("precision", "recall"), rows.T[1:], strict=False))
        flags = marks | {"both_empty": alike, "markless": markless.astype(np.bool_)}
        return Scores(signature_of(self, runtime), ids(segments), rows[:, 0], parts, flags=flags)

    def _is_markless(self, segment: Segment, value: float) -> bool:
        """Whether the value would be lower if marks were kept that tell one answer from another."""
        texts = segment.hypothesis, *segment.references
        if not self.normalized or not any(map(_TELLING.search, texts)):
            return False
        hypothesis, *references = (
            self.split(_TELLING.sub(lambda mark: chr(_KEPT + ord(mark[0])), text)) for text in texts
        )
        return self._best(hypothesis, references)[0] < value

    def _best(self, hypothesis: Words, references: Sequence[Words]) -> Sequence[float]:
        told = [*filter(None, references)] or references[:1]  # a blank reference counts where it is alone
        return max((self._single(hypothesis, reference) for reference in told), key=itemgetter(0))

    def _single(self, hypothesis: Words, reference: Words) -> tuple[float, ...]:
        return (float(hypothesis == reference),)


@dataclass(frozen=True, kw_only=True)
class TokenF1(ExactMatch):
    """F1 of the words that hypothesis and reference share; for short answers, and mostly beside `exact_match`.

    Word order does not count. Words are those that are compared by `exact_match`, with the same references, number of a
    system, blank sides and flags. Texts without blanks between words are one word each: there take `rouge1` with
    `tokenizer=unicode`.

    Args:
        normalized: False compares words as they are.

    References:
        Rajpurkar et al. (2016), "SQuAD", section 6.1. Values are those of the script evaluate-v2.0 divided by 100;
        evaluate-v1.1 gives 0 to two texts without words.
    """

    info: ClassVar = MetricInfo(
        "token_f1", summary="F1 of the words shared with a reference", tasks={"dg"}, paper=_RAJPURKAR
    )
    _n_parts: ClassVar = 2

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words."""
        return None if writing.spaced else "it splits words at blanks, of which they have few; take rouge1"

    def _single(self, hypothesis: Words, reference: Words) -> tuple[float, ...]:
        if not hypothesis or not reference:
            return (float(hypothesis == reference),) * 3
        shared = (Counter(hypothesis) & Counter(reference)).total()
        precision, recall = shared / len(hypothesis), shared / len(reference)
        return 2 * precision * recall / (precision + recall) if shared else 0.0, precision, recall


def _words(text: str) -> Words:
    return tuple(text.split())


def _as_given(references: Sequence[Words]) -> Sequence[Words]:
    return references
