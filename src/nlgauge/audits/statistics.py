"""The statistics that the authors of a published suite report, and accuracy by severity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nlgauge.audits.preference import won
from nlgauge.audits.sides import Sides
from nlgauge.core.arrays import Array, Mask
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.suites.published import CONSISTENT
from nlgauge.io.suites.rows import place_of
from nlgauge.stats.coefficients import auc
from nlgauge.stats.draws import dependent_trials, mean_of_shares, wilson

ALL, MEAN = "all", "mean"
ACES_WEIGHTS = {  # Amrhein, Moghe and Guillou (2022), "ACES": as in aces/cli/evaluate.py of their repository
    "addition": 5.0, "omission": 5.0, "mistranslation": 5.0, "overtranslation": 5.0, "undertranslation": 5.0,
    "untranslated": 1.0, "do not translate": 1.0, "real-world knowledge": 1.0, "wrong language": 1.0,
    "punctuation": 0.1,
}  # fmt: skip
_ACES = {  # beginning of the name of a phenomenon -> its category, as in the same file
    "addition": "addition", "omission": "omission", "copy-source": "untranslated", "untranslated-": "untranslated",
    "do-not-translate": "do not translate", "hyponym-": "overtranslation", "hypernym-": "undertranslation",
    "antonym-": "real-world knowledge", "commonsense-": "real-world knowledge",
    "real-world-knowledge-": "real-world knowledge", "similar-language-": "wrong language",
    "punctuation:": "punctuation", "ambiguous-": "mistranslation", "anaphoric_": "mistranslation",
    "coreference-": "mistranslation", "hallucination-": "mistranslation", "lexical-overlap": "mistranslation",
    "modal_verb:": "mistranslation", "nonsense": "mistranslation", "ordering-mismatch": "mistranslation",
    "overly-literal-": "mistranslation", "pleonastic_it:": "mistranslation", "xnli-": "mistranslation",
}  # fmt: skip
_SEVERITIES = ("critical", "major", "minor", "base")


@dataclass(frozen=True)
class Statistic:
    """One number of one metric.

    Attributes:
        metric: the metric's specification.
        statistic: its name.
        part: the part of the suite: a category, a severity, a language pair; `all`, or `mean` over the other parts.
        value: the number; NaN if it is undefined.
        low, high: its confidence interval; NaN where none is known.
        n: the number of pairs; of parts, for a mean.
    """

    metric: str
    statistic: str
    part: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class _Scored:
    """The scored pairs of a suite, and how they came out."""

    sides: Sides
    pairs: Sequence[Pair]
    outcome: Array  # (n,): 1 for a win, 0.5 for a tie, 0 for a loss
    confidence: float

    def row(self, statistic: str, part: str, value: float, n: int) -> Statistic:
        return Statistic(self.sides.spec, statistic, part, value, math.nan, math.nan, n)

    def share(self, statistic: str, part: str, of: Mask, *, ties: bool = True, tau: bool = False) -> Statistic:
        """The share of pairs won, or wins less losses as a share; ties are losses, or do not count."""
        kept = of if ties else of & (self.outcome != 0.5)
        n = int(kept.sum())
        if not n:
            return self.row(statistic, part, math.nan, 0)
        wins = (self.outcome[kept] == 1).astype(np.float64)
        value = float(wins.mean())
        origins = [self.pairs[i].origin for i in np.flatnonzero(kept).tolist()]
        trials = dependent_trials(float(n), (wins - value) / n, origins, self.confidence)
        ends = value, *wilson(value * trials, trials, self.confidence)
        value, low, high = (2 * end - 1 for end in ends) if tau else ends
        return Statistic(self.sides.spec, statistic, part, value, low, high, n)

    def where(self, test: Callable[[Pair], bool]) -> Mask:
        """The pairs for which something holds."""
        return np.array([test(pair) for pair in self.pairs], dtype=np.bool_)

    def parts(self, name: Callable[[Pair], str]) -> dict[str, Mask]:
        """Each part, in order of first appearance, and its pairs."""
        names = [name(pair) for pair in self.pairs]
        return {part: np.array([n == part for n in names], dtype=np.bool_) for part in dict.fromkeys(names)}


def suite_statistics(
    suite: Suite, sides: Iterable[Sides], *, tolerance: float = 0.05, confidence: float = 0.95
) -> list[dict[str, Any]]:
    """The rows of a suite's own statistics: flat objects with the fields of `Statistic`.

    Args:
        suite: the pairs. If it was not read by the name of a published suite, there are no rows.
        sides: the scores of the metrics.
        tolerance, confidence: as in `preference_rows`.
    """
    own = _OWN.get(suite.published or "")
    if suite.published is None:
        return []
    rows: list[Statistic] = []
    for each in sides:
        pairs = [suite.pairs[place] for place in each.places]
        scored = _Scored(each, pairs, won(each, pairs, tolerance), confidence)
        rows += _severities(scored)
        rows += own(scored) if own is not None else []
    return [asdict(row) for row in rows]


def _severities(scored: _Scored) -> Iterator[Statistic]:
    parts = scored.parts(lambda pair: str(pair.meta.get("severity")))
    for severity in _SEVERITIES:
        of = parts.get(severity)
        if of is not None:
            yield scored.share("accuracy", f"severity {severity}", of)


def _hwtsc22(scored: _Scored) -> Iterator[Statistic]:
    """(concordant - discordant) / (concordant + discordant), by category and for all; ties do not count."""
    everything = {ALL: np.ones(len(scored.pairs), dtype=np.bool_)}
    for part, of in {**scored.parts(lambda pair: pair.phenomenon), **everything}.items():
        yield scored.share("kendall-like", part, of, ties=False, tau=True)


def _bump(scored: _Scored) -> Iterator[Statistic]:
    """Consistency: the share of pairs whose reference summary scores strictly higher."""
    yield scored.share("consistency", ALL, np.ones(len(scored.pairs), dtype=np.bool_))


def aces_category(phenomenon: str) -> str | None:
    """The top-level category of a phenomenon of ACES; None for a name that ACES does not have."""
    return next((category for begin, category in _ACES.items() if phenomenon.startswith(begin)), None)


def _aces(scored: _Scored) -> Iterator[Statistic]:
    """The mean of tau over the phenomena of a category, where ties are discordant; and their weighted sum."""
    taus: dict[str, list[Statistic]] = {category: [] for category in ACES_WEIGHTS}
    for phenomenon, of in scored.parts(lambda pair: pair.error or "").items():
        category = aces_category(phenomenon)
        if category is not None:
            tau = scored.share("tau", phenomenon, of, tau=True)
            undefined = bool(np.isnan(scored.sides.margin[of]).any())
            taus[category].append(replace(tau, value=math.nan) if undefined else tau)
    total = 0.0
    for category, own in taus.items():
        value = float(np.mean([tau.value for tau in own])) if own else math.nan
        total += ACES_WEIGHTS[category] * value
        yield scored.row("tau", category, value, sum(tau.n for tau in own))
    yield scored.row("ACES-Score", ALL, total, len(scored.pairs))


def _mslc(scored: _Scored) -> Iterator[Statistic]:
    """How far scores follow the training, inside each item and for mean scores of checkpoints; per language pair."""
    for lp, of in scored.parts(lambda pair: pair.group or ALL).items():
        of = of & scored.where(lambda pair: "item" in pair.meta)  # outputs with faults come from no checkpoint
        if not of.any():
            continue
        neighbours = of & scored.where(lambda pair: pair.phenomenon == "1_step")
        items: dict[str, list[float]] = {}
        means: dict[str, dict[str, float]] = {}
        for i in np.flatnonzero(of).tolist():
            pair, item = scored.pairs[i], scored.pairs[i].meta["item"]
            items.setdefault(item, []).append(float(np.sign(scored.outcome[i] - 0.5)))
            for side, scores in (("better", scored.sides.better), ("worse", scored.sides.worse)):
                means.setdefault(pair.meta[side], {})[item] = float(scores[i])
        yield scored.row("kendall by item", lp, float(np.mean([np.mean(own) for own in items.values()])), len(items))
        yield scored.share("neighbours in order by item", lp, neighbours)
        sign = 1 if scored.sides.higher_is_better else -1
        by_letter = [sign * float(np.mean(list(means[letter].values()))) for letter in sorted(means, key=place_of)]
        gaps = np.array([b - a for i, a in enumerate(by_letter) for b in by_letter[i + 1 :]])
        yield scored.row("kendall of checkpoints", lp, float(np.mean(np.sign(gaps))), len(gaps))
        steps = np.diff(by_letter)
        yield scored.row("neighbours in order of checkpoints", lp, float(np.mean(steps > 0)), len(steps))


def _summedits(scored: _Scored) -> Iterator[Statistic]:
    """Does the score tell consistent from inconsistent summaries of a domain? AUC, and balanced accuracy at most."""
    by_statistic: dict[str, list[Statistic]] = {"auc": [], "balanced accuracy, best threshold": []}
    sign = 1 if scored.sides.higher_is_better else -1
    for domain, of in scored.parts(lambda pair: str(pair.meta.get("domain", ALL))).items():
        scores, labels, seeds = [], [], set()
        for i in np.flatnonzero(of).tolist():
            pair = scored.pairs[i]
            scores.append(sign * float(scored.sides.worse[i]))
            labels.append(float(pair.phenomenon == CONSISTENT))
            if (pair.source, pair.better) not in seeds:
                seeds.add((pair.source, pair.better))
                scores.append(sign * float(scored.sides.better[i]))
                labels.append(1.0)
        x, z = np.array(scores), np.array(labels)
        defined = ~np.isnan(x).any() and 0 < z.sum() < len(z)
        values = (float(auc(x, z)), _best_balanced(x, z)) if defined else (math.nan, math.nan)
        for (statistic, own), value in zip(by_statistic.items(), values, strict=True):
            own.append(scored.row(statistic, domain, value, len(z)))
    for statistic, own in by_statistic.items():
        yield from own
        if len(own) > 1:
            yield scored.row(statistic, MEAN, float(np.mean([row.value for row in own])), len(own))


def _best_balanced(x: Array, z: Array) -> float:
    """The highest balanced accuracy that any threshold reaches; scores at the threshold count as consistent."""
    above = np.array([[(x[z == 1] >= cut).mean(), (x[z == 0] < cut).mean()] for cut in np.unique(x)])
    return float(max(above.mean(axis=1).max(), 0.5))


def _llmbar(scored: _Scored) -> Iterator[Statistic]:
    """The mean accuracy of the adversarial subsets, and accuracy on all instances of them and of Natural."""
    subsets = scored.parts(lambda pair: pair.phenomenon)
    adversarial = [scored.outcome[of] for name, of in subsets.items() if name != "Natural"]
    if adversarial:
        wins, n = [float((o == 1).sum()) for o in adversarial], [float(len(o)) for o in adversarial]
        value, low, high = mean_of_shares(wins, n, scored.confidence)
        yield Statistic(scored.sides.spec, "accuracy", "adversarial mean", value, low, high, len(n))
    yield scored.share("accuracy", ALL, np.ones(len(scored.pairs), dtype=np.bool_))


_OWN: dict[str, Callable[[_Scored], Iterator[Statistic]]] = {
    "hwtsc22": _hwtsc22,
    "bump": _bump,
    "mslc": _mslc,
    "aces": _aces,
    "summedits": _summedits,
    "llmbar": _llmbar,
}
