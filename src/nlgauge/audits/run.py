"""An audit of metrics by a suite, whole: by preference or checklist, as its authors count, and what heads had read."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from nlgauge.audits.deviation import RULES, DeviationRow, deviation_rows, normalised_drops, with_penalties
from nlgauge.audits.preference import (
    CONFIDENCE,
    PreferenceRow,
    Sides,
    check_copies,
    check_names,
    preference_rows,
    score_sides,
    whole_pair,
    won,
)
from nlgauge.audits.suites import suite as made_suite
from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import MetricLike, cut_words, own_notes, trained_on
from nlgauge.core.options import OneOf, Range, check_option
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import count_notes, say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.suite import Design, Pair, Suite
from nlgauge.io.suites.published import CONSISTENT, PUBLISHED, place_of
from nlgauge.io.suites.suites import suite_of
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, criterion_of, task_of
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import by_texts
from nlgauge.stats.coefficients import auc, balanced_accuracy, best_threshold, settled
from nlgauge.stats.correlate import correlation
from nlgauge.stats.draws import SHARE_NAMES, Interval, dependent_trials, mean_of_shares, wilson
from nlgauge.stats.preferences import TIES
from nlgauge.text.tokenize import split_sentences

_ONE_LINE = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, repr=False)
class Audit(Outcome):
    """The outcome of an audit.

    Attributes:
        suite: the pairs.
        design: `preference` or `checklist`.
        sides: specification as typed -> scores of both texts of every pair.
        rows: flat objects with the fields of the result file.
        notes: what a reader must know.
        tolerance: in pairs whose scores should be the same, the relative difference up to which they count as the same.
        statistics: the statistics that the authors of a published suite report, as flat objects.
    """

    suite: Suite
    design: Design
    sides: Mapping[str, Sides]
    rows: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...]
    tolerance: float = 0.05
    statistics: Sequence[Mapping[str, Any]] = ()

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `audit`."""
        metrics = [
            {"spec": s.spec, "signature": s.signature, "higher_is_better": s.higher_is_better, "flags": s.counts}
            for s in self.sides.values()
        ]
        settings = {"confidence": CONFIDENCE}
        return Result("audit", self.rows, inputs, metrics, self.notes, settings, statistics=self.statistics)

    def worst(self, spec: str, most: int = 10) -> list[dict[str, Any]]:
        """The pairs that a metric judged most wrongly, the worst first.

        For a preference these are pairs that the metric lost, by how clearly. For a checklist they are pairs whose drop
        is farthest from people's penalty.

        Args:
            spec: the metric's specification as typed.
            most: return at most this many pairs.

        Returns:
            For each pair its `id`, `phenomenon`, `reference` (or source), `better`, `worse`, both scores and the
            `margin`, which is negative or 0 for a lost pair. For a checklist also the `drop` and people's `penalty`.

        Raises:
            InputError: the metric was not audited.
        """
        if spec not in self.sides:
            raise InputError(f"metric {spec!r} was not audited{nearest(spec, self.sides)}")
        sides = self.sides[spec]
        people = self._people(sides) if self.design == "checklist" else None
        if people is None:
            lower = np.array([self._pair(sides, i).expect == "lower" for i in range(len(sides.places))], dtype=np.bool_)
            wrong = np.where(lower & (sides.margin <= 0), -sides.margin, np.nan)
        else:
            wrong = np.abs(people[0] - people[1])
        worst = [int(i) for i in np.argsort(-wrong, kind="stable") if not math.isnan(wrong[i])]
        return [self._case(sides, i, people) for i in worst[:most]]

    def _people(self, sides: Sides) -> Array:
        """The drop of each pair by a metric, and people's penalty for such pairs, shape (2, n); NaN where unknown."""
        rows = [row for row in self.rows if row["metric"] == sides.spec]
        penalties = {(row["task"], row["criterion"], row["template"]): row["penalty"] for row in rows}
        pairs = [self.suite.pairs[place] for place in sides.places]
        drops = normalised_drops(sides, self.suite, rows[0]["norm"])
        return np.stack([drops, [penalties[p.task, p.criterion, p.phenomenon] for p in pairs]])

    def pair_columns(self) -> dict[str, Any]:
        """The pairs as columns: fields and texts, and for each metric `SPEC.better`, `SPEC.worse` and `SPEC.won`.

        If a metric has no score for a pair, its cells are NaN. Tabs and line breaks in texts become blanks.
        """
        pairs = self.suite.pairs
        columns: dict[str, Any] = {
            name: [getattr(p, name) for p in pairs]
            for name in ("id", "phenomenon", "group", "task", "criterion", "expect")
        }
        columns |= {side: [getattr(p, side).translate(_ONE_LINE) for p in pairs] for side in ("better", "worse")}
        for spec, sides in self.sides.items():
            outcome = won(sides, [pairs[place] for place in sides.places], self.tolerance)
            for name, values in (("better", sides.better), ("worse", sides.worse), ("won", outcome)):
                column = np.full(len(pairs), np.nan)
                column[list(sides.places)] = values
                columns[f"{spec}.{name}"] = column
        return columns

    def _pair(self, sides: Sides, i: int) -> Pair:
        return self.suite.pairs[sides.places[i]]

    def _case(self, sides: Sides, i: int, people: Array | None) -> dict[str, Any]:
        pair = self._pair(sides, i)
        return {
            "id": pair.id,
            "phenomenon": pair.phenomenon,
            "reference": sides.held(pair),
            "better": pair.better,
            "worse": pair.worse,
            "score_better": float(sides.better[i]),
            "score_worse": float(sides.worse[i]),
            "margin": float(sides.margin[i]),
            **({} if people is None else {"drop": float(people[0, i]), "penalty": float(people[1, i])}),
        }


