"""Tables of scores and preferences that were read from a file and are joined to segments by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Segment

Places = npt.NDArray[np.int64]
LEVELS = ("segment", "document", "domain", "system")
_SHOWN = 3  # names in an error before "and 7 more"
SingleRatings = tuple[tuple[str | None, float], ...]  # of one segment: who gave it (None: nobody says), and the rating


class Key(NamedTuple):
    """The segment of a row, named by its id or by its system, item and group.

    Above the level of segments, the item is a document, a domain or None.
    """

    id: str | None = None
    system: str | None = None
    item: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        if self.id is not None:
            return f"segment {self.id!r}"
        parts = (("system", self.system), ("item", self.item), ("group", self.group))
        return (
            ", ".join(f"{what} {value!r}" for what, value in parts if value is not None) or "a row that names nothing"
        )


class Origin(NamedTuple):
    """Metadata of a column: its direction, and the signature of its metric ("" if unknown).

    A column without a direction (None), such as the number of a reference, is no score.
    """

    higher_is_better: bool | None
    signature: str = ""


@by_value
@dataclass(frozen=True)
class ScoreTable:
    """Scores or ratings of n segments, documents, domains or systems, from any program or person.

    Attributes:
        keys: what each row is about: n distinct keys, of which either all have an id or none has.
        columns: scorer or criterion -> float64 array of shape (n,), NaN where the file has no number.
        level: one of `LEVELS`.
        name: the name of the file, for errors.
        notes: what was left out in reading, with counts.
        origins: scorer -> what is recorded about its column; a column of which nothing is known is absent.
        ratings: column -> the ratings of each row, where its number is the mean of several people's; else absent.
        by_lines: whether the file has a number on each line, and nothing that says of what; line i is about item i.

    Raises:
        InputError: a column has another length, the level is unknown, two rows are about the same thing, or only some
            rows have an id.
    """

    keys: tuple[Key, ...]
    columns: Mapping[str, Array]
    level: str = "segment"
    name: str = ""
    notes: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = dataclasses.field(default_factory=dict)
    ratings: Mapping[str, Sequence[SingleRatings]] = dataclasses.field(default_factory=dict)
    by_lines: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(self.keys))
        object.__setattr__(
            self, "columns", {name: np.asarray(values, dtype=np.float64) for name, values in self.columns.items()}
        )
        if self.level not in LEVELS:
            raise InputError(f"level {self.level!r} is unknown{nearest(self.level, LEVELS)}")
        for name, values in self.columns.items():
            if values.shape != (len(self.keys),):
                raise InputError(f"{self._where}column {name!r} has shape {values.shape}, expected ({len(self.keys)},)")
        n_ids = sum(key.id is not None for key in self.keys)
        if 0 < n_ids < len(self.keys):
            raise InputError(f"{self._where}{n_ids} of {len(self.keys)} rows have an id, expected all or none")
        seen: set[object] = set()
        for key in self.keys:
            own = key if key.id is None else key.id
            if own in seen:
                raise InputError(f"{self._where}two rows are about {key}; expected one")
            seen.add(own)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def _where(self) -> str:
        return f"{self.name}: " if self.name else ""

    @property
    def groups(self) -> tuple[str | None, ...]:
        """Groups in order of first appearance."""
        return tuple(dict.fromkeys(key.group for key in self.keys))

    def column(self, name: str | None = None) -> Array:
        """One column. The name may be left out if there is only one.

        Raises:
            InputError: there is no such column, or there are several and no name is given.
        """
        if name is None:
            if len(self.columns) != 1:
                found = ", ".join(map(repr, self.columns)) or "none"
                raise InputError(
                    f"{self._where}{len(self.columns)} columns of scores ({found}), expected one; name the one you mean"
                )
            return next(iter(self.columns.values()))
        if name not in self.columns:
            raise InputError(f"{self._where}no column {name!r}{nearest(name, self.columns)}")
        return self.columns[name]

    def places(self, segments: Sequence[Segment]) -> Places:
        """The row of each segment, shape (len(segments),); -1 for a segment without a row. See `find`."""
        if self.level != "segment":
            raise InputError(f"{self._where}scores of level {self.level!r} have no rows for segments")
        return find(self.keys, segments, self.name)

    def of(
        self, segments: Sequence[Segment], name: str | None = None, missing: Literal["refuse", "nan"] = "refuse"
    ) -> Array:
        """A column in the order of segments, shape (len(segments),).

        Args:
            segments: the segments whose scores are wanted.
            name: the column. It may be left out if there is only one.
            missing: what to do about segments without a row or without a number: raise an error, or return NaN.

        Raises:
            InputError: a score is missing. The error names the column and the first segments without a score.
        """
        column, places = self.column(name), self.places(segments)
        values = np.where(places < 0, np.nan, column[places]) if len(column) else np.full(len(segments), np.nan)
        lacking = np.flatnonzero(np.isnan(values))
        if missing == "refuse" and len(lacking):
            rows = int((places[lacking] < 0).sum())
            why = f"{rows} have no row, {len(lacking) - rows} have a row without a number"
            raise InputError(
                f"{self._where}no score{'' if name is None else f' {name!r}'} for {len(lacking)} of {len(segments)}"
                f" segments ({why}): " + _some(segments[i].id for i in lacking.tolist())
            )
        return np.asarray(values, dtype=np.float64)

    def by_system(self, name: str | None = None, group: str | None = None) -> dict[str, float]:
        """System -> score, from a table of level `system`; `group` chooses a language pair or task.

        Raises:
            InputError: the table has another level, or the group is unknown, or it must be named and is not.
        """
        if self.level != "system":
            raise InputError(f"{self._where}scores of level {self.level!r}, expected level 'system'")
        if group is None and len(self.groups) > 1:
            raise InputError(
                f"{self._where}{len(self.groups)} groups ({_some(map(str, self.groups))}), expected the name of one"
            )
        if group is not None and group not in self.groups:
            raise InputError(
                f"{self._where}no group {group!r}{nearest(group, [g for g in self.groups if g is not None])}"
            )
        column = self.column(name)
        return {
            str(key.system): float(column[i]) for i, key in enumerate(self.keys) if group is None or key.group == group
        }


class Preference(NamedTuple):
    """Of two outputs for one input, people preferred `better`. `margin` says by how much; NaN if that is unknown."""

    better: Key
    worse: Key
    margin: float = np.nan


@dataclass(frozen=True)
class Preferences:
    """Better/worse pairs in the order of their file.

    Attributes:
        pairs: P preferences. The same two outputs may be judged more than once.
        name: the name of the file, for errors.
        notes: what was left out in reading, with counts.
    """

    pairs: tuple[Preference, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pairs)

    def places(self, segments: Sequence[Segment]) -> Places:
        """The positions of the two outputs of each pair in `segments`, shape (P, 2): better, then worse.

        Raises:
            InputError: some outputs are not among the segments. The error names the first of them.
        """
        keys = [key for pair in self.pairs for key in (pair.better, pair.worse)]
        known = list(dict.fromkeys(keys))
        rows = dict(zip(known, _invert(find(known, segments, self.name), len(known)), strict=True))
        lacking = [key for key in known if rows[key] < 0]
        if lacking:
            where = f"{self.name}: " if self.name else ""
            raise InputError(
                f"{where}{len(lacking)} of {len(known)} outputs are not among the segments:"
                f" {_some(map(str, lacking), '; ')}"
            )
        return np.array([rows[key] for key in keys], dtype=np.int64).reshape(-1, 2)


def find(keys: Sequence[Key], segments: Sequence[Segment], name: str = "") -> Places:
    """Find the row of each segment, shape (len(segments),); -1 for a segment without a row.

    Rows with an id are matched by the id alone; where none is that of a segment, ids are taken for items. Other rows
    are matched by system, item and group. A row without a group matches any group. A segment without a group matches
    the rows of a group if there is only one group. If no row has a system, items alone are matched, or the ids of
    segments without an item.

    Raises:
        InputError: two rows differ only in their group, and the segment does not name one; or rows count from 1, and
            segments from 0, or the other way round; or names of a row and a segment differ by blanks alone.
    """
    where = f"{name}: " if name else ""
    by_id = {key.id: row for row, key in enumerate(keys) if key.id is not None}
    if by_id:
        found = [by_id.get(segment.id, -1) for segment in segments]
        if found and max(found) < 0 and all(key.item is None for key in keys):  # files by system, whose ids are items
            return find([Key(None, key.system, key.id, key.group) for key in keys], segments, name)
        return _checked(found, keys, [(segment.id,) for segment in segments], where)
    groups = {key.group for key in keys} - {None}
    rows = {(key.system, key.item, key.group): row for row, key in enumerate(keys)}
    no_system = not any(key.system for key in keys)
    found, names = list[int](), list[tuple[str | None, ...]]()
    taken: dict[int, str] = {}
    for segment in segments:
        group = segment.group
        if group is None and len(groups) > 1:
            raise InputError(
                f"{where}rows are told apart by language pair or task, and segment {segment.id!r} names none"
            )
        if group is None and groups:
            (group,) = groups
        system, item = (None, segment.item or segment.id) if no_system else (segment.system, segment.item)
        row = rows.get((system, item, group), -1)
        row = rows.get((system, item, None), -1) if row < 0 else row
        first = segment.id if row < 0 else taken.setdefault(row, segment.id)
        if first != segment.id:
            raise InputError(
                f"{where}segments {first!r} and {segment.id!r} both fit {keys[row]}; give the rows a 'system', an 'lp'"
                " or a 'task', or ids"
            )
        found.append(row)
        names.append((system, item, group if groups else None))
    return _checked(found, keys, names, where)


def _checked(found: list[int], keys: Sequence[Key], names: Sequence[tuple[str | None, ...]], where: str) -> Places:
    """The row of each segment; refused are names that differ from those of a row by blanks, or count from elsewhere."""
    if -1 in found:
        of_rows, of_segments = _items(key[:1] if key.id is not None else key[1:] for key in keys), _items(names)
        for system, items in of_segments.items():
            rows = of_rows.get(system, set())
            n = str(len(rows))
            from_one = "0" in items and rows == {*map(str, range(1, len(rows) + 1))}
            from_zero = n in items and "0" not in items and rows == {*map(str, range(len(rows)))}
            if rows and (from_one or from_zero):  # each would get the score of the one beside it
                said = (
                    f"1 to {n}, and a segment is '0'" if from_one else f"0 to {len(rows) - 1}, and a segment is {n!r}"
                )
                raise InputError(f"{where}rows are about the items {said}; count both alike")
        used = set(found)
        free = {_bare(key[:1] if key.id is not None else key[1:]): key for i, key in enumerate(keys) if i not in used}
        near = {free.get(_bare(own)): own for own, row in zip(names, found, strict=True) if row < 0}
        near.pop(None, None)
        for key, own in near.items():
            raise InputError(
                f"{where}{len(near)} of {len(keys)} rows differ from a segment by blanks alone, as {key} from"
                f" {', '.join(map(repr, filter(None, own)))}; take the blanks out of both"
            )
    return np.array(found, dtype=np.int64)


def _items(names: Iterable[tuple[str | None, ...]]) -> dict[str | None, set[str | None]]:
    """System -> its items, of names as `_checked` has them; None -> the ids, which stand alone."""
    found: dict[str | None, set[str | None]] = {}
    for name in names:
        found.setdefault(name[0] if len(name) > 1 else None, set()).add(name[1] if len(name) > 1 else name[0])
    return found


def _bare(names: Iterable[str | None]) -> tuple[str | None, ...]:
    """Names without blanks around them, and with one inside."""
    return tuple(name if name is None else " ".join(name.split()) for name in names)


def judged(dataset: Dataset, table: ScoreTable, columns: Sequence[str] | None = None) -> Dataset:
    """Add columns of a table to a dataset, as criteria of its human judgements.

    Args:
        dataset: the texts.
        table: judgements of segments; or of systems, which every segment of the system then bears, for level `system`.
        columns: the columns to add; all if None.

    Returns:
        The same segments in the same order. Where the table has no number, the segment lacks the criterion. The notes
        count such segments, and the rows that match no segment.

    Raises:
        InputError: a segment already has the criterion, a column is unknown, or no row matches.
    """
    names = list(table.columns) if columns is None else list(columns)
    wanted = {name: table.column(name) for name in names}
    of_systems = table.level == "system"
    given = {} if of_systems else table.ratings
    places = _of_systems(table, dataset.segments) if of_systems else table.places(dataset.segments)
    if len(dataset) and len(table) and (places < 0).all():
        example = f"{table.keys[0]} against segment {dataset.segments[0].id!r} ({_named(dataset.segments[0])})"
        raise InputError(f"{table._where}no row fits any segment of {dataset.name or 'the dataset'}: {example}")
    segments: list[Segment] = []
    for segment, row in zip(dataset.segments, places.tolist(), strict=True):
        ratings: dict[str, Any] = {
            name: [one for _, one in given[name][row]] if name in given else float(values[row])
            for name, values in wanted.items()
            if row >= 0 and not np.isnan(values[row])
        }
        twice = [name for name in ratings if name in segment.human]
        if twice:
            raise InputError(
                f"{table._where}segment {segment.id!r} already has a rating {twice[0]!r}; for another name:"
                f" --columns human.OTHER={twice[0]}"
            )
        raters = {name: tuple(rater for rater, _ in given[name][row]) for name in ratings if name in given}
        known = {**segment.raters, **{name: who for name, who in raters.items() if any(who)}}
        segments.append(dataclasses.replace(segment, human={**segment.human, **ratings}, raters=known))
    notes = [
        f"{table.name or 'table'}: no rating {name!r} for {count} of {len(segments)} segments"
        for name, count in _lacking(wanted, places)
    ]
    if of_systems:
        notes.append(f"{table.name or 'table'}: each segment bears the rating of its system; compare at level 'system'")
    unused = len(table) - len(set(places[places >= 0].tolist()))
    if unused:
        notes.append(f"{table.name or 'table'}: {unused} of {len(table)} rows fit no segment")
    return Dataset(
        tuple(segments), dataset.name, (*_misnamed(table, segments, places), *dataset.notes, *table.notes, *notes)
    )


def _misnamed(table: ScoreTable, segments: Sequence[Segment], places: Places) -> Iterator[str]:
    """Which systems have no rating, where ratings are of systems that have no text: maybe two names of one."""
    rated = {s.system for s, row in zip(segments, places.tolist(), strict=True) if row >= 0}
    there = dict.fromkeys(s.system for s in segments)
    lost = dict.fromkeys(key.system for key in table.keys if key.system not in there)
    lacking = [name for name in there if name not in rated]
    if names := [name for name in lacking if name is not None] if None not in lost and lost else []:
        fits = f"and those of {_some(map(repr, lost))} fit no text; are they the same?"
        yield f"{table.name or 'table'}: no rating is of system {_some(map(repr, names))}, {fits}"


def _listed(rating: Any) -> list[Any]:
    return [] if rating is None else [*rating] if isinstance(rating, list | tuple | np.ndarray) else [rating]


Z = ".z"  # ends the name of a criterion without the severity of its raters


def ratings(segments: Sequence[Segment], criterion: str) -> Array:
    """The ratings for one criterion, shape (n,).

    Where several people rated a segment, the value is their mean; where nobody did, it is NaN. `CRITERION.z` is the
    mean of `z_by_rater`, unless the data have a criterion of that very name.

    Raises:
        InputError: a rating is not a finite number, or nobody says who rated.
    """
    return np.array([mean_of_ratings(own) for own in single_ratings(segments, criterion)[0]], dtype=np.float64)


def mean_of_ratings(own: SingleRatings) -> float:
    """The mean of the ratings of a segment; NaN where there are none."""
    if len(own) == 1:  # as most often, without the time that a mean takes
        return own[0][1]
    return float(np.mean([rating for _, rating in own])) if own else float("nan")


def base_of(segments: Sequence[Segment], criterion: str) -> str | None:
    """The criterion from which severity is to be taken out; None where the criterion is itself one of the data."""
    base = criterion.removesuffix(Z)
    known = {name for s in segments for name in s.human} if base != criterion else set()
    return base if criterion not in known and base in known else None


def single_ratings(segments: Sequence[Segment], criterion: str) -> tuple[list[SingleRatings], list[str]]:
    """Each rating with its rater, by segment, of a criterion or of `CRITERION.z`; and notes on what is left out.

    Raises:
        InputError: as `ratings`.
    """
    base = base_of(segments, criterion)
    given = [_given(segment, criterion if base is None else base) for segment in segments]
    return (given, []) if base is None else z_by_rater(given, base)


def _given(segment: Segment, criterion: str) -> SingleRatings:
    listed = _listed(segment.human.get(criterion))
    raters = (*segment.raters.get(criterion, ()), *[None] * len(listed))
    found = []
    for number, rater in zip(listed, raters, strict=False):
        if number is None or (isinstance(number, float) and np.isnan(number)):
            continue
        if not isinstance(number, int | float | np.number) or not np.isfinite(number):
            raise InputError(
                f"rating {criterion!r} of segment {segment.id!r} is {number!r}, expected a finite number or a list of"
                " them"
            )
        found.append((rater, float(number)))
    return tuple(found)


def z_by_rater(given: Sequence[SingleRatings], criterion: str) -> tuple[list[SingleRatings], list[str]]:
    """Ratings without the severity of their raters: less the rater's mean, over the rater's standard deviation.

    Args:
        given: the ratings of each of n segments.
        criterion: what was rated, for errors and notes.

    Returns:
        The same in standard deviations, and notes. Left out and counted are ratings of raters who gave one alone, or
        always the same, and ratings that name no rater.

    Raises:
        InputError: nobody says who rated.

    References:
        Graham et al. (2017), "Can machine translation systems be evaluated by the crowd alone", section 4, as WMT's
        direct assessment does (in `segment-mteval`, R's `sd`, with n - 1; raters without spread are removed).
    """
    by_rater: dict[str, list[float]] = {}
    for rater, rating in (pair for own in given for pair in own):
        if rater is not None:
            by_rater.setdefault(rater, []).append(rating)
    if not by_rater:
        raise InputError(
            f"{criterion + Z!r} takes the severity of raters out of {criterion!r}, and nobody says who rated; name the"
            f" column of raters (--columns rater=NAME), or take {criterion!r}"
        )
    scale = {
        rater: (float(np.mean(own)), float(np.std(own, ddof=1))) for rater, own in by_rater.items() if len(set(own)) > 1
    }
    found: list[SingleRatings] = [
        tuple((rater, (rating - scale[rater][0]) / scale[rater][1]) for rater, rating in own if rater in scale)
        for own in given
    ]
    total, notes = sum(map(len, given)), []
    if flat := [rater for rater in by_rater if rater not in scale]:
        lost = sum(len(by_rater[rater]) for rater in flat)
        notes.append(
            f"{criterion + Z}: raters who gave one rating or always the same are left out: {len(flat)} of"
            f" {len(by_rater)}, with {lost} of {total} ratings ({_some(flat)})"
        )
    if nameless := total - sum(map(len, by_rater.values())):
        notes.append(f"{criterion + Z}: ratings that name no rater are left out: {nameless} of {total}")
    return found, notes


@dataclass(frozen=True)
class RaterTable:
    """Who gave which rating, by raters.

    Attributes:
        values: shape (raters, segments); NaN where a rater gave none, and the mean where one rated a segment again.
            Where nobody says who rated, a row has the first rating of every segment, the next the second, and so on.
        names: the raters, in the order of their first rating; none where nobody says who rated.
    """

    values: Array
    names: tuple[str, ...]


def ratings_by_rater(given: Sequence[SingleRatings]) -> RaterTable:
    """The ratings of n segments by raters. A rating of which nobody says who gave it counts where none says so."""
    names = dict.fromkeys(name for own in given for name, _ in own if name is not None)
    keys: Sequence[str | int] = [*names] or range(max(map(len, given), default=0))
    rows: dict[str | int | None, int] = {key: row for row, key in enumerate(keys)}
    sums, counts = np.zeros((2, len(rows), len(given)))
    for i, own in enumerate(given):
        for place, (name, rating) in enumerate(own):
            row = rows.get(name if names else place)
            if row is not None:
                sums[row, i] += rating
                counts[row, i] += 1
    return RaterTable(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0), tuple(names))


def _of_systems(table: ScoreTable, segments: Sequence[Segment]) -> Places:
    """The row of the system of each segment, shape (len(segments),); -1 where there is none."""
    rows = {(key.system, key.group): row for row, key in enumerate(table.keys)}
    return np.array([rows.get((s.system, s.group), rows.get((s.system, None), -1)) for s in segments], dtype=np.int64)


def _lacking(columns: Mapping[str, Array], places: Places) -> Iterable[tuple[str, int]]:
    for name, values in columns.items():
        there = places[places >= 0]
        count = int(len(places) - len(there) + np.isnan(values[there]).sum())
        if count:
            yield name, count


def _named(segment: Segment) -> str:
    return f"system {segment.system!r}, item {segment.item!r}, group {segment.group!r}"


def _invert(rows: Places, n: int) -> list[int]:
    """Turn "row of each segment" into "segment of each row"; -1 for a row without a segment."""
    back = np.full(n, -1, dtype=np.int64)
    back[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return [int(place) for place in back]


def _some(names: Iterable[str], between: str = ", ") -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return between.join(listed[:_SHOWN]) + more
