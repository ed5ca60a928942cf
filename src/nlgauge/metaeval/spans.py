"""Texts with the marks of people and of methods, joined: by id, or else by system and item."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
from nlgauge.core.options import check_option
from nlgauge.core.result import NewRow, Outcome, Result, Row
from nlgauge.core.segment import Dataset
from nlgauge.core.spec import version
from nlgauge.io.marked import MarkedText
from nlgauge.scoring.explaining import explain
from nlgauge.stats.draws import bootstrap_interval, check_draws, numbered
from nlgauge.stats.significance import paired_bootstrap
from nlgauge.stats.tests import ADJUSTED

Missing = Literal["refuse", "drop"]
Marks = Iterable[MarkedText] | Explanations
_SHOWN = 3  # texts in an error
_TEXT = 40  # characters of a text in an error


def as_texts(marks: Marks) -> Iterator[MarkedText]:
    """Marks of any origin as marked texts."""
    if not isinstance(marks, Explanations):
        yield from marks
        return
    for one in marks:
        yield MarkedText(one.item or one.id, one.system, one.spans, one.hypothesis, id=one.id)


def judged_texts(people: list[MarkedText], exclude: Sequence[str]) -> tuple[list[MarkedText], list[str]]:
    """The texts in which people looked for errors, without systems that are left out, and notes.

    Raises:
        InputError: a system that is to be left out is not there, or nothing remains.
    """
    systems = list(dict.fromkeys(text.system for text in people if text.system is not None))
    for name in exclude:
        if name not in systems:
            raise InputError(f"exclude names {name!r}, which is not among the systems{nearest(name, systems)}")
    kept = [text for text in people if text.system not in exclude]
    seen = [text for text in kept if text.spans is not None]
    notes = []
    if exclude:
        left = len(systems) - len(set(exclude))
        notes.append(f"{left} of {len(systems)} systems (left out: {', '.join(exclude)})")
    if len(seen) < len(kept):
        notes.append(f"{len(kept) - len(seen)} texts in which nobody looked for errors are left out")
    if not seen:
        raise InputError("there is no text in which people looked for errors")
    return seen, notes


class Index:
    """The marks of a method, to be found by id, or by system and item; its name is for errors.

    Raises:
        InputError: two texts have one id.
    """

    def __init__(self, name: str, marks: Sequence[MarkedText]) -> None:
        self.name = name
        self.ids: dict[str, MarkedText] = {}
        self.pairs: dict[tuple[str | None, str], MarkedText | None] = {}
        for text in marks:
            if text.id is not None and self.ids.setdefault(text.id, text) is not text:
                raise InputError(
                    f"{name} marks the text with id {text.id!r} twice, expected each once; several raters?"
                )
            pair = (text.system, text.item)
            self.pairs[pair] = None if pair in self.pairs else text

    def of(self, people: Sequence[MarkedText]) -> list[MarkedText | None]:
        """The marks of each of these texts; None where the method did not look.

        Raises:
            InputError: the method has another text there, or several, or marks a place outside of it.
        """
        return [self._checked(text) for text in people]

    def _checked(self, text: MarkedText) -> MarkedText | None:
        found = None if text.id is None else self.ids.get(text.id)
        pair = (text.system, text.item)
        if found is None and pair in self.pairs:
            found = self.pairs[pair]
            if found is None:
                raise InputError(
                    f"{self.name} marks {_named(text)} twice, expected each text once; several raters or languages?"
                )
        if found is None or found.spans is None:
            return None
        if text.hypothesis is not None and found.hypothesis not in (None, text.hypothesis):
            raise InputError(
                f"{self.name} marks another text than people at {_named(text)}: {found.hypothesis!r:.{_TEXT}} and"
                f" {text.hypothesis!r:.{_TEXT}}"
            )
        end = max((span.end for span in found.spans if span.side == "hyp"), default=0)
        if text.hypothesis is not None and end > len(text.hypothesis):
            raise InputError(
                f"{self.name} marks character {end} of {_named(text)}, whose text has {len(text.hypothesis)}; do its"
                " ends count bytes?"
            )
        return found


def _named(text: MarkedText) -> str:
    if text.id is not None:
        return f"segment {text.id!r}"
    return f"item {text.item!r}" + ("" if text.system is None else f" of system {text.system!r}")


def known_to_all(
    people: list[MarkedText], found: Mapping[str, list[MarkedText | None]], missing: Missing
) -> tuple[list[MarkedText], dict[str, list[MarkedText]], list[str]]:
    """The texts that every method looked at, its marks of them, and notes; `found` has None where it did not look.

    Raises:
        InputError: a method did not look at a text, and such texts are not dropped; or nothing remains.
    """
    known = np.ones(len(people), dtype=np.bool_)
    notes = []
    for name, own in found.items():
        lacking = [text for text, one in zip(people, own, strict=True) if one is None]
        if not lacking:
            continue
        shown = ", ".join(map(_named, lacking[:_SHOWN])) + (" ..." if len(lacking) > _SHOWN else "")
        told = f"{name} did not look at {len(lacking)} of {len(people)} texts ({shown})"
        if missing == "refuse" or len(lacking) == len(people):
            way = "" if len(lacking) == len(people) else "; missing='drop' (--missing drop) leaves them out for all"
            raise InputError(f"{told}; texts are joined by id, or else by system and item{way}")
        notes.append(f"{told}, which are left out for all")
        known &= np.array([one is not None for one in own])
    if not known.any():
        raise InputError("no text was looked at by all methods")
    places = np.flatnonzero(known).tolist()
    kept = {name: [text for i in places if (text := own[i]) is not None] for name, own in found.items()}
    return [people[i] for i in places], kept, notes


def item_numbers(people: Sequence[MarkedText]) -> Counts:
    """The number of the item of each text, from 0; texts for one input depend on each other."""
    return numbered((text.group, text.item) for text in people)


# --- Marks of errors that are made on the spot, to be held against those of people

SpanMethod = Literal["spans", "words", "everything"]
SPAN_METHODS: tuple[str, ...] = get_args(SpanMethod)


def marks_by(method: SpanMethod, dataset: Dataset) -> Explanations:
    """The errors that a method marks in the hypotheses of a data set.

    Args:
        method: `spans` and `words` as in `nlgauge.explain`; `everything` marks each text from its first to its last
            character, which shows what a measure gives for nothing.
        dataset: the texts.

    Raises:
        InputError: what `nlgauge.explain` raises.
    """
    check_option("method", method, SpanMethod, error=InputError)
    return _everything(dataset) if method == "everything" else explain(dataset, method=method)


def _everything(dataset: Dataset) -> Explanations:
    rows = tuple(
        Explanation(
            segment.id,
            segment.hypothesis,
            (),
            (ErrorSpan(0, len(segment.hypothesis), "major"),) if segment.hypothesis else (),
            segment.system,
            segment.item,
        )
        for segment in dataset
    )
    signature = f"method:everything|nlgauge:{version('nlgauge')}"
    return Explanations(rows, {"spec": "explain:method=everything", "signature": signature, "higher_is_better": True})


# --- How well do marked spans agree? One to one with partial credit, and by character as in WMT

Place = tuple[int, int]
"""Start and end of a span in characters, end exclusive."""
MAJOR, MINOR = "major", "minor"
_HALF = 0.5  # credit for the right place with the wrong severity
_KINDS = 4  # columns of `one_to_one_counts` and `character_counts`


def one_to_one_counts(gold: Sequence[Sequence[Place]], predicted: Sequence[Sequence[Place]]) -> Array:
    """Credits and numbers of spans of each segment, when each span is matched with at most one of the other side.

    Spans are matched so that the sum of both credits is as large as possible. A match earns the overlap divided by the
    length of the predicted span as precision, and divided by the length of the span of people as recall. Severities
    do not count, and neither do spans of no length. This is the measure to steer by: marking everything gains little.

    Args:
        gold: the spans that people marked in each segment, n lists; spans of one list may overlap.
        predicted: likewise.

    Returns:
        Shape (n, 4): credit of precision, number of predicted spans, credit of recall, number of spans of people.
        Sums over segments go into `f1_of_totals`.

    Raises:
        InputError: the lists have unequal lengths.

    References:
        The measure MPP of arXiv 2603.19921, here without severities.
    """
    counts = np.zeros((_same_length(gold, predicted), _KINDS))
    for row, one, other in zip(counts, gold, predicted, strict=True):
        right, said = _long(one), _long(other)
        row[1], row[3] = len(said), len(right)
        if not len(said) or not len(right):
            continue
        overlap = np.minimum(said[:, None, 1], right[None, :, 1]) - np.maximum(said[:, None, 0], right[None, :, 0])
        shared = np.maximum(overlap, 0)  # (predicted, gold)
        precise = shared / (said[:, 1] - said[:, 0])[:, None]
        complete = shared / (right[:, 1] - right[:, 0])[None, :]
        matches = linear_sum_assignment(precise + complete, maximize=True)
        row[0], row[2] = precise[matches].sum(), complete[matches].sum()
    return counts


def character_counts(
    gold: Sequence[Sequence[tuple[int, int, str]]], predicted: Sequence[Sequence[tuple[int, int, str]]]
) -> Array:
    """Characters that both sides mark, of each segment, with half of the credit where severities differ.

    Each severity has the number of spans that cover each character. The smaller number of both sides counts whole; of
    what is left over, the smaller number of both sides over both severities counts half. It rewards long marks.

    Args:
        gold: start, end and severity (`minor`; everything else counts as `major`) of the spans of each segment.
        predicted: likewise.

    Returns:
        Shape (n, 4): credit, marked characters of the predicted spans, the same credit, those of the spans of people.
        Sums over segments go into `f1_of_totals`.

    Raises:
        InputError: the lists have unequal lengths.

    References:
        The script of WMT25's shared task on error spans. It prints precision and recall with their names swapped.
    """
    counts = np.zeros((_same_length(gold, predicted), _KINDS))
    for row, right, said in zip(counts, gold, predicted, strict=True):
        size = max((end for _, end, _ in (*right, *said)), default=0)
        marked, found = _covered(right, size), _covered(said, size)  # (2, size)
        whole = np.minimum(marked, found)
        half = np.minimum((marked - whole).sum(axis=0), (found - whole).sum(axis=0))
        row[0] = row[2] = whole.sum() + _HALF * half.sum()
        row[1], row[3] = found.sum(), marked.sum()
    return counts


def precision_and_recall(counts: Array) -> tuple[float, float]:
    """Precision and recall of the counts of all segments, shape (n, 4), summed; a share of nothing is 1."""
    credit, said, found, right = counts.sum(axis=0).tolist()
    return credit / said if said else 1.0, found / right if right else 1.0


def f1_of_totals(totals: Array) -> Array:
    """F1 of summed counts; a share of nothing is 1.

    Args:
        totals: sums of `one_to_one_counts` or `character_counts`, shape (..., 4).

    Returns:
        Shape (...), in [0, 1].
    """
    credit, said, found, right = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    precision = np.where(said > 0, credit / np.where(said > 0, said, 1), 1.0)
    recall = np.where(right > 0, found / np.where(right > 0, right, 1), 1.0)
    both = precision + recall
    return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0.0)


def span_f1(
    gold: Sequence[Sequence[tuple[int, int, str]]], predicted: Sequence[Sequence[tuple[int, int, str]]]
) -> Array:
    """F1 by character of each segment: 1 if both sides are empty, 0 if one is; its mean is WMT QE 2023's measure.

    Args:
        gold: start, end and severity of the spans of each segment, as in `character_counts`.
        predicted: likewise.

    Returns:
        Shape (n,), in [0, 1].

    References:
        Blain et al. (2023), "Findings of the WMT 2023 Shared Task on Quality Estimation", section on error spans.
    """
    counts = character_counts(gold, predicted)
    both = counts[:, 1] + counts[:, 3]
    return np.where(both > 0, (counts[:, 0] + counts[:, 2]) / np.maximum(both, 1), 1.0)


def clean_counts(gold: Sequence[Sequence[object]], predicted: Sequence[Sequence[object]]) -> Array:
    """Of each segment whether it was left clean, and whether it is: it has no spans of people; shape (n, 2)."""
    counts = np.zeros((_same_length(gold, predicted), 2))
    for row, one, other in zip(counts, gold, predicted, strict=True):
        row[:] = (not len(one) and not len(other), not len(one))
    return counts


def share_of_totals(totals: Array) -> Array:
    """The first of two sums divided by the second, shape (..., 2) to (...); NaN where that is 0."""
    part, whole = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _same_length(gold: Sequence[object], predicted: Sequence[object]) -> int:
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} segments of gold spans but {len(predicted)} of predicted ones")
    return len(gold)


def _long(spans: Sequence[Place]) -> npt.NDArray[np.int64]:
    """The spans that have a length, shape (k, 2)."""
    places = np.array([(start, end) for start, end in spans], dtype=np.int64).reshape(-1, 2)
    return places[places[:, 1] > places[:, 0]]


def _covered(spans: Sequence[tuple[int, int, str]], size: int) -> Array:
    """How many spans cover each character, minor ones and the others, shape (2, size)."""
    counts = np.zeros((2, size))
    for start, end, severity in spans:
        counts[0 if severity.lower() == MINOR else 1, start:end] += 1
    return counts


# --- Marked errors against those that people marked: agreement with intervals, paired tests, thresholds of confidence

ONE_TO_ONE, CHARACTERS, SEGMENTS, LEFT_CLEAN = "one_to_one_f1", "character_f1", "segment_f1", "left_clean"
Spans = Sequence[Sequence[ErrorSpan]]  # of each text
_STEPS = 10  # points of a curve: each leaves out about a tenth of the marks more
_FEW_ITEMS = 50


def _places(spans: Spans) -> list[list[tuple[int, int]]]:
    return [[(span.start, span.end) for span in own if not span.missing] for own in spans]


def _severe(spans: Spans) -> list[list[tuple[int, int, str]]]:
    return [[(span.start, span.end, span.severity) for span in own if not span.missing] for own in spans]


def _by_segment(gold: Spans, said: Spans) -> Array:
    found = span_f1(_severe(gold), _severe(said))
    return np.stack([found, np.ones(len(found))], axis=1)


# Counts of each text, shape (n, k), and what their sums are worth, shape (..., k) to (...).
STATISTICS: Mapping[str, tuple[Callable[[Spans, Spans], Array], Callable[[Array], Array]]] = {
    ONE_TO_ONE: (lambda gold, said: one_to_one_counts(_places(gold), _places(said)), f1_of_totals),
    CHARACTERS: (lambda gold, said: character_counts(_severe(gold), _severe(said)), f1_of_totals),
    SEGMENTS: (_by_segment, share_of_totals),
    LEFT_CLEAN: (clean_counts, share_of_totals),
}


@dataclass(frozen=True, repr=False)
class SpanEvaluation(Outcome):
    """The result of `evaluate_spans`.

    Attributes:
        rows: the rows of the result file; page `reference/results` names their fields.
        people: the texts with the marks of people that were used.
        marks: method -> its marks of each of these texts.
        notes: what was left out and how things were done.
        settings: how methods were compared, as `Result` names it.
        signatures: method -> what is known of how its marks were made.
    """

    rows: tuple[Row, ...]
    people: tuple[MarkedText, ...]
    marks: Mapping[str, Spans]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)

    def value(self, method: str, stat: str = ONE_TO_ONE) -> float:
        """The agreement of a method with people.

        Raises:
            InputError: there is no such method or statistic.
        """
        return float(self.row(method, stat)["value"])

    def row(self, method: str, stat: str = ONE_TO_ONE, against: str | None = None) -> Row:
        """The row of a method and a statistic, or of its test against another method.

        Raises:
            InputError: there is no such row.
        """
        for row in self.rows:
            key = (row["metric"], row["stat"], row.get("against"))
            if key == (method, stat, against) and row.get("threshold") is None:
                return row
        raise InputError(f"no row for method {method!r}, statistic {stat!r}, against {against!r}")

    def columns(self) -> dict[str, Any]:
        """One row per text: what names it, and `segment_f1` of every method, as columns."""
        gold = [_of_hypothesis(text.spans or ()) for text in self.people]
        named: dict[str, Any] = {
            "id": [text.id for text in self.people],
            "system": [text.system for text in self.people],
            "seg": [text.item for text in self.people],
            "rater": [text.rater for text in self.people],
        }
        return named | {
            f"{name}.{SEGMENTS}": span_f1(_severe(gold), _severe(marks)) for name, marks in self.marks.items()
        }

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file; `inputs` lists the files that were read."""
        metrics = [
            {"spec": name, "signature": self.signatures[name], "higher_is_better": True, "flags": {}}
            for name in self.marks
        ]
        return Result("spans", self.rows, inputs, metrics, self.notes, self.settings)