@warning
@takes_metrics
def audit(
    suite: Suite | Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike],
    *,
    task: str | None = None,
    design: Design | None = None,
    ties: str = "loss",
    penalties: Sequence[ChecklistRow] | None = None,
    normalise: str = "auto",
    tolerance: float = 0.05,
    interval: str = "wilson",
    references: str | None = None,
    scripts: LanguageCheck = "note",
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Audit:
    """Audit metrics with a suite.

    Args:
        suite: a suite from `nlgauge.suite` or `nlgauge.read_suite`, or a frame with one row per pair; or texts, from
            which the checklists of the task are made.
        metrics: specifications or metric objects.
        task: of texts, as in `nlgauge.suite`; with it a frame has one row per segment.
        design: `preference` (does the metric prefer the better text?) or `checklist` (does its score drop as much as
            the ratings of people?). If None, the design of the suite.
        ties: for `preference`: `loss`, `half`, `exclude` or `zero`. Ties are also counted separately under every rule.
        penalties: for `checklist`: rows with a `penalty`. If None, the penalties that were recovered from the paper.
        normalise: for `checklist`: `self`, `minmax`, `none` or `auto`.
        tolerance: how far a score may move, as a share, under a perturbation that should change nothing.
        references, scripts: `own`, `source`, or None (the way of a published suite, else `own`); as in `nlgauge.suite`.
        interval: for `preference`: `wilson` or the exact, wider `clopper-pearson`; its level is 95 %.
        columns, runtime: names of the columns of a frame; device, precision, cache.

    Raises:
        InputError: no pair has what a metric needs; pairs of a `checklist` lack a task; or no metric could fail.
        SpecError: a metric is unknown.

    References: Chen and Eger (2023), "MENLI"; Sai et al. (2021), "Perturbation CheckLists".
    """
    if isinstance(suite, Dataset) or task is not None:
        suite = made_suite("checklist", suite, task=task, columns=columns)
    else:
        suite = suite if isinstance(suite, Suite) and columns is None else suite_of(suite, columns)
    wanted, suite = _checked_design(suite, design, ties, normalise, tolerance, interval)
    references = references or (PUBLISHED[suite.published].references if suite.published else "own")
    listed = checklist_of(suite) if wanted == "checklist" else []
    _check_penalties(penalties, wanted, listed)
    pairs = [whole_pair(pair, references) for pair in suite]
    runtime, told = by_texts(runtime or Runtime(), metrics, [pairs])
    built = named(metrics, runtime.encoder)
    copies = check_copies(suite, built, references, refuse=design is None) if wanted == "preference" else []
    sides = score_sides(suite, built, runtime, references=references, scripts=scripts)
    rows: list[PreferenceRow] | list[DeviationRow]
    if wanted == "checklist":
        people = with_penalties(listed, checklist_rows() if penalties is None else penalties)
        how: dict[str, Any] = {"normalise": normalise, "tolerance": tolerance}
        rows = [r for s in sides.values() for r in deviation_rows(suite, s, people, **how)]
        flagged, notes = [*_undefined_drops(sides, rows)], [*_about_checklist(suite, people, rows, penalties)]
    else:
        counted: dict[str, Any] = {"ties": ties, "tolerance": tolerance, "interval": interval}
        rows = [r for s in sides.values() for r in preference_rows(suite, s, **counted)]
        flagged, notes = [*_flagged(sides, "they count as losses")], [*_about_preference(suite, sides, ties, interval)]
    marked = [replace(row, trained_on=row.attack in trained_on(sides[row.metric].metric)) for row in rows]
    say(*flagged)
    about = own_notes({spec: s.metric for spec, s in sides.items()})
    overlap = overlap_notes(suite, [s.signature for s in sides.values()]) if suite.published is not None else []
    notes = [*suite.notes, *told, *copies, *flagged, *about, *overlap, *notes, *_about_training(marked)]
    statistics = suite_statistics(suite, sides.values(), tolerance)
    notes = [*notes, *_about_skipped(suite)]
    return Audit(suite, wanted, sides, [r.as_row() for r in marked], tuple(notes), tolerance, statistics)


