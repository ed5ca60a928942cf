"""Metrics over texts as weighted points: the common part, static word vectors, and stop words."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import Documents, Policy, check_needs, known, over_references, signature_of, unknown
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding.kernel import BEGINNINGS, Side, is_subword
from nlgauge.metrics.embedding.vectors import ByEncoder, IdfTable, from_call, numbered
from nlgauge.models.encoder import Encoder, Vectors, load_encoder
from nlgauge.models.locate import digest_of, locate
from nlgauge.models.tokens import Ids, Long, TextTokenizer, Tokens
from nlgauge.runtime.runtime import Advance, DType, Runtime, windows
from nlgauge.text.scripts import Writing, data_lines
from nlgauge.text.tokenize import unicode_words

UNKNOWN = 0  # the number of every word without a vector
_BOM = "\ufeff".encode()
_NO_FRAME: Ids = np.zeros(0, dtype=np.int64)


class WordVectors:
    """The vectors of the words that were asked for so far. It reads texts and gives vectors as an encoder does.

    A word is found in its folded form (small letters); if the file lacks it, the first form that folds to it counts.

    Args:
        path: a file of GloVe or word2vec as text: a word and its numbers per line, plain or gzip. A first line with the
            number of words and dimensions is passed over.
    """

    depth = 0
    prefix = suffix = _NO_FRAME

    def __init__(self, path: str) -> None:
        self.path = path
        self.width = 0
        self._numbers: dict[str, int] = {}  # word -> its number, `UNKNOWN` if the file lacks it
        self._words = [""]
        self._rows: list[npt.NDArray[np.float32]] = []

    @property
    def tokenizer(self) -> WordVectors:
        """The reader of texts: the file itself."""
        return self

    def tokens(self, texts: Sequence[str], long: str = "windows") -> list[Tokens]:
        """The words of each text; nothing is cut."""
        words = [unicode_words(text) for text in texts]
        self._look_up({word for found in words for word in found} - self._numbers.keys())
        numbers = [np.array([self._numbers[word] for word in found], dtype=np.int64) for found in words]
        return [Tokens(ids, len(ids), False) for ids in numbers]

    def content(self, tokens: Tokens) -> Ids:
        """The words of a text, shape (n,)."""
        return tokens.ids

    def unknown_shares(self, contents: Iterable[Ids]) -> Array:
        """The share of words without a vector in each text, shape (n,); 0 for a text without words."""
        return np.array([float((ids == UNKNOWN).mean()) if len(ids) else 0.0 for ids in contents], dtype=np.float64)

    def names(self, numbers: Ids) -> list[str]:
        """The words with these numbers; "" for the unknown."""
        return [self._words[number] for number in numbers.tolist()]

    def encode_layers(
        self, tokens: Sequence[Tokens], layers: Sequence[int], advance: Callable[[int], None]
    ) -> list[Vectors]:
        """Unit vectors of the words of each text, as the only layer; words without a vector have zeros."""
        table = np.vstack([np.zeros((1, self.width), dtype=np.float32), *self._rows])
        lengths = np.array([len(t.ids) for t in tokens], dtype=np.int64)
        matrix: Any = table[np.concatenate([t.ids for t in tokens])]
        norms: Any = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = matrix / np.maximum(norms, np.finfo(np.float32).tiny)
        advance(int(lengths.sum()))
        return [Vectors(matrix, np.cumsum(lengths) - lengths, lengths, norms)]

    def _look_up(self, wanted: set[str]) -> None:
        """Read the file once from beginning to end, and keep the vectors of these words only."""
        if not wanted:
            return
        exact: dict[str, npt.NDArray[np.float32]] = {}
        folded: dict[str, npt.NDArray[np.float32]] = {}
        try:
            with _opened(self.path) as file:
                for number, line in enumerate(file, 1):
                    line = line.removeprefix(_BOM) if number == 1 else line
                    word = self._word(line, number)
                    if word in wanted and word not in exact:
                        exact[word] = self._vector(line, number)
                    elif word is not None and (fold := word.casefold()) in wanted and fold not in folded:
                        folded[fold] = self._vector(line, number)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"cannot read the word vectors {self.path}: {error}") from None
        for word in sorted(wanted):
            vector = exact.get(word, folded.get(word))
            self._numbers[word] = UNKNOWN if vector is None else len(self._words)
            if vector is not None:
                self._words.append(word)
                self._rows.append(vector)

    def _word(self, line: bytes, number: int) -> str | None:
        """The word of a line; None in a first line of sizes. The first line with a vector says how many numbers."""
        fields = line.split()
        if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
            return None
        if not self.width:
            self.width = len(fields) - 1
            if self.width < 1 or len(line.rstrip().rsplit(b" ", self.width)) <= self.width:
                raise InputError(f"{self.path}:{number}: expected a word and its numbers, separated by blanks")
        return line.rstrip().rsplit(b" ", self.width)[0].decode("utf-8", "replace")

    def _vector(self, line: bytes, number: int) -> npt.NDArray[np.float32]:
        try:
            vector = np.array(line.rstrip().rsplit(b" ", self.width)[1:], dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        if len(vector) != self.width or not np.isfinite(vector).all():
            raise InputError(f"{self.path}:{number}: expected a word and {self.width} numbers, separated by blanks")
        return vector


def load_vectors(path: str, runtime: Runtime) -> WordVectors:
    """The vectors of a file; a runtime holds those that were asked for."""
    return runtime.once(("word vectors", path, vectors_identity(path)), lambda: WordVectors(path))


def vectors_identity(path: str) -> str:
    """The digest of the file, for a signature.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return f"sha256:{digest_of(Path(path))[:16]}"
    except OSError as error:
        raise InputError(f"cannot read the word vectors {path}: {error}") from None


