"""How systems are compared: the options of tests and intervals, and the columns that they add to a table of scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import GoesWith, Range, Typed, checked, refuse_idle
from nlgauge.metrics.base import Summary
from nlgauge.metrics.comparing.tests import INTERVAL_DRAWS, SACREBLEU_SEED, Test, system_test
from nlgauge.metrics.scoring.totals import Key, Totals

if TYPE_CHECKING:
    from nlgauge.metrics.comparing.pairwise import Pairwise

Intervals = Annotated[bool, Typed("Give each number its 95 % bootstrap interval.", ("--confidence",))]
ByGroup = Annotated[bool, Typed("One row per language pair or task of a system.")]
_COMPARED = ("low", "high", "baseline", "delta", "delta_low", "delta_high", "p")
_TESTED = GoesWith(("test",), "says how systems are tested")
_RESAMPLED = GoesWith(("test", "intervals"), "is about resampling")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared, and whether each score gets an interval.

    Attributes:
        test: the test of every system against the baseline; None for no test.
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
        Test | None,
        Typed("Test every system against the baseline.", ("--significance",), words=("bootstrap", "randomization")),
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
    compat: Annotated[
        Literal["sacrebleu"] | None,
        GoesWith(("test",), "says how p-values are computed"),
        Typed("Its p-values, faults and all."),
    ] = None
    intervals: Intervals = False
    by_group: ByGroup = False
    seed: Annotated[
        int | None, _RESAMPLED, Typed("Seed of the resampling.  [default: 0; 12345 under --compat sacrebleu]")
    ] = None

    def __post_init__(self) -> None:
        checked(self, name="", error=InputError)
        if self.test is not None:
            object.__setattr__(self, "test", system_test(self.test).name)

    @property
    def resamples(self) -> bool:
        """Whether there are intervals, for which segment values must be kept."""
        return self.intervals or self.test is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Test, draws, seed and confidence, as a result file names them; all None where nothing is resampled."""
        if not self.resamples:
            return {}
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
        self._check_together()
        systems = [system for system in summary.systems if system is not None]
        if self.test is not None and len(summary.systems) < 2:
            raise InputError(f"a test compares systems, expected at least two, found {len(systems) or 'none named'}")
        if self.test is not None and None in summary.systems:
            raise InputError("a test compares systems, and some segments name none; give every row a 'system'")
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(f"baseline {self.baseline!r} is not among the systems{nearest(self.baseline, systems)}")

    def _check_together(self) -> None:
        """Refuse options that change nothing beside each other."""
        refuse_idle(self)
        if self.pairs and (self.baseline is not None or self.compat is not None):
            raise InputError(
                f"pairs tests every pair of systems; leave {'compat' if self.baseline is None else 'baseline'} out"
            )

    def pairwise(self, totals: Totals) -> dict[str | None, Pairwise]:
        """Every pair of systems by one metric, in each group.

        Raises:
            InputError: a group has only one system, or its systems have different items.
        """
        from nlgauge.metrics.comparing.pairwise import compare_pairs

        assert self.test is not None  # checked before anything was scored
        how: dict[str, Any] = {"draws": self.draws, "seed": self.seed or 0, "adjust": self.adjust or "holm"}
        found: dict[str | None, Pairwise] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if len(set(systems)) < 2:
                raise InputError(f"group {group!r} has one system, {systems[0]!r}; a test compares at least two")
            found[group] = compare_pairs(scores, systems, items, test=self.test, **how)
        return found

    def of(self, totals: Totals) -> dict[Key, dict[str, Any]]:
        """Columns of the rows of one metric beside its values: intervals, differences and p-values."""
        from nlgauge.metrics.comparing.table import compare_scores, intervals  # what no plain score needs

        beside: dict[Key, dict[str, Any]] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if self.test is None:
                for interval in intervals(scores, systems, draws=self.draws, seed=self.seed):
                    beside[group, interval.system] = {"low": interval.low, "high": interval.high}
                continue
            found = compare_scores(
                scores,
                systems,
                items,
                test=self.test,
                baseline=next(s for s in systems if s is not None) if self.baseline is None else self.baseline,
                draws=self.draws,
                seed=self.seed,
                compat=self.compat,
            )
            for one in found:
                beside[group, one.system] = {name: getattr(one, name) for name in _COMPARED}
            if self.adjust is not None:
                from nlgauge.stats.tests import adjusted

                tested = [one for one in found if one.p is not None]
                fair = adjusted(np.array([one.p for one in tested]), self.adjust)
                for one, p in zip(tested, fair.tolist(), strict=True):
                    beside[group, one.system]["p_adjusted"] = p
        return beside

    def notes(self, n: int) -> Iterator[str]:
        """How intervals and p-values were computed; `n` is the smallest number of segments that a system has,
        in a group of its own where groups are kept apart.
        """
        if self.resamples and self.compat is None:
            from nlgauge.metrics.comparing.table import resampling_notes

            yield from resampling_notes(n, self.test, self.seed or 0)
        if self.test is not None:
            from nlgauge.metrics.comparing.pairwise import ADJUSTED

            draws, seed = self.settings["draws"], self.settings["seed"]
            fault = ", as {} computes it (too often significant: page 'statistics/comparison' of the documentation)"
            yield (
                f"p: {system_test(self.test).words} against the baseline, two-sided, {draws} draws,"
                f" seed {seed}{fault.format(self.compat) if self.compat else ''}"
                + (f"; {ADJUSTED[self.adjust]}" if self.adjust is not None else "")
            )
