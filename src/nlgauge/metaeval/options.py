"""How metrics are compared with people: the options of `meta_evaluate` that can be typed, each with its help."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from nlgauge.core.options import Range, Typed
from nlgauge.metaeval import frames, scoring
from nlgauge.metaeval import intervals as interval_methods
from nlgauge.metaeval.compare import ABOUT
from nlgauge.metaeval.protocols.presets import PRESETS
from nlgauge.scoring.looks import Language
from nlgauge.stats.correlate import Averaging, Undefined
from nlgauge.stats.correlate import names as statistics
from nlgauge.stats.draws import Interval
from nlgauge.stats.entries import MissingPolicy
from nlgauge.stats.preferences import Ties
from nlgauge.stats.tests import Adjustment, Alternative, Rule

# Those that other verbs about ratings take, too.
Level = Annotated[frames.Level | None, Typed("summary is item.  [default: segment]")]
Stats = Annotated[
    list[str] | None,
    Typed(
        "Statistics; see 'nlgauge list statistics'.  [default: pearson]",
        ("--stat",),
        metavar="STAT",
        words=tuple(statistics()),
    ),
]
References = Annotated[
    scoring.References | None,
    Typed("How several references count (best: the maximum); source stands in their place."),
]
Missing = Annotated[MissingPolicy, Typed("What happens to rated segments without a score.")]
Exclude = Annotated[list[str] | None, Typed("Leave a system out, as references rated like systems.", metavar="SYSTEM")]


@dataclass(frozen=True, kw_only=True)
class MetaOptions:
    """Options of `meta_evaluate`, which says what each means and checks them; None leaves one to preset or statistic.

    First come the statistics and the segments that they are taken over, then options of statistics, then tests between
    metrics, intervals, and how both are drawn.
    """

    preset: Annotated[
        str | None, Typed("A protocol; see 'nlgauge list statistics'.", metavar="NAME", words=tuple(PRESETS))
    ] = None
    level: Level = None
    stats: Stats = None
    averaging: Annotated[Averaging | None, Typed("[default: the level's own]")] = None
    references: References = None
    missing: Missing = "refuse"
    system_scores: Annotated[
        frames.SystemScores | None,
        Typed("Level system: metrics over the rated segments, or over all.  [default: rated, or the preset's]"),
    ] = None
    aggregate: Annotated[
        frames.Aggregate | None,
        Typed(
            "Level system: the metric's own corpus number, or the mean of segments.  [default: corpus, or the preset's]"
        ),
    ] = None
    language: Language = "note"
    exclude: Exclude = None
    outliers: Annotated[str | None, Typed("Leave out systems far from the median human score.", words=("mad",))] = None

    ties: Annotated[Ties | None, Typed("[default: loss]")] = None
    threshold: Annotated[
        float | None, Range(least=0), Typed("The least difference of two ratings that makes a pair.")
    ] = None
    epsilon: Annotated[float | None, Range(least=0), Typed("Scores no further apart than this are tied.")] = None
    interval: Annotated[
        Interval | None,
        Typed("preference_accuracy: the interval of a share; clopper-pearson is exact and wider.  [default: wilson]"),
    ] = None
    folds: Annotated[int | None, Range(least=2), Typed("Calibrate ties on other items, in so many folds.")] = None
    undefined: Annotated[Undefined | None, Typed("How items without a value count.")] = None
    common: Annotated[bool, Typed("Average all metrics over the items on which all of them are defined.")] = False

    test: Annotated[
        str | None,
        Typed(
            "Test every metric against every other: auto, none, williams, ...  [default: the preset's]",
            metavar="TEST",
            words=("none", "auto", *ABOUT),
        ),
    ] = None
    alternative: Annotated[Alternative | None, Typed("[default: greater]")] = None
    adjust: Annotated[Adjustment, Typed("Adjust p-values for the number of tests.")] = "none"
    baseline: Annotated[
        str | None, Typed("Test every other metric against this one alone, adjusted after Holm.", metavar="METRIC")
    ] = None
    ranks: Annotated[
        Rule | None,
        Typed(
            "With a test: a rank begins where all above beat all below, or any of the rank above beats the metric;"
            " wmt is any with p <= alpha.  [default: all, or the preset's]"
        ),
    ] = None
    power: Annotated[bool, Typed("Level system: give the power of the test for each pair that is not significant.")] = (
        False
    )
    intervals: Annotated[interval_methods.Kind, Typed("How intervals are made.")] = "auto"
    draws: Annotated[
        int | None, Range(least=1), Typed("Draws of tests and intervals.  [default: 1000]", ("--draws", "-n"))
    ] = None
    compat: Annotated[
        str | None,
        Typed("The procedure of that package.", words=("mt-metrics-eval", "nlpstats", "realsumm")),
    ] = None

    def given(self) -> dict[str, Any]:
        """Those that differ from their defaults, as arguments of `meta_evaluate`."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) not in (f.default, [])}
