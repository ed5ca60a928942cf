"""Evidence on one metric: which are tried, what rules one out, how long it takes, and its shares of trials."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, check_needs
from nlgauge.core.scores import UNDEFINED, Scores, count
from nlgauge.core.segment import Segment
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.languages import UnreadScripts
from nlgauge.metrics.registry import metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import PAIRS, Runtime, silent
from nlgauge.stats.draws import (
    FEWEST,
    Share,
    dependent_trials,
    generator,
    numbered,
    percentiles,
    resample_counts,
    wilson,
)
from nlgauge.text.scripts import leaning

_COMMON = ("bleu", "chrf", "meteor", "bertscore", "cosine", "gauge")
TRIED: Mapping[str, tuple[str, ...]] = {
    "mt": (*_COMMON, "ter", "nli-robust", "rated", "gauge-rated", "sescore"),
    "as": (
        *("rouge1", "rouge2", "rougeL", "chrf", "meteor", "bertscore", "bertscore:value=recall", "cosine"),
        *("gauge:task=as", "faithful", "supert"),
    ),
    "d2t": (*_COMMON, "rougeL", "nli-robust", "rated", "sescore", "parent"),
    "ic": (*_COMMON, "rougeL", "cider", "nli-robust"),
    "qg": (*_COMMON, "rougeL", "nli-robust", "qrouge"),
    "dg": (*_COMMON, "rougeL", "nli-robust"),
}
# What to keep where people tell no metric from it: the best single choice on the public sets of each task.
DEFAULTS: Mapping[str, str] = {"mt": "rated", "d2t": "rated", "as": "bertscore:value=recall"}
DEFAULT_ELSEWHERE = "chrf"  # in a language of which there is no public set: it reads any
UNREFERENCED = ("faithful", "supert")  # where there are no references
_LOOKED_AT = 20


def tried(task: str, segments: Sequence[Segment]) -> list[str]:
    """The metrics of the list of a task that these segments have the fields for.

    A metric that compares an output with its source is left out where sources are in another language, or where the
    task is translation.
    """
    names = TRIED[task] if any(s.references for s in segments) else UNREFERENCED
    reads_source = task != "mt" and _one_language(segments)
    found = []
    for name in names:
        needs = metric(name).info.needs
        if "source" in needs and not reads_source:
            continue
        if all(any(getattr(s, need) for s in segments) for need in needs):
            found.append(name)
    return found


def _one_language(segments: Sequence[Segment]) -> bool:
    """Whether sources are not told to be in another language than outputs."""
    looked = [s for s in segments if s.source][:_LOOKED_AT]
    other = 0
    for s in looked:
        one, two = leaning(s.hypothesis), leaning(s.source or "")
        other += one is not None and two is not None and one != two
    return bool(looked) and 2 * other < len(looked)


# --- Evidence on one metric under one criterion: a share with its interval, and where it comes from

Care = Literal["meaning", "facts", "coverage", "fluency"]
ASPECTS: tuple[Care, ...] = get_args(Care)
OWN, PUBLIC, COPIES, HARMLESS, APART = "people", "public", "copies", "harmless", "apart"
ERRORS = "errors."  # criteria of errors in outputs begin so, and an aspect follows
CRITERIA = (OWN, PUBLIC, *(ERRORS + aspect for aspect in ASPECTS), COPIES, HARMLESS, APART)
CHANCE = 0.5  # of every criterion
DRAWS = 1000
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class CriterionShare:
    """A share in [0, 1] that says how well a metric does under one criterion; a blind choice has 0.5 everywhere.

    Attributes:
        metric: the specification as typed.
        criterion: one of `CRITERIA`.
        value: the share.
        low, high: its 95 % interval; NaN where it is not known.
        n: how many there are: pairs of texts of errors and near-copies, outputs of ratings, pairs of systems.
        source: the texts that it was found on.
        draws: the share on B resamples of the items, shape (B,); the same resamples for every metric.
        detail: further numbers of the row.
    """

    metric: str
    criterion: str
    value: float
    low: float
    high: float
    n: int
    source: str
    draws: Array = field(default_factory=lambda: np.empty(0), repr=False)
    detail: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, metric: str, criterion: str, made: Share, source: str, **detail: Any) -> CriterionShare:
        """The evidence that a share is."""
        return cls(metric, criterion, made.value, made.low, made.high, made.n, source, made.draws, detail)

    @property
    def is_few(self) -> bool:
        """Whether it is of too few trials to count."""
        return self.n < FEWEST and (self.criterion in (COPIES, HARMLESS) or self.criterion.startswith(ERRORS))

    def as_row(self, weight: float) -> dict[str, Any]:
        """The flat object of the result file."""
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "weight": 0.0 if self.is_few else weight,
            "source": self.source,
            **self.detail,
        }


def share(won: Array, clusters: Sequence[Hashable], seed: int = 0) -> Share | None:
    """The share of trials won, with an interval that knows that trials of one cluster depend on each other.

    Args:
        won: 1 for a trial won, 0.5 for a tie, 0 for a loss, shape (n,); NaN for a trial that does not count.
        clusters: where each trial comes from, length n.
        seed: of the resamples. The same seed and clusters draw the same resamples, so that metrics are compared on
            them pair by pair.

    Returns:
        The share, whose interval is Wilson's for the effective number of trials; None if no trial counts.
    """
    places = numbered(clusters)
    n_clusters = int(places.max(initial=-1)) + 1
    counted = ~np.isnan(won)
    n = int(counted.sum())
    if not n:
        return None
    value = float(won[counted].mean())
    parts = (won[counted] - value) / n
    trials = dependent_trials(n, parts, [clusters[i] for i in np.flatnonzero(counted).tolist()], LEVEL)
    low, high = wilson(value * trials, trials, LEVEL)
    wins = np.bincount(places, weights=np.where(counted, won, 0.0), minlength=n_clusters)
    sizes = np.bincount(places, weights=counted.astype(np.float64), minlength=n_clusters)
    times = resample_counts(generator(seed), DRAWS, n_clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (times @ wins) / (times @ sizes)
    return Share(value, low, high, n, np.where(np.isnan(drawn), value, drawn))


def interval_of(draws: Array) -> tuple[float, float]:
    """The ends of the middle 95 % of draws; NaN where there are none."""
    if not len(draws):
        return math.nan, math.nan
    low, high = percentiles(np.asarray(draws, dtype=np.float64)[:, None], LEVEL)
    return float(low[0]), float(high[0])


# --- How long does a metric take here? Seconds by the clock, measured on a few of the user's outputs

_WARM, _FEW, _MEASURED = 2, 4, 24  # outputs
_SLOW = 5.0  # seconds for the few, from which on these are enough; on a busy machine few take long where many do not


def tried_on_few(metric: BaseMetric, segments: Sequence[Segment], runtime: Runtime) -> Runtime:
    """Score two outputs, which loads what models the metric needs; the runtime for this, which keeps nothing."""
    bare = replace(runtime, cache=None, progress=silent).sharing({PAIRS: None})  # nor what other metrics have judged
    score_segments({"": metric}, segments[:_WARM], bare)
    return bare


def seconds_each(metric: BaseMetric, segments: Sequence[Segment], runtime: Runtime) -> float:
    """Seconds for each of the first outputs, without a cache; what models are loaded is loaded before."""
    bare, each = tried_on_few(metric, segments, runtime), 0.0
    for few in (segments[:_FEW], segments[:_MEASURED]):
        start = perf_counter()
        score_segments({"": metric}, few, bare)
        each = (perf_counter() - start) / len(few)
        if each * len(few) > _SLOW:
            break
    return each


# --- Can a metric read these texts? What rules a metric out, and what must be said of it

MOST = 0.5  # share of outputs from which on a metric is ruled out, if it cannot read or score them, or reads a part
TOLD = 0.05  # share of outputs from which on this is told
_FLAGS = {
    UNDEFINED: "have no score",
    "truncated": "are read in part, since they are longer than its model reads",
    "unknown": "have many pieces that its model does not know",
}


def unreadable(metrics: Mapping[str, BaseMetric], segments: Sequence[Segment]) -> tuple[dict[str, str], dict[str, str]]:
    """Metrics that cannot read the texts, before anything is scored.

    Returns:
        Metric -> why it is ruled out; and metric -> what must be said of it, where it cannot read some of the texts.
    """
    out: dict[str, str] = {}
    told: dict[str, str] = {}
    looking = UnreadScripts(metrics)
    looking.add(segments)
    for spec, (n, reason) in looking.unread().items():
        if n > MOST * len(segments):
            out[spec] = f"it cannot read {n} of {len(segments)} outputs: {reason}"
        elif n > TOLD * len(segments):
            told[spec] = f"it cannot read {n} of {len(segments)} outputs: {reason}"
    for spec, scorer in metrics.items():
        try:
            check_needs(scorer, segments)
        except InputError as error:
            out[spec] = str(error)
    return out, told


def unusable(scores: Scores, segments: Sequence[Segment]) -> tuple[str, str]:
    """Why scores are of no use, and what must be said of them; each empty where there is nothing to say."""
    n, counts = len(scores), count(scores.flags, scores.values)
    shares = {flag: counts.get(flag, 0) for flag in _FLAGS}
    for flag, number in shares.items():
        if number > MOST * n:
            return f"{number} of {n} outputs {_FLAGS[flag]}", ""
    known = scores.values[~np.isnan(scores.values)]
    texts = {(s.hypothesis, s.references, s.source) for s in segments}
    if len(texts) > 1 and len(known) > 1 and float(np.ptp(known)) <= 1e-12 * max(1.0, float(np.abs(known).max())):
        return f"it gives all {len(known)} outputs the same score", ""
    return "", "; ".join(
        f"{number} of {n} outputs {_FLAGS[flag]}" for flag, number in shares.items() if number > TOLD * n
    )


# --- What trials say of a metric: which errors it sees, what it takes for an error, and near-copies

_SEEDS = {name: i for i, name in enumerate((*ASPECTS, COPIES, HARMLESS))}  # so that criteria are drawn apart


def error_evidence(suite: Suite, sides: Sides, source: str, seed: int = 0) -> list[CriterionShare]:
    """For each aspect the share of errors that a metric sees, and the share of harmless changes that it lets pass.

    An error is seen if the text with it scores lower than the text without. A harmless change passes beside an error in
    the same text if it costs less than the error does; so the scale of the metric plays no part.
    """
    pairs = [suite.pairs[place] for place in sides.places]
    found = []
    for aspect in ASPECTS:
        places = [i for i, pair in enumerate(pairs) if pair.expect == "lower" and pair.criterion == aspect]
        outcome = _seen(sides)[places]
        made = share(outcome, [pairs[i].origin for i in places], seed + _SEEDS[aspect]) if places else None
        if made is not None:
            found.append(CriterionShare.of(sides.spec, ERRORS + aspect, made, source))
    harmless = _beside(pairs, sides.margin)
    made = share(harmless[0], harmless[1], seed + _SEEDS[HARMLESS]) if len(harmless[0]) else None
    if made is not None:
        found.append(CriterionShare.of(sides.spec, HARMLESS, made, source))
    return found


def copy_evidence(suite: Suite, sides: Sides, seed: int = 0) -> list[CriterionShare]:
    """The share of near-copies with an error that score lower than a paraphrase without one."""
    pairs = [suite.pairs[place] for place in sides.places]
    made = share(_seen(sides), [pair.origin for pair in pairs], seed + _SEEDS[COPIES])
    return [] if made is None else [CriterionShare.of(sides.spec, COPIES, made, "your references")]


def _seen(sides: Sides) -> Array:
    """1 where the worse text scores lower, 0 where it does not, or a score is undefined; shape (n,)."""
    return (sides.margin > 0).astype(np.float64)


def _beside(pairs: Sequence[Pair], margin: Array) -> tuple[Array, list[tuple[str, str]]]:
    """For each harmless change and each error in the same text, whether the error costs more; and the text's origin."""
    errors: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        if pair.expect == "lower":
            errors.setdefault(pair.better, []).append(i)
    outcome, origins = [], []
    for i, pair in enumerate(pairs):
        if pair.expect != "same":
            continue
        for j in errors.get(pair.better, ()):
            gap = margin[j] - margin[i]
            outcome.append(np.nan if np.isnan(gap) else 1.0 if gap > 0 else CHANCE if gap == 0 else 0.0)
            origins.append(pair.origin)
    return np.array(outcome), origins


def seen_beyond(suite: Suite, first: Sides, second: Sides) -> tuple[Array, list[tuple[str, str]]]:
    """Of the errors that the first metric misses, whether the second sees them; and the origins of their texts."""
    places = {place: i for i, place in enumerate(second.places)}
    pairs = [suite.pairs[place] for place in first.places]
    seen, others = _seen(first), _seen(second)
    kept = [
        (i, places[place])
        for i, place in enumerate(first.places)
        if pairs[i].expect == "lower" and not seen[i] and place in places
    ]
    return np.array([others[j] for _, j in kept]), [pairs[i].origin for i, _ in kept]
