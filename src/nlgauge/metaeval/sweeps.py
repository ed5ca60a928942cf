"""How much of another metric makes a metric better? Robustness against agreement with people, as the weight goes from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from nlgauge.audits.preference import ALL_GROUPS, preference_rows
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.options import OneOf, check_option
from nlgauge.core.result import Result
from nlgauge.core.segment import Dataset
from nlgauge.core.signature import signature_of, spec_of
from nlgauge.core.suite import Suite
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.mixing import NORMS, Attacked, ScoredDataset, judged_by, sum_of
from nlgauge.metaeval.rows import MEAN
from nlgauge.metrics.base import Metric, notes_of, trained_on
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlation.preferences import Ties
from nlgauge.stats.shares import mean_interval

WEIGHTS = tuple(round(0.1 * i, 1) for i in range(11))
ALL, ADEQUACY = "mean-all", "mean-adequacy"
NLI = ("nli", "summac")  # names of metrics that ask an NLI model
Row = dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """What `sweep` found.

    Attributes:
        rows: of the result file, one flat mapping each; see `docs/sweep.md`.
        metrics: specification, signature and direction of each metric.
        notes: how things were done.
    """

    rows: tuple[Mapping[str, Any], ...]
    metrics: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]

    def best(self, metric: str, partner: str, **where: Any) -> Mapping[str, Any]:
        """The row of the best weight of two metrics; `where` narrows down by stat or criterion.

        Raises:
            InputError: no row or several fit; there is none where a metric alone scores 0 or is undefined.
        """
        wanted = {"metric": metric, "with": partner, "best": True, **where}
        found = [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]
        if len(found) != 1:
            raise InputError(f"{len(found)} rows fit {wanted}, expected one; name stat and criterion")
        return found[0]

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `sweep`; `inputs` are the files read."""
        return Result("sweep", self.rows, inputs, self.metrics, self.notes)


def sweep(
    datasets: Dataset | Sequence[Dataset],
    suites: Suite | Sequence[Suite],
    metrics: str | Metric | Sequence[str | Metric],
    partners: str | Metric | Sequence[str | Metric],
    weights: Sequence[float] = WEIGHTS,
    *,
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    references: str | None = None,
    missing: str = "refuse",
    norm: str = "minmax",
    ties: str = "loss",
    intervals: str = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    runtime: Runtime | None = None,
) -> Sweep:
    """Mix every metric with every partner at every weight, and hold the sums against people and against attacks.

    Args:
        datasets: texts with ratings.
        suites: pairs with a known order.
        metrics: specifications or metric objects: what is to be made better.
        partners: what each of them is mixed with, `weight * partner + (1 - weight) * metric`.
        weights: of the partner, in [0, 1]; 0 and 1, each metric alone, are added.
        criterion, level, stats, references, intervals: as in `meta_evaluate`; several references are folded before the
        scores are scaled.
        missing: rated segments without a score: `refuse`, or `drop` them for both.
        norm: how two metrics are brought to one scale before they are mixed: `minmax`, `zscore` or `none`, in each
            group of a data set (language pair, task) and each phenomenon of a suite.
        ties: in preferences: `loss`, `half`, `exclude` or `zero`.
        confidence: of the intervals.
        seed: of bootstrap intervals.
        runtime: device, precision, cache.

    Raises:
        InputError: data that do not fit together; a metric that is constant over a pool.
        SpecError: an unknown metric; none that differ.

    References:
        Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference", section 5.3, figures 2
        to 4, tables 9 and 10.
    """
    sets = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    attacks = [suites] if isinstance(suites, Suite) else list(suites)
    check(sets, attacks, norm=norm, ties=ties, missing=missing)
    wanted = check_weights(weights)
    ones, others = named(metrics), named(partners)
    both = {**ones, **others}
    pairs = [(a, b) for a in ones for b in others if spec_of(ones[a]) != spec_of(others[b])]
    if not pairs:
        raise SpecError(f"{next(iter(ones))} has nothing to be mixed with but itself; name another metric as partner")
    context = runtime or Runtime(seed=seed)
    notes: list[str] = []
    people: list[Row] = []
    for dataset in sets:
        held = judged_by(dataset, both, criterion, context, references)
        options = {"level": level, "stats": stats, "missing": missing, "intervals": intervals, "seed": seed or None}
        found, told = _agreement(held, pairs, wanted, norm, criterion, options)
        people += found
        notes += [f"{dataset.name}: {note}" if len(sets) > 1 else note for note in [*dataset.notes, *told]]
    robust: list[Row] = []
    for suite in attacks:
        attacked = Attacked(suite, both, context, "source" if references == "source" else "own")
        for pair in pairs:
            robust += _robustness(attacked, pair, wanted, norm, ties, confidence)
        notes += [f"{suite.name}: {note}" if len(attacks) > 1 else note for note in suite.notes]
    is_nli = {name: built.info.name in NLI for name, built in others.items()}
    notes += about_training(both, {pair.phenomenon for suite in attacks for pair in suite})
    rows = list(_joined(people, robust, pairs, wanted, norm, is_nli))
    with_gains(rows)
    mark_best(rows)
    rows += curves(rows, confidence)
    entries = [
        {"spec": name, "signature": str(signature_of(b, context)), "higher_is_better": b.info.higher_is_better}
        for name, b in both.items()
    ]
    notes += [note for built in both.values() for note in notes_of(built)]
    return Sweep(tuple(rows), tuple(entries), tuple(dict.fromkeys([*notes, *_about(norm, ties)])))


