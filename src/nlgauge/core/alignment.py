"""The alignment of two texts, token by token, as a matching metric computed it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.forms import made
from nlgauge.core.result import NewRow, Result
from nlgauge.core.signature import Signature

_MEASURES = ("precision", "recall", "f1")


@by_value
@dataclass(frozen=True, repr=False)
class Alignment:
    """Token similarities of one hypothesis (n tokens) and one reference (m tokens).

    Tokens are words. The pieces of a word are joined, and the similarity of two words is the highest similarity between
    any of their pieces.

    Attributes:
        hypothesis: the words of the hypothesis, n of them.
        reference: the words of the reference, m of them.
        similarities: cosine, shape (n, m), in [-1, 1].
        hypothesis_weights: share of each word in precision, shape (n,), sums to 1 over the words that count.
        reference_weights: share of each word in recall, shape (m,).
        precision: weighted mean of the row maxima, as the metric reports it. `recall` is the same over the columns, and
            `f1` is the harmonic mean of the two.
        signature: the signature of the metric that made the alignment.
    """

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    similarities: Array
    hypothesis_weights: Array
    reference_weights: Array
    precision: float
    recall: float
    f1: float
    signature: Signature

    @property
    def hypothesis_matches(self) -> list[int | None]:
        """The reference word that each hypothesis word is matched to; None where the reference is empty.

        If several reference words are equally similar, the first one is taken.
        """
        return (
            [int(i) for i in np.argmax(self.similarities, axis=1)]
            if len(self.reference)
            else [None] * len(self.hypothesis)
        )

    @property
    def reference_matches(self) -> list[int | None]:
        """For each word of the reference, the hypothesis word that it is matched to."""
        return (
            [int(i) for i in np.argmax(self.similarities, axis=0)]
            if len(self.hypothesis)
            else [None] * len(self.reference)
        )

    def __repr__(self) -> str:
        measures = ", ".join(f"{name} {getattr(self, name):.4f}" for name in _MEASURES)
        return f"Alignment({len(self.hypothesis)} words with {len(self.reference)}: {measures})"

    def svg(self) -> str:
        """The picture as one SVG document."""
        return str(made("svg", self))

    def html(self) -> str:
        """The picture, and under it a table of each side, as one self-contained HTML file."""
        return str(made("page", self))

    def _repr_html_(self) -> str:
        """The picture, in a notebook."""
        return self.svg()

    def result(self, spec: str | None = None) -> Result:
        """The result file: precision, recall and F first, then one row per word with its weight and its match.

        Args:
            spec: what the file calls the metric; None for the specification that rebuilds it.
        """
        measured: list[NewRow] = [{"side": None, "part": part, "value": getattr(self, part)} for part in _MEASURES]
        hypothesis = (self.hypothesis, self.hypothesis_weights, self.hypothesis_matches)
        reference = (self.reference, self.reference_weights, self.reference_matches)
        words = [
            *_side("hypothesis", hypothesis, self.reference, self.similarities),
            *_side("reference", reference, self.hypothesis, self.similarities.T),
        ]
        signature = str(self.signature)
        metric = {"spec": spec or self.signature.spec, "signature": signature, "higher_is_better": True}
        return Result("align", [*measured, *words], metrics=[metric])

    @classmethod
    def of(cls, result: Result) -> Alignment:
        """The alignment that a result of kind `align` holds, such as one that was read from its file."""
        sides = {side: [row for row in result.rows if row["side"] == side] for side in ("hypothesis", "reference")}
        hypothesis, reference = sides.values()
        name, _, entries = str(result.metrics[0]["signature"]).partition(":")
        measured = {row["part"]: row["value"] for row in result.rows if row["side"] is None}
        return cls(
            tuple(str(row["word"]) for row in hypothesis),
            tuple(str(row["word"]) for row in reference),
            np.array([row["similarities"] for row in hypothesis], dtype=np.float64).reshape(
                len(hypothesis), len(reference)
            ),
            np.array([row["weight"] for row in hypothesis], dtype=np.float64),
            np.array([row["weight"] for row in reference], dtype=np.float64),
            **{part: math.nan if measured[part] is None else float(measured[part]) for part in _MEASURES},
            signature=Signature(str(result.metrics[0]["spec"]), ((name, entries),)),
        )


def _side(
    side: str, own: tuple[Sequence[str], Array, Sequence[int | None]], others: Sequence[str], similarities: Array
) -> list[NewRow]:
    """One row per word of a side."""
    return [
        {
            "side": side,
            "index": i,
            "word": word,
            "weight": float(weight),
            "match": match,
            "matched": None if match is None else others[match],
            "similarity": None if match is None else float(similarities[i, match]),
            "similarities": [float(x) for x in similarities[i]],
        }
        for i, (word, weight, match) in enumerate(zip(*own, strict=True))
    ]