def _checked_design(
    suite: Suite, design: Design | None, ties: str, normalise: str, tolerance: float, interval: str
) -> tuple[Design, Suite]:
    """The requested design, and the suite for it, after the options and the names in the suite are checked."""
    check_names(suite)
    for name, value, kind in (
        ("ties", ties, Annotated[str, OneOf(TIES)]),
        ("normalise", normalise, Annotated[str, OneOf(("auto", *RULES))]),
        ("tolerance", tolerance, Annotated[float, Range(least=0, below=1, meaning="a share")]),
        ("design", design, Design | None),
        ("interval", interval, Interval),
    ):
        check_option(name, value, kind, error=InputError)
    wanted = design or suite.design
    of_preference = {"ties": ties != "loss", "interval": interval != "wilson"}
    idle = of_preference if wanted == "checklist" else {"normalise": normalise != "auto"}
    for name in (name for name, is_given in idle.items() if is_given):
        other = "preference" if wanted == "checklist" else "checklist"
        raise InputError(f"{name} goes with design {other!r}, and this audit is a {wanted}; leave it out")
    return wanted, in_our_words(suite) if wanted == "checklist" else suite


def in_our_words(suite: Suite) -> Suite:
    """A checklist whose tasks and criteria are written as ours: `MT` as `mt`, `Fluency` as `fluency`."""
    pairs = tuple(
        replace(pair, task=_known_task(pair.task), criterion=pair.criterion and criterion_of(pair.criterion))
        for pair in suite
    )
    return suite if pairs == suite.pairs else replace(suite, pairs=pairs)


def _known_task(name: str | None) -> str | None:
    try:
        return name and task_of(name)
    except SpecError:
        return name


def checklist_of(suite: Suite) -> list[ChecklistRow]:
    """The rows that the pairs of a suite belong to, and rows whose perturbation applied to no text.

    Raises:
        InputError: pairs have no task and criterion.
    """
    bare = next((p for p in suite.pairs if p.task is None or p.criterion is None), None)
    if bare is not None:
        lacking = "task" if bare.task is None else "criterion"
        raise InputError(f"pair {bare.id!r} names no {lacking}; a checklist needs both (perturb --task makes them)")
    keys = dict.fromkeys((p.task or "", p.criterion or "", p.phenomenon) for p in suite.pairs)
    keys |= dict.fromkeys(
        (s.task, s.criterion, s.perturbation) for s in suite.skipped if s.task is not None and s.criterion is not None
    )
    listed = {(row.task, row.criterion, row.template): (i, row) for i, row in enumerate(checklist_rows())}
    rows = [listed.get(key, (len(listed), ChecklistRow(*key, label=key[2]))) for key in keys]
    return [row for _, row in sorted(rows, key=lambda entry: entry[0])]


def _check_penalties(penalties: Sequence[ChecklistRow] | None, design: Design, listed: Sequence[ChecklistRow]) -> None:
    """Refuse penalties for a design without drops, and for a name that neither the checklist nor a perturbation has."""
    if penalties is None:
        return
    if design != "checklist":
        raise InputError("penalties are given, but the suite asks for preferences; they go with a checklist")
    names = dict.fromkeys([row.template for row in listed] + PERTURBATIONS.names())
    for row in penalties:
        if row.template not in names:
            raise InputError(
                f"a penalty is given for {row.template!r}, which is no perturbation{nearest(row.template, names)}"
            )