def check(
    datasets: Sequence[Dataset],
    suites: Sequence[Suite],
    *,
    norm: str = "none",
    ties: str,
    missing: str,
    either: bool = False,
) -> None:
    """Refuse what could not be done, before anything is scored; `either` is enough, or both kinds of sets are needed."""
    for what, given in (("data set", datasets), ("suite", suites)):
        if not given and either:
            continue
        if not given:
            raise InputError(f"no {what} is given, expected at least one")
        names = [one.name for one in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{what} {twice!r} is given twice"
                if twice
                else f"{len(names)} {what}s have one name; give each a name of its own"
            )
    check_option("norm", norm, Annotated[str, OneOf(NORMS)], error=InputError)
    check_option("ties", ties, Ties, error=InputError)
    check_option("missing", missing, Literal["refuse", "drop"], error=InputError)
    for suite in suites:
        if all(pair.expect == "same" for pair in suite):
            raise InputError(
                f"no pair of {suite.name or 'the suite'} has a better text; a sweep asks which of two is better"
            )


def about_training(metrics: Mapping[str, Metric], phenomena: Collection[str]) -> Iterator[str]:
    """Say which attacks a metric's model was shown in training: they are no blind test of it, nor of a sum it is in."""
    for name, metric in metrics.items():
        seen = [one for one in trained_on(metric) if one in phenomena]
        if seen:
            yield (
                f"{name} was trained on {', '.join(seen)}: what it does there, and the means over them, say little of"
                " attacks it has not seen"
            )


