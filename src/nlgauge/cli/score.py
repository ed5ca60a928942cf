"""`nlgauge score`: texts in, signed numbers out."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.cli.scale import InParts
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Argument, Typed
from nlgauge.core.result import STDOUT, Result
from nlgauge.core.scores import Scores, Worst
from nlgauge.core.segment import Segment
from nlgauge.io import read
from nlgauge.io.evalset import open_set
from nlgauge.io.files import STDIN
from nlgauge.io.parallel import open_parallel
from nlgauge.io.segments import SelectedSource, Source, Unreferenced
from nlgauge.metrics.registry import expanded, named
from nlgauge.metrics.wrapped import check_bounds
from nlgauge.report.kinds.score import score_only as numbers_alone
from nlgauge.report.kinds.score import system_name
from nlgauge.report.tables import CELLS, measured
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring import job
from nlgauge.scoring.compare import ComparisonOptions
from nlgauge.scoring.looks import Looks, by_texts

if TYPE_CHECKING:
    from nlgauge.io.spans import Inputs


GATE_FAILED = 3


@dataclass(frozen=True)
class ScoreInput:
    """The input: a data file, or one for each system, or files with one text per line."""

    data: Annotated[
        list[str] | None,
        Argument(
            "JSON lines, TSV, CSV, Parquet or a log, a row per segment; several: one per system. - is stdin.",
            metavar="[DATA ...]",
        ),
    ] = None
    hyp: Annotated[
        list[str] | None, Typed("Hypotheses, one per line; one file per system.", ("--hyp", "-i", "-t"), "FILE ...")
    ] = None
    ref: Annotated[
        list[str] | None, Typed("References, one per line; one file per reference.", ("--ref", "-r"), "FILE ...")
    ] = None
    columns: options.Columns = None
    judgements: options.Judgements = None
    exclude: Annotated[list[str] | None, Typed("Leave a system out.", metavar="SYSTEM")] = None
    common: Annotated[bool, Typed("Only the items that all systems have.")] = False
    unreferenced: Annotated[
        Unreferenced | None,
        Typed(
            "Segments without references, where others have some: an empty text is their reference, or leave them out."
        ),
    ] = None
    src: Annotated[str | None, Typed("Sources, one per line.", ("--src", "-s"), "FILE")] = None

    @property
    def paths(self) -> list[str]:
        """All files."""
        return options.given(self.data, self.judgements, self.hyp, self.ref, self.src)

    @property
    def inputs(self) -> Inputs:
        """The same for scoring in parts."""
        from nlgauge.io.spans import Inputs

        if STDIN in self.paths:
            raise InputError("standard input cannot be read in parts; name a file")
        with self.opened():  # which refuses what does not go together
            if len(self.data or ()) > 1:
                raise InputError("several data files cannot be read in parts; give one, with a 'system' in each row")
            data = self.data[0] if self.data else None
            columns = options.columns_of(self.columns)
            files = tuple(self.hyp or ()), tuple(self.ref or ()), self.src
            return Inputs(data, columns, *files, tuple(self.exclude or ()))

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """The segments of the files."""
        try:
            source: Source = self._source()
        except read.NoFormat as error:
            raise InputError(f"{error}{self._as_lines()}") from None
        if self.exclude or self.common or self.unreferenced:
            source = SelectedSource(source, self.exclude or (), self.common, self.unreferenced)
        try:
            yield source
        finally:
            source.close()

    def _as_lines(self) -> str:
        """The command that takes the data files for texts, one per line; nothing where some hold rows."""
        data = self.data or []
        if any(map(read.by_name, data)):
            return ""
        n = len(data) if self.ref or len(data) < 2 else len(data) - 1
        references = self.ref or data[n:] or ["REFERENCES"]
        return ": " + shlex.join(["nlgauge", "score", "-i", *data[:n], "-r", *references])

    def _source(self) -> Source:
        data = self.data or []
        if self.hyp and data:
            what = f"{data[0]!r} is given beside --hyp" + (
                "" if os.path.exists(data[0]) else ", and there is no such file"
            )
            raise InputError(f"{what}; name references with --ref, or give one data file alone")
        columns = options.columns_of(self.columns)
        if columns is not None and not data:
            raise InputError("--columns names fields of a data file, and none is given")
        if self.judgements is not None and not data:
            raise InputError("--judgements joins ratings to a data file, and none is given")
        if self.hyp:
            return open_parallel(self.hyp, self.ref or [], self.src)
        if data:
            opened = open_set(data, columns, self.judgements)
            if self.ref or self.src:
                raise InputError(f"{data[0]} brings its own references and sources; leave --ref and --src out")
            return opened
        given = "--ref" if self.ref else "--src" if self.src else None
        if given is not None:
            raise InputError(f"{given} is given without hypotheses, expected --hyp FILE beside it")
        raise InputError(
            "nothing to score: give a data file, or --hyp FILE with --ref FILE; see 'nlgauge score --help'"
        )


@options.verb(
    without={"typed_seed"},
    sections={
        "Input": "texts",
        "Metrics": "metric looks",
        "Tests": "comparison thresholds",
        "Output": "worst score_only fail_under save_norm shown files",
        "Scale": "in_parts",
    },
)
def score(
    *,
    texts: ScoreInput,
    metric: Annotated[
        list[str] | None,
        options.specs("Metrics: bleu, chrf:word_order=2, bertscore ...  [default: bleu]", "--metric", "-m"),
    ] = None,
    comparison: ComparisonOptions,
    thresholds: Annotated[
        str | None,
        Typed(
            "Say how often people agree with each difference: 'shipped', or a FILE with another table.",
            metavar="FILE",
        ),
    ] = None,
    in_parts: InParts,
    fail_under: Annotated[
        list[str] | None, Typed("Exit with 3 where a system is worse than this.", metavar="SPEC=NUMBER")
    ] = None,
    save_norm: Annotated[
        str | None, Typed('Keep the scale of sums, for [norm=file("FILE")] in a later run.', metavar="FILE")
    ] = None,
    worst: Annotated[
        tuple[int, str] | None,
        Typed("Show the texts of the N segments with the worst scores by METRIC.", metavar="N METRIC"),
    ] = None,
    score_only: Annotated[bool, Typed("Print nothing but the numbers.", ("--score-only", "-b"), hidden=True)] = False,
    looks: Looks,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Score systems with any metrics, and test them against each other.

    Texts come from one data file, from one file for each system, or from plain files with a text per line. The table
    has a row per system and a column per metric. A number is the system's own: of BLEU, chrF and TER from summed
    counts, of most others the mean of segments. Segments without a score are left out and counted. `↓`: lower is
    better.

    `--significance` compares each system with the baseline, item by item: `bootstrap` draws items (1,000 times),
    `randomization` lets two systems swap outputs (10,000). Both are two-sided; p is (hits + 1) / (draws + 1), so
    identical outputs get 1 and nothing gets 0. Systems need the same items, each once and for the same inputs: another
    set, or rows in another order, is refused by name. `--pairs` tests every two systems, adjusts p after Holm, and
    begins a new rank where every system above beats every system below. `bootstrap:compat=sacrebleu` repeats the
    p-values of sacrebleu 2.6.0 with their faults; give the seed that `SACREBLEU_SEED` held.

    `-m human.NAME` takes people's ratings. Intervals are then over items and raters, where the ratings name them, and
    two systems are tested on the items that both have ratings for. `human.NAME.z` takes the severity of raters out:
    each rating less its rater's mean, over that rater's standard deviation.

    Scores of models stay in the cache: the same command, or one with a further metric, goes on after a stop. A test
    that must be refused is refused before a model runs.

    `--engine` scores plain Parquet, JSON lines or text files in parts (extra `parquet`). After a kill the same command
    goes on, and leaves the bytes of an undisturbed run. A folder of another run is refused. `--common`,
    `--unreferenced`, `--cache` and `-m embedded` do not go with it; idf, `cider` and sums take a pass over all parts
    before.

    It ends with 3 where a system is worse than `--fail-under`, in the metric's own direction, or undefined. `-m
    module:name` imports that module and so runs its code; the metric is then known as `name`, also in a sum that is
    typed after it.
    """
    if comparison.test is None:
        options.refuse_idle({"thresholds": thresholds}, "is about differences of systems; it goes with --significance")
    specs, optional = expanded(metric or ["bleu"])
    metrics = named(specs)  # of any encoder: what follows asks for no more than their names and directions
    gates = _gates(fail_under or [], metrics)
    kept = None if worst is None else _kept(*worst, metrics)
    shown.check()
    if (shown.form in CELLS or score_only) and not (files.json or files.html):
        options.refuse_idle({"worst": kept is not None}, "shows texts, for which numbers alone have no place")
    if score_only and shown.form != "text":
        raise InputError(f"--score-only prints bare numbers, and -f {shown.form} names a form; choose one")
    if save_norm is not None:
        check_bounds(metrics.values())
    files.check(texts.paths, thresholds, save_norm=save_norm)
    is_parted = in_parts != InParts() and in_parts.check(
        bool(optional),
        **options.changed(texts, "judgements", "common", "unreferenced"),
        **{"cache": run.cache, "worst": worst},
    )
    runtime = run.runtime(seed=comparison.seed or 0, quiet=score_only, cached=not is_parted)
    of_parts: options.Parts = {}
    if is_parted:
        metrics, written = named(specs, runtime.encoder), (save_norm, files)
        found = in_parts.score(texts.inputs, metrics, runtime, looks, comparison, thresholds, *written)
        if found is None:
            return 0
        result, of_parts = found
    else:
        how = (save_norm, looks, optional - gates.keys(), kept)
        result, of_parts = _scored(texts, specs, comparison, thresholds, runtime, files, *how)
    files.write(result, parts=of_parts)
    if files.printed or save_norm == STDOUT:
        pass  # what was asked for stands there alone
    elif score_only:
        echo(numbers_alone(result, shown.width))
    else:
        shown.show(result, run.quiet)
    return _judge(result, gates, metrics)


