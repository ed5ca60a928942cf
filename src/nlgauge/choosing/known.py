"""What is known of some texts and of the metrics that may score them: which are tried, and what rules one out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.audits.suites import task_in
from nlgauge.choosing.public import Figure, PublicSet, figure_of, nearest, profile_of
from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.inputs import SameInputs
from nlgauge.core.metric import BaseMetric, MetricLike, check_needs, described
from nlgauge.core.result import Row
from nlgauge.core.scores import UNDEFINED, Scores, count
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.languages import UnreadScripts
from nlgauge.metrics.registry import metric, named
from nlgauge.metrics.run import score_segments
from nlgauge.models import repository
from nlgauge.perturbations.checklist import task_of
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.stats.draws import generator
from nlgauge.text.scripts import leaning

_RECALL, _COMMON = "bertscore:value=recall", ("bleu", "chrf", "meteor", "bertscore", "cosine", "gauge")
TRIED: Mapping[str, tuple[str, ...]] = {
    "mt": (*_COMMON, "ter", "nli-robust", "rated", "gauge-rated", "sescore"),
    "as": (
        *("rouge1", "rouge2", "rougeL", "chrf", "meteor", "bertscore", _RECALL, "cosine"),
        *("gauge:task=as", "faithful", "supert"),
    ),
    "d2t": (
        *_COMMON,
        *("rougeL", "nli-robust", "rated", "rated:references=best", "gauge-rated", "sescore", "parent"),
    ),
    "ic": (*_COMMON, "rougeL", "cider", "nli-robust"),
    "qg": (*_COMMON, "rougeL", "nli-robust", "qrouge"),
    "dg": (*_COMMON, "rougeL", "nli-robust"),
}
# What to keep where people tell no metric from it: the best single choice on the public sets of each task, and where
# there is no set, the metric of most use that reads words by their meaning.
DEFAULTS: Mapping[str, str] = dict.fromkeys(TRIED, "bertscore") | {"mt": "rated", "d2t": "rated", "as": _RECALL}
DEFAULT_ELSEWHERE = "chrf"  # in a language of which there is no public set: it reads any
UNREFERENCED = ("faithful", "supert")  # where there are no references


@dataclass(frozen=True)
class Published:
    """A metric whose model is on the hub, and what was published of it.

    Attributes:
        metric: its specification.
        megabytes: about what is fetched.
        evidence: how far it agrees with people, with the source.
        english: whether it reads English alone.
    """

    metric: str
    megabytes: int
    evidence: str
    english: bool = False

    @property
    def model(self) -> str:
        """The repository of its model."""
        return str(getattr(metric(self.metric), "model", ""))


# The best that is published for each task, the best first, and then what reads no references; for text from data,
# questions and dialogue none is known. The guide on choosing has the sources, and the command of what can be run.
BEST: Mapping[str, tuple[Published, ...]] = {
    "mt": (
        Published("comet", 2300, "tau-b by item on WMT23 he-en .309, bertscore .271"),
        Published("metricx", 4900, "MetricX-23, a larger model, .302 there"),
    ),
    "as": (
        Published("paper/bertscore:value=recall", 1400, "for coverage", True),
        Published("minicheck:claims=sentences", 3100, "for facts: balanced accuracy .75 on LLM-AggreFact", True),
    ),
    "ic": (
        Published("paper/bertscore:value=recall,idf=true", 1400, "by systems on COCO 2015 .917, METEOR .606", True),
    ),
}
BEST_UNREFERENCED: Mapping[str, tuple[Published, ...]] = {
    "mt": (
        Published("metricx-qe", 4900, "tau-b by item on WMT23 he-en .251 for MetricX-23, a larger model"),
        Published("comet-qe", 2300, "CometKiwi, a later model, .238 there"),
    ),
}
_LOOKED_AT = 20


def tried(task: str, segments: Sequence[Segment]) -> list[str]:
    """The metrics of the list of a task that these segments have the fields for.

    A metric that compares an output with its source is left out where sources are in another language, or where the
    task is translation. For translations without references there are those whose models are at hand.
    """
    has_references = any(s.references for s in segments)
    if task == "mt" and not has_references:
        return at_hand(task, segments)
    names = TRIED[task] if has_references else UNREFERENCED
    reads_source = task != "mt" and _one_language(segments)
    return [name for name in _fitting(names, segments) if reads_source or "source" not in metric(name).info.needs]


def at_hand(task: str, segments: Sequence[Segment]) -> list[str]:
    """The best published metrics of a task that fit the segments, and whose model is in the hub's cache."""
    return [one.metric for one in published(task, segments) if is_here(one)]


