"""A run in parts on disk: its plan, what pooled metrics gather first, and the scores of one part."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Counts as IntCounts
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_lacking, rounds, signature_of
from nlgauge.core.result import replacing
from nlgauge.core.scores import UNDEFINED, Finish, MetricInfo, Scores, add, first_of_all, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, Spec, documents_digest, parse, version
from nlgauge.io.files import STDIN, Limits, current, limited
from nlgauge.io.frames import read_columns
from nlgauge.io.parallel import system_names
from nlgauge.io.segments import BLOCK, BLOCK_CHARACTERS, Summary, TableSource, in_blocks
from nlgauge.io.spans import InputPart, Inputs, cut, read_span, stamp
from nlgauge.io.write import segment_columns, writing
from nlgauge.metrics.registry import METRICS, named, on_encoder
from nlgauge.metrics.run import score_segments
from nlgauge.metrics.stored import check_shipped, metric_of_file
from nlgauge.runtime.pool import Columns, Counts, Incidence, Moments, Pool, Unsettled
from nlgauge.runtime.runtime import ENCODERS, Runtime, silent
from nlgauge.scoring.compare import CellSums, ComparisonOptions, Totals
from nlgauge.scoring.looks import Looking, Looks

# --- The plan of a run in parts: what is read, by which metrics, and which rows are which part


PLAN, ROWS, STATS, SUMS, POOL = "plan.json", "rows", "stats", "sums", "pool"
_BY_NAME = ("systems", "groups")  # counts by names, of which None is one: JSON has pairs for them


@dataclass(frozen=True)
class Part:
    """A part of a run.

    Attributes:
        number: its place in the input, from 0.
        digest: 16 hexadecimal digits that change with the input, the rows, the metrics and the version of nlgauge.
    """

    number: int
    span: InputPart
    digest: str

    @property
    def name(self) -> str:
        """The name of its files, without an ending."""
        return f"part-{self.number:06d}-{self.digest}"


@dataclass(frozen=True)
class About:
    """The facts of a metric in a result, kept so that adding up makes no metric: it may be a program or a model.

    Attributes:
        low, high: the range; None where it has no end.
        higher_is_better: whether a higher value is better.
        parts: part of its scores -> whether higher is better; None for a part that is no score.
        notes: what a reader of its numbers must know.
        judges: whether it says what outputs are worth.
    """

    low: float | None
    high: float | None
    higher_is_better: bool
    parts: Mapping[str, bool | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judges: bool = True

    @classmethod
    def of(cls, metric: BaseMetric) -> About:
        """The facts of a metric for a result file."""
        low, high = (end if math.isfinite(end) else None for end in metric.info.range)
        return cls(low, high, metric.info.higher_is_better, dict(metric.info.parts), metric.notes, metric.info.judges)


@dataclass(frozen=True)
class Plan:
    """A run in parts: the same input, metrics and size of parts give the same plan on every machine.

    Attributes:
        inputs: the files, as typed.
        stamps: size and time of change of each file.
        signatures: specification of each metric, as typed -> its signature.
        device, dtype: where models run, and in which precision.
        summary: the summary of the input; its notes say what is odd about the texts, too.
        distinct: how many segments differ in hypothesis, references or source.
        texts: how many texts differ, whatever they are.
        parts: in the order of the input.
        guards: group, system, and how many of its texts guards distrust.
        passes: how many passes gather what pooled metrics take from all segments, before any is scored.
        pools: the digest of what each pass before the scores found in all parts, of the passes that are done.
        limits: how large inputs may be.
        about: specification -> what its result says of it; empty in the plan of an earlier nlgauge.
        encoder: the encoder of metrics that name no model.
    """

    inputs: Inputs
    stamps: tuple[tuple[int, int], ...]
    signatures: Mapping[str, str]
    device: str
    dtype: str
    summary: Summary
    distinct: int
    texts: int
    parts: tuple[Part, ...]
    guards: tuple[tuple[str | None, str | None, Mapping[str, int]], ...] = ()
    passes: int = 0
    pools: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    about: Mapping[str, About] = field(default_factory=dict)
    encoder: str = ENCODERS[0]

    def n_of(self, parts: Iterable[Part]) -> int:
        """Segments of some parts, about: a row may have one for each system, and systems may be left out."""
        rows = sum(part.span.rows for part in self.parts)
        return round(self.summary.n * sum(part.span.rows for part in parts) / max(1, rows))

    def check_unchanged(self) -> None:
        """Refuse files that are not what they were when the plan was made."""
        for path, known in zip(self.inputs.paths, self.stamps, strict=True):
            try:
                same = stamp(path) == known
            except FileNotFoundError:
                same = False
            if not same:
                raise InputError(f"{path} is not what it was when the plan was made; name another folder for this run")

    def write(self, folder: Path) -> None:
        """Write the plan into the folder of the run."""
        told = {"schema": 1, "kind": "plan", "version": version("nlgauge"), **asdict(self)}
        told["summary"] |= {name: list(getattr(self.summary, name).items()) for name in _BY_NAME}
        told["summary"]["present"] = sorted(self.summary.present)
        with replacing(folder / PLAN, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(told), indent=1))
            file.flush()
            os.fsync(file.fileno())


@dataclass
class _InputSeen:
    """Lengths and counts of the texts of a whole input. It keeps numbers of each segment, and no text."""

    looking: Looking
    comparison: ComparisonOptions
    rows: list[tuple[str | None, str | None, str | None, str]] = field(default_factory=list)  # of a test
    segments: list[npt.NDArray[np.int64]] = field(default_factory=list)  # hashes
    texts: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def add(self, block: Sequence[Segment]) -> None:
        self.looking.add(block)
        if self.comparison.test is not None:
            self.rows += [(s.group, s.system, s.item, s.id) for s in block]
        self.segments.append(np.array([hash((s.hypothesis, s.references, s.source)) for s in block]))
        texts = chain.from_iterable((s.hypothesis, *s.references, s.source or "") for s in block)
        self.texts.append(np.unique(np.fromiter(map(hash, texts), dtype=np.int64)))

    def refuse(self) -> None:
        """Refuse systems that cannot be compared, and texts where this is asked for."""
        if self.comparison.test is not None:
            self.comparison.check_items(self.rows)
        self.looking.refuse()


def make_plan(
    inputs: Inputs,
    metrics: Mapping[str, BaseMetric],
    runtime: Runtime,
    *,
    rows: int,
    comparison: ComparisonOptions | None = None,
    looks: Looks | None = None,
) -> Plan:
    """Read the whole input once, check it, and divide it into parts of about `rows` rows.

    Args:
        rows: the size of a part, about.
        comparison: how systems will be compared; None for scores alone.
        looks: what is looked for in the texts, and what becomes of what is found; None to note it.

    Raises:
        InputError: the input has an error, cannot be read in parts, or lacks what a metric needs; or a metric depends
            on all segments at once and cannot merge what it takes from parts; or a text is refused; or systems cannot
            be compared.
    """
    passes = _passes(metrics)
    signatures = {spec: signature_of(metric, runtime) for spec, metric in metrics.items()}
    comparison = comparison or ComparisonOptions()
    comparison.check_metrics(signatures.values())
    seen = _InputSeen((looks or Looks()).over(metrics, is_paired=comparison.test is not None), comparison)
    stamps, spans, summary = _read(inputs, rows, seen)
    check_lacking(metrics, summary.lacking, summary.inputs)
    comparison.check(summary)
    seen.refuse()
    noted = replace(summary, notes=(*summary.notes, *map(str, seen.looking.notes())))
    # metrics in their order, which columns and statistics of parts follow
    written = {spec: str(signature) for spec, signature in signatures.items()}
    basis = [*_basis(inputs, summary), [*written.items()], runtime.device, runtime.dtype]
    return Plan(
        inputs,
        stamps,
        written,
        runtime.device,
        runtime.dtype,
        noted,
        len(np.unique(np.concatenate(seen.segments))),
        len(np.unique(np.concatenate(seen.texts))),
        tuple(Part(number, span, _digest([*basis, asdict(span)])) for number, span in enumerate(spans)),
        tuple((*key, dict(counts)) for key, counts in seen.looking.by_system(by_group=True).items()),
        passes,
        limits=current(),
        about={spec: About.of(metric) for spec, metric in metrics.items()},
        encoder=runtime.encoder or ENCODERS[0],
    )


def _read(
    inputs: Inputs, rows: int, seen: _InputSeen
) -> tuple[tuple[tuple[int, int], ...], Sequence[InputPart], Summary]:
    source = inputs.opened()
    try:
        # before anything is read, since a file may change meanwhile; standard input has none, and `cut` refuses it
        stamps = tuple(stamp(path) for path in inputs.paths if path != STDIN)
        spans = cut(inputs, rows)
        # a table is looked at while it is checked, so that it is read once
        table = source.checked() if isinstance(source, TableSource) else None
        segments = chain.from_iterable(source.blocks()) if table is None else table
        for block in in_blocks(segments, BLOCK, BLOCK_CHARACTERS):
            seen.add(block)
        return stamps, spans, source.check()
    finally:
        source.close()


def _basis(inputs: Inputs, summary: Summary) -> list[Any]:
    """Identity of an input: the content of its files, what they are, and which systems rows name."""
    files = [entry["sha256"] for entry in summary.inputs]
    roles = [system_names(inputs.hypotheses), len(inputs.references)] if inputs.data is None else []
    return [version("nlgauge"), files, roles, dict(inputs.columns or {}), sorted(inputs.exclude)]


def _passes(metrics: Mapping[str, BaseMetric]) -> int:
    found = {spec: rounds(metric) for spec, metric in metrics.items()}
    for spec, number in found.items():
        if number is None:
            raise InputError(
                f"{spec} depends on all segments at once, and does not say how its parts are merged (a 'rounds' of its"
                " own, page 'guides/make' of the documentation); score it without --engine"
            )
    return max((number for number in found.values() if number is not None), default=0)


def read_plan(folder: Path) -> Plan:
    """The plan in the folder of a run.

    Raises:
        InputError: there is none, it cannot be read, or the file is something else.
    """
    try:
        told = msgspec.json.decode((folder / PLAN).read_bytes())
        _check_numbers(told)
        for name in _BY_NAME:
            told["summary"][name] = dict(told["summary"][name])
        plan = msgspec.convert(told, Plan)
        if not all(re.fullmatch("[0-9a-f]{16}", part.digest) and part.number >= 0 for part in plan.parts):
            raise ValueError  # their names are those of files
        if min(_counts(plan)) < 0:
            raise ValueError
        return plan
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} holds no {PLAN}, expected the folder of 'nlgauge score --engine'") from None
    except OSError as error:
        raise InputError(f"{folder / PLAN}: cannot be read ({error.strerror or error})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, TypeError, ValueError, RecursionError):
        raise InputError(f"{folder / PLAN} is no plan of nlgauge's; name another folder") from None


def _counts(plan: Plan) -> Iterator[int]:
    """All numbers of a plan that count something."""
    yield from (plan.summary.n, plan.distinct, plan.texts, plan.passes)
    yield from chain(plan.summary.systems.values(), plan.summary.groups.values())
    yield from chain.from_iterable(counts.values() for _, _, counts in plan.guards)
    yield from chain.from_iterable((part.span.first, part.span.rows, *chain(*part.span.ranges)) for part in plan.parts)


def _check_numbers(told: Any) -> None:
    """Refuse whole numbers that are no size, place or time: arithmetic with them has no end."""
    if isinstance(told, dict | list):
        for inner in told.values() if isinstance(told, dict) else told:
            _check_numbers(inner)
    elif isinstance(told, int) and not -(2**63) <= told < 2**63:
        raise ValueError(told)


def _digest(basis: Sequence[Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(basis, order="sorted")).hexdigest()[:16]


# --- Passes before the scores: each part writes what pooled metrics take from it, and all parts are merged in order

T = TypeVar("T")
Keyed = tuple[str, str]  # a text, and what tells it from an equal one; empty if it counts whatever else there is
_LINES = 1 << 16  # characters read at once


@dataclass(frozen=True)
class Gathered:
    """The findings of one pass in one part.

    Attributes:
        counts, incidences, moments: name -> statistic.
        kept: key -> scores that the next passes need.
        texts: kind of documents -> digest of the file of these.
    """

    counts: dict[str, Counts]
    incidences: dict[str, Incidence]
    moments: dict[str, Moments]
    kept: dict[bytes, Columns]
    texts: dict[str, str]


@dataclass(frozen=True)
class Settled:
    """The findings of passes over all parts.

    Attributes:
        counts, moments: name -> statistic.
        documents: specification -> digest of the texts that frequencies are taken from.
    """

    counts: dict[str, Counts] = field(default_factory=dict)
    moments: dict[str, Moments] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)

    @property
    def statistics(self) -> Mapping[str, Counts | Moments]:
        """All statistics by name."""
        return {**self.counts, **self.moments}

    def joined(self, other: Settled) -> Settled:
        """The findings after another pass."""
        return Settled(self.counts | other.counts, self.moments | other.moments, self.documents | other.documents)


def gather(metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime, pool: Pool) -> Gathered:
    """Collect from the segments of a part for the metrics that are not settled yet; `texts` is left empty."""
    waiting = {spec: metric for spec, metric in metrics.items() if (rounds(metric) or 0) > pool.passes}
    pool.new = {}
    with suppress(Unsettled):
        score_segments(waiting, segments, replace(runtime, pool=pool))
    found = pool.gathered
    return Gathered(
        {name: Counts(one.n, dict(sorted(one.of.items()))) for name, one in found.items() if isinstance(one, Counts)},
        {name: one for name, one in found.items() if isinstance(one, Incidence)},
        {name: one for name, one in found.items() if isinstance(one, Moments)},
        pool.new,
        {},
    )


def score_alone(metrics: Mapping[str, BaseMetric], segments: Sequence[Segment], runtime: Runtime) -> dict[str, Scores]:
    """The scores of segments as if there were no others, by the passes that parts go through."""
    known, kept = Settled(), dict[bytes, Columns]()
    passes = max((rounds(metric) or 0 for metric in metrics.values()), default=0)
    for number in range(passes):
        found = gather(metrics, segments, runtime, Pool(number, known.statistics, kept))
        known, kept = known.joined(merge([found])), kept | found.kept
    pool = Pool(passes, known.statistics, kept) if passes else None
    return score_segments(metrics, segments, replace(runtime, pool=pool))


def merge(parts: Iterable[Gathered]) -> Settled:
    """The statistics of all parts, in the order of the parts."""
    counts: dict[str, Counts] = {}
    moments: dict[str, Moments] = {}
    seen: dict[str, set[bytes]] = {}  # kind of documents -> keys of those that were counted
    for part in parts:
        new: dict[str, list[bool]] = {}
        for name, one in part.incidences.items():
            if one.kind not in new:
                held = seen.setdefault(one.kind, set())
                new[one.kind] = [not key or key not in held for key in one.keys]
                held.update(one.keys)
            counts[name] = _add(counts.get(name), one.counts(new[one.kind]))
        for name, counted in part.counts.items():
            counts[name] = _add(counts.get(name), counted)
        for name, lie in part.moments.items():
            moments[name] = Moments.merged([moments[name], lie]) if name in moments else lie
    return Settled(counts, moments)


def _add(total: Counts | None, one: Counts) -> Counts:
    """The counts of both; those of the total change."""
    total = total or Counts(0, {})
    for term, n in one.of.items():
        total.of[term] = total.of.get(term, 0) + n
    return Counts(total.n + one.n, total.of)


# Files. Those of a pass over the parts of a run lie in a folder of its own, sealed by a digest before their content.


def gathered_path(folder: Path, number: int, part: Part) -> Path:
    """The file of what a pass found in a part; passes count from 1."""
    return folder / POOL / str(number) / f"{part.name}.bin"


def settled_path(folder: Path, number: int) -> Path:
    """The file of what a pass found in all parts."""
    return folder / POOL / f"{number}.bin"


def texts_path(folder: Path, kind: str, part: Part) -> Path:
    """The file of the documents of a part: one line for each, in the order of their code points."""
    return folder / POOL / kind / f"{part.name}.jsonl"


def write_sealed(path: Path, content: object) -> str:
    """Write a file and bring it to disk; returns its digest."""
    encoded = msgspec.msgpack.encode(content)
    digest = hashlib.sha256(encoded)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "wb") as file:
        file.write(digest.digest() + encoded)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def read_sealed(path: Path, kind: type[T]) -> T | None:
    """The content of a file; None if there is none, or it is not what was written."""
    try:
        sealed = path.read_bytes()
        if hashlib.sha256(sealed[32:]).digest() != sealed[:32]:
            return None
        return msgspec.msgpack.decode(sealed[32:], type=kind)
    except (OSError, msgspec.MsgspecError):
        return None


def write_texts(folder: Path, part: Part, metrics: Iterable[BaseMetric], segments: Sequence[Segment]) -> dict[str, str]:
    """Write the documents of a part, each kind in its own file; returns the digest of each file."""
    kinds = {
        documents.kind: documents for metric in metrics if metric.pooled for documents in metric.documents(segments)
    }
    digests = {}
    for kind, documents in kinds.items():
        path = texts_path(folder, kind, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        keys = (key.hex() for key in documents.keys())  # noqa: SIM118 (no mapping)
        lines = [json.dumps(pair) + "\n" for pair in sorted(zip(documents.texts, keys, strict=True))]
        with replacing(path, "wb") as file:
            for line in lines:
                file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        digests[kind] = _gather_digest(path) or ""
    return digests


def read_settled(folder: Path, number: int, digest: str | None = None) -> Settled | None:
    """Read the findings of a pass over all parts; None where they are missing or do not fit their digest."""
    path = settled_path(folder, number)
    found = read_sealed(path, Settled)
    return found if found is not None and digest in (None, sealed_by(path)) else None


def sealed_by(path: Path) -> str:
    """The digest that a file was sealed by."""
    with path.open("rb") as file:
        return file.read(32).hex()


def read_gathered(folder: Path, number: int, part: Part) -> Gathered | None:
    """Read the findings of a pass in a part; None where they are missing or damaged."""
    found = read_sealed(gathered_path(folder, number, part), Gathered)
    if found is None or any(
        _gather_digest(texts_path(folder, kind, part)) != known for kind, known in found.texts.items()
    ):
        return None
    return found


def digests_of_documents(folder: Path, parts: Sequence[Part], metrics: Mapping[str, BaseMetric]) -> dict[str, str]:
    """Specification -> digest of all documents of the metric; those that stand in several parts count once."""
    known: dict[tuple[str, ...], str] = {}
    found = {}
    for spec, metric in metrics.items():
        kinds = tuple(documents.kind for documents in (metric.documents([]) if metric.pooled else ()))
        if kinds and kinds not in known:
            streams = [_texts([texts_path(folder, kind, part) for part in parts]) for kind in kinds]
            known[kinds] = documents_digest(heapq.merge(*streams))
        if kinds:
            found[spec] = known[kinds]
    return found


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    """The texts of sorted files in order; what has the same key stands there once."""
    for (text, key), same in groupby(heapq.merge(*map(_lines, paths))):
        for _ in [0] if key else same:
            yield text


def _lines(path: Path) -> Iterator[Keyed]:
    """The lines of a file of documents, which is open only while some of them are read: there may be many files."""
    place = 0
    while True:
        with path.open("rb") as file:
            file.seek(place)
            lines = file.readlines(_LINES)
            place = file.tell()
        if not lines:
            return
        for line in lines:
            text, key = json.loads(line)
            yield text, key


def _gather_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


# --- Stand-ins for the metrics of a run whose folder came from elsewhere: they know how to add up, and run nothing


@dataclass(frozen=True)
class Recorded(BaseMetric):
    """A metric of which only the numbers are there: those of a run, with what its plan says of them.

    Attributes:
        signature: what its scores were computed with, as the plan has it.
        about: what the plan says of it.
        finish: how totals become a corpus number.
    """

    signature: Signature
    about: About
    finish: Finish

    @property
    def info(self) -> MetricInfo:
        """Range and direction, as the plan has them."""
        low, high = self.about.low, self.about.high
        return MetricInfo(
            self.signature.spec,
            needs=frozenset(),
            range=(-math.inf if low is None else low, math.inf if high is None else high),
            higher_is_better=self.about.higher_is_better,
            copy_is_best=False,
            parts=self.about.parts,
            judges=self.about.judges,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """As the plan has them."""
        return self.about.notes

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Scores of no segments, which say how others add up.

        Raises:
            InputError: there is a segment: nothing is scored by what a folder names.
        """
        if segments:
            raise InputError(f"{self.signature.spec} stands in the folder of a run; type the metric to score with it")
        return Scores(self.signature, (), np.empty(0), finish=self.finish, higher_is_better=self.about.higher_is_better)


