"""Metrics that compare outputs with each other: distinct n-grams, self-BLEU, compression; of an input, consensus."""

from __future__ import annotations

import gzip
import math
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, over_references, scores_of_stats, signature_of, whole
from nlgauge.core.options import Checked, Range, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.lexical.ngrams import Gram, WordMetric, Words, grams, ratio
from nlgauge.metrics.registry import metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.pool import Counts, Term
from nlgauge.runtime.runtime import Runtime

_ALONE = "it compares the outputs of a system with each other, and says nothing of what any of them is worth"


def _by_system(segments: Sequence[Segment]) -> dict[str | None, list[int]]:
    """System -> the places of its segments; those that name no system are one together."""
    places: dict[str | None, list[int]] = {}
    for place, segment in enumerate(segments):
        places.setdefault(segment.system, []).append(place)
    return places


def _counted(
    metric: BaseMetric, own: Sequence[Counter[Any]], places: Mapping[str | None, Sequence[int]], runtime: Runtime
) -> dict[str | None, Counts]:
    """How often each system has each term of its segments, in the call or in the pool that the call is a part of."""

    def gather(where: Sequence[int]) -> Counts:
        total: Counter[Term] = Counter()
        for place in where:
            total.update(own[place])
        return Counts(len(where), total)

    if runtime.pool is None:
        return {system: gather(where) for system, where in places.items()}
    signed = signature_of(metric, runtime)
    wanted = {f"outputs of system {system!r}: {signed}": partial(gather, where) for system, where in places.items()}
    return dict(zip(places, runtime.pool.counts(wanted), strict=True))


# --- distinct-n: how many of the n-grams of a system differ