def _about_checklist(
    suite: Suite, people: Sequence[ChecklistRow], rows: Sequence[DeviationRow], given: Sequence[ChecklistRow] | None
) -> Iterator[str]:
    if given is None:
        yield (
            "penalties: estimates recovered from the deviations printed by Sai et al. (2021), not the annotators'"
            " means; see 'certainty'"
        )
    if suite.design == "preference":  # pairs of a file
        yield "these pairs do not say how many texts were left alone: 'n/a' (n_not_applicable) counts none"
    missing = [row.template for row in people if math.isnan(row.penalty)]
    if missing:
        yield f"no penalty for {', '.join(dict.fromkeys(missing))}: the drop is given in place of the deviation"
    metrics_by_rule: dict[str, list[str]] = {}
    for metric, rule in dict.fromkeys((row.metric, row.norm) for row in rows):
        metrics_by_rule.setdefault(rule, []).append(metric)
    for rule, metrics in metrics_by_rule.items():
        yield f"scale of {', '.join(metrics)}: {rule} ({RULES[rule]})"
    if given is not None:
        idle = [row.template for row in given if row.template not in {p.template.partition(":")[0] for p in people}]
        if idle:
            yield f"penalties given for {', '.join(dict.fromkeys(idle))} are not used: no such row in this audit"


def _about_preference(suite: Suite, sides: Mapping[str, Sides], ties: str, interval: str) -> Iterator[str]:
    rule = {
        "loss": "each tie counts as a loss",
        "zero": "each tie counts as worth nothing",
        "half": "each tie counts as half a win",
        "exclude": "ties are left out",
    }[ties]
    bounds = SHARE_NAMES[interval]
    yield (
        f"accuracy: share of pairs that a metric gets right (the better text scores higher; chance is 0.5); {rule};"
        f" intervals are {bounds}, of means over phenomena with the effective number of pairs"
    )
    unused = len(suite) - max(len(s.places) for s in sides.values())
    if unused and len({s.places for s in sides.values()}) == 1:
        yield (
            f"{unused} of {len(suite)} pairs are made for metrics of another kind (with a source in place of a"
            " reference, or the other way round)"
        )


def _flagged(sides: Mapping[str, Sides], undefined: str | None) -> Iterator[str]:
    """How many pairs are unread, cut or empty; and what becomes of undefined ones, unless another note says so."""
    for spec, s in sides.items():
        yield from s.unread
        yield from count_notes(spec, s.counts, len(s.places), "pairs", undefined, s.first, cut_words(s.metric))


def _undefined_drops(sides: Mapping[str, Sides], rows: Sequence[DeviationRow]) -> Iterator[str]:
    """The same for a checklist, of whose drops some are undefined although both scores are there."""
    yield from _flagged(sides, None)
    for spec in sides:
        drops = [row for row in rows if row.metric == spec]
        undefined = sum(row.n_undefined for row in drops)
        if undefined:
            yield f"{spec}: {undefined} of {sum(row.n for row in drops)} drops are undefined; they are left out"


def _about_training(rows: Sequence[PreferenceRow | DeviationRow]) -> Iterator[str]:
    """A note for phenomena that a metric's model was trained on: they are no blind test of that metric."""
    attacks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.trained_on:
            attacks.setdefault(row.metric, {})[row.attack] = None
    for metric, names in attacks.items():
        yield (
            f"{metric} was trained on {', '.join(names)}: its results there, and the means over them, say little about"
            " attacks that it has not seen"
        )


def _about_skipped(suite: Suite) -> Iterator[str]:
    """A note on the texts that perturbations left alone, with the reasons of each."""
    most: dict[tuple[str, str, str | None], int] = {}  # the same texts may be left alone under two criteria
    for s in suite.skipped:
        most[s.perturbation, s.reason, s.group] = max(s.n, most.get((s.perturbation, s.reason, s.group), 0))
    by_name: dict[str, dict[str, int]] = {}
    for (name, reason, _), n in most.items():
        reasons = by_name.setdefault(name, {})
        reasons[reason] = reasons.get(reason, 0) + n
    counts = []
    for name, reasons in by_name.items():
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        counts.append(f"{name} to {sum(reasons.values())} ({', '.join(f'{reason} {n}' for reason, n in ordered)})")
    if counts:
        yield f"texts left alone: {'; '.join(counts)}"


# --- The statistics that the authors of a published suite report, and accuracy by severity

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
_Row = dict[str, Any]


@dataclass(frozen=True)
class _Scored:
    """The scored pairs of a suite, and how they came out."""

    sides: Sides
    pairs: Sequence[Pair]
    outcome: Array  # (n,): 1 for a win, 0.5 for a tie, 0 for a loss

    def row(
        self, statistic: str, part: str, value: float, n: int, *, low: float = math.nan, high: float = math.nan
    ) -> _Row:
        """One number of the metric: `n` counts pairs, or of a mean parts; its interval is NaN where none is known."""
        own = {"metric": self.sides.spec, "statistic": statistic, "part": part}
        return {**own, "value": value, "low": low, "high": high, "n": n}

    def share(self, statistic: str, part: str, among: Mask, *, ties: bool = True, tau: bool = False) -> _Row:
        """The share of pairs won, or wins less losses as a share (`tau`); ties are losses, or do not count."""
        kept = among if ties else among & (self.outcome != 0.5)
        n = int(kept.sum())
        if not n:
            return self.row(statistic, part, math.nan, 0)
        wins = (self.outcome[kept] == 1).astype(np.float64)
        value = float(wins.mean())
        origins = [self.pairs[i].origin for i in np.flatnonzero(kept).tolist()]
        trials = dependent_trials(float(n), (wins - value) / n, origins)
        ends = value, *wilson(value * trials, trials)
        value, low, high = (2 * end - 1 for end in ends) if tau else ends
        return self.row(statistic, part, value, n, low=low, high=high)

    def where(self, test: Callable[[Pair], bool]) -> Mask:
        """The pairs for which something holds."""
        return np.array([test(pair) for pair in self.pairs], dtype=np.bool_)

    def parts(self, name: Callable[[Pair], str]) -> dict[str, Mask]:
        """Each part, in order of first appearance, and its pairs."""
        names = [name(pair) for pair in self.pairs]
        return {part: np.array([n == part for n in names], dtype=np.bool_) for part in dict.fromkeys(names)}


def suite_statistics(suite: Suite, sides: Iterable[Sides], tolerance: float = 0.05) -> list[dict[str, Any]]:
    """The rows of a suite's own statistics, flat objects: metric, statistic, part, value, low, high, n.

    The part is a category, a severity or a language pair; `all`, or `mean` over the other parts.

    Args:
        suite: the pairs. If it was not read by the name of a published suite, there are no rows.
    """
    if suite.published is None:
        return []
    of_authors = _OF_AUTHORS.get(suite.published)
    rows: list[_Row] = []
    for of_metric in sides:
        pairs = [suite.pairs[place] for place in of_metric.places]
        scored = _Scored(of_metric, pairs, won(of_metric, pairs, tolerance))
        rows += _severities(scored)
        rows += of_authors(scored) if of_authors is not None else []
    return rows


def _severities(scored: _Scored) -> Iterator[_Row]:
    parts = scored.parts(lambda pair: str(pair.meta.get("severity")))
    for severity in _SEVERITIES:
        if severity in parts:
            yield scored.share("accuracy", f"severity {severity}", parts[severity])


def _hwtsc22(scored: _Scored) -> Iterator[_Row]:
    """(concordant - discordant) / (concordant + discordant), by category and for all; ties do not count."""
    everything = {ALL: np.ones(len(scored.pairs), dtype=np.bool_)}
    for part, among in {**scored.parts(lambda pair: pair.phenomenon), **everything}.items():
        yield scored.share("kendall-like", part, among, ties=False, tau=True)


def _bump(scored: _Scored) -> Iterator[_Row]:
    """Consistency: the share of pairs whose reference summary scores strictly higher."""
    yield scored.share("consistency", ALL, np.ones(len(scored.pairs), dtype=np.bool_))


def aces_category(phenomenon: str) -> str | None:
    """The top-level category of a phenomenon of ACES; None for a name that ACES does not have."""
    return next((category for begin, category in _ACES.items() if phenomenon.startswith(begin)), None)


