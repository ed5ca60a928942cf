"""The common part of metrics of edits: the best of several references, rates of summed counts, words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import Finish, MetricInfo, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.references import over_references
from nlgauge.runtime.runtime import Runtime
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
class WordMetric(Checked, BaseMetric):
    """Options of a metric that compares words; `count` says what of a pair, `corpus` makes rates of the sums.

    Args:
        lowercase: compare in lower case.
        tokenizer: `blanks` splits at white space of any kind; `jiwer` as that package, at blanks after runs of white
            space became one blank, so that a single tab or no-break space joins two words; `unicode` finds the words
            of any script and drops punctuation.
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
