"""Which metric to take for these texts, and why: the public `choose`, its rule, and the reasons in sentences."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nlgauge.choosing.known import (
    DEFAULT_ELSEWHERE,
    DEFAULTS,
    MOST_OUTPUTS,
    Known,
    ask_people,
    is_here,
    published,
    sampled,
    settled_task,
    tried,
    try_out,
)
from nlgauge.choosing.public import Figure, public_sets
from nlgauge.core.errors import InputError
from nlgauge.core.metric import MetricLike
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.spec import version
from nlgauge.core.tables import base_of
from nlgauge.io.frames import dataset_of
from nlgauge.metaeval.joined import chosen_criteria, criteria_of
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.registry import on_encoder, takes_metrics
from nlgauge.report.tables import listed
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import by_texts
from nlgauge.text.scripts import ENGLISH, names


@dataclass(frozen=True, repr=False)
class Choice(Outcome):
    """A recommendation with its evidence.

    Attributes:
        metrics: the recommended metrics, one or two specifications as typed.
        sentences: the reasons, one after the other.
        rows: flat objects: the evidence by metric and criterion, the standing of each metric, and what is said.
        command: the command that scores with these metrics.
        methods: a paragraph for a paper.
        notes: what a reader must know.
        about: the metrics that were scored, as a result file lists them.
        seed: of everything that was drawn.
    """

    metrics: tuple[str, ...]
    sentences: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    command: str
    methods: str
    notes: tuple[str, ...]
    about: Sequence[Mapping[str, Any]]
    seed: int = 0

    def __repr__(self) -> str:
        return f"Choice({' and '.join(self.metrics)}: {len(self.rows)} rows)"

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `choose`."""
        settings = {"confidence": 0.95, "seed": self.seed}
        return Result("choose", self.rows, inputs, self.about, self.notes, settings)