def metrics_of(plan: Plan) -> dict[str, BaseMetric | Recorded]:
    """The metrics of a plan that was read from a file: those that run on what ships, and stand-ins for others.

    Raises:
        InputError: an earlier nlgauge made the plan, and did not write down what it says of its metrics.
    """
    found: dict[str, BaseMetric | Recorded] = {}
    for spec, signed in plan.signatures.items():
        try:
            check_shipped(spec)  # first, since what places it on an encoder loads its class
            found[spec] = metric_of_file(on_encoder(spec, plan.encoder))
        except SpecError:
            if spec not in plan.about:
                raise InputError(
                    f"the plan does not say what is known of {spec}, as that of an earlier nlgauge; run the same"
                    " command again, which scores nothing twice"
                ) from None
            found[spec] = Recorded(read_signature(spec, signed), plan.about[spec], _finish_of(spec))
    return found


def read_signature(spec: str, text: str) -> Signature:
    """A signature from its text."""
    entries = (entry.partition(":") for entry in text.split("|"))
    return Signature(spec, tuple((name, value) for name, _, value in entries))


def _finish_of(spec: str) -> Finish:
    """How a metric of ours that cannot be made here adds up: by a function of its class, else as a mean.

    Only classes of this package are asked, and no object is made of them.
    """
    parsed = None
    with suppress(SpecError):  # such as a class of the user's
        parsed = parse(spec)
    entry = METRICS.entries.get(parsed.name) if isinstance(parsed, Spec) else None
    if entry is None or not isinstance(parsed, Spec) or not entry.target.startswith("nlgauge.metrics."):
        return mean_of_defined
    own = vars(METRICS.lookup(parsed.name)[0]).get("corpus")
    return own.__func__ if isinstance(own, staticmethod) else mean_of_defined