def _aces(scored: _Scored) -> Iterator[_Row]:
    """The mean of tau over the phenomena of a category, where ties are discordant; and their weighted sum."""
    taus: dict[str, list[_Row]] = {category: [] for category in ACES_WEIGHTS}
    for phenomenon, among in scored.parts(lambda pair: pair.error or "").items():
        category = aces_category(phenomenon)
        if category is not None:
            tau = scored.share("tau", phenomenon, among, tau=True)
            undefined = bool(np.isnan(scored.sides.margin[among]).any())
            taus[category].append(tau | {"value": math.nan} if undefined else tau)
    total = 0.0
    for category, own in taus.items():
        value = float(np.mean([tau["value"] for tau in own])) if own else math.nan
        total += ACES_WEIGHTS[category] * value
        yield scored.row("tau", category, value, sum(tau["n"] for tau in own))
    yield scored.row("ACES-Score", ALL, total, len(scored.pairs))


def _mslc(scored: _Scored) -> Iterator[_Row]:
    """How far scores follow the training, inside each item and for mean scores of checkpoints; per language pair."""
    for lp, of_pair in scored.parts(lambda pair: pair.group or ALL).items():
        among = of_pair & scored.where(lambda pair: "item" in pair.meta)  # outputs with faults come from no checkpoint
        if not among.any():
            continue
        neighbours = among & scored.where(lambda pair: pair.phenomenon == "1_step")
        items: dict[str, list[float]] = {}
        means: dict[str, dict[str, float]] = {}
        for i in np.flatnonzero(among).tolist():
            pair, item = scored.pairs[i], scored.pairs[i].meta["item"]
            items.setdefault(item, []).append(float(np.sign(scored.outcome[i] - 0.5)))
            for side, scores in (("better", scored.sides.better), ("worse", scored.sides.worse)):
                means.setdefault(pair.meta[side], {})[item] = float(scores[i])
        yield scored.row(
            "kendall by item", lp, float(np.mean([np.mean(signs) for signs in items.values()])), len(items)
        )
        yield scored.share("neighbours in order by item", lp, neighbours)
        sign = 1 if scored.sides.higher_is_better else -1
        by_letter = [sign * float(np.mean(list(means[letter].values()))) for letter in sorted(means, key=place_of)]
        gaps = np.array([b - a for i, a in enumerate(by_letter) for b in by_letter[i + 1 :]])
        yield scored.row("kendall of checkpoints", lp, float(np.mean(np.sign(gaps))), len(gaps))
        steps = np.diff(by_letter)
        yield scored.row("neighbours in order of checkpoints", lp, float(np.mean(steps > 0)), len(steps))


def _summedits(scored: _Scored) -> Iterator[_Row]:
    """Does the score tell consistent from inconsistent summaries of a domain? AUC, and balanced accuracy.

    The accuracy is at the threshold that is best for other documents, and at the one that is best for these.
    """
    by_statistic: dict[str, list[_Row]] = {
        "auc": [], "balanced accuracy": [], "balanced accuracy, best threshold": []
    }  # fmt: skip
    sign = 1 if scored.sides.higher_is_better else -1
    for domain, among in scored.parts(lambda pair: str(pair.meta.get("domain", ALL))).items():
        scores, labels, documents, seeds = [], [], [], set()
        for i in np.flatnonzero(among).tolist():
            pair = scored.pairs[i]
            scores.append(sign * float(scored.sides.worse[i]))
            labels.append(float(pair.phenomenon == CONSISTENT))
            documents.append(str(pair.source))
            if (pair.source, pair.better) not in seeds:
                seeds.add((pair.source, pair.better))
                scores.append(sign * float(scored.sides.better[i]))
                labels.append(1.0)
                documents.append(str(pair.source))
        x, z = settled(np.array(scores)), np.array(labels)
        values = [math.nan] * 3
        if not np.isnan(x).any() and 0 < z.sum() < len(z):
            found = correlation("balanced_accuracy", x, z, documents).value
            best = best_threshold(x, z, balanced_accuracy)
            values = [float(auc(x, z)), found, float(balanced_accuracy(x, z, threshold=best))]
        for (statistic, own), value in zip(by_statistic.items(), values, strict=True):
            own.append(scored.row(statistic, domain, value, len(z)))
    for statistic, own in by_statistic.items():
        yield from own
        if len(own) > 1:
            yield scored.row(statistic, MEAN, float(np.mean([row["value"] for row in own])), len(own))