def _opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]


# --- The common part of metrics over pieces of text: model, reading, flags, empty sides, several references

_HELD_BYTES = 256 << 20  # vectors held at once; a window of pairs is cut where it would need more
_LAST = 5  # layers
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


def last_layers(depth: int) -> tuple[int, ...]:
    """The last five layers, whose power means are taken, or whose barycenter."""
    return tuple(range(max(depth - _LAST, 0) + 1, depth + 1))


def points_info(name: str, **declared: Any) -> MetricInfo:
    """The declared facts of a metric over the vectors of a model: it is cached, and says what the model cannot read."""
    return MetricInfo(name, cached=True, flags={"unknown", "nonfinite"}, **declared)


@dataclass(frozen=True, kw_only=True)
class MatchedPoints(Checked, ByEncoder):
    """Base of metrics that turn each text into weighted points, and score a pair of texts by its points.

    A metric defines `_layers`, `_side` and `_pair`. It holds no state between calls.

    Args:
        model: `embedded`, `base`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        long: a text beyond the model's limit is cut and flagged (`truncate`) or read in half-overlapping windows
            (`windows`).
        max_tokens: a lower limit than the model's own, special tokens included.
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

    def _idf(self, corpora: Sequence[Documents], encoder: Encoder, runtime: Runtime, least: int = 2) -> list[IdfTable]:
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

    def __init__(self, metric: MatchedPoints, encoder: Encoder, tables: Any, runtime: Runtime) -> None:
        self.metric, self.encoder, self.tables, self.runtime = metric, encoder, tables, runtime
        self.layers = metric._layers(encoder.depth)

    def score(self, segments: Sequence[Segment]) -> Scores:
        metric, tokenizer = self.metric, self.encoder.tokenizer
        self.texts, hypotheses, references = numbered(segments)
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
        matrices, norms = ([_numpy(getattr(v, name)) for v in layers] for name in ("matrix", "norms"))
        found = {}
        for text, token, start, length in zip(
            wanted.tolist(), tokens, layers[0].starts.tolist(), layers[0].lengths.tolist(), strict=True
        ):
            rows, content = slice(start, start + length), slice(first, first + token.n_content)
            found[text] = Read(
                self.texts[text], token.ids, content, [m[rows] for m in matrices], [n[rows] for n in norms]
            )
        return found


def _wrong(side: Side) -> str:
    """The fault of the points of a text, one of `_WRONG`; nothing if they can be matched."""
    if not len(side.weights):
        return "empty"
    if not np.isfinite(np.vdot(side.vectors, side.vectors)):
        return "nonfinite"
    return "" if side.weights.any() else "unweighted"


def _numpy(tensor: Any) -> npt.NDArray[np.float32]:
    return np.asarray(tensor if isinstance(tensor, np.ndarray) else tensor.cpu().numpy())


# --- Stop words that a metric leaves out: the English list of the package, or a file

Stopwords = frozenset[str]
ENGLISH = "english"


def stopwords(name: str | None) -> Stopwords:
    """The words of a list.

    Args:
        name: `english`, or a UTF-8 file with words separated by blanks or line ends; None is no word.

    Raises:
        InputError: the file cannot be read.
    """
    return frozenset() if name is None else frozenset(_text(name).split())


def are_stopped(ids: Ids, content: slice, words: Stopwords, tokenizer: TextTokenizer) -> Mask:
    """Which pieces of a text are words of a list.

    WordPiece marks the pieces that continue a word (`##ing`). Other vocabularies mark those that begin one: `Ġthe` and
    `▁the` are the word, and `the` continues another. Only the first piece of a text may be a word without a mark.

    Args:
        ids: the pieces with special tokens, shape (T,).
        content: the places of the pieces that are no special tokens.
        words: the list.
        tokenizer: whose pieces they are.
    """
    if not words:
        return np.zeros(len(ids), dtype=np.bool_)
    names = tokenizer.names(ids)
    if tokenizer.which(_begins).sum() > tokenizer.which(is_subword).sum():
        names = [
            name[1:] if name.startswith(BEGINNINGS) else name if place == content.start else ""
            for place, name in enumerate(names)
        ]
    return np.array([name in words for name in names], dtype=np.bool_)


def _begins(names: Sequence[str]) -> Mask:
    """Which pieces begin a word, as byte-level and SentencePiece vocabularies write them."""
    return np.array([name.startswith(BEGINNINGS) for name in names], dtype=np.bool_)


def identity_of(name: str | None) -> str | None:
    """The digest of the words, for a signature."""
    return name if name in (None, ENGLISH) else f"sha256:{sha256(_text(str(name)).encode()).hexdigest()[:16]}"


def _text(name: str) -> str:
    if name == ENGLISH:
        return "\n".join(data_lines("stopwords.txt"))
    try:
        return _read(name, Path(name).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the stop words {name}: {error}; expected {ENGLISH} or a text file") from None


@lru_cache(maxsize=4)
def _read(name: str, mtime_ns: int) -> str:
    return Path(name).read_text(encoding="utf-8-sig")


# --- Base of metrics over the plain points of a text: the pieces of an encoder, or words with static vectors

_OF_ENCODERS = ("model", "revision", "layer", "long", "max_tokens", "dtype")


@dataclass(frozen=True, kw_only=True)
class WordPoints(MatchedPoints):
    """Base of metrics whose points are the pieces of a text without special tokens, each of weight 1.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of a model, as GloVe and word2vec write them: a word and its
            numbers per line, plain or `.gz`. Words are runs of letters and digits in small letters. Those without a
            vector are left out, with the flag `unknown` if they are more than a tenth of a text; if all are, the score
            is undefined.
        references: with several references, `best` takes value and parts of that with the best value, `best_each` the
            best of each on its own, `mean` the means, `first` those of the first.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    vectors: str | None = None
    references: Policy = "best"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vectors is None:
            return
        for option in _OF_ENCODERS:
            if getattr(self, option) != type(self).__dataclass_fields__[option].default:
                raise SpecError(f"{self.info.name}:{option} is of encoders and changes nothing beside vectors=FILE")
        object.__setattr__(self, "info", replace(self.info, cached=False))  # no model makes the scores

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the model reads only what is to the left."""
        return super().notes if self.vectors is None else ()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        if self.vectors is None:
            return super().facts(runtime)
        return {**dict.fromkeys(_OF_ENCODERS), "vectors": vectors_identity(self.vectors)}

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors of the encoder that are read."""
        return super().vectors_of(runtime) if self.vectors is None else {}

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return super().unread(writing) if self.vectors is None else None

    def _encoder(self, runtime: Runtime) -> Encoder:
        # A file of vectors reads texts and gives their vectors just as an encoder does.
        if self.vectors is None:
            return super()._encoder(runtime)
        return load_vectors(self.vectors, runtime)  # type: ignore[return-value]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _points(self, read: Read, unit: bool) -> Side:
        """The pieces that have a vector: of length 1, or as they are."""
        vectors = kernel.unit_vectors(np.asarray(read.layers[0][read.content], dtype=np.float64))
        if not unit:
            vectors = vectors * read.norms[0][read.content]
        pieces = read.ids[read.content]
        side = Side(vectors, np.ones(len(pieces)), pieces)
        if self.vectors is None or not len(pieces):
            return side
        kept = side.take(pieces != UNKNOWN)
        return replace(kept, missing=1 - len(kept.weights) / len(pieces))

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=True)
