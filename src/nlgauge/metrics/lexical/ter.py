"""TER: edits with shifts of word blocks, per word of the reference. An error rate: lower is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.lexical import sacre
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing


@dataclass(frozen=True, kw_only=True)
class Ter(BaseMetric):
    """Translation edit rate as sacrebleu computes it after Tercom; its options under its names.

    Args:
        normalized: split off punctuation and undo XML entities first.
        no_punct: drop punctuation.
        asian_support: with `normalized`, split CJK text into characters; with `no_punct`, drop its punctuation too.
            Alone it would do nothing, and is refused.
        case_sensitive: keep case; otherwise both sides are lower-cased.

    References:
        Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation". Of several references
        the fewest edits count, over the references' mean length.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False
    info: ClassVar = MetricInfo(
        "ter",
        range=(0.0, float("inf")),
        higher_is_better=False,
        summary="edits with shifts per reference word",
        tasks={"mt", "d2t"},
        paper='Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.asian_support and not (self.normalized or self.no_punct):
            raise SpecError("ter:asian_support changes nothing without normalized=true or no_punct=true; leave it out")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """sacrebleu's version."""
        return {"sacrebleu": version("sacrebleu")}

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the options that split them."""
        asian = writing.script in ("Han", "Kana")
        if writing.spaced or (asian and self.normalized and self.asian_support):
            return None
        advice = "take normalized=true,asian_support=true" if asian else "take chrf, which counts characters"
        return f"ter splits words at blanks, of which they have few; {advice}"

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature."""
        return sacre.signature(self._scorer(), references)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in percent, 0 or more; `stats` are (edits, mean reference length).

        The flag `empty` marks one blank side, and `too_long` a pair whose edits cannot be counted in bounded time: its
        value is NaN, and the corpus number leaves it out. As in sacrebleu, an empty hypothesis costs one edit per word
        (100), a text against an empty reference scores 100, and two empty texts (`both_empty`) score 0.
        """
        check_needs(self, segments)
        stats = sacre.statistics(self._scorer(), segments, 2, runtime, "ter")
        too_long = np.isnan(stats[:, 0])
        empty = sacre.is_empty(segments)
        both_empty = empty & ~stats.any(axis=1)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            np.where(too_long, np.nan, self.corpus(stats)),
            stats=np.where(too_long[:, None], 0.0, stats),
            finish=self.corpus,
            flags={"empty": empty & ~both_empty, "both_empty": both_empty, "too_long": too_long},
            higher_is_better=False,
        )

    def corpus(self, totals: Array) -> Array:
        """TER of summed statistics: shape (..., 2) to (...), in percent."""
        totals = sacre.floats(totals)
        edits, words = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(words > 0, edits / words, np.where(edits > 0, 1.0, 0.0))
        return np.asarray(100 * rate.astype(totals.dtype))

    def _scorer(self) -> Any:
        return sacre.ter_scorer(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )
