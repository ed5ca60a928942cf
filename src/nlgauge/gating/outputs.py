"""What did each system write for each item? Rows of one item are runs of one system, never items of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Segment, repeated

_SHOWN = 5  # ids in an error
_SOME = "a gate compares the same items: give all of them, or judge those that both have with --common (common=True)"
_NONE = "the ids have nothing in common, so name the key of items with --columns seg=NAME (columns={'seg': NAME})"
_INPUTS = ("references", "source", "context", "table")


@dataclass(frozen=True)
class Outputs:
    """The texts of one system.

    Attributes:
        name: what errors call it: a file, or BASE and NEW.
        items: item -> its runs, of which each has at least one, in the order of the data.
        inputs: item -> the digest of what it was written for, where the runs themselves do not hold it.
        files: the files that were read, as in a result.
        notes: what a reader must know of them.
    """

    name: str
    items: Mapping[str, tuple[Segment, ...]]
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Mapping[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, data: Dataset, name: str, system: str | None = None, files: Sequence[Mapping[str, str]] = ()
    ) -> Outputs:
        """The outputs of one system of a data set, by item.

        The key of an item is its `seg`, with the group before it where several groups have the same; without `seg` it
        is the id.

        Args:
            data: the segments.
            name: what errors call them.
            system: the system, where the data hold several.
            files: the files that they were read from.

        Raises:
            InputError: there is no segment, or there are several systems and none is named.
        """
        segments = data.segments
        known = [one for one in data.systems if one is not None]
        if system is not None:
            if system not in known:
                raise InputError(f"{name} has no system {system!r}{nearest(system, known)}")
            segments = tuple(s for s in segments if s.system == system)
        elif len(data.systems) > 1:
            listed = ", ".join(repr(one) for one in data.systems[:_SHOWN])
            raise InputError(
                f"{name} holds {len(data.systems)} systems ({listed}), expected one; name it as the system"
            )
        if not segments:
            raise InputError(f"{name} holds no segment, expected at least one")
        lacking = next((s.id for s in segments if s.item is None), None)
        if lacking is not None and any(s.item is not None for s in segments):
            raise InputError(f"{name}: segment {lacking!r} names no item (seg) and others do; give all or none of them")
        return cls(name, _by_item(segments), files=tuple(files), notes=data.notes)

    @property
    def segments(self) -> list[Segment]:
        """All runs, item by item."""
        return [run for runs in self.items.values() for run in runs]

    @property
    def groups(self) -> list[str | None]:
        """The group of each item."""
        return [runs[0].group for runs in self.items.values()]

    @property
    def repeats(self) -> int:
        """The largest number of runs of an item."""
        return max(map(len, self.items.values()))

    def digest(self, item: str) -> str:
        """The digest of what an item was written for."""
        return self.inputs.get(item) or inputs_digest(self.items[item][0])


def from_texts(
    hyps: Any,
    name: str,
    references: Any = None,
    sources: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Dataset:
    """Texts in lists as a data set: one hypothesis per item, or a list of runs.

    Args:
        hyps: length n; each a text, or a list of the texts of its runs.
        name: what errors call them.
        references: `[item][reference]`, or one per item.
        sources: one per item.
        ids: the id of each item; by default they count from 1.
        groups: the group of each item.

    Raises:
        InputError: lengths differ, an id occurs twice, or an item has no text.
    """
    runs = [_runs(one, name, i) for i, one in enumerate(hyps)]
    firsts = [one[0] if one else "" for one in runs]
    plain = Dataset.from_texts(firsts, references, sources).segments
    names = list(map(str, ids)) if ids is not None else [str(i) for i in range(1, len(runs) + 1)]
    for what, column in (("ids", names), ("groups", groups)):
        if column is not None and len(column) != len(runs):
            raise InputError(f"{name}: {len(runs)} items but {len(column)} {what}; give one per item")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"{name}: id {twice!r} occurs twice, expected once; runs of one item are a list of texts")
    segments = []
    for i, (own, segment) in enumerate(zip(runs, plain, strict=True)):
        for k, text in enumerate(own, 1):
            about: dict[str, Any] = {"item": names[i], "group": None if groups is None else str(groups[i])}
            segments.append(replace(segment, id=names[i] if k == 1 else f"{names[i]}#{k}", hypothesis=text, **about))
        if not own:
            raise InputError(f"{name}: item {names[i]!r} has no run, expected at least one text")
    return Dataset(tuple(segments), name)


def _runs(given: Any, name: str, place: int) -> list[str]:
    """The texts of the runs of one item."""
    runs = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    for run in runs:
        if not isinstance(run, str):
            what = f"{name}: entry {place} holds {type(run).__name__}"
            raise InputError(f"{what}, expected a text, or a list of the texts of its runs")
    return runs


def _by_item(segments: Sequence[Segment]) -> dict[str, tuple[Segment, ...]]:
    groups: dict[str, set[str | None]] = {}
    for segment in segments:
        groups.setdefault(segment.item or segment.id, set()).add(segment.group)
    several = {item for item, own in groups.items() if len(own) > 1}
    found: dict[str, list[Segment]] = {}
    for segment in segments:
        item = segment.item or segment.id
        found.setdefault(f"{segment.group}:{item}" if item in several else item, []).append(segment)
    return {item: tuple(runs) for item, runs in found.items()}


def paired(base: Outputs, new: Outputs, common: bool = False) -> tuple[Outputs, Outputs]:
    """Both sides with the same items in the order of BASE; inputs that one side leaves out are those of the other.

    Args:
        base, new: the sides.
        common: take the items that both have, written for the same, with a note where that is not all.

    Raises:
        InputError: an item is missing on one side, or was written for something else there.
    """
    n_all = len(base.items), len(new.items)
    shared = [item for item in base.items if item in new.items]
    if common and shared:
        base, new = _only(base, shared), _only(new, shared)
    for one, other in ((base, new), (new, base)):
        lacking = [item for item in one.items if item not in other.items]
        if lacking:
            more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
            raise InputError(
                f"{other.name} lacks {len(lacking)} of {len(one.items)} items of {one.name}"
                f" ({', '.join(map(repr, lacking[:_SHOWN]))}{more}); {_SOME if shared else _NONE}"
            )
    base = replace(base, items=_filled(base.items, new.items))
    new = replace(new, items=_filled({item: new.items[item] for item in base.items}, base.items))
    alike = [item for item in base.items if base.digest(item) == new.digest(item)]
    if len(alike) < len(base.items) and not (common and alike):
        changed = next(item for item in base.items if item not in {*alike})
        raise InputError(
            f"item {changed!r} has other references or another source in {new.name} than in {base.name}; is it another"
            " set? compare outputs for the same inputs"
        )
    if n_all != (len(alike), len(alike)):
        told = f"only {len(alike)} items that both sides have are judged, of {n_all[0]} in BASE and {n_all[1]} in NEW"
        return replace(_only(base, alike), notes=(*base.notes, told)), _only(new, alike)
    return base, new


def _only(side: Outputs, items: Sequence[str]) -> Outputs:
    return replace(side, items={item: side.items[item] for item in items})


def _filled(
    own: Mapping[str, tuple[Segment, ...]], other: Mapping[str, tuple[Segment, ...]]
) -> dict[str, tuple[Segment, ...]]:
    """Runs in which the fields of `_INPUTS`, and the group, are those of the other side where they are missing."""

    def more(run: Segment, model: Segment) -> Segment:
        lacking = {
            name: getattr(model, name)
            for name in (*_INPUTS, "group")
            if not getattr(run, name) and getattr(model, name)
        }
        return replace(run, **lacking) if lacking else run

    return {item: tuple(more(run, other[item][0]) for run in runs) for item, runs in own.items()}


def inputs_digest(segment: Segment) -> str:
    """The digest of everything a hypothesis is compared with."""
    told = repr([getattr(segment, name) for name in _INPUTS])
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def text_digest(text: str) -> str:
    """The digest of one text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def clusters_of(groups: Sequence[str | None]) -> list[str] | None:
    """The cluster of each item: its group. None where items have one group, or each its own."""
    named = [f"item {i}" if group is None else f"group {group}" for i, group in enumerate(groups)]
    return named if 1 < len(set(named)) < len(named) else None


def same_texts(base: Outputs, new: Outputs) -> bool:
    """Whether both sides wrote the same, in any order of runs."""

    def written(side: Outputs) -> Iterator[Counter[str]]:
        return (Counter(run.hypothesis for run in runs) for runs in side.items.values())

    return all(one == other for one, other in zip(written(base), written(new), strict=True))
