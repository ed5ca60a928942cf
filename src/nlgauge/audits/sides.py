"""A metric's scores of both texts of every pair. Each distinct text is scored only once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Scores, count, first_of
from nlgauge.core.segment import Segment
from nlgauge.core.spec import together
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks


@by_value
@dataclass(frozen=True)
class Sides:
    """Scores of those n pairs of a suite that are made for a metric.

    Attributes:
        spec: the metric's specification as typed.
        metric: the metric itself.
        signature: the signature of the scores.
        places: positions of the pairs in the suite, length n.
        better, worse: scores of the two texts on the metric's own scale, shape (n,); NaN if undefined.
        flags: as in `Scores`, shape (n,): whether either of the two texts has the flag.
        unread: notes on pairs in scripts that the metric does not read.
        ids: the ids of the pairs, length n; empty where nobody needs them.
        references: `own`, or `source` if the texts were compared with their source.
    """

    spec: str
    metric: Metric
    signature: str
    places: tuple[int, ...]
    better: Array
    worse: Array
    flags: Mapping[str, Mask] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    references: str = "own"

    def held(self, pair: Pair) -> str | None:
        """The anchor of a pair: a reference or the source; None if the pair has neither."""
        needs = self.metric.info.needs
        if self.references == "source" or ("source" in needs and "references" not in needs):
            return pair.source
        return pair.references[0] if pair.references and pair.setup != "src" else pair.source

    @property
    def first(self) -> dict[str, list[str]]:
        """Flag -> ids of the first pairs that have it."""
        return first_of(self.flags, self.ids, self.margin) if self.ids else {}

    @property
    def counts(self) -> dict[str, int]:
        """Flag -> number of pairs that have it; `undefined` counts pairs one of whose scores is NaN."""
        return count(self.flags, self.margin)

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score of the metric is better."""
        return self.metric.info.higher_is_better

    @property
    def margin(self) -> Array:
        """How much better the metric scores the better text, shape (n,). It is positive if the metric agrees."""
        return (self.better - self.worse) * (1 if self.higher_is_better else -1)


def score_sides(
    suite: Suite,
    metrics: Mapping[str, Metric],
    runtime: Runtime,
    *,
    references: str = "own",
    scripts: LanguageCheck = "note",
) -> dict[str, Sides]:
    """Score both texts of every pair.

    A metric that needs references scores the pairs whose `setup` is `ref` or `any`. A metric that needs only a source
    scores those whose `setup` is `src` or `any`. A metric that pools statistics over texts (idf, min-max) scores one
    phenomenon of one group at a time, since MENLI computes idf in this way.

    Args:
        suite: the pairs.
        metrics: specification as typed -> metric.
        runtime: device, cache.
        references: `own`, or `source` to compare the texts with their source, as is done for factuality sets without
            references.
        scripts: pairs in scripts that a metric does not read are noted (`note`), refused before anything is scored
            (`strict`), or not looked for (`off`).

    Raises:
        InputError: no pair of the suite has what a metric needs; or, under `strict`, a metric does not read a pair.
    """
    if references not in ("own", "source"):
        raise InputError(f"references is {references!r}, expected own or source")
    looks = Looks(language=scripts, guards="off")  # what is odd about a text may be what the suite is about
    places: dict[str, list[int]] = {}
    for spec, built in metrics.items():  # what one metric lacks is refused before another is scored
        places[spec] = pairs_for(spec, built, suite, references)
        signature_of(built, runtime)
    unread: dict[str, tuple[str, ...]] = {}
    for spec, built in metrics.items():
        pairs = [_segment(suite.pairs[place], "both", references) for place in places[spec]]
        unread[spec] = tuple(looks.seen({spec: built}, pairs, "pairs").notes())
    found: dict[str, Sides] = {}
    for group in _together(metrics, places):
        found |= _score({spec: metrics[spec] for spec in group}, suite, places[group[0]], runtime, references)
    return {spec: replace(found[spec], unread=unread[spec]) for spec in metrics}


def _together(metrics: Mapping[str, Metric], places: Mapping[str, Sequence[int]]) -> list[list[str]]:
    """The metrics in groups that score the same pairs at once, so that those over one encoder share its vectors.

    A metric that pools statistics over texts stands alone, since it takes the pairs part by part.
    """
    groups: dict[Hashable, list[str]] = {}
    for spec, built in metrics.items():
        groups.setdefault(spec if is_pooled(built) else tuple(places[spec]), []).append(spec)
    return list(groups.values())


