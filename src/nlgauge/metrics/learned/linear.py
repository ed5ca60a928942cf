"""BEER and BLEND, linear models of named features that have learnt from ratings and stand in a JSON file."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, over_references, signature_of, whole
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, unique
from nlgauge.core.spec import version
from nlgauge.metrics.learned.regressor import from_ratings
from nlgauge.metrics.lexical.sacrebleu import ChrF
from nlgauge.metrics.registry import metric
from nlgauge.metrics.stored import metric_of_file
from nlgauge.metrics.wrapped import Combination
from nlgauge.runtime.runtime import Runtime

FORMAT, VERSION = "nlgauge-linear", 1


@dataclass(frozen=True)
class Term:
    """One feature.

    Attributes:
        name: the name of the feature.
        weight: its weight, in units of the score for one standard deviation.
        mean: its mean in training.
        sd: its standard deviation in training.
    """

    name: str
    weight: float
    mean: float
    sd: float


@dataclass(frozen=True)
class LinearModel:
    """The intercept plus the weighted sum of standardised features.

    Attributes:
        kind: the metric that it is for: `blend` or `beer`.
        terms: the features.
        intercept: the score where every feature has its mean.
        about: what else the file says: criterion, data, number of ratings, ...
        digest: the identity of the file; empty for a model that was not read from one.
    """

    kind: str
    terms: tuple[Term, ...]
    intercept: float
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    digest: str = ""

    @property
    def slopes(self) -> Array:
        """The change of the score for one unit of each feature, shape (k,)."""
        return np.array([term.weight / term.sd for term in self.terms])

    @property
    def origin(self) -> float:
        """The score where every feature is 0."""
        return self.intercept - sum(term.weight / term.sd * term.mean for term in self.terms)

    @property
    def note(self) -> str:
        """That the weights have learnt from people's ratings, and from which."""
        return from_ratings(self.about.get("data") or f"rated for {self.about.get('criterion')}")

    def text(self) -> str:
        """The content of a file."""
        rows = [asdict(term) for term in self.terms]
        content = {"format": FORMAT, "version": VERSION, "kind": self.kind, "intercept": self.intercept}
        return json.dumps({**content, "terms": rows, **self.about}, indent=1, ensure_ascii=False) + "\n"

    def facts(self) -> dict[str, str]:
        """The facts that identify the model, for a signature. Where the file lies changes no number."""
        return {"model": "file", "weights": self.digest, "trained": "human ratings"}


def read_linear(path: str, kind: str) -> LinearModel:
    """Read a model that `nlgauge train blend` or `train beer` wrote.

    Raises:
        InputError: there is no such file, it is damaged, or it is for another metric.
    """
    place = Path(os.path.expanduser(path))
    try:
        content = place.read_bytes()
    except OSError as error:
        raise InputError(f"{kind}: cannot read {path}: {error.strerror}; 'nlgauge train {kind}' writes one") from None
    try:
        found = json.loads(content, object_pairs_hook=unique)
        head = (found.pop("format"), found.pop("version"), found.pop("kind"))
        terms = tuple(Term(**row) for row in found.pop("terms"))
        intercept = _float(found.pop("intercept"))
        terms = tuple(replace(t, weight=_float(t.weight), mean=_float(t.mean), sd=_float(t.sd)) for t in terms)
        numbers = [intercept, *(n for term in terms for n in (term.weight, term.mean, term.sd))]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(f"{kind}: {path} is no model, expected JSON as 'nlgauge train {kind}' writes it") from None
    if head != (FORMAT, VERSION, kind):
        shown = f"{_shown(head, ' '):.100}"
        raise InputError(f"{kind}: {path} is {shown}, expected {FORMAT} {VERSION} {kind}; name another file")
    names = [term.name for term in terms]
    if not terms or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"{kind}: {path}: expected terms of different names, got {_shown(names, ', ') or 'none':.200}")
    if not all(map(math.isfinite, numbers)) or min(term.sd for term in terms) <= 0:
        raise InputError(f"{kind}: {path}: expected finite numbers, and each sd above 0; train the model again")
    return LinearModel(kind, terms, intercept, found, f"sha256:{sha256(content).hexdigest()[:16]}")


def _shown(values: Iterable[object], between: str) -> str:
    """Values of a file in one line."""
    return " ".join(between.join(map(str, values)).split())


