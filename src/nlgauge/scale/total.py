"""The result of runs in parts: what their parts add up to, of one run or of several over different files."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from msgspec.structs import asdict

from nlgauge.core.arrays import Counts
from nlgauge.core.errors import InputError, NlgaugeError
from nlgauge.core.metric import signature_of
from nlgauge.core.result import Result
from nlgauge.core.scores import add, mean_of_defined
from nlgauge.core.spec import with_digest
from nlgauge.io.parallel import system_names
from nlgauge.io.segments import Summary
from nlgauge.metrics.base import Metric
from nlgauge.metrics.comparing.plan import ComparisonOptions
from nlgauge.metrics.guards.counting import summed
from nlgauge.metrics.looks import Looking, beside
from nlgauge.metrics.scales import save_bounds
from nlgauge.metrics.scoring.job import SourceScores
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.metrics.scoring.totals import Totals
from nlgauge.runtime.pool import Unsettled
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.scale.parts import Scorer, kept, segment_digests, sums_of
from nlgauge.scale.plan import Plan, read_plan
from nlgauge.scale.recorded import Recorded, metrics_of

Runs = Mapping[Path, Plan]
# What reading and adding up may meet in arrays, tables and numbers that no run writes.
_ODD = (
    ArithmeticError, AttributeError, BadZipFile, EOFError, LookupError, LZMAError, MemoryError, OSError, RuntimeError,
    TypeError, Unsettled, ValueError, zlib.error,
)  # fmt: skip
_HELD = 4_000_000  # segments of all runs that are compared; of more, those whose digests a number divides


def result_of(
    runs: Runs,
    metrics: Mapping[str, Metric | Recorded],
    runtime: Runtime,
    comparison: ComparisonOptions | None = None,
    save_norm: str | None = None,
) -> Result:
    """The result of runs all of whose parts are done.

    Args:
        runs: folder -> plan, with the same metrics in the same order.
        metrics: specification -> metric as it was typed, or what stands for it where only a folder names it.
        runtime: device and precision.
        comparison: how systems are compared; None for scores alone.
        save_norm: a file to write the scales of sums to.

    Raises:
        InputError: a part is not done, or its files are not those that were written.
    """
    comparison = comparison or ComparisonOptions()
    folder, plan = next(iter(runs.items()))
    scorer = Scorer(plan, folder)
    runtime = replace(runtime, cache=None, pool=scorer.pool(None))
    totals = {spec: Totals(comparison.by_group) for spec in plan.signatures}
    made = {spec: metric for spec, metric in metrics.items() if not isinstance(metric, Recorded)}
    recorded = {spec: metric.score([], runtime) for spec, metric in metrics.items() if isinstance(metric, Recorded)}
    like = {**score_segments(made, [], runtime), **recorded}
    if save_norm is not None:
        save_bounds(save_norm, like.values())
    for folder, part in ((folder, part) for folder, plan in runs.items() for part in plan.parts):
        sums = sums_of(folder, part)
        if sums is None:
            raise InputError(
                f"{part.name} is not done, or was changed meanwhile; run the same command again (folder {folder})"
            )
        for spec, total in totals.items():
            own = sums.metrics[spec]
            if spec in recorded and not own.is_mean and like[spec].finish is mean_of_defined:
                raise InputError(
                    f"{spec} adds up by a rule of its own, which a folder cannot name; run the command that scored"
                    f" {folder} again, which scores nothing twice"
                )
            total.take(asdict(own), like[spec])
        if comparison.resamples:
            for spec, rows in kept(folder, part, sums, like, paired=comparison.test is not None):
                totals[spec].keep_rows(*rows)
    signatures = {
        spec: metric.signature if isinstance(metric, Recorded) else signature_of(metric, runtime)
        for spec, metric in metrics.items()
    }
    documents = scorer.settled.documents.items()
    signatures |= {spec: with_digest(signatures[spec], digest) for spec, digest in documents}
    nothing = Looking()  # the plans' notes say what looks found
    found = SourceScores(metrics, signatures, totals, _summary(runs), comparison, nothing).result()
    counts: dict[tuple[str | None, str | None], Mapping[str, int]] = {}
    for group, system, counted in chain.from_iterable(plan.guards for plan in runs.values()):
        counts[group, system] = add(counts.get((group, system), {}), counted)
    return replace(found, rows=beside(found.rows, summed(counts, comparison.by_group)))


def total(folders: Sequence[Path], comparison: ComparisonOptions | None = None) -> Result:
    """The result of several runs over different files, as of one run over all of them.

    Args:
        folders: of the runs, all of which are done.
        comparison: intervals and groups. Systems are not tested: items of two runs may have one name.

    Raises:
        InputError: a folder holds no run, a run is not done, two runs have other metrics or count a system of the
            same files, or a metric depends on all segments of a run.
    """
    with _as_written(folders):
        return _total(folders, comparison)


@contextmanager
def _as_written(folders: Sequence[Path]) -> Iterator[None]:
    """Where digests fit and the content does not, a file is damaged, or made by somebody: one line says so."""
    try:
        with np.errstate(over="raise", divide="raise"):  # sums of scores are no such numbers
            yield
    except NlgaugeError:
        raise
    except _ODD as error:
        where = ", ".join(map(str, folders))
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise InputError(
            f"{where}: a file is not what a run writes ({type(error).__name__}: {reason:.120}); score into another"
            " folder"
        ) from None


def _total(folders: Sequence[Path], comparison: ComparisonOptions | None) -> Result:
    """The same, of folders that are what a run writes."""
    runs: dict[Path, Plan] = {}
    known: dict[tuple[object, ...], Path] = {}  # files of a system -> the folder of their run
    for folder in folders:
        plan = runs[folder] = read_plan(folder)
        first = next(iter(runs))
        if [*plan.signatures.items()] != [*runs[first].signatures.items()]:
            raise InputError(f"{folder} and {first} have other metrics or signatures; runs of the same ones add up")
        if plan.passes and len(folders) > 1:
            raise InputError(f"a metric of {folder} depends on all segments of a run; score all files in one run")
        for system, files in _files_of(plan):
            if files in known:
                raise InputError(
                    f"{folder} and {known[files]} are about the same files: both count {system}; name each run once, or"
                    " leave the system out of one (--exclude)"
                )
            known[files] = folder
    runtime = Runtime(device=runs[first].device, dtype=runs[first].dtype, encoder=runs[first].encoder, progress=silent)
    metrics = metrics_of(runs[first])
    found = result_of(runs, metrics, runtime, comparison)
    for metric in found.metrics:
        if isinstance(metrics[metric["spec"]], Recorded):
            continue  # its signature is that of the plan
        signed = runs[first].signatures[metric["spec"]]
        if not runs[first].passes and metric["signature"] != signed:
            raise InputError(
                f"{first} was scored with {' '.join(signed.split())}, and this nlgauge has"
                f" {metric['signature']}; add up with the version that scored"
            )
    return replace(found, notes=[*found.notes, *_counted_twice(runs)])


def _files_of(plan: Plan) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Each system of a run: how a message names it, and what tells the files and columns that its rows are from."""
    digests = [entry["sha256"] for entry in plan.summary.inputs]
    hypotheses, columns = plan.inputs.hypotheses, sorted((plan.inputs.columns or {}).items())
    own = dict(zip(system_names(hypotheses), digests, strict=False)) if hypotheses else {}
    for system in plan.summary.systems:
        named = "segments without a system" if system is None else f"system {system!r}"
        yield named, (system, own.get(system or ""), *digests[len(hypotheses) :], *columns)


