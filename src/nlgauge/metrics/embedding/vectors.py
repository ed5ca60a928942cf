"""What metrics over one encoder share: which vectors they read, idf of pieces, the best layers, and baselines."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path, PurePath

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, Documents
from nlgauge.core.segment import Segment
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.encoder import Encoder, load_encoder, source_of
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.locate import locate
from nlgauge.models.tokens import Ids, Long, TextTokenizer, token_limit
from nlgauge.runtime.pool import Incidence
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing


class ByEncoder(BaseMetric):
    """Base of a metric with the options `model`, `revision` and `dtype`, that knows the layers it reads (`_layers`)."""

    model: str
    revision: str | None
    max_tokens: int | None
    dtype: DType | None

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the model reads only what is to the left."""
        return locate(self.model, self.revision).notes

    @property
    def limit(self) -> int | None:
        """The model's own limit, or the lower one that was asked for."""
        return token_limit(locate(self.model, self.revision), self.max_tokens)

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that are read, so that metrics of one call share them."""
        source = source_of(self.model, self.revision, runtime.precision(self.dtype), runtime)
        return {source: self._layers(locate(self.model, self.revision).depth)}

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(locate(self.model, self.revision).languages, writing)

    def pieces(self, texts: Sequence[str], runtime: Runtime) -> int:
        """How many pieces the model reads of some texts."""
        encoder = load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime, self.max_tokens)
        return sum(len(read.ids) for read in encoder.tokenizer.tokens(texts))

    @property
    def known_as(self) -> str:
        """The name by which the best layer and the baseline of the model are known."""
        return locate(self.model, self.revision).taken_as[0]

    def _layers(self, depth: int) -> tuple[int, ...]:
        """The layers that are read, of a model with so many."""
        raise NotImplementedError


def numbered(segments: Sequence[Segment]) -> tuple[list[str], Ids, Ids]:
    """The distinct texts without outer blanks, and the number of each hypothesis and of its first reference."""
    numbers: dict[str, int] = {}
    hypotheses = [numbers.setdefault(s.hypothesis.strip(), len(numbers)) for s in segments]
    references = [numbers.setdefault(s.references[0].strip(), len(numbers)) for s in segments]
    return list(numbers), np.array(hypotheses, dtype=np.int64), np.array(references, dtype=np.int64)


def with_sources(segments: Sequence[Segment]) -> list[Segment]:
    """The segments as `against=source` compares them: the source stands for the reference."""
    return [replace(s, references=(s.source or "",)) for s in segments]


# --- Inverse document frequencies of word pieces


@dataclass(frozen=True)
class IdfTable:
    """idf of every piece id: log((N + 1) / (df + 1)), with df = 0 for ids beyond the table.

    Attributes:
        values: shape (largest id seen + 1,).
        n_documents: N.
    """

    values: npt.NDArray[np.float32]
    n_documents: int

    def weights(self, pieces: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The idf of each piece, shape of `pieces`."""
        unseen = np.float32(np.log(self.n_documents + 1))
        in_table = pieces < len(self.values)
        return np.where(in_table, self.values[np.where(in_table, pieces, 0)], unseen)


def hypothesis_documents(segments: Sequence[Segment]) -> Documents:
    """All hypotheses as documents."""
    return Documents("hypotheses", None, [s.hypothesis for s in segments])


def reference_documents(segments: Sequence[Segment]) -> Documents:
    """All references as documents: an item's count once, however many systems are compared with them."""
    of: dict[Hashable, tuple[str, ...]] = {
        (s.item if s.item is not None else s.id, s.references): s.references for s in segments
    }
    return Documents("references", of, [reference for references in of.values() for reference in references])


def first_references(segments: Sequence[Segment]) -> Documents:
    """The first reference of each item, however many systems are compared with it."""
    of: dict[Hashable, tuple[str, ...]] = {
        (s.item if s.item is not None else s.id, s.references[0]): s.references[:1] for s in segments
    }
    return Documents("first-references", of, [reference for (reference,) in of.values()])


def from_documents(
    documents: Sequence[str], tokenizer: TextTokenizer, long: Long = "truncate", least: int = 2
) -> IdfTable:
    """Document frequencies with plus-one smoothing; special tokens are in every document, so their idf is 0.

    Args:
        documents: texts; one that occurs twice counts twice.
        tokenizer: what reads them.
        long: how it reads long ones.
        least: the number of documents below which frequencies are refused.

    Raises:
        InputError: there are fewer documents.

    References:
        Zhang et al. (2020), section 3, "Importance Weighting".
    """
    _check(len(documents), least)
    seen = [np.unique(t.ids) for t in tokenizer.tokens(documents, long)]
    counts = np.bincount(np.concatenate(seen)) if seen else np.zeros(1, dtype=np.int64)
    return _table(counts, len(documents))