def evaluate_spans(
    people: Iterable[MarkedText],
    methods: Mapping[str, Marks],
    *,
    exclude: Sequence[str] = (),
    missing: Missing = "refuse",
    draws: int = 1000,
    seed: int = 0,
) -> SpanEvaluation:
    """Compare marked errors with those that people marked in the same texts.

    Only errors in the hypothesis count; what is missing at a place has no length and counts for `left_clean` alone, and
    errors without a place do not count. Each text of each rater is one. Texts are joined by id, or else by system and
    item; where both sides hold the text it must be the same.

    - `one_to_one_f1`: each mark is matched with at most one of people, with partial credit, whatever the severity.
    - `character_f1`: characters that both mark, with half of the credit where severities differ (WMT25).
    - `segment_f1`: the same for each text, then the mean; 1 where both marked nothing (WMT QE 2023).
    - `left_clean`: of the texts in which people marked nothing, the share without a mark.

    Judge by the first, beside `everything` of `marks_by` and `left_clean`: who marks every text can have a fair F.
    Boundaries of marks do not change on a curve.

    Args:
        people: texts with the errors that people marked. Those that nobody looked at are left out.
        methods: name -> its marks, as `nlgauge.io.read_marked` or `nlgauge.explain` gives them. Where they have a
            confidence there is a curve, too: agreement when only the surest marks stay.
        exclude: systems to leave out, such as human translations that were rated like systems.
        missing: what becomes of texts that a method did not look at: `refuse` them, or `drop` them for all methods.
        draws: resamples of items (all texts of an item together) for intervals and tests.
        seed: the seed of the draws.

    Returns:
        Rows of `one_to_one_f1`, `character_f1` (both with precision and recall), `segment_f1` and `left_clean` for each
        method, at 95 %, and two-sided paired bootstrap tests between every two.

    Raises:
        InputError: nothing is left to compare, the texts of both sides differ, a method marks a text twice or a place
            outside of it, or an option is out of range.
    """
    check_option("missing", missing, Missing, error=InputError)
    check_draws(draws)
    if not methods:
        raise InputError("no method to compare with people, expected one or more")
    given = {name: list(as_texts(marks)) for name, marks in methods.items()}
    chosen, notes = judged_texts(list(people), exclude)
    looked = {name: Index(name, marks).of(chosen) for name, marks in given.items()}
    chosen, known, more = known_to_all(chosen, looked, missing)
    gold = [_of_hypothesis(text.spans or ()) for text in chosen]
    clusters = item_numbers(chosen)
    marks = {name: [_of_hypothesis(text.spans or ()) for text in own] for name, own in known.items()}
    notes += [*more, *_told(methods), _counted(chosen, gold, clusters)]
    n_items = int(clusters.max()) + 1
    drawn = n_items > 1
    rows: list[NewRow] = []
    for stat, (counts_of, _) in STATISTICS.items():
        counts = np.stack([counts_of(gold, own) for own in marks.values()])  # (methods, texts, k)
        rows += _rows_of(stat, list(marks), counts, clusters, draws, seed)
    for name, own in marks.items():
        rows += _curve(name, gold, own)
    about = f"95 %, {draws} draws of items, seed {seed}"
    notes.append(f"[low, high]: {about}" if drawn else "one item alone says nothing of others: no intervals, no tests")
    if 1 < n_items < _FEW_ITEMS:
        notes.append(
            f"with {n_items} items the bootstrap is too sure: intervals are too narrow, and p-values too small"
        )
    tested = drawn and len(marks) > 1
    if tested:
        notes.append(f"p: paired bootstrap of items, two-sided; {ADJUSTED['none']}")
    settings = {
        "test": "paired_bootstrap" if tested else None,
        "draws": draws if drawn else None,
        "seed": seed if drawn else None,
        "adjust": "none" if tested else None,
        "confidence": 0.95 if drawn else None,
    }
    signatures = {name: _signature(name, marks_of) for name, marks_of in methods.items()}
    return SpanEvaluation(tuple(rows), tuple(chosen), marks, tuple(dict.fromkeys(notes)), settings, signatures)


