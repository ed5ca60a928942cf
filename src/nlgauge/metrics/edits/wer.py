"""Word and character error rates: insertions, deletions and replacements against the reference, as in jiwer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Levenshtein

from nlgauge.core.arrays import Array
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.counting import Pair, WordMetric, against_best, error_rate, rate
from nlgauge.runtime.runtime import Runtime

_MORRIS = (
    'Morris et al. (2004), "From WER and RIL to MER and WIL: improved evaluation measures for connected speech'
    ' recognition"'
)
_WHITE = re.compile(r"[^\S ]")
_LEVENSHTEIN = 'Levenshtein (1966), "Binary codes capable of correcting deletions, insertions, and reversals"'


@dataclass(frozen=True, kw_only=True)
class Wer(WordMetric):
    """Word error rate: the fewest word edits over the words of the reference.

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
        fold = str.lower if self.lowercase else str

        def count(pairs: Sequence[Pair]) -> Array:
            folded = ((_WHITE.sub(" ", fold(h.strip())), _WHITE.sub(" ", fold(r.strip()))) for h, r in pairs)
            return np.array([(Levenshtein.distance(r, h), len(r)) for h, r in folded], dtype=np.float64)

        return against_best(self, segments, runtime, count, rate, 2)


@dataclass(frozen=True, kw_only=True)
class _Aligned(WordMetric):
    """A metric of the hits and edits of an alignment."""

    k: ClassVar = 4

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Hits, words of the hypothesis, words of the reference, and edits."""
        return _aligned(hypothesis, reference)


@dataclass(frozen=True, kw_only=True)
class Mer(_Aligned):
    """Match error rate: word edits over edits and matches, so that it ends at 1.

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

    References:
        Morris et al. (2004). Values are those of jiwer 4.0 with its tokenizer, except for two blank texts: 1
        here, 0 there.
    """

    info: ClassVar = error_rate("wil", "1 - wip, the word information that is lost", _MORRIS, most=1.0)

    def corpus(self, totals: Array) -> Array:
        """WIL of summed counts: shape (..., 4) to (...)."""
        return np.asarray(1 - super().corpus(totals))


def _aligned(hypothesis: list[str], reference: list[str]) -> tuple[int, int, int, int]:
    """Hits, lengths and edits of an alignment with the fewest edits; of several such the one that jiwer takes, too."""
    hits = edits = 0
    for step in Levenshtein.opcodes(reference, hypothesis):
        length = max(step.src_end - step.src_start, step.dest_end - step.dest_start)
        if step.tag == "equal":
            hits += length
        else:
            edits += length
    return hits, len(hypothesis), len(reference), edits
