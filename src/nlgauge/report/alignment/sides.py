"""The content of an alignment in every form: words with their matches, the three scores, and what is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nlgauge.core.marks import Alignment
from nlgauge.report.labels import clean


@dataclass(frozen=True)
class Match:
    """One word and the word of the other side that is most similar to it.

    Attributes:
        word: the word as it is shown.
        index: its position among the words of its side.
        matched: the word that it is matched to, as it is shown.
        matched_index: the position of that word.
        similarity: the similarity of the two, in [-1, 1].
        weight: the share of the word in precision (hypothesis) or recall (reference), in [0, 1].
    """

    word: str
    index: int
    matched: str
    matched_index: int
    similarity: float
    weight: float


def matches(alignment: Alignment) -> tuple[list[Match], list[Match]]:
    """One match per word of the hypothesis, and one per word of the reference; none where the other side is empty."""
    hypothesis, reference = (tuple(map(clean, words)) for words in (alignment.hypothesis, alignment.reference))
    similarities = alignment.similarities
    return (
        [
            Match(hypothesis[i], i, reference[j], j, float(similarities[i, j]), float(alignment.hypothesis_weights[i]))
            for i, j in enumerate(alignment.hypothesis_matches)
            if j is not None
        ],
        [
            Match(reference[j], j, hypothesis[i], i, float(similarities[i, j]), float(alignment.reference_weights[j]))
            for j, i in enumerate(alignment.reference_matches)
            if i is not None
        ],
    )


def measures(alignment: Alignment) -> tuple[tuple[str, str], ...]:
    """Name and value of precision, recall and F1, in words and digits."""
    values = (("precision", alignment.precision), ("recall", alignment.recall), ("F1", alignment.f1))
    return tuple((name, "undefined" if math.isnan(value) else f"{value:.3f}") for name, value in values)


def summary(alignment: Alignment) -> str:
    """The three numbers in one line."""
    return "  ".join(f"{name} {value}" for name, value in measures(alignment))


def empty_sides(alignment: Alignment) -> str:
    """A sentence that names the sides without words; nothing where both have some."""
    if alignment.hypothesis and alignment.reference:
        return ""
    if not alignment.hypothesis and not alignment.reference:
        return "Both texts are empty: there is nothing to match."
    return f"The {'reference' if alignment.hypothesis else 'hypothesis'} is empty: there is nothing to match."
