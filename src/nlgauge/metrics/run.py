"""Scoring: many metrics over many segments, which share vectors and pairs, through the cache, whole or in blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from time import monotonic

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Mask
from nlgauge.core.metric import BaseMetric, Metric, check_needs, rounds, said, signature_of
from nlgauge.core.scores import Scores, ids, join
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, with_documents
from nlgauge.runtime.cache import ScoreCache, text_key
from nlgauge.runtime.pool import Unsettled
from nlgauge.runtime.runtime import PAIRS, Bar, Runtime, bars

# --- Metrics of one call over the same encoder: which vectors they share, and in which portions of the segments


Layers = Mapping[Hashable, Sequence[int]]  # source of vectors (see `models.vectors.source_of`) -> layers
_HELD_BYTES = 512 << 20  # vectors held at once, if every character were a piece of its own


def merged(wanted: Sequence[Layers]) -> Layers:
    """All layers that any of several metrics reads, by source."""
    sources = dict.fromkeys(source for layers in wanted for source in layers)
    return {source: sorted({layer for layers in wanted for layer in layers.get(source, ())}) for source in sources}


def vectors_of(metric: Metric, runtime: Runtime) -> Layers:
    """The encoders that a metric or those inside read, and the layers of each, so that metrics of one call share them.

    A metric says so by `vectors_of`.
    """
    return merged([own(runtime) for own in said(metric, "vectors_of")])


def shared(metrics: Mapping[str, BaseMetric], runtime: Runtime) -> tuple[list[str], Layers]:
    """The metrics that read vectors of a source that another reads, too, and the layers of these sources.

    Sources that are shared already, as inside a sum, are left out.
    """
    wanted = {name: vectors_of(metric, runtime) for name, metric in metrics.items()}
    readers = Counter(source for layers in wanted.values() for source in layers)
    layers = {
        source: read
        for source, read in merged(list(wanted.values())).items()
        if readers[source] > 1 and runtime.shared(source) is None
    }
    return [name for name, read in wanted.items() if layers.keys() & read.keys()], layers


def portions(
    metrics: Sequence[BaseMetric], segments: Sequence[Segment], piece_bytes: int
) -> Iterator[npt.NDArray[np.int64]]:
    """The places of the segments in portions whose distinct texts fit the memory set aside.

    Segments that share references stay beside each other, so that a reference is encoded once, or nearly.
    """
    needs = {need for metric in metrics for need in metric.info.needs}
    texts = [{s.hypothesis} for s in segments]
    if "references" in needs:
        texts = [read | set(s.references) for read, s in zip(texts, segments, strict=True)]
    if "source" in needs:
        texts = [read | {s.source or ""} for read, s in zip(texts, segments, strict=True)]
    most = _HELD_BYTES // max(1, piece_bytes)
    if sum(len(text) + 2 for text in set().union(*texts)) <= most:
        yield np.arange(len(segments))
        return
    order = sorted(range(len(segments)), key=lambda i: segments[i].references)
    start = used = 0
    held: set[str] = set()
    for place, i in enumerate(order):
        new = sum(len(text) + 2 for text in texts[i] - held)
        if place > start and used + new > most:
            yield np.array(order[start:place])
            start, used, held = place, 0, set()
            new = sum(len(text) + 2 for text in texts[i])
        held |= texts[i]
        used += new
    yield np.array(order[start:])


# --- Scoring: many metrics over many segments, through the score cache, whole or in blocks

_STORE_EVERY = 4096  # the largest number of segments between two writes to the cache
_FIRST, _LEAST = 512, 64  # segments before the first write, and at least between two
_SECONDS = 10.0  # the approximate time between two writes, which is what a killed run can lose, however slow the model

_Keyed = tuple[bytes, Segment]


def score_segments(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime
) -> dict[str, Scores]:
    """Scores of the segments by each metric, in input order."""
    for built in metrics.values():
        check_needs(built, segments, runtime)
    with bars(_labels(metrics), len(segments), runtime) as shown:
        return (_score_all if runtime.pool is None else _score_part)(metrics, segments, runtime, shown)


def score_grouped(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime
) -> dict[str, Scores]:
    """The same, but a metric that is `pooled` sees one group at a time, as if there were no other."""
    groups = list(dict.fromkeys(s.group for s in segments))
    scored = score_segments({name: built for name, built in metrics.items() if not built.pooled}, segments, runtime)
    for name, built in metrics.items():
        if built.pooled:
            own = [[s for s in segments if s.group == group] for group in groups]
            whole = join([score_segments({name: built}, part, runtime)[name] for part in own])
            places = {id_: i for i, id_ in enumerate(whole.ids)}
            scored[name] = whole.take([places[s.id] for s in segments])
    return {name: scored[name] for name in metrics}


def grouped_notes(
    metrics: Mapping[str, BaseMetric], n: int, why: str = "scored in each of {} groups by itself"
) -> list[str]:
    """A note on each metric that is `pooled`, where there are several groups."""
    return [f"{name} is pooled: {why.format(n)}" for name, built in metrics.items() if built.pooled and n > 1]


def score_blocks(
    metrics: Mapping[str, BaseMetric], blocks: Iterable[Sequence[Segment]], runtime: Runtime, n: int = 0
) -> Iterator[tuple[Sequence[Segment], dict[str, Scores]]]:
    """Scores block by block, so that memory does not grow with the file.

    A metric that is `pooled` needs every segment at once: then all blocks are gathered into one.

    Args:
        metrics: name -> metric.
        blocks: the segments.
        runtime: device, precision, cache and progress.
        n: the number of segments in all blocks, for progress; 0 where nobody knows.
    """
    if any(built.pooled for built in metrics.values()):
        blocks = [[segment for block in blocks for segment in block]]
    with bars(_labels(metrics), n, runtime) as shown:
        for block in blocks:
            for built in metrics.values():
                check_needs(built, block)
            yield block, _score_all(metrics, block, runtime, shown)


def joined_flags(scored: Mapping[str, Scores], names: Iterable[str] | None = None) -> dict[str, Mask]:
    """Where any of the scores of one call sets each flag; of all flags that they have if none are named."""
    if names is None:
        names = dict.fromkeys(name for scores in scored.values() for name in scores.flags)
    return {
        name: np.logical_or.reduce([scores.flags[name] for scores in scored.values() if name in scores.flags])
        for name in names
    }


def _labels(metrics: Mapping[str, BaseMetric]) -> dict[str, str]:
    """Label of each metric in the progress bar: its name in the call, or its own where it has none there."""
    return {name: name or built.info.name for name, built in metrics.items()}


def _score_all(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime, shown: Mapping[str, Bar]
) -> dict[str, Scores]:
    """The scores by each metric, with the texts of frequencies in its signature."""
    found = _shared_scores(metrics, segments, runtime, shown)
    texts = {
        name: [text for kind in built.documents(segments) for text in kind.texts]
        for name, built in metrics.items()
        if built.pooled
    }
    return {
        name: replace(scores, signature=with_documents(scores.signature, texts[name])) if texts.get(name) else scores
        for name, scores in found.items()
    }


def _score_part(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime, shown: Mapping[str, Bar]
) -> dict[str, Scores]:
    """The scores of a part of a pool; what models scored in an earlier pass over all parts is taken from there.

    Raises:
        Unsettled: a metric needs another pass; all that it takes from this part is gathered.
    """
    pool = runtime.pool
    assert pool is not None  # the caller looked
    found: dict[str, Scores] = {}
    ready = {name: built for name, built in metrics.items() if (rounds(built) or 0) <= pool.passes}
    keeps = bool(pool.kept) or pool.new is not None
    keys = {name: _part_key(m, segments, runtime) for name, m in ready.items() if keeps and m.info.cached}
    for name, key in keys.items():
        if key in pool.kept:
            columns, held = pool.kept[key]
            rows = np.frombuffer(held).reshape(len(segments), len(columns))
            found[name] = _unpacked(ready[name], signature_of(ready[name], runtime), segments, columns, rows)
    left = {name: built for name, built in ready.items() if name not in found}
    for name, scores in _shared_scores(left, segments, runtime, shown).items():
        found[name] = scores
        if name in keys and pool.new is not None:
            columns, rows = _pack(scores)
            pool.new[keys[name]] = columns, rows.tobytes()
    for name in (name for name in metrics if name not in ready):  # in order: what is gathered has the same bytes
        with suppress(Unsettled):
            metrics[name].score(segments, runtime)
    if len(ready) < len(metrics):
        raise Unsettled(*(name for name in metrics if name not in ready))
    return {name: found[name] for name in metrics}


def _part_key(built: BaseMetric, segments: Sequence[Segment], runtime: Runtime) -> bytes:
    """Key of the scores of a part by a metric: the metric, and the texts that it reads."""
    key = blake2b(str(signature_of(built, runtime)).encode(), digest_size=16)
    for segment in segments:
        key.update(text_key(segment, built.info.needs))
    return key.digest()


def _shared_scores(
    metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime, shown: Mapping[str, Bar]
) -> dict[str, Scores]:
    """The scores by each metric. Metrics over the same encoder share its vectors, portion by portion."""
    if len(metrics) > 1 and runtime.shared(PAIRS) is None:
        runtime = runtime.sharing({PAIRS: {}})
    readers, layers = shared(metrics, runtime) if len(metrics) > 1 else ([], {})
    if not readers or not segments:
        return {name: _score(built, segments, runtime, shown[name]) for name, built in metrics.items()}
    from nlgauge.models.encoder import SharedVectors, bytes_of

    vectors = {source: SharedVectors(read) for source, read in layers.items()}
    sharing = runtime.sharing(vectors)
    cut = list(portions([metrics[name] for name in readers], segments, bytes_of(layers)))
    asked = {name: _scorer(metrics[name], segments, sharing, shown[name], len(cut)) for name in readers}
    scorers = {name: scorer for name, scorer in asked.items() if scorer is not None}
    parts: dict[str, list[Scores]] = {name: [] for name in scorers}
    for places in cut:
        portion = [segments[i] for i in places.tolist()]
        for name, scorer in scorers.items():
            parts[name].append(scorer(portion))
        for held in vectors.values():
            held.clear()
    back = np.argsort(np.concatenate(cut))
    found = {name: scored[0] if len(cut) == 1 else join(scored).take(back) for name, scored in parts.items()}
    return {
        name: found[name] if name in found else _score(built, segments, runtime, shown[name])
        for name, built in metrics.items()
    }


def _scorer(
    built: BaseMetric, segments: Sequence[Segment], runtime: Runtime, bar: Bar, n_parts: int
) -> Callable[[Sequence[Segment]], Scores] | None:
    """A function that scores a portion; what a pooled metric takes from all segments is settled first.

    None: it is pooled, and has no `scorer` that settles it.
    """
    if n_parts == 1 or not built.pooled:
        return lambda portion: _score(built, portion, runtime, bar)
    if not hasattr(built, "scorer"):
        return None
    scorer = built.scorer(segments, runtime)

    def scored(portion: Sequence[Segment]) -> Scores:
        found: Scores = scorer(portion)
        bar.done(len(portion))
        return found

    return scored


def _score(built: BaseMetric, segments: Sequence[Segment], runtime: Runtime, bar: Bar) -> Scores:
    is_kept = built.info.cached and not built.pooled and len(segments) > 0
    cache = runtime.cache() if is_kept and callable(runtime.cache) else runtime.cache
    if not is_kept or not isinstance(cache, ScoreCache):
        with bar.part(runtime, len(segments), len(built.inside) or 1) as watched:
            return built.score(segments, watched)
    return _score_cached(built, segments, runtime, cache, bar)


def _score_cached(
    built: BaseMetric, segments: Sequence[Segment], runtime: Runtime, cache: ScoreCache, bar: Bar
) -> Scores:
    """The scores by a metric behind the cache, a row of which holds the value, then parts, then flags.

    Each distinct text that is not stored is scored once, in portions that are stored one by one.
    """
    signed = signature_of(built, runtime)
    signature = str(signed)
    flags = {f"flag.{name}" for name in built.info.flags}
    keys = [text_key(s, built.info.needs) for s in segments]
    place = {key: i for i, key in reversed(list(enumerate(keys)))}  # each distinct text once, at its first place
    columns = known = cache.columns(signature)
    # rows that lack a value or a flag of the metric, as of an older release, are scored again
    is_whole = columns is not None and columns[:1] == ["value"] and flags <= set(columns)
    stored = cache.get(signature, list(place)) if is_whole else {}
    missing = [(key, segments[i]) for key, i in place.items() if key not in stored]
    ordered = sorted(missing, key=lambda pair: pair[1].references)  # so that each reference is encoded once, or nearly
    size, share = min(_FIRST, _STORE_EVERY), len(segments) / len(place)  # segments for each distinct text
    bar.done(share * (len(place) - len(missing)))
    while ordered:
        began = monotonic()
        part, ordered = _split(ordered, size)
        with bar.part(runtime, share * len(part)) as watched:
            scores = built.score([segment for _, segment in part], watched)
        columns, rows = _pack(scores)
        if columns != known:  # rows with other columns are of no use
            ordered += [(key, segments[place[key]]) for key in stored]
            stored, known = {}, columns
        new = [key for key, _ in part]
        cache.put(signature, columns, new, rows)
        stored.update(zip(new, rows, strict=True))
        a_second = len(part) / max(monotonic() - began, 1e-6)
        size = max(min(int(a_second * _SECONDS), _STORE_EVERY), min(_LEAST, _STORE_EVERY))
    assert columns is not None  # something was found or something was scored
    return _unpacked(built, signed, segments, columns, np.stack([stored[key] for key in keys]))


def _unpacked(
    metric: BaseMetric,
    signature: Signature,
    segments: Sequence[Segment],
    columns: Sequence[str],
    rows: npt.NDArray[np.float64],
) -> Scores:
    """Scores from what `_pack` made of scores of the same segments."""

    def group(prefix: str) -> dict[str, npt.NDArray[np.float64]]:
        return {c.removeprefix(prefix): rows[:, i] for i, c in enumerate(columns) if c.startswith(prefix)}

    found = Scores(
        signature,
        ids(segments),
        rows[:, 0],
        group("part."),
        flags={name: column > 0 for name, column in group("flag.").items()},
        higher_is_better=metric.info.higher_is_better,
    )
    return metric.counted(found)


def _pack(scores: Scores) -> tuple[list[str], npt.NDArray[np.float64]]:
    columns = ["value", *(f"part.{p}" for p in scores.parts), *(f"flag.{f}" for f in scores.flags)]
    rows = np.stack(
        [scores.values, *scores.parts.values(), *(f.astype(np.float64) for f in scores.flags.values())], axis=1
    )
    return columns, rows


def _split(ordered: list[_Keyed], size: int) -> tuple[list[_Keyed], list[_Keyed]]:
    """The first `size` segments and the rest; segments that share references stay together.

    The first part never grows beyond twice its size: all segments may share one reference, or have none.
    """
    end, most = min(size, len(ordered)), min(2 * size, len(ordered))
    while end < most and ordered[end][1].references == ordered[end - 1][1].references:
        end += 1
    return ordered[:end], ordered[end:]
