"""Scores and judgements of the same segments: joined on ids, scored anew, and as vectors of one group at a level."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.inputs import SameInputs
from nlgauge.core.metric import BaseMetric, check_needs, cut_words, own_notes, signature_of
from nlgauge.core.options import check_option
from nlgauge.core.result import NewRow
from nlgauge.core.scores import Scores, count, ids, mean_of_defined, say
from nlgauge.core.segment import Dataset, Segment, select_systems
from nlgauge.core.spec import Signature, version
from nlgauge.core.tables import Key, Preferences, ScoreTable, base_of, mean_of_ratings, ratings, single_ratings
from nlgauge.io.write import segment_columns
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.run import grouped_notes, score_grouped
from nlgauge.metrics.stored import direction_of
from nlgauge.metrics.wrapped import ReferencePolicyMetric
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.scoring.systems import by_system
from nlgauge.stats.draws import numbered
from nlgauge.stats.entries import MissingPolicy
from nlgauge.stats.ratings import krippendorff, mad_outliers, scale_of

# --- Which scores belong to which judgements? A join on segment ids that counts and names what it leaves out

_SHOWN = 3  # ids in a message before "and 7 more"
_MEAN = "mean"  # the criterion that is the mean of the others, unless the data have one of that name


@by_value
@dataclass(frozen=True)
class JoinedScores:
    """Scores and judgements of the same n segments.

    Attributes:
        segments: the n segments. Each has a rating for at least one criterion, unless unrated segments were asked for.
        human: criterion -> ratings, shape (n,); NaN where nobody rated the segment.
        scores: metric name -> the metric's Scores of these segments, in this order.
        system_tables: metric name -> its system scores, for metrics whose corpus numbers were made elsewhere.
        lower_is_better: the metrics in `system_tables` for which lower is better.
        pairs: positions of the better and the worse segment of each pair that people gave, shape (P, 2); None where
            there are ratings.
        notes: what was left out, with counts and the first ids.
        counts: metric name -> flag -> number of judged segments, before those without a score are dropped or filled.
        describing: the metrics that judge nothing, such as a length.
    """

    segments: tuple[Segment, ...]
    human: Mapping[str, Array]
    scores: Mapping[str, Scores]
    system_tables: Mapping[str, ScoreTable] = dataclasses.field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    pairs: npt.NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    describing: frozenset[str] = frozenset()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics: first those with segment scores, then those with system scores alone."""
        return (*self.scores, *self.without_segments)

    @property
    def without_segments(self) -> tuple[str, ...]:
        """The metrics that have system scores alone."""
        return tuple(name for name in self.system_tables if name not in self.scores)

    def is_higher_better(self, metric: str) -> bool:
        """Whether higher is better for a metric."""
        return self.scores[metric].higher_is_better if metric in self.scores else metric not in self.lower_is_better

    def signature(self, metric: str) -> Signature:
        """The signature of a metric: what produced its scores."""
        return (
            self.scores[metric].signature
            if metric in self.scores
            else column_signature(self.system_tables[metric], metric)
        )

    def as_metrics(self) -> list[NewRow]:
        """The metrics as a result file names them: specification, signature, direction and counts of flags."""
        return [
            {
                "spec": name,
                "signature": str(self.signature(name)),
                "higher_is_better": self.is_higher_better(name),
                "flags": self.counts.get(name, {}),
                **({"judges": False} if name in self.describing else {}),
            }
            for name in self.metrics
        ]

    @property
    def groups(self) -> tuple[str | None, ...]:
        """The groups in the order of their first appearance."""
        return tuple(self.places)

    @cached_property
    def places(self) -> Mapping[str | None, npt.NDArray[np.int64]]:
        """Group -> the positions of its segments."""
        found: dict[str | None, list[int]] = {}
        for i, segment in enumerate(self.segments):
            found.setdefault(segment.group, []).append(i)
        return {group: np.array(where, dtype=np.int64) for group, where in found.items()}

    def columns(self) -> dict[str, Any]:
        """One row per segment, as `--segments` writes it: scores by every metric, and ratings as `human.CRITERION`."""
        ratings = {f"human.{name}": values for name, values in self.human.items()}
        return {**segment_columns(self.segments, self.scores), **ratings}

    def take(self, keep: Mask) -> JoinedScores:
        """The same data with only the segments that a mask of shape (n,) keeps."""
        where = np.flatnonzero(keep)
        pairs = self.pairs
        if pairs is not None:
            pairs = (np.cumsum(keep) - 1)[pairs[keep[pairs].all(axis=1)]]
        return dataclasses.replace(
            self,
            pairs=pairs,
            segments=tuple(self.segments[i] for i in where),
            human={name: values[where] for name, values in self.human.items()},
            scores={name: scores.take(where) for name, scores in self.scores.items()},
        )


