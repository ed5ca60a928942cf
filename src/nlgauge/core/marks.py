"""What a metric marked in a text: its alignment with another text, and its errors by their place."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.doors import made
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow, Outcome, Result
from nlgauge.core.spec import Signature

_MEASURES = ("precision", "recall", "f1")


@by_value
@dataclass(frozen=True, repr=False)
class Alignment:
    """Token similarities of one hypothesis (n tokens) and one reference (m tokens).

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
        """The reference word that each hypothesis word is matched to, of equals the first; None where there is none."""
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


# --- Errors of a text by their place: spans with severities, and the texts that they were found in

Side = Literal["hyp", "ref", "src"]
Severity = Literal["minor", "major"]
SIDES: tuple[str, ...] = get_args(Side)
SEVERITIES: tuple[str, ...] = get_args(Severity)
PENALTIES: Mapping[str, float] = {"minor": 1.0, "major": 5.0}
OF_NOTHING = 25.0  # for a text that says nothing: what MQM takes off for "non-translation", five major errors


@dataclass(frozen=True, order=True, slots=True)
class ErrorSpan:
    """An error at a place of a text.

    Attributes:
        start: the first character, from 0.
        end: the place behind the last character; equal to `start` for something that is missing.
        severity: `minor` or `major`.
        side: the text: the hypothesis (`hyp`), the reference (`ref`) or the source (`src`).
        category: what kind of error it is; None where that is not known.
        missing: whether something is missing at this place of the hypothesis.
        confidence: how sure of the error its finder is, on a scale of its own; None where it does not say. Spans that
            differ in nothing else are equal.

    Raises:
        InputError: a side or a severity is unknown, a place is not a number from 0 on, the end is before the start, or
            the confidence is no finite number.
    """

    start: int
    end: int
    severity: Severity
    side: Side = "hyp"
    category: str | None = None
    missing: bool = False
    confidence: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, value, among in (("side", self.side, SIDES), ("severity", self.severity, SEVERITIES)):
            if value not in among:
                raise InputError(f"{name} of a span is {value!r:.40}, expected {' or '.join(among)}")
        if type(self.start) is not int or type(self.end) is not int or not 0 <= self.start <= self.end:
            raise InputError(
                f"a span goes from {self.start!r:.40} to {self.end!r:.40}, expected whole numbers from 0 on, in order"
            )
        if self.confidence is not None and not _is_finite(self.confidence):
            raise InputError(f"confidence of a span is {self.confidence!r:.40}, expected a number")

    def as_row(self) -> dict[str, Any]:
        """The span as JSON holds it."""
        return {
            "side": self.side,
            "start": self.start,
            "end": self.end,
            "severity": self.severity,
            "category": self.category,
            "missing": self.missing,
            "confidence": self.confidence,
        }


@dataclass(frozen=True)
class Explanation:
    """The errors found in one hypothesis.

    Attributes:
        id: the key of the segment.
        hypothesis: the text that is marked.
        others: the texts that it was compared with.
        spans: the errors, by their place.
        system: who wrote the hypothesis; None if the data do not say.
        item: the input that the hypothesis was written for; None if the data do not say.
        claims: of method `evidence`, a row for each sentence, as `metrics.faithful.Evidence.rows` makes them.
        says_nothing: whether everything is missing.
    """

    id: str
    hypothesis: str
    others: tuple[str, ...]
    spans: tuple[ErrorSpan, ...]
    system: str | None = None
    item: str | None = None
    claims: tuple[Mapping[str, Any], ...] = ()
    says_nothing: bool = False

    @property
    def score(self) -> float:
        """Minus the penalties: 5 for a major error, 1 for a minor one; 25 for a text that says nothing; or 0."""
        return -OF_NOTHING if self.says_nothing else 0.0 - sum(PENALTIES[span.severity] for span in self.spans)

    def as_row(self) -> NewRow:
        """The row of the result file."""
        return {
            "id": self.id,
            "system": self.system,
            "seg": self.item,
            "hyp": self.hypothesis,
            "against": list(self.others),
            "score": self.score,
            "spans": [span.as_row() for span in self.spans],
            **({"claims": list(self.claims)} if self.claims else {}),
        }


@dataclass(frozen=True, repr=False)
class Explanations(Outcome, Sequence[Explanation]):
    """The errors found in n hypotheses, in the order of the segments.

    Attributes:
        rows: one explanation per hypothesis.
        method: what found the errors: its name, its signature, and that a higher score is better.
        notes: what a reader must know.
    """

    rows: tuple[Explanation, ...]
    method: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rows)

    def result(self, inputs: Iterable[Mapping[str, str]] = ()) -> Result:
        """The result file: one row per hypothesis, with its score and its spans.

        Args:
            inputs: the files that were read.
        """
        return Result("explain", [one.as_row() for one in self.rows], list(inputs), [self.method], self.notes)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
