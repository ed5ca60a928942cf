"""The common part of metrics over pieces of text: model, reading, flags, empty sides, several references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import Documents, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.embedding.encoding import ByEncoder
from nlgauge.metrics.embedding.idf import Table, from_call
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.references import Policy, over_references
from nlgauge.metrics.unknown import known, unknown
from nlgauge.models.encoder import Encoder, Vectors, load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.tokens import Ids, Long, Tokens
from nlgauge.runtime.runtime import Advance, DType, Runtime, windows

_HELD_BYTES = 256 << 20  # vectors held at once; a window of pairs is cut where it would need more
_WRONG = ("empty", "nonfinite", "unweighted")  # what may be wrong with a text's points; of two, the first counts


@dataclass(frozen=True)
class Read:
    """One text as an encoder read it.

    Attributes:
        text: the text, without outer blanks.
        ids: its pieces with special tokens, shape (T,).
        content: the places of the pieces that are no special tokens.
        layers: unit vectors at each layer that was asked for, each (T, d).
        norms: the length that each vector had, for each layer (T, 1).
    """

    text: str
    ids: Ids
    content: slice
    layers: Sequence[npt.NDArray[np.float32]]
    norms: Sequence[npt.NDArray[np.float32]]


def points_info(name: str, **declared: Any) -> MetricInfo:
    """The declared facts of a metric over the vectors of a model: it is cached, and says what the model cannot read."""
    return MetricInfo(name, cached=True, flags={"unknown", "nonfinite"}, **declared)


@dataclass(frozen=True, kw_only=True)
class Matched(ByEncoder):
    """Base of metrics that turn each text into weighted points, and score a pair of texts by its points.

    A metric defines `_layers`, `_side` and `_pair`. It holds no state between calls.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        long: a text beyond the model's limit is cut (`truncate`) or read in half-overlapping windows (`windows`).
        max_tokens: a lower limit than the model's own.
        dtype: the precision of the encoder; None takes the runtime's.
    """

    model: str = "embedded"
    revision: str | None = None
    long: Long = "truncate"
    max_tokens: int | None = None
    dtype: DType | None = None
    info: ClassVar[MetricInfo]
    columns: ClassVar[tuple[str, ...]] = ("value",)  # what `_pair` returns; "value" is no part of its own
    rounds: ClassVar = 1  # of those that are pooled

    def __post_init__(self) -> None:
        checked(self)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = locate(self.model, self.revision)
        layers = self._layers(files.depth)
        return {
            "layer": layers[0] if len(layers) == 1 else f"{layers[0]}-{layers[-1]}",
            "dtype": runtime.precision(self.dtype),
            **files.facts(),
        }

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment; flags `empty`, `truncated`, `unweighted`, `unknown` and `nonfinite`.

        A side without any piece gets the worst value and sets the flag `empty`. A segment is NaN if a side has pieces
        of which none weighs anything (`unweighted`), if no piece of a text is known (`unknown`), or if the model
        computes no finite vector (`nonfinite`).

        Raises:
            InputError: a segment has no reference, idf is taken from fewer than two documents, or the model cannot be
                read.
        """
        check_needs(self, segments)
        return self.scorer(segments, runtime)(segments)

    def scorer(self, pool: Sequence[Segment], runtime: Runtime) -> Callable[[Sequence[Segment]], Scores]:
        """A function that scores parts of the pool one by one; what depends on the whole pool is settled here."""
        encoder = self._encoder(runtime)
        tables = self._tables(pool, encoder, runtime)

        def single(segments: Sequence[Segment]) -> Scores:
            return _Run(self, encoder, tables, runtime).score(segments)

        policy: Policy = getattr(self, "references", "first")
        return lambda segments: over_references(segments, policy, single)

    def _encoder(self, runtime: Runtime) -> Encoder:
        return load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime, self.max_tokens)

    def _one_layer(self, layer: int | None, usual: int, depth: int) -> int:
        """The layer that an option names, or the usual one."""
        if layer is not None and layer > depth:
            raise SpecError(f"{self.info.name}:layer is {layer}, but model {self.model!r} has layers 0 to {depth}")
        return usual if layer is None else layer

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> Any:
        """Statistics over all segments of the call, such as document frequencies."""
        return None

    def _idf(self, corpora: Sequence[Documents], encoder: Encoder, runtime: Runtime, least: int = 2) -> list[Table]:
        """The document frequencies of pieces."""
        return from_call(corpora, encoder, runtime, (self.model, self.revision, self.max_tokens), self.long, least)

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        """The points of a text."""
        raise NotImplementedError

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        """The numbers of a pair, one per column; both sides have a point that weighs something."""
        raise NotImplementedError

    def _worst(self) -> tuple[float, ...]:
        """The numbers of a pair with an empty side."""
        info = self.info
        worst = info.range[0] if info.higher_is_better else info.range[1]
        return (worst if info.blank is None else info.blank,) * len(self.columns)

    def _value(self) -> str:
        """The column that is the value."""
        return self.columns[0]


