"""How often people agree with a difference of two systems: a table for `nlgauge score --thresholds`, fitted to ratings.

    python recipes/tools/thresholds/fit.py RATED.jsonl [MORE.jsonl ...] -m chrf bleu -c relevance -o table.json

Each group of a file is a set, of which segments count that are rated for all systems. It prints the differences with
which people agree so often; `-` says that no pair was so far apart. Three systems are too few to say anything.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.core.errors import SpecError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import version
from nlgauge.io import open_data
from nlgauge.metaeval.evaluate import joined_scores
from nlgauge.metaeval.joined import JoinedScores
from nlgauge.metrics.registry import metric as metric_of
from nlgauge.scoring.thresholds import FORMS, UNIT, AgreementCurve, Form, logistic, slope_at

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)  # segments of a sample, as far as a set has more
SAMPLES = 10  # of each size, so that pairs over few segments count, too
DRAWS = 200  # resamples of sets and systems, for intervals
_EXACT = 1e-9  # two means that are equal on paper may differ in the last digits
_WIDE = 4  # times as many segments in the largest sample as in the smallest, or the data cannot say what n does
_KNOTS = 20  # of the isotonic curve, at quantiles of the differences
_STEEPEST = 1e3  # slope times the median difference; beyond it all shares are 1
_VERDICTS = 100  # that people might have given, for what chance does
_SURE = 1e-6  # a share nearer to 0 or 1 would give one wrong pair an infinite loss


# --- From rated systems to pairs of them


@dataclass(frozen=True)
class RatedSet:
    """The S rated systems of one group, on the N items that all of them have.

    Attributes:
        group, criterion, systems: what was rated.
        places: positions of the segments among all segments, shape (S, N).
        ratings: shape (S, N).
        samples: positions of items, one array per sample; the last holds all items.
    """

    group: str | None
    criterion: str
    systems: tuple[str, ...]
    places: Array
    ratings: Array
    samples: tuple[Array, ...]

    def as_json(self) -> dict[str, Any]:
        items = self.ratings.shape[1]
        return {"group": self.group, "criterion": self.criterion, "systems": list(self.systems), "items": items}


@dataclass(frozen=True)
class SystemPairs:
    """P pairs of systems, compared with people. A pair may stand there several times, on other items.

    Attributes:
        difference: by how much the metric prefers one of the two, 0 or more, shape (P,), as are all others.
        agreed: 1 where people prefer the same one, 0 the other, 0.5 neither.
        n: the number of segments behind the difference.
        first, second: numbers of the two systems; systems of different sets have different numbers.
        group: number of the set.
        weight: what a row counts; the rows of one pair sum to 1.
    """

    difference: Array
    agreed: Array
    n: Array
    first: Array
    second: Array
    group: Array
    weight: Array

    @property
    def n_pairs(self) -> int:
        return len(np.unique(np.stack([self.first, self.second]), axis=1).T)

    def weighted(self, weight: Array) -> SystemPairs:
        """The same pairs with other weights; those of weight 0 are left out."""
        kept = {name: values[weight > 0] for name, values in vars(self).items()}
        return SystemPairs(**{**kept, "weight": weight[weight > 0]})


def rated_sets(held: JoinedScores) -> list[RatedSet]:
    """The rated systems of each group, with samples of their items that every metric sees."""
    ((criterion, human),) = held.human.items()
    rng = np.random.default_rng(0)
    sets = []
    for group, own in held.places.items():
        own = own[~np.isnan(human[own])]
        if not len(own):
            continue
        by_system: dict[str, dict[str, int]] = {}
        for place in own.tolist():
            segment = held.segments[place]
            by_system.setdefault(str(segment.system), {})[str(segment.item)] = place
        every = dict.fromkeys(item for mine in by_system.values() for item in mine)
        common = [item for item in every if all(item in mine for mine in by_system.values())]
        places = np.array([[mine[item] for item in common] for mine in by_system.values()], dtype=np.int64)
        n = len(common)
        samples = [rng.choice(n, size, replace=False) for size in SIZES if size < n for _ in range(SAMPLES)]
        sets.append(RatedSet(group, criterion, tuple(by_system), places, human[places], (*samples, np.arange(n))))
    return sets


def system_pairs(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], metric: str) -> SystemPairs:
    """All pairs of systems of all sets by one metric, on every sample of items."""
    columns, first = [], 0
    of_sets = [(one, rated) for one, own in zip(held, sets, strict=True) for rated in own]
    for group, (one, rated) in enumerate(of_sets):
        for delta, agreed, n, left, right, weight in _samples(one.scores[metric], rated):
            columns.append((delta, agreed, n, left + first, right + first, np.full(len(left), group), weight))
        first += len(rated.systems)
    return SystemPairs(*map(np.concatenate, zip(*columns, strict=True)))


def _samples(scores: Scores, rated: RatedSet) -> Iterator[tuple[Array, ...]]:
    """For each sample of items: difference, agreement, n, both systems and weight of every pair."""
    stats = scores.segment_stats[rated.places]  # (S, N, k)
    left, right = np.triu_indices(len(rated.systems), 1)
    sizes, times = np.unique([len(items) for items in rated.samples], return_counts=True)
    share = {int(size): 1 / (len(sizes) * count) for size, count in zip(sizes, times.tolist(), strict=True)}
    for items in rated.samples:
        x = np.asarray(scores.finish(stats[:, items].sum(axis=1)))
        x = x if scores.higher_is_better else -x
        z = rated.ratings[:, items].mean(axis=1)
        delta, human = x[left] - x[right], z[left] - z[right]
        human = np.where(np.abs(human) <= _EXACT * np.abs(z).max(), 0.0, human)
        known = ~np.isnan(delta)
        agreed = (1 + np.sign(delta) * np.sign(human)) / 2
        n, weight = np.full(len(left), float(len(items))), np.full(len(left), share[len(items)])
        yield tuple(column[known] for column in (np.abs(delta), agreed, n, left, right, weight))


# --- A curve over the difference


def fit_curve(pairs: SystemPairs, form: Form = "logistic", *, whole: SystemPairs | None = None) -> AgreementCurve:
    """Fit the curve to pairs of systems; median and knots are those of `whole`, of which the pairs are a part.

    One tied pair with the median difference is added, so that a metric with which people always agreed gets no share
    of 1, and no pair at all a share of 0.5.
    """
    typical = _median(whole or pairs)
    tied = (np.array([value]) for value in (typical, 0.5, float(UNIT), 1.0))
    columns = (pairs.difference, pairs.agreed, pairs.n, pairs.weight)
    d, y, n, w = (np.append(column, one) for column, one in zip(columns, tied, strict=True))
    if form == "isotonic":
        knots = np.unique(np.append(0.0, np.quantile((whole or pairs).difference, np.linspace(0, 1, _KNOTS + 1)[1:])))
        return AgreementCurve(form, _isotonic(d, y, w, knots), knots)
    if form == "logistic":
        return AgreementCurve(form, _fit_logistic(d / typical, y, w) / typical, np.empty(0))
    return AgreementCurve(form, _fit_logistic_n(d / typical, y, n, w) / [typical, 1.0], np.empty(0))


def resampled_curves(pairs: SystemPairs, form: Form, *, draws: int = DRAWS, seed: int = 0) -> AgreementCurve:
    """The curves of B resamples of the systems, shape of parameters (B, k).

    Pairs share systems and systems share items, so whole sets are drawn with replacement first (where there is more
    than one) and then the systems of each. A pair counts as often as both of its systems were drawn.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 8 (structured data).
    """
    rng = np.random.default_rng(seed)
    own = [pairs.group == g for g in np.unique(pairs.group)]
    sets = [np.unique(np.append(pairs.first[rows], pairs.second[rows])) for rows in own]
    n_systems = 1 + max(int(systems.max()) for systems in sets)
    found = []
    for _ in range(draws):
        times, by_set = np.zeros(n_systems), np.zeros(n_systems)
        for k in rng.integers(len(sets), size=len(sets)) if len(sets) > 1 else [0]:
            by_set[sets[k]] += 1
        for systems in sets:
            np.add.at(times, rng.choice(systems, len(systems)), 1)
        weight = pairs.weight * times[pairs.first] * times[pairs.second] * by_set[pairs.first]
        found.append(fit_curve(pairs.weighted(weight), form, whole=pairs))
    return replace(found[0], parameters=np.stack([curve.parameters for curve in found]))


def _median(pairs: SystemPairs) -> float:
    """The median difference; a small number where all differences are 0."""
    middle = float(np.median(pairs.difference)) if len(pairs.difference) else 1.0
    return middle or float(pairs.difference.max()) or 1.0


def _fit_logistic(d: Array, y: Array, w: Array) -> Array:
    """The slope by Newton's method; the likelihood is concave, and 0 is the least slope."""
    slope = 0.0
    for _ in range(100):
        p = logistic(slope * d)
        rise, bend = float(w @ (d * (y - p))), float(w @ (d * d * p * (1 - p)))
        step = rise / bend if bend else 0.0
        after = min(max(slope + step, 0.0), 2 * slope + 1, _STEEPEST)  # a step too far would leave the slope flat
        if abs(after - slope) <= 1e-10 * (1 + slope):
            break
        slope = after
    return np.array([after])


