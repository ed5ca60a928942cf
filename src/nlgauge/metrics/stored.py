"""Whether scores that were made elsewhere rise or fall with quality: what is recorded, what the name says, or a guess.

A guess is always said, so that an error rate that is taken the wrong way round does not go unnoticed.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from glob import escape, glob
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import BaseMetric, signature_of, whole
from nlgauge.core.options import Entry, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Spec, Sum, parse
from nlgauge.core.tables import ScoreTable
from nlgauge.metrics.registry import METRIC_OPTIONS, METRICS, SUMS, elsewhere, folded, metric, own_names
from nlgauge.models.heads import SHIPPED
from nlgauge.runtime.runtime import Runtime

GUESSED = "taken to rise with quality"
BY_NAME = "taken to fall with quality, as the name says"
NEGATED = "taken to rise with quality: an error rate, of which no value is above 0"
_SYNONYMS = {  # of ours
    "word error rate": "wer",
    "character error rate": "cer",
    "extended edit distance": "eed",
    **dict.fromkeys(("COMET-20", "COMET-22", "wmt20-comet-da", "wmt22-comet-da"), "comet"),
    **dict.fromkeys(("COMET-src", "wmt20-comet-qe-da"), "comet-qe"),
    **dict.fromkeys(("MetricX-23", "MetricX-24", "MetricX-24-Hybrid"), "metricx"),
    **dict.fromkeys(("MetricX-23-QE", "MetricX-24-Hybrid-QE"), "metricx-qe"),
}
# A word of a name that is no metric's, and says that less is better: val_loss, gpt2-ppl, toxicity.
_FALLS = re.compile(
    r"(?i)(?<![a-z])(?:ppl|perplexity|nll|loss|hter|toxicity|error[\W_]?rate|edit[\W_]?distance)(?![a-z])"
)
_SYSTEM = "{system}"  # in the name of a file, of which each system has one
_REFERENCE = re.compile(r"-(?:ref[A-Z]?(?:\.ref[A-Z])*|src|all)$")  # as mt-metrics-eval names a metric: BLEU-refA


class Direction(NamedTuple):
    """Whether higher is better, and what a reader must know of it; nothing if it is recorded, or known by the name."""

    higher_is_better: bool
    told: str = ""


def direction_of(column: str, values: Array, recorded: bool | None = None) -> Direction:
    """The direction of a column of scores.

    Args:
        column: its name: of a metric, or a specification as typed.
        values: the scores; error rates of which none is above 0 were negated by who made them.
        recorded: what the file itself says; None if it says nothing.
    """
    if recorded is not None:
        return Direction(recorded)
    known = by_name(column)
    if known is None:
        return Direction(True, GUESSED)
    if known:
        return Direction(True)
    defined = values[~np.isnan(values)]
    is_negated = bool((defined <= 0).all() and (defined < 0).any())
    return Direction(True, NEGATED) if is_negated else Direction(False, BY_NAME)


def by_name(column: str) -> bool | None:
    """Whether a metric of this name is better when it is higher; None if no metric is known by it, nor a word in it."""
    try:
        parsed = parse(column)
    except SpecError:
        parsed = Spec(column)
    if not isinstance(parsed, Spec):
        return True  # a weighted sum, in which error rates are negated
    for name in (parsed.name, _REFERENCE.sub("", parsed.name)):
        own = _own_names().get(folded(name))
        if own is not None:
            higher: bool = METRICS.lookup(own)[0].info.higher_is_better  # type: ignore[attr-defined]
            return higher
        if elsewhere(name) is not None:
            return True
    return False if _FALLS.search(column) else None


@cache
def _own_names() -> dict[str, str]:
    """Our metrics by folded name; those that take their numbers from elsewhere have no direction of their own."""
    names = {name: name for name in METRICS.entries if name not in ("scores", "command")} | _SYNONYMS
    return {folded(name): own for name, own in names.items()}


# --- Which metrics may a file name? Those that run in this process on what ships: no program, module, path or hub name

_MODELS = {"embedded": "encoder", **SHIPPED}  # a model that ships -> what it is for
_OWN = "nlgauge.metrics."
_OUTSIDE = (
    "nlgauge.metrics.external:",
    "nlgauge.metrics.judging:",
    "nlgauge.metrics.stored:Stored",
    "nlgauge.metrics.function:",
)
_FETCHED = frozenset({"flores101", "flores200", "spm"})  # tokenizers that sacrebleu fetches when they are first used
_PLAIN = (bool, int, float, type(None))


def metric_of_file(spec: str) -> BaseMetric:
    """The metric of a specification that came out of a file: a model, a plan, a result.

    Nothing that came with data may start a program, load a module, or open a model other than one that ships; only what
    the user types may.

    Raises:
        SpecError: the specification is wrong, or names something else.
    """
    check_shipped(spec)
    return whole(metric(spec))


def check_shipped(spec: str) -> None:
    """Refuse a specification out of a file that leads to anything but code and models that ship. Nothing is opened.

    Raises:
        SpecError: it does, or it is wrong.
    """
    parsed = parse(spec)
    if isinstance(parsed, Sum):
        if parsed.norm not in ("none", "minmax", "zscore"):
            raise _refused(spec, "it reads a file of bounds")
        for _, part in parsed.terms:
            check_shipped(str(part))
        return
    if parsed.name in SUMS:
        return check_shipped(SUMS[parsed.name])
    _check_named(spec, parsed)


def _check_named(spec: str, parsed: Spec) -> None:
    """Refuse one metric by its name or its options."""
    known = {name.lower(): name for name in METRICS.entries}
    name = parsed.name if parsed.name in METRICS.entries else known.get(parsed.name.lower(), parsed.name)
    entry: Entry | None = METRICS.entries.get(name)
    if entry is None and name not in METRICS.names():
        raise SpecError(f"unknown metric {name!r}{nearest(name, METRICS.entries)}")
    if entry is None or name in own_names():
        raise _refused(spec, f"{parsed.name!r} is no metric of this package")
    if not entry.target.startswith(_OWN) or entry.target.startswith(_OUTSIDE):
        raise _refused(spec, f"{name} runs a program or reads a file")
    cls, preset = METRICS.lookup(name)
    defaults = {field.name: field.default for field in dataclasses.fields(cls) if field.init}
    other_names = getattr(cls, "other_names", {})
    values: Mapping[str, Any] = {**preset, **{other_names.get(name, name): value for name, value in parsed.options}}
    hints = typing.get_type_hints(cls)
    for option, default in defaults.items():
        value = values.get(option, default)
        if value is dataclasses.MISSING:
            raise _refused(spec, f"{name} needs {option}, which is no part of this package")
        if option == "model" and isinstance(value, str) and value == default and "/" in value:
            raise _refused(spec, f"{name} has its {option} from the hub")
        if isinstance(value, _PLAIN) or (value == default and option not in values):
            continue
        if option in METRIC_OPTIONS:
            check_shipped(str(value))
        elif str(value) in _FETCHED:
            raise _refused(spec, f"{option}={value} is fetched")
        elif not (_is_choice(hints[option]) or value == default or (option == "model" and _alike(value, default))):
            raise _refused(spec, f"{option} is {str(value)!r:.80}, which does not ship")


def _is_choice(hint: Any) -> bool:
    """Whether a field takes one of a few words, numbers or nothing; anything else could name a file or a model."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return all(map(_is_choice, typing.get_args(hint)))
    return typing.get_origin(hint) is typing.Literal or hint in _PLAIN


