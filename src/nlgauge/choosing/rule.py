"""Which metrics are recommended: the rule, and the reasons in sentences."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nlgauge.choosing.evidence import DEFAULT_ELSEWHERE, DEFAULTS, at_hand
from nlgauge.choosing.known import Known
from nlgauge.choosing.public import Figure, public_sets
from nlgauge.core.errors import InputError
from nlgauge.core.spec import version
from nlgauge.metrics.registry import on_encoder
from nlgauge.text.scripts import ENGLISH, names

_TASK = {  # in words
    **{"as": "summaries", "mt": "translations", "d2t": "text from data"},
    **{"ic": "captions", "qg": "questions", "dg": "dialogue"},
}
# What looks for wrong facts in English texts, which the defaults are weak at (docs/guides/choose.md).
BESIDE: Mapping[str, str] = {"mt": "nli-robust", "as": "faithful"}
OWN, PUBLIC = "people", "public"  # evidence: the user's ratings, and public sets
CHANCE = 0.5  # of a public figure
ALPHA = 0.05  # below which ratings put another metric in the place of what is taken without them
_NAMED = 4


@dataclass(frozen=True, eq=False)
class Decision:
    """What is recommended.

    Attributes:
        chosen: one or two metrics.
        order: the figure of each metric that is not ruled out, the best first.
        level: metrics that cannot be told from the first.
        baseline: what is taken without the user's ratings.
        is_default: whether that is the default of the task, since people tell no metric from it.
    """

    chosen: tuple[str, ...]
    order: tuple[Figure, ...]
    level: tuple[str, ...]
    baseline: str
    is_default: bool

    @property
    def by_ratings(self) -> bool:
        """Whether the user's ratings decided."""
        return self.chosen[0] != self.baseline


def decided(known: Known) -> Decision:
    """Apply the rule.

    Raises:
        InputError: every metric is ruled out.
    """
    left = known.left
    if not left:
        reasons = "; ".join(f"{spec}: {why}" for spec, why in known.out.items())
        raise InputError(f"no metric can score these texts: {reasons}")
    order = standings(known.figures, left)
    wanted = DEFAULTS[known.task] if known.language == ENGLISH else DEFAULT_ELSEWHERE
    default = next((one for one in order if one.metric == wanted), None)
    stays = default is not None and (default.lacking or not order[0].is_ahead(default))
    first = default if default is not None and stays else order[0]
    level = tuple(one.metric for one in order if one is not first and not first.is_ahead(one))
    better = [spec for spec, p in known.ahead.items() if p < ALPHA]
    best = max(better, key=lambda spec: known.rated[spec]["value"], default=first.metric)
    beside = BESIDE.get(known.task) if known.language == ENGLISH else None
    chosen = (best, *(name for name in left if name == beside and name != best))
    is_default = stays and bool(level or order[0] is not first)
    level = level if known.figures and not better else ()  # where nothing is known of any, there is nothing to tell
    return Decision(chosen, tuple(order), level, first.metric, is_default)


def standings(figures: Mapping[str, Figure], metrics: Sequence[str]) -> list[Figure]:
    """The public figure of each metric, the best first; the lowest of the others where it has none, NaN if none has."""
    known = [figures[spec] for spec in metrics if spec in figures]
    lowest = min(known, key=lambda one: one.value, default=Figure(""))
    found = [figures.get(spec) or replace(lowest, metric=spec, lacking=True) for spec in metrics]
    return sorted(found, key=lambda one: -one.value) if known else found  # stable: equal ones in the order as named


def rows_of(known: Known, decision: Decision) -> list[dict[str, Any]]:
    """The standing of each metric, why others are ruled out, and the evidence."""
    rows: list[dict[str, Any]] = []
    for rank, one in enumerate(decision.order, 1):
        place = decision.chosen.index(one.metric) + 1 if one.metric in decision.chosen else None
        rows.append({"metric": one.metric, "criterion": "standing", **one.ends, "rank": rank, "chosen": place})
        rows[-1] |= {"level": one.metric in decision.level, "lacking": PUBLIC if one.lacking else None}
        rows[-1] |= {"told": known.told.get(one.metric), "out": None}
    absent = dict.fromkeys(("value", "low", "high", "rank", "chosen"))
    rows += [{"metric": spec, "criterion": "standing", **absent, "out": why} for spec, why in known.out.items()]
    for spec, row in known.rated.items():
        rows.append({"metric": spec, "criterion": OWN, **{name: row[name] for name in ("value", "low", "high")}})
        source = f"your ratings of {known.criterion}: {row['stat']}, level {row['level']}"
        rows[-1] |= {"n": row["n_used"], "p": known.ahead.get(spec), "source": source}
    source = f"public sets {', '.join(one.name for one in known.sets)}"
    of = {"criterion": PUBLIC, "p": None, "source": source}
    return rows + [{"metric": o.metric, **o.ends, "n": o.n, **of} for o in decision.order if not o.lacking]


