"""PARENT: n-grams of a text that its reference or its records support, and records that it mentions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from rapidfuzz.distance import LCSseq

from nlgauge.core.errors import InputError
from nlgauge.core.metric import check_needs, signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import sacrebleu
from nlgauge.metrics.lexical.ngrams import Gram, WordMetric, Words, grams
from nlgauge.runtime.runtime import Runtime

_TRIPLE = ("subject", "predicate", "object")
# A slot is `attribute=value`. A quoted value ends at the quote that a separator follows, so that it may hold others.
_END = r"(?=\s*(?:[,;)]|$)|[^\S\n\t]*[\n\t])"
_VALUE = rf"""(?>'.*?'{_END}|".*?"{_END}|(?!['"])[^,;()\n\t]*+)[^\S\n\t]*+"""
_NAME = r"""[^=,;()'"\n\t]++=[^\S\n\t]*+"""
_SLOT = re.compile(rf"{_NAME}({_VALUE})")
_SLOTS = rf"{_NAME}{_VALUE}(?>(?:[,;\n\t]\s*+{_NAME}{_VALUE})*)[,;]?\s*+"
_ACT = rf"\??\w*+\s*+\(\s*+(?:{_SLOTS})?\)"
_ACTS, _BARE = re.compile(rf"\s*+{_ACT}(?>(?:[\s&,;]*+{_ACT})*)[\s,;]*+"), re.compile(rf"\s*+{_SLOTS}")
_BETWEEN = re.compile(r"\s*[;\n\t]\s*")
_FORMS = (
    'expected a pair [attribute, value], a triple [subject, predicate, object], an object, or "subject | predicate |'
    ' object", each value a text or a number'
)


def values_of_table(segment: Segment) -> tuple[str, ...]:
    """The records of the segment's table.

    Of a pair (attribute, value) that is the value; of a triple, subject and object. An object is a triple if it has
    subject, predicate and object, and else one pair per field. A record without a value (null) says nothing.

    Raises:
        InputError: a record has none of these forms.
    """
    values: list[str] = []
    for place, record in enumerate(segment.table):
        said = _said(record)
        if said is None:
            raise InputError(f"segment {segment.id!r}: table[{place}] is {str(record)[:60]!r}, {_FORMS}")
        values += said
    return tuple(values)


def values_of_source(segment: Segment) -> tuple[str, ...]:
    """The records of the segment's source.

    The source is `subject | predicate | object ; ...`, `attribute | value ; ...`, or `act(attribute=value, ...)`. A
    value with a separator or a bracket in it stands in quotes.

    Raises:
        InputError: it has none of these forms.
    """
    text = segment.source or ""
    is_act = _ACTS.fullmatch(text) is not None
    if "|" in text and not is_act:
        listed = [_said(record) for record in _BETWEEN.split(text) if record]
        if all(said is not None for said in listed):
            return tuple(value for said in listed if said is not None for value in said)
    elif is_act or _BARE.fullmatch(text):
        values = tuple(_plain(value.strip().strip("'\" ")) for value in _SLOT.findall(text))
        if is_act or any(values):
            return values
    raise InputError(
        f"segment {segment.id!r}: source is {text[:60]!r}, expected records like 'subject | predicate | object ;"
        " ...' or 'act(attribute=value, ...)', with quotes around a value that has a comma or a bracket"
    )


def _said(record: Any) -> list[str] | None:
    if isinstance(record, str):
        record = [part.strip().strip('"') for part in record.split("|")]
    if isinstance(record, Mapping):
        if set(_TRIPLE) <= record.keys():
            record = [record[name] for name in _TRIPLE]
        else:
            record = [record[name] for name in record]
            return None if any(map(_is_nested, record)) else [_plain(one) for one in record if not _is_absent(one)]
    if not isinstance(record, Sequence) or len(record) not in (2, 3) or any(map(_is_nested, record)):
        return None
    said = [_plain(one) for one in (record[:1] if len(record) == 3 else ()) if not _is_absent(one)]
    return [] if _is_absent(record[-1]) else [" ".join([*said, _plain(record[-1])])]


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str))


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> str:
    return str(value).replace("_", " ")  # as names are written in triples


# --- PARENT: n-grams of a text that a reference or the records behind it support, and records that the text mentions

_LITTLE = 1e-5  # in place of a precision or recall of 0
_NO_DIVISION_BY_0 = 1e-8
_PARTS = ("precision", "recall", "reference")
_INFO = MetricInfo(
    "parent",
    needs={"references", "table"},
    copy_is_best=False,
    summary="n-grams supported by reference or records, and records mentioned; records that no reference says count",
    tasks={"d2t"},
    paper='Dhingra et al. (2019), "Handling Divergent Reference Texts when Evaluating Table-to-Text Generation"',
)


@dataclass(frozen=True, kw_only=True)
class Parent(WordMetric):
    """PARENT with the word-overlap model, as the authors' program computes it from the same words.

    For texts made from records, whose references say too much or too little. Precision: an n-gram is right if the
    reference has it, and partly right if the records have its words. Recall: of the reference only n-grams count
    whose words the records have, and the records themselves should be mentioned. The value is F1.

    A record in the field `table` is a pair `["area", "riverside"]`, a triple `["The_Eagle", "area", "riverside"]`
    or object with `subject`, `predicate` and `object`, another object (a pair per field), or a text "The_Eagle |
    area | riverside"; a null value says nothing. With `records=source` the source holds such texts with `;`, a tab
    or a line feed between them (WebNLG), or an act such as `inform(name='The Eagle',area=riverside)` (BAGEL), in
    which a value with a comma, semicolon or bracket stands in quotes. `_` counts as a blank.

    Records and words are compared as written: "by the river" is not "riverside". A copy is not best where the reference
    leaves records out. A side without a word scores 0. Their program splits at blanks (`tokenizer=blanks`).

    Args:
        max_ngram_order: longest n-gram counted.
        weight: how much the recall of records counts against that of the reference, the paper's lambda. None takes
            the share of the records that the reference leaves out, as the paper's section 3.3 proposes.
        records: where the records are: in `table`, or written in one line in `source`.

    References:
        Dhingra et al. (2019), "Handling Divergent Reference Texts when Evaluating Table-to-Text Generation". Of several
        references the one with the best F score counts. Unlike in the program, a reference without words scores 0:
        there it would be a perfect match in recall.
    """

    lowercase: bool = True
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    weight: Annotated[float, Range(least=0, most=1)] | None = 0.5
    records: Literal["table", "source"] = "table"
    info: ClassVar = _INFO
    lacking: ClassVar = {"table": "; if its source holds the records, take parent:records=source"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.records == "source":
            object.__setattr__(self, "info", replace(_INFO, needs={"references", "source"}))

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse records in a form that is not known."""
        for segment in segments:
            self._values(segment)

    def _values(self, segment: Segment) -> tuple[str, ...]:
        return values_of_table(segment) if self.records == "table" else values_of_source(segment)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1, the F score; parts `precision`, `recall` and `reference`, the index of the best one.

        The corpus number is the mean. A side without words, or no record with a word, raises the flag `empty` if it
        is blank, and else `untokenized`; without words of hypothesis or reference the value is 0.
        """
        check_needs(self, segments)
        split, known = self.splitter(), {}
        rows = np.zeros((len(segments), 1 + len(_PARTS)))  # (n, 4)
        empty, wordless = sacrebleu.is_empty(segments), np.zeros(len(segments), dtype=np.bool_)
        with runtime.progress(len(segments), "parent") as advance:
            for place, segment in enumerate(segments):
                values = self._values(segment)
                key = segment.hypothesis, segment.references, values
                if key not in known:
                    listed = [words for words in map(split, values) if words]
                    hypothesis, references = split(segment.hypothesis), [split(r) for r in segment.references]
                    lost = not hypothesis or not any(references) or not listed
                    known[key] = self._best(hypothesis, references, listed), lost
                rows[place], wordless[place] = known[key]
                advance(1)
        parts = {name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(_PARTS, start=1)}
        flags = {"empty": empty, "untokenized": wordless & ~empty}
        return Scores(signature_of(self, runtime), ids(segments), rows[:, 0], parts, flags=flags)

    def _best(
        self, hypothesis: Words, references: Sequence[Words], records: Sequence[Words]
    ) -> tuple[float, float, float, int]:
        """F score, precision and recall against the best reference, and which it is."""
        said = {word for record in records for word in record}
        ours = [_weighed(hypothesis, order, said) for order in range(1, self.max_ngram_order + 1)]
        mentioned = _mentioned(records, hypothesis)
        singles = [self._single(ours, reference, records, said, mentioned) for reference in references]
        place = max(range(len(singles)), key=lambda i: singles[i][0])
        return *singles[place], place

    def _single(
        self, ours: Sequence[_Weighed], reference: Words, records: Sequence[Words], said: Set[str], mentioned: float
    ) -> tuple[float, float, float]:
        if not reference or not ours[0].counts:
            return 0.0, 0.0, 0.0
        precisions, recalls = [], []
        for order, mine in enumerate(ours, start=1):
            theirs = _weighed(reference, order, said)
            precisions.append(_precision(mine, theirs.counts))
            recalls.append(_recall(theirs, mine.counts))
        precision = _geometric_mean(precisions)
        weight = 1 - _mentioned(records, reference) if self.weight is None else self.weight
        of_reference = _geometric_mean(recalls) or _LITTLE
        recall = of_reference ** (1 - weight) * (mentioned or _LITTLE) ** weight
        return 2 * precision * recall / (precision + recall + _NO_DIVISION_BY_0), precision, recall


@dataclass(frozen=True)
class _Weighed:
    """N-grams of one order: how often each occurs, and the share of its words that the records have."""

    counts: Counter[Gram]
    shares: dict[Gram, float]


def _weighed(words: Words, order: int, said: Set[str]) -> _Weighed:
    counts = grams(words, order)
    return _Weighed(counts, {gram: sum(word in said for word in gram) / order for gram in counts})


def _precision(ours: _Weighed, theirs: Counter[Gram]) -> float:
    """Words of the reference count whole, others as far as the records have them."""
    total = ours.counts.total()
    found = 0.0
    for gram, count in ours.counts.items():
        matched = min(count, theirs[gram])
        found += matched + (count - matched) * ours.shares[gram]
    return found / total if total else 0.0


def _recall(theirs: _Weighed, ours: Counter[Gram]) -> float:
    """Only what the records have counts."""
    total = sum(count * theirs.shares[gram] for gram, count in theirs.counts.items())
    found = sum(min(count, ours[gram]) * theirs.shares[gram] for gram, count in theirs.counts.items())
    return found / total if total else 1.0


def _mentioned(records: Sequence[Words], words: Words) -> float:
    """The mean share of a record's words that a text has in the same order."""
    return sum(LCSseq.similarity(r, words) / len(r) for r in records) / len(records) if records else 0.0


def _geometric_mean(shares: Sequence[float]) -> float:
    """Of the orders; 0 if no single word matches, while a longer n-gram that has no match counts little."""
    if shares[0] == 0:
        return 0.0
    return math.exp(math.fsum(math.log(share or _LITTLE) for share in shares) / len(shares))
