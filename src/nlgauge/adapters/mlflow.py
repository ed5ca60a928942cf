"""Rows that MLflow or inspect_ai hands over one by one, often from several threads: scored alone, by models kept.

What such a tool stores is read later and by others, so a row without a score says why, and every score has its
signature beside it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra, SpecError, nearest
from nlgauge.core.metric import BaseMetric, MetricLike, check_needs, cut_words, signature_of
from nlgauge.core.scores import Note, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import named
from nlgauge.metrics.run import score_segments
from nlgauge.report.tables import listed
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import loggable
from nlgauge.scoring.looks import Looks

_HELD = frozenset(("references", "source"))  # what rows of other tools have besides the text
_OF_ONE = "1 of 1 segments have "
# A process has one set of models, and they are not made to be run by two threads at once.
_one_at_a_time = threading.RLock()


@dataclass(frozen=True, kw_only=True)
class RowScore:
    """The score of one row by one metric.

    Attributes:
        value: the score; None where it is undefined.
        lacking: why there is no score; empty where there is one.
        parts: what the score is made of, such as precision and recall; without undefined ones.
        flags: conditions of the row that are counted elsewhere, such as `empty` and `truncated`.
        notes: the same in words, with what guards and the check of languages say of the texts.
        signature: everything that determines the score.
        higher_is_better: whether a higher value is better.
    """

    value: float | None
    lacking: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str
    higher_is_better: bool


class RowScorer:
    """Metrics that score one row at a time, from any thread.

    Args:
        runtime: device, precision and cache, as in `nlgauge.score`; its models are loaded once.
        where: need of a metric (`references`, `source`) -> where a row should hold it, for errors.

    Raises:
        SpecError: a metric is unknown, scales or weighs by all texts of a call, or reads what rows do not hold.
    """

    def __init__(
        self,
        metrics: MetricLike | Sequence[MetricLike],
        runtime: Runtime | None = None,
        where: Mapping[str, str] | None = None,
    ) -> None:
        self.runtime = runtime or Runtime()
        self.metrics = named(metrics, self.runtime.encoder)
        self._where = where or {}
        self._looks = Looks()
        for spec, built in self.metrics.items():
            _check(spec, built)

    def score(self, hypothesis: str, references: Sequence[str] = (), source: str | None = None) -> dict[str, RowScore]:
        """The scores of one text: specification -> score."""
        row = Segment("row", hypothesis, tuple(references), source)
        with _one_at_a_time:
            lacking = {spec: self._lacking(spec, built, row) for spec, built in self.metrics.items()}
            able = {spec: built for spec, built in self.metrics.items() if not lacking[spec]}
            found = score_segments(able, [row], self.runtime) if able else {}
            notes = self._looks.seen(able, [row]).notes() if able else []
            return {
                spec: _scored(spec, built, found[spec], notes) if spec in found else self._none(built, lacking[spec])
                for spec, built in self.metrics.items()
            }

    def without_text(self, reason: str) -> dict[str, RowScore]:
        """The scores of a row that holds no text: all are undefined, for this reason."""
        with _one_at_a_time:
            return {spec: self._none(built, reason) for spec, built in self.metrics.items()}

    def _lacking(self, spec: str, built: BaseMetric, row: Segment) -> str:
        held = {"references": bool(row.references), "source": row.source is not None}
        for need in sorted(built.info.needs):
            if not held[need]:
                place = f"; expected it in {self._where[need]}" if need in self._where else ""
                return f"{spec} needs {need}, and the row has none{place}"
        try:
            check_needs(built, [row])
        except InputError as error:
            return str(error)
        return ""

    def _none(self, built: BaseMetric, reason: str) -> RowScore:
        return RowScore(
            value=None,
            lacking=reason,
            signature=str(signature_of(built, self.runtime)),
            higher_is_better=built.info.higher_is_better,
        )


def _check(spec: str, built: BaseMetric) -> None:
    """Refuse a metric that cannot score single rows."""
    if built.pooled:
        raise SpecError(
            f"{spec} takes frequencies or a scale from all texts of a call, and here each row is scored alone; score"
            " them together with nlgauge.score"
        )
    beyond = sorted(built.info.needs - _HELD)
    if beyond:
        raise SpecError(f"{spec} needs {beyond[0]}, which a row does not hold; score the data with nlgauge.score")


def _scored(spec: str, built: BaseMetric, scores: Scores, looked: Sequence[str]) -> RowScore:
    value = float(scores.values[0])
    own = [note for note in looked if not isinstance(note, Note) or note.about in (spec, "input")]
    notes = tuple(map(_of_row, [*scores.flag_notes(spec, undefined=None, cut=cut_words(built)), *own]))
    flags = tuple(name for name, mask in scores.flags.items() if mask[0])
    lacking = ""
    if not math.isfinite(value):
        lacking = "; ".join(notes) or f"the score by {spec} is {'undefined' if math.isnan(value) else value}"
    return RowScore(
        value=None if lacking else value,
        lacking=lacking,
        parts={name: float(part[0]) for name, part in scores.parts.items() if math.isfinite(part[0])},
        flags=flags,
        notes=notes,
        signature=str(scores.signature),
        higher_is_better=scores.higher_is_better,
    )


def _of_row(note: str) -> str:
    """A note on one row: which of how many texts it is about goes without saying."""
    if not isinstance(note, Note):
        return note
    said = note.said.removeprefix(_OF_ONE).replace("; they get ", "; it gets ")
    return said if note.about == "input" else f"{note.about}: {said}"


# --- A scorer of MLflow: metrics score the rows of `mlflow.genai.evaluate`, and each score carries its signature

_PARTS = ("inputs", "outputs", "expectations")  # what MLflow gives a scorer
_REFERENCES = ("expected_response", "expected_output", "reference", "references", "ground_truth", "target", "answer")
_SOURCES = ("source", "document", "context", "question", "query", "input", "prompt")
_FIELDS = ("hyp", "ref", "refs", "src")
_NO_SCORE = "UNDEFINED"  # the code of an error
_Path = tuple[str, str]  # one of `_PARTS`, and the key inside; "" for the whole


def as_mlflow(
    metrics: MetricLike | Sequence[MetricLike],
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Any:
    """Metrics as one scorer of MLflow, for `mlflow.genai.evaluate(data=..., scorers=[as_mlflow("chrf")])`.

    A metric gives a `Feedback` of its name: the value, source `CODE`, and in the metadata the signature, the parts of
    the score, the direction and flags. A score that is undefined, or for which the row lacks a text, is an error and
    never 0, so that MLflow leaves it out of its mean. What MLflow refuses in a name becomes `_`: `chrf:word_order=2` is
    `chrf_word_order_2`.

    It needs the extra `mlflow`. The scorer cannot be registered for monitoring (`scorer.register()`).

    Args:
        metrics: specifications or metric objects; they may not take frequencies or a scale from all rows.
        name: the name of the scorer; by default that of a single metric, or `nlgauge`.
        columns: where a row holds `hyp`, `ref` or `refs`, and `src`: `{"hyp": "outputs.answer", "ref":
            "expectations.gold", "src": "inputs.document"}`. By default the text is `outputs`, or the answer in it where
            it is a message of a chat or has one string; references are `expected_response`, `expected_output`,
            `reference`, `references`, `ground_truth`, `target` or `answer` in `expectations`, and a list is several;
            the source is `source`, `document`, `context`, `question`, `query`, `input` or `prompt` in `inputs`, or the
            only string there.
        runtime: device, precision and cache, as in `nlgauge.score`. Scorers that share one share its models.

    Returns:
        A `mlflow.genai.scorers.Scorer`. Called by hand it takes `inputs`, `outputs` and `expectations` as MLflow does,
        and returns a `Feedback`, or a list of them for several metrics.

    Raises:
        MissingExtra: MLflow is not installed.
        InputError: a column is named that is none.
        SpecError: a metric is unknown, or cannot score single rows.
    """
    try:
        from mlflow.entities import AssessmentError, AssessmentSource, Feedback
        from mlflow.genai.scorers import Scorer
    except ImportError:
        raise MissingExtra("a scorer of MLflow", "mlflow") from None
    row = _Row(columns)
    scorer = RowScorer(metrics, runtime, row.where)
    specs = list(scorer.metrics)
    names = dict(zip(specs, loggable(specs), strict=True))
    base: Any = Scorer

    def feedback(spec: str, scored: RowScore) -> Any:
        error = None if scored.value is not None else AssessmentError(_NO_SCORE, scored.lacking)
        return Feedback(
            name=names[spec],
            value=scored.value,
            error=error,
            rationale="; ".join(scored.notes) or None,
            source=AssessmentSource(source_type="CODE", source_id=f"nlgauge:{spec}"),
            metadata=_metadata(spec, scored),
        )

    class NlgaugeScorer(base):  # type: ignore[misc]  # of no known type: MLflow may not be installed
        """Scores rows by metrics of nlgauge; `metrics` is in MLflow's digest of a scorer."""

        metrics: list[str]

        def __call__(self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
            """The feedback on one row."""
            made = [feedback(spec, one) for spec, one in row.scores(scorer, inputs, outputs, expectations).items()]
            return made[0] if len(made) == 1 else made

    called = name or (names[specs[0]] if len(specs) == 1 else "nlgauge")
    return NlgaugeScorer(name=called, metrics=specs)


def _metadata(spec: str, scored: RowScore) -> dict[str, str]:
    """What MLflow stores beside a score: strings alone."""
    return {
        "signature": scored.signature,
        "spec": spec,
        "higher_is_better": str(scored.higher_is_better).lower(),
        **{f"part.{name}": repr(value) for name, value in scored.parts.items()},
        **({"flags": ",".join(scored.flags)} if scored.flags else {}),
    }


class _Row:
    """Where the texts of a row are.

    Attributes:
        where: need of a metric -> where it is looked for, in words.
    """

    def __init__(self, columns: Mapping[str, str] | None) -> None:
        asked = {field: _path(field, place) for field, place in (columns or {}).items()}
        if "ref" in asked and "refs" in asked:
            raise InputError("columns name both ref and refs, expected one of them; a cell may hold several references")
        self._hyp, self._src = asked.get("hyp"), asked.get("src")
        self._refs = asked.get("refs") or asked.get("ref")
        self.where = {
            "references": _words(self._refs) or f"expectations: {listed(_REFERENCES, 'or')}",
            "source": _words(self._src) or f"inputs: {listed(_SOURCES, 'or')}",
        }

    def scores(self, scorer: RowScorer, inputs: Any, outputs: Any, expectations: Any) -> dict[str, RowScore]:
        """The scores of a row."""
        parts = {"inputs": inputs, "outputs": outputs, "expectations": expectations}
        text = _answer(outputs) if self._hyp is None else _at(parts, self._hyp)
        if not isinstance(text, str):
            return scorer.without_text(_no_text(text, outputs, self._hyp))
        refs = _usual(expectations, _REFERENCES) if self._refs is None else _at(parts, self._refs)
        usual = inputs if isinstance(inputs, str) else _usual(inputs, _SOURCES) or _only_string(inputs)
        source = usual if self._src is None else _at(parts, self._src)
        listed = [refs] if isinstance(refs, str) else refs if isinstance(refs, Sequence) else []
        listed = [one for one in listed if one != ""]  # no answer was expected, as in logs
        references = tuple(one for one in listed if isinstance(one, str))
        if len(references) < len(listed):
            return scorer.without_text("a reference of the row is no text, expected a string or a list of strings")
        return scorer.score(text, references, source if isinstance(source, str) else None)


def _path(field: str, place: str) -> _Path:
    if field not in _FIELDS:
        raise InputError(f"columns name a field {field!r}{nearest(field, _FIELDS)}; expected {listed(_FIELDS, 'or')}")
    part, _, key = place.partition(".")
    if part not in _PARTS:
        raise InputError(
            f"columns say that {field} is in {place!r}, expected a place in {listed(_PARTS, 'or')}, such as"
            f" 'outputs.{place}'"
        )
    return part, key


def _at(parts: Mapping[str, Any], path: _Path) -> Any:
    """What a row holds in a place; None if there is nothing. A key that holds dots is found as it is, too."""
    value, key = parts[path[0]], path[1]
    while key:
        if not isinstance(value, Mapping):
            return None
        if key in value:
            return value[key]
        first, _, key = key.partition(".")
        value = value.get(first)
        if not key:
            return value
    return value


def _answer(outputs: Any) -> Any:
    """The text that an application answered: `outputs` itself, the last message of a chat, or the only string."""
    if isinstance(outputs, list) and len(outputs) == 1:  # a list of one, as models of MLflow predict
        return _answer(outputs[0])
    if not isinstance(outputs, Mapping):
        return outputs
    choices = outputs.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        messages: Any = [choices[0].get("message")]
    else:
        messages = outputs.get("messages") or outputs.get("output")  # the latter of OpenAI's responses
    if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
        return _content(messages[-1].get("content"))
    return _only_string(outputs)


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


def _usual(held: Any, names: Sequence[str]) -> Any:
    if not isinstance(held, Mapping):
        return None
    return next((held[name] for name in names if held.get(name) is not None), None)


def _only_string(held: Any) -> str | None:
    strings = [value for value in held.values() if isinstance(value, str)] if isinstance(held, Mapping) else []
    return strings[0] if len(strings) == 1 else None


def _no_text(text: Any, outputs: Any, path: _Path | None) -> str:
    if outputs is None:
        return "the row has no outputs: the application gave none"
    if path is None and isinstance(outputs, Mapping):
        keys = ", ".join(map(repr, [*outputs][:8])) or "no keys"
        return f"outputs holds {keys}, and which is the text cannot be told; say so: columns={{'hyp': 'outputs.KEY'}}"
    return f"{_words(path) or 'outputs'} is {type(text).__name__}, expected a text"


def _words(path: _Path | None) -> str:
    return "" if path is None else ".".join(part for part in path if part)
