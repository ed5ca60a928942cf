"""`nlgauge synth`: texts with errors made on purpose, each rated, as triples for `nlgauge train sescore`."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Annotated, Any

import typer

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.cli.options import bar
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Range, Typed, construct, fields_of
from nlgauge.core.result import STDOUT, Result
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Spec, parse
from nlgauge.io.parallel import Raw, read_paraphrases, read_raw
from nlgauge.io.suites.published import read_minor
from nlgauge.io.write import SUFFIX, Journal
from nlgauge.metrics.languages import Reader
from nlgauge.models.entailment import locate_nli
from nlgauge.models.infill import locate_infill
from nlgauge.perturbations.severity import calibrate as calibrated
from nlgauge.perturbations.synthesis import Draws, SynthesisRun, Synthesizer, run_synthesis
from nlgauge.report.kinds.synth import MOST, SIGNS, ladder_text, ladders_html
from nlgauge.report.pages import write_page
from nlgauge.report.text import render
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.scoring.looks import Looks

PARAPHRASES = ("references", "pairs")

PAPER = {  # what is drawn is the paper's by default
    "infill": ["facebook/mbart-large-50", "FacebookAI/xlm-roberta-large"],
    "infill_language": "en_XX",
    "judge": "FacebookAI/roberta-large-mnli",
    "threshold": 0.9,
    "severity": "binary",
}
_USED_BY = {"span": ("delete", "replace"), "swap_window": ("swap",)}


@dataclass(frozen=True)
class SeverityOptions:
    """Where words come from, and who says how bad an edit is."""

    infill: Annotated[
        list[str] | None,
        Typed(
            "What gives words: infill, lexicon, a head, a folder or hub id[@REVISION]; of several, one is drawn for"
            " each edit.  [default: infill]",
            metavar="MODEL",
        ),
    ] = None
    infill_language: str | None = None  # of --set
    judge: Annotated[
        str, Typed("The NLI model that rates: nli-robust, nli, a head, a folder or hub id[@REVISION].", metavar="MODEL")
    ] = "nli-robust"
    threshold: Annotated[
        float | None, Typed("Entailment both ways that makes an error minor.  [default: the judge's own]")
    ] = None
    severity: Annotated[
        str,
        Typed("binary: -1 or -5; graded: between them; none: -1 each, without a judge.", words="binary graded none"),
    ] = "binary"


@dataclass(frozen=True)
class Settings(Draws):
    """What `--set` takes beside the numbers of `Draws`."""

    max_words: Annotated[int, Range(least=2)] = 80
    infill_language: str | None = None

    @property
    def drawn(self) -> Draws:
        """The distributions alone."""
        return Draws(**{name: getattr(self, name) for name in fields_of(Draws)})


@options.verb(without={"segments", "cache", "no_cache", "encoder"})
def synth(
    *,
    context: typer.Context,
    texts: Annotated[
        str | None,
        Argument("One text per line, plain or .gz; a data set, whose references are taken; -.", metavar="[TEXTS]"),
    ] = None,
    columns: options.Columns = None,
    output: Annotated[str | None, Typed("Triples as JSON lines, also .gz.", ("--output", "-o"), "FILE")] = None,
    paraphrase: Annotated[
        str | None,
        Typed(
            "Compare a text with errors, and the text itself at 0, with the other references of its item; pairs:"
            " hypotheses, too, are by people, as post-edits are.",
            words=PARAPHRASES,
        ),
    ] = None,
    variants: Annotated[int, Range(least=1), Typed("How often each text is taken.", metavar="N")] = 1,
    preset: Annotated[
        str | None,
        Typed("paper: SEScore's fillers, judge and threshold, in place of what is not typed.", words="paper"),
    ] = None,
    draws: Draws,
    rated: SeverityOptions,
    settings: Annotated[
        str,
        Typed(
            "SEScore's numbers: edits (their mean, 5), max_edits (5), span (mean of tokens deleted or replaced, 1.5),"
            " swap_window (4), top_k (a word is drawn from so many that fit best, 4); max_words of a text (80);"
            " infill_language, as the tokenizer of an --infill of many languages spells it: de_DE for mBART.",
            ("--set",),
            "NAME=VALUE,...",
        ),
    ] = "",
    calibrate: Annotated[
        str | None,
        Typed("Calibrate the judge's threshold on labelled pairs. Without TEXTS, print it and stop.", metavar="PAIRS"),
    ] = None,
    limit: Annotated[int | None, Range(least=1), Typed("Only the first N texts.", metavar="N")] = None,
    show: Annotated[bool, Typed("Print each text edit by edit.")] = False,
    files: options.Files,
    run: options.Common,
) -> int:
    """Put errors into texts, edit by edit, and rate each; a stopped run continues.

    Each text gets one to five errors, one after another. An error costs -1 if the texts before and after it still
    entail each other by the judge, else -5. A line of the output has `id`, `hyp` (the text after all edits), `refs`
    (the text before), `score` (the sum of severities) and `steps`, each with its operation, place and severity;
    `--variants` end in `/0`, `/1` and so on. `nlgauge train sescore` reads it. `--show` marks new
    words `{+so+}`, lost ones `[-so-]`, exchanged ones `{~so~}`.

    A text beside its own original is an easy case: everything that differs is wrong. `--paraphrase references` compares
    with the other references of the item, and adds each text untouched (`ID/untouched`, score 0).

    A stopped run goes on with the same command: its triples are in `OUTPUT.part`. Other settings begin anew; two runs
    of one output are refused. Left alone and counted are texts that are empty, have one word or no letters, or are too
    long.

    `--calibrate PAIRS` finds a judge's threshold, which a judge of your own needs. A row has `text`, `changed` and
    `minor`; or it is a pair of `nlgauge perturb` (minor if `expect` is `same`), or an NLI pair, of which neutral and
    contradiction are major and entailment is left out.

    The judges of the package hardly notice exchanged words, and an error that a judge does not see costs -1. The
    fillers `infill` and `lexicon` are English. `--preset paper` needs models of the hub.
    """
    if preset is not None:
        rated = _as_published(context, preset, rated, calibrate)
    chosen = _settings(settings, draws)
    if chosen.infill_language is not None:
        rated = replace(rated, infill_language=chosen.infill_language)
    _check(texts, output, calibrate, show, files, rated)
    if texts is None:
        options.refuse_idle({"paraphrase": paraphrase is not None}, "is about TEXTS, and none are given")
    draws = chosen.drawn
    runtime = run.runtime(quiet=True, cached=False)  # progress is shown by texts
    threshold, notes = rated.threshold, []
    if calibrate is not None:
        threshold, about, result = _calibrated(calibrate, rated.judge, runtime)
        if texts is None:
            echo(about, err=files.printed)
            if files.json is not None:
                result.write(files.json, "json")
            return 0
        notes.append(about)
    assert texts is not None
    raw = _read(texts, columns, paraphrase)
    how: dict[str, Any] = {**asdict(rated), "threshold": threshold}  # checked there
    how["infill"] = rated.infill or "infill"
    how["judge"] = None if rated.severity == "none" else rated.judge
    maker = Synthesizer(draws, **how, seed=run.seed, variants=variants, max_words=chosen.max_words, runtime=runtime)
    described: dict[str, Any] = {
        "signature": str(maker.signature),
        "inputs": [entry["sha256"] for entry in raw.inputs],
        "limit": limit,
    }
    described |= {"paraphrase": paraphrase} if paraphrase else {}
    described |= {"columns": columns} if columns else {}  # of one file they choose other texts
    journal = Journal(output, described)
    notes += [*raw.notes, *_unread(raw, draws, rated, limit)]
    if not run.quiet:
        for note in notes:
            echo(f"note: {note}", err=True)
        _say_where_it_begins(journal, output)
    progress = silent if run.quiet or not sys.stderr.isatty() else bar
    outcome = run_synthesis(maker, raw.texts, raw.ids, journal, others=raw.others, limit=limit, progress=progress)
    result = as_typed(replace(outcome.result(raw.inputs, notes), settings={"seed": run.seed}))
    _write(outcome, result, journal, files, show)
    journal.finish()
    if outcome.left_alone:
        echo(outcome.left_alone, err=True)
    if not run.quiet and not files.printed and output != STDOUT:
        echo(render(result))
    return 0


def _read(texts: str, columns: options.Columns, paraphrase: str | None) -> Raw:
    if paraphrase not in (None, *PARAPHRASES):
        raise InputError(f"--paraphrase is {paraphrase!r}, expected {' or '.join(PARAPHRASES)}")
    named = options.columns_of(columns)
    return read_raw(texts, named) if paraphrase is None else read_paraphrases(texts, named, paraphrase == "pairs")


def _unread(raw: Raw, draws: Draws, rated: SeverityOptions, limit: int | None) -> list[str]:
    """Notes on texts in scripts that a filler or the judge does not read."""
    models = {}
    if {"insert", "replace"} & {*draws.operations}:
        for name in rated.infill or ["infill"]:
            languages = ("en",) if name == "lexicon" else locate_infill(name).languages
            models[f"--infill {name}"] = Reader(languages, "the filler")
    if rated.severity != "none":
        models[f"--judge {rated.judge}"] = Reader(locate_nli(rated.judge).languages, "the judge")
    segments = [Segment(*each) for each in islice(zip(raw.ids, raw.texts, strict=True), limit)]  # id and text
    return Looks(guards="off").seen(models, segments, "texts").notes()


def _as_published(
    context: typer.Context, preset: str, rated: SeverityOptions, calibrate: str | None
) -> SeverityOptions:
    if preset != "paper":
        raise InputError(f"--preset is {preset!r}, expected paper")
    own = options.untyped(context, PAPER)
    idle = ["judge", "threshold"] if rated.severity == "none" else ["threshold"] if calibrate is not None else []
    idle += [] if "infill" in own else ["infill_language"]  # that of the paper's filler
    own = {name: value for name, value in own.items() if name not in idle}
    return options.with_values(rated, own)


def _check(
    texts: str | None,
    output: str | None,
    calibrate: str | None,
    show: bool,
    files: options.Files,
    rated: SeverityOptions,
) -> None:
    outputs = {
        "--output": output,
        "--json": files.json,
        "--html": files.html,
        "the unfinished --output": None if output is None else output + SUFFIX,
    }
    options.check_outputs(outputs, texts, calibrate)
    if texts is None and (calibrate is None or output is not None or show or files.html is not None):
        raise InputError(
            "no texts are given, expected a file with one text per line; --calibrate PAIRS alone finds a threshold and"
            " needs none"
        )
    if texts is not None and output is None and not show and files.html is None and files.json is None:
        raise InputError("nothing would be kept: name a file with -o, or look at the edits with --show or --html")
    if rated.severity == "none":
        idle = {"judge": rated.judge != SeverityOptions.judge, "threshold": rated.threshold is not None}
        options.refuse_idle(idle, "is about rating, and --severity none rates without a judge")
    if calibrate is not None and rated.severity == "none":
        raise InputError("--calibrate finds a threshold, and --severity none needs none")
    if calibrate is not None and rated.threshold is not None:
        raise InputError("--calibrate finds a threshold, and --threshold names one")


def _settings(typed: str, draws: Draws) -> Settings:
    """What `--set` says; numbers of operations that are not drawn are refused."""
    spec = parse(f"set:{typed}" if typed else "set")
    given = dict(spec.options) if isinstance(spec, Spec) else {}
    if "operations" in given:
        raise InputError("--set takes numbers; which operations are drawn is --operations, as in --operations insert")
    made: Settings = construct(Settings, given, {"operations": draws.operations}, "--set")
    for name, operations in _USED_BY.items():
        if not set(operations) & set(draws.operations) and getattr(made, name) != getattr(Draws, name):
            raise InputError(f"--set {name} is about {' and '.join(operations)}, which --operations leaves out")
    return made


def _calibrated(path: str, judge: str, runtime: Runtime) -> tuple[float, str, Result]:
    pairs, inputs = read_minor(path)
    best = calibrated(judge, pairs, runtime)
    about = (
        f"threshold of {judge}: {best.threshold:.4g}; balanced accuracy {best.balanced_accuracy:.3f}, of"
        f" {best.n_minor} minor pairs {100 * best.minor:.1f} % are found, of {best.n_major} major ones"
        f" {100 * best.major:.1f} %"
    )
    return best.threshold, about, Result("synth", [{"judge": judge, **asdict(best)}], inputs)


def _say_where_it_begins(journal: Journal, output: str | None) -> None:
    if journal.taken:
        echo(f"note: {journal.taken} texts were done before, going on behind them", err=True)
    elif journal.put_aside:
        echo(f"note: {output}.part was of a run with other settings; beginning anew", err=True)


def _write(outcome: SynthesisRun, result: Result, journal: Journal, files: options.Files, show: bool) -> None:
    for row in journal.rows() if show else ():
        echo(ladder_text(row, shutil.get_terminal_size().columns) + "\n")
    if show:
        echo(SIGNS + "\n")
    if files.html is not None:
        rows, total = list(islice(journal.rows(), MOST)), int(result.rows[-1]["texts"])
        write_page(ladders_html(rows, str(outcome.signature), result.notes, total), files.html)
    if files.json is not None:
        result.write(files.json, "json")