# --- The reasons, the most important first


def reasons_of(known: Known, decision: Decision, data: Sequence[str], judgements: str | None) -> tuple[str, ...]:
    """A sentence or two each, which can be read alone."""
    return (
        _taken(known, decision),
        *_agreement(known, decision),
        *_texts(known, decision),
        *_others(known, decision),
        *_next(known, decision, data, judgements),
    )


def _taken(known: Known, decision: Decision) -> str:
    first, *second = decision.chosen
    if len(known.left) == 1:
        return f"Take {first}: it is the only metric here that can score these texts."
    beside = f", with {second[0]} beside it" if second else ""
    of = f"of {len(known.left)} metrics that can score these texts"
    if decision.by_ratings:
        better = f"agrees better with your ratings than {decision.baseline}, which is taken without them"
        return f"Take {first}{beside}: {of} it {better} (p = {known.ahead[first]:.3f}, adjusted)."
    if decision.is_default:
        people = f"your ratings{' or other people' if known.figures else ''}" if known.rated else "people"
        return f"Keep {_default(known)}, {first}{beside}: {of} none is shown to agree better with {people}."
    rated = ", and with your ratings none is ahead of it" if known.rated else ""
    if not known.figures:
        return f"Take {first}{beside}: {of} none is known to be better{rated}."
    lacking = [one.metric for one in decision.order if one.lacking]
    how = f"; no public figure tells of {_and(lacking)}" if lacking else ", beyond chance"
    how = "; no metric stands out" if decision.level else how
    return f"Take {first}{beside}: {of} it stands highest{how}{rated}."


def _default(known: Known) -> str:
    return f"the default for {_TASK[known.task] if known.language == ENGLISH else _language(known)}"


def _language(known: Known) -> str:
    """The language of the outputs in words."""
    return names().get(known.language, known.language) or "a language that is not told"


def _agreement(known: Known, decision: Decision) -> Iterator[str]:
    first = decision.chosen[0]
    if first in known.rated:
        own, best = known.rated[first], max(known.rated.values(), key=lambda row: row["value"])
        interval = "" if math.isnan(own["low"]) else f" ({own['low']:.2f} to {own['high']:.2f})"
        behind = f"; {best['metric']} with {best['value']:.2f} is not ahead beyond chance" if best is not own else ""
        yield (
            f"With your ratings of {known.criterion} {first} has {own['stat']} {own['value']:.2f}{interval}, level"
            f" {own['level']}{behind}."
        )
    if not decision.by_ratings:
        yield _publicly(known, first)
    if decision.level:
        more = [f"{len(decision.level) - _NAMED} more"] if len(decision.level) > _NAMED else []
        level = _and([*decision.level[:_NAMED], *more])
        yield f"{first} cannot be told apart from {level}: chance may put any of them first."


def _publicly(known: Known, first: str) -> str:
    """What public sets say of a metric."""
    own = known.figures.get(first)
    if own is not None:
        low, high = own.ends["low"], own.ends["high"]
        chance = ", which may be chance" if low <= CHANCE else ""
        sets = ", ".join(one.name for one in known.sets)
        return (
            f"On the public sets nearest to your texts ({sets}) {first} orders two outputs as people do in"
            f" {own.value:.2f} ({low:.2f} to {high:.2f}) of the pairs{chance}; that is other people's data, and"
            " chance is 0.5."
        )
    if known.sets:
        return f"No public figure tells how {first} agrees with people on such texts; it counts as the lowest here."
    kind = f" in {_language(known)}{'' if known.has_references else ' without references'}"
    kind = _TASK[known.task] + (kind if any(one.task == known.task for one in public_sets()) else "")
    none = f"No evidence is there for texts like yours: no public set with ratings is of {kind}"
    return f"{none}, so nothing tells metrics apart; rate some outputs if you can."


