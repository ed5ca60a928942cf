"""Which metrics are recommended: the reasons in sentences, and the rule behind them."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.choosing.evidence import (
    APART,
    ASPECTS,
    CHANCE,
    COPIES,
    DEFAULT_ELSEWHERE,
    DEFAULTS,
    DRAWS,
    ERRORS,
    HARMLESS,
    LEVEL,
    OWN,
    PUBLIC,
    Care,
    CriterionShare,
    interval_of,
    seen_beyond,
    share,
)
from nlgauge.choosing.measure import Examples, Measured
from nlgauge.choosing.trials import public_sets, trust_in
from nlgauge.core.arrays import Array
from nlgauge.core.spec import version
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import on_encoder
from nlgauge.stats.draws import Share
from nlgauge.text.scripts import ENGLISH, names

_TASK = {"as": "summaries", "mt": "translations", "d2t": "text from data"}  # that have a default
_FEW_ITEMS = 100  # below, only large differences between systems are seen
_NAMED = 4


@dataclass(frozen=True)
class Reason:
    """One reason.

    Attributes:
        text: a sentence or two, which can be read alone.
        examples: names of the examples that show it.
    """

    text: str
    examples: tuple[str, ...] = ()


def reasons_of(found: Measured, decision: Decision, examples: Examples) -> tuple[Reason, ...]:
    """The reasons, the most important first."""
    return (
        Reason(_taken(found, decision), _shown(*map(examples.of, decision.chosen))),
        *_agreement(found, decision, examples),
        *_errors(found, decision, examples),
        *map(Reason, _level(found, decision)),
        *_second(found, decision, examples),
        *_systems(found, decision, examples),
        *map(Reason, (*_texts(found), *_others(found, decision))),
    )


def _shown(*names: str | None) -> tuple[str, ...]:
    """The examples that there are, each once."""
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _taken(found: Measured, decision: Decision) -> str:
    first = decision.chosen[0]
    if len(found.left) == 1:
        return f"Take {first}: it is the only metric here that can score these texts."
    beside = f", with {decision.chosen[1]} beside it" if len(decision.chosen) > 1 else ""
    of = f"{len(found.left)} metrics that can score these texts"
    if decision.is_default:
        people = "with your ratings" if decision.by_ratings else "with people"
        why = decision.silent or f"of {of} none is shown to agree better {people}"
        return f"Keep {_default(found)}, {first}{beside}: {why}."
    if decision.silent:
        return f"Take {first}{beside}: {decision.silent}, and of {of} it stands highest by the other evidence."
    if decision.by_ratings and decision.open:
        n = len(decision.open)
        if n == len(found.left):
            return (
                f"Take {first}{beside}: your ratings cannot tell the {of} apart, and by the other evidence it stands"
                " highest."
            )
        return (
            f"Take {first}{beside}: your ratings cannot tell {n} of {of} from the best, and among these it stands"
            " highest by the other evidence."
        )
    if decision.by_ratings:
        return f"Take {first}{beside}: of {of} it agrees best with your ratings."
    if len(decision.standings) > 1 and not decision.level and found.sample.n_items > 1:
        how, lacking = ", beyond chance", [one.metric for one in decision.standings if PUBLIC in one.lacking]
        if all(one.criterion != PUBLIC for one in found.evidence):
            how = ", without evidence from people"
        elif lacking:
            how = f"; no public figure tells of {_and(lacking)}"
        return f"Take {first}{beside}: of {of} it stands highest{how}."
    out = "; no metric stands out" if decision.level else ""
    return f"Take {first}{beside}: of {of} it stands highest{out}."


def _default(found: Measured) -> str:
    if not found.sets and found.language != ENGLISH:
        return f"the default for {_language(found)}"
    return f"the default for {_TASK.get(found.trials.task, found.trials.task)}"


def _language(found: Measured) -> str:
    """The language of the outputs in words."""
    return names().get(found.language, found.language) or "a language that is not told"


def _agreement(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    own = evidence_of(found, decision.chosen[0])
    first = decision.chosen[0]
    rated = max((one for one in found.evidence if one.criterion == OWN), key=lambda one: one.value, default=None)
    told = own.get(OWN) if decision.by_ratings else rated if decision.silent else None
    if told is not None:
        pairs = "two outputs for one input" if found.pairs is not None and found.pairs.within else "two outputs"
        best = "The best there, " if decision.silent else ""
        yield Reason(
            f"{best}{told.metric}{',' * bool(best)} orders {pairs} as your ratings of {found.criterion} do in"
            f" {_share(told)} of the pairs, of {told.n} outputs; chance is 0.5.",
            _shown(examples.of(told.metric, OWN)),
        )
    elif found.n_rated and not decision.by_ratings:
        yield Reason(
            f"Your ratings of {found.criterion} hold {found.n_rated} pairs of outputs, too few to decide; rate more"
            f" (from {FEWEST_PAIRS} pairs on they decide)."
        )
    if decision.by_ratings and not decision.open:
        return
    if PUBLIC in own:
        names = ", ".join(one.name for one in found.sets)
        chance = ", which may be chance" if own[PUBLIC].low <= CHANCE else ""
        yield Reason(
            f"On the public sets nearest to your texts ({names}) {first} orders two outputs as people do in"
            f" {_share(own[PUBLIC])} of the pairs{chance}; that is other people's data, and chance is 0.5."
        )
    elif found.sets:
        yield Reason(
            f"No public figure tells how {first} agrees with people on texts like yours; it counts as the lowest here."
        )
    else:
        task = found.trials.task
        kind = f"of the task {task!r}"
        if any(one.task == task for one in public_sets()):
            bare = "" if any(s.references for s in found.sample.segments) else " without references"
            kind = f"of {_TASK.get(task, task)} in {_language(found)}{bare}"
        yield Reason(
            f"No evidence is there for texts like yours: no public set with ratings is {kind}, so errors made on"
            " purpose are all that tells metrics apart; rate some outputs if you can."
        )


def _errors(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    first = decision.chosen[0]
    if found.trials.errors is None:
        yield Reason("No errors could be made of these texts, so nothing is known of which errors a metric sees here.")
        return
    own = evidence_of(found, first)
    kinds = [(name.removeprefix(ERRORS), one) for name, one in own.items() if name.startswith(ERRORS)]
    if kinds:
        told = (f"{name} {one.value:.2f} of {one.n}{' (too few to count)' * one.is_few}" for name, one in kinds)
        yield Reason(
            f"Errors put into {found.trials.source} lower the score of {first}: {', '.join(told)}.",
            _shown(*(examples.of(first, ERRORS + name) for name, _ in kinds)),
        )
    missed = missed_kinds(found, first)
    if missed:
        more = f" and {len(missed) - _NAMED} more" if len(missed) > _NAMED else ""
        named = ", ".join(f"{name} ({n} of {total})" for name, n, total in missed[:_NAMED])
        yield Reason(
            f"{first} misses most errors of the kinds {named}{more}.",
            _shown(*(examples.of_phenomenon(first, name) for name, _, _ in missed[:_NAMED])),
        )
    if COPIES in own and own[COPIES].high < CHANCE:
        yield Reason(
            f"{first} prefers a copy of a reference with an error to a paraphrase without one:"
            f" it is right in {_share(own[COPIES])} of {own[COPIES].n} such pairs.",
            _shown(examples.of(first, COPIES)),
        )
    if HARMLESS in own and own[HARMLESS].high < 0.75:
        yield Reason(
            f"{first} minds harmless changes: they cost less than an error in the same text in only"
            f" {_share(own[HARMLESS])} of the cases.",
            _shown(examples.of(first, HARMLESS)),
        )
    cared = own.get(f"{ERRORS}{decision.care}")
    if decision.care is not None and (cared is None or cared.is_few):
        some = "No error" if cared is None else f"Only {cared.n} errors"
        yield Reason(f"{some} of {decision.care} could be made of these texts, so caring for it changes nothing.")


def _level(found: Measured, decision: Decision) -> Iterator[str]:
    first = decision.chosen[0]
    if decision.level:
        names = [name for name, _, _ in decision.level]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{first} cannot be told apart from {_and(names[:_NAMED])}{more}: chance may put any of them first."
    heads: dict[str, list[str]] = {}
    for spec in found.left:
        heads.setdefault(found.alike[spec][0], []).append(spec)
    for group in heads.values():
        if len(group) > 1:
            rho = min(found.alike[spec][1] for spec in group)
            yield f"{_and(group)} order these texts alike (rank correlation {rho:.2f} or more): one of them is enough."


def _second(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    first = decision.chosen[0]
    if decision.second is not None:
        seen = decision.beyond[decision.second]
        yield Reason(
            f"{decision.second} sees {round(seen.value * seen.n)} of the {seen.n} errors that {first} misses"
            f" ({seen.value:.2f}, {seen.low:.2f} to {seen.high:.2f}).",
            _shown(examples.beyond(first, decision.second)),
        )
    elif len(found.left) > 1 and found.trials.errors is not None:
        if decision.n_missed:
            yield Reason(
                f"No second metric: none sees more than half of the {decision.n_missed} errors that {first} misses,"
                " beyond chance."
            )
        else:
            yield Reason(f"No second metric: {first} misses none of {decision.n_errors} errors.")


def _systems(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    systems = found.sample.whole.systems
    if len(systems) < 2:
        yield Reason("There is one system, so nothing is said of telling systems apart.")
        return
    own = evidence_of(found, decision.chosen[0]).get(APART)
    if own is None:
        why = "all outputs are copies of references" if found.sample.are_copies else "they share fewer than 4 items"
        yield Reason(f"The {len(systems)} systems cannot be compared: {why}.")
        return
    first, n = decision.chosen[0], found.sample.n_items
    compared = len(found.sample.dataset.systems)
    some = f"{compared} of your {len(systems)}" if compared < len(systems) else f"your {compared}"
    yield Reason(
        f"{first} gives differences between {some} systems the same sign on random halves of the items in"
        f" {_share(own)} of the draws.",
        _shown(examples.of(first, APART)),
    )
    if not math.isnan(own.detail["detectable"]):
        few = "Few items: with" if n < _FEW_ITEMS else "With"
        yield Reason(
            f"{few} {n} items a difference of {own.detail['detectable']:.3g} in {first} is found with 80 % power; the"
            f" widest between these systems is {own.detail['widest']:.3g}."
        )


def _texts(found: Measured) -> Iterator[str]:
    if found.sample.are_copies:
        yield (
            "Every output is a copy of a reference, which nearly every metric scores as perfect: errors were put into"
            " references instead. Check the file."
        )
    elif not found.sample.has_outputs:
        yield "There are no outputs, so errors were put into references; choose again when there are outputs."
    if not any(s.references for s in found.sample.segments):
        yield "There are no references: only metrics that need none were tried, and these agree with people less."
    if found.sample.n_items < 2:
        yield "There is one item: no interval says how others would score."


def _others(found: Measured, decision: Decision) -> Iterator[str]:
    for spec, why in found.out.items():
        yield f"{spec} is left out: {why}."
    for spec in decision.chosen:
        if spec in found.told:
            yield f"Of {spec} mind: {found.told[spec]}."


def _share(one: CriterionShare) -> str:
    interval = "" if math.isnan(one.low) else f" ({one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.2f}{interval}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def command_of(found: Measured, decision: Decision, data: str) -> str:
    """The command that scores with the chosen metrics, and tests systems where there are several."""
    words = ["nlgauge", "score", data, *(word for spec in decision.chosen for word in ("-m", spec))]
    if any(on_encoder(spec, found.encoder) != spec for spec in decision.chosen):
        words += ["--encoder", str(found.encoder)]
    if found.grid is not None:
        words += ["--significance", "randomization"]
    return shlex.join(words)


def methods_of(found: Measured, decision: Decision) -> str:
    """A paragraph for a paper: metrics with signatures, how they were chosen, the test, n, and what they do not see."""
    signatures = {one["spec"]: one["signature"] for one in found.about}
    named = _and([f"{spec} (signature {signatures[spec]})" for spec in decision.chosen])
    whole = found.sample.whole
    systems = f" of {len(whole.systems)} systems" if len(whole.systems) > 1 else ""
    tried = len(found.metrics)
    texts = f"{len(whole)} outputs{systems} for {found.sample.n_items} items"
    known = {one.criterion for one in found.evidence}
    told = [
        *(["by agreement with people on public sets"] if PUBLIC in known else []),
        *(["by errors made in our texts"] if decision.n_errors else []),
    ]
    basis = (
        f"by agreement with ratings of {found.criterion}"
        if decision.by_ratings
        else _and(told or ["as the first that was named"])
    )
    if decision.is_default:
        basis = f"as {_default(found)}, since none is shown to agree better with people"
        basis += ", and as that which sees most of the errors that it misses" if decision.second else ""
    n = len(found.sample.segments)
    looked = f", on {n} of these outputs" if n < len(whole) else ""
    parts = [
        f"We report {named} on {texts}.",
        f"The {'metrics were' if len(decision.chosen) > 1 else 'metric was'} chosen among {tried} {basis}{looked}"
        f" (nlgauge {version('nlgauge')}, choose).",
    ]
    if found.grid is not None:
        parts.append(
            "Differences between systems were tested with paired approximate randomisation (10,000 draws, α = 0.05)."
        )
    if decision.n_errors:
        parts.append(
            f"Of {decision.n_errors} errors put into our texts, {decision.chosen[0]} misses {decision.n_missed}"
        )
        missed = missed_kinds(found, decision.chosen[0])
        kinds = f", above all {_and([name for name, _, _ in missed[:_NAMED]])}" if missed else ""
        parts[-1] += f"{kinds}."
    return " ".join(parts)


# --- The rule: weights of the criteria, the standing of each metric, who cannot be told apart, and a second metric

# How much a difference of one share counts beside another. Agreement with people is what is wanted, and differs little
# from metric to metric; audits say less of it (docs/studies/choose.md).
PUBLIC_WEIGHT, ERRORS_WEIGHT, COPIES_WEIGHT, HARMLESS_WEIGHT, APART_WEIGHT = 8.0, 2.0, 0.5, 0.5, 0.5
CARED_WEIGHT = 8.0  # of errors where the user says which ones matter
CARED_SHARE = 0.7  # of that weight for the errors that matter
# The weight of each kind of error by task; `mt` for a task that is not named.
BY_TASK: Mapping[str, Mapping[Care, float]] = {
    "mt": {"meaning": 0.4, "facts": 0.2, "coverage": 0.2, "fluency": 0.2},
    "as": {"meaning": 0.2, "facts": 0.4, "coverage": 0.2, "fluency": 0.2},
    "d2t": {"meaning": 0.15, "facts": 0.4, "coverage": 0.3, "fluency": 0.15},
    "ic": {"meaning": 0.3, "facts": 0.4, "coverage": 0.2, "fluency": 0.1},
    "qg": {"meaning": 0.5, "facts": 0.3, "coverage": 0.0, "fluency": 0.2},
    "dg": {"meaning": 0.5, "facts": 0.1, "coverage": 0.1, "fluency": 0.3},
}
FEWEST_PAIRS = 30  # of rated outputs, from which on ratings decide
FEWEST_MISSED = 5  # errors that the first metric misses, from which on a second is looked for


RATINGS: Mapping[str, float] = {OWN: 1.0}  # the weights where ratings of the user's decide


def weights_of(task: str, care: Care | None, trust: float = 1.0) -> dict[str, float]:
    """Criterion -> its weight where there are no ratings; those of criteria without evidence are left out later.

    Args:
        task: whose weights of errors are taken.
        care: the errors that matter most.
        trust: how far public figures count, in [0, 1].
    """
    by_aspect = dict(BY_TASK.get(task, BY_TASK["mt"]))
    if care is not None:
        others = sum(share for aspect, share in by_aspect.items() if aspect != care)
        by_aspect = {aspect: (1 - CARED_SHARE) * by_aspect[aspect] / others for aspect in ASPECTS}
        by_aspect[care] = CARED_SHARE
    errors = ERRORS_WEIGHT if care is None else CARED_WEIGHT
    return {
        PUBLIC: round(trust * PUBLIC_WEIGHT, 2),
        **{ERRORS + aspect: errors * by_aspect[aspect] for aspect in ASPECTS},
        COPIES: COPIES_WEIGHT,
        HARMLESS: HARMLESS_WEIGHT,
        APART: APART_WEIGHT,
    }


@dataclass(frozen=True, eq=False)
class Standing:
    """What the evidence on a metric comes to.

    Attributes:
        metric: the specification as typed.
        value: the weighted mean of its shares, in [0, 1]; NaN where there is no evidence on any metric.
        low, high: its 95 % interval; NaN as `value`.
        draws: on B resamples, shape (B,).
        lacking: criteria on which there is evidence for others alone; it has the lowest share of the others there.
    """

    metric: str
    value: float
    low: float
    high: float
    draws: Array
    lacking: tuple[str, ...] = ()


def standings(
    evidence: Sequence[CriterionShare], metrics: Sequence[str], weights: Mapping[str, float]
) -> list[Standing]:
    """The standing of each metric, the best first."""
    cells = {(one.metric, one.criterion): one for one in evidence if one.metric in metrics}
    counted = [name for name, weight in weights.items() if weight and any((m, name) in cells for m in metrics)]
    total = sum(weights[name] for name in counted)
    found = []
    for spec in metrics:
        value, draws = 0.0, np.zeros(DRAWS)
        if not counted:  # zeros as draws: no metric can be told from another
            found.append(Standing(spec, np.nan, np.nan, np.nan, draws))
            continue
        lacking = tuple(name for name in counted if (spec, name) not in cells)
        for name in counted:
            own = cells.get((spec, name)) or _lowest(name, cells)
            value += weights[name] / total * own.value
            draws = draws + weights[name] / total * (own.draws if len(own.draws) else own.value)
        found.append(Standing(spec, value, *interval_of(draws), draws, lacking))
    return sorted(found, key=lambda one: -one.value)  # stable: equal ones in the order as named


def _lowest(criterion: str, cells: Mapping[tuple[str, str], CriterionShare]) -> CriterionShare:
    return min((one for (_, name), one in cells.items() if name == criterion), key=lambda one: one.value)


def ranked(
    evidence: Sequence[CriterionShare], metrics: Sequence[str], weights: Mapping[str, float], has_ratings: bool
) -> tuple[list[Standing], tuple[str, ...]]:
    """The metrics, the best first, and those that ratings leave open.

    Ratings of the user's own decide where there are some. If they cannot tell the best from others, the usual weights
    rank these; the rest follows by ratings.

    Returns:
        Standings by the weights that decided, and the names that ratings leave open; none if they leave nothing open.
    """
    usual = standings(evidence, metrics, weights)
    if not has_ratings:
        return usual, ()
    own = standings(evidence, metrics, RATINGS)
    left = {own[0].metric, *(name for name, _, _ in not_told(own[0], own[1:]))}
    if len(left) == 1:
        return own, ()
    by_name = {one.metric: one for one in usual}
    rest = [by_name[one.metric] for one in own if one.metric not in left]
    order = [one for one in usual if one.metric in left]
    return [*order, *rest], tuple(one.metric for one in order)


def not_told(best: Standing, others: Sequence[Standing]) -> list[tuple[str, float, float]]:
    """Those of the others whose standing cannot be told from the best, with the interval of the difference."""
    found = []
    for one in others:
        low, high = interval_of(best.draws - one.draws)
        if low <= 0:
            found.append((one.metric, low, high))
    return found


def beyond_chance(shares: Sequence[CriterionShare]) -> bool:
    """Whether some metric is above chance; the level is that of all together, since of many one may be by chance."""
    if not shares:
        return False
    values, draws = np.array([one.value for one in shares]), np.stack([one.draws for one in shares])  # (m,), (m, B)
    spread = draws.std(axis=1)
    errors = (draws - values[:, None]) / np.maximum(spread, 1e-9)[:, None]
    return bool((values - np.quantile(errors.max(axis=0), (1 + LEVEL) / 2) * spread > CHANCE).any())


def stays(
    default: str, evidence: Sequence[CriterionShare], metrics: Sequence[str], weights: Mapping[str, float]
) -> bool:
    """Whether a default stays: it is the best of the metrics by these weights, or cannot be told from the best.

    So it does where nothing is known of it, and none is shown to be better.
    """
    if not any(one.metric == default and weights.get(one.criterion) for one in evidence):
        return True
    best, *others = standings(evidence, metrics, weights)
    return default in {best.metric, *(name for name, *_ in not_told(best, others))}


def second_of(beyond: Mapping[str, Share]) -> str | None:
    """The metric that sees most of what the first misses; None if none sees more than half of it beyond chance.

    Args:
        beyond: metric -> the share that it sees, of the errors that the first misses; those alike are left out.
    """
    able = [name for name, seen in beyond.items() if seen.n >= FEWEST_MISSED and seen.low > CHANCE]
    return max(able, key=lambda name: beyond[name].value, default=None)


# --- The decision: which metrics are chosen, and the numbers that it rests on as rows

_STANDING = {"criterion": "standing", "seconds": None, "megabytes": None}  # a few outputs tell neither
_TOLD = 5  # errors of a kind, at least, to be named


@dataclass(frozen=True, eq=False)
class Decision:
    """What is recommended.

    Attributes:
        chosen: one or two metrics.
        standings: of all metrics that are not ruled out, the best first.
        weights: criterion -> its weight.
        level: metrics that cannot be told from the first, with the interval of the difference.
        open: the best metric by the user's ratings and those that these cannot tell from it; none without ratings, or
            if they tell it from all.
        second: the second metric; None if there is none.
        beyond: metric -> of the errors that the first misses, the share that it sees.
        n_missed: the errors that the first misses.
        n_errors: all errors that the first was tried on.
        care: the errors that matter most.
        is_default: whether the first is the default of the task, since people tell no metric from it.
        silent: why the user's ratings, of which there are enough, decide nothing; empty where they decide.
    """

    chosen: tuple[str, ...]
    standings: tuple[Standing, ...]
    weights: dict[str, float]
    level: tuple[tuple[str, float, float], ...]
    open: tuple[str, ...]
    second: str | None
    beyond: dict[str, Share]
    n_missed: int
    n_errors: int
    care: Care | None
    is_default: bool = False
    silent: str = ""

    @property
    def by_ratings(self) -> bool:
        """Whether the user's ratings decided."""
        return OWN in self.weights

    def rows(self, found: Measured) -> list[dict[str, Any]]:
        """The standing of each metric, and why others are ruled out."""
        level = {name for name, _, _ in self.level}
        rows: list[dict[str, Any]] = []
        for rank, one in enumerate(self.standings, 1):
            head, rho = found.alike[one.metric]
            seen = self.beyond.get(one.metric)
            rows.append(
                {
                    "metric": one.metric,
                    **_STANDING,
                    "value": one.value,
                    "low": one.low,
                    "high": one.high,
                    "rank": rank,
                    "chosen": self.chosen.index(one.metric) + 1 if one.metric in self.chosen else None,
                    "level": one.metric in level,
                    "alike": head if head != one.metric else None,
                    "rho": rho if head != one.metric else None,
                    "beyond": None if seen is None else seen.value,
                    "beyond_low": None if seen is None else seen.low,
                    "beyond_high": None if seen is None else seen.high,
                    "beyond_n": None if seen is None else seen.n,
                    "lacking": ", ".join(one.lacking) or None,
                    "told": found.told.get(one.metric),
                    "out": None,
                }
            )
        rows += [
            {"metric": spec, **_STANDING, **dict.fromkeys(("value", "low", "high", "rank", "chosen")), "out": why}
            for spec, why in found.out.items()
        ]
        return rows