@dataclass(frozen=True, kw_only=True)
class Distinct(WordMetric):
    """The share of different n-grams among all n-grams of a system: distinct-1, distinct-2 and so on.

    It falls with the length of the outputs and with their number, so only systems with as many words are comparable.
    Texts of nonsense are diverse, too: it goes beside a metric of quality, and never replaces one.

    The number of a system is the one that is published. A text has the mean over its n-grams of 1 / c, where c is how
    often its system says that n-gram. A blank text gets 0 (flag `empty`); one with fewer than n words has no score
    (`wordless`), nor has a system without an n-gram.

    Args:
        ngram: n, the words of an n-gram.

    References:
        Li et al. (2016), "A Diversity-Promoting Objective Function for Neural Conversation Models".
    """

    ngram: Annotated[int, Range(least=1)] = 1
    notes: ClassVar = (_ALONE,)
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "distinct",
        needs=frozenset(),
        judges=False,
        copy_is_best=False,
        summary="share of different n-grams among all that a system says; it reads the outputs alone",
        tasks=TASKS,
        paper='Li et al. (2016), "A Diversity-Promoting Objective Function for Neural Conversation Models"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Over what n-grams are counted."""
        return {**super().facts(runtime), "pool": "system"}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; `stats` are (sum of 1 / c, n-grams)."""
        check_needs(self, segments, runtime)
        split = self.splitter()
        own = [grams(split(segment.hypothesis), self.ngram) for segment in segments]
        counted = _counted(self, own, _by_system(segments), runtime)
        stats = np.array(
            [
                (math.fsum(n / counted[s.system].of[gram] for gram, n in found.items()), found.total())
                for s, found in zip(segments, own, strict=True)
            ],
            dtype=np.float64,
        ).reshape(-1, 2)
        empty = np.array([is_blank(s.hypothesis) for s in segments], dtype=np.bool_)
        none = (stats[:, 1] == 0) & ~empty
        values = np.where(empty, 0.0, self.corpus(stats))
        return scores_of_stats(self, segments, runtime, stats, {"empty": empty, "wordless": none}, values)

    def corpus(self, totals: Array) -> Array:
        """Different n-grams over all n-grams: shape (..., 2) to (...); NaN where there are none."""
        return ratio(totals)


# --- Self-BLEU: how much of an output the others of its system say, too

_EPSILON = 0.1  # a count in the place of 0, as in the smoothing that Texygen takes


@dataclass(frozen=True, kw_only=True)
class SelfBleu(WordMetric):
    """BLEU of each output of a system against all its other outputs; low where outputs differ.

    The number of a system is the mean. All outputs are compared, where Texygen takes the first 500 of them; it grows
    with their number, so only systems with equally many are comparable. A text without a word gets 1 (flag `empty` or
    `untokenized`) and is no reference for others.

    Args:
        max_ngram_order: the longest n-gram; Texygen reports 2 to 5.

    References:
        Zhu et al. (2018), "Texygen: A Benchmarking Platform for Text Generation Models". From the same words
        values are those of its `SelfBleu`: NLTK's `sentence_bleu` with `SmoothingFunction().method1`.
    """

    max_ngram_order: Annotated[int, Range(least=1)] = 4
    notes: ClassVar = (_ALONE,)
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "self_bleu",
        needs=frozenset(),
        higher_is_better=False,
        judges=False,
        copy_is_best=False,
        summary="BLEU of an output against all others of its system; it reads the outputs alone",
        tasks=TASKS,
        paper='Zhu et al. (2018), "Texygen: A Benchmarking Platform for Text Generation Models"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Over what outputs it is computed."""
        return {**super().facts(runtime), "pool": "system"}

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse a system with one output that is not blank: there is none to compare it with."""
        for system, n in Counter(s.system for s in segments if not is_blank(s.hypothesis)).items():
            self._check(system, n)

    def _check(self, system: str | None, n: int) -> None:
        if n == 1:
            of = "" if system is None else f" of system {system!r}"
            raise InputError(
                f"{self.info.name} compares outputs of a system with each other, and there is only one{of}; score more"
                " segments in one call"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; the corpus number is their mean.

        Raises:
            InputError: a system has a single output.
        """
        check_needs(self, segments, runtime)
        split, places = self.splitter(), _by_system(segments)
        words = [split(segment.hypothesis) for segment in segments]
        own = [self._terms(text) if text else Counter() for text in words]
        counted = _counted(self, own, {s: [i for i in where if words[i]] for s, where in places.items()}, runtime)
        values = np.ones(len(segments))
        for system, where in places.items():
            self._check(system, counted[system].n)
            of_system = cast(Mapping[Gram, int], counted[system].of)
            lengths = sorted(int(term[0].split()[0]) for term in of_system if len(term) == 1)
            for i in where:
                if words[i]:
                    values[i] = self._bleu(words[i], own[i], of_system, lengths)
        empty = np.array([is_blank(s.hypothesis) for s in segments], dtype=np.bool_)
        flags = {"empty": empty, "untokenized": np.array([not text for text in words], dtype=np.bool_) & ~empty}
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags, higher_is_better=False)

    def _terms(self, words: Words) -> Counter[Gram]:
        """What a text has, each once: its length, and each n-gram as "has it", "has it twice" and so on.

        Of a text's n-grams those are matched, clipped as in BLEU, that the system has in two texts or more.
        """
        counts = [grams(words, order) for order in range(1, self.max_ngram_order + 1)]
        times = ((f"{k + 1} times", *gram) for order in counts for gram, n in order.items() for k in range(n))
        return Counter([_length(len(words)), *times])

    def _bleu(self, words: Words, own: Counter[Gram], of_system: Mapping[Gram, int], lengths: Sequence[int]) -> float:
        matched, produced = [0] * self.max_ngram_order, range(len(words), len(words) - self.max_ngram_order, -1)
        for term in own:
            if len(term) > 1:
                matched[len(term) - 2] += of_system[term] > 1
        if not matched[0]:
            return 0.0
        shares = [(m or _EPSILON) / max(p, 1) for m, p in zip(matched, produced, strict=True)]
        at, alone = bisect_left(lengths, len(words)), of_system[_length(len(words))] == 1
        others = [n for n in lengths[max(at - 1, 0) : at + 2] if n != len(words) or not alone]
        closest = min(others, key=lambda length: (abs(length - len(words)), length))
        penalty = 1.0 if len(words) > closest else math.exp(1 - closest / len(words))
        return penalty * math.exp(math.fsum(map(math.log, shares)) / len(shares))