def criteria_of(dataset: Dataset) -> tuple[str, ...]:
    """The criteria with at least one rating, in the order of their first appearance."""
    return tuple(
        dict.fromkeys(
            name
            for s in dataset
            for name, value in s.human.items()
            if value is not None and not (isinstance(value, Sized) and len(value) == 0)
        )
    )


def chosen_criteria(dataset: Dataset, wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """The criteria asked for: one name, several names, `all`, or None where the data have one criterion.

    Where the data have several, `mean` is one more: each segment's mean of them. `CRITERION.z` is a criterion without
    the severity of its raters. A criterion of the data that has one of these names is itself.

    Raises:
        InputError: there is no rating at all; a criterion is unknown (the error gives the nearest known one); or the
            data have several criteria and none was chosen.
    """
    known = criteria_of(dataset)
    name = dataset.name or "the dataset"
    if not known:
        of = wanted if isinstance(wanted, str) else next(iter(wanted or ()), "NAME")
        raise InputError(
            f"no segment of {name} has a human rating; give the rows a 'human' field, or name the column of ratings"
            f" (--columns human.{of}=COLUMN), or give the judgements as a table of their own"
        )
    if wanted is None:
        if len(known) > 1:
            raters = "; of raters with a column each make one: --columns human.NAME=ANN,human.NAME=BEN"
            raise InputError(
                f"{name} has {len(known)} criteria ({', '.join(known)}), expected the name of one, or 'all'"
                + ("" if any(segment.raters for segment in dataset) else raters)
            )
        return known
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if names == ["all"] and "all" not in known:
        return known
    if not names:
        raise InputError("no criterion is named, expected at least one")
    for criterion in names:
        is_made = (criterion == _MEAN and len(known) > 1) or base_of(dataset.segments, criterion) is not None
        if criterion not in known and not is_made:
            left = next((f"; {note}" for note in dataset.notes if f"column {criterion!r} left out" in note), "")
            raise InputError(f"no segment of {name} is rated for {criterion!r}{left or nearest(criterion, known)}")
        if names.count(criterion) > 1:
            raise InputError(f"criterion {criterion!r} is named twice")
    return tuple(names)


def judged(
    dataset: Dataset, criteria: Sequence[str], unrated: bool = False
) -> tuple[tuple[Segment, ...], dict[str, Array], list[str]]:
    """The segments with a rating for at least one of the criteria, in the order of the dataset.

    Args:
        dataset: the data set to take segments from.
        criteria: the criteria that count.
        unrated: also keep segments without such a rating, since metrics may be averaged over them.

    Returns:
        The segments, their ratings by criterion, and notes on what is missing.

    Raises:
        InputError: outputs for one item were written for different inputs.
    """
    known = criteria_of(dataset)
    notes: list[str] = []
    human = {name: _rated(dataset, name, notes) for name in criteria if name != _MEAN or name in known}
    if len(human) < len(criteria):
        means: Array = np.mean([ratings(dataset.segments, name) for name in known], axis=0)  # NaN where one of them is
        human = {name: human.get(name, means) for name in criteria}
        notes.append(f"{_MEAN} is each segment's mean of {', '.join(known)}")
    rated: Mask = np.asarray(~np.isnan(np.stack(list(human.values()))).all(axis=0))
    if not rated.all():
        named = some(s.id for s, there in zip(dataset.segments, rated, strict=True) if not there)
        fate = "used for metrics alone" if unrated else "left out"
        notes.append(f"{(~rated).sum()} of {len(rated)} segments have no rating and are {fate}: {named}")
    for name, values in human.items():
        lacking = np.isnan(values) & rated
        if lacking.any():
            named = some(dataset.segments[i].id for i in np.flatnonzero(lacking))
            notes.append(f"{lacking.sum()} of {rated.sum()} rated segments have no rating for {name!r}: {named}")
    notes += [note for name in criteria for note in _note_agreement(dataset.segments, name)]
    keep = np.ones(len(rated), dtype=np.bool_) if unrated else rated
    where = np.flatnonzero(keep)
    SameInputs().check(dataset.segments[i] for i in where)
    return tuple(dataset.segments[i] for i in where), {name: values[where] for name, values in human.items()}, notes


def _rated(dataset: Dataset, criterion: str, notes: list[str]) -> Array:
    """The ratings for a criterion, shape (n,); severity of raters is taken out in each group alone, and noted."""
    values = np.full(len(dataset), np.nan)
    groups = numbered([segment.group for segment in dataset])
    for group in range(groups.max(initial=-1) + 1):
        places = np.flatnonzero(groups == group)
        own, told = single_ratings([dataset.segments[i] for i in places], criterion)
        values[places] = [mean_of_ratings(given) for given in own]
        notes += told
    return values


def _note_agreement(segments: Sequence[Segment], criterion: str) -> Iterator[str]:
    """How far the people agree whose ratings of a segment are averaged, if there are several."""
    given = [value for s in segments if isinstance(value := s.human.get(criterion), list | tuple)]
    most = max(map(len, given), default=0)
    if most > 1:
        table = np.array([[*value, *[None] * (most - len(value))] for value in given], dtype=np.float64).T
        alpha = krippendorff(table, scale_of(table))
        shown = "undefined, since all ratings are equal" if np.isnan(alpha.value) else f"{alpha.value:.3f}"
        yield (
            f"{criterion!r} is the mean of up to {most} ratings of a segment; Krippendorff's alpha ({alpha.scale}) of"
            f" {alpha.n_ratings} ratings of {alpha.n_used} segments is {shown}"
        )


def paired(dataset: Dataset, pairs: Preferences) -> tuple[tuple[Segment, ...], npt.NDArray[np.int64], list[str]]:
    """The segments that occur in pairs, in the order of the dataset; the positions of each pair among them; and notes.

    Raises:
        InputError: an output is not among the segments, or a pair crosses groups.
    """
    places = pairs.places(dataset.segments)
    for better, worse in places:
        one, other = dataset.segments[better], dataset.segments[worse]
        if one.group != other.group:
            raise InputError(
                f"segments {one.id!r} and {other.id!r} are a pair, of groups {one.group!r} and {other.group!r};"
                " expected one group"
            )
    used, positions = np.unique(places, return_inverse=True)
    notes = [*pairs.notes, f"{len(places)} pairs of {len(used)} segments"]
    if len(used) < len(dataset):
        notes.append(f"{len(dataset) - len(used)} of {len(dataset)} segments are in no pair and are left out")
    return tuple(dataset.segments[i] for i in used), positions.reshape(-1, 2).astype(np.int64), notes


def column(
    table: ScoreTable,
    name: str,
    segments: Sequence[Segment],
    higher_is_better: bool = True,
    places: npt.NDArray[np.int64] | None = None,
    named: tuple[str, ...] | None = None,
) -> tuple[Scores, list[str]]:
    """One column of a table of segment scores, in the order of the segments; NaN where the table has no number.

    Args:
        table: the table.
        name: of the column.
        segments: the segments.
        higher_is_better: the direction of the column.
        places: `table.places(segments)`, where it is known already.
        named: the ids of the segments, where they are known already.

    Returns:
        The scores, and notes on rows that match no segment.

    Raises:
        InputError: no row matches any segment.
    """
    places = table.places(segments) if places is None else places
    where = table.name or "the score table"
    if len(segments) and (places < 0).all():
        first = segments[0]
        raise InputError(
            f"no row of {where} fits any of {len(segments)} judged segments: its first row is about {table.keys[0]},"
            f" the first segment is {first.id!r} (system {first.system!r}, item {first.item!r}, group {first.group!r})"
            if len(table)
            else f"{where} has no row"
        )
    values = np.where(places < 0, np.nan, table.column(name)[places]) if len(table) else np.full(len(segments), np.nan)
    notes = []
    used = np.zeros(len(table), dtype=np.bool_)
    used[places[places >= 0]] = True
    unused = np.flatnonzero(~used)
    if len(unused):
        lost = some(str(key) if key.id is None else key.id for key in (table.keys[i] for i in unused))
        notes.append(f"{where}: {len(unused)} of {len(table)} rows are about no judged segment: {lost}")
    named = ids(segments) if named is None else named
    return Scores(column_signature(table, name), named, values, higher_is_better=higher_is_better), notes


def column_signature(table: ScoreTable, name: str) -> Signature:
    """The signature of a column: what is recorded about it, with the file it comes from; else what is known of it."""
    origin = table.origins.get(name)
    if origin is None or not origin.signature:
        return stored_signature(name, table.name)
    first, _, rest = origin.signature.partition(":")
    return Signature(name, ((first, rest), ("from", table.name)))


def stored_signature(name: str, source: str) -> Signature:
    """The signature of scores that came without one: what is known of them."""
    entries = [("scores", name), *([("from", source)] if source else []), ("nlgauge", version("nlgauge"))]
    return Signature(name, tuple(entries))


def listed(
    values: Any, name: str, segments: Sequence[Segment], higher_is_better: bool = True
) -> tuple[Scores, list[str]]:
    """Scores given in Python: `Scores`, a mapping from id to number, or one number per segment.

    Returns:
        The scores, and notes on what was not used.

    Raises:
        InputError: the number of scores is not that of the segments, or ids match no segment.
    """
    if isinstance(values, Scores):
        higher_is_better = values.higher_is_better
        if values.ids == ids(segments):
            return values, []
        values = dict(zip(values.ids, values.values.tolist(), strict=True))
    if isinstance(values, Mapping):
        table = ScoreTable(
            tuple(Key(str(key)) for key in values), {name: np.array([_number(v) for v in values.values()])}, name=name
        )
        return column(table, name, segments, higher_is_better)
    array = np.array([_number(v) for v in values], dtype=np.float64)
    if array.shape != (len(segments),):
        raise InputError(
            f"{name}: {len(array)} scores for {len(segments)} segments; give one per segment, or a mapping from id to"
            " score"
        )
    return Scores(stored_signature(name, ""), ids(segments), array, higher_is_better=higher_is_better), []


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def settle(held: JoinedScores, missing: MissingPolicy) -> JoinedScores:
    """Apply a policy to rated segments for which a metric has no score.

    Args:
        held: scores with NaN where one is missing.
        missing: `refuse` raises an error that names the segments. `drop` leaves them out for all metrics alike, so
            that the metrics stay comparable. `worst` fills in the worst score of the metric, `zero` fills in 0.

    Raises:
        InputError: under `refuse`, a score is missing; the error gives the metric, the count and the first ids. Under
            `worst`, a metric has no score at all.
    """
    check_option("missing", missing, MissingPolicy, error=InputError)
    counts = {name: count(scores.flags, scores.values) for name, scores in held.scores.items()}
    held = dataclasses.replace(held, counts=counts)
    absent = {name: np.isnan(scores.values) for name, scores in held.scores.items()}
    if missing == "refuse" and held.human:
        held, absent = _forgive_unrated(held, absent)
    if not any(mask.any() for mask in absent.values()):
        return held
    lacks = "; ".join(
        f"{name} has no score for {mask.sum()} of {len(mask)} segments"
        f" ({some(held.segments[i].id for i in np.flatnonzero(mask))})"
        for name, mask in absent.items()
        if mask.any()
    )
    if missing == "refuse":
        raise InputError(f"{lacks}; score them, or choose missing='drop', 'worst' or 'zero'")
    if missing == "drop":
        lost = np.logical_or.reduce(list(absent.values()))
        if lost.all():
            raise InputError(f"{lacks}: no segment is left that all metrics score")
        note = f"{lost.sum()} of {len(lost)} segments are dropped for all metrics: {lacks}"
        return dataclasses.replace(held.take(~lost), notes=(*held.notes, note))
    filled = {
        name: _filled(name, scores, missing) if absent[name].any() else scores for name, scores in held.scores.items()
    }
    return dataclasses.replace(held, scores=filled, notes=(*held.notes, f"{lacks}: they count as {missing}"))


def _forgive_unrated(held: JoinedScores, absent: Mapping[str, Mask]) -> tuple[JoinedScores, dict[str, Mask]]:
    """The data with notes on scores of unrated segments that are missing; and which of rated ones are, shape (n,)."""
    unrated = np.logical_and.reduce([np.isnan(ratings) for ratings in held.human.values()])
    notes = [
        f"{name} has no score for {(mask & unrated).sum()} of {unrated.sum()} segments that nobody rated"
        f" ({some(held.segments[i].id for i in np.flatnonzero(mask & unrated))}); systems' scores leave them out"
        for name, mask in absent.items()
        if (mask & unrated).any()
    ]
    kept = {name: mask & ~unrated for name, mask in absent.items()}
    return dataclasses.replace(held, notes=(*held.notes, *notes)), kept


def _filled(name: str, scores: Scores, missing: str) -> Scores:
    known = scores.values[~np.isnan(scores.values)]
    if missing == "worst" and not len(known):
        raise InputError(f"missing='worst' takes the worst score of a metric, and {name} has no score at all")
    value = 0.0 if missing == "zero" else float(known.min() if scores.higher_is_better else known.max())
    # A filled-in value has no statistics, so corpus numbers become means of segment scores.
    return dataclasses.replace(
        scores, values=np.where(np.isnan(scores.values), value, scores.values), stats=None, finish=mean_of_defined
    )


def some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    named = list(names)
    return ", ".join(named[:_SHOWN]) + (f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else "")


# --- Scores of the judged segments, made under one policy for references; and the direction of scores made elsewhere

References = Literal["own", "mean", "best", "best_each", "first", "source"]
REFERENCES: tuple[str, ...] = get_args(References)
_SYNONYMS = {"max": "best", "joint": "own"}


def references_policy(name: str | None) -> References:
    """The references policy with this name; `max` means `best`, and None and `joint` mean `own`.

    Raises:
        InputError: the policy is unknown; the error gives the nearest known name.
    """
    policy = "own" if name is None else _SYNONYMS.get(name, name)
    if policy not in REFERENCES:
        raise InputError(f"references is {name!r}{nearest(str(name), (*REFERENCES, *_SYNONYMS))}")
    return policy  # type: ignore[return-value]


def score_judged(
    metrics: Mapping[str, BaseMetric],
    segments: Sequence[Segment],
    runtime: Runtime,
    references: str | None = None,
    language: LanguageCheck = "note",
) -> tuple[dict[str, Scores], list[str]]:
    """Score the segments by each metric; the scores are in the order of the segments.

    A `pooled` metric (idf, min-max) sees one group at a time, so that one language pair or task does not affect the
    scores of another; see `MetricInfo`.

    Returns:
        A mapping from name to Scores, and notes: what the metrics say of themselves, which are pooled, which segments
        have odd texts, and which are in a script that a metric does not read.

    Raises:
        InputError: segments lack what a metric needs; or, if `language` is `strict`, are in a script that it does not
            read.
    """
    adapted = readable(metrics, segments, references)
    for built in adapted.values():
        signature_of(built, runtime)  # a model that is missing is refused before another is asked
    about_texts = Looks(language).seen(adapted, segments if adapted else (), "judged segments", is_paired=True).notes()
    scored = score_grouped(adapted, segments, runtime)
    notes = [*own_notes(metrics), *grouped_notes(adapted, len({s.group for s in segments}))]
    about_flags = [
        note
        for name, built in adapted.items()
        for note in scored[name].flag_notes(name, "judged segments", None, cut_words(built))
    ]
    said = [*about_texts, *about_flags]
    say(*said)
    return scored, [*notes, *said]


def readable(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], references: str | None = None
) -> dict[str, BaseMetric]:
    """The metrics under a policy for references; segments that lack what one of them reads are refused.

    Raises:
        InputError: the policy is unknown, or a segment lacks something. If sources could replace the references, the
            error says so.
    """
    policy = references_policy(references)
    adapted: dict[str, BaseMetric] = (
        dict(metrics)
        if policy == "own"
        else {name: ReferencePolicyMetric(built, policy) for name, built in metrics.items()}
    )
    for name, built in adapted.items():
        if (
            "references" in built.info.needs
            and segments
            and not any(s.references for s in segments)
            and all(s.source for s in segments)
        ):
            raise InputError(
                f"{name} needs references and no segment has any; references='source' (--references source) takes"
                " the source for the reference, which is for text in the language of its source"
            )
        check_needs(built, segments)
    return adapted