def _llmbar(scored: _Scored) -> Iterator[_Row]:
    """The mean accuracy of the adversarial subsets, and accuracy on all instances of them and of Natural."""
    subsets = scored.parts(lambda pair: pair.phenomenon)
    adversarial = [scored.outcome[among] for name, among in subsets.items() if name != "Natural"]
    if adversarial:
        wins = [float((outcome == 1).sum()) for outcome in adversarial]
        n = [float(len(outcome)) for outcome in adversarial]
        value, low, high = mean_of_shares(wins, n)
        yield scored.row("accuracy", "adversarial mean", value, len(n), low=low, high=high)
    yield scored.share("accuracy", ALL, np.ones(len(scored.pairs), dtype=np.bool_))


_OF_AUTHORS: dict[str, Callable[[_Scored], Iterator[_Row]]] = {
    "hwtsc22": _hwtsc22,
    "bump": _bump,
    "mslc": _mslc,
    "aces": _aces,
    "summedits": _summedits,
    "llmbar": _llmbar,
}


# --- Which texts of a suite stand in what a shipped head was trained on? Found by digests; the texts are not kept

Digests = npt.NDArray[np.uint64]

FEWEST = 4  # words of a text or sentence that counts; shorter ones stand everywhere
# Head -> the one that learnt from the same texts.
_SAME_TEXTS = {f"{name}-base": name for name in ("nli", "nli-robust", "rated", "rated-both", "sescore")}
_MODEL = re.compile(r"\b(?:model|second)(?::|=')([\w-]+)")  # in a signature, and in that of a term of a sum


def digests_of(texts: Iterable[str]) -> Digests:
    """The digests of texts and of their sentences, sorted and distinct: 5 bytes of BLAKE2b each.

    Case, punctuation and blanks make no difference. What has fewer than four words is left out.
    """
    return np.array(sorted({digest for text in texts for digest in _digests(text)}), dtype=np.uint64)


def _digests(text: str) -> Iterator[int]:
    for piece in {text, *split_sentences(text)}:
        words = re.findall(r"\w+", unicodedata.normalize("NFKC", piece).casefold())
        if len(words) >= FEWEST:
            yield int.from_bytes(blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=5).digest(), "little")


def write_digests(path: Path, trained: Mapping[str, Digests]) -> None:
    """Write the digests of the training texts of each head: one list, and a bit per head beside each entry."""
    names = list(trained)
    every = np.unique(np.concatenate(list(trained.values())))
    bits = np.zeros(len(every), dtype=np.uint16)
    for i, digests in enumerate(trained.values()):
        bits |= np.isin(every, digests).astype(np.uint16) << np.uint16(i)
    steps = np.diff(every, prepend=np.uint64(0)).astype(np.uint64)  # which pack better than the digests themselves
    np.savez_compressed(path, steps=steps, bits=bits, names=np.array(names))


@cache
def _shipped() -> dict[str, Digests]:
    """Name of a shipped head -> digests of its training texts."""
    with np.load(str(files("nlgauge.data").joinpath("heads", "digests.npz")), allow_pickle=False) as held:
        every = np.cumsum(held["steps"], dtype=np.uint64)
        return {str(name): every[held["bits"] >> i & 1 == 1] for i, name in enumerate(held["names"])}


def overlap_notes(suite: Suite, signatures: Iterable[str]) -> list[str]:
    """A note for each shipped head that a metric uses: how many texts of the suite it was trained on.

    A text counts if it, or a sentence of it, stands in the training texts. About once in 7 million
    texts a digest is found by chance.
    """
    models = (name for signature in signatures for name in _MODEL.findall(signature))
    used = {name: _SAME_TEXTS.get(name, name) for name in models if _SAME_TEXTS.get(name, name) in _shipped()}
    if not used:
        return []
    texts_by_kind = {
        "references": dict.fromkeys(text for pair in suite for text in pair.references),
        "better texts": dict.fromkeys(pair.better for pair in suite),
        "worse texts": dict.fromkeys(pair.worse for pair in suite),
        "sources": dict.fromkeys(pair.source for pair in suite if pair.source is not None),
    }
    digests = {kind: [set(_digests(text)) for text in texts] for kind, texts in texts_by_kind.items() if texts}
    notes = []
    for name, learnt_as in used.items():
        trained = set(_shipped()[learnt_as].tolist())
        known = {kind: sum(bool(of_text & trained) for of_text in each) for kind, each in digests.items()}
        if any(known.values()):
            counts = ", ".join(f"{n} of {len(digests[kind])} {kind}" for kind, n in known.items())
            notes.append(f"the training texts of {name} hold {counts}, whole or a sentence of them")
        else:
            notes.append(f"no text of the suite, and no sentence of one, stands in the training texts of {name}")
    return notes