def _length(n: int) -> Gram:
    """A text of n words; no word has a blank in it, so that this is no n-gram."""
    return (f"{n} words",)


# --- Compression: how much shorter gzip makes the outputs of a system

_LEVEL = 9


@dataclass(frozen=True, kw_only=True)
class Compression(Checked, BaseMetric):
    """How many times shorter gzip makes all outputs of a system together; high where they repeat each other.

    It grows with the amount of text, so only systems with as many characters are comparable. The outputs are sorted and
    joined by blanks: gzip sees repetitions no farther apart than 32 KB.

    The number of a system is bytes over compressed bytes. A text has its bytes over those that it adds to the
    compressed ones of the texts before it. A blank text has no score (flag `wordless`).

    Args:
        order: `sorted`, or `given` for the order of the segments.

    References:
        Shaib et al. (2024), "Standardizing the Measurement of Text Diversity: A Tool and a Comparative Analysis of
        Scores". Their package `diversity` takes the order given, compresses a second time what is compressed, and so
        gets less.
    """

    order: Literal["sorted", "given"] = "sorted"
    notes: ClassVar = (_ALONE,)
    pooled: ClassVar = True
    rounds: ClassVar = None
    info: ClassVar = MetricInfo(
        "compression",
        needs=frozenset(),
        range=(0.0, math.inf),
        higher_is_better=False,
        judges=False,
        copy_is_best=False,
        blank=math.nan,
        summary="how many times shorter gzip makes the outputs of a system; it reads the outputs alone",
        tasks=TASKS,
        paper=(
            'Shaib et al. (2024), "Standardizing the Measurement of Text Diversity: A Tool and a Comparative Analysis'
            ' of Scores"'
        ),
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Over what outputs it is computed, and the version of the library that compresses."""
        return {"pool": "system", "zlib": zlib.ZLIB_RUNTIME_VERSION}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values above 0; `stats` are (bytes, compressed bytes)."""
        check_needs(self, segments)
        stats = np.zeros((len(segments), 2))
        blank = np.array([is_blank(s.hypothesis) for s in segments], dtype=np.bool_)
        for where in _by_system(segments).values():
            told = [segments[place].hypothesis for place in where if not blank[place]]
            rows = _added(sorted(told) if self.order == "sorted" else told)
            for place in where:
                stats[place] = rows.get(segments[place].hypothesis, (0.0, 0.0))
        return scores_of_stats(self, segments, runtime, stats, {"wordless": blank})

    def corpus(self, totals: Array) -> Array:
        """Bytes over compressed bytes: shape (..., 2) to (...); NaN where there is no text."""
        return ratio(totals)


def _added(texts: Sequence[str]) -> dict[str, Array]:
    """Text -> its bytes, with the blank before it, and those by which it makes the compressed texts before it longer.

    Equal texts share what they add.
    """
    parts = [f"{' ' if place else ''}{text}".encode("utf-8", "surrogatepass") for place, text in enumerate(texts)]
    whole = len(gzip.compress(b"".join(parts), _LEVEL))
    stream, written, before = zlib.compressobj(_LEVEL, wbits=31), 0, 0
    rows: dict[str, list[tuple[int, int]]] = {}
    for place, (text, part) in enumerate(zip(texts, parts, strict=True), start=1):
        written += len(stream.compress(part))
        after = whole if place == len(parts) else written + len(stream.copy().flush())
        rows.setdefault(text, []).append((len(part), after - before))
        before = after
    return {text: np.mean(of_text, axis=0) for text, of_text in rows.items()}


# --- Consensus: how far an output agrees with the other outputs for its input


@dataclass(frozen=True, kw_only=True)
class Consensus(BaseMetric):
    """How far an output agrees with the other outputs for its input: the mean of a metric that takes each as reference.

    The output with the best value of an input is the choice of minimum Bayes risk among them. Score several systems, or
    several outputs of one, in one run; those of one input have the same item. It reads no references.

    It favours outputs that are alike: a system that is better than all others, or of another kind, loses by it. Beside
    another metric it raised agreement with people by item by .0245 on WMT23 (zh-en, 15 systems), and lowered it by .018
    on relative ranks (DARR), and by .02 by system. So it is part of no other metric here.

    An output without another for its input has no score (flag `alone`); a blank one is no reference for others. Range
    and direction are those of the metric, and so are flags, which are set where they are with each other output.

    Args:
        metric: the metric, a specification: `chrf`, `bertscore`, `comet`. It reads references, and each text by itself.

    References:
        Kumar and Byrne (2004), "Minimum Bayes-Risk Decoding for Statistical Machine Translation". Here all outputs
        count alike, and none is compared with itself.
    """

    metric: str
    notes: ClassVar = ("it favours systems that are alike, and says nothing of an error that they share",)
    pooled: ClassVar = True
    rounds: ClassVar = None
    compares_outputs: ClassVar = True
    info: ClassVar = MetricInfo(
        "consensus",
        needs=frozenset(),
        range=(-math.inf, math.inf),
        copy_is_best=False,
        blank=math.nan,
        summary="agreement of an output with the others for its input, by any metric; it reads outputs alone",
        tasks=TASKS,
        paper='Kumar and Byrne (2004), "Minimum Bayes-Risk Decoding for Statistical Machine Translation"',
    )

    def __post_init__(self) -> None:
        checked(self)
        about = self._metric.info
        if "references" not in about.needs or self._metric.pooled:
            raise SpecError(
                f"consensus:metric is {self.metric!r}, expected a metric that reads references, and each text by itself"
            )
        needs = about.needs - {"references"}
        own = replace(type(self).info, needs=needs, range=about.range, higher_is_better=about.higher_is_better)
        object.__setattr__(self, "info", own)

    @cached_property
    def _metric(self) -> BaseMetric:
        return whole(metric(self.metric))

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The metric."""
        return (self._metric,)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The signature of the metric."""
        return {"metric": None, "by": f"({signature_of(self._metric, runtime)})", "pool": "item"}

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse outputs of which no two are for one input."""
        if segments and not any(s.references for s in self._against(segments)):
            raise InputError(
                "consensus compares the outputs for one input, and no input has two of them; score the files of several"
                " systems in one run, or name the column of the input (seg)"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The mean over the other outputs of the input, NaN where there is none.

        Raises:
            InputError: no input has two outputs, or the metric refuses them.
        """
        check_needs(self, segments)
        against = self._against(segments)
        held = [place for place, s in enumerate(against) if s.references]

        def single(pairs: Sequence[Segment]) -> Scores:  # an output is in several, so that its id does not tell them
            named = [replace(s, id=str(i)) for i, s in enumerate(pairs)]
            return replace(score_segments({"": self._metric}, named, runtime)[""], ids=ids(pairs))

        found = over_references([against[place] for place in held], "mean", single)
        values, flags = np.full(len(segments), np.nan), {"alone": np.ones(len(segments), dtype=np.bool_)}
        values[held], flags["alone"][held] = found.values, False
        for name, flag in found.flags.items():
            flags[name] = np.zeros(len(segments), dtype=np.bool_)
            flags[name][held] = flag
        up = self.info.higher_is_better
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags, higher_is_better=up)

    def _against(self, segments: Sequence[Segment]) -> list[Segment]:
        """The segments with the other outputs for their input in the place of references."""
        of_item: dict[tuple[str | None, str], list[int]] = {}
        for place, s in enumerate(segments):
            of_item.setdefault((s.group, s.id if s.item is None else s.item), []).append(place)
        found = list(segments)
        for places in of_item.values():
            for place in places:
                others = tuple(segments[other].hypothesis for other in places if other != place)
                found[place] = replace(segments[place], references=others)
        return found