def stand_ins(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], baseline: str | None = None
) -> dict[str, Scores]:
    """Random numbers in place of the scores of the first two metrics, and of the one that others are tested against.

    What is refused with them, such as a test that does not go with a statistic, is refused before anything is scored.
    """
    return {
        name: Scores(
            Signature(name, ()),
            ids(segments),
            np.random.default_rng(place).random(len(segments)),
            higher_is_better=built.info.higher_is_better,
        )
        for place, (name, built) in enumerate(metrics.items())
        if place < 2 or name == baseline
    }


def by_level(stored: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, ScoreTable]]:
    """The scores of segments, and the tables of systems; a metric may have both."""
    of_segments: dict[str, Any] = {}
    of_systems: dict[str, ScoreTable] = {}
    for name, values in stored.items():
        are_tables = isinstance(values, tuple) and all(isinstance(table, ScoreTable) for table in values)
        for part in values if are_tables else (values,):
            is_of_systems = isinstance(part, ScoreTable) and part.level == "system"
            (of_systems if is_of_systems else of_segments)[name] = part
    return of_segments, of_systems


def stored_columns(
    stored: Mapping[str, Any], segments: Sequence[Segment], up: Mapping[str, bool]
) -> tuple[dict[str, Scores], list[str]]:
    """Segment scores that were made elsewhere, and notes on what was not used."""
    columns: dict[str, Scores] = {}
    notes: list[str] = []
    places: dict[int, Any] = {}  # of each table, which may hold many columns
    named = ids(segments)
    for name, values in stored.items():
        if isinstance(values, ScoreTable):
            if id(values) not in places:
                places[id(values)] = values.places(segments)
            columns[name], more = column(values, name, segments, up[name], places[id(values)], named)
        else:
            columns[name], more = listed(values, name, segments, up[name])
        notes += more
    tables = {id(table): table for table in stored.values() if isinstance(table, ScoreTable)}
    return columns, [*notes, *(note for table in tables.values() for note in table.notes)]