# --- One part of a run: its segments are scored, its rows and sums written, each file whole or not at all

DIGESTS = "digests"


class Counted(msgspec.Struct, frozen=True):
    """The totals of a metric over a part, whose groups are kept apart."""

    cells: list[tuple[str | None, str | None, list[float | None], int, int]]
    counts: dict[str, int]
    first: dict[str, list[str]]
    references: list[int]
    parts: list[str]
    is_mean: bool = True

    @classmethod
    def of(cls, totals: Totals) -> Counted:
        """Totals as they are written, without kept statistics."""
        return cls(
            [(*key, cell.totals.tolist(), cell.n, cell.n_undefined) for key, cell in totals.cells.items()],
            dict(totals.counts),
            {flag: list(ids) for flag, ids in totals.first.items()},
            sorted(totals.references),
            list(totals.part_names),
            totals.finish in (None, mean_of_defined),
        )

    def add_to(self, totals: Totals, like: Scores) -> None:
        """Add these totals to others; `like` are scores by the same metric, which say how totals become a number."""
        totals.signature, totals.finish, totals.finish_parts = like.signature, like.finish, like.finish_parts
        for group, system, sums, n, n_undefined in self.cells:
            key = (group if totals.by_group else None, system)
            cell = totals.cells.setdefault(key, CellSums(np.zeros(len(sums))))
            cell.totals += np.array(sums, dtype=np.float64)
            cell.n += n
            cell.n_undefined += n_undefined
        totals.part_names.update(dict.fromkeys(self.parts))
        totals.references.update(self.references)
        found = add(totals.counts, self.counts)
        known = [name for name in (*like.flags, UNDEFINED) if name in found]  # not in the order of the parts
        totals.counts = {name: found[name] for name in dict.fromkeys([*known, *found])}
        totals.first = first_of_all(totals.first, self.first)