def decided(found: Measured, care: Care | None, seed: int) -> Decision:
    """Apply the rule."""
    rated = [one for one in found.evidence if one.criterion == OWN] if found.n_rated >= FEWEST_PAIRS else []
    by_ratings = beyond_chance(rated)
    silent = f"no metric is above chance with your ratings of {found.criterion}" if rated and not by_ratings else ""
    silent += f", where {len(rated)} were tried" if silent and any(one.low > CHANCE for one in rated) else ""
    usual = weights_of(found.trials.task, care, trust_in(found.sets))
    counted = [one for one in found.evidence if not one.is_few]
    order, left = ranked(counted, found.left, usual, by_ratings)
    weights = {**(RATINGS if by_ratings else {}), **(usual if left or not by_ratings else {})}
    first, level = order[0], _open_beside(order, order[0], left)
    known = DEFAULTS.get(found.trials.task) if found.sets or found.language == ENGLISH else DEFAULT_ELSEWHERE
    default = next((one for one in order if one.metric == known), None)
    is_default = False
    if default is not None and (level or first is not default):
        if care is None:  # errors alone do not oust it: a metric that sees wrong facts may order summaries by chance
            is_default = stays(default.metric, counted, found.left, RATINGS if by_ratings else {PUBLIC: 1.0})
        else:
            is_default = default.metric in {first.metric, *(name for name, *_ in level)}
        if is_default:
            first, level = default, _open_beside(order, default, left)
    group = found.alike[first.metric][0]
    others = [one for one in order if found.alike[one.metric][0] != group]
    beyond, missed, n_errors = _beyond(found, first.metric, [one.metric for one in others], seed)
    second = second_of(beyond)
    chosen = (first.metric, *([] if second is None else [second]))
    return Decision(
        chosen, tuple(order), weights, tuple(level), left, second, beyond, missed, n_errors, care, is_default, silent
    )