def _scored(
    texts: ScoreInput,
    specs: Sequence[str],
    comparison: ComparisonOptions,
    thresholds: str | None,
    runtime: Runtime,
    files: options.Files,
    save_norm: str | None,
    looks: Looks,
    optional: frozenset[str],
    worst: Worst | None,
) -> tuple[Result, Mapping[str, Mapping[str, bool | None]]]:
    table = None
    with texts.opened() as source, files.writing() as write:
        if thresholds is not None:
            from nlgauge.scoring.thresholds import thresholds_for

            settled, _ = by_texts(runtime, specs, source.blocks())
            known = thresholds_for(thresholds, named(specs, settled.encoder), settled)
            table = None if known is None else known.over(source.blocks())
        scores = job.score_source(
            source,
            specs,
            comparison,
            runtime=runtime,
            on_block=_noted_by(write, worst),
            save_norm=save_norm,
            language=looks.language,
            guards=looks.guards,
            optional=optional - ({worst.metric} if worst is not None else frozenset()),
        )
    result = replace(as_typed(scores.result()), worst=worst or ())
    if table is not None:
        from nlgauge.scoring.thresholds import with_agreement

        result = with_agreement(result, table, {spec: totals.references for spec, totals in scores.totals.items()})
    return result, scores.part_directions


