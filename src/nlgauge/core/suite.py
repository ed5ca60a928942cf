"""Suites: pairs of texts whose order is known, which an audit gives to a metric."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nlgauge.core.doors import made
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import repeated

Expect = Literal["lower", "same"]
Setup = Literal["ref", "src", "any"]
Design = Literal["preference", "checklist"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts of which one is better, or which are equally good.

    Attributes:
        id: the key of the pair, unique within a suite.
        phenomenon: how the two texts differ: the id of a perturbation, or a name that the suite defines.
        better: the text that a metric should score higher, or the text before the perturbation.
        worse: the other text.
        references: the references of both texts, for metrics that need references.
        source: the source of both texts, for metrics that need a source.
        setup: `ref` if the pair is made for metrics with references, `src` if it is made for metrics without, `any` if
            it serves both.
        expect: `lower` if the metric should score the worse text lower, `same` if it should score both the same.
        task: the task of a checklist (`mt`, `as`, `qg`, `dg`, `d2t`, `ic`).
        criterion: the quality in which the worse text is worse.
        group: language pair or part of the suite.
        context: dialogue turns.
        error: the name that the suite itself gives to the phenomenon.
        meta: how the pair was made.
        cluster: where the texts come from, if the suite says so. Outcomes of pairs of one origin depend on each other,
            and intervals take this into account; see `origin`.
    """

    id: str
    phenomenon: str
    better: str
    worse: str
    references: tuple[str, ...] = ()
    source: str | None = None
    setup: Setup = "any"
    expect: Expect = "lower"
    task: str | None = None
    criterion: str | None = None
    group: str | None = None
    context: tuple[Mapping[str, str], ...] = ()
    error: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    cluster: str | None = None

    @property
    def origin(self) -> tuple[str, str]:
        """The key that pairs of one origin share: the cluster, or else the reference or the source."""
        if self.cluster is not None:
            return "cluster", self.cluster
        if self.references:
            return "text", self.references[0]
        return ("text", self.source) if self.source else ("pair", self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """How many texts a perturbation did not apply to, and why."""

    perturbation: str
    reason: str
    n: int
    task: str | None = None
    criterion: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """The scores of a pair by metrics.

    Attributes:
        id, phenomenon, better, worse: as for `Pair`; a text that is not known is empty.
        scores: specification -> its scores of the better and of the worse text, and 1 if the pair was won, 0.5 for a
            tie, 0 if it was lost. A metric without scores for the pair is absent.
    """

    id: str
    phenomenon: str
    better: str
    worse: str
    scores: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Suite:
    """Pairs with unique ids, in order.

    Attributes:
        pairs: at least one pair.
        name: the name of the file or of the recipe.
        design: `preference` if each pair asks which text is better, `checklist` if score drops are compared with human
            penalties.
        skipped: the texts that perturbations did not apply to, counted by perturbation and reason.
        notes: what a reader must know.
        published: the name of a published suite that was read by its name, such as `hwtsc22`; else None.

    Raises:
        InputError: there is no pair, or two pairs have the same id.
    """

    pairs: tuple[Pair, ...]
    name: str = ""
    design: Design = "preference"
    skipped: Sequence[Skipped] = ()
    notes: tuple[str, ...] = ()
    published: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))
        where = f" in {self.name}" if self.name else ""
        if not self.pairs:
            why = "; ".join(f"{s.perturbation}: {s.reason} ({s.n})" for s in self.skipped[:3])
            raise InputError(f"no pair{where}, expected at least one" + (f"; nothing applied: {why}" if why else ""))
        twice = repeated(pair.id for pair in self.pairs)
        if twice is not None:
            raise InputError(f"duplicate pair {twice!r}{where}; ids must be unique, one per pair")

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"Suite({name}{self.design}: {len(self)} pairs of {len(self.phenomena)} phenomena)"

    def _repr_html_(self) -> str:
        """The suite as a notebook shows it: how many pairs there are of each phenomenon, and the first of them."""
        return str(made("suite", self))

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def of_groups(self, groups: Collection[str]) -> Suite:
        """The pairs of some language pairs or parts; a group without a pair is refused."""
        known = {pair.group for pair in self.pairs}
        for group in groups:
            if group not in known:
                names = [name for name in self.groups if name is not None]
                raise InputError(f"no pair of {self.name or 'the suite'} is of {group!r}{nearest(group, names)}")
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair.group in groups))

    def spread(self, n: int) -> Suite:
        """About n pairs, from all over the suite: every origin whole, or not at all; the suite if it has no more.

        Origins are taken at equal steps in their order, so that long files are not cut behind their first phenomena.
        """
        if n >= len(self):
            return self
        origins: dict[tuple[str, str], list[Pair]] = {}
        for pair in self.pairs:
            origins.setdefault(pair.origin, []).append(pair)
        own = list(origins.values())
        taken = max(1, round(n * len(own) / len(self)))
        kept = {pair.id for i in range(taken) for pair in own[i * len(own) // taken]}
        pairs = tuple(pair for pair in self.pairs if pair.id in kept)
        note = f"{len(pairs)} of {len(self)} pairs: those of {taken} of {len(own)} origins, from all over the suite"
        return replace(self, pairs=pairs, notes=(*self.notes, note))

    @property
    def phenomena(self) -> tuple[str, ...]:
        """In order of first appearance."""
        return tuple(dict.fromkeys(p.phenomenon for p in self.pairs))

    @property
    def groups(self) -> tuple[str | None, ...]:
        """In order of first appearance."""
        return tuple(dict.fromkeys(p.group for p in self.pairs))
