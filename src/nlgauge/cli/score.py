"""`nlgauge score`: texts in, signed numbers out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.core.result import Result
    from nlgauge.io.source import Source, Summary
    from nlgauge.metrics.base import Metric
    from nlgauge.metrics.totals import Totals
    from nlgauge.runtime.runtime import Runtime

GATE_FAILED = 3
_FLAGS = {
    "empty": "an empty side; they get the worst value",
    "truncated": "a text longer than the model reads, cut to its limit (long=windows reads all of it)",
    "tokenized": "a text that looks tokenised already (it ends in ' .'), where the metric expects plain text",
    "unweighted": "a side on which no piece weighs anything under idf; that side gets 0",
}


def score(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]",
            help="JSON lines, TSV or Parquet with a row a segment; - for standard input.",
            show_default=False,
        ),
    ] = None,
    hyp: Annotated[
        list[str] | None,
        typer.Option("--hyp", "-i", metavar="FILE", help="Hypotheses, one a line; once for each system."),
    ] = None,
    ref: Annotated[
        list[str] | None,
        typer.Option("--ref", "-r", metavar="FILE", help="References, one a line; once for each reference."),
    ] = None,
    src: Annotated[str | None, typer.Option("--src", metavar="FILE", help="Sources, one a line.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="SPEC", help="Metrics: bleu, chrf:word_order=2, bertscore ...  [default: bleu]"
        ),
    ] = None,
    significance: Annotated[
        str | None,
        typer.Option(
            "--significance", metavar="TEST", help="Test every system against the baseline: bootstrap or randomization."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="SYSTEM", help="The system others are tested against.  [default: the first]"
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", "-n", min=1, help="Resamples.  [default: 1000 for bootstrap, 10000 for randomization]"),
    ] = None,
    compat: Annotated[
        str | None, typer.Option("--compat", metavar="TOOL", help="sacrebleu: its p-values, faults and all.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Give each number its 95 % bootstrap interval.")
    ] = False,
    by_group: Annotated[
        bool, typer.Option("--by-group", help="A row for each language pair or task of a system.")
    ] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option("--fail-under", metavar="SPEC=NUMBER", help="Exit with 3 where a system is worse than this."),
    ] = None,
    save_norm: Annotated[
        str | None,
        typer.Option(
            "--save-norm", metavar="FILE", help='Keep the scale of sums, for [norm=file("FILE")] in a later run.'
        ),
    ] = None,
    score_only: Annotated[bool, typer.Option("--score-only", "-b", help="Print nothing but the numbers.")] = False,
    width: Annotated[int | None, typer.Option("--width", "-w", min=0, max=15, help="Digits after the point.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, json, tsv, markdown or latex.")] = "text",
    json: options.Json = None,
    html: options.Html = None,
    segments: options.Segments = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the resampling.  [default: 0; 12345 under --compat sacrebleu]")
    ] = None,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    cache: options.CacheFolder = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> int:
    """Score systems with any metrics, and test them against each other."""
    from nlgauge.metrics.combine import check_bounds
    from nlgauge.metrics.registry import named
    from nlgauge.report.tables import score as tables
    from nlgauge.report.text import check_form, render

    files, specs = _sort_out(data or [], metric or [])
    test = _test(significance, compat)
    metrics = named(specs or ["bleu"])
    gates = _gates(fail_under or [], metrics)
    check_form(form)
    if save_norm is not None:
        check_bounds(metrics.values())
    outputs = {"--json": json, "--html": html, "--segments": segments, "--save-norm": save_norm}
    options.check_outputs(outputs, [*files, *(hyp or []), *(ref or []), *([src] if src else [])])
    runtime = options.make_runtime(device, dtype, seed or 0, cache, no_cache, quiet or score_only)
    with _source(files, hyp or [], ref or [], src) as source:
        job = _Job(
            source,
            metrics,
            runtime,
            by_group,
            test,
            baseline,
            draws,
            seed,
            compat,
            confidence or test is not None,
            save_norm,
        )
        result = job.run(segments)
    if json is not None:
        result.write(json)
    if html is not None:
        from nlgauge.report.pages import write_html

        write_html(result, html)
    typer.echo(
        tables.score_only(result, width)
        if score_only
        else render(result, form, width, quiet=quiet, columns=options.columns())
    )
    failed = [row for row in result.rows if _fails(row, gates, metrics)]
    for row in failed:
        name, gate = tables.system_name(row["system"]), gates[row["metric"]]
        typer.echo(f"nlgauge: {row['metric']} of {name} is {row['value']:.4g}, worse than {gate:g}", err=True)
    return GATE_FAILED if failed else 0


@dataclass
class _Job:
    """One run: from a source to a result."""

    source: Source
    metrics: Mapping[str, Metric]
    runtime: Runtime
    by_group: bool
    test: str | None
    baseline: str | None
    draws: int | None
    seed: int | None
    compat: str | None
    intervals: bool
    save_norm: str | None

    def run(self, segments_path: str | None) -> Result:
        """Score block by block, write segment rows beside, then make the rows of the result."""
        from nlgauge.core.result import Result
        from nlgauge.core.signature import signature_of
        from nlgauge.io.write import segment_columns, writing
        from nlgauge.metrics.run import score_blocks
        from nlgauge.metrics.scales import save_bounds
        from nlgauge.metrics.totals import Totals

        summary = self.source.check()
        self._check(summary)
        signatures = {spec: signature_of(metric, self.runtime) for spec, metric in self.metrics.items()}
        totals = {spec: Totals(self.by_group, keep=self.intervals) for spec in self.metrics}
        with writing(segments_path) if segments_path is not None else nullcontext() as write:
            for block, scores in score_blocks(self.metrics, self.source.blocks(), self.runtime):
                for spec, values in scores.items():
                    totals[spec].add(block, values)
                if write is not None:
                    write(segment_columns(block, scores))
                if self.save_norm is not None:  # some metric is pooled, so that this block is the only one
                    save_bounds(self.save_norm, scores.values())
        return Result(
            "score",
            [row for spec in self.metrics for row in self._rows(spec, totals[spec])],
            summary.inputs,
            [
                {"spec": spec, "signature": str(signatures[spec]), "higher_is_better": metric.info.higher_is_better}
                for spec, metric in self.metrics.items()
            ],
            [*summary.notes, *self._notes(summary, totals)],
        )

    def _check(self, summary: Summary) -> None:
        """Refuse what could only fail after hours."""
        from nlgauge.core.errors import InputError, nearest

        for spec, metric in self.metrics.items():
            for need in sorted(metric.info.needs):
                if need in summary.lacking:
                    raise InputError(f"{spec} needs {need}; segment {summary.lacking[need]!r} has none")
        systems = [s for s in summary.systems if s is not None]
        if self.test is not None:
            if len(summary.systems) < 2:
                raise InputError(
                    f"--significance compares systems, expected at least two, found {len(systems) or 'none named'}"
                )
            if None in summary.systems:
                raise InputError(
                    "--significance compares systems, and some segments name none; give every row a 'system'"
                )
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(f"--baseline {self.baseline!r} is not among the systems{nearest(self.baseline, systems)}")

    def _rows(self, spec: str, totals: Totals) -> Iterator[dict[str, Any]]:
        found = self._intervals(totals) if self.intervals else {}
        for (group, system), value, n, n_undefined in totals.rows():
            row: dict[str, Any] = {
                "system": system,
                "metric": spec,
                "value": value,
                "low": None,
                "high": None,
                "n": n,
                "n_undefined": n_undefined,
            }
            if self.by_group:
                row["group"] = group
            yield {**row, **found.get((group, system), {})}

    def _intervals(self, totals: Totals) -> dict[tuple[str | None, str | None], dict[str, Any]]:
        from nlgauge.metrics.comparison import compare, intervals

        found: dict[tuple[str | None, str | None], dict[str, Any]] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if self.test is None:
                for one in intervals(scores, systems, draws=self.draws, seed=self.seed):
                    found[group, one.system] = {"low": one.low, "high": one.high}
                continue
            base = self.baseline or next(s for s in systems if s is not None)
            for one in compare(
                scores,
                systems,
                items,
                test=self.test,
                baseline=base,
                draws=self.draws,
                seed=self.seed,
                compat=self.compat,
            ):
                compared = ("low", "high", "baseline", "delta", "delta_low", "delta_high", "p")
                found[group, one.system] = {name: getattr(one, name) for name in compared}
        return found

    def _notes(self, summary: Summary, totals: Mapping[str, Totals]) -> Iterator[str]:
        for spec, total in totals.items():
            for name, count in total.flagged.items():
                if count:
                    yield f"{spec}: {count} of {summary.n} segments have {_FLAGS.get(name, name)}"
            for note in getattr(self.metrics[spec], "notes", ()):
                yield f"{spec}: {note}"
        groups = [g for g in summary.groups if g is not None]
        if len(groups) > 1 and not self.by_group:
            shown = ", ".join([*groups[:8], *(["..."] if len(groups) > 8 else [])])
            yield f"{len(groups)} groups ({shown}) are scored together; --by-group gives each its row"
        if self.intervals and self.compat is None:
            yield f"[low, high]: 95 % percentile bootstrap over items, seed {self.seed or 0}"
        if self.test is not None:
            yield self._test_note()

    def _test_note(self) -> str:
        from nlgauge.metrics.comparison import SACREBLEU_SEED, draws_of

        how = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomisation"}[self.test or ""]
        seed = self.seed if self.seed is not None else SACREBLEU_SEED if self.compat == "sacrebleu" else 0
        known_fault = (
            f", as {self.compat} computes it (too often significant: see docs/statistics/comparison.md)"
            if self.compat
            else ""
        )
        return (
            f"p: {how} against the baseline, two-sided, {self.draws or draws_of(self.test or '')} draws, seed"
            f" {seed}{known_fault}"
        )


def _sort_out(data: Sequence[str], metrics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Files and metrics apart: `-m bleu chrf` leaves the second metric among the files, as sacrebleu's users write it."""
    from nlgauge.core.errors import SpecError
    from nlgauge.metrics.registry import metric

    files: list[str] = []
    specs = list(metrics)
    for word in data:
        if metrics and word != "-" and not os.path.exists(word):
            try:
                metric(word)
            except SpecError:
                files.append(word)
            else:
                specs.append(word)
        else:
            files.append(word)
    return files, specs