def _texts(known: Known, decision: Decision) -> Iterator[str]:
    for name in decision.chosen[1:]:
        where = "near-copies of references" if known.task == "mt" else "summaries, by their sources"
        yield f"{name} looks for wrong facts in {where}; how good a text is, {decision.chosen[0]} says."
    if not known.has_outputs:
        yield "Every output is blank, or a copy of a reference, which nearly every metric scores as perfect."
    if not known.has_references:
        yield "There are no references: only metrics that need none were tried, and these agree with people less."
    if known.has_systems:
        yield "Of whole systems no metric is known to be right more often than another: trust the test."


def _others(known: Known, decision: Decision) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for spec, why in known.out.items():
        by_reason.setdefault(why, []).append(spec)
    for why, specs in by_reason.items():
        yield f"{_and(specs)} {'is' if len(specs) == 1 else 'are'} left out: {why}."
    for spec in decision.chosen:
        if spec in known.told:
            yield f"Of {spec} mind: {known.told[spec]}."
    large = [name for name in at_hand(known.task, known.sample.segments) if name not in known.metrics]
    if large:
        yield f"{_and(large)} could run, too: the model is here. No public figure is known; try it with -m."


def _next(known: Known, decision: Decision, data: Sequence[str], judgements: str | None) -> Iterator[str]:
    """The commands that answer what is asked next: how sure is that, and what is not seen?"""
    if known.rated:
        by_value = sorted(known.rated, key=lambda spec: -known.rated[spec]["value"])
        table = [] if judgements is None else ["--judgements", judgements]
        row = known.rated[by_value[0]]
        asked = ["-c", str(known.criterion), "--level", row["level"], "--stat", row["stat"]]
        best = _named(dict.fromkeys((decision.baseline, *by_value[:_NAMED])))
        words = ["nlgauge", "meta", *data, *table, *best, *asked, "--baseline", decision.baseline]
        yield f"All that your ratings say of metrics: {shlex.join([*words, *_encoder(known, decision)])}"
    if known.language == ENGLISH and known.has_references and known.has_outputs:
        words = ["nlgauge", "audit", *data, "--task", known.task, *_named(decision.chosen), *_encoder(known, decision)]
        yield f"What {_and(decision.chosen)} cannot see in texts like yours: {shlex.join(words)}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _named(specs: Iterable[str]) -> list[str]:
    return [word for spec in specs for word in ("-m", spec)]


def _encoder(known: Known, decision: Decision) -> list[str]:
    """The option that names the encoder of the run, where a metric that is chosen stands on it."""
    encoder = known.runtime.encoder
    return ["--encoder", str(encoder)] if any(on_encoder(s, encoder) != s for s in decision.chosen) else []


def command_of(known: Known, decision: Decision, data: Sequence[str]) -> str:
    """The command that scores with the chosen metrics, and tests systems where there are several."""
    words = ["nlgauge", "score", *data, *_named(decision.chosen), *_encoder(known, decision)]
    return shlex.join([*words, *(["--significance", "randomization"] if known.has_systems else [])])


def methods_of(known: Known, decision: Decision) -> str:
    """A paragraph for a paper: metrics with signatures, how they were chosen, and the test."""
    signatures = {one["spec"]: one["signature"] for one in known.about}
    chosen = _and([f"{spec} (signature {signatures[spec]})" for spec in decision.chosen])
    first, *second = decision.chosen
    whole, sample = known.whole, known.sample
    systems = f" of {len(whole.systems)} systems" if len(whole.systems) > 1 else ""
    basis = "by agreement with people on public sets" if known.figures else "as the first that was named"
    if decision.by_ratings:
        basis = f"by agreement with ratings of {known.criterion}"
    elif decision.is_default:
        basis = f"as {_default(known)}, since none is shown to agree better with people"
    looked = f", on {len(sample)} of these outputs" if known.rated and len(sample) < len(whole) else ""
    test = " Differences between systems were tested with paired approximate randomisation (10,000 draws, α = 0.05)."
    return (
        f"We report {chosen} on {len(whole)} outputs{systems} for {known.n_items} items. {first} was chosen among"
        f" {len(known.metrics)} {basis}{looked} (nlgauge {version('nlgauge')}, choose)"
        f"{f', and {second[0]} for wrong facts' if second else ''}.{test if known.has_systems else ''}"
    )