def directions(stored: Mapping[str, Any], given: Mapping[str, bool]) -> tuple[dict[str, bool], list[str]]:
    """Whether higher is better, for each column of scores.

    Args:
        stored: name -> a table with a column of that name, `Scores`, a mapping from id to number, or numbers.
        given: name -> what the caller says.

    Returns:
        Name -> whether higher is better; and notes on what nobody says, with the option that does.
    """
    up: dict[str, bool] = {}
    undeclared: dict[tuple[str, str], list[str]] = {}  # what is said, the other direction -> columns
    for name, values in stored.items():
        if isinstance(values, Scores):
            up[name] = values.higher_is_better
        elif name in given:
            up[name] = given[name]
        else:
            origin = values.origins.get(name) if isinstance(values, ScoreTable) else None
            recorded = None if origin is None else origin.higher_is_better
            up[name], said = direction_of(name, _numbers(values, name), recorded)
            if said:
                undeclared.setdefault((said, "lower" if up[name] else "higher"), []).append(name)
    return up, [
        f"{', '.join(names)}: {said}; {_TURNED[other]} changes that (in Python {other}_is_better)"
        for (said, other), names in undeclared.items()
    ]


_TURNED = {
    "lower": "--lower-is-better NAME",
    "higher": "-m scores:file=FILE,column=NAME,higher_is_better=true",
}


