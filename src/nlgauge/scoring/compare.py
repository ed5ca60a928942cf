"""Systems beside each other: their corpus numbers, summed block by block, and the options of tests and intervals."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import GoesWith, Range, Typed, checked, refuse_idle
from nlgauge.core.scores import Finish, FinishParts, Scores, add, count, first_of, first_of_all, join
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.io.segments import Summary

if TYPE_CHECKING:
    from nlgauge.scoring.systems import Pairwise

# --- Corpus scores of many systems, summed block by block so that memory does not grow with the data


Key = tuple[str | None, str | None]  # (group, system)


@dataclass
class Totals:
    """The scores of each system by one metric so far.

    Attributes:
        by_group: whether the groups (language pairs, tasks) of a system are kept apart.
        keep: whether the statistics of every segment are kept, which resampling needs.
        counts: flag -> number of segments that have it; `undefined` counts scores that are NaN.
        first: flag -> ids of the first segments that have it.
        references: the numbers of references that segments have.
        part_names: the parts that segment scores have.
        cells: the sums of each group and system.
        finish, finish_parts: how sums become a number, and the parts of it.
        notes: what the metric says of the segments.
    """

    by_group: bool = False
    keep: bool = False
    signature: Signature | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: set[int] = field(default_factory=set)
    part_names: dict[str, None] = field(default_factory=dict)
    cells: dict[Key, CellSums] = field(default_factory=dict)
    finish: Finish | None = None
    finish_parts: FinishParts | None = None
    notes: dict[str, None] = field(default_factory=dict)
    _kept: list[tuple[list[Key], list[str | None], Scores]] = field(default_factory=list)
    _stats: array[float] = field(default_factory=lambda: array("d"))  # of everything kept, which grows without a copy

    def add(self, segments: Sequence[Segment], scores: Scores) -> None:
        """Count a block of segments and their scores."""
        self.signature, self.finish, self.finish_parts = scores.signature, scores.finish, scores.finish_parts
        keys: list[Key] = [(s.group if self.by_group else None, s.system) for s in segments]
        stats, undefined = scores.segment_stats, np.isnan(scores.values)
        numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        places = np.array([numbers[key] for key in keys])
        for key, number in numbers.items():
            mine = places == number
            cell = self.cells.setdefault(key, CellSums(np.zeros(stats.shape[1])))
            cell.totals += stats[mine].sum(axis=0)
            cell.n += int(mine.sum())
            cell.n_undefined += int(undefined[mine].sum())
        self.notes.update(dict.fromkeys(scores.notes))
        self.part_names.update(dict.fromkeys(scores.parts))
        self.references.update(len(s.references) for s in segments)
        self.counts = add(self.counts, count(scores.flags, scores.values))
        self.first = first_of_all(self.first, first_of(scores.flags, scores.ids, scores.values))
        if self.keep:
            self.keep_rows(keys, [s.item for s in segments], scores)

    def keep_rows(self, keys: Sequence[Key], items: list[str | None], scores: Scores) -> None:
        """Keep the statistics of segments: of each its group and system, its item and its scores."""
        if scores.stats is not None:
            self._stats.frombytes(np.ascontiguousarray(scores.stats, dtype=np.float64).view(np.uint8).data)
        known = {key: key for key in keys}  # one object for each key
        self._kept.append(([known[key] for key in keys], items, replace(scores, stats=None)))

    @property
    def raters(self) -> list[int]:
        """How many named people rated each system of what was kept; empty if no ratings of people were scored."""
        found: dict[Key, set[str | None]] = {}
        for keys, _, scores in self._kept:
            for key, own in zip(keys, scores.ratings, strict=False):  # none of a metric
                found.setdefault(key, set()).update(rater for rater, _ in own)
        return [len(raters - {None}) for raters in found.values()]

    @property
    def sizes(self) -> list[int]:
        """The number of segments of each system, and of each of its groups where these are kept apart."""
        return [cell.n for cell in self.cells.values()]

    def rows(self) -> Iterator[tuple[Key, float, int, int]]:
        """Key, corpus number, segments and undefined segments of each system, in order of appearance."""
        for key, cell in self.cells.items():
            assert self.finish is not None  # set with the first cell
            yield key, float(self.finish(cell.totals)), cell.n, cell.n_undefined

    def parts(self, key: Key) -> dict[str, float]:
        """Parts of the corpus number of a system, as `parts.NAME`; empty for most metrics."""
        if self.finish_parts is None:
            return {}
        return {f"parts.{name}": part for name, part in self.finish_parts(self.cells[key].totals).items()}

    def kept(self) -> Mapping[str | None, tuple[list[str | None], list[str | None], Scores]]:
        """Group -> (system of each segment, item of each segment, scores), of everything kept."""
        keys = [key for block, _, _ in self._kept for key in block]
        items = [item for _, block, _ in self._kept for item in block]
        scores = join([s for _, _, s in self._kept])
        if self._stats:
            scores = replace(scores, stats=np.frombuffer(self._stats, dtype=np.float64).reshape(len(scores), -1))
        if len({group for group, _ in keys}) == 1:
            return {keys[0][0]: ([system for _, system in keys], items, scores)}
        groups = {}
        for group in dict.fromkeys(group for group, _ in keys):
            mine = np.array([key[0] == group for key in keys])
            where = np.flatnonzero(mine)
            groups[group] = ([keys[i][1] for i in where], [items[i] for i in where], scores.take(where))
        return groups


@dataclass
class CellSums:
    """The sums of the segments of one system: their statistics, how many they are, and how many are undefined."""

    totals: Array
    n: int = 0
    n_undefined: int = 0


# --- How systems are compared: the options of tests and intervals, and the columns that they add to a table of scores

_TESTED = GoesWith(("test",), "says how systems are tested")
_RESAMPLED = GoesWith(("test", "intervals"), "is about resampling")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared, and whether each score gets an interval.

    Attributes:
        test: the test of every system against the baseline, as `bootstrap`; None for no test. As it is typed,
            `bootstrap:compat=sacrebleu` says `compat`, too.
        baseline: the system that the others are tested against; None for the first.
        draws: the number of resamples; None for 1000 (bootstrap) or 10000 (randomization).
        seed: the seed of the resampling; None for 0, or for sacrebleu's seed.
        compat: `sacrebleu` computes p-values as that package does.
        intervals: give 95 % intervals without a test, too.
        by_group: compare separately for each language pair or task.
        pairs: test every pair of systems and rank them, in place of a baseline; see `nlgauge.compare`.
        adjust: how p-values are adjusted for their number: `holm`, `bh` or `none`; None for `holm` with `pairs`, else
            `none`.
    """

    test: Annotated[
        str | None,
        Typed(
            "Test every system against the baseline; with sacrebleu's p-values, faults and all, if it says so.",
            ("--significance",),
            "bootstrap|randomization[:compat=sacrebleu]",
            words=("bootstrap", "randomization"),
        ),
    ] = None
    baseline: Annotated[
        str | None,
        GoesWith(("test",), "is what others are tested against"),
        Typed("The system that others are tested against.  [default: the first]", metavar="SYSTEM"),
    ] = None
    pairs: Annotated[bool, _TESTED, Typed("Test every pair of systems instead, and rank them, the best first.")] = False
    adjust: Annotated[
        Literal["none", "holm", "bh"] | None,
        _TESTED,
        Typed("Adjust p-values for the number of tests.  [default: holm with --pairs, else none]"),
    ] = None
    draws: Annotated[
        int | None,
        Range(least=1),
        _RESAMPLED,
        Typed("Resamples.  [default: 1000 for bootstrap, 10000 for randomization]", ("--draws", "-n")),
    ] = None
    compat: Annotated[Literal["sacrebleu"] | None, GoesWith(("test",), "says how p-values are computed")] = None
    intervals: Annotated[bool, Typed("Give each number its 95 % interval.", ("--confidence",))] = False
    by_group: Annotated[bool, Typed("One row per language pair or task of a system.")] = False
    seed: Annotated[
        int | None, _RESAMPLED, Typed("Seed of the resampling.  [default: 0; 12345 under compat=sacrebleu]")
    ] = None

    def __post_init__(self) -> None:
        if self.test is not None:
            from nlgauge.scoring.systems import system_test  # what no plain score needs, here and below

            test, _, compat = self.test.partition(":compat=")
            object.__setattr__(self, "test", system_test(test).name)
            object.__setattr__(self, "compat", compat or self.compat)
        checked(self, name="", error=InputError)

    @property
    def resamples(self) -> bool:
        """Whether there are intervals, for which segment values must be kept."""
        return self.intervals or self.test is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Test, draws, seed and confidence, as a result file names them; all None where nothing is resampled."""
        if not self.resamples:
            return {}
        from nlgauge.scoring.systems import INTERVAL_DRAWS, SACREBLEU_SEED, system_test

        usual = INTERVAL_DRAWS if self.test is None else system_test(self.test).draws
        seed = SACREBLEU_SEED if self.compat == "sacrebleu" else 0
        return {
            "test": self.test,
            "draws": usual if self.draws is None else self.draws,
            "seed": seed if self.seed is None else self.seed,
            "adjust": None if self.test is None else self.adjust or ("holm" if self.pairs else "none"),
            "confidence": 0.95,
        }

    def check(self, summary: Summary) -> None:
        """Refuse systems that cannot be compared.

        Raises:
            InputError: there is only one system, segments name no system, or the baseline is not among the systems.
        """
        refuse_idle(self)
        if self.pairs and (self.baseline is not None or self.compat is not None):
            raise InputError(
                f"pairs tests every pair of systems; leave {'compat' if self.baseline is None else 'baseline'} out"
            )
        systems = [system for system in summary.systems if system is not None]
        if self.test is not None and len(summary.systems) < 2:
            raise InputError(f"a test compares systems, expected at least two, found {len(systems) or 'none named'}")
        if self.test is not None and None in summary.systems:
            raise InputError("a test compares systems, and some segments name none; give every row a 'system'")
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(f"baseline {self.baseline!r} is not among the systems{nearest(self.baseline, systems)}")
        if self.resamples and self.seed is not None and self.seed < 0:
            raise InputError(f"seed is {self.seed}, expected 0 or more")

    def check_metrics(self, signatures: Iterable[Signature]) -> None:
        """Refuse metrics whose p-values the package in `compat` does not compute."""
        if self.test is not None and self.compat is not None:
            from nlgauge.scoring.systems import check_compat

            for signature in signatures:
                check_compat(signature, self.compat)

    def check_items(self, rows: Iterable[tuple[str | None, str | None, str | None, str]]) -> None:
        """Refuse systems that the test cannot pair item by item, before anything is scored.

        Args:
            rows: group, system, item and id of each segment.

        Raises:
            InputError: systems have different items or a single one, one has an item twice, or a group has one system.
        """
        from nlgauge.scoring.systems import aligned
        from nlgauge.stats.draws import check_stats

        groups: dict[str | None, list[tuple[str | None, str | None, str]]] = {}
        for group, system, item, name in rows:
            groups.setdefault(group if self.by_group else None, []).append((system, item, name))
        for group, own in groups.items():
            systems, items, ids = zip(*own, strict=True)
            if self.pairs:
                _refuse_one_system(group, systems)
            baseline = self._baseline(systems)
            places = aligned(ids, systems, items, baseline)
            check_stats(np.zeros((len(places), len(places[baseline]), 1)), systems=2)

    def _baseline(self, systems: Sequence[str | None]) -> str:
        return next(s for s in systems if s is not None) if self.baseline is None else self.baseline

    def pairwise(self, totals: Totals) -> dict[str | None, Pairwise]:
        """Every pair of systems by one metric, in each group.

        Raises:
            InputError: a group has only one system, or its systems have different items.
        """
        from nlgauge.scoring.systems import compare_pairs

        assert self.test is not None  # checked before anything was scored
        how: dict[str, Any] = {"draws": self.draws, "seed": self.seed or 0, "adjust": self.adjust or "holm"}
        found: dict[str | None, Pairwise] = {}
        for group, (systems, items, scores) in totals.kept().items():
            _refuse_one_system(group, systems)
            found[group] = compare_pairs(scores, systems, items, test=self.test, **how)
        return found

    def of(self, totals: Totals) -> dict[Key, dict[str, Any]]:
        """Columns of the rows of one metric beside its values: intervals, differences and p-values."""
        from nlgauge.scoring.systems import compare_scores, intervals

        beside: dict[Key, dict[str, Any]] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if self.test is None:
                ends = intervals(scores, systems, draws=self.draws, seed=self.seed)
                beside |= {(group, system): own for system, own in ends.items()}
                continue
            found = compare_scores(
                scores,
                systems,
                items,
                test=self.test,
                baseline=self._baseline(systems),
                draws=self.draws,
                seed=self.seed,
                compat=self.compat,
            )
            beside |= {(group, system): own for system, own in found.items()}
            if self.adjust is not None:
                from nlgauge.stats.tests import adjusted

                tested = [own for own in found.values() if own["p"] is not None]
                fair = adjusted(np.array([own["p"] for own in tested]), self.adjust)
                for own, p in zip(tested, fair.tolist(), strict=True):
                    own["p_adjusted"] = p
        return beside

    def notes(self, all_totals: Iterable[Totals]) -> Iterator[str]:
        """How intervals and p-values of several metrics were computed."""
        if self.resamples and self.compat is None:
            from nlgauge.scoring.systems import resampling_notes

            for totals in all_totals:
                yield from resampling_notes(min(totals.sizes, default=0), self.test, self.seed or 0, totals.raters)
        if self.test is not None:
            from nlgauge.scoring.systems import ADJUSTED, system_test

            draws, seed = self.settings["draws"], self.settings["seed"]
            fault = ", as {} computes it (too often significant: page 'reference/verbs/score' of the documentation)"
            yield (
                f"p: {system_test(self.test).words} against the baseline, two-sided, {draws} draws,"
                f" seed {seed}{fault.format(self.compat) if self.compat else ''}"
                + (f"; {ADJUSTED[self.adjust]}" if self.adjust is not None else "")
            )


def _refuse_one_system(group: str | None, systems: Sequence[str | None]) -> None:
    if len(set(systems)) < 2:
        raise InputError(f"group {group!r} has one system, {systems[0]!r}; a test compares at least two")