def _score(
    metrics: Mapping[str, Metric], suite: Suite, places: Sequence[int], runtime: Runtime, references: str
) -> dict[str, Sides]:
    """The sides of metrics that score the same pairs."""
    parts: dict[str, list[tuple[npt.NDArray[np.int64], Scores]]] = {spec: [] for spec in metrics}
    for part in _parts(next(iter(metrics.values())), suite, places):
        pairs = [suite.pairs[places[i]] for i in part]
        for spec, scores in _scores(metrics, pairs, runtime, references).items():
            parts[spec].append((part, scores))
    return {spec: _joined(spec, metrics[spec], suite, places, own, references) for spec, own in parts.items()}


def _joined(
    spec: str,
    metric: Metric,
    suite: Suite,
    places: Sequence[int],
    parts: Sequence[tuple[npt.NDArray[np.int64], Scores]],
    references: str,
) -> Sides:
    """The sides of one metric from its scores of parts of the pairs: all better texts, then all worse ones."""
    better, worse = np.full(len(places), np.nan), np.full(len(places), np.nan)
    flags: dict[str, Mask] = {}
    for part, scores in parts:
        n = len(part)
        better[part], worse[part] = scores.values[:n], scores.values[n:]
        for name, flag in scores.flags.items():
            flags.setdefault(name, np.zeros(len(places), dtype=np.bool_))[part] = flag[:n] | flag[n:]
    names = tuple(suite.pairs[place].id for place in places)
    signed = str(together([scores.signature for _, scores in parts]))
    return Sides(spec, metric, signed, tuple(places), better, worse, flags, ids=names, references=references)


def pairs_for(spec: str, metric: Metric, suite: Suite, references: str) -> list[int]:
    """The positions of the pairs that a metric scores; see `score_sides`."""
    needs = metric.info.needs
    wanted = "src" if "source" in needs and "references" not in needs else "ref"
    if references == "source":
        places = [i for i, p in enumerate(suite.pairs) if p.source is not None]
        if places:
            return places
        raise InputError(f"{suite.name or 'the suite'}: no pair has a source to stand for the reference of {spec}")
    places = [i for i, p in enumerate(suite.pairs) if p.setup in (wanted, "any")]
    if not needs & {"references", "source"}:  # what reads neither can answer both
        places = places or list(range(len(suite)))
    if "references" in needs:
        places = [i for i in places if suite.pairs[i].references]
    if "source" in needs:
        places = [i for i in places if suite.pairs[i].source is not None]
    if "context" in needs:
        places = [i for i in places if suite.pairs[i].context]
    if not places:
        lacking = " and ".join(sorted(needs)) or "text"
        hint = (
            "; --references source holds them against the source"
            if "references" in needs and any(p.source for p in suite.pairs)
            else ""
        )
        raise InputError(f"{spec} needs {lacking}; no pair of {suite.name or 'the suite'} has that{hint}")
    return places


def _parts(metric: Metric, suite: Suite, places: Sequence[int]) -> Iterator[npt.NDArray[np.int64]]:
    if not is_pooled(metric):
        yield np.arange(len(places))
        return
    parts: dict[tuple[str, str | None, str | None], list[int]] = {}
    for i, place in enumerate(places):
        pair = suite.pairs[place]
        parts.setdefault((pair.phenomenon, pair.criterion, pair.group), []).append(i)
    yield from (np.array(part, dtype=np.int64) for part in parts.values())


def _scores(
    metrics: Mapping[str, Metric], pairs: Sequence[Pair], runtime: Runtime, references: str
) -> dict[str, Scores]:
    """Scores of all better texts, then of all worse ones, 2n of them, by each metric; none of several pools."""
    segments = [_segment(p, side, references) for side in ("better", "worse") for p in pairs]
    if is_pooled(next(iter(metrics.values()))):  # its scores depend on how often a text occurs
        return score_segments(metrics, segments, runtime)
    keys = [
        (s.hypothesis, s.references, s.source, tuple((t["speaker"], t["text"]) for t in s.context)) for s in segments
    ]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    distinct = sorted(first.values())
    found = score_segments(metrics, [segments[i] for i in distinct], runtime)
    where = {keys[i]: j for j, i in enumerate(distinct)}
    return {spec: scores.take([where[key] for key in keys]) for spec, scores in found.items()}


def _segment(pair: Pair, side: str, references: str) -> Segment:
    refs = (pair.source,) if references == "source" and pair.source is not None else pair.references
    text = {"better": pair.better, "worse": pair.worse, "both": f"{pair.better}\n{pair.worse}"}[side]
    return Segment(
        pair.id if side == "both" else f"{pair.id}/{side}",
        text,
        refs,
        pair.source,
        None,
        pair.id,
        pair.group,
        context=pair.context,
    )