def _told(methods: Mapping[str, Marks]) -> list[str]:
    """What methods say of their marks."""
    return [
        f"{name}: {note}" for name, marks in methods.items() if isinstance(marks, Explanations) for note in marks.notes
    ]


def _counted(people: Sequence[MarkedText], gold: Spans, clusters: Counts) -> str:
    raters = len({text.rater for text in people})
    return (
        f"{len(people)} texts of {int(clusters.max()) + 1} items{f', {raters} raters' if raters > 1 else ''}; people"
        f" marked {sum(map(len, gold))} errors, and none in {sum(not own for own in gold)} texts"
    )


def _signature(name: str, marks: Marks) -> str:
    if isinstance(marks, Explanations):
        return str(marks.method["signature"])
    return f"marks:{name}|nlgauge:{version('nlgauge')}"


def _of_hypothesis(spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    return [span for span in spans if span.side == "hyp"]


def _rows_of(
    stat: str, names: Sequence[str], counts: Array, clusters: Counts, draws: int, seed: int
) -> Iterator[NewRow]:
    """The values of a statistic, and its tests between methods.

    `counts` has shape (methods, texts, k), and `clusters` the item of each text.
    """
    (_, finish), n_items = STATISTICS[stat], int(clusters.max()) + 1
    sums = np.zeros((len(names), n_items, counts.shape[2]))
    for total, own in zip(sums, counts, strict=True):
        np.add.at(total, clusters, own)
    values = finish(sums.sum(axis=1))
    low = high = np.full(len(names), np.nan)
    if n_items > 1:
        drawn = bootstrap_interval(sums, finish, draws=draws, seed=seed)
        low, high = drawn.low, drawn.high
    for m, name in enumerate(names):
        ends = {"low": float(low[m]), "high": float(high[m])}
        n = int(counts[m, :, 1].sum()) if stat == LEFT_CLEAN else counts.shape[1]
        yield {**_base(name, stat), "value": float(values[m]), **ends, **_parts(stat, counts[m]), "n": n}
    if n_items < 2 or len(names) < 2:
        return
    for i in range(len(names)):
        test = paired_bootstrap(_first(sums, i), finish, draws=draws, seed=seed)
        for place, j in enumerate(m for m in range(len(names)) if m != i):
            yield {
                **_base(names[j], stat),
                "value": float(values[j]),
                "against": names[i],
                "delta": float(test.deltas[place]),
                "delta_low": float(test.delta_low[place]),
                "delta_high": float(test.delta_high[place]),
                "p": float(test.p[place]),
                "p_adjusted": None,
                "test": test.test,
                "alternative": "two-sided",
                "draws": test.draws,
            }


def _first(sums: Array, place: int) -> Array:
    """The sums of all methods, those of one of them first."""
    return np.concatenate([sums[place : place + 1], np.delete(sums, place, axis=0)])


def _base(name: str, stat: str, threshold: float | None = None) -> NewRow:
    return {"metric": name, "stat": stat, "threshold": threshold, "against": None}


def _parts(stat: str, counts: Array) -> NewRow:
    """Precision and recall, of a statistic that has them."""
    if stat not in (ONE_TO_ONE, CHARACTERS):
        return {"precision": None, "recall": None}
    precision, recall = precision_and_recall(counts)
    return {"precision": precision, "recall": recall}


def _curve(name: str, gold: Spans, marks: Spans) -> Iterator[NewRow]:
    """One-to-one agreement and the share left clean when only marks from a confidence on stay.

    Thresholds are confidences of marks, so that each point of the curve leaves out about a tenth of the marks more.
    """
    sure = sorted(span.confidence for own in marks for span in own if span.confidence is not None)
    if not sure or len(sure) < sum(map(len, marks)):
        return
    for threshold in dict.fromkeys(sure[len(sure) * step // _STEPS] for step in range(_STEPS)):
        kept = [[span for span in own if span.confidence is not None and span.confidence >= threshold] for own in marks]
        n_marks = sum(map(len, kept))
        for stat in (ONE_TO_ONE, LEFT_CLEAN):
            counts_of, finish = STATISTICS[stat]
            counts = counts_of(gold, kept)
            value = float(finish(counts.sum(axis=0)))
            base = {**_base(name, stat, threshold), "value": value, "low": math.nan, "high": math.nan}
            n = int(counts[:, 1].sum()) if stat == LEFT_CLEAN else len(gold)
            yield {**base, **_parts(stat, counts), "n": n, "n_marks": n_marks}