def _numbers(values: Any, name: str) -> Array:
    if isinstance(values, ScoreTable):
        return values.column(name)
    numbers = values.values() if isinstance(values, Mapping) else values
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


# --- From segments to the vectors that a statistic compares: one group at one level

Level = Literal["segment", "item", "summary", "system"]
SystemScores = Literal["rated", "all"]
Aggregate = Literal["corpus", "mean"]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class GroupScores:
    """Scores and judgements of one group, of n segments or n systems.

    Attributes:
        group: the language pair, task or topic; None where the data name none.
        x: original scores of M metrics, shape (M, n); they are not oriented, so lower may be better.
        z: judgements, shape (n,); NaN where there is none.
        ids: the names of the n entries: segment ids or systems.
        items: the item of each entry; None where one is not known.
        systems: the system of each entry; None where one is not known.
        pairs: positions of the better and the worse entry of pairs that people gave, shape (P, 2); None where there
            are ratings instead.
    """

    group: str | None
    x: Array
    z: Array
    ids: tuple[str, ...]
    items: tuple[str, ...] | None
    systems: tuple[str, ...] | None
    pairs: Places | None = None

    @property
    def is_grid(self) -> bool:
        """Whether the entries form a grid.

        They do if every entry has a system and an item, no such pair occurs twice, and there are at least two items.
        """
        if self.systems is None or self.items is None or len(set(self.items)) < 2:
            return False
        return len(set(zip(self.systems, self.items, strict=True))) == len(self.items)

    def grid(self) -> tuple[Array, Array]:
        """Scores (M, S, N) and judgements (S, N); NaN where there is no segment.

        Systems and items stand in the order of their first appearance.

        Raises:
            InputError: systems or items are not known, or a system answers an item twice.
        """
        systems, items = needed(self.systems, "system", self), needed(self.items, "item", self)
        rows, columns = numbered(systems), numbered(items)
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        cells = rows * shape[1] + columns
        distinct, first = np.unique(cells, return_index=True)
        if len(distinct) < len(cells):
            i = int(np.setdiff1d(np.arange(len(cells)), first)[0])
            j = int(first[np.searchsorted(distinct, cells[i])])
            raise InputError(
                f"system {systems[i]!r} answers item {items[i]!r} twice (segments {self.ids[j]!r} and {self.ids[i]!r}),"
                " expected once"
            )
        x, z = np.full((len(self.x), shape[0] * shape[1]), np.nan), np.full(shape[0] * shape[1], np.nan)
        x[:, cells], z[cells] = self.x, self.z
        return x.reshape(-1, *shape), z.reshape(shape)