def published(task: str, segments: Sequence[Segment]) -> list[Published]:
    """The best published metrics of a task that the segments have the fields for."""
    for table in (BEST, BEST_UNREFERENCED):
        known = {one.metric: one for one in table.get(task, ())}
        if names := _fitting([*known], segments):
            return [known[name] for name in names]
    return []


def is_here(one: Published) -> bool:
    """Whether the model of a metric is in the hub's cache."""
    return not {held.name for held in repository.held()}.isdisjoint(repository.names(one.model))


def _fitting(names: Sequence[str], segments: Sequence[Segment]) -> list[str]:
    return [name for name in names if all(any(getattr(s, n) for s in segments) for n in metric(name).info.needs)]


def _one_language(segments: Sequence[Segment]) -> bool:
    """Whether sources are not told to be in another language than outputs."""
    looked = [s for s in segments if s.source][:_LOOKED_AT]
    other = 0
    for s in looked:
        one, two = leaning(s.hypothesis), leaning(s.source or "")
        other += one is not None and two is not None and one != two
    return bool(looked) and 2 * other < len(looked)


# --- Which outputs are looked at, and what are they?

MOST_OUTPUTS, MOST_WORDS = 480, 120_000  # of long texts fewer, counted with references and sources
_FALLBACK = "mt"
_PAIR = re.compile("[A-Za-z]{2,3}-[A-Za-z]{2,3}")  # the name of a language pair, as `cs-en`


def sampled(
    segments: Sequence[Segment], limit: int = MOST_OUTPUTS, words: int = MOST_WORDS, seed: int = 0
) -> list[Segment]:
    """Whole items drawn at random, as many as make about `limit` outputs and `words`; one at least.

    Raises:
        InputError: outputs for one item were written for different inputs.
    """
    SameInputs().check(segments)
    items: dict[tuple[str | None, str], list[Segment]] = {}
    for s in segments:
        items.setdefault(item_of(s), []).append(s)
    kept: set[tuple[str | None, str]] = set()
    keys = [*items]
    for i in generator(seed).permutation(len(keys)).tolist():
        limit -= len(items[keys[i]])
        words -= sum(len(f"{s.hypothesis} {' '.join(s.references)} {s.source or ''}".split()) for s in items[keys[i]])
        if kept and (limit < 0 or words < 0):
            break
        kept.add(keys[i])
    return [s for s in segments if item_of(s) in kept]


def item_of(segment: Segment) -> tuple[str | None, str]:
    """The key of the item of a segment."""
    return segment.group, segment.item or segment.id


def settled_task(dataset: Dataset, task: str | None) -> tuple[str, list[str]]:
    """The task as given, as the data say, or translation, and a note if it is a guess."""
    if task is not None:
        return task_of(task), []
    try:
        return task_in(dataset), []
    except SpecError:
        groups = [group for group in dataset.groups if group]
    if groups and all(map(_PAIR.fullmatch, groups)):
        return _FALLBACK, []
    of = f"{groups[0]!r} is no task that is known" if groups else "the data name no task"
    return _FALLBACK, [f"{of}: the texts are taken for translations (--task mt|as|qg|dg|ic|d2t)"]


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
    out = {spec: "it describes outputs, and judges none" for spec, m in metrics.items() if not m.info.judges}
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


# --- All of this together, and what trying and the user's ratings add to it

_STATS = {"item": "kendall_b", "segment": "pearson"}  # with the user's ratings: each level's usual one
_FEW, _FEW_WORDS = 24, 6_000  # outputs that a recommended metric is tried on