def check_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights in order, with 0 and 1.

    Raises:
        InputError: one outside [0, 1].
    """
    for weight in weights:
        if not 0 <= weight <= 1:
            raise InputError(f"weight {weight:g} is outside of 0 to 1")
    return tuple(sorted({0.0, 1.0, *(float(w) for w in weights)}))


def parse_weights(text: str) -> tuple[float, ...]:
    """Weights as typed: `from:to:step`, or some with commas between them.

    Raises:
        InputError: what was expected.
    """
    expected = InputError(f"weights are {text!r}, expected from:to:step (0:1:0.1) or numbers in [0, 1] (0.2,0.3)")
    try:
        if ":" not in text:
            found = tuple(float(part) for part in text.split(","))
        else:
            low, high, step = (float(part) for part in text.split(":"))
            if not 1e-4 <= step <= 1 or not 0 <= low <= high <= 1:
                raise expected
            found = tuple(round(low + step * i, 10) for i in range(math.floor((high - low) / step + 1e-9) + 1))
    except ValueError:
        raise expected from None
    if not all(0 <= weight <= 1 for weight in found):
        raise expected
    return found


def _agreement(
    held: ScoredDataset,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    norm: str,
    criterion: Any,
    options: Mapping[str, Any],
) -> tuple[list[Row], list[str]]:
    """Rows of every sum against people, by group and their mean; what is the same for several pairs (a metric alone) is measured once."""
    scores = {}
    for one, other in pairs:
        both = held.mixture(one, other, norm)
        for weight in weights:
            name = sum_of(one, other, weight, norm)
            if name not in scores:
                scores[name] = held.as_scores(name, both.at(weight))
    found = meta_evaluate(
        held.dataset,
        (),
        criterion,
        scores=scores,
        **{key: value for key, value in options.items() if value is not None},
    )
    return [{**row, "dataset": held.dataset.name} for row in found.rows], [*held.notes, *found.notes]


def _robustness(
    attacked: Attacked, pair: tuple[str, str], weights: Sequence[float], norm: str, ties: str, confidence: float
) -> Iterator[Row]:
    for weight, sides in attacked.mixed(*pair, norm, weights).items():
        found = preference_rows(attacked.suite, sides, ties=ties, confidence=confidence, distances=False)
        several = any(row["group"] == ALL_GROUPS for row in found)
        known = trained_on(sides.metric)
        for row in found:
            if row["expect"] == "lower" and (not several or row["group"] == ALL_GROUPS):
                yield {
                    **row,
                    "pair": pair,
                    "weight": weight,
                    "suite": attacked.suite.name,
                    "trained_on": row["phenomenon"] in known,
                }


def _joined(
    people: Sequence[Row],
    robust: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    norm: str,
    is_nli: Mapping[str, bool],
) -> Iterator[Row]:
    """Rows by group, by phenomenon, by data set and suite, and of their means."""
    tasks = list(dict.fromkeys((r["criterion"], r["level"], r["averaging"], r["stat"]) for r in people))
    by_sum: dict[str, list[Row]] = {}
    for row in people:
        by_sum.setdefault(row["metric"], []).append(row)
    by_pair: dict[tuple[tuple[str, str], float], list[Row]] = {}
    for row in robust:
        by_pair.setdefault((row["pair"], row["weight"]), []).append(row)
    for one, other in pairs:
        for weight in weights:
            spec = sum_of(one, other, weight, norm)
            base = {
                "metric": one,
                "with": other,
                "partner": "nli" if is_nli[other] else "other",
                "weight": weight,
                "spec": spec,
            }
            accuracies = by_pair[(one, other), weight]
            yield from (_row(base, suite=r["suite"], phenomenon=r["phenomenon"], attack=r) for r in accuracies)
            for task in tasks:
                own = [r for r in by_sum[spec] if (r["criterion"], r["level"], r["averaging"], r["stat"]) == task]
                several = len({(r["dataset"], r["group"]) for r in own}) > 2 * len({r["dataset"] for r in own})
                yield from (
                    _row(base, dataset=r["dataset"], group=r["group"], human=r)
                    for r in own
                    if several and r["group"] != MEAN
                )
                yield from _points(base, [r for r in own if r["group"] == MEAN], accuracies)


def _points(base: Row, agreements: Sequence[Row], accuracies: Sequence[Row]) -> Iterator[Row]:
    """Each data set against each suite, and the means where there are several."""
    counted = {name: [r for r in accuracies if r["phenomenon"] == name] for name in (ALL, ADEQUACY)}
    if sum(r["n"] for r in counted[ALL]) == sum(r["n"] for r in counted[ADEQUACY]):
        del counted[ADEQUACY]
    for name, own in counted.items():
        if name == ADEQUACY and len(own) < len(counted[ALL]):
            continue  # a suite without such phenomena
        for human in agreements:
            for attack in own:
                yield _row(base, human["dataset"], attack["suite"], MEAN, name, human, attack)
        if len(agreements) > 1 or len(own) > 1:
            human = {
                **agreements[0],
                "value": _mean(agreements, "value"),
                "low": math.nan,
                "high": math.nan,
                "n_used": len(agreements),
            }
            attack = {
                **own[0],
                "accuracy": _mean(own, "accuracy"),
                "low": math.nan,
                "high": math.nan,
                "n": sum(r["n"] for r in own),
            }
            yield _row(base, MEAN, MEAN, MEAN, name, human, attack)


def _row(
    base: Row,
    dataset: str | None = None,
    suite: str | None = None,
    group: str | None = None,
    phenomenon: str | None = None,
    human: Row | None = None,
    attack: Row | None = None,
) -> Row:
    about = {key: human[key] if human is not None else None for key in ("stat", "criterion", "level", "averaging")}
    h = human or {"value": math.nan, "low": math.nan, "high": math.nan, "n_used": None}
    a = attack or {"accuracy": math.nan, "low": math.nan, "high": math.nan, "n": None, "trained_on": None}
    return {
        **base,
        "dataset": dataset,
        "suite": suite,
        **about,
        "group": group,
        "phenomenon": phenomenon,
        "correlation": h["value"],
        "low": h["low"],
        "high": h["high"],
        "n_used": h["n_used"],
        "accuracy": a["accuracy"],
        "accuracy_low": a["low"],
        "accuracy_high": a["high"],
        "n_pairs": a["n"],
        "trained_on": a["trained_on"],
    }


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


_KEY = ("metric", "with", "dataset", "suite", "stat", "criterion", "level", "group", "phenomenon")


def with_gains(rows: Sequence[Row]) -> None:
    """Add to each row by how much both numbers change against the metric alone, in shares of its size, and the mean of the two changes.

    NaN where the metric alone has 0 or is undefined.
    """
    alone = {tuple(row[key] for key in _KEY): row for row in rows if row["weight"] == 0}
    for row in rows:
        start = alone[tuple(row[key] for key in _KEY)]
        for name in ("correlation", "accuracy"):
            row[f"gain_{name}"] = relative(start[name], row[name])
        row["gain"] = (row["gain_correlation"] + row["gain_accuracy"]) / 2
        row["best"] = False


def relative(before: float, after: float) -> float:
    """The change in shares of the size of what was before; NaN where that is 0."""
    return (after - before) / abs(before) if before else math.nan


def mark_best(rows: Sequence[Row]) -> None:
    """Mark for each pair, statistic and criterion the weight with the greatest mean gain among those at which neither number falls.

    Over all data sets and suites, all phenomena. The smallest of equals; 0 where every weight costs something.
    """
    parts: dict[Any, list[Row]] = {}
    for row in rows:
        if row["dataset"] is not None and row["suite"] is not None and row["phenomenon"] == ALL:
            parts.setdefault((row["metric"], row["with"], row["stat"], row["criterion"], row["level"]), []).append(row)
    for own in parts.values():
        _mark([row for row in own if row["dataset"] == MEAN] or own)


def _mark(rows: Sequence[Row]) -> None:
    fit = [row for row in rows if row["gain_correlation"] >= 0 and row["gain_accuracy"] >= 0]
    if fit:
        max(fit, key=lambda row: row["gain"])["best"] = True


def curves(rows: Sequence[Row], confidence: float = 0.95) -> list[Row]:
    """Rows of the mean gain at each weight over all pairs of metrics and all sets, with Student's intervals.

    A gain in correlation is one of a pair on a data set, a gain in accuracy one of a pair on a suite. Pairs with an NLI
    metric and pairs of others have curves of their own; the best weight of each is marked as that of a pair is.

    References:
        Chen and Eger (2023), figure 3.
    """
    found = []
    points = [row for row in rows if row["dataset"] not in (None, MEAN) and row["suite"] not in (None, MEAN)]
    parts: dict[Any, dict[float, list[Row]]] = {}
    for row in points:
        key = tuple(row[name] for name in ("partner", "stat", "criterion", "level", "averaging", "phenomenon"))
        parts.setdefault(key, {}).setdefault(row["weight"], []).append(row)
    for own in parts.values():
        curve = [_mean_gains(weight, at, confidence) for weight, at in own.items()]
        if curve[0]["phenomenon"] == ALL:
            _mark(curve)
        found += curve
    return found


def _mean_gains(weight: float, points: Sequence[Row], confidence: float) -> Row:
    first = points[0]
    base = {"metric": MEAN, "with": MEAN, "partner": first["partner"], "weight": weight, "spec": None}
    row = {
        **_row(base, MEAN, MEAN, MEAN, first["phenomenon"]),
        **{key: first[key] for key in ("stat", "criterion", "level", "averaging")},
    }
    for name, where in (("correlation", "dataset"), ("accuracy", "suite")):
        gains = np.array(list({(r["metric"], r["with"], r[where]): r[f"gain_{name}"] for r in points}.values()))
        known = gains[~np.isnan(gains)]
        row[f"gain_{name}"], row[f"gain_{name}_low"], row[f"gain_{name}_high"] = mean_interval(gains, confidence)
        row[f"gain_{name}_median"] = float(np.median(known)) if len(known) else math.nan
        row[f"n_{name}"] = len(known)
    return {**row, "gain": (row["gain_correlation"] + row["gain_accuracy"]) / 2, "best": False}


def _about(norm: str, ties: str) -> Iterator[str]:
    how = {"minmax": "by their least and greatest", "zscore": "to mean 0 and deviation 1", "none": "not at all"}[norm]
    yield f"scores are scaled {how}, in each group of a data set and each phenomenon of a suite, before they are mixed"
    yield (
        "gains are shares of what the metric alone has; best: the greatest mean of both gains among the weights at"
        " which neither number falls"
    )
    if ties != "loss":
        yield f"ties in preferences count as {ties}"
