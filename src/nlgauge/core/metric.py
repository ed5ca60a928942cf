"""The members of a metric beside `info` and `score`, with what holds where it has none, and how it is signed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from nlgauge.core.spec import Signature, quote, version

if TYPE_CHECKING:
    from nlgauge.core.scores import MetricInfo, Scores
    from nlgauge.core.segment import Segment


Layers = Mapping[Hashable, Sequence[int]]  # source of vectors (see `models.vectors.source_of`) -> layers


@dataclass(frozen=True)
class Documents:
    """Texts of which frequencies are taken.

    Attributes:
        kind: what they are.
        of: what tells texts apart -> the texts, of which each counts once for that; None if each counts by itself.
        texts: the texts.
    """

    kind: str
    of: dict[Hashable, tuple[str, ...]] | None
    texts: list[str]

    def keys(self) -> list[bytes]:
        """Of each text 16 bytes by which it is known in another part of the pool; none if it is like no other."""
        if self.of is None:
            return [b""] * len(self.texts)
        named = (repr((key, place)) for key, texts in self.of.items() for place in range(len(texts)))
        return [blake2b(name.encode(), digest_size=16).digest() for name in named]


class BaseMetric:
    """The base class of metrics: everything that a metric may say of itself, as it is where a metric says nothing.

    A runtime is a `nlgauge.Runtime`, a writing a `nlgauge.text.Writing`; this room knows neither.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def info(self) -> MetricInfo:
            """Facts that hold for any options of the metric."""
            ...

        def score(self, segments: Sequence[Segment], runtime: Any) -> Scores:
            """One value per segment, in the order of the segments."""
            ...

    @property
    def spec(self) -> str | None:
        """The specification that rebuilds the metric; None if it is the name with the options that were changed."""
        return None

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return False

    @property
    def rounds(self) -> int | None:
        """Of a pooled metric, the number of passes over all segments that must precede scoring.

        Such a metric takes what depends on the pool from `runtime.pool`, where there is one. None: it cannot be scored
        in parts.
        """
        return None

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that its model saw in training; an audit marks them."""
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader of its numbers."""
        return ()

    @property
    def lacking(self) -> Mapping[str, str]:
        """Need -> the end of the error about a segment without it: what to do instead."""
        return {}

    @property
    def limit(self) -> int | None:
        """The largest number of tokens that its model reads of a text; None if there is no limit, or no model."""
        return None

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The metrics that it scores with."""
        return ()

    def facts(self, runtime: Any) -> Mapping[str, Any]:
        """The values that the options resolve to, for the signature, found without loading a model."""
        return {}

    def documents(self, segments: Sequence[Segment]) -> Sequence[Documents]:
        """Of a pooled metric, the texts that frequencies are taken from, for the signature."""
        return ()

    def vectors_of(self, runtime: Any) -> Layers:
        """The encoders it reads and the layers of each, so that metrics of one call share them."""
        return {}

    def scorer(self, pool: Sequence[Segment], runtime: Any) -> Callable[[Sequence[Segment]], Scores]:
        """Of a pooled metric, a function that scores parts of the pool one by one; see `scores_parts`."""
        raise NotImplementedError

    def counted(self, scores: Scores) -> Scores:
        """Of a cached metric whose corpus number is not the mean, the scores with the statistics for that number.

        They are made from values and parts, which is what the cache keeps.
        """
        return scores

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Raise an `InputError` for segments that it cannot score, before any metric of the call scores."""

    def unread(self, writing: Any) -> str | None:
        """Why it cannot read a text written like this, and what to do instead; None if it can, or does not say."""
        return None

    def peer_signature(self, references: Collection[int]) -> str | None:
        """The signature that the package it equals prints, for reports that expect it; None if there is none.

        Args:
            references: the numbers of references that segments have.
        """
        return None

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """Why its number for these segments of one system says little, whatever they say; None if it does not."""
        return None

    def pieces(self, texts: Sequence[str], runtime: Any) -> int | None:
        """How many pieces its encoder reads of some texts; None without an encoder."""
        return None


class _Foreign:
    """A metric of a class that does not inherit from `BaseMetric`: what it does not say, that one says."""

    __slots__ = ("metric",)
    _usual = BaseMetric()

    def __init__(self, metric: object) -> None:
        self.metric = metric

    def __getattr__(self, name: str) -> Any:
        return getattr(self.metric if hasattr(self.metric, name) else self._usual, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Foreign) and self.metric == other.metric

    def __hash__(self) -> int:
        return hash(self.metric)

    def __repr__(self) -> str:
        return repr(self.metric)


def whole(metric: Any) -> BaseMetric:
    """The metric with the answers of `BaseMetric` for what it does not say.

    A metric of nlgauge is returned as it is. Others need not inherit from `BaseMetric`: one that has `info` and `score`
    alone, or any of the other members beside them, is asked for what it has. Such a metric is wrapped where it comes
    in, by `named`; what is behind that need not ask.
    """
    return cast(BaseMetric, metric if isinstance(metric, BaseMetric | _Foreign) else _Foreign(metric))


def scores_parts(metric: BaseMetric) -> bool:
    """Whether a pooled metric has a `scorer`."""
    own = metric.scorer
    return not (isinstance(own, MethodType) and own.__func__ is BaseMetric.scorer)


# --- How a metric is signed: its options, and what they resolve to


def signature(metric: Any, facts: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a metric: its options, then facts such as a layer chosen by rule or a digest of weights.

    A fact replaces the option of the same name. An entry that is None, such as an option that is not used, is left out.
    """
    known: dict[str, Any] = {field.name: getattr(metric, field.name) for field in options_of(metric)}
    if whole(metric).pooled:
        known["pool"] = "call"
    known.update(facts or {})
    entries = [(key, show(value)) for key, value in known.items() if value is not None]
    return Signature(spec_of(metric), (("metric", metric.info.name), *entries, ("nlgauge", version("nlgauge"))))


def signature_of(metric: Any, runtime: Any = None) -> Signature:
    """The signature of a metric under a runtime, with the facts of `metric.facts(runtime)`. No model is loaded."""
    return signature(metric, None if runtime is None else whole(metric).facts(runtime))


def spec_of(metric: Any) -> str:
    """The shortest specification of the metric: its name and those options that differ from their defaults."""
    own = whole(metric).spec
    if isinstance(own, str):
        return own
    changed = []
    for field in options_of(metric):
        value = getattr(metric, field.name)
        if value != field.default:
            changed.append(f"{field.name}={quote(show(value))}")
    name: str = metric.info.name
    return name + (":" + ",".join(changed) if changed else "")


def options_of(metric: Any) -> list[dataclasses.Field[Any]]:
    """The fields that are options."""
    return [field for field in dataclasses.fields(metric) if field.init]


def show(value: Any) -> str:
    """An option's value as a text: what `quote` puts into a specification, and a signature holds as it is."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)
