"""What is known of each metric on some texts; one that fails on them is left out with the reason."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.choosing.evidence import item_of, sampled, unreadable, unusable
from nlgauge.choosing.public import Figure, PublicSet, figure_of, nearest, profile_of
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.metric import BaseMetric, MetricLike, described
from nlgauge.core.result import Row
from nlgauge.core.scores import count
from nlgauge.core.segment import Dataset, is_blank
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.registry import named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks

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
