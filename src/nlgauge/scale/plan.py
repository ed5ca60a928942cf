"""The plan of a run in parts: what is read, by which metrics, and which rows are which part."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.result import replacing
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.io.files import STDIN, Limits, current
from nlgauge.io.parallel import system_names
from nlgauge.io.segments import BLOCK, BLOCK_CHARACTERS, Summary, TableSource, in_blocks
from nlgauge.io.spans import Inputs, Span, cut, stamp
from nlgauge.metrics.base import Metric, check_lacking, notes_of, rounds
from nlgauge.metrics.comparing.plan import ComparisonOptions
from nlgauge.metrics.looks import Looking, Looks
from nlgauge.metrics.scoring.job import Rehearsal
from nlgauge.runtime.runtime import ENCODERS, Runtime

PLAN, ROWS, STATS, SUMS, POOL = "plan.json", "rows", "stats", "sums", "pool"
_BY_NAME = ("systems", "groups")  # counts by names, of which None is one: JSON has pairs for them


@dataclass(frozen=True)
class Part:
    """A part of a run.

    Attributes:
        number: its place in the input, from 0.
        span: its rows.
        digest: 16 hexadecimal digits that change with the input, the rows, the metrics and the version of nlgauge.
    """

    number: int
    span: Span
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
    """

    low: float | None
    high: float | None
    higher_is_better: bool
    parts: Mapping[str, bool | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, metric: Metric) -> About:
        """The facts of a metric for a result file."""
        low, high = (end if math.isfinite(end) else None for end in metric.info.range)
        return cls(low, high, metric.info.higher_is_better, dict(metric.info.parts), notes_of(metric))


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
        """Refuse files that are not what they were when the plan was made.

        Raises:
            InputError: a file has another size or time of change.
        """
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
class _Seen:
    """Lengths and counts of the texts of a whole input. It keeps numbers of each segment, and no text."""

    looking: Looking
    rehearsal: Rehearsal | None
    segments: list[npt.NDArray[np.int64]] = field(default_factory=list)  # hashes
    texts: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def add(self, block: Sequence[Segment]) -> None:
        self.looking.add(block)
        if self.rehearsal is not None:
            self.rehearsal.add(block)
        self.segments.append(np.array([hash((s.hypothesis, s.references, s.source)) for s in block]))
        texts = chain.from_iterable((s.hypothesis, *s.references, s.source or "") for s in block)
        self.texts.append(np.unique(np.fromiter(map(hash, texts), dtype=np.int64)))

    def refuse(self) -> None:
        """Refuse systems that cannot be compared, and texts where this is asked for."""
        if self.rehearsal is not None:
            self.rehearsal.compare()
        self.looking.refuse()


def make_plan(
    inputs: Inputs,
    metrics: Mapping[str, Metric],
    runtime: Runtime,
    *,
    rows: int,
    comparison: ComparisonOptions | None = None,
    looks: Looks | None = None,
) -> Plan:
    """Read the whole input once, check it, and divide it into parts of about `rows` rows.

    Args:
        inputs: the files.
        metrics: specification -> metric.
        runtime: device and precision.
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
    inputs, comparison = inputs.pinned, comparison or ComparisonOptions()
    seen = _Seen(
        (looks or Looks()).over(metrics),
        None if comparison.test is None else Rehearsal(comparison, signatures),
    )
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


def _read(inputs: Inputs, rows: int, seen: _Seen) -> tuple[tuple[tuple[int, int], ...], Sequence[Span], Summary]:
    """The stamps of the files, the rows of each part, and what the whole input is."""
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


def _passes(metrics: Mapping[str, Metric]) -> int:
    """How many passes gather what pooled metrics take from all segments."""
    found = {spec: rounds(metric) for spec, metric in metrics.items()}
    for spec, number in found.items():
        if number is None:
            raise InputError(
                f"{spec} depends on all segments at once, and does not say how its parts are merged (a 'rounds' of its"
                " own, page 'extending' of the documentation); score it without --engine"
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
