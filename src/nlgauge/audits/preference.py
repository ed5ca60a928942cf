"""Does the metric prefer the better text? Accuracy by phenomenon, and pairs in which no metric can fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nlgauge.audits.sides import Sides, pairs_for
from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Expect, Pair, Suite
from nlgauge.metrics.base import Metric
from nlgauge.perturbations.paraphrase import edit_distance
from nlgauge.stats.draws import SHARES, dependent_trials, mean_of_shares, mean_trials
from nlgauge.stats.preferences import accuracy_of

Bounds = tuple[float, str]  # confidence, and the name of the interval of a share
ADEQUACY = (
    "addition", "omission", "name_error", "negation", "number_error", "pronoun_error", "mismatch_adj",
    "mismatch_noun", "mismatch_verb",
)  # fmt: skip
FLUENCY = ("typos", "jumble_words", "subject_verb_disagreement")
MEANS: Mapping[str, Sequence[str] | None] = {"mean-adequacy": ADEQUACY, "mean-fluency": FLUENCY, "mean-all": None}
ALL_GROUPS = "all"


@dataclass(frozen=True, kw_only=True)
class Distances:
    """Mean edit distances from the reference, in words per word of the longer text; NaN where there is no such pair.

    Attributes:
        passed: distance of the better text in pairs where the metric preferred it.
        failed: distance of the better text in pairs where the metric did not prefer it.
        worse: distance of the worse text.
    """

    passed: float
    failed: float
    worse: float


@dataclass(frozen=True, kw_only=True)
class PreferenceRow:
    """How often a metric prefers the better text, for one phenomenon or as a mean over phenomena.

    Attributes:
        metric: the metric's specification.
        phenomenon: how the texts of the pairs differ; `mean-adequacy`, `mean-fluency` or `mean-all` for a mean.
        group: the part of the suite; `all` for the whole suite.
        expect: `lower` if the metric should score the worse text lower, `same` if it should score both the same.
        n, wins, ties, losses: numbers of pairs.
        accuracy: the share of pairs won, in [0, 1], with ties counted by the chosen rule; NaN if no pair counts.
        low, high: the confidence interval of the accuracy.
        n_undefined: the number of pairs with a score that is NaN.
        won, counted: numerator and denominator of the accuracy.
        distances: how far the texts are from their references; None for a mean, or if it was not measured.
        n_phenomena: how many phenomena a mean is taken over; None for a single phenomenon.
        trained_on: whether the metric's model was trained on this phenomenon.
    """

    metric: str
    phenomenon: str
    group: str | None
    expect: Expect
    n: int
    wins: int
    ties: int
    losses: int
    accuracy: float
    low: float
    high: float
    n_undefined: int
    won: float
    counted: float
    distances: Distances | None = None
    n_phenomena: int | None = None
    trained_on: bool = False

    @property
    def attack(self) -> str:
        """The subject of the row, as training names it."""
        return self.phenomenon

    def as_row(self) -> dict[str, Any]:
        """The flat object of the result file."""
        row: dict[str, Any] = {
            "metric": self.metric,
            "phenomenon": self.phenomenon,
            "group": self.group,
            "expect": self.expect,
            "n": self.n,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "accuracy": self.accuracy,
            "low": self.low,
            "high": self.high,
            "n_undefined": self.n_undefined,
        }
        if self.distances is not None:
            row["distance_passed"] = self.distances.passed
            row["distance_failed"] = self.distances.failed
            row["distance_worse"] = self.distances.worse
        if self.n_phenomena is not None:
            row["n_phenomena"] = self.n_phenomena
        return {**row, "trained_on": True} if self.trained_on else row


def preference_rows(
    suite: Suite,
    sides: Sides,
    *,
    ties: str = "loss",
    tolerance: float = 0.05,
    confidence: float = 0.95,
    interval: str = "wilson",
    distances: bool = True,
) -> list[PreferenceRow]:
    """One row per phenomenon and group, and rows for the means over phenomena.

    If there are several groups, the rows of group `all` count the pairs of all groups. A published suite has only
    these. A pair whose texts should score
    the same is won if their scores differ by at most `tolerance` times the better text's score. Phenomena of such pairs
    are not part of the means.

    Args:
        suite: the pairs.
        sides: the scores of one metric.
        ties: `loss`, `half`, `exclude` or `zero`.
        tolerance: the relative difference up to which two scores count as the same.
        confidence, interval: of the intervals; `wilson`, or `clopper-pearson`, which is exact and wider. Pairs of one
            origin (`Pair.origin`) count as fewer trials, by how much their outcomes depend on each other.
        distances: also measure how far the texts are from their references. This does not depend on the metric, and it
            takes time.

    References:
        Chen and Eger (2023), "MENLI", section 3, equation 1.
    """
    pairs = [suite.pairs[place] for place in sides.places]
    outcome = won(sides, pairs, tolerance)
    groups = list(dict.fromkeys(p.group for p in pairs))
    rows: list[PreferenceRow] = []
    if len(groups) > 1:
        groups = [ALL_GROUPS] if suite.published is not None else [*groups, ALL_GROUPS]
    for group in groups:
        places_by_phenomenon: dict[str, list[int]] = {}
        for i, pair in enumerate(pairs):
            if group in (ALL_GROUPS, pair.group):
                places_by_phenomenon.setdefault(pair.phenomenon, []).append(i)
        of_group = [
            _row(sides, pairs, places, outcome[places], group, ties, (confidence, interval), distances)
            for places in places_by_phenomenon.values()
        ]
        counted = [*of_group, *_means(of_group, sides.spec, group, (confidence, interval))]
        rows += dependent(counted, pairs, outcome, places_by_phenomenon, ties, (confidence, interval))
    return rows


def check_names(suite: Suite) -> None:
    """Refuse names under which different pairs would be counted as one.

    Raises:
        InputError: one group of several is called `all`, or a phenomenon has pairs of both expectations.
    """
    groups = suite.groups
    if len(groups) > 1 and ALL_GROUPS in groups:
        first = next(pair.id for pair in suite if pair.group == ALL_GROUPS)
        raise InputError(f"pair {first!r} is of group 'all', which is the name for all groups together; rename it")
    expects: dict[str, Pair] = {}
    for pair in suite:
        first_pair = expects.setdefault(pair.phenomenon, pair)
        if first_pair.expect != pair.expect:
            raise InputError(
                f"pairs {first_pair.id!r} and {pair.id!r} are both of {pair.phenomenon!r}, but the first expects"
                f" {first_pair.expect!r} and the second {pair.expect!r}; give them two names"
            )


def won(sides: Sides, pairs: Sequence[Pair], tolerance: float) -> Array:
    """1 for a pair that is won, 0.5 for a tie, 0 for a pair that is lost or undefined; shape (n,)."""
    margin = sides.margin
    outcome = np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0))
    same = np.array([p.expect == "same" for p in pairs], dtype=bool)
    room = tolerance * np.maximum(np.abs(sides.better), 1e-12)
    return np.where(same, (np.abs(margin) <= room).astype(np.float64), outcome)


def _row(
    sides: Sides,
    pairs: Sequence[Pair],
    places: list[int],
    outcome: Array,
    group: str | None,
    ties: str,
    bounds: Bounds,
    distances: bool,
) -> PreferenceRow:
    wins, tied = int((outcome == 1).sum()), int((outcome == 0.5).sum())
    losses = len(places) - wins - tied
    share = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    counted = float(share.denominator)
    confidence, interval = bounds
    low, high = SHARES[interval](float(share.numerator), counted, confidence)
    first = pairs[places[0]]
    return PreferenceRow(
        metric=sides.spec,
        phenomenon=first.phenomenon,
        group=group,
        expect=first.expect,
        n=len(places),
        wins=wins,
        ties=tied,
        losses=losses,
        accuracy=float(share.numerator) / counted if counted else math.nan,
        low=low,
        high=high,
        n_undefined=int(np.isnan(sides.margin[places]).sum()),
        won=float(share.numerator),
        counted=counted,
        distances=_distances([pairs[i] for i in places], outcome == 1) if distances else None,
    )


def _distances(pairs: Sequence[Pair], passed: Mask) -> Distances | None:
    """Distances of pairs from their references; None if no pair has a reference to compare with."""
    compared = [
        (pair, pair.references[0], bool(is_passed))
        for pair, is_passed in zip(pairs, passed, strict=True)
        if pair.references and pair.setup != "src"
    ]
    if not compared:
        return None
    by_outcome: dict[bool, list[float]] = {True: [], False: []}
    for pair, reference, is_passed in compared:
        by_outcome[is_passed].append(edit_distance(reference, pair.better, level="word", norm="max"))
    worse = [edit_distance(reference, pair.worse, level="word", norm="max") for pair, reference, _ in compared]
    return Distances(
        passed=float(np.mean(by_outcome[True])) if by_outcome[True] else math.nan,
        failed=float(np.mean(by_outcome[False])) if by_outcome[False] else math.nan,
        worse=float(np.mean(worse)),
    )


def _means(rows: Sequence[PreferenceRow], spec: str, group: str | None, bounds: Bounds) -> Iterator[PreferenceRow]:
    told_apart = [row for row in rows if row.expect == "lower"]
    for name, wanted in MEANS.items():
        part = [row for row in told_apart if wanted is None or row.phenomenon.partition(":")[0] in wanted]
        if part:  # a phenomenon with options counts under its name
            won, counted = [row.won for row in part], [row.counted for row in part]
            value, low, high = mean_of_shares(won, counted, *bounds)
            yield PreferenceRow(
                metric=spec,
                phenomenon=name,
                group=group,
                expect="lower",
                n=sum(row.n for row in part),
                wins=sum(row.wins for row in part),
                ties=sum(row.ties for row in part),
                losses=sum(row.losses for row in part),
                accuracy=value,
                low=low,
                high=high,
                n_undefined=sum(row.n_undefined for row in part),
                won=sum(won),
                counted=sum(counted),
                n_phenomena=len(part),
            )


def dependent(
    rows: Sequence[PreferenceRow],
    pairs: Sequence[Pair],
    outcome: Array,
    places: Mapping[str, Sequence[int]],
    ties: str,
    bounds: Bounds,
) -> list[PreferenceRow]:
    """The rows with intervals that take pairs of one origin together; as they are if each pair has its own."""
    if len({pair.origin for pair in pairs}) == len(pairs):
        return list(rows)
    by_name = {row.phenomenon: row for row in rows}
    parts = {name: _parts(outcome[places[name]], ties) for name in places}
    found = []
    for row in rows:
        names, trials = [row.phenomenon], row.counted
        if row.n_phenomena is not None:
            wanted = MEANS[row.phenomenon]
            of_mean = (name for name in places if wanted is None or name.partition(":")[0] in wanted)
            names = [n for n in of_mean if by_name[n].expect == "lower" and by_name[n].counted]
            trials = mean_trials([by_name[n].won for n in names], [by_name[n].counted for n in names])
        if not math.isnan(row.accuracy):
            moved = np.concatenate([parts[name] for name in names]) / len(names)
            origins = [pairs[i].origin for name in names for i in places[name]]
            trials = dependent_trials(trials, moved, origins, bounds[0])
            low, high = SHARES[bounds[1]](row.accuracy * trials, trials, bounds[0])
            row = replace(row, low=low, high=high)
        found.append(row)
    return found


def _parts(outcome: Array, ties: str) -> Array:
    """By how much each pair moves the accuracy from its value, shape (n,)."""
    tied = outcome == 0.5
    won_ = np.where(tied, 0.5 if ties == "half" else 0.0, outcome)
    counted = np.where(tied & (ties == "exclude"), 0.0, 1.0)
    n = max(float(counted.sum()), 1.0)
    return np.asarray((won_ - float((won_ * counted).sum()) / n) * counted / n)


def check_copies(
    suite: Suite, metrics: Mapping[str, Metric], references: str = "own", refuse: bool = True
) -> list[str]:
    """Refuse a suite of preferences that no metric with references can fail, and count such pairs elsewhere.

    A copy of the reference gets the best score of nearly every metric, so such a pair tells no metric from another.

    Args:
        suite: the pairs.
        metrics: specification as typed -> metric.
        references: `own`, or `source` if the texts are compared with their source.
        refuse: whether a suite of nothing but such pairs is refused. It is counted where preferences were asked for.

    Returns:
        A note if the better text is a reference in some of the pairs that a metric scores; else nothing.

    Raises:
        InputError: it is one in all pairs that a metric scores, or no pair has what a metric reads.
    """
    noted: dict[str, None] = {}
    for spec, metric in metrics.items():
        places = pairs_for(spec, metric, suite, references)  # which refuses a suite without what the metric reads
        if "references" not in metric.info.needs:
            continue
        pairs = [suite.pairs[place] for place in places if suite.pairs[place].expect == "lower"]
        n = sum(_is_copy(pair, references) for pair in pairs)
        if refuse and n and n == len(pairs):
            raise InputError(f"{suite.name or 'the suite'}: {_refusal(spec, pairs)}")
        if n:
            noted[
                f"in {n} of {len(pairs)} pairs the better text is a reference, which nearly every metric prefers:"
                " accuracies are higher for it"
            ] = None
    return list(noted)


def _is_copy(pair: Pair, references: str) -> bool:
    held = (pair.source or "",) if references == "source" else pair.references
    return pair.better.strip() in {text.strip() for text in held}


def _refusal(spec: str, pairs: list[Pair]) -> str:
    is_checklist = all(pair.task and pair.criterion for pair in pairs)
    return (
        f"in all {len(pairs)} pairs for {spec} the better text is the reference, so that no metric could fail;"
        f"{' use them as a checklist (--design checklist), or' if is_checklist else ''} make pairs that can be failed:"
        " 'nlgauge perturb --field hyp', or 'nlgauge audit DATA --suite menli', which takes paraphrases"
    )