def _noted_by(write: Callable[[Mapping[str, Any]], None] | None, worst: Worst | None) -> job.Block:
    """What writes the rows of a block of segments, and keeps those with the worst scores."""

    def noted(block: Sequence[Segment], scores: Mapping[str, Scores]) -> None:
        if write is not None:
            from nlgauge.io.write import segment_columns

            write(segment_columns(block, scores))
        if worst is not None:
            worst.add(scores[worst.metric], block)

    return noted


def _kept(n: int, metric: str, metrics: Mapping[str, BaseMetric]) -> Worst:
    """What keeps the N segments with the worst scores by a metric."""
    if metric not in metrics:
        raise InputError(f"--worst: {metric!r} is not among the metrics scored{nearest(metric, metrics)}")
    about = metrics[metric].info
    if not about.judges:
        raise InputError(f"--worst: {metric} judges nothing, so no score of it is worse; name another metric")
    return Worst(n, metric, about.higher_is_better)


def _gates(typed: Sequence[str], metrics: Mapping[str, BaseMetric]) -> dict[str, float]:
    gates: dict[str, float] = {}
    for gate in typed:
        spec, _, number = gate.rpartition("=")
        try:
            gates[spec] = float(number)
        except ValueError:
            gates[spec] = math.nan
        if not math.isfinite(gates[spec]):
            raise InputError(f"--fail-under {gate!r}: expected SPEC=NUMBER, as in bleu=30")
        if spec not in metrics:
            raise InputError(f"--fail-under {gate!r}: {spec!r} is not among the metrics scored{nearest(spec, metrics)}")
    return gates


def _judge(result: Result, gates: Mapping[str, float], metrics: Mapping[str, BaseMetric]) -> int:
    """The exit code; every number that is worse than its gate is named on stderr."""
    failed = [row for row in measured(result.rows) if _fails(row, gates, metrics)]
    for row in failed:
        name, gate = system_name(row["system"]), gates[row["metric"]]
        echo(f"nlgauge: {row['metric']} of {name} is {row['value']:.4g}, worse than {gate:g}", err=True)
    return GATE_FAILED if failed else 0


def _fails(row: Mapping[str, Any], gates: Mapping[str, float], metrics: Mapping[str, BaseMetric]) -> bool:
    """Worse than the gate in the metric's own direction; an undefined number fails."""
    gate = gates.get(row["metric"])
    if gate is None:
        return False
    better = row["value"] >= gate if metrics[row["metric"]].info.higher_is_better else row["value"] <= gate
    return not better