class Sums(msgspec.Struct, frozen=True):
    """The sums of a part: segments, their groups, digests of its other files, and totals by specification."""

    n: int
    groups: list[str | None]
    sha256: dict[str, str]
    metrics: dict[str, Counted]


class _Sealed(msgspec.Struct):
    """A file of sums: what it holds, and its digest, which a changed number does not fit."""

    seal: str
    sums: msgspec.Raw


@dataclass(frozen=True)
class Scorer:
    """Scores parts of a plan, one after the other; it is made in the process that scores.

    Where metrics are pooled, a part is first gone through in passes that gather what they take from it.

    Attributes:
        device: where models run, if not where the plan says (one GPU of several).
    """

    plan: Plan
    folder: Path
    device: str | None = None

    @cached_property
    def metrics(self) -> Mapping[str, BaseMetric]:
        """Specification -> metric."""
        return named(list(self.plan.signatures), self.plan.encoder)

    @cached_property
    def runtime(self) -> Runtime:
        """Device and precision. There is no cache: what is scored is kept as a part."""
        return Runtime(
            device=self.device or self.plan.device, dtype=self.plan.dtype, encoder=self.plan.encoder, progress=silent
        )

    @cached_property
    def settled(self) -> Settled:
        """The merged findings of the finished passes over all parts."""
        found = Settled()
        for number, known in enumerate(self.plan.pools, start=1):
            one = read_settled(self.folder, number, known)
            if one is None:
                raise InputError(f"{settled_path(self.folder, number)} was changed; run the same command again")
            found = found.joined(one)
        return found

    def pool(self, part: Part | None) -> Pool | None:
        """The statistics of the whole run for one part; None where no metric is pooled."""
        if not self.plan.passes:
            return None
        done = range(1, len(self.plan.pools) + 1)
        found = [] if part is None else [read_gathered(self.folder, number, part) for number in done]
        kept = {key: held for one in found if one is not None for key, held in one.kept.items()}
        return Pool(len(self.plan.pools), self.settled.statistics, kept)

    def score(self, part: Part) -> int:
        """Score a part and write it, or gather from it what the next pass needs.

        Returns:
            The number of its segments.
        """
        self.plan.check_unchanged()
        with limited(self.plan.limits):  # a worker does not know those of the command
            segments, pool = read_span(self.plan.inputs, part.span), self.pool(part)
        if pool is not None and pool.passes < self.plan.passes:
            found = gather(self.metrics, segments, self.runtime, pool)
            if not pool.passes:
                found = replace(found, texts=write_texts(self.folder, part, self.metrics.values(), segments))
            write_sealed(gathered_path(self.folder, pool.passes + 1, part), found)
            return len(segments)
        scores = score_segments(self.metrics, segments, replace(self.runtime, pool=pool))
        self._write(part, segments, scores)
        return len(segments)

    def _write(self, part: Part, segments: Sequence[Segment], scores: Mapping[str, Scores]) -> None:
        with writing(rows_path(self.folder, part)) as write:
            write(segment_columns(segments, scores))
        groups = list(dict.fromkeys(segment.group for segment in segments))
        stats = {str(i): found.stats for i, found in enumerate(scores.values()) if found.stats is not None}
        codes = np.array([groups.index(segment.group) for segment in segments], dtype=np.int64)
        with replacing(stats_path(self.folder, part), "wb") as file:
            np.savez(file, allow_pickle=False, groups=codes, **{DIGESTS: _digests_of(segments)}, **stats)
        totals = {spec: Totals(by_group=True) for spec in scores}
        for spec, found in scores.items():
            totals[spec].add(segments, found)
        counted = {spec: Counted.of(total) for spec, total in totals.items()}
        encoded = msgspec.json.encode(Sums(len(segments), groups, _digests(self.folder, part), counted))
        with replacing(sums_path(self.folder, part), "wb") as file:
            file.write(msgspec.json.encode(_Sealed(_digest_of(encoded), msgspec.Raw(encoded))))
            file.flush()
            os.fsync(file.fileno())


