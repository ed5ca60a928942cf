"""Which layer of an encoder, and which formula of an NLI metric, agrees best with people?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.audits.preference import ALL_GROUPS, preference_rows
from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, MetricLike, cut_words
from nlgauge.core.result import NewRow, Outcome, Result, Row
from nlgauge.core.scores import add, count_notes, say, warning
from nlgauge.core.segment import Dataset
from nlgauge.core.suite import Suite
from nlgauge.metaeval.evaluate import MetaEvaluation, meta_evaluate
from nlgauge.metaeval.sweep import (
    ALL,
    Attacked,
    Strategy,
    about_training,
    check,
    left_out,
    metric_entries,
    of_copies,
    rank,
    rehearse,
    winning,
)
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.nli import FORMULAS, Answers, Direction, Nli
from nlgauge.metrics.registry import named
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime


@by_value
@dataclass(frozen=True)
class LayerStudy:
    """Agreement with people by layer; layer 0 (the embeddings) comes first.

    Attributes:
        values: the mean over groups at each layer, shape (layers,); NaN where no group has a defined value.
        found: the numbers behind the means, one per layer and group, as `meta_evaluate` returns them.
        model: the model, named as in specifications of `bertscore`.
    """

    values: np.ndarray[tuple[int], np.dtype[np.float64]]
    found: tuple[MetaEvaluation, ...]
    model: str = "embedded"

    @property
    def best(self) -> int:
        """The layer with the highest value; among equals the lowest layer, which is the fastest.

        Raises:
            InputError: no value is defined.
        """
        if np.isnan(self.values).all():
            raise InputError("no layer has a defined value; are the judgements or the texts all the same?")
        return int(np.nanargmax(self.values))


def layers_result(studies: Sequence[LayerStudy], inputs: Sequence[Mapping[str, str]] = ()) -> Result:
    """The result file of several models: the rows of every layer, each with its `model` and `layer`.

    The rows whose group is `mean` are the curves of figure 3.
    """
    rows: list[dict[str, Any]] = []
    metrics: list[Mapping[str, Any]] = []
    notes: dict[str, None] = {}
    for study in studies:
        of = f" of {study.model}" if len(studies) > 1 else ""
        notes[f"best layer{of}: {study.best} of 0 to {len(study.values) - 1}"] = None
        for layer, one in enumerate(study.found):
            result = one.result()
            rows += [{**row, "model": study.model, "layer": layer} for row in result.rows]
            metrics += result.metrics
    notes |= dict.fromkeys(note for study in studies for one in study.found for note in one.notes)
    return Result("meta", rows, inputs, metrics, list(notes))


def layer_study(
    dataset: Dataset,
    model: str = "embedded",
    criterion: str | None = None,
    level: str = "segment",
    stat: str = "pearson",
    *,
    idf: bool = False,
    runtime: Runtime | None = None,
    advance: Callable[[int, Row], None] = lambda layer, row: None,
) -> LayerStudy:
    """Compare BERTScore at every layer of a model with human judgements.

    Every layer is scored on its own, through the score cache of the runtime. A study that was interrupted therefore
    continues where it stopped.

    Args:
        dataset: texts with references and ratings.
        model: the model, named as in specifications of `bertscore`.
        criterion: what was rated; it may be left out where the data have one criterion.
        level: `segment`, `item` or `system`.
        stat: the name of a statistic; see `nlgauge list statistics`.
        idf: whether to weight word pieces by idf.
        runtime: device, precision and cache.
        advance: called with each layer and its row of the mean over groups when the layer is done.

    Raises:
        InputError: the data do not fit together; see `meta_evaluate`.

    References:
        Zhang et al. (2020), appendix B and figure 3: the layer is chosen by segment-level Pearson on WMT16 to English.
    """
    found = []
    values = []
    for layer in range(locate(model).depth + 1):
        metric = BertScore(model=model, layer=layer, idf=idf)
        one = meta_evaluate(dataset, metric, criterion, level, stat, runtime=runtime)
        found.append(one)
        row = one.row(one.held.metrics[0])
        values.append(float(row["value"]))
        advance(layer, row)
    return LayerStudy(np.array(values), tuple(found), model)


# --- Which formula and direction suit an NLI metric best? The study compares all fifteen and says what a choice costs

DIRECTIONS: tuple[Direction, ...] = ("forward", "backward", "both")  # the paper's
STRATEGIES = tuple((formula, direction) for formula in FORMULAS for direction in DIRECTIONS)
KINDS = ("correlation", "accuracy")
_Answer = tuple[Array, bool, float, bool]  # probabilities, whether text was cut, share of unknown pieces, no pieces

_SHARED = "a win is shared by strategies that are equally good; accuracies are means over the phenomena of a suite"
_CHOICE = (
    "left out: the strategy that wins most often over all metrics and the other sets, compared with the best one on the"
    " set itself; cost is the difference"
)


@dataclass(frozen=True, repr=False)
class PoolingStudy(Outcome):
    """The result of `pooling_study`.

    Attributes:
        rows: the rows of the result file, each a flat mapping; page `reference/results` names the fields.
        metrics: the specification, signature and direction of each metric as typed.
        notes: how things were done.
    """

    rows: tuple[Row, ...]
    metrics: tuple[Row, ...]
    notes: tuple[str, ...]

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file: schema 1, kind `sweep`; `inputs` lists the files that were read."""
        return Result("sweep", self.rows, inputs, self.metrics, self.notes)


