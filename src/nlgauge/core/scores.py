"""The scores of a metric, what they are flagged with, and the notes and warnings that count it."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.doors import made, refuse_types
from nlgauge.core.errors import InputError, ScoreWarning, nearest
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, together

# --- How many texts were cut, empty or undefined? Counted for every verb alike, said in notes, and warned of in Python


P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")

UNDEFINED = "undefined"
LEFT_OUT = "they are left out"  # what becomes of undefined scores, unless said otherwise
FIRST = 10  # texts that are named
TRAINED = "trained on human ratings"  # how the note on a metric begins that has learnt from ratings
NAMED = 3  # metrics that a note in brief names
MEANINGS: Mapping[str, str] = {  # flag -> what "3 of 40 segments have" goes on with
    "empty": "an empty side; they get the worst value",
    "both_empty": "two empty sides; such texts are alike and get the best value",
    "truncated": "a text longer than the model reads, cut to its limit",
    "tokenized": "a text that looks tokenised already (it ends in ' .'), where the metric expects plain text",
    "nonfinite": "a text for which the model computes NaN or infinity, so the score is undefined (try dtype=float32)",
    "unknown": "a text with many pieces that the model does not know; where it knows none, the score is undefined",
    "markless": "a match for which marks were left out that tell answers apart, as of 3.5 and 35 or C++ and C;"
    " normalized=false compares texts as they are",
    "untokenized": "a side of which the tokenizer keeps nothing; they get the worst value",
    "wordless": "a side without the words that are counted, so the score is undefined",
    "alone": "no other output for their input to agree with, so the score is undefined",
    "unmasked": "a source without a word that is long enough to be masked, so the score is undefined",
    "too_long": "texts too long for it, so the score is undefined",
    "unweighted": "a side on which no piece weighs anything; bertscore gives that side 0, and others no score",
    UNDEFINED: "an undefined score",
    "unread": "an answer of the judge that is not of the form asked for, so the score is undefined",
    "unanswered": "no answer of the judge, so the score is undefined; ask again",
    "unasked": "a hypothesis where the source is blank, and so are the references: nothing was to be said",
    "copied": "a hypothesis that is its source, or nearly",
    "foreign": "a hypothesis in another language or script than its references",
    "looping": "a hypothesis that says the same words again and again",
    "repeated": "a hypothesis that their system gives for many other inputs, too",
    "unfinished": "a hypothesis that is short and has no final mark where the references have one (is it cut off?)",
    "untranslated": "a hypothesis with words of the source that were not translated",
    "blank_reference": "a reference without text",
    "doubled_reference": "one reference twice",
    "printed_reference": "a reference that is a list written as text, ['a', 'b'] (are these several references?)",
    "repeated_reference": "a reference that many other inputs have, too",
}


class Note(str):
    """A note that names texts. It is whole wherever it is kept; a terminal or a warning shows it in brief.

    Attributes:
        about: the metric that it is about, or "input".
        said: what it says of that, without the names.
    """

    about: str
    said: str

    @classmethod
    def of(cls, whole: str, about: str, said: str) -> Note:
        """A note in both forms."""
        note = cls(whole)
        note.about, note.said = about, said
        return note

    def after(self, before: str) -> Note:
        """The note with words before it, such as the set that it is about."""
        return Note.of(f"{before}{self}", f"{before}{self.about}", self.said)


def in_brief(notes: Iterable[str]) -> list[str]:
    """Notes without the names of texts; what is said of several metrics stands once, where the first stood, with the
    first three of them."""
    about: dict[str, list[str]] = {}
    for note in notes:
        if isinstance(note, Note):
            about.setdefault(note.said, []).append(note.about)
        else:
            about.setdefault(note, [])
    return [f"{first_few(names)}: {said}" if names else said for said, names in about.items()]


def first_few(names: Sequence[str]) -> str:
    """The first three of some words, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def count(flags: Mapping[str, Mask], values: Array) -> dict[str, int]:
    """How many of n texts have each flag, and how many an undefined score (NaN); what no text has is left out."""
    import numpy as np  # the command imports this module for its help, too

    found = {name: int(np.count_nonzero(flag)) for name, flag in flags.items()}
    found[UNDEFINED] = int(np.isnan(values).sum())
    return {name: n for name, n in found.items() if n}