def segment_frame(held: JoinedScores, criterion: str, group: str | None) -> GroupScores:
    """The rated segments of a group."""
    places = held.places[group]
    places = places[~np.isnan(held.human[criterion][places])]
    segments = [held.segments[i] for i in places]
    return GroupScores(
        group,
        (
            np.stack([scores.values[places] for scores in held.scores.values()])
            if held.scores
            else np.empty((0, len(places)))
        ),
        held.human[criterion][places],
        tuple(s.id for s in segments),
        _all_or_none([s.item for s in segments]),
        _all_or_none([s.system for s in segments]),
        None if held.pairs is None else _within(held.pairs, places),
    )


def _within(pairs: Places, places: Places) -> Places:
    """The pairs of a group, as positions inside the group."""
    inside = np.isin(pairs, places).all(axis=1)
    return np.searchsorted(places, pairs[inside])


def system_frame(
    held: JoinedScores,
    criterion: str,
    group: str | None,
    over: SystemScores = "rated",
    aggregate: Aggregate = "corpus",
    outliers: str | None = None,
) -> tuple[GroupScores, list[str]]:
    """The systems of a group: the mean judgement of each system, and each metric's score of it.

    Args:
        held: segments of several systems.
        criterion: the criterion of the judgements.
        group: the group whose systems are compared.
        over: whether a metric's system score is over the `rated` segments of the system or over `all`.
        aggregate: `corpus` is the metric's own corpus number (BLEU from summed counts, say); `mean` is the mean of its
            segment scores.
        outliers: `mad` leaves out systems whose human score is far from the median.

    Returns:
        The systems, and notes on what was left out.

    Raises:
        InputError: a segment names no system, or a table of system scores lacks a system.
    """
    places = held.places[group]
    segments = [held.segments[i] for i in places]
    for segment in segments:
        if segment.system is None:
            raise InputError(f"segment {segment.id!r} names no system; level 'system' needs one for every segment")
    human = held.human[criterion]
    every = {
        name: places[positions]
        for name, positions in by_system([s.id for s in segments], [s.system for s in segments]).items()
    }
    rated = {name: where[~np.isnan(human[where])] for name, where in every.items()}
    means = {str(name): float(human[where].mean()) for name, where in rated.items() if len(where)}
    notes = []
    if outliers == "mad" and means:
        far = mad_outliers(list(means.values()))
        outlying = [name for name, is_far in zip(means, far, strict=True) if is_far]
        selection = select_systems(list(means), outliers=outlying)
        means = {name: means[name] for name in selection.kept}
        notes.append(f"{f'{group}: ' if group is not None else ''}{selection.note}")
    used = [every[name] if over == "all" else rated[name] for name in means]
    x = []
    for metric in held.metrics:
        if metric in held.scores and (metric not in held.system_tables or aggregate == "mean"):
            x.append([corpus_number(held.scores[metric], where, aggregate) for where in used])
        else:
            x.append(_systems_of_table(metric, held.system_tables[metric], group, list(means), len(held.groups)))
    names = tuple(means)
    return (
        GroupScores(
            group,
            np.array(x, dtype=np.float64).reshape(len(x), len(names)),
            np.array(list(means.values())),
            names,
            None,
            names,
        ),
        notes,
    )