def _fit_logistic_n(d: Array, y: Array, n: Array, w: Array) -> Array:
    """Slope and power by maximum likelihood, the power from 0 to 1: more segments never say less."""
    from scipy.optimize import minimize

    start = float(_fit_logistic(d, y, w)[0])
    if start == 0:
        return np.array([0.0, 0.0])
    logs = np.log(n / UNIT)

    def loss(at: Array) -> tuple[float, Array]:
        scaled = d * np.exp(at[1] * logs)
        p = logistic(at[0] * scaled)
        log_odds = at[0] * scaled
        rest = w * (p - y)
        value = float(w @ (np.logaddexp(0, log_odds) - y * log_odds))
        return value, np.array([rest @ scaled, rest @ (log_odds * logs)])

    bounds = [(0.0, _STEEPEST), (0.0, 1.0)]
    return np.asarray(minimize(loss, [start, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x)


def _isotonic(d: Array, y: Array, w: Array, knots: Array) -> Array:
    """The values at the knots: shares in the intervals between them, pooled until none falls, then at least 0.5."""
    middles, shares, weights = [], [], []
    for k, rows in enumerate(np.split(np.argsort(d), np.searchsorted(np.sort(d), knots[1:-1], side="right"))):
        if not len(rows) or not w[rows].sum():
            continue
        middles.append((knots[k] + knots[k + 1]) / 2 if k + 1 < len(knots) else knots[k])
        shares.append(float(np.average(y[rows], weights=w[rows])))
        weights.append(float(w[rows].sum()))
        while len(shares) > 1 and shares[-2] >= shares[-1]:  # pool adjacent violators
            total = weights[-2] + weights[-1]
            shares[-2:] = [(shares[-2] * weights[-2] + shares[-1] * weights[-1]) / total]
            middles[-2:] = [(middles[-2] * weights[-2] + middles[-1] * weights[-1]) / total]
            weights[-2:] = [total]
    highest = 1 - 0.5 / (w.sum() + 1)  # nothing is certain after so many pairs
    values = np.clip(shares, 0.5, highest)
    return np.asarray(np.interp(knots, [0.0, *middles], [0.5, *values]))


# --- Does it hold for systems it was not fitted on? Log loss, calibration, and what chance gives


@dataclass(frozen=True)
class HeldOutPairs:
    """The verdicts of curves on pairs with a system that they were not fitted on; `pair` is the number of each."""

    predicted: Array
    agreed: Array
    weight: Array
    pair: Array

    @property
    def log_loss(self) -> float:
        """Minus the mean logarithm of the share that was given to what people said; 0.693 is a coin's."""
        p = np.clip(self.predicted, _SURE, 1 - _SURE)
        loss = -self.agreed * np.log(p) - (1 - self.agreed) * np.log(1 - p)
        return float(np.average(loss, weights=self.weight))

    def bins(self, count: int = 10) -> list[tuple[float, float, float]]:
        """The pairs in bins of equal weight: the mean of the shares, that in which people agreed, and the pairs."""
        order = np.argsort(self.predicted, kind="stable")
        p, y, w = self.predicted[order], self.agreed[order], self.weight[order]
        # A bin ends where the share changes: equal shares stay together.
        ends = np.cumsum(w) / w.sum()
        last = np.searchsorted(p, p, side="right") - 1
        number = np.minimum((ends[last] * count - 1e-9).astype(int), count - 1)
        found = []
        for k in np.unique(number):
            own = number == k
            predicted, agreed = (float(np.average(values[own], weights=w[own])) for values in (p, y))
            found.append((predicted, agreed, float(w[own].sum())))
        return found

    def calibration_error(self) -> float:
        """Expected calibration error: the mean distance of predicted and observed share over ten bins.

        References:
            Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning".
        """
        found = self.bins()
        total = sum(pairs for *_, pairs in found)
        return sum(pairs * abs(predicted - agreed) for predicted, agreed, pairs in found) / total

    def error_by_chance(self) -> float:
        """The calibration error that the true curve would show on average, because there are so few pairs.

        People's verdicts are drawn from the predicted shares; a pair has one verdict on all of its items.
        """
        rng = np.random.default_rng(0)
        errors = []
        for _ in range(_VERDICTS):
            verdict = rng.random(int(self.pair.max()) + 1)[self.pair]
            drawn = HeldOutPairs(self.predicted, (verdict < self.predicted).astype(float), self.weight, self.pair)
            errors.append(drawn.calibration_error())
        return float(np.mean(errors))


def held_out(pairs: SystemPairs, form: Form, *, sets: bool = False) -> HeldOutPairs:
    """Predict each pair by curves that saw none of its systems' pairs (so twice), or no pair of its set."""
    _, number = np.unique(np.stack([pairs.first, pairs.second]), axis=1, return_inverse=True)
    if sets:
        tests = [pairs.group == one for one in np.unique(pairs.group)]
    else:
        tests = [(pairs.first == s) | (pairs.second == s) for s in np.unique(np.append(pairs.first, pairs.second))]
    predicted, rows = [], []
    for test in tests:
        curve = fit_curve(pairs.weighted(np.where(test, 0.0, pairs.weight)), form, whole=pairs)
        predicted.append(curve.share(pairs.difference[test], pairs.n[test]))
        rows.append(np.flatnonzero(test))
    where = np.concatenate(rows)
    weight = pairs.weight[where] / (1 if sets else 2)
    return HeldOutPairs(np.concatenate(predicted), pairs.agreed[where], weight, np.ravel(number)[where])


# --- The table


def table(held: Sequence[JoinedScores], *, about: str, inputs: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The object of the file: a curve for every metric that all sets have."""
    sets = [rated_sets(one) for one in held]
    names = [name for name in held[0].scores if all(name in one.scores for one in held)]
    return {
        "schema": 1,
        "kind": "thresholds",
        "version": version("nlgauge"),
        "about": about,
        "inputs": [dict(entry) for entry in inputs],
        "sets": [rated.as_json() for own in sets for rated in own],
        "metrics": [_fitted(held, sets, name) for name in names],
    }


def _fitted(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], name: str) -> dict[str, Any]:
    """The entry of a metric: of the forms that with the least log loss on systems left out, of equal ones the first."""
    pairs = system_pairs(held, sets, name)
    wide = pairs.n.max() >= _WIDE * pairs.n.min()
    tried = {form: held_out(pairs, form) for form in FORMS if wide or form != "logistic_n"}
    form = min(tried, key=lambda one: tried[one].log_loss)
    curve, scores = fit_curve(pairs, form), held[0].scores[name]
    several = len(np.unique(pairs.group)) > 1
    return {
        "spec": name,
        "signature": str(scores.signature),
        "higher_is_better": scores.higher_is_better,
        "references": _references(held, sets, name),
        "form": form,
        "parameters": _digits(curve.parameters),
        "knots": [float(knot) for knot in curve.knots],  # two may differ in the last digit
        "draws": [_digits(row) for row in resampled_curves(pairs, form).parameters],
        "largest": _rounded_up(float(pairs.difference.max())),
        "n": [int(pairs.n.min()), int(pairs.n.max())],
        "systems": sum(len(rated.systems) for own in sets for rated in own),
        "pairs": pairs.n_pairs,
        "ece": round(tried[form].calibration_error(), 4),
        "ece_by_chance": round(tried[form].error_by_chance(), 4),
        "ece_sets": round(held_out(pairs, form, sets=True).calibration_error(), 4) if several else None,
    }


def _references(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], name: str) -> list[int] | None:
    """The least and the greatest number of references per segment; None where the metric reads none."""
    try:
        if "references" not in metric_of(name).info.needs:
            return None
    except SpecError:  # a column of scores made elsewhere
        return None
    of_sets = [(one, rated) for one, own in zip(held, sets, strict=True) for rated in own]
    read = [len(one.segments[place].references) for one, rated in of_sets for place in rated.places.ravel()]
    return [min(read), max(read)]


def _digits(numbers: Array) -> list[float]:
    """Numbers with the five digits that matter."""
    return [float(f"{number:.5g}") for number in numbers]


def _rounded_up(number: float) -> float:
    """Five digits, never below the number, so that the pair itself stays within the range."""
    short = float(f"{number:.5g}")
    return short if short >= number else float(f"{number + 10.0 ** (math.floor(math.log10(number)) - 4):.5g}")


def write(path: Path, found: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def differences(entry: Mapping[str, Any]) -> list[str]:
    """The difference at which the share is .60, .70, .80 and .90, over 500 segments or the nearest number seen."""
    curve = AgreementCurve(entry["form"], np.array(entry["parameters"]), np.array(entry["knots"]))
    found = []
    for share in (0.6, 0.7, 0.8, 0.9):
        if curve.form == "isotonic":
            above = np.flatnonzero(curve.parameters >= share)
            ends = slice(above[0] - 1, above[0] + 1) if len(above) else slice(0)
            at = float(np.interp(share, curve.parameters[ends], curve.knots[ends])) if len(above) else math.inf
        else:
            slope = float(slope_at(curve.parameters, np.clip(UNIT, *entry["n"])))
            at = math.log(share / (1 - share)) / slope if slope > 0 else math.inf
        found.append(f"{at:.3g}" if at <= entry["largest"] else "-")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rated", type=Path, nargs="+")
    parser.add_argument("-m", "--metrics", nargs="+", required=True)
    parser.add_argument("-c", "--criterion", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    held = [joined_scores(ng.read(path), args.metrics, args.criterion) for path in args.rated]
    inputs = [entry for path in args.rated for entry in open_data(path).check().inputs]
    found = table(held, about="", inputs=inputs)
    write(args.output, found)
    print("metric\tsystems\tpairs\t60 %\t70 %\t80 %\t90 %\tlargest\tcalibration error\tby chance")
    for one in found["metrics"]:
        ends = (f"{one['largest']:.3g}", f"{one['ece']:.3f}", f"{one['ece_by_chance']:.3f}")
        print(one["spec"], one["systems"], one["pairs"], *differences(one), *ends, sep="\t")


if __name__ == "__main__":
    main()