def _counted_twice(runs: Runs) -> Iterator[str]:
    """Notes on segments that are in two runs over different files."""
    step = 1 + sum(plan.summary.n for plan in runs.values()) // _HELD
    held: dict[Path, Counts] = {}
    for folder, plan in runs.items():
        digests = np.unique(np.concatenate([segment_digests(folder, part) for part in plan.parts]))
        digests = digests[digests % step == 0]
        for other, known in held.items():
            shared = step * len(np.intersect1d(digests, known, assume_unique=True))
            if shared:
                about = "" if step == 1 else "about "
                yield (
                    f"{about}{shared} of {plan.summary.n} segments of {folder} have the id, system and texts of"
                    f" segments of {other}; they count twice"
                )
        held[folder] = digests


def _summary(runs: Runs) -> Summary:
    """The summary of the inputs of all runs together."""
    each = [plan.summary for plan in runs.values()]
    lacking: dict[str, str] = {}
    for one in each:
        lacking = {**one.lacking, **lacking}
    return Summary(
        sum(one.n for one in each),
        add(*(one.systems for one in each)),
        add(*(one.groups for one in each)),
        tuple(dict.fromkeys(chain.from_iterable(one.criteria for one in each))),
        lacking,
        frozenset().union(*(one.present for one in each)),
        tuple(chain.from_iterable(one.inputs for one in each)),
        tuple(_notes(runs)),
    )


def _notes(runs: Runs) -> Iterator[str]:
    """The notes on each input, which are about its segments alone."""
    for folder, plan in runs.items():
        yield from (f"{folder}: {note}" if len(runs) > 1 else note for note in plan.summary.notes)