def _digests_of(segments: Sequence[Segment]) -> IntCounts:
    """64 bits of each segment's group, system, id and texts, shape (n,)."""
    told = ([s.group, s.system, s.id, s.hypothesis, s.references, s.source] for s in segments)
    hashed = b"".join(hashlib.blake2b(repr(one).encode(), digest_size=8).digest() for one in told)
    return np.frombuffer(hashed, dtype="<i8")


def segment_digests(folder: Path, part: Part) -> IntCounts:
    """64 bits for each segment of a part that is done, shape (n,): equal where group, system, id and texts are.

    A part that an earlier nlgauge scored has none, shape (0,).
    """
    with np.load(stats_path(folder, part), allow_pickle=False) as stored:
        digests: IntCounts = stored.get(DIGESTS, np.empty(0, dtype=np.int64))
    return digests


def rows_path(folder: Path, part: Part) -> Path:
    """The file of the rows of a part."""
    return folder / ROWS / f"{part.name}.parquet"


def stats_path(folder: Path, part: Part) -> Path:
    """The file of the statistics of a part's segments, from which systems are compared."""
    return folder / STATS / f"{part.name}.npz"


def sums_path(folder: Path, part: Part) -> Path:
    """The file of the sums of a part. It is written last: where it is, the part is done."""
    return folder / SUMS / f"{part.name}.json"