def _float(value: object) -> float:
    """A number of a file; texts and booleans are none, though Python makes numbers of them."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)


# --- BEER: a linear ranker over the precision, recall and F of character and word n-grams

CHAR_ORDER, WORD_ORDER = 6, 4
FEATURES = tuple(
    f"{unit}{n}.{name}"
    for unit, order in (("char", CHAR_ORDER), ("word", WORD_ORDER))
    for n in range(1, order + 1)
    for name in ("precision", "recall", "f1")
)


@dataclass(frozen=True, kw_only=True)
class Beer(Checked, BaseMetric):
    """How well a hypothesis ranks by its n-grams, with weights that were learnt from pairs of rated hypotheses.

    The features are precision, recall and F1 of the character n-grams of orders 1 to 6, without blanks, and of the word
    n-grams of orders 1 to 4: 30 numbers from 0 to 1, with the counts of `chrf`. An order for which both texts are too
    short takes the values of the order below, so a copy has 1 everywhere, however short it is.

    Only the order of scores has a meaning: they are no ratings. A blank side gets 0, the lowest value, and a copy need
    not be best, since weights may be negative. Do not quote the agreement with ratings of the texts or systems that it
    learnt from.

    Args:
        model: a file that `nlgauge train beer ratings.jsonl -c CRITERION -o beer.json` wrote.
        references: of several references the `best` or the `mean` of the scores.

    References:
        Stanojević and Sima'an (2014), "Fitting Sentence Level Translation Evaluation with Many Dense Features": the
        n-gram features and the training on pairs. Its features of function words and of permutation trees are left
        out.
    """

    model: str
    references: Literal["best", "mean"] = "best"
    info: ClassVar = MetricInfo(
        "beer",
        copy_is_best=False,
        summary="ranker on n-grams, learned from your ratings; a copy need not be best: weights may be negative",
        tasks={"mt"},
        paper="Stanojević and Sima'an (2014), \"Fitting Sentence Level Translation Evaluation with Many Dense"
        ' Features"',
    )
    without: ClassVar = {"model": "; 'nlgauge train beer' makes one"}
    learnt: LinearModel = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        learnt = read_linear(self.model, "beer")
        names = tuple(term.name for term in learnt.terms)
        if names != FEATURES or not learnt.slopes.any():
            raise InputError(
                f"beer: {self.model}: expected a weight for each of {FEATURES[0]} to {FEATURES[-1]}, not all of them 0;"
                " train the model again"
            )
        object.__setattr__(self, "learnt", learnt)

    @property
    def notes(self) -> tuple[str, ...]:
        """That the weights have learnt from people's ratings."""
        return (self.learnt.note,)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The identity of the weights, and sacrebleu's version, whose n-grams they weigh."""
        return {**self.learnt.facts(), "sacrebleu": version("sacrebleu")}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1: the weighted sum, from its lowest possible value to its highest.

        A blank side scores 0 and raises the flag `empty`.
        """
        check_needs(self, segments)
        slopes = self.learnt.slopes
        low, high = slopes[slopes < 0].sum(), slopes[slopes > 0].sum()

        def single(segments: Sequence[Segment]) -> Scores:
            features, empty = ngram_features(segments, runtime)
            # One row at a time: in a matrix product the last bits would depend on the number of rows.
            totals = np.array([float((row * slopes).sum()) for row in features])
            values = np.where(empty, 0.0, np.clip((totals - low) / (high - low), 0.0, 1.0))
            return Scores(signature_of(self, runtime), ids(segments), values, flags={"empty": empty})

        return over_references(segments, self.references, single)


def ngram_features(segments: Sequence[Segment], runtime: Runtime) -> tuple[Array, Mask]:
    """The features of n segments against their first reference, in [0, 1], and which of them are empty.

    An order that neither text is long enough for takes the values of the order below, so that short texts are no
    worse than long ones.

    Returns:
        Features in the order of `FEATURES`, shape (n, k); and whether a side is blank, shape (n,).
    """
    single = [s if len(s.references) == 1 else Segment(s.id, s.hypothesis, s.references[:1]) for s in segments]
    found = ChrF(char_order=CHAR_ORDER, word_order=WORD_ORDER).score(single, runtime)
    assert found.stats is not None
    counts = found.stats.reshape(len(segments), CHAR_ORDER + WORD_ORDER, 3)
    features = np.zeros(counts.shape)
    for order in range(counts.shape[1]):
        produced, wanted, matched = counts[:, order].T
        precision = np.divide(matched, produced, out=np.zeros(len(counts)), where=produced > 0)
        recall = np.divide(matched, wanted, out=np.zeros(len(counts)), where=wanted > 0)
        total = produced + wanted
        f1 = np.divide(2 * matched, total, out=np.zeros(len(counts)), where=total > 0)
        here = np.stack([precision, recall, f1], axis=1)
        below = features[:, order - 1] if order not in (0, CHAR_ORDER) else here
        features[:, order] = np.where((total > 0)[:, None], here, below)
    return features.reshape(len(segments), len(FEATURES)), found.flags["empty"]


# --- BLEND: the rating that a linear model of the scores of other metrics predicts

_INFO = MetricInfo(
    "blend",
    range=(-math.inf, math.inf),
    copy_is_best=False,
    summary="a blend of metrics, learned from your ratings; a copy need not be best: weights may be negative",
    tasks={"mt"},
    paper='Ma et al. (2017), "Blend: a Novel Combined MT Metric Based on Direct Assessment"',
)

_LARGEST = sys.float_info.max
_DEEPEST = 10  # files of blends that name each other
_OPEN: ContextVar[tuple[str, ...]] = ContextVar("files of blends that are being read", default=())


@contextmanager
def _opened(path: str) -> Iterator[None]:
    """Refuse a file that names itself, directly or through others, and a chain of files without an end."""
    file = os.path.realpath(path)
    if file in _OPEN.get():
        raise SpecError("it names itself as one of its metrics")
    if len(_OPEN.get()) == _DEEPEST:
        raise SpecError(f"more than {_DEEPEST} files of blends name one another")
    token = _OPEN.set((*_OPEN.get(), file))
    try:
        yield
    finally:
        _OPEN.reset(token)


@dataclass(frozen=True, kw_only=True)
class Blend(Checked, BaseMetric):
    """A weighted sum of standardised scores, fitted to ratings by ridge regression.

    A score is the intercept plus each weight times the metric's distance from its mean in training, in its standard
    deviations there; error rates enter with their sign changed. The file is JSON and holds all of these numbers, and
    the specification of each metric. A sum whose weights you choose is written `0.3*nli + 0.7*bertscore`.

    It needs what its metrics need, and runs with their models. A segment with the flag `empty` gets the lowest rating
    of training; one for which a metric is undefined is undefined. Do not quote the agreement with ratings of the texts
    or systems that it learnt from.

    Args:
        model: a file that `nlgauge train blend ratings.jsonl -m SPEC -m SPEC -c CRITERION -o blend.json` wrote. It
            names the metrics, of which only those that run on what ships are taken; a file that names another is
            refused.
        trust: take any metric that the file names, also one that runs a program or reads a model of its own. Say so
            only of a file that you made.

    References:
        Ma et al. (2017), "Blend: a Novel Combined MT Metric Based on Direct Assessment". They fit a support vector
        machine with a radial kernel to 57 metrics; ours is linear, over metrics of the user's choice.
    """

    model: str
    trust: bool = False
    info: ClassVar[MetricInfo] = _INFO
    without: ClassVar = {"model": "; 'nlgauge train blend' makes one"}
    learnt: LinearModel = field(init=False, compare=False, repr=False)
    total: Combination = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        learnt = read_linear(self.model, "blend")
        try:
            weights = learnt.slopes.tolist()
            specs = [term.name for term in learnt.terms]
            with _opened(self.model):
                build = metric if self.trust else metric_of_file
                total = Combination(
                    tuple((w, whole(build(spec))) for w, spec in zip(weights, specs, strict=True)), "none"
                )
        except NlgaugeError as error:
            way_out = "" if self.trust else "; of a file that you made yourself, trust=true takes them all"
            raise InputError(f"blend: {self.model}: {error}{way_out}") from None
        low = learnt.about.get("low")
        if not isinstance(low, int | float) or isinstance(low, bool) or not -_LARGEST <= low <= _LARGEST:
            raise InputError(f"blend: {self.model}: low is {low!r:.40}, expected the lowest rating of training")
        for name, value in {"learnt": learnt, "total": total}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "info", replace(_INFO, needs=total.info.needs, parts=total.info.parts))

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The sum of the terms."""
        return (self.total,)

    @property
    def notes(self) -> tuple[str, ...]:
        """That the weights have learnt from people's ratings; and the notes of the terms."""
        return (self.learnt.note, *self.total.notes)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The identity of the weights, and the signatures of the terms."""
        return {**self.total.facts(runtime), **self.learnt.facts()}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values on the scale of the ratings, without bounds; the parts are the values of the terms.

        A flag is set where any term sets it. A segment with the flag `empty` gets the lowest rating of training.
        """
        found = self.total.score(segments, runtime)
        values = self.learnt.origin + found.values
        if "empty" in found.flags:
            values = np.where(found.flags["empty"], float(self.learnt.about["low"]), values)
        return replace(found, signature=signature_of(self, runtime), values=values)