def _alike(model: Any, default: Any) -> bool:
    """Whether two models ship and are for the same: the metric looks for the first where it looks for the second."""
    return default in _MODELS and _MODELS.get(model) == _MODELS[default]


def _refused(spec: str, why: str) -> SpecError:
    return SpecError(f"{spec!r:.200} stands in a file, and {why}; a file may name only metrics that run on what ships")


# --- Scores that another program computed, as a metric: they can be compared, combined and correlated with ratings


class _ColumnInfo:
    """The info of a column: of the class what holds for every column, of an instance with the column's direction."""

    general = MetricInfo(
        "scores",
        needs=frozenset(),
        range=(-float("inf"), float("inf")),
        copy_is_best=False,  # not known
        summary="a column of scores that another program made",
        tasks=TASKS,
    )

    def __get__(self, instance: Stored | None, owner: type) -> MetricInfo:
        if instance is None:
            return self.general
        return replace(self.general, higher_is_better=instance.direction.higher_is_better)


@dataclass(frozen=True, kw_only=True)
class Stored(BaseMetric):
    """A column of a file of segment scores.

    It puts any program's scores beside the metrics of nlgauge: `scores:file="theirs.tsv",column=comet`. Quote the name
    of the file. If every column of a file is a metric, `nlgauge meta DATA --scores theirs.tsv` takes them all at once.

    Rows are joined to segments by `id`, or by `system`, `seg` and `lp` or `task`; a file of which no row fits any
    segment is refused. A file for each system, of one number on each line or with rows, is `file="comet.{system}"`. A
    segment without a score gets NaN and is counted, but is refused where it has no line of a file of numbers, or its
    system no file; `nlgauge meta` refuses it unless `--missing` says what to do. The number of a corpus is the mean of
    its segments.

    The direction is the first of these that is known, and a note says so where it is a guess:

    - `higher_is_better`, if it is given;
    - what `FILE.meta.json` beside the file says, which `nlgauge score --segments` writes;
    - the name of the column: TER, WER and other error rates fall with quality, unless no value is above 0;
    - else the scores rise with quality, unless the name has `ppl`, `perplexity`, `nll`, `loss`, `hter`, `toxicity`, an
      error rate or an edit distance in it.

    Report the version and the checkpoint of the other program: the signature knows the digest of the file alone.

    Args:
        file: JSON lines, TSV, CSV or Parquet with `id`, or with `system` and `seg`; WMT's `.seg.score`; one number on
            each line; or what COMET prints or writes. `{system}` in its name stands for the system: each has a file.
        column: whose scores; may be left out where there is only one column of numbers.
        higher_is_better: false for an error rate. None takes what is recorded beside the file, else what the name of
            the column says, else true, with a note.

    The signature holds the name of the file without its folder, and its digest: other scores are another metric.
    """

    file: str
    column: str | None = None
    higher_is_better: bool | None = None
    info: ClassVar = _ColumnInfo()

    def __post_init__(self) -> None:
        checked(self, name="scores")
        if not self.file:
            raise SpecError(f"scores:file is {self.file!r}, expected the name of a file with scores")

    @property
    def notes(self) -> tuple[str, ...]:
        """How the direction was found, unless it is given, recorded or known by the name."""
        other = "false if it falls" if self.direction.higher_is_better else "true if it rises"
        return (f"{self.direction.told}; higher_is_better={other}",) if self.direction.told else ()

    @cached_property
    def direction(self) -> Direction:
        """Whether the column rises or falls with quality."""
        if self.higher_is_better is not None:
            return Direction(self.higher_is_better)
        tables = self._read.tables
        values = np.concatenate([table.column(self.column) for table in tables.values()])
        if None not in tables:
            stem = Path(self.file.replace(_SYSTEM, "")).stem.strip("._-")
            return direction_of(self.column or stem or "scores", values)
        name = self.column or next(iter(tables[None].columns))
        origin = tables[None].origins.get(name)
        return direction_of(name, values, None if origin is None else origin.higher_is_better)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The name of the file, the direction, and the digest."""
        name = Path(self.file).name  # wherever it lies, however its path is written
        return {"file": name, "higher_is_better": self.direction.higher_is_better, "sha256": self._read.digest}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The numbers of the file in the order of the segments; NaN, which is counted, where the file has none.

        Raises:
            InputError: no row matches any segment, there is no such column, a system has no file where each has one, or
                a file of one number on each line has none for a segment.
        """
        by_system: dict[str | None, list[int]] = {}
        for place, segment in enumerate(segments):
            by_system.setdefault(segment.system if _SYSTEM in self.file else None, []).append(place)
        values = np.full(len(segments), np.nan)
        fits = not segments
        for system, places in by_system.items():
            own, table = [segments[place] for place in places], self._of(system)
            lacking = table.places(own) < 0
            if table.by_lines and lacking.any():
                first = own[int(lacking.argmax())]
                what = f"{table.name} has {len(table)} lines, line i for item i"
                raise InputError(f"{what}, and none for segment {first.id!r} (item {first.item!r})")
            fits = fits or not lacking.all()
            values[places] = table.of(own, self.column, missing="nan")
        if not fits:
            first, row_key = segments[0], self._of(next(iter(by_system))).keys[0]
            what = f"no row of {self.file} fits any of {len(segments)} segments"
            raise InputError(f"{what}: its first is about {row_key}, the first segment is {first.id!r}")
        up = self.direction.higher_is_better
        return Scores(signature_of(self, runtime), ids(segments), values, higher_is_better=up)

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """Why its number says little of a system with these texts; None if it is fit."""
        table = self._read.tables.get(segments[0].system if _SYSTEM in self.file else None)
        if table is None or not table.by_lines or str(len(table)) in {s.item or s.id for s in segments}:
            return None
        return "the file of its numbers has more lines than there are texts, and may be that of others"

    def _of(self, system: str | None) -> ScoreTable:
        """The table of a system; that of all under None, unless each has its own."""
        tables, faults, _ = self._read
        if system in tables:
            return tables[system]
        if system in faults:
            raise faults[system]
        lacking = "the segments name no system" if system is None else f"no {self.file.replace(_SYSTEM, system)!r}"
        many = "; one file of rows with a column 'system' takes any name" if "/" in (system or "") else ""
        known = ", ".join(map(repr, [*tables][:8]))
        raise InputError(f"{self.file!r} is a file for each system: there are those of {known}, and {lacking}{many}")

    @cached_property
    def _read(self) -> _Read:
        # The only metric that reads a format of ours, and only when it is used.
        from nlgauge.io.scores import read_scores

        columns = None if self.column is None else [self.column]
        read, digest = _Read({}, {}), sha256()
        before, mark, after = self.file.partition(_SYSTEM)
        paths = sorted(glob(f"{escape(before)}*{escape(after)}")) if mark else [self.file]
        if not paths:
            raise InputError(f"scores:file is {self.file!r}, and there is no file of such a name for any system")
        for path in paths:
            system = path[len(before) : len(path) - len(after)] if mark else None
            try:
                content = Path(path).read_bytes()  # what is written to it later is another metric's
                table = read_scores(path, columns)
                table.column(self.column)
            except OSError as error:
                read.faults[system] = InputError(f"cannot read scores {path}: {error.strerror}")
            except InputError as error:  # it is no matter unless a system has this name
                read.faults[system] = error
            else:
                keys = (key if key.id is not None else key._replace(system=key.system or system) for key in table.keys)
                read.tables[system] = replace(table, keys=tuple(keys))
                digest.update(content if system is None else f"{system}\0{sha256(content).hexdigest()}\n".encode())
        if not read.tables:
            raise next(iter(read.faults.values()))
        return read._replace(digest=digest.hexdigest()[:16])


class _Read(NamedTuple):
    """The files of a metric: system -> its scores, or what is wrong with its file; and the digest of the scores."""

    tables: dict[str | None, ScoreTable]
    faults: dict[str | None, InputError]
    digest: str = ""