@dataclass(frozen=True, kw_only=True)
class _Remembering(Nli):
    """An NLI metric that asks its model about each pair once; the strategies of one model share the answers."""

    answers: dict[tuple[str, str], _Answer] = field(init=False, repr=False, compare=False, default_factory=dict)

    def _ask(self, pairs: list[tuple[str, str]], runtime: Runtime) -> Answers:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.answers]
        if new:
            told = super()._ask(new, runtime)
            columns = told.probabilities, told.truncated, told.unknown, told.empty
            self.answers.update(zip(new, zip(*columns, strict=True), strict=True))
        probabilities, *said = zip(*(self.answers[pair] for pair in pairs), strict=True)
        return Answers(np.stack(probabilities), *map(np.array, said))


def strategies(metric: Nli) -> dict[Strategy, Nli]:
    """The metric under every formula and direction; the model is asked about a pair once for all of them."""
    options = {f.name: getattr(metric, f.name) for f in dataclasses.fields(Nli) if f.init}
    found = {
        (formula, way): _Remembering(**{**options, "formula": formula, "direction": way}) for formula, way in STRATEGIES
    }
    shared: dict[tuple[str, str], _Answer] = {}
    for built in found.values():
        object.__setattr__(built, "answers", shared)
    return dict(found.items())


@warning
def pooling_study(
    datasets: Dataset | Sequence[Dataset],
    suites: Suite | Sequence[Suite],
    metrics: MetricLike | Sequence[MetricLike],
    *,
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    runtime: Runtime | None = None,
) -> PoolingStudy:
    """Compare five formulas in three directions with human judgements and under attacks.

    Args:
        datasets, suites: texts with ratings, and pairs with a known order; at least one data set or one suite.
        metrics: `nli` metrics, whatever their formula and direction; with references and with the source are two.
        criterion, level, stats: as in `meta_evaluate`, but with one statistic.
        runtime: device and cache.

    Raises:
        InputError: neither a data set nor a suite is given, or several statistics are.
        SpecError: a metric is not `nli`, or two metrics differ only in formula and direction.

    References: Chen and Eger (2023), "MENLI", sections 4.3 and 5, table 7; preprint, tables 3 and 7.
    """
    sets = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    attacks = [suites] if isinstance(suites, Suite) else list(suites)
    if not sets and not attacks:
        raise InputError("no data set and no suite is given, expected at least one of either")
    check(sets, attacks, either=True)
    if stats is not None and not isinstance(stats, str) and len(stats) > 1:
        raise InputError(f"a pooling study takes one statistic, got {', '.join(stats)}")
    context = runtime or Runtime()
    chosen = _checked(named(metrics, context.encoder))
    copies = of_copies(attacks, chosen)
    rehearse(sets, chosen, criterion, level=level, stats=stats)
    parts: list[_Strategies] = []
    for name, metric in chosen.items():
        own = strategies(metric)
        parts += [_agreement(name, own, dataset, criterion, level, stats, context) for dataset in sets]
        parts += [_robustness(name, own, suite, context) for suite in attacks]
    values = [row for part in parts for row in part.rows]
    rank(values)
    rows = [*values, *winning(values), *left_out(values)]
    flagged = [note for part in parts for note in part.notes(len(sets) + len(attacks) > 1)]
    say(*flagged)
    notes = [
        *copies,
        *flagged,
        _SHARED,
        _CHOICE,
        *about_training(chosen, {pair.phenomenon for suite in attacks for pair in suite}),
    ]
    counts = {name: add(*(part.counts for part in parts if part.metric == name)) for name in chosen}
    return PoolingStudy(tuple(rows), metric_entries(chosen, counts, context), tuple(notes))