def _systems_of_table(
    metric: str, table: ScoreTable, group: str | None, systems: list[str], n_groups: int
) -> list[float]:
    """System scores from a table. Rows that name no group belong to the only group there is."""
    if n_groups > 1 and table.groups == (None,):
        raise InputError(
            f"{metric} has a score of each system that names no language pair or task, and the data have {n_groups};"
            " give the rows an 'lp' or a 'task'"
        )
    fits = group in table.groups or group is None or table.groups == (None,)
    known = table.by_system(metric, group if group in table.groups else None) if fits else {}
    lacking = [name for name in systems if np.isnan(known.get(name, np.nan))]
    if lacking:
        raise InputError(
            f"{metric} has no score for {len(lacking)} of {len(systems)} rated systems ({some(lacking)})"
            f"{f' of {group}' if group is not None else ''}; score them, or exclude them"
        )
    return [known[name] for name in systems]


def corpus_number(scores: Scores, places: npt.NDArray[np.int64], aggregate: Aggregate) -> float:
    """A metric's score for some of the segments together; a mean is over those that have a score."""
    if aggregate == "mean":
        values = scores.values[places]
        known = values[~np.isnan(values)]
        return float(np.mean(known)) if len(known) else float("nan")
    return scores.take(places).system


def needed(labels: tuple[str, ...] | None, what: str, frame: GroupScores) -> tuple[str, ...]:
    """The labels, or an error where a statistic needs them and they are not known."""
    if labels is None:
        where = f" of group {frame.group!r}" if frame.group is not None else ""
        raise InputError(f"not every segment{where} names its {what}; this level or statistic needs the {what} of each")
    return labels


def check_level(level: str) -> str:
    """The level with this name; `summary` is another name for `item`.

    Raises:
        InputError: the level is unknown; the error gives the nearest known name.
    """
    check_option("level", level, Level, error=InputError)
    return "item" if level == "summary" else level


def check_items(frame: GroupScores) -> None:
    """Refuse a group in which no item has two rated outputs.

    Raises:
        InputError: no item has two rated outputs; the error names the first items.
    """
    items = needed(frame.items, "item", frame)
    if len(set(items)) == len(items):
        where = f" of group {frame.group!r}" if frame.group is not None else ""
        raise InputError(
            f"every item{where} has one rated output ({some(items)}), and within an item outputs are compared; "
            "level='segment' takes all segments together"
        )


def _all_or_none(labels: Sequence[str | None]) -> tuple[str, ...] | None:
    return None if any(label is None for label in labels) else tuple(str(label) for label in labels)