@contextmanager
def _source(data: list[str], hyp: list[str], ref: list[str], src: str | None) -> Iterator[Source]:
    from nlgauge.core.errors import InputError
    from nlgauge.io.parallel import open_parallel
    from nlgauge.io.read import open_data

    source: Source
    if hyp and data:
        raise InputError(f"{data[0]!r} is given beside --hyp; give either one data file or --hyp with --ref")
    if hyp:
        source = open_parallel(hyp, ref, src)
    elif len(data) == 1:
        if ref or src:
            raise InputError(f"{data[0]} brings its own references and sources; leave --ref and --src out")
        source = open_data(data[0])
    elif data:
        given = f"{len(data)} data files are given ({', '.join(data)}), expected one"
        raise InputError(f"{given}; is one of them a misspelt metric? see 'nlgauge list metrics'")
    else:
        raise InputError(
            "nothing to score: give a data file, or --hyp FILE with --ref FILE; see 'nlgauge score --help'"
        )
    try:
        yield source
    finally:
        source.close()


def _test(name: str | None, compat: str | None) -> str | None:
    from nlgauge.core.errors import InputError, nearest

    known = {"bootstrap": "bootstrap", "randomization": "randomization", "randomisation": "randomization"}
    if name is not None and name not in known:
        raise InputError(f"unknown test {name!r}{nearest(name, known)}")
    if compat is not None and name is None:
        raise InputError("--compat says how p-values are computed; it goes with --significance")
    return None if name is None else known[name]


def _gates(typed: Sequence[str], metrics: Mapping[str, Metric]) -> dict[str, float]:
    from nlgauge.core.errors import InputError, nearest

    gates: dict[str, float] = {}
    for gate in typed:
        spec, _, number = gate.rpartition("=")
        try:
            gates[spec] = float(number)
        except ValueError:
            raise InputError(f"--fail-under {gate!r}: expected SPEC=NUMBER, as in bleu=30") from None
        if spec not in metrics:
            raise InputError(f"--fail-under {gate!r}: {spec!r} is not among the metrics scored{nearest(spec, metrics)}")
    return gates


def _fails(row: Mapping[str, Any], gates: Mapping[str, float], metrics: Mapping[str, Metric]) -> bool:
    """Worse than the gate in the metric's own direction; an undefined number fails."""
    gate = gates.get(row["metric"])
    if gate is None:
        return False
    better = row["value"] >= gate if metrics[row["metric"]].info.higher_is_better else row["value"] <= gate
    return not better
