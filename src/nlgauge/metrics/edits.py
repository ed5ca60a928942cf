"""Rates of errors: WER, CER, MER, WIP, WIL, PER, CDER, EED, ITER, CharacTER; and the similarity left by edits."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, islice
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric, check_needs, over_references, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import Finish, MetricInfo, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.lexical.shifts import TooLong, edits_with_shifts
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.porter import stem
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import blank_words, unicode_words

Pair = tuple[str, str]  # hypothesis, reference
Tokenizer = Literal["blanks", "jiwer", "unicode"]
_RUN = re.compile(r"\s\s+")


def error_rate(name: str, summary: str, paper: str, most: float = float("inf")) -> MetricInfo:
    """The declared facts of a rate of errors, from 0 (the best) to the most that it can be."""
    return MetricInfo(
        name, range=(0.0, most), higher_is_better=False, summary=summary, tasks={"mt", "d2t"}, paper=paper
    )


@dataclass(frozen=True, kw_only=True)
class EditMetric(Checked, BaseMetric):
    """Options of a metric that compares words; `count` says what of a pair, `corpus` makes rates of the sums.

    Args:
        lowercase: compare in lower case.
        tokenizer: `blanks` splits at white space of any kind; `jiwer` as that package, at blanks after runs of white
            space became one blank, so that a single tab or no-break space joins two words; `unicode` finds the words
            of any script and drops punctuation and case.
    """

    lowercase: bool = False
    tokenizer: Tokenizer = "blanks"
    info: ClassVar[MetricInfo]
    k: ClassVar = 2

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The version of Unicode's tables, for the tokenizer that reads them."""
        return {"unicode": unicodedata.unidata_version if self.tokenizer == "unicode" else None}

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and what splits them."""
        if writing.spaced or self.tokenizer == "unicode":
            return None
        name = self.info.name
        return f"{name} splits words at blanks, of which they have few; take tokenizer=unicode, or cer"

    def words(self, text: str) -> list[str]:
        """The words of a text."""
        text = text.lower() if self.lowercase else text
        if self.tokenizer == "jiwer":
            return [word for word in _RUN.sub(" ", text).strip().split(" ") if word]
        return blank_words(text) if self.tokenizer == "blanks" else unicode_words(text)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment; `stats` are the counts of the best reference.

        The flag `empty` marks a blank side. `untokenized` marks one of which the tokenizer `unicode` keeps nothing.
        """

        def count(pairs: Sequence[Pair]) -> Array:
            texts = {text: self.words(text) for pair in pairs for text in pair}
            return np.array([self.count(texts[h], texts[r]) for h, r in pairs], dtype=np.float64)

        found = against_best(self, segments, runtime, count, self.corpus, self.k)
        if self.tokenizer != "unicode":  # the others keep all that can be seen
            return found
        chosen = found.parts["reference"].astype(int).tolist()
        wordless = [
            not self.words(s.hypothesis) or not self.words(s.references[i])
            for s, i in zip(segments, chosen, strict=True)
        ]
        flags = {**found.flags, "untokenized": np.array(wordless, dtype=np.bool_) & ~found.flags["empty"]}
        return replace(found, flags=flags)

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """The counts of a pair of texts."""
        raise NotImplementedError

    def corpus(self, totals: Array) -> Array:
        """The value of summed counts: shape (..., k) to (...)."""
        return rate(totals)


def rate(totals: Array) -> Array:
    """Errors over the length of the reference, from (errors, length): shape (..., 2) to (...).

    Without a reference it is the number of errors, and 1 at least: no text is right there.
    """
    errors, length = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    return np.asarray(np.where(length > 0, errors / np.maximum(length, 1), np.maximum(errors, 1)))