@warning
@takes_metrics
def choose(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    task: str | None = None,
    criterion: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    data: str | Sequence[str] = "DATA",
    judgements: str | None = None,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Choice:
    """Recommend one or two metrics for these texts, with the reasons.

    Public sets with ratings decide: the three nearest to the texts, of the same task and language, with figures of the
    same encoder. A default is kept unless they tell another from it; `nlgauge choose` says which.

    Where outputs are rated, all metrics are compared with the ratings as `meta_evaluate` does, and one is taken in its
    place if it agrees better with them. Else only the recommended metrics are scored, on a few outputs.

    Left out, with the reason, is a metric that lacks what it needs, judges nothing (such as a length), or of more than
    half of the outputs cannot read the language.

    Args:
        dataset: outputs with references, sources or both; also as a frame.
        metrics: the metrics to choose from. If None, a short list by task, of those that run without a download.
        task: `mt`, `as`, `qg`, `dg`, `ic` or `d2t`. If None, as the data say.
        criterion: of the user's ratings; `mean` for the mean of all. If None, the only one, or the mean of all.
        seed: determines the sample and everything else that is drawn.
        limit: look at about this many outputs; None for 480, or fewer that are long.
        data: the name of the data in the commands that are recommended, or several.
        judgements: the name of the table of ratings in them, if it is another one.
        columns: which column of a frame holds which field, as in `nlgauge.read`.
        runtime: device, precision and cache.

    Raises:
        InputError: there are no outputs, or no metric can score them.
        SpecError: a metric or the task is unknown.
    """
    dataset = dataset if isinstance(dataset, Dataset) and columns is None else dataset_of(dataset, columns)
    name = dataset.name or "the data"
    if not len(dataset):
        raise InputError(f"{name}: no outputs to choose a metric for, expected at least one")
    named = criteria_of(dataset) if criterion is None else chosen_criteria(dataset, criterion)
    rated = None if not named else named[0] if len(named) == 1 else MEAN
    column = None if rated is None else base_of(dataset.segments, rated) or rated
    segments = [s for s in dataset if column is None or (s.human if column == MEAN else column in s.human)]
    sample = Dataset(tuple(sampled(segments, limit or MOST_OUTPUTS, seed=seed)), dataset.name, dataset.notes)
    notes = [f"{len(sample)} of {len(dataset)} outputs are looked at"] if len(sample) < len(dataset) else []
    task, guessed = settled_task(sample, task)
    names = tried(task, sample.segments) if metrics is None else metrics
    if not names:
        way = "fetch Unbabel/wmt20-comet-qe-da, then -m comet-qe" if task == "mt" else "as in -m fluency"
        none = f"{name}: outputs without references, and no metric here that reads the rest"
        raise InputError(f"{none}, as texts of the task {task!r}; name another with --task, or a metric: {way}")
    runtime, encoder = by_texts(runtime or Runtime(), names, [sample.segments])
    asked = [names] if isinstance(names, str) or not isinstance(names, Sequence) else [*names]
    known = Known(sample, dataset, task, asked, rated, runtime, seed)
    if rated is not None:
        try_out(known, known.left)
    decision = decided(known)
    while not {one["spec"] for one in known.about} >= {*decision.chosen}:
        try_out(known, decision.chosen)  # one that is of no use is ruled out, and the choice made again
        decision = decided(known)
    if rated is not None:
        ask_people(known, decision.chosen[0])
        decision = decided(known)
    say(*(f"{spec}: {why}" for spec, why in known.out.items() if why.startswith("it failed")))
    named_data = [data] if isinstance(data, str) else data
    texts = reasons_of(known, decision, named_data, judgements)
    command, methods = command_of(known, decision, named_data), methods_of(known, decision)
    said = [*(("reason", text) for text in texts), ("command", command), ("methods", methods)]
    rows = [{"said": kind, "text": text} for kind, text in said] + rows_of(known, decision)
    told = tuple(dict.fromkeys([*dataset.notes, *notes, *guessed, *encoder, *known.notes]))
    return Choice(decision.chosen, texts, rows, command, methods, told, known.about, seed)


# --- The rule

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
    best, taken = [*_best(known)], _taken(known, decision)
    others = (
        *_agreement(known, decision),
        *_texts(known, decision),
        *_others(known, decision),
        *_next(known, decision, data, judgements),
    )
    if best and [*known.asked] == tried(known.task, known.sample.segments):  # nobody named metrics
        return (*best, f"Without a network {taken[0].lower()}{taken[1:]}", *others)
    return (taken, *others, *best)


def _best(known: Known) -> Iterator[str]:
    """What is published as best for such texts, with a model of the hub, and how to get it."""
    fitting = published(known.task, known.sample.segments)
    best = [one for one in fitting if known.language == ENGLISH or not one.english]
    if not best or {one.metric for one in best} & {*known.metrics}:
        return
    told = listed([f"{one.metric} ({one.evidence})" for one in best])
    here = [one.metric for one in best if is_here(one)]
    models = {one.model: one.megabytes for one in best if one.metric not in here}
    way = [f"{listed(here)} {'is' if len(here) == 1 else 'are'} in the cache: name it with -m"] if here else []
    if models:
        what = "the rest" if here else "what it takes"
        way.append(f"nlgauge fetch {' '.join(models)} brings {what} ({sum(models.values()) / 1000:.1f} GB)")
    yield f"The best that is published for {_TASK[known.task]}, by models of the hub, is {told}; {'; '.join(way)}."


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
    how = f"; no public figure tells of {listed(lacking)}" if lacking else ", beyond chance"
    how = "; no metric stands out" if decision.level else how
    return f"Take {first}{beside}: {of} it stands highest{how}{rated}."


def _default(known: Known) -> str:
    return f"the default for {_TASK[known.task] if known.language == ENGLISH else _language(known)}"


def _language(known: Known) -> str:
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
        level = listed([*decision.level[:_NAMED], *more])
        yield f"{first} cannot be told apart from {level}: chance may put any of them first."


def _publicly(known: Known, first: str) -> str:
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
        yield f"{listed(specs)} {'is' if len(specs) == 1 else 'are'} left out: {why}."
    for spec in decision.chosen:
        if spec in known.told:
            yield f"Of {spec} mind: {known.told[spec]}."


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
        yield f"What {listed(decision.chosen)} cannot see in texts like yours: {shlex.join(words)}"


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
    chosen = listed([f"{spec} (signature {signatures[spec]})" for spec in decision.chosen])
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