@dataclass(frozen=True)
class _Strategies:
    """The strategies of one metric on one set: their rows, and how many of its n texts or pairs have which flag.

    `cut` is what becomes of texts that are too long for it."""

    metric: str
    where: str
    of: str
    rows: Sequence[NewRow]
    counts: Mapping[str, int]
    n: int
    cut: str

    def notes(self, several: bool) -> Iterator[str]:
        """The counts in words, with the name of the set where there are several."""
        fate = "they count as losses" if self.of == "pairs" else "those rated are left out"
        for note in count_notes(self.metric, self.counts, self.n, self.of, undefined=fate, cut=self.cut):
            yield note.after(f"{self.where}: ") if several else note


def _checked(metrics: Mapping[str, BaseMetric]) -> dict[str, Nli]:
    found: dict[str, Nli] = {}
    for name, metric in metrics.items():
        if not isinstance(metric, Nli):
            raise SpecError(f"{name} is no nli metric; a pooling study is about the formulas and directions of one")
        plain = dataclasses.replace(metric, formula="e", direction="both")
        same = next(
            (other for other, m in found.items() if dataclasses.replace(m, formula="e", direction="both") == plain),
            None,
        )
        if same is not None:
            raise SpecError(
                f"{same} and {name} differ in formula and direction alone, of which all are tried; name one of the two"
            )
        found[name] = metric
    return found


def _agreement(
    name: str,
    own: Mapping[Strategy, Nli],
    dataset: Dataset,
    criterion: Any,
    level: str | None,
    stats: Any,
    runtime: Runtime,
) -> _Strategies:
    found = meta_evaluate(dataset, list(own.values()), criterion, level, stats, intervals="none", runtime=runtime)
    several = len({row["criterion"] for row in found.rows}) > 1
    rows: list[NewRow] = []
    for (strategy, metric), spec in zip(own.items(), found.held.metrics, strict=True):
        for row in found.rows:
            if row["metric"] == spec and row["group"] == MEAN and not (several and row["criterion"] == MEAN):
                about = {key: row[key] for key in ("stat", "criterion", "level")}
                rows.append(
                    _row(name, metric, strategy, "correlation", dataset.name, spec, row["value"], row["n_used"], about)
                )
    held, first = found.held, found.held.metrics[0]  # what one strategy cannot read, none can
    return _Strategies(
        name, dataset.name, "judged segments", rows, held.counts[first], len(held.segments), cut_words(metric)
    )


def _robustness(name: str, own: Mapping[Strategy, Nli], suite: Suite, runtime: Runtime) -> _Strategies:
    specs = named(list(own.values()))
    attacked = Attacked(suite, specs, runtime)
    about = {"stat": "preference_accuracy", "criterion": None, "level": None}
    rows: list[NewRow] = []
    for (strategy, metric), spec in zip(own.items(), specs, strict=True):
        every = preference_rows(suite, attacked.alone(spec), distances=False)
        means = [row for row in every if row.phenomenon == ALL]
        row = next((row for row in means if row.group == ALL_GROUPS), means[0])
        rows.append(_row(name, metric, strategy, "accuracy", suite.name, spec, row.accuracy, row.n, about))
    sides = attacked.alone(next(iter(specs)))
    return _Strategies(name, suite.name, "pairs", rows, sides.counts, len(sides.places), cut_words(metric))


def _row(
    name: str,
    metric: Nli,
    strategy: Strategy,
    kind: str,
    where: str,
    spec: str,
    value: float,
    n: int,
    about: Mapping[str, Any],
) -> NewRow:
    formula, direction = strategy
    return {
        "table": "values",
        "metric": name,
        "setup": "ref" if metric.anchor == "reference" else "src",
        "kind": kind,
        "set": where,
        **about,
        "formula": formula,
        "direction": direction,
        "spec": spec,
        "value": value,
        "n": n,
    }
