"""How were items chosen, and how likely was each to be rated by now? A plan as it is kept in a file between rounds."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.metric import MetricLike
from nlgauge.core.result import NewRow
from nlgauge.core.scores import warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.frames import dataset_of
from nlgauge.io.scores import read_scores
from nlgauge.metaeval.evaluate import Evaluation, joined_scores, without_systems
from nlgauge.metaeval.joined import JoinedScores, criteria_of, segment_frame, settle, some
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import generator
from nlgauge.stats.entries import MissingPolicy
from nlgauge.stats.sampling import (
    FLOOR,
    Method,
    PoweredMeans,
    extended_sample,
    inclusion_probabilities,
    item_sizes,
    powered_means,
    rating_features,
    systematic_sample,
)

_NEEDED = ("probability", "order", "round", "before")
_SLACK = 1e-6


@dataclass(frozen=True)
class Design:
    """The n chosen of N items.

    Attributes:
        places: positions of the chosen items in the order in which to rate them, shape (n,).
        rounds: when each was chosen, shape (n,): 1 for the first plan, 2 for what was added to it; 0 for items that
            were rated before there was a plan.
        chances: the probability of each item to be chosen by now, shape (N,); NaN where the file does not say.
        before: the same before the last round, shape (N,).
    """

    places: npt.NDArray[np.int64]
    rounds: npt.NDArray[np.int64]
    chances: Array
    before: Array

    def rated_chances(self, rated: Mask) -> Array:
        """The probability of each item to be among those rated so far, shape (N,).

        In each round items come in random order, so that those rated are as good as drawn from the round.

        Args:
            rated: which of the N items are rated.
        """
        done, last = rated[self.places], self.rounds == self.rounds.max()
        earlier = float(done[~last].mean()) if (~last).any() else 0.0
        return np.asarray(earlier * self.before + float(done[last].mean()) * (self.chances - self.before))

    def columns(self, items: Sequence[str]) -> dict[str, Any]:
        """The plan as columns of a file, `seg` first."""
        order = np.arange(1, len(self.places) + 1)
        return {
            "seg": [items[i] for i in self.places],
            "order": order.astype(np.float64),
            "probability": self.chances[self.places],
            "round": self.rounds.astype(np.float64),
            "before": self.before[self.places],
        }


def first_design(sizes: Array, n: int, rng: np.random.Generator) -> Design:
    """A plan of n items."""
    chances = inclusion_probabilities(sizes, n)
    return Design(systematic_sample(chances, rng), np.ones(n, np.int64), chances, np.zeros(len(sizes)))


def random_design(rated: Mask) -> Design:
    """The items that are rated, as a random choice."""
    places = np.flatnonzero(rated)
    return Design(places, np.zeros(len(places), np.int64), np.full(len(rated), rated.mean()), np.zeros(len(rated)))


def extended_design(design: Design, sizes: Array, n: int, rng: np.random.Generator) -> Design:
    """A plan of n items that begins with those of another, none of which becomes less likely.

    Raises:
        InputError: the probabilities of the plan are not those of these sizes.
    """
    before, floor = _recalled(design, sizes)
    n_before = len(design.places)
    after = np.maximum(before, inclusion_probabilities(sizes, n, max(FLOOR, min(1.0, floor * n_before / n))))
    more = extended_sample(design.places, before, after, n - n_before, rng)
    rounds = np.concatenate([design.rounds, np.full(len(more), design.rounds.max() + 1)])
    return Design(np.concatenate([design.places, more]), rounds, after, before)


def _recalled(design: Design, sizes: Array) -> tuple[Array, float]:
    """The probabilities of all items, and the share of them that was uniform.

    Below 1 a probability is a straight line of the size, which the chosen items tell.
    """
    known, below = design.chances[design.places], sizes[design.places]
    inner = known < 1 - _SLACK
    if not inner.any():
        return np.ones(len(sizes)), 1.0
    x, y = below[inner], known[inner]
    if np.ptp(x) > _SLACK:
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    else:  # one size tells no line: take that of a first plan, unless nothing was planned
        planned = design.rounds.max() > 0
        slope = float((1 - FLOOR) * y.mean() / (FLOOR + (1 - FLOOR) * x.mean())) if planned else 0.0
    line = y.mean() + slope * (sizes - x.mean())
    if np.abs(line[design.places] - known)[inner].max() > _SLACK:
        raise InputError(
            "the probabilities of the plan are not those that these metrics give; extend it with the metrics, the"
            " method and the items that it was made with"
        )
    base = y.mean() - slope * x.mean()  # the probability of an item of size 0
    return np.where(np.isnan(design.chances), np.clip(line, 0, 1), design.chances), base / (base + slope)


def read_design(table: ScoreTable, items: Sequence[str]) -> Design:
    """The plan that a file holds.

    Args:
        table: its rows.
        items: the N items of the data.

    Raises:
        InputError: a column is missing, a number is out of its range, or an item is not among those of the data.
    """
    where = table.name or "the plan"
    for name in _NEEDED:
        if name not in table.columns:
            raise InputError(f"{where}: no column {name!r}, expected a plan with {', '.join(('seg', *_NEEDED))}")
    known = {item: place for place, item in enumerate(items)}
    unknown = [key.item for key in table.keys if key.item not in known]
    if unknown:
        raise InputError(
            f"{where}: {len(unknown)} of {len(table)} items are not among the {len(items)} of the data that all systems"
            f" answer, the first is {unknown[0]!r}; give the data that the plan was made from"
        )
    order = np.argsort(table.columns["order"], kind="stable")
    values, keys = np.stack([table.columns[name][order] for name in _NEEDED]), [table.keys[i] for i in order]
    chances, _, rounds, before = values
    sound = np.isfinite(values).all() and (chances > 0).all() and (chances <= 1).all() and (rounds >= 0).all()
    if not sound or (before < 0).any() or (before > chances).any():
        raise InputError(f"{where}: a probability is not within 0 and 1, or a round or an order is no number")
    places = np.array([known[str(key.item)] for key in keys], dtype=np.int64)
    design = Design(places, rounds.astype(np.int64), np.full(len(items), np.nan), np.full(len(items), np.nan))
    design.chances[places], design.before[places] = chances, before
    return design


# --- Which items should people rate next, and how do the systems rank by the ratings so far?

_LEVEL = 0.95
_UNNAMED = "rating"  # the criterion of data that nobody rated yet


@dataclass(frozen=True, repr=False)
class RatingPlan(Evaluation):
    """The result of `plan_ratings`.

    Attributes:
        design: how the items were chosen; None without a plan.
        items: the items of the data that all systems answer, in their order.
    """

    kind: ClassVar[str] = "plan"
    design: Design | None = None
    items: tuple[str, ...] = ()

    def value(self, system: str, against: str | None = None) -> float:
        """The estimated mean rating of a system, or by how much it leads another.

        Raises:
            InputError: there is no such system, or too little is rated.
        """
        found = [row for row in self.rows if "system" in row and (row["system"], row["against"]) == (system, against)]
        if not found:
            raise InputError(f"no estimate of system {system!r}{f' against {against!r}' if against else ''}")
        return float(found[0]["value"])

    def columns(self) -> dict[str, Any]:
        """The plan as columns of a file: `seg`, `order`, `probability`, `round` and `before`."""
        return {} if self.design is None else self.design.columns(self.items)

    def as_table(self) -> ScoreTable:
        """The plan as its file is read."""
        columns = self.columns()
        keys = tuple(Key(item=item) for item in columns.pop("seg", ()))
        return ScoreTable(keys, columns, name="the plan")


@dataclass(frozen=True)
class _Population:
    """Systems, items, ratings (S, N) with NaN where missing, scores (M, S, N), and what was left out."""

    systems: tuple[str, ...]
    items: tuple[str, ...]
    human: Array
    metrics: Array
    notes: tuple[str, ...]

    @property
    def rated(self) -> Mask:
        """The items that are rated for all systems."""
        return np.asarray(~np.isnan(self.human).any(axis=0))

    def within(self, design: Design | None) -> tuple[Array, list[str]]:
        """The ratings of items of a plan, of all items without one; and a note on those outside."""
        inside = np.ones(len(self.items), dtype=np.bool_)
        if design is not None:
            inside[:] = False
            inside[design.places] = True
        outside = self.rated & ~inside
        if not outside.any():
            return np.where(inside, self.human, np.nan), []
        lost = some(item for item, out in zip(self.items, outside, strict=True) if out)
        return np.where(inside, self.human, np.nan), [
            f"{outside.sum()} rated items are not in the plan and are left out: {lost}"
        ]


@warning
def plan_ratings(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike] = (),
    criterion: str | None = None,
    *,
    plan: RatingPlan | ScoreTable | Frame | str | os.PathLike[str] | None = None,
    budget: int | float | str | None = None,
    method: Method = "informative",
    scores: ScoreTable | Frame | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    references: str | None = None,
    missing: MissingPolicy = "refuse",
    exclude: Sequence[str] = (),
    seed: int = 0,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    columns: Mapping[str, str] | None = None,
) -> RatingPlan:
    """Choose the items that people should rate next, and rank the systems by the ratings so far.

    Each item is chosen with a known probability, by whose inverse ratings are weighted: half of a sample is drawn
    uniformly, half in proportion to the sizes of `method`. The first items of a plan are a sample as good as the whole,
    so people may stop anywhere. The order of rows changes nothing.

    A plan has columns `seg`, `order`, `probability` (to be chosen by now), `round` (the plan that first chose it) and
    `before` (the probability before the last round). It grows only with the metrics, the method and the items that it
    was made with, and can be read with any metrics. Rated items outside of it are left out, with a note; ratings from
    before the first plan are of round 0.

    A ridge regression on the scores predicts all ratings, each rated item on other folds; the mean prediction is
    corrected by the mean error on rated items, so metrics that know nothing cannot bias it. Where metrics and ratings
    disagree about the order of systems, the estimate follows the ratings. Intervals are of sampling from a finite set:
    where everything is rated they are points.

    Args:
        dataset: outputs of several systems for the same items; none, some or all items are rated. An item is rated
            for all systems at once.
        metrics, scores, lower_is_better, higher_is_better, references, missing, exclude, runtime, language, columns: as
            in `meta_evaluate`.
        criterion: what is rated; it may be left out where the data have one criterion or none.
        plan: an earlier plan: a result of this function, or its columns as a file or frame. Without one, ratings are
            taken for those of a random choice of items.
        budget: how many items the plan should hold, rated ones included: a number, or a share as 0.25 or "25%". It may
            be left out with a plan or with ratings; nothing is chosen then.
        method: how probable an item is, see `nlgauge.stats.item_sizes`.
        seed: what the choice is drawn with.

    Returns:
        Rows of systems (from two rated items on), of their differences, and of the items of the plan; page
        `reference/results` names the fields.

    Raises:
        InputError: fewer than two systems, several groups, a budget that cannot be spent, or a plan of other data.
    """
    generator(seed)  # refuses a negative one
    dataset, criterion = _with_criterion(without_systems(dataset_of(dataset, columns), exclude), criterion)
    held = joined_scores(
        dataset,
        metrics,
        criterion,
        scores=scores,
        lower_is_better=lower_is_better,
        higher_is_better=higher_is_better,
        references=references,
        missing=missing,
        unrated=True,
        runtime=runtime,
        language=language,
        rehearse=lambda stand_in: _read(stand_in, plan, budget),
    )
    settle(dataclasses.replace(held, human={}), missing)  # refuses segments that nobody rated, too: here they count
    return _planned(held, plan, budget, method, seed)


def _planned(held: JoinedScores, plan: Any, budget: int | float | str | None, method: Method, seed: int) -> RatingPlan:
    known, design, n = _read(held, plan, budget)
    human, notes = known.within(None if plan is None else design)
    rated = np.asarray(~np.isnan(human).any(axis=0))
    rows: list[NewRow] = []
    if design is not None and rated.sum() > 1:
        found = powered_means(human, rating_features(known.metrics), design.rated_chances(rated), level=_LEVEL)
        rows += _system_rows(found, known.systems, next(iter(held.human)))
        notes += _told(found, known)
    elif design is not None:
        notes.append(f"{rated.sum()} items of the plan are rated for all systems; a ranking needs 2 or more")
    if n is not None:
        rng, sizes = np.random.default_rng([seed, n]), item_sizes(known.metrics, method)
        old = None if design is None else len(design.places)
        design = first_design(sizes, n, rng) if design is None else extended_design(design, sizes, n, rng)
        notes.append(_chosen(design, old, method, seed))
    elif plan is not None and design is not None and rated[design.places].all():
        notes.append(f"all {len(design.places)} items of the plan are rated; a larger budget extends it")
    if design is not None and (plan is not None or n is not None):
        rows += _item_rows(design, known.items, rated)
    settings = {"confidence": _LEVEL, "seed": seed}
    return RatingPlan(tuple(rows), held, (*held.notes, *known.notes, *notes), settings, design, known.items)


def _read(
    held: JoinedScores, plan: Any, budget: int | float | str | None
) -> tuple[_Population, Design | None, int | None]:
    """The population, how its rated items were chosen, and how many a new plan should hold; None for no new plan."""
    known = _population(held, next(iter(held.human)))
    design = None
    if isinstance(plan, RatingPlan):
        plan = plan.as_table()
    if plan is not None:
        design = read_design(plan if isinstance(plan, ScoreTable) else read_scores(plan), known.items)
    elif known.rated.any():
        design = random_design(known.rated)
    elif budget is None:
        raise InputError("nothing is rated and there is no plan, expected a budget: the number of items to rate")
    return known, design, None if budget is None else _items_of(budget, len(known.items), design)


def _items_of(budget: int | float | str, n_items: int, design: Design | None) -> int:
    """The number of items that a budget stands for."""
    have, typed = 0 if design is None else len(design.places), str(budget)
    try:
        number = float(typed.removesuffix("%"))
    except ValueError:
        number = float("nan")
    percent = typed.endswith("%")
    share = number / 100 if percent else number
    n = round(share * n_items) if 0 < share < 1 or (percent and share == 1) else number
    if not have < n <= n_items or n != int(n) or (percent and share > 1):
        already = f", and more than the {have} that are planned or rated already" if have else ""
        raise InputError(
            f"the budget is {typed}, expected 1 to {n_items}, the number of items, or a share of them, as 25%{already}"
        )
    return int(n)


def _with_criterion(dataset: Dataset, criterion: str | None) -> tuple[Dataset, str | None]:
    """The dataset with an empty criterion where nothing is rated, so that it can be joined like any other."""
    if not isinstance(criterion, str | None) or criterion == "all":
        raise InputError(f"criterion is {criterion!r}, expected the name of one; systems are ranked by one criterion")
    if criteria_of(dataset):
        return dataset, criterion
    empty = {criterion or _UNNAMED: float("nan")}
    return Dataset(tuple(dataclasses.replace(s, human=empty) for s in dataset), dataset.name, dataset.notes), criterion


def _population(held: JoinedScores, criterion: str) -> _Population:
    """All items that every system answers.

    Raises:
        InputError: several groups, fewer than two systems, fewer than two such items, or no metric of segments.
    """
    if len(held.groups) > 1:
        raise InputError(
            f"{len(held.groups)} groups ({some(map(str, held.groups))}), expected one; plan each by itself"
        )
    if not held.scores:
        raise InputError("no metric scores segments, expected at least one; system scores do not tell items apart")
    frame = segment_frame(held, criterion, held.groups[0], unrated=True)
    scores, human = frame.grid()
    systems, items = (tuple(dict.fromkeys(names or ())) for names in (frame.systems, frame.items))
    whole: Mask = np.asarray(~np.isnan(scores).any(axis=(0, 1)))
    if len(systems) < 2 or whole.sum() < 2:
        raise InputError(
            f"{len(systems)} systems and {whole.sum()} items that all of them answer, expected 2 or more of both; a"
            " plan ranks systems by the same items"
        )
    up = np.array([held.is_higher_better(name) for name in held.scores])
    notes = []
    if not whole.all():
        lost = some(item for item, kept in zip(items, whole, strict=True) if not kept)
        notes.append(f"{(~whole).sum()} of {len(items)} items lack a system and are left out: {lost}")
    some_rated = ~np.isnan(human)
    part = (some_rated.any(axis=0) & ~some_rated.all(axis=0) & whole).sum()
    if part:
        notes.append(f"{part} items are rated for some systems only and count as not rated")
    if len(systems) == 2:
        notes.append("2 systems: their ranking is one difference")
    # In an order of their names, so that neither the choice nor an estimate depends on that of the rows.
    places = sorted(np.flatnonzero(whole).tolist(), key=lambda place: _by_number(items[place]))
    oriented = scores[:, :, places] * np.where(up, 1.0, -1.0)[:, None, None]
    return _Population(systems, tuple(items[i] for i in places), human[:, places], oriented, tuple(notes))


def _by_number(item: str) -> tuple[list[str | int], str]:
    """The sorting key of items: their names, in which numbers count as numbers."""
    parts = re.split(r"([0-9]+)", item)  # a number at every second place
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], item


def _system_rows(found: PoweredMeans, systems: Sequence[str], criterion: str) -> Iterator[NewRow]:
    """Rows of systems, the best first, and of the differences of those above and those below."""
    order = np.argsort(-found.values, kind="stable")
    better, worse = (found.delta_low > 0).sum(axis=1), (found.delta_high < 0).sum(axis=1)
    for place, i in enumerate(order, start=1):
        yield {
            "system": systems[i],
            "against": None,
            "criterion": criterion,
            "value": float(found.values[i]),
            "low": float(found.low[i]),
            "high": float(found.high[i]),
            "rank": place,
            "rank_best": int(worse[i]) + 1,
            "rank_worst": len(order) - int(better[i]),
            "n": found.n,
            "n_plain": float(found.n_plain[i]),
        }
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            yield {
                "system": systems[i],
                "against": systems[j],
                "criterion": criterion,
                "value": float(found.deltas[i, j]),
                "low": float(found.delta_low[i, j]),
                "high": float(found.delta_high[i, j]),
                "lead": float(found.lead[i, j]),
                "n": found.n,
            }


def _item_rows(design: Design, items: Sequence[str], rated: Mask) -> Iterator[NewRow]:
    """Rows of the items of a plan, in the order in which to rate them."""
    for order, (place, of_round) in enumerate(zip(design.places, design.rounds, strict=True), start=1):
        yield {
            "seg": items[place],
            "order": order,
            "probability": float(design.chances[place]),
            "round": int(of_round),
            "rated": bool(rated[place]),
        }


def _told(found: PoweredMeans, known: _Population) -> Iterator[str]:
    yield (
        f"estimates of what the mean ratings would be if all {len(known.items)} items were rated, from {found.n} of"
        f" them and the scores of all; each interval holds in {100 * _LEVEL:g} % of such samples"
    )
    yield f"predictions from metrics count {found.strength:.2f} (0 not at all, 1 fully)"
    if not np.isnan(found.n_plain_deltas):
        yield (
            f"without metrics, intervals of differences as narrow as these would take about {found.n_plain_deltas:.0f}"
            f" items drawn at random, with them {found.n}"
        )


def _chosen(design: Design, old: int | None, method: str, seed: int) -> str:
    chances = design.chances[design.places]
    added = "" if old is None else f", {len(design.places) - old} of them new"
    return (
        f"plan of {len(design.places)} items{added}: method {method}, probabilities {chances.min():.3f} to"
        f" {chances.max():.3f}, seed {seed}; rate them in this order, for all systems, and stop wherever you like"
    )