def against_best(
    metric: Any,
    segments: Sequence[Segment],
    runtime: Runtime,
    count: Callable[[Sequence[Pair]], Array],
    finish: Finish | None = None,
    k: int = 1,
) -> Scores:
    """Score each segment against the reference with the best value, the first among equals.

    A pair that `count` has NaN for is undefined; it is flagged `too_long` by metrics that declare this flag.

    Args:
        metric: a metric that is frozen, for its signature and direction.
        segments: what to score.
        runtime: shows progress.
        count: gives the counts of distinct pairs of texts, shape (p, k); a blank text comes as an empty one.
        finish: makes values of counts, and of their sums the corpus number; None if the one count is the value, and
            the corpus number the mean.
        k: the number of counts of a pair.
    """
    check_needs(metric, segments)

    def single(of_one: Sequence[Segment]) -> Scores:
        places: dict[Pair, int] = {}
        asked = [(_told(s.hypothesis), _told(s.references[0])) for s in of_one]
        where = np.array([places.setdefault(pair, len(places)) for pair in asked], dtype=np.int64)
        with runtime.progress(len(places), metric.info.name) as advance:
            counts = count(list(places)).reshape(len(places), k)
            advance(len(places))
        rows = counts[where]  # (n, k)
        too_long: Mask = np.asarray(np.isnan(rows).any(axis=1))
        known = np.where(too_long[:, np.newaxis], 0.0, rows)
        flags = {"empty": np.array([not all(pair) for pair in asked], dtype=np.bool_), "too_long": too_long}
        return Scores(
            signature_of(metric, runtime),
            ids(of_one),
            np.where(too_long, np.nan, rows[:, 0] if finish is None else finish(known)),
            stats=None if finish is None else known,
            flags={name: flag for name, flag in flags.items() if name == "empty" or name in metric.info.flags},
            higher_is_better=metric.info.higher_is_better,
            finish=mean_of_defined if finish is None else finish,
        )

    return over_references(segments, "best", single, sums=True)


def _told(text: str) -> str:
    return "" if is_blank(text) else text


# --- Word and character error rates: insertions, deletions and replacements against the reference, as in jiwer


_MORRIS = (
    'Morris et al. (2004), "From WER and RIL to MER and WIL: improved evaluation measures for connected speech'
    ' recognition"'
)
_WHITE = re.compile(r"[^\S ]")
_LEVENSHTEIN = 'Levenshtein (1966), "Binary codes capable of correcting deletions, insertions, and reversals"'


@dataclass(frozen=True, kw_only=True)
class Wer(EditMetric):
    """Word error rate: the fewest word edits over the words of the reference.

    It can be above 1. Punctuation stays part of a word unless `tokenizer=unicode`. The corpus number comes from summed
    counts. Of several references the one with the best value counts, the first among equals. A blank hypothesis gets 1;
    without a reference the value is the number of words that should not be there; a blank side is flagged `empty`, one
    of which the tokenizer keeps nothing `untokenized`.

    References:
        Levenshtein (1966). Values are those of jiwer 4.0 with its tokenizer, except for two blank texts: 1
        here, 0 there.
    """

    info: ClassVar = error_rate("wer", "word edits per reference word", _LEVENSHTEIN)

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Edits, and words of the reference."""
        return Levenshtein.distance(reference, hypothesis), len(reference)


@dataclass(frozen=True, kw_only=True)
class Cer(Checked, BaseMetric):
    """Character error rate: the fewest edits of characters, blanks included, over the characters of the reference.

    White space of any kind is as good as a blank.

    Corpus, references and blank sides are as in `wer`.

    Args:
        lowercase: compare in lower case.

    References:
        Levenshtein (1966). Values are those of jiwer 4.0, which takes other white space for other characters, except
        for two blank texts: 1 here, 0 there.
    """

    lowercase: bool = False
    info: ClassVar = error_rate("cer", "character edits per reference character", _LEVENSHTEIN)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of 0 and more; `stats` are (edits, characters). The flag `empty` marks a blank side."""

        def count(pairs: Sequence[Pair]) -> Array:
            folded = _characters(pairs, self.lowercase)
            return np.array([(Levenshtein.distance(r, h), len(r)) for h, r in folded], dtype=np.float64)

        return against_best(self, segments, runtime, count, rate, 2)


def _characters(pairs: Sequence[Pair], lowercase: bool) -> Iterator[Pair]:
    """Both sides as their characters are compared: without blanks around them, and white space as blanks."""
    fold = str.lower if lowercase else str
    return ((_WHITE.sub(" ", fold(h.strip())), _WHITE.sub(" ", fold(r.strip()))) for h, r in pairs)