def sums_of(folder: Path, part: Part) -> Sums | None:
    """The sums of a part; None where it is not done, or a file of it is not what was written."""
    try:
        sealed = msgspec.json.decode(sums_path(folder, part).read_bytes(), type=_Sealed)
        if sealed.seal != _digest_of(bytes(sealed.sums)):
            return None
        sums = msgspec.json.decode(sealed.sums, type=Sums)
        return sums if sums.sha256 == _digests(folder, part) else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _digest_of(encoded: bytes) -> str:
    return hashlib.sha256(encoded).hexdigest()


def keep_rows(
    folder: Path, part: Part, sums: Sums, like: Mapping[str, Scores], totals: Mapping[str, Totals], paired: bool
) -> None:
    """Keep the segment statistics of a part that comparing systems needs.

    Args:
        like: specification -> scores by that metric, of any segments or none.
        totals: specification -> where they are kept.
        paired: whether systems are compared item by item; else ids and items are empty, since memory holds them.
    """
    table = read_columns(rows_path(folder, part))
    systems = table["system"]
    ids = tuple(table["id"]) if paired else ("",) * len(systems)
    items: list[str | None] = table["seg"] if paired else [None] * len(systems)
    with np.load(stats_path(folder, part), allow_pickle=False) as stored:
        groups = [sums.groups[code] for code in stored["groups"].tolist()]
        for place, (spec, one) in enumerate(like.items()):
            scores = replace(one, ids=ids, values=table[spec], stats=stored.get(str(place)), parts={}, flags={})
            of = groups if totals[spec].by_group else [None] * len(groups)
            totals[spec].keep_rows(list(zip(of, systems, strict=True)), items, scores)


def _digests(folder: Path, part: Part) -> dict[str, str]:
    """The digests of the files of rows and statistics, once these are on disk."""
    found = {}
    for name, path in ((ROWS, rows_path(folder, part)), (STATS, stats_path(folder, part))):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