@dataclass
class Known:
    """What is known of some texts, and of the metrics that may score them.

    Attributes:
        sample, whole: the outputs that are looked at, and all outputs.
        asked: the metrics to choose from.
        criterion: of the user's ratings; None without any.
        runtime: device, precision and cache, with the encoder of metrics that name no model.
        language: of the outputs, its code; "" where it is not told.
        sets: the public sets nearest to the texts.
        figures: metric -> how far it agrees with people there.
        out: metric -> why it is ruled out.
        told: metric -> what must be said of it.
        rated: metric -> its row of `meta`, with the user's ratings.
        ahead: metric -> adjusted p that it agrees better with the user's ratings than what is taken without them.
        about: the metrics that were scored, as a result file lists them.
        notes: what a reader must know.
    """

    sample: Dataset
    whole: Dataset
    task: str
    asked: Sequence[MetricLike]
    criterion: str | None
    runtime: Runtime
    seed: int
    metrics: Mapping[str, BaseMetric] = field(init=False)
    language: str = field(init=False)
    sets: Sequence[PublicSet] = field(init=False)
    figures: dict[str, Figure] = field(init=False)
    out: dict[str, str] = field(init=False)
    told: dict[str, str] = field(init=False)
    rated: dict[str, Row] = field(default_factory=dict)
    ahead: dict[str, float] = field(default_factory=dict)
    about: list[Mapping[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Look at the texts and at public sets; nothing is scored yet but by chrF."""
        segments, encoder = self.sample.segments, self.runtime.encoder
        self.metrics = named(self.asked, encoder)
        self.out, self.told = unreadable(self.metrics, segments)
        profile = profile_of(segments, self.task, self.runtime)
        self.language, self.sets = profile.language, nearest(profile)
        figures = (figure_of(spec, self.sets, encoder) for spec in self.metrics)
        self.figures = {one.metric: one for one in figures if one is not None}
        self.notes += Looks(language="off").seen({}, segments, is_paired=True).notes()

    @property
    def left(self) -> list[str]:
        """The metrics that are not ruled out."""
        return [spec for spec in self.metrics if spec not in self.out]

    @property
    def n_items(self) -> int:
        """The number of items in all of the data."""
        return len({item_of(s) for s in self.whole})

    @property
    def has_systems(self) -> bool:
        """Whether systems can be compared: there are several, and several items."""
        return len(self.whole.systems) > 1 < self.n_items

    @property
    def has_references(self) -> bool:
        """Whether some output has a reference."""
        return any(s.references for s in self.sample)

    @property
    def has_outputs(self) -> bool:
        """Whether some output says something that no reference says."""
        return any(not is_blank(s.hypothesis) and s.hypothesis not in s.references for s in self.sample)


def try_out(known: Known, specs: Sequence[str]) -> None:
    """Score a few outputs with some metrics; one that fails, or whose scores are of no use, is ruled out."""
    few = sampled(known.sample.segments, _FEW, _FEW_WORDS, known.seed)
    for spec in specs:
        try:
            scores = score_segments({spec: known.metrics[spec]}, few, known.runtime)[spec]
        except Exception as error:
            kind = "" if isinstance(error, NlgaugeError) else f"{type(error).__name__}: "
            known.out[spec] = f"it failed: {kind}{' '.join(str(error).split())[:400]}"
            continue
        built = known.metrics[spec]
        known.about.append(described(spec, built, scores.signature, count(scores.flags, scores.values)))
        known.notes += [f"{spec}: {note}" for note in built.notes]
        out, told = unusable(scores, few) if known.has_outputs else ("", "")
        known.out |= {spec: out} if out else {}
        known.told |= {spec: "; ".join(filter(None, (known.told.get(spec, ""), told)))} if told else {}


def ask_people(known: Known, baseline: str) -> None:
    """What `meta` says of the user's ratings: how far each metric agrees with them, and which are ahead of one.

    Where it refuses them, as where all are the same, a note says why.
    """
    items = {item_of(s) for s in known.sample}
    level = "item" if len(known.sample) >= 1.5 * len(items) else "segment"
    asked = [one for one, spec in zip(known.asked, known.metrics, strict=True) if spec not in known.out]
    how: dict[str, Any] = {"missing": "worst", "language": "off", "runtime": known.runtime, "seed": known.seed}
    how |= {"baseline": baseline} if len(asked) > 1 else {}
    try:
        found = meta_evaluate(known.sample, asked, known.criterion, level, _STATS[level], **how)
    except NlgaugeError as error:
        known.notes.append(f"ratings of {known.criterion} decide nothing: {error}")
        return
    rows = [row for row in found.rows if row["group"] == MEAN and not math.isnan(row["value"])]
    known.rated = {row["metric"]: row for row in rows if row.get("against") is None}
    known.ahead = {row["metric"]: row["p_adjusted"] for row in rows if row.get("against") is not None}