@dataclass(frozen=True, kw_only=True)
class EditSimilarity(Checked, BaseMetric):
    """1 - the fewest edits of characters over the length of the longer text: 1 is a copy, 0 has nothing in common.

    Both sides count alike, where `cer` divides by the reference alone. White space of any kind is as good as a blank.
    The number of a system is the mean. Of several references the most similar counts, the first among equals. A blank
    side gets 0 (flag `empty`).

    Args:
        lowercase: compare in lower case.

    References:
        Levenshtein (1966). Values are those of rapidfuzz's `Levenshtein.normalized_similarity` of texts without blanks
        around them and without other white space, except for two blank texts: 0 here, 1 there.
    """

    lowercase: bool = False
    info: ClassVar = MetricInfo(
        "edit_similarity",
        summary="1 - character edits over the length of the longer text",
        tasks={"mt", "d2t"},
        paper=_LEVENSHTEIN,
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1. The flag `empty` marks a blank side."""

        def similarity(pairs: Sequence[Pair]) -> Array:
            folded = _characters(pairs, self.lowercase)
            found = [Levenshtein.normalized_similarity(h, r) if h and r else 0.0 for h, r in folded]
            return np.array(found, dtype=np.float64)

        return against_best(self, segments, runtime, similarity)


@dataclass(frozen=True, kw_only=True)
class _Aligned(EditMetric):
    """A metric of the hits and edits of an alignment."""

    k: ClassVar = 4

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Hits, lengths and edits of an alignment with the fewest edits; of several such the one of jiwer, too."""
        hits = edits = 0
        for step in Levenshtein.opcodes(reference, hypothesis):
            length = max(step.src_end - step.src_start, step.dest_end - step.dest_start)
            if step.tag == "equal":
                hits += length
            else:
                edits += length
        return hits, len(hypothesis), len(reference), edits


@dataclass(frozen=True, kw_only=True)
class Mer(_Aligned):
    """Match error rate: word edits over edits and matches, so that it ends at 1.

    Corpus, references and blank sides are as in `wer`, the worst value being 1.

    References:
        Morris et al. (2004). Values are those of jiwer 4.0 with its tokenizer, except for two blank texts: 1
        here, 0 there.
    """

    info: ClassVar = error_rate("mer", "share of word edits in edits and matches", _MORRIS, most=1.0)

    def corpus(self, totals: Array) -> Array:
        """MER of summed counts: shape (..., 4) to (...)."""
        hits, _, _, edits = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(np.where(edits + hits > 0, edits / np.maximum(edits + hits, 1), 1.0))


@dataclass(frozen=True, kw_only=True)
class Wip(_Aligned):
    """Word information preserved: the share of hits in the hypothesis times that in the reference.

    Corpus, references and blank sides are as in `wer`, the worst value being 0.

    References:
        Morris et al. (2004). Values are those of jiwer 4.0 with its tokenizer, except for two blank texts: 0
        here, 1 there.
    """

    info: ClassVar = MetricInfo(
        "wip", summary="word precision times word recall of an alignment", tasks={"mt", "d2t"}, paper=_MORRIS
    )

    def corpus(self, totals: Array) -> Array:
        """WIP of summed counts: shape (..., 4) to (...)."""
        hits, produced, wanted, _ = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(hits / np.maximum(wanted, 1) * (hits / np.maximum(produced, 1)))


@dataclass(frozen=True, kw_only=True)
class Wil(Wip):
    """Word information lost: 1 - WIP.

    Corpus, references and blank sides are as in `wer`, the worst value being 1.

    References:
        Morris et al. (2004). Values are those of jiwer 4.0 with its tokenizer, except for two blank texts: 1
        here, 0 there.
    """

    info: ClassVar = error_rate("wil", "1 - wip, the word information that is lost", _MORRIS, most=1.0)

    def corpus(self, totals: Array) -> Array:
        """WIL of summed counts: shape (..., 4) to (...)."""
        return np.asarray(1 - super().corpus(totals))


# --- PER: the words that lack a counterpart, wherever it stands


@dataclass(frozen=True, kw_only=True)
class Per(EditMetric):
    """Position-independent error rate: (the longer length - words in common) over the words of the reference.

    Word order does not count at all. Corpus, references and blank sides are as in `wer`.

    References:
        Tillmann et al. (1997), "Accelerated DP based search for statistical translation": words without a counterpart
        are replacements, and what one side has more is inserted or deleted.
    """

    info: ClassVar = error_rate(
        "per",
        "word edits per reference word, whatever the order",
        'Tillmann et al. (1997), "Accelerated DP based search for statistical translation"',
    )

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Errors, and words of the reference."""
        common = (Counter(hypothesis) & Counter(reference)).total()
        return max(len(hypothesis), len(reference)) - common, len(reference)


# --- CDER: word edits in which a jump to any place of the hypothesis costs one


_KEPT = 1024  # words whose places are held as bits; in long texts those of all words would fill the memory
_MOST = 2.0  # as many edits as words and a jump, where there is one word


@dataclass(frozen=True, kw_only=True)
class Cder(EditMetric):
    """Edits and long jumps that cover each reference word once, over the words of the reference.

    The reference is gone through word by word: a word that is missing, too much or replaced costs 1, and so does a
    jump to any other place of the hypothesis, whose words may be used never, once or more often. The corpus number
    is the sum of costs over the sum of words; of several references the best counts. A blank hypothesis gets 1, a
    blank reference 2 (flag `empty`).

    References:
        Leusch et al. (2006), "CDER: Efficient MT Evaluation Using Block Movements", section 3: every edit and jump
        costs 1, and the hypothesis need not be covered. The penalty on what is left uncovered, which the paper tries
        besides, is left out, as in Moses.
    """

    info: ClassVar = MetricInfo(
        "cder",
        range=(0.0, _MOST),
        higher_is_better=False,
        summary="word edits and jumps per reference word",
        tasks={"mt"},
        paper='Leusch et al. (2006), "CDER: Efficient MT Evaluation Using Block Movements"',
    )

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Edits and jumps, and words of the reference."""
        return edits_with_jumps(hypothesis, reference), len(reference)

    def corpus(self, totals: Array) -> Array:
        """CDER of summed counts: shape (..., 2) to (...); without a reference the worst there is."""
        errors, words = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(np.where(words > 0, errors / np.maximum(words, 1), _MOST))


def edits_with_jumps(hypothesis: list[str], reference: list[str]) -> int:
    """The cheapest way through both texts; place i of a row is where i words of the hypothesis are behind.

    Since a jump leads anywhere, a row holds two values: the least, and one more. It is kept as the least and as the
    bits of the places that have it.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(hypothesis, start=1):
        places.setdefault(word, []).append(place)
    bits_of = lru_cache(_KEPT)(lambda word: sum(1 << place for place in places.get(word, ())))
    everywhere = (1 << len(hypothesis) + 1) - 1
    least, cheapest = 0, 1  # at the start; all else is a jump away from it
    for word in reference:
        after, equal = cheapest << 1, bits_of(word)
        if kept := after & equal:
            cheapest = kept
        else:  # the word is missing or replaced, or kept after a jump
            least, cheapest = least + 1, (cheapest | after | equal) & everywhere
    return least + 1 - (cheapest >> len(hypothesis))


# --- EED: character edits in which a jump at a blank is allowed, and coverage counts


_CELLS = 1 << 16  # of the tables of all pairs of a batch, in one row: they stay in the cache of the processor
_MANY = 16  # pairs for which it is faster to go through a row
_LARGEST = 110_000_000  # cells of one table and what its rows take besides; more would take more than some seconds
_ROW = 500  # cells that are computed in the time that a row takes besides
_ROUNDS = 4  # between two looks whether a row is done
_MARKS = re.compile(r"[.!?,]")
# A mark between digits belongs to them. After a title any one character was taken for the full stop.
_RULES = [
    (re.compile(r"\s+"), " "),
    (re.compile(r"(\d) ([.,]) (\d)"), r"\1\2\3"),
    (re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) ."), r"\1."),
]
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))
_Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Eed(Checked, BaseMetric):
    """Extended edit distance over the length of the reference; at most 1.

    A character that only the reference has, or that is replaced, costs 1, one that only the hypothesis has 0.2, and a
    jump at a blank of the reference 2; what is visited never or more than once adds 0.3 to cost and length. Even a copy
    is a little above 0. The corpus number is the mean of the segments; of several references the best counts. A blank
    side gets 1 (flag `empty`), while the program's value depends on the other side. Very long pairs are undefined (flag
    `too_long`).

    Args:
        language: how texts are prepared: `en` parts marks from words and puts a blank at both ends, `ja` folds letters
            that look alike.
        alpha: cost of a jump, which is possible at each blank of the reference.
        rho: weight of the characters of the hypothesis that are visited never or more than once.
        deletion: cost of leaving out a character of the hypothesis.
        insertion: cost of a character that only the reference has.

    References:
        Stanchev et al. (2019), "EED: Extended Edit Distance Measure for Machine Translation". Values are those of the
        authors' program and of its port in torchmetrics 1.9, where no side is blank.
    """

    language: Literal["en", "ja"] = "en"
    alpha: Annotated[float, Range(least=0)] = 2.0
    rho: Annotated[float, Range(least=0)] = 0.3
    deletion: Annotated[float, Range(above=0)] = 0.2
    insertion: Annotated[float, Range(least=0)] = 1.0
    info: ClassVar = MetricInfo(
        "eed",
        higher_is_better=False,
        summary="character edits with jumps, and how the hypothesis is covered",
        tasks={"mt", "ic"},
        paper='Stanchev et al. (2019), "EED: Extended Edit Distance Measure for Machine Translation"',
        flags={"too_long"},
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; a blank side is 1 and has the flag `empty`, a pair that is too long is NaN."""
        prepare = english if self.language == "en" else japanese
        return against_best(
            self,
            segments,
            runtime,
            lambda pairs: self._rates([(prepare(h), prepare(r)) if h and r else ("", "") for h, r in pairs]),
        )

    def _rates(self, pairs: Sequence[Pair]) -> Array:
        """The rate of each pair of prepared texts, shape (p, 1)."""
        rates = np.ones((len(pairs), 1))
        sizes = [(len(h), len(r)) for h, r in pairs]
        work = [(h + _ROW) * r if h else 0 for h, r in sizes]
        rates[[cells > _LARGEST for cells in work]] = np.nan
        left = sorted((i for i, cells in enumerate(work) if 0 < cells <= _LARGEST), key=lambda i: sizes[i])
        while left:
            size = max(1, _CELLS // (sizes[left[-1]][0] + 1))  # the longest hypothesis says how wide a row is
            batch, left = sorted(left[-size:], key=lambda i: -sizes[i][1]), left[:-size]
            rates[batch, 0] = self._batch([pairs[i] for i in batch])
        return rates

    def _batch(self, pairs: Sequence[Pair]) -> Array:
        """The rates of some pairs, those with long references first.

        Cell (b, i) of a row is the cost of the cheapest way to where i characters of the hypothesis are behind. Sums
        are made in the order of the authors' program: which place of a row is the cheapest hangs on the last digit.
        """
        n = np.array([len(hypothesis) for hypothesis, _ in pairs])
        m = np.array([len(reference) for _, reference in pairs])
        hyp, ref = (_codes(texts) for texts in zip(*pairs, strict=True))  # (B, longest)
        beyond = np.arange(hyp.shape[1] + 1) > n[:, np.newaxis]  # cells of no text; what they hold reaches no other
        wall = np.where(beyond, np.inf, 0.0) if beyond.any() else None
        row = np.ones(beyond.shape, order="F")  # by columns
        row[:, 0] = 0.0
        visits = np.full(row.shape, -1, order="F")
        end, rows, blanks = np.zeros(len(pairs)), np.arange(len(pairs)), ref == ord(" ")
        is_blank = blanks.any(axis=0).tolist()
        left = np.searchsorted(-m, -np.arange(ref.shape[1] + 1)).tolist()  # pairs with more of a reference than so much
        for place, k in enumerate(left[:-1]):
            row = self._next(row[:k], hyp[:k] != ref[:k, place, np.newaxis])
            cheapest = (row if wall is None else row + wall[:k]).argmin(axis=1)
            visits[rows[:k], cheapest] += 1
            if is_blank[place]:
                blank = np.flatnonzero(blanks[:k, place])
                row[blank] = np.minimum(row[blank], (self.alpha + row[blank, cheapest[blank]])[:, np.newaxis])
            if left[place + 1] < k:
                last = rows[left[place + 1] : k]
                end[last] = row[last, n[last]]
        coverage = self.rho * np.where(beyond, 0, np.where(visits < 0, 1, visits)).sum(axis=1)
        return np.asarray(np.minimum(1.0, (end + coverage) / (m + coverage)))

    def _next(self, row: Array, unlike: Mask) -> Array:
        """The next row, without jumps."""
        following = row + self.insertion
        following[:, 0] = row[:, 0] + 1.0
        rest = following[:, 1:]
        np.minimum(rest, row[:, :-1] + unlike, out=rest)
        if len(row) >= _MANY:  # one character after the other, for all texts at once
            for i in range(rest.shape[1]):
                np.minimum(rest[:, i], following[:, i] + self.deletion, out=rest[:, i])
            return following
        shorter = np.empty_like(rest)
        for round_ in count():  # leaves out one character more; a few rounds, since no cell costs much more than others
            np.add(following[:, :-1], self.deletion, out=shorter)
            if round_ % _ROUNDS == 0 and not np.less(shorter, rest).any():
                break
            np.minimum(rest, shorter, out=rest)
        return following


def english(text: str) -> str:
    """A text as the authors prepare English: marks stand alone, but for numbers, titles and three abbreviations."""
    text = _MARKS.sub(lambda mark: f" {mark[0]}", text.rstrip())
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "


def japanese(text: str) -> str:
    """A text as the authors prepare Japanese: in Unicode's normal form NFKC."""
    return unicodedata.normalize("NFKC", text.rstrip())


def _codes(texts: Sequence[str]) -> _Codes:
    """Code points, a text per line; -1 behind its end."""
    codes = np.full((len(texts), max(map(len, texts))), -1, dtype=np.int32, order="F")
    for line, text in zip(codes, texts, strict=True):
        line[: len(text)] = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    return codes


# --- ITER: TER over stems, as a share of the longer text


@dataclass(frozen=True, kw_only=True)
class Iter(EditMetric):
    """Edits with shifts between stems, over the words of the longer text; at most 1.

    Like `ter`, between stems ("walks", "walked"). The corpus number is a sum over a sum; of several references the best
    counts. A blank side gets 1 (flag `empty`); a pair whose shifts would take minutes is undefined (flag `too_long`).

    Args:
        lowercase: compare in lower case, as TER does.

    References:
        Panja and Naskar (2018), "ITER: Improving Translation Edit Rate through Optimizable Edit Costs", adds stem
        matching, costs that are tuned on ratings, and a normalisation by which the rate ends at 1. Here every edit and
        shift costs 1, a match of stems (Porter's, for English) nothing, so these are not the numbers of WMT18's
        participant.
    """

    lowercase: bool = True
    info: ClassVar = MetricInfo(
        "iter",
        higher_is_better=False,
        summary="word edits with shifts between stems, per word of the longer text",
        tasks={"mt"},
        paper='Panja and Naskar (2018), "ITER: Improving Translation Edit Rate through Optimizable Edit Costs"',
        flags={"too_long"},
    )

    def words(self, text: str) -> list[str]:
        """The stems of a text."""
        return [stem(word) if word.isascii() and word.lower() == word else word for word in super().words(text)]

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Edits and shifts, and words of the longer text; NaN if the texts are too long for the search."""
        longer = max(len(hypothesis), len(reference))
        try:
            return edits_with_shifts(hypothesis, reference), longer
        except TooLong:
            return np.nan, longer

    def corpus(self, totals: Array) -> Array:
        """ITER of summed counts: shape (..., 2) to (...)."""
        edits, words = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(np.where(words > 0, np.minimum(edits / np.maximum(words, 1), 1.0), 1.0))


# --- CharacTER: blocks of words are shifted, then characters are edited


# What is tried for one pair before it is given up, after some seconds: cells of tables that comparisons fill, with what
# a comparison takes besides, and blocks.
_WORK, _EACH, _BLOCKS = 50_000_000_000, 20_000, 1_000_000
_WORDS = 0x10000  # letters that stand for words
_AT_ONCE = 512  # shifts that are compared in one call


@dataclass(frozen=True, kw_only=True)
class CharacTer(Checked, BaseMetric):
    """Shifts and character edits over the characters of the shifted hypothesis; at most 1.

    Blocks of words are shifted first, each time the one that saves most word edits; a shift costs the mean length of
    its words. What is left are edits of characters. The corpus number is the mean of the segments, as in `evaluate`'s
    metric of this name. A blank side gets 1 (flag `empty`); a pair that would take long, such as 1,000 words in random
    order, is undefined (flag `too_long`).

    Args:
        lowercase: compare in lower case.

    References:
        Wang et al. (2016), "CharacTER: Translation Edit Rate on Character Level". Values are those of the authors'
        program as the package cer 1.2 keeps it; it leaves open what holds for several references, and here the best
        counts.
    """

    lowercase: bool = False
    info: ClassVar = MetricInfo(
        "character",
        higher_is_better=False,
        summary="shifts of words and edits of characters, per character of the hypothesis",
        tasks={"mt", "ic"},
        paper='Wang et al. (2016), "CharacTER: Translation Edit Rate on Character Level"',
        flags={"too_long"},
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; a blank side is 1 and has the flag `empty`, a pair that is too long is NaN."""
        fold = str.lower if self.lowercase else str

        def count(pairs: Sequence[Pair]) -> Array:
            values = [character_rate(fold(h).split(), fold(r).split()) for h, r in pairs]
            return np.array(values, dtype=np.float64)[:, np.newaxis]

        return against_best(self, segments, runtime, count)


def character_rate(hypothesis: list[str], reference: list[str]) -> float:
    """CharacTER of two texts in words; NaN if they are too long for the search."""
    if not hypothesis or not reference:
        return 1.0
    # A letter per word: texts that stand in the order of their words, and that are compared fast.
    if len(hypothesis) + len(reference) > _WORDS:
        return float("nan")
    letters = {word: chr(i) for i, word in enumerate(sorted({*hypothesis, *reference}))}
    before, wanted = ("".join(map(letters.__getitem__, words)) for words in (hypothesis, reference))
    after = _shifted(before, wanted)
    if after is None:
        return float("nan")
    words = {letter: word for word, letter in letters.items()}
    text = " ".join(map(words.__getitem__, after))
    edits = Levenshtein.distance(text, " ".join(reference))
    return min(1.0, (edits + _cost(before, after, words)) / len(text))


def _shifted(text: str, wanted: str) -> str | None:
    """The text after the shifts that each save most word edits; None if there is too much to try."""
    distance, work = Levenshtein.distance(text, wanted), 0
    rate = distance / len(wanted)  # as the authors' program keeps it: from sums and differences of fractions
    if sum(n * wanted.count(letter) for letter, n in Counter(text).items()) > _BLOCKS:
        return None
    while distance:
        fewest = distance if rate > distance / len(wanted) else distance - 1
        found, blocks = "", iter(_blocks(text, wanted))
        while tried := [
            _moved(text, *block) for block in islice(blocks, _AT_ONCE) if distance - 2 * block[2] <= fewest
        ]:
            work += len(tried) * (len(text) * len(wanted) + _EACH)
            if work > _WORK:
                return None
            distances = cdist([wanted], tried, scorer=Levenshtein.distance, score_cutoff=fewest)[0]
            if distances.min() <= fewest:
                best = [tried[i] for i in np.flatnonzero(distances == distances.min())]
                found = max([*best, found] if distances.min() == fewest else best)
                fewest = int(distances.min())
        if not found:
            break
        text, distance = found, fewest
        rate -= rate - distance / len(wanted)
    return text


def _moved(text: str, start: int, place: int, length: int) -> str:
    """The text with a block taken out, and put before a place of the rest."""
    rest = text[:start] + text[start + length :]
    return rest[:place] + text[start : start + length] + rest[place:]


def _blocks(text: str, wanted: str) -> list[tuple[int, int, int]]:
    """Where a block begins in each text, and its length: all that stand at different places; long ones first."""
    places = defaultdict(list)
    for j, letter in enumerate(wanted):
        places[letter].append(j)
    found, lengths = [], dict[int, int]()  # of blocks that begin at a place of the other, seen from the end
    for i in range(len(text) - 1, -1, -1):
        lengths = {j: lengths.get(j + 1, 0) + 1 for j in places[text[i]]}
        found += [(i, j, length) for j, length in lengths.items() if i != j]
    return sorted(found, key=lambda block: -block[2])


def _cost(before: str, after: str, words: dict[str, str]) -> float:
    """The cost of shifts: for each block that stands elsewhere now, the mean length of its words."""
    cost, i, n = 0.0, 0, len(before)
    while i < n:
        start, i = i, i + 1
        place = after.find(before[start], i) if before[start] != after[start] else -1
        if place < 0:
            continue
        length = 1
        while place + length < n and before[start + length] == after[place + length]:
            length += 1
        cost += sum(len(words[letter]) for letter in before[start : start + length]) / length
        i = start + length
    return cost