def from_call(
    corpora: Sequence[Documents],
    encoder: Encoder,
    runtime: Runtime,
    reading: Hashable,
    long: Long = "truncate",
    least: int = 2,
) -> list[IdfTable]:
    """The same of documents of the call, or of all calls where this one is a part of a pool.

    Args:
        corpora: documents of the call, of several kinds.
        encoder: whose tokenizer reads them.
        runtime: says whether there is a pool.
        reading: what changes how the tokenizer of a model reads: the model, and the longest text.
        long: how it reads long texts.
        least: the number of documents below which frequencies are refused.

    Raises:
        InputError: there are fewer documents.
        Unsettled: the documents of the pool are not counted yet.
    """
    tokenizer = encoder.tokenizer
    if runtime.pool is None:
        return [from_documents(documents.texts, tokenizer, long, least) for documents in corpora]

    def gather(documents: Documents) -> Incidence:
        read = tokenizer.tokens(documents.texts, long)
        return Incidence.of(documents.kind, documents.keys(), [np.unique(t.ids).tolist() for t in read])

    wanted = {f"pieces of {one.kind}: {reading!r}, {long}": partial(gather, one) for one in corpora}
    tables = []
    for counted in runtime.pool.counts(wanted):
        _check(counted.n, least)
        pieces, found = (np.array([*column], dtype=np.int64) for column in (counted.of.keys(), counted.of.values()))
        counts = np.zeros(int(pieces.max(initial=0)) + 1, dtype=np.int64)
        counts[pieces] = found
        tables.append(_table(counts, counted.n))
    return tables


def _check(n: int, least: int) -> None:
    if n < least:
        raise InputError(
            f"idf needs at least two documents, found {n}: from one, every piece of it weighs nothing; "
            "score more segments in one call, or take frequencies from a file with idf_file=PATH"
        )


def _table(counts: npt.NDArray[np.int64], n: int) -> IdfTable:
    return IdfTable(np.log((n + 1) / (counts + 1)).astype(np.float32), n)


def from_file(path: str, tokenizer: TextTokenizer, long: Long = "truncate") -> IdfTable:
    """Frequencies of a UTF-8 text file, plain or gzip, with one document per line.

    Blank lines are left out. A file is counted once, however often it is asked for.
    """
    return _counted(_content(path), tokenizer, long)


def file_identity(path: str) -> str:
    """The digest of the file, for a signature."""
    return "sha256:" + sha256(_content(path)).hexdigest()[:16]


@lru_cache(maxsize=4)
def _counted(content: bytes, tokenizer: TextTokenizer, long: Long) -> IdfTable:
    return from_documents([line for line in content.decode("utf-8-sig").split("\n") if line.strip()], tokenizer, long)