def add(*counts: Mapping[K, int]) -> dict[K, int]:
    """The sums of several counts."""
    total: Counter[K] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def first_of(flags: Mapping[str, Mask], ids: Sequence[str], values: Array | None = None) -> dict[str, list[str]]:
    """The first ids of texts with each flag, and with an undefined score where values are given, to be looked at."""
    import numpy as np

    masks = {**flags} if values is None else {**flags, UNDEFINED: np.isnan(values)}
    return {name: [ids[i] for i in mask.nonzero()[0][:FIRST]] for name, mask in masks.items() if mask.any()}


def first_of_all(*firsts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The first ids of several parts, in their order."""
    found: dict[str, list[str]] = {}
    for first in firsts:
        for name, ids in first.items():
            found[name] = [*found.get(name, ()), *ids][:FIRST]
    return found


def count_notes(
    spec: str,
    counts: Mapping[str, int],
    n: int,
    of: str = "segments",
    undefined: str | None = LEFT_OUT,
    first: Mapping[str, Sequence[str]] | None = None,
    cut: str | None = None,
) -> Iterator[Note]:
    """One note for each count, such as "nli: 3 of 40 segments (7, 9, 12) have an empty side; they get the worst value".

    Args:
        spec: the metric, as typed.
        counts: its counts.
        n: how many texts there are.
        of: what they are.
        undefined: what becomes of undefined scores; None where another note says so.
        first: flag -> ids of the first texts that have it, see `first_of`.
        cut: the flag `truncated` in words that suit the metric, see `core.metric.cut_words`.
    """
    for name, number in counts.items():
        ids = (first or {}).get(name, ())
        who = f" ({', '.join([*ids, *(['...'] if number > len(ids) else [])])})" if ids else ""
        meaning = MEANINGS.get(name, f"the flag {name!r}") if name != "truncated" or cut is None else cut
        if name == UNDEFINED:
            if undefined is None:
                continue
            meaning = f"{meaning}; {undefined}"
        some = f"{number} of {n} {of}"
        yield Note.of(f"{spec}: {some}{who} have {meaning}", spec, f"{some} have {meaning}")


_said: ContextVar[list[str] | None] = ContextVar("notes of the call that warns", default=None)


def warning(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function warn its caller once, in one line, of what `say` was told meanwhile.

    What the function returns has all of it in `notes`. A function that is called by another of them leaves the warning
    to it.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if _said.get() is not None:
            return function(*args, **kwargs)
        notes: list[str] = []
        token = _said.set(notes)
        try:
            answer = function(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            refuse_types(error, function, args, kwargs)
            raise
        finally:
            _said.reset(token)
        if notes:
            warnings.warn(_in_one_line([*dict.fromkeys(notes)]), ScoreWarning, stacklevel=2)
        return answer

    called.is_public = True  # type: ignore[attr-defined]  # see `doors`
    return called


def _in_one_line(notes: Sequence[str]) -> str:
    """The first note in brief, how many there are beside it, and where all are."""
    first, *others = in_brief(notes)
    more = f"and {len(others)} more {'note' if len(others) == 1 else 'notes'}; " if others else ""
    return f"{first} ({more}see .notes)"


def say(*notes: str) -> None:
    """Add notes to the warning of the public function that is running."""
    said = _said.get()
    if said is not None:
        said.extend(notes)


# --- The scores of a metric: one value per segment, its parts, and the sums from which corpus numbers are computed

Finish = Callable[[Array], Array]
FinishParts = Callable[[Array], Mapping[str, float]]
TASKS = frozenset({"mt", "as", "qg", "dg", "ic", "d2t"})  # as the checklists name them
_SHOWN = 4  # systems that are shown in one line


def mean_of_defined(totals: Array) -> Array:
    """The mean segment value from summed (value, defined) pairs: (..., 2) to (...); NaN if no value is defined."""
    totals = np.asarray(totals, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(totals[..., 1] > 0, totals[..., 0] / totals[..., 1], np.nan))


@dataclass(frozen=True)
class MetricInfo:
    """Properties of a metric that do not depend on its options.

    Attributes:
        name: the name in specifications.
        needs: what a segment must have besides the hypothesis: `references`, `source`, `context`, `table`.
        range: the lowest and the highest value, on the scale that is customary for the metric; `math.inf` is no limit.
        higher_is_better: False for error rates.
        copy_is_best: whether a hypothesis equal to its reference gets the best value; if not, `summary` says why.
        blank: the value of a pair with an empty side, where a definition fixes it and unrelated texts may score lower;
            None where it is the worst, NaN where there is none.
        cached: whether the scores are worth keeping on disk between runs, because a model computed them.
        flags: flags that every score of the metric has. A row in the score cache without one of them, which an older
            release wrote, is scored again.
        parts: part of its scores -> whether higher is better; None for a part that is no score. Parts named precision,
            recall and f1 have the direction of the metric unless they stand here.
        summary: one line for `nlgauge list metrics`.
        tasks: the tasks for which the metric is used in the literature, of `TASKS`; empty if nobody says.
        paper: who proposed it, as `Lin (2004), "ROUGE: ..."`; of several papers one after the other, with "; " between.
        judges: False for what describes outputs and judges none, such as a length or a grade of readability. Neither
            end of its range is better, `-m embedded` and `choose` leave it out, and in a gate it decides nothing.
    """

    name: str
    needs: frozenset[str] | set[str] = frozenset({"references"})
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    copy_is_best: bool = True
    blank: float | None = None
    cached: bool = False
    flags: frozenset[str] | set[str] = frozenset()
    parts: Mapping[str, bool | None] = field(default_factory=dict, hash=False)
    summary: str = ""
    tasks: frozenset[str] | set[str] = frozenset()
    paper: str = ""
    judges: bool = True

    def __post_init__(self) -> None:
        for name in ("needs", "flags", "tasks"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        if len(self.range) != 2 or not all(isinstance(end, int | float) for end in self.range):
            raise InputError(f"{self.name}: range is {self.range!r}, expected two numbers; math.inf is no limit")
        unknown = sorted(self.tasks - TASKS)
        if unknown:
            raise InputError(f"{self.name}: unknown task {unknown[0]!r}, expected one of {', '.join(sorted(TASKS))}")

    @property
    def direction(self) -> str:
        """Which end of the range is better, in words."""
        return f"{'higher' if self.higher_is_better else 'lower'} is better" if self.judges else "neither end is better"


@by_value
@dataclass(frozen=True)
class Scores:
    """Scores of n segments under one signature.

    Attributes:
        signature: the metric and everything else that determines the values.
        ids: segment ids, in the order of `values`.
        values: shape (n,), float64; NaN where the score is undefined.
        parts: the numbers that the value is made of, such as precision, recall and f1, each of shape (n,).
        stats: segment statistics that sum to corpus statistics, shape (n, k). None means that the corpus number is the
            mean of the defined values.
        finish: function from totals of shape (..., k) to corpus numbers of shape (...).
        flags: conditions that are counted, such as `empty`, `truncated` and `unknown`, each a bool array of shape (n,).
        higher_is_better: whether a higher value is better.
        scale: only for a weighted sum whose metrics were scaled over all segments of the call: for each term the two
            values that became 0 and 1.
        systems: the system of each segment, n of them; empty if the scores do not know their systems.
        items: the input that each segment was written for, likewise.
        finish_parts: function from totals of shape (k,) to what the corpus number is made of; None if it has no parts.
        notes: what a reader of these scores must know, such as which texts were cut or are empty.
        name: the metric as it was typed; empty for that of the signature.
        segments: the texts that were scored, n of them; empty if the scores do not know them.
        ratings: of values that are means of people's ratings, who gave which of each segment, n of them; else empty.
    """

    signature: Signature
    ids: tuple[str, ...]
    values: Array
    parts: Mapping[str, Array] = field(default_factory=dict)
    stats: Array | None = None
    finish: Finish = field(default=mean_of_defined, compare=False)  # the signature says which
    flags: Mapping[str, Mask] = field(default_factory=dict)
    higher_is_better: bool = True
    scale: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    systems: tuple[str | None, ...] = ()
    items: tuple[str | None, ...] = ()
    finish_parts: FinishParts | None = field(default=None, compare=False)
    notes: tuple[str, ...] = ()
    name: str = field(default="", compare=False)
    segments: Sequence[Segment] = field(default=(), compare=False)  # they made the values, and are no part of them
    ratings: tuple[tuple[tuple[str | None, float], ...], ...] = ()

    def __post_init__(self) -> None:
        n, beside = len(self.ids), ("systems", "items", "segments", "ratings")
        for name, labels in ((name, getattr(self, name)) for name in beside):
            if labels and len(labels) != n:
                raise InputError(f"{self.signature.spec}: {len(labels)} {name}, expected {n} or none")
        object.__setattr__(self, "ids", tuple(self.ids))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        for name, column in {"values": self.values, **self.parts, **self.flags}.items():
            if np.shape(column) != (n,):
                raise InputError(f"{self.signature.spec}: {name} has shape {np.shape(column)}, expected ({n},)")
        if self.stats is not None and (np.ndim(self.stats) != 2 or len(self.stats) != n):
            raise InputError(f"{self.signature.spec}: stats has shape {np.shape(self.stats)}, expected ({n}, k)")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        numbers = self.by_system() if any(name is not None for name in self.systems) else {None: self.system}
        shown = [f"{value:.4g}" if name is None else f"{name} {value:.4g}" for name, value in numbers.items()]
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        undefined = f", {self.n_undefined} undefined" if self.n_undefined else ""
        name = self.name or self.signature.spec
        return f"Scores({name}: {', '.join(shown[:_SHOWN])}{more}; {len(self)} segments{undefined})"

    def _repr_html_(self) -> str:
        """The scores as a notebook shows them."""
        return str(made("scores", self))

    @property
    def segment_stats(self) -> Array:
        """Segment statistics of shape (n, k): `stats`, or (value, defined) if the corpus number is a mean."""
        if self.stats is not None:
            return self.stats
        defined = ~np.isnan(self.values)
        return np.stack([np.where(defined, self.values, 0.0), defined.astype(np.float64)], axis=1)

    @property
    def system(self) -> float:
        """The corpus-level score over all segments; NaN if there are none, whatever the metric makes of sums of 0."""
        return float(self.finish(self.segment_stats.sum(axis=0))) if len(self) else math.nan

    @property
    def system_parts(self) -> dict[str, float]:
        """Parts of the corpus-level score, such as BLEU's precisions and brevity penalty; empty for most metrics."""
        parts = {} if self.finish_parts is None else dict(self.finish_parts(self.segment_stats.sum(axis=0)))
        return parts if len(self) else dict.fromkeys(parts, math.nan)

    def flag_notes(
        self, spec: str | None = None, of: str = "segments", undefined: str | None = LEFT_OUT, cut: str | None = None
    ) -> tuple[Note, ...]:
        """How many texts were cut, are empty or have no score, and the first of them; as `counts.count_notes`.

        Args:
            spec: the metric as typed; None for that of the signature.
            of: what the texts are.
            undefined: what becomes of undefined scores; None where another note says so.
            cut: the flag `truncated` in words that suit the metric.
        """
        counts, first = count(self.flags, self.values), first_of(self.flags, self.ids, self.values)
        return tuple(count_notes(spec or self.signature.spec, counts, len(self), of, undefined, first, cut))

    @property
    def n_undefined(self) -> int:
        """The number of values that are NaN."""
        return int(np.isnan(self.values).sum())

    def by_system(self) -> dict[str | None, float]:
        """System -> its corpus-level score, in order of first appearance. None stands for segments that name none.

        Raises:
            InputError: the scores do not know which system wrote which segment.
        """
        if not self.systems and self.ids:
            raise InputError(
                f"{self.signature.spec}: the scores do not say which system wrote which segment; nlgauge.score knows it"
                " from a mapping of systems, a Dataset or a frame"
            )
        systems = np.array(self.systems, dtype=object)
        return {name: self.take(systems == name).system for name in dict.fromkeys(self.systems)}

    def as_columns(self) -> dict[str, Any]:
        """One column per property of a segment, each of length n.

        They are `id`, `seg` and `system` if they are known, `value`, the parts and the flags.
        """
        labels = {"seg": list(self.items), "system": list(self.systems)}
        known = {name: column for name, column in labels.items() if any(label is not None for label in column)}
        return {"id": list(self.ids), **known, "value": self.values, **self.parts, **self.flags}

    def to_frame(self, library: str | None = None) -> Any:
        """One row per segment, with the columns of `as_columns`, as a frame.

        Args:
            library: `pandas` or `polars`, `pyarrow` for an Arrow table, or `datasets` for a `datasets.Dataset`; None
                for the first of pandas and polars that is installed.
        """
        return made("frame", self.as_columns(), library)

    def to_arrow(self) -> Any:
        """One row per segment, with the columns of `as_columns`, as a `pyarrow.Table`; NaN is null."""
        return made("arrow", self.as_columns())

    def as_json(self) -> dict[str, Any]:
        """An object for `json.dumps`: the corpus number and one row per segment, NaN replaced by None."""
        from nlgauge.core.result import null_if_nan  # help, which says notes, needs no result

        columns = {name: np.asarray(column, dtype=object).tolist() for name, column in self.as_columns().items()}
        cells = zip(*columns.values(), strict=True)
        return {
            "spec": self.signature.spec,
            "signature": str(self.signature),
            "higher_is_better": self.higher_is_better,
            "value": null_if_nan(self.system),
            "n": len(self),
            "n_undefined": self.n_undefined,
            "rows": [dict(zip(columns, map(null_if_nan, row), strict=True)) for row in cells],
        }

    def worst(self, n: int = 10) -> Worst:
        """The n segments with the worst scores, in the metric's own direction, and the first n without one.

        Returns:
            A list of rows; see `Worst`. The scores of `score` know the texts, those of a metric alone only the ids.

        Raises:
            InputError: n is no whole number from 1 on.
        """
        found = Worst(n, self.name or self.signature.spec, self.higher_is_better)
        found.add(self)
        return found

    def take(self, index: Any) -> Scores:
        """The scores of some of the segments, chosen by an index array or by a boolean mask of length n."""
        index = np.asarray(index)
        if index.dtype == np.bool_ and index.shape != (len(self),):
            raise InputError(
                f"{self.signature.spec}: a mask of shape {index.shape} over {len(self)} segments, expected"
                f" ({len(self)},)"
            )
        index = index if index.size else index.astype(np.int64)  # an empty list comes as float64
        where = np.flatnonzero(index) if index.dtype == np.bool_ else index
        return Scores(
            self.signature,
            tuple(self.ids[i] for i in where),
            self.values[where],
            {name: column[where] for name, column in self.parts.items()},
            None if self.stats is None else self.stats[where],
            self.finish,
            {name: column[where] for name, column in self.flags.items()},
            self.higher_is_better,
            self.scale,
            tuple(self.systems[i] for i in where) if self.systems else (),
            tuple(self.items[i] for i in where) if self.items else (),
            self.finish_parts,
            name=self.name,
            segments=tuple(self.segments[int(i)] for i in where) if self.segments else (),
            ratings=tuple(self.ratings[i] for i in where) if self.ratings else (),
        )


class ScoreSet(dict[str, Scores]):
    """Specification as typed -> its scores, of the same segments, as `score` returns them."""

    def to_frame(self, library: str | None = None) -> Any:
        """One row per segment: `id`, `seg` and `system` if they are known, then each metric and its parts.

        Columns are those that `nlgauge score --segments` writes; `library` is as for `Scores.to_frame`.
        """
        columns: dict[str, Any] = {}
        for spec, scores in self.items():
            own = {spec: scores.values, **{f"{spec}.{part}": column for part, column in scores.parts.items()}}
            labels = {name: column for name, column in scores.as_columns().items() if name in ("id", "seg", "system")}
            columns |= {**labels, **own}
        return made("frame", columns, library)

    def worst(self, n: int = 10, metric: str | None = None) -> Worst:
        """The n segments with the worst scores by a metric; see `Scores.worst`.

        Args:
            metric: the specification as typed; None where there is only one.

        Raises:
            InputError: there is no such metric, or several and none is named.
        """
        if metric is None and len(self) == 1:
            metric = next(iter(self))
        if metric is None or metric not in self:
            raise InputError(f"worst: {metric!r} is not among the metrics scored{nearest(metric or '', self)}")
        return self[metric].worst(n)

    def _repr_html_(self) -> str:
        """The scores as a notebook shows them: a column for each metric."""
        return str(made("scores", *self.values())) if self else ""


class Worst(list[dict[str, Any]]):
    """The n segments with the worst scores by a metric, the worst first, then the first n that have no score.

    Scores may come in parts: it holds these rows alone. A row has `metric`, `id`, `system`, `value` (None where it is
    undefined), `n` and `n_undefined` (how many segments have a score, and how many have none) and, where the texts are
    known, `hyp`, `refs` (a list) and `src`. `print` and notebooks show the texts.

    Args:
        n: how many segments.
        metric: the metric as typed.
        higher_is_better: whether a low score is a bad one.

    Raises:
        InputError: n is no whole number from 1 on.
    """

    def __init__(self, n: int, metric: str, higher_is_better: bool = True) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InputError(f"the number of the worst segments is {n!r}, expected a whole number, 1 or more")
        super().__init__()
        self.metric = metric
        self._most, self._sign = n, 1 if higher_is_better else -1
        self._n = self._undefined = 0

    def add(self, scores: Scores, segments: Sequence[Segment] = ()) -> None:
        """Look at the scores of more segments, which may be those that the scores know themselves."""
        texts, n = segments or scores.segments, len(scores) - scores.n_undefined
        order = np.argsort(self._settled(scores.values), kind="stable")  # what is undefined comes last
        places = [*order[: min(n, self._most)], *order[n : n + self._most]]
        self += [self._row(scores, int(i), texts[i] if texts else None) for i in places]
        self.sort(key=lambda row: (row["value"] is None, self._settled(np.float64(row["value"] or 0))))  # stable
        n_defined = sum(row["value"] is not None for row in self)
        del self[n_defined + self._most :], self[self._most : n_defined]
        self._n, self._undefined = self._n + n, self._undefined + scores.n_undefined
        for row in self:
            row |= {"n": self._n, "n_undefined": self._undefined}

    def _settled(self, values: Any) -> Any:
        """What the order goes by: the last bits of a score, in which machines differ, put no text before another."""
        with np.errstate(over="ignore"):
            return (self._sign * values).astype(np.float32)

    def _row(self, scores: Scores, i: int, text: Segment | None) -> dict[str, Any]:
        known = scores.systems[i] if scores.systems else None
        value = None if math.isnan(scores.values[i]) else float(scores.values[i])
        row = {"metric": self.metric, "id": scores.ids[i], "system": known, "value": value, "n": 0, "n_undefined": 0}
        if text is None:
            return row
        return row | {"system": text.system, "hyp": text.hypothesis, "refs": [*text.references], "src": text.source}

    def __str__(self) -> str:
        """The texts below each other, as the command prints them."""
        return str(made("worst", self, "text"))

    def _repr_html_(self) -> str:
        """The rows as a notebook shows them."""
        return str(made("worst", self, "html"))


def join(blocks: Sequence[Scores]) -> Scores:
    """Join the scores of consecutive blocks of segments under one metric.

    Where one block has statistics and another has none, as blocks whose several references were folded, the corpus
    number is the mean of all values.
    """
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if len({b.stats is None for b in blocks}) > 1:
        blocks = [replace(b, stats=None, finish=mean_of_defined, finish_parts=None) for b in blocks]
        first = blocks[0]
    return Scores(
        together([b.signature for b in blocks]),
        tuple(i for b in blocks for i in b.ids),
        np.concatenate([b.values for b in blocks]),
        {name: np.concatenate([b.parts[name] for b in blocks]) for name in first.parts},
        None if first.stats is None else np.concatenate([b.segment_stats for b in blocks]),
        first.finish,
        {name: np.concatenate([b.flags[name] for b in blocks]) for name in first.flags},
        first.higher_is_better,
        systems=tuple(system for b in blocks for system in b.systems),
        items=tuple(item for b in blocks for item in b.items),
        finish_parts=first.finish_parts,
        ratings=tuple(own for b in blocks for own in b.ratings),
    )


def ids(segments: Iterable[Segment]) -> tuple[str, ...]:
    """The ids of segments, in order."""
    return tuple(s.id for s in segments)
