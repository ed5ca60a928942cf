"""How far metrics agreed with people elsewhere: the shipped table of public sets, and those nearest to some texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.registry import named, on_encoder
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import languages, leaning

_NEAREST = 3  # sets
_TABLE = "agreement.tsv"
TOGETHER = 0.58  # correlation of two metrics on resamples of a set, on the mean; recipes/choose/table.py prints it
_BETWEEN = 0.006  # deviation of one metric from family to family of sets; recipes/choose/study.py prints it
_Z = 1.959964  # of the normal distribution, for the ends of a 95 % interval
_DOUBLE = math.log(2)  # a text twice as long is one unit away
_CLOSE = 20.0  # points of chrF between outputs and references that are one unit
_TOLD = 0.5  # share of the texts that must be in a language for it to be theirs


@dataclass(frozen=True)
class PublicSet:
    """A public set with ratings.

    Attributes:
        task: `mt`, `as` or `d2t`.
        language: code of the language of its outputs.
        words: mean number of words of an output.
        chrf: mean chrF of an output against its references; NaN without references.
    """

    name: str
    task: str
    language: str
    words: float
    chrf: float


@dataclass(frozen=True)
class Figure:
    """How often a metric orders two outputs as people do, a share in [0, 1]; a blind choice has 0.5.

    Attributes:
        value: the share; NaN where nothing is known of any metric.
        error: its standard error.
        n: outputs of all sets.
        lacking: whether it is the lowest of the others, since there is none of this metric.
    """

    metric: str
    value: float = math.nan
    error: float = math.nan
    n: int = 0
    lacking: bool = False

    @property
    def ends(self) -> dict[str, float]:
        """The value and its 95 % interval, as rows have them."""
        low, high = max(0.0, self.value - _Z * self.error), min(1.0, self.value + _Z * self.error)
        return {"value": self.value, "low": low, "high": high}

    def is_ahead(self, other: Figure) -> bool:
        """Whether it is higher than another beyond chance; figures of two metrics on one set err together."""
        apart = self.error**2 + other.error**2 - 2 * TOGETHER * self.error * other.error
        return self.value - other.value > _Z * math.sqrt(apart)


@cache
def public_sets() -> dict[PublicSet, dict[str, Figure]]:
    """Every set of the shipped table -> metric -> how often it orders two of its outputs as people do.

    A metric on another encoder than that for English stands under the specification that names it.
    `python recipes/choose/table.py DATA` made the table.
    """
    text = resources.files("nlgauge.data").joinpath(_TABLE).read_text(encoding="utf-8")
    found: dict[PublicSet, dict[str, Figure]] = {}
    for line in text.splitlines()[1:]:
        name, task, language, words, chrf, spec, value, low, high, n = line.split("\t")
        nearness = float(chrf) if chrf else math.nan  # one object, so that the lines of a set have one key
        key = PublicSet(name, task, language, float(words), nearness)
        error = (float(high) - float(low)) / (2 * _Z)
        found.setdefault(key, {})[spec] = Figure(spec, float(value), error, int(n))
    return found


def profile_of(segments: Sequence[Segment], task: str, runtime: Runtime) -> PublicSet:
    """The user's texts as a set: how long they are, in which language, and how near to their references."""
    texts = [s.hypothesis if not is_blank(s.hypothesis) else "".join(s.references[:1]) for s in segments]
    words = float(np.mean([len(text.split()) for text in texts])) if texts else 0.0
    with_references = [s for s in segments if s.references]
    chrf = math.nan
    if with_references:
        chrf = float(np.nanmean(score_segments(named("chrf"), with_references, runtime)["chrf"].values))
    return PublicSet("", task, language_of(texts), words, chrf)


def language_of(texts: Sequence[str]) -> str:
    """The language of half of some texts or more, told by function words and else by n-grams; "" where none is."""
    told: dict[str, float] = {}
    for text in filter(str.strip, texts):
        code = leaning(text)
        for name, share in languages(text).items() if code is None else ((code, 1.0),):
            told[name] = told.get(name, 0.0) + share
    code = max(told, key=lambda name: told[name], default="")
    return code if code and told[code] >= _TOLD * len(texts) else ""


def distance(one: PublicSet, other: PublicSet) -> float:
    """How far two sets are from each other: in length and closeness to references.

    Infinite where tasks or languages differ: how a metric agrees with people in one says nothing of another. So it is
    where one set has references and the other has none: other metrics can score it.
    """
    if (one.task, one.language) != (other.task, other.language) or math.isnan(one.chrf) != math.isnan(other.chrf):
        return math.inf
    apart = abs(math.log((one.words + 1) / (other.words + 1))) / _DOUBLE
    if not math.isnan(one.chrf):
        apart += abs(one.chrf - other.chrf) / _CLOSE
    return apart


def nearest(own: PublicSet, leave_out: Sequence[str] = ()) -> list[PublicSet]:
    """The three sets of the same task and language that are nearest, or fewer, the nearest first; none without such."""
    known = [one for one in public_sets() if one.name not in leave_out and math.isfinite(distance(own, one))]
    return sorted(known, key=lambda one: (distance(own, one), one.name))[:_NEAREST]


def figure_of(spec: str, sets: Sequence[PublicSet], encoder: str | None = None) -> Figure | None:
    """The mean figure of a metric over some sets, those with narrow intervals weighing more; None where one has none.

    The figures are those of the metric on its own encoder, or on that of the run. The error also reckons with other
    texts than those of the sets.
    """
    made = spec
    with suppress(SpecError):  # a metric of the user's has no specification, and no figure
        made = on_encoder(spec, encoder)
    figures = [public_sets()[one].get(made) for one in sets]
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) < len(figures):
        return None
    # what each set counts for all metrics alike: by the inverse of the variance of its figures, on the mean
    each = [np.mean([figure.error**2 for figure in public_sets()[one].values()]) + _BETWEEN**2 for one in sets]
    shares = 1 / np.array(each) / sum(1 / one for one in each)
    error = math.sqrt(shares**2 @ [f.error**2 + _BETWEEN**2 for f in known])
    return Figure(spec, float(shares @ [f.value for f in known]), error, sum(f.n for f in known))