def _content(path: str) -> bytes:
    """The file's bytes, known to be UTF-8.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        status = Path(path).stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read the idf documents {path}: {error}") from None


@lru_cache(maxsize=4)
def _read(path: str, mtime_ns: int, size: int) -> bytes:
    content = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte {error.start}); expected a text file with one document per line"
        ) from None
    return content


# --- Which layer of a model to match: the best known one, or a stated rule


def best_layer(model: str, depth: int) -> int:
    """The layer whose BERTScore agrees best with people where that was measured, else three quarters of the depth.

    Args:
        model: a name as in specifications. For a folder or a hub id with an owner, the last part is looked up too.
        depth: the number of layers above the embeddings.

    Returns:
        A layer from 1 to `depth` (0 for a model of embeddings only). For models that are not in the table it is
        floor(0.75 * depth): 9 of 12 layers and 18 of 24, as the paper found for BERT.

    References:
        Zhang et al. (2020), table 8; bert_score 0.3.13, `model2layers`, tuned on WMT16 to-English segments; `embedded`
        by `nlgauge train layers`' measure on the same data, `base` on WMT15.
    """
    layer = measured(model)
    return layer if layer is not None and layer <= depth else max(min(1, depth), depth * 3 // 4)


def measured(model: str) -> int | None:
    """The best layer of a model that was measured, by its name or the last part of it; None where none was."""
    table, last = layers_table(), PurePath(model).name
    if model in table or last in ENCODERS:  # a folder may be called `base`, too
        return table.get(model)
    return next((layer for name, layer in table.items() if PurePath(name).name == last), None)


@cache
def layers_table() -> dict[str, int]:
    """Name of a model -> its best layer."""
    loaded: dict[str, int] = json.loads(files("nlgauge.data").joinpath("best_layers.json").read_text(encoding="utf-8"))[
        "layers"
    ]
    return loaded


# --- Baselines, the scores of unrelated sentences: they spread BERTScore over a range that people can read


@dataclass(frozen=True)
class Baseline:
    """Mean P, R and F of unrelated sentence pairs, one row per layer.

    Attributes:
        rows: layer -> (P, R, F).
        identity: what identifies the baseline in a signature.
    """

    rows: dict[int, tuple[float, float, float]]
    identity: str

    def at(self, layer: int) -> Array:
        """P, R, F of a layer, shape (3,).

        Raises:
            InputError: there is no such row, or a value is 1 or more, which would reverse the order.
        """
        if layer not in self.rows:
            layers = ", ".join(map(str, sorted(self.rows)))
            raise InputError(
                f"baseline {self.identity} has no layer {layer}, only {layers}; make one with 'nlgauge train baseline'"
            )
        values = np.array(self.rows[layer])
        if np.any(values >= 1):
            raise InputError(f"baseline {self.identity} is {values.max():.3f} at layer {layer}, expected below 1")
        return values


def rescale(raw: Array, bound: float) -> Array:
    """Spread cosine-based scores over a range that people can read.

    Args:
        raw: scores in cosine units, shape (n,).
        bound: the score of unrelated sentences, below 1.

    Returns:
        Shape (n,). 0 is the score of unrelated text, and 1 that of identical text; values may be negative.

    References:
        Zhang et al. (2020), section 3, "Baseline Rescaling".
    """
    return (raw - bound) / (1 - bound)


def find(path: str | None, model: str, language: str) -> Baseline:
    """The baseline in a file, or the bundled one for a model and language.

    Raises:
        InputError: the file is not rows of LAYER,P,R,F, or no baseline is bundled for the model.
    """
    if path is not None:
        return _from_file(path)
    bundled = _bundled()
    for name in (model, *(other for _, other in bundled if PurePath(other).name == PurePath(model).name)):
        if (language, name) in bundled:
            return bundled[language, name]
    languages = sorted(lang for lang, name in bundled if name == model)
    hint = f"; bundled for it: {', '.join(languages)}" if languages else ""
    raise InputError(
        f"no baseline comes with the package for model {model!r} and language {language!r}{hint}; "
        f"make one from raw sentences: nlgauge train baseline TEXTS --model {model} -o FILE, then baseline=FILE"
    )


def as_text(rows: dict[int, tuple[float, float, float]]) -> str:
    """The file form: LAYER,P,R,F, one row per layer; bert_score reads it too."""
    return "LAYER,P,R,F\n" + "".join(f"{layer},{p:.8f},{r:.8f},{f:.8f}\n" for layer, (p, r, f) in sorted(rows.items()))


def _from_file(path: str) -> Baseline:
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read baseline {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read baseline {path}: not UTF-8 (byte {error.start})") from None
    rows: dict[int, tuple[float, float, float]] = {}
    delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ","
    try:
        records = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}: {error}; expected LAYER,P,R,F and one row per layer") from None
    for number, row in enumerate(records, start=2):
        try:
            layer, values = int(row["LAYER"]), (float(row["P"]), float(row["R"]), float(row["F"]))
        except (KeyError, TypeError, ValueError):
            layer, values = -1, (math.nan,) * 3
        if layer < 0 or not all(map(math.isfinite, values)):
            raise InputError(f"{path}:{number}: expected the columns LAYER,P,R,F with a layer and three numbers")
        if layer in rows:
            raise InputError(f"{path}:{number}: layer {layer} for the second time")
        rows[layer] = values
    if not rows:
        raise InputError(f"{path}: no rows; expected LAYER,P,R,F and one row per layer")
    return Baseline(rows, f"sha256:{sha256(content).hexdigest()[:16]}")


@cache
def _bundled() -> dict[tuple[str, str], Baseline]:
    """The tables in `nlgauge/data/baselines`, columns language, model, LAYER, P, R, F."""
    found: dict[tuple[str, str], dict[int, tuple[float, float, float]]] = {}
    for name in ("bert_score.tsv", "nlgauge.tsv"):
        text = files("nlgauge.data").joinpath("baselines", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
            key = (row["language"], row["model"])
            found.setdefault(key, {})[int(row["LAYER"])] = (float(row["P"]), float(row["R"]), float(row["F"]))
    return {key: Baseline(rows, f"{key[0]}/{key[1]}") for key, rows in found.items()}