class _Run:
    """One call over segments with one reference each: texts numbered once, pairs in windows."""

    def __init__(self, metric: Matched, encoder: Encoder, tables: Any, runtime: Runtime) -> None:
        self.metric, self.encoder, self.tables, self.runtime = metric, encoder, tables, runtime
        self.layers = metric._layers(encoder.depth)

    def score(self, segments: Sequence[Segment]) -> Scores:
        metric, tokenizer = self.metric, self.encoder.tokenizer
        numbers: dict[str, int] = {}
        hypotheses = np.array(
            [numbers.setdefault(s.hypothesis.strip(), len(numbers)) for s in segments], dtype=np.int64
        )
        references = np.array(
            [numbers.setdefault(s.references[0].strip(), len(numbers)) for s in segments], dtype=np.int64
        )
        self.texts = list(numbers)
        self.tokens = tokenizer.tokens(self.texts, metric.long)
        empty = np.array([t.n_content == 0 for t in self.tokens], dtype=np.bool_)
        truncated = np.array([t.truncated for t in self.tokens], dtype=np.bool_)
        unread = tokenizer.unknown_shares(tokenizer.content(t) for t in self.tokens)
        shares = np.maximum(unread[hypotheses], unread[references])
        pairs, place = np.unique(np.stack([references, hypotheses], axis=1), axis=0, return_inverse=True)
        found, state = self._matched(pairs, empty)
        found, state = found[place.reshape(-1)], {name: flag[place.reshape(-1)] for name, flag in state.items()}
        columns = {name: known(column, shares) for name, column in zip(metric.columns, found.T, strict=True)}
        flags = {
            "empty": state["empty"],
            "truncated": truncated[hypotheses] | truncated[references],
            "unweighted": state["unweighted"],
            "unknown": unknown(shares),
            "nonfinite": state["nonfinite"],
        }
        parts = {name: column for name, column in columns.items() if name != "value"}
        return Scores(
            signature_of(metric, self.runtime),
            ids(segments),
            columns[metric._value()],
            parts,
            flags=flags,
            higher_is_better=metric.info.higher_is_better,
        )

    def _matched(self, pairs: Ids, empty: Mask) -> tuple[Array, dict[str, Mask]]:
        """The numbers of each pair (reference, hypothesis), shape (n, columns), and the flags of pairs, each (n,)."""
        n = len(pairs)
        found = np.tile(np.array(self.metric._worst(), dtype=np.float64), (n, 1))
        state = {name: np.zeros(n, dtype=np.bool_) for name in _WRONG}
        state["empty"] |= empty[pairs].any(axis=1)
        real = np.flatnonzero(~state["empty"])
        with self.runtime.progress(len(real), self.metric.info.name) as advance:
            for window in windows(pairs[real], [len(t.ids) for t in self.tokens], self._most()):
                reads = self._read(np.unique(pairs[real[window]]), len(window) / 2, advance)
                for place, hyp, ref in self._sides(pairs, real[window].tolist(), reads):
                    wrong = next((name for name in _WRONG if name in (hyp[1], ref[1])), None)
                    if wrong is None:
                        found[place] = self.metric._pair(hyp[0], ref[0])
                    else:
                        state[wrong][place] = True
                        found[place] = found[place] if wrong == "empty" else np.nan
                    advance(0.5)
        return found, state

    def _sides(
        self, pairs: Ids, places: Sequence[int], reads: Mapping[int, Read]
    ) -> Iterator[tuple[int, tuple[Side, str], tuple[Side, str]]]:
        """Each place with the points of hypothesis and reference, and what is wrong with them: one of `_WRONG` or "".

        Points are dropped after their last pair, so that the next ones find their memory still in the core's cache.
        """
        keys = {
            place: ((hyp, True), (ref, False)) for place, (ref, hyp) in zip(places, pairs[places].tolist(), strict=True)
        }
        last = {key: place for place, both in keys.items() for key in both}
        sides: dict[tuple[int, bool], tuple[Side, str]] = {}
        for place, both in keys.items():
            for text, is_hypothesis in both:
                if (text, is_hypothesis) not in sides:
                    side = self.metric._side(reads[text], is_hypothesis, self.encoder, self.tables)
                    sides[text, is_hypothesis] = side, _wrong(side)
            hyp, ref = (sides.pop(key) if last[key] == place else sides[key] for key in both)
            yield place, hyp, ref

    def _most(self) -> int:
        """How many pieces fit the memory set aside for a window; a pair more is held in float64, too."""
        return max(1, _HELD_BYTES // (4 * self.encoder.width * (len(self.layers) + 6)))

    def _read(self, wanted: Ids, work: float, advance: Advance) -> dict[int, Read]:
        """Distinct texts at all layers; the work is what the bar moves by."""
        tokens = [self.tokens[t] for t in wanted]
        share = work / max(1, sum(len(t.ids) for t in tokens))
        layers = self.encoder.encode_layers(tokens, self.layers, lambda done: advance(share * done))
        first = len(self.encoder.tokenizer.prefix)
        arrays = [(_numpy(v.matrix), _numpy(v.norms)) for v in layers]
        return {text: self._read_one(text, i, layers[0], arrays, first) for i, text in enumerate(wanted.tolist())}

    def _read_one(self, text: int, i: int, vectors: Vectors, arrays: Sequence[Any], first: int) -> Read:
        token: Tokens = self.tokens[text]
        start = int(vectors.starts[i])
        rows = slice(start, start + int(vectors.lengths[i]))
        content = slice(first, first + token.n_content)
        return Read(self.texts[text], token.ids, content, [m[rows] for m, _ in arrays], [n[rows] for _, n in arrays])


def _wrong(side: Side) -> str:
    """The fault of the points of a text, one of `_WRONG`; nothing if they can be matched."""
    if not len(side.weights):
        return "empty"
    if not np.isfinite(np.vdot(side.vectors, side.vectors)):
        return "nonfinite"
    return "" if side.weights.any() else "unweighted"


def _numpy(tensor: Any) -> npt.NDArray[np.float32]:
    return np.asarray(tensor if isinstance(tensor, np.ndarray) else tensor.cpu().numpy())
