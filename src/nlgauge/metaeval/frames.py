"""From segments to the vectors that a statistic compares: one group at one level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.core.scores import Scores
from nlgauge.core.segment import select_systems
from nlgauge.core.tables import ScoreTable
from nlgauge.metaeval.align import JoinedScores, some
from nlgauge.scoring.pairwise import by_system
from nlgauge.stats.ratings import mad_outliers

Level = Literal["segment", "item", "summary", "system"]
SystemScores = Literal["rated", "all"]
Aggregate = Literal["corpus", "mean"]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Frame:
    """The entries of one group, n segments or n systems.

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
        rows, columns = (_codes(labels) for labels in (systems, items))
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


def segment_frame(held: JoinedScores, criterion: str, group: str | None, unrated: bool = False) -> Frame:
    """The rated segments of a group, and also the unrated ones where they are wanted."""
    places = held.places[group]
    if not unrated:
        places = places[~np.isnan(held.human[criterion][places])]
    chosen = [held.segments[i] for i in places]
    return Frame(
        group,
        (
            np.stack([scores.values[places] for scores in held.scores.values()])
            if held.scores
            else np.empty((0, len(places)))
        ),
        held.human[criterion][places],
        tuple(s.id for s in chosen),
        _all_or_none([s.item for s in chosen]),
        _all_or_none([s.system for s in chosen]),
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
) -> tuple[Frame, list[str]]:
    """The systems of a group: the mean judgement of each system, and each metric's score of it.

    Args:
        held: segments of several systems.
        criterion: the criterion of the judgements.
        group: the group whose systems are compared.
        over: whether a metric's system score is over the `rated` segments of the system or over `all`.
        aggregate: `corpus` is the metric's own corpus score (BLEU from summed counts, say); `mean` is the mean of its
            segment scores.
        outliers: `mad` leaves out systems whose human score is far from the median.

    Returns:
        The systems, and notes on what was left out.

    Raises:
        InputError: a segment names no system, or a table of system scores lacks a system.
    """
    places = held.places[group]
    mine = [held.segments[i] for i in places]
    for segment in mine:
        if segment.system is None:
            raise InputError(f"segment {segment.id!r} names no system; level 'system' needs one for every segment")
    human = held.human[criterion]
    found = by_system([s.id for s in mine], [s.system for s in mine])
    rated = {name: places[own][~np.isnan(human[places[own]])] for name, own in found.items()}
    means = {str(name): float(human[own].mean()) for name, own in rated.items() if len(own)}
    notes = []
    if outliers == "mad" and means:
        far = mad_outliers(list(means.values())).far
        outlying = [name for name, is_far in zip(means, far, strict=True) if is_far]
        selection = select_systems(list(means), outliers=outlying)
        means = {name: means[name] for name in selection.kept}
        notes.append(f"{f'{group}: ' if group is not None else ''}{selection.note}")
    used = [places[found[name]] if over == "all" else rated[name] for name in means]
    x = []
    for metric in held.metrics:
        if metric in held.scores and (metric not in held.system_tables or aggregate == "mean"):
            x.append([corpus_number(held.scores[metric], own, aggregate) for own in used])
        else:
            x.append(_stored(metric, held.system_tables[metric], group, list(means), len(held.groups)))
    names = tuple(means)
    return (
        Frame(
            group,
            np.array(x, dtype=np.float64).reshape(len(x), len(names)),
            np.array(list(means.values())),
            names,
            None,
            names,
        ),
        notes,
    )


def _stored(metric: str, table: ScoreTable, group: str | None, systems: list[str], n_groups: int) -> list[float]:
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


def needed(labels: tuple[str, ...] | None, what: str, frame: Frame) -> tuple[str, ...]:
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


def check_items(frame: Frame) -> None:
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


def _codes(labels: Sequence[str]) -> npt.NDArray[np.int64]:
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return np.fromiter(map(places.__getitem__, labels), dtype=np.int64, count=len(labels))
