"""Would a metric pick the right model? Hits@1, MRR and Diff of its choices among systems, or hybrids of a few."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import MetricLike
from nlgauge.core.result import NewRow, Row
from nlgauge.core.scores import warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.tables import ScoreTable
from nlgauge.io.frames import dataset_of
from nlgauge.metaeval.evaluate import Evaluation, joined_scores
from nlgauge.metaeval.joined import JoinedScores, segment_frame, system_frame
from nlgauge.metaeval.tasks import MEAN
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlate import SELECTION, correlation
from nlgauge.stats.entries import MissingPolicy
from nlgauge.stats.selection import hybrid_draws, hybrid_scores, selection_quality, simulate_selection

STATS = SELECTION
AGREEMENT = ("pearson", "spearman", "kendall_b")  # of the scores of all models with people


@dataclass(frozen=True, repr=False)
class ModelSelection(Evaluation):
    """The result of `select_models`."""

    kind: ClassVar[str] = "select"

    def value(self, metric: str, stat: str, group: str | None = MEAN) -> float:
        """One number of a metric; without a group it is the mean over groups.

        Raises:
            InputError: no row matches, or several do.
        """
        found = [row for row in self.rows if (row["metric"], row["stat"], row["group"]) == (metric, stat, group)]
        if len(found) != 1:
            raise InputError(
                f"{len(found)} numbers fit metric {metric!r}, stat {stat!r} and group {group!r}, expected one"
            )
        return float(found[0]["value"])


@warning
def select_models(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike] = (),
    criterion: str | Sequence[str] | None = None,
    *,
    hybrids: int = 10_000,
    pool: int = 100,
    draws: int | None = None,
    scores: ScoreTable | Frame | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    references: str | None = None,
    missing: MissingPolicy = "refuse",
    stats: Sequence[str] = STATS,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> ModelSelection:
    """How good is a metric's choice among `pool` models, as people judge it?

    Args:
        dataset, metrics, criterion: outputs of several systems for the same items, with ratings for one criterion.
        hybrids: the number of hybrid systems to make in each group; 0 uses the systems as they are.
        pool: the number of models that a metric chooses from; they are drawn without replacement.
        draws: also simulate this many choices, as a check on the exact numbers.
        scores, lower_is_better, higher_is_better, references, missing, columns, runtime: as in `meta_evaluate`.
        stats, seed: `STATS`, or `AGREEMENT` of all models with people; the seed of the hybrids and of the simulation.

    Returns:
        Rows of every statistic (`diff` is in units of the criterion), metric and group, and their plain means.

    Raises:
        InputError: systems or items are not known, or there are fewer models than the pool.

    References:
        Zhang et al. (2020), "BERTScore", section 4 and appendix E.2.
    """
    asked = _Asked(hybrids, pool, draws, stats, seed)
    held = joined_scores(
        dataset_of(dataset, columns),
        metrics,
        criterion,
        scores=scores,
        lower_is_better=lower_is_better,
        higher_is_better=higher_is_better,
        references=references,
        missing=missing,
        runtime=runtime,
        rehearse=lambda one: _selected(one, replace(asked, hybrids=min(asked.hybrids, pool), draws=draws and 1)),
    )
    return _selected(held, asked)


@dataclass(frozen=True)
class _Asked:
    """The arguments of `select_models` that say which models there are, and what is said of choices among them."""

    hybrids: int
    pool: int
    draws: int | None
    stats: Sequence[str]
    seed: int

    def __post_init__(self) -> None:
        for stat in self.stats:
            if stat not in (*STATS, *AGREEMENT):
                raise InputError(f"select has no statistic {stat!r}{nearest(stat, (*STATS, *AGREEMENT))}")
        if self.hybrids < 0 or self.pool < 1:
            raise InputError(f"hybrids is {self.hybrids} and pool {self.pool}, expected 0 or more, and 1 or more")
        if 0 < self.hybrids < self.pool:
            raise InputError(
                f"the pool is {self.pool} models, and there are {self.hybrids} hybrids; choose a smaller pool or make"
                " more hybrids"
            )


def _selected(held: JoinedScores, asked: _Asked) -> ModelSelection:
    if len(held.human) > 1:
        raise InputError(f"{len(held.human)} criteria ({', '.join(held.human)}), expected one; choose a model by one")
    (criterion,) = held.human
    notes: list[str] = []
    by_group: list[list[NewRow]] = []
    for place, group in enumerate(held.groups):
        human, x = _models(held, criterion, group, replace(asked, seed=asked.seed + place), notes)
        if len(human) < asked.pool:
            models = "hybrids" if asked.hybrids else "systems"
            where = f" in group {group!r}" if group is not None else ""
            raise InputError(
                f"the pool is {asked.pool} models, and there are {len(human)} {models}{where}; choose a smaller pool or"
                " make more hybrids"
            )
        by_group.append(list(_rows(held, criterion, group, human, x, asked)))
    if asked.draws:
        notes.append(
            f"simulated: {asked.draws} draws, seed {asked.seed}; the standard error of a share is at most"
            f" {0.5 / math.sqrt(asked.draws):.4f}"
        )
    notes.append("hits_at_1 and mrr are exact expectations over all draws of a pool; diff is in units of the criterion")
    rows = [row for rows_of_group in by_group for row in rows_of_group] + _means(by_group)
    told = tuple(dict.fromkeys([*held.notes, *notes]))
    return ModelSelection(tuple(rows), held, told, {"draws": asked.draws, "seed": asked.seed})


def _models(
    held: JoinedScores, criterion: str, group: str | None, asked: _Asked, notes: list[str]
) -> tuple[Array, Array]:
    """The models of one group, which are its systems or hybrids of them.

    Returns:
        Human scores, shape (n,), and oriented metric scores, shape (M, n).
    """
    up = np.array([held.is_higher_better(name) for name in held.metrics])
    where = f"{group}: " if group is not None else ""
    if not asked.hybrids:
        frame, told = system_frame(held, criterion, group)
        notes += [*told, f"{where}{len(frame.z)} systems"]
        return frame.z, np.where(up[:, None], frame.x, -frame.x)
    if held.system_tables:
        raise InputError(
            f"{next(iter(held.system_tables))} has scores of systems alone, and hybrids are made of segments"
        )
    frame = segment_frame(held, criterion, group)
    scores, human = frame.grid()
    scores = np.where(up[:, None, None], scores, -scores)
    draws = hybrid_draws(~np.isnan(human), asked.hybrids, seed=asked.seed)
    people, x, rated = hybrid_scores(human, np.where(np.isnan(scores).any(axis=0), 0.0, scores), draws)
    known = ~np.isnan(people)
    notes.append(
        f"{where}{len(draws)} hybrids of {len(human)} systems on {human.shape[1]} items (seed {asked.seed}), "
        f"of rated outputs; {rated.mean():.0f} judgements each on average"
    )
    if not known.all():
        notes.append(f"{where}{(~known).sum()} hybrids have no judgement and are left out")
    return people[known], x[:, known]


def _rows(
    held: JoinedScores, criterion: str, group: str | None, human: Array, x: Array, asked: _Asked
) -> Iterator[NewRow]:
    pool, draws, seed = asked.pool, asked.draws, asked.seed
    blind = selection_quality(np.zeros(len(human)), human, pool, seed=seed)  # a metric that sees nothing
    for metric, values in zip(held.metrics, x, strict=True):
        exact = selection_quality(values, human, pool, seed=seed)
        simulated = simulate_selection(values, human, pool, draws=draws, seed=seed) if draws else None
        agreement = {stat: correlation(stat, values, human).value for stat in asked.stats if stat in AGREEMENT}
        for stat in asked.stats:
            chosen = stat not in agreement
            yield {
                "metric": metric,
                "criterion": criterion,
                "level": "system",
                "averaging": "none",
                "stat": stat,
                "group": group,
                "value": getattr(exact, stat) if chosen else agreement[stat],
                "low": math.nan,
                "high": math.nan,
                "n_used": exact.n,
                "n_undefined": 0,
                "ties": "expected",
                "pool": pool,
                "n_tied": exact.tied,
                "chance": getattr(blind, stat) if chosen else 0.0,
                "simulated": getattr(simulated, stat) if simulated is not None and chosen else None,
                "draws": draws,
            }


def _means(groups: Sequence[Sequence[Row]]) -> list[NewRow]:
    """Plain means over groups; `n_used` counts groups."""
    rows = []
    for parts in zip(*groups, strict=True):
        means: NewRow = {key: float(np.mean([part[key] for part in parts])) for key in ("value", "chance")}
        simulated = [part["simulated"] for part in parts]
        means["simulated"] = float(np.mean(simulated)) if None not in simulated else None
        rows.append(
            {**parts[0], "group": MEAN, "n_used": len(parts), "n_tied": sum(part["n_tied"] for part in parts), **means}
        )
    return rows