def _open_beside(order: Sequence[Standing], first: Standing, left: Sequence[str]) -> list[tuple[str, float, float]]:
    """Who cannot be told from the first: of the metrics that ratings leave open, where they leave some."""
    return not_told(first, [one for one in order if one is not first and (not left or one.metric in left)])


def _suites(found: Measured, spec: str) -> list[tuple[Suite, Sides]]:
    """The suites that a metric has scores for."""
    both = zip((found.trials.errors, found.trials.copies), found.sides.get(spec, (None, None)), strict=True)
    return [(suite, sides) for suite, sides in both if suite is not None and sides is not None]


def _beyond(found: Measured, first: str, others: list[str], seed: int) -> tuple[dict[str, Share], int, int]:
    own = {id(suite): sides for suite, sides in _suites(found, first)}
    shares: dict[str, Share] = {}
    for spec in others:
        parts = [seen_beyond(suite, own[id(suite)], sides) for suite, sides in _suites(found, spec) if id(suite) in own]
        outcome = np.concatenate([part[0] for part in parts]) if parts else np.empty(0)
        made = share(outcome, [origin for part in parts for origin in part[1]], seed) if len(outcome) else None
        if made is not None:
            shares[spec] = made
    seen = [
        sides.margin[i] > 0
        for suite, sides in _suites(found, first)
        for i, pair in enumerate(_pairs(suite, sides))
        if pair.expect == "lower"
    ]
    return shares, len(seen) - sum(map(int, seen)), len(seen)


def _pairs(suite: Suite, sides: Sides) -> list[Pair]:
    return [suite.pairs[place] for place in sides.places]


def missed_kinds(found: Measured, spec: str) -> list[tuple[str, int, int]]:
    """Kinds of errors in outputs of which a metric misses more than half: how many it misses, of how many."""
    suite, (sides, _) = found.trials.errors, found.sides.get(spec, (None, None))
    if suite is None or sides is None:
        return []
    pairs, margins = _pairs(suite, sides), sides.margin
    wrong = [i for i, pair in enumerate(pairs) if pair.expect == "lower"]
    total = Counter(pairs[i].phenomenon for i in wrong)
    missed = Counter(pairs[i].phenomenon for i in wrong if not margins[i] > 0)
    kinds = [(name, n, total[name]) for name, n in missed.items() if n > total[name] / 2 and total[name] >= _TOLD]
    return sorted(kinds, key=lambda one: (-one[1] / one[2], -one[2]))


def evidence_of(found: Measured, spec: str) -> dict[str, CriterionShare]:
    """Criterion -> the evidence on a metric."""
    return {one.criterion: one for one in found.evidence if one.metric == spec}
