"""Texts with errors at known places, to train and to measure a head that marks words: read from JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity
from nlgauge.core.segment import is_blank
from nlgauge.io.files import Faults, InputFile
from nlgauge.io.marked import errors_of
from nlgauge.io.rows import JsonRows
from nlgauge.scoring.explaining import Worded
from nlgauge.training.edited import PlacedEdit, spans_of_edits
from nlgauge.training.spans import UNKNOWN, MarkedPair

_SHAPE = (
    "expected hyp with ref and spans (as of nlgauge explain -o), better and worse (as of nlgauge perturb), or hyp with"
    " refs and steps (as of nlgauge synth)"
)
_FLUENCY = "fluency"  # errors of this criterion of a checklist are minor, and those of these perturbations
_MINOR = frozenset({"typos", "subject_verb_disagreement", "repeat_phrases"})
_MAJOR = -5.0  # the severity of a step from which on it is major
_LABELS: Mapping[Severity, int] = {"minor": 1, "major": 2}


@dataclass(frozen=True)
class SpanExample:
    """A text with known errors, beside a text without.

    Attributes:
        text: the text.
        other: what it is compared with.
        spans: the errors in the text, and the places where something is missing; None where only `faulty` is known.
        faulty: whether the text has an error at all; None where the spans say so, or nobody knows.
        gaps: whether the spans tell what is missing, too.
    """

    text: str
    other: str
    spans: tuple[ErrorSpan, ...] | None
    faulty: bool | None = None
    gaps: bool = True

    def labelled(self) -> MarkedPair:
        """The labels of its words, as a network learns them."""
        worded = Worded.of(self.text)
        n = len(worded.places)
        labels = [UNKNOWN if self.spans is None else 0] * n
        missing = [0 if self.gaps and self.spans is not None else UNKNOWN] * (n + 1)
        for span in self.spans or ():
            if span.missing:
                missing[next((i for i, (start, _) in enumerate(worded.places) if start >= span.start), -1)] = 1
                continue
            for i, (start, end) in enumerate(worded.places):
                if span.start < end and start < span.end:
                    labels[i] = max(labels[i], _LABELS[span.severity])
        return MarkedPair(worded.words, Worded.of(self.other).words, tuple(labels), tuple(missing), self.faulty)


def read_span_examples(file: InputFile) -> list[SpanExample]:
    """The examples of a JSON lines file, plain or gzip. A row has one of three forms, and an example per reference.

    - Marked texts: `hyp`, `ref` or `refs` (or `against`, as `nlgauge explain -o` writes it), and `spans` or `errors`.
      `faulty` may say whether the text has an error, and `gaps` be false where nobody looked for what is missing. A
      row whose errors are null teaches only what `faulty` says, and is left out without it: nobody looked for any.
    - Pairs of `nlgauge perturb -o FILE.jsonl`: the errors are at the edits. They are minor if they are of the criterion
      fluency, typos, wrong agreement or repetitions, and else as their words tell; there are none where the change
      should cost nothing. The text before the change beside another reference is an example without errors, once.
    - Triples of `nlgauge synth`: the errors are at the steps; -5 is major.

    Raises:
        InputError: a row has another form, a text is blank, edits do not lead to the text, or there is no example; file
            and line are named.
    """
    rows, faults = JsonRows(file), Faults(file.name)
    rows.refuse = faults.add
    examples: list[SpanExample] = []
    clean: set[tuple[str, str]] = set()  # texts before a change, each of which stands in many pairs
    for number, row in rows:
        where = rows.at(number)
        with faults.row(where):
            examples += _examples(row, where, clean)
    faults.check()
    if not examples:
        raise InputError(f"{file.name} holds no examples; {_SHAPE}")
    return examples


def _examples(row: Any, where: str, clean: set[tuple[str, str]]) -> Iterator[SpanExample]:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {type(row).__name__}; {_SHAPE}")
    if "better" in row and "worse" in row:
        yield from _of_pair(row, where, clean)
    elif "steps" in row:
        yield from _of_triple(row, where)
    elif "spans" in row or "errors" in row:
        yield from _of_marks(row, where)
    else:
        raise InputError(f"{where}: fields are {', '.join(map(str, row))[:80]}; {_SHAPE}")


def _of_marks(row: Mapping[str, Any], where: str) -> Iterator[SpanExample]:
    errors = row["spans"] if "spans" in row else row["errors"]
    faulty, gaps = _flag(row, "faulty", None, where), _flag(row, "gaps", True, where)
    if errors is None and faulty is None:
        return
    text, spans = _text(row, "hyp", where), None
    if errors is not None:
        spans = tuple(span for span in errors_of(errors, where, len(text)) if span.side == "hyp")
        if spans and faulty is False:
            raise InputError(f"{where}: faulty is false, but spans has {len(spans)} errors; expected one or the other")
    for other in _others(row, where):
        yield SpanExample(text, other, spans, faulty, gaps is not False)


def _flag(row: Mapping[str, Any], name: str, default: bool | None, where: str) -> bool | None:
    value = row.get(name)
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{where}: {name} is {value!r:.40}, expected true, false or null")
    return default if value is None else value


def _of_pair(row: Mapping[str, Any], where: str, clean: set[tuple[str, str]]) -> Iterator[SpanExample]:
    before, after = _text(row, "better", where), _text(row, "worse", where)
    meta = row.get("meta")
    edits = meta.get("edits") if isinstance(meta, Mapping) else None
    is_minor = row.get("criterion") == _FLUENCY or str(row.get("phenomenon")).partition(":")[0] in _MINOR
    severity: Severity | None = "minor" if is_minor else None
    # All have their places in the first text: from the last one on, none moves the place of another.
    placed = [PlacedEdit(*_cells(edit, where), severity) for edit in reversed(_list(edits, "meta.edits", where))]
    spans = () if row.get("expect") == "same" else _led(before, placed, after, where)
    for other in _others(row, where):
        yield SpanExample(after, other, spans)
        if other != before and (before, other) not in clean:
            clean.add((before, other))
            yield SpanExample(before, other, ())


def _of_triple(row: Mapping[str, Any], where: str) -> Iterator[SpanExample]:
    text, others = _text(row, "hyp", where), _others(row, where)
    placed = []
    for step in _list(row["steps"], "steps", where):
        if not isinstance(step, Mapping):
            raise InputError(f"{where}: a step is {step!r:.40}, expected an object with start, end, new and severity")
        severity = step.get("severity")
        if not isinstance(severity, int | float):
            raise InputError(f"{where}: severity of a step is {severity!r:.40}, expected a number")
        cells = [step.get(name) for name in ("start", "end", "new")]
        placed.append(PlacedEdit(*_cells(cells, where), "major" if severity <= _MAJOR else "minor"))
    original = _text(row, "original", where) if "original" in row else others[0]
    spans = _led(original, placed, text, where)
    for other in others:
        yield SpanExample(text, other, spans)


def _led(before: str, edits: Sequence[PlacedEdit], after: str, where: str) -> tuple[ErrorSpan, ...]:
    """The errors of a text that some edits lead to."""
    try:
        made, spans = spans_of_edits(before, edits)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None
    if made != after:
        raise InputError(f"{where}: its edits lead to {made!r:.60}, and not to {after!r:.60}; was --legacy-join used?")
    return spans


def _others(row: Mapping[str, Any], where: str) -> list[str]:
    for name in ("ref", "refs", "against"):
        value = row.get(name)
        if value is not None:
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not texts or any(not isinstance(t, str) or is_blank(t) for t in texts):
                raise InputError(f"{where}: {name} is {value!r:.40}, expected a text, or a list of texts")
            return list(dict.fromkeys(texts))
    raise InputError(f"{where}: there is no ref to compare the text with; {_SHAPE}")


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or is_blank(value):
        raise InputError(f"{where}: {name} is {value!r:.40}, expected a text that is not blank")
    return value


def _list(value: Any, name: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(
            f"{where}: {name} is {value!r:.40}, expected a list of edits, as JSON lines of nlgauge have it"
        )
    return value


def _cells(value: Any, where: str) -> tuple[int, int, str]:
    if isinstance(value, list) and len(value) == 3:
        start, end, new = value
        if type(start) is type(end) is int and isinstance(new, str):
            return start, end, new
    raise InputError(f"{where}: an edit is {value!r:.60}, expected start, end and new text")
