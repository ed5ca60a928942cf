"""`nlgauge synth`: raw texts with errors made on purpose, and how bad each is, as triples for `nlgauge train sescore`."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.io.files.journal import Journal
    from nlgauge.io.raw import Raw
    from nlgauge.perturbations.synthesis.synthesize import Synthesizer

PORTION = 256  # texts that are kept together; a run that is killed loses no more

Texts = Annotated[
    str | None,
    typer.Argument(metavar="[TEXTS]", help="A text a line, plain or .gz; a data set, whose references are taken; -."),
]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Triples as JSON lines, also .gz.")]
Operations = Annotated[
    str, typer.Option("--operations", metavar="LIST", help="Some of insert, delete, replace, swap, with commas.")
]
Infill = Annotated[
    str,
    typer.Option("--infill", metavar="MODEL", help="What gives words: infill, lexicon, a head, a folder or hub id."),
]
Judge = Annotated[
    str,
    typer.Option(
        "--judge", metavar="MODEL", help="The NLI model that rates: nli-robust, nli, a head, a folder or hub id."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", help="Entailment both ways that makes an error minor.  [default: the judge's own]"),
]
Severities = Annotated[
    str, typer.Option("--severity", help="binary: -1 or -5; graded: between them; none: -1 each, without a judge.")
]
Pairs = Annotated[
    str | None,
    typer.Option(
        "--calibrate", metavar="PAIRS", help="Labelled pairs: find the judge's threshold; without TEXTS, no more."
    ),
]


def synth(
    texts: Texts = None,
    output: Output = None,
    variants: Annotated[int, typer.Option("--variants", min=1, metavar="N", help="How often each text is taken.")] = 1,
    operations: Operations = "insert,delete,replace,swap",
    edits: Annotated[
        float, typer.Option("--edits", help="Mean of the Poisson distribution of the number of edits.")
    ] = 5.0,
    max_edits: Annotated[
        int, typer.Option("--max-edits", min=1, help="Most edits; a draw of 0 or more than these is drawn again.")
    ] = 5,
    span: Annotated[
        float, typer.Option("--span", help="Mean of the Poisson distribution of tokens deleted or replaced.")
    ] = 1.5,
    swap_window: Annotated[
        int, typer.Option("--swap-window", min=1, help="How far apart two tokens that change places may be.")
    ] = 4,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="Of how many words that fit best one is drawn.")] = 4,
    infill: Infill = "infill",
    judge: Judge = "nli-robust",
    threshold: Threshold = None,
    severity: Severities = "binary",
    max_words: Annotated[int, typer.Option("--max-words", min=2, help="Longer texts are left alone.")] = 80,
    calibrate: Pairs = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N texts.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print each text edit by edit.")] = False,
    json: options.Json = None,
    html: options.Html = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    quiet: options.Quiet = False,
) -> int:
    """Put errors into texts, edit by edit, and rate each; a run that was stopped goes on where it was."""
    from nlgauge.core.errors import InputError
    from nlgauge.core.result import Result
    from nlgauge.io.files.journal import SUFFIX, Journal
    from nlgauge.io.raw import read_raw
    from nlgauge.perturbations.synthesis.draws import Draws
    from nlgauge.perturbations.synthesis.synthesize import Synthesizer
    from nlgauge.report.text import render

    outputs = {
        "--output": output,
        "--json": json,
        "--html": html,
        "the unfinished --output": None if output is None else output + SUFFIX,
    }
    options.check_outputs(outputs, [path for path in (texts, calibrate) if path is not None])
    if texts is None and (calibrate is None or output is not None or show or html is not None):
        raise InputError(
            "no texts are given, expected a file with a text a line; --calibrate PAIRS alone finds a threshold and"
            " needs none"
        )
    if texts is not None and output is None and not show and html is None and json is None:
        raise InputError("nothing would be kept: name a file with -o, or look at the edits with --show or --html")
    if calibrate is not None and (threshold is not None or severity == "none"):
        raise InputError(
            "--calibrate finds a threshold, and"
            f" {'--threshold names one' if severity != 'none' else '--severity none needs none'}"
        )
    quiet_runtime = options.make_runtime(device, dtype, seed, None, True, True)  # progress is shown by texts
    notes: list[str] = []
    if calibrate is not None:
        threshold, found, inputs = _calibrated(calibrate, judge, quiet_runtime)
        told = f"threshold of {judge}: {threshold:.4g}; {_told(found)}"
        if texts is None:
            typer.echo(told)
            if json is not None:
                Result("synth", [{"judge": judge, **found}], inputs).write(json)
            return 0
        notes.append(told)
    assert texts is not None
    raw = read_raw(texts)
    chosen: Any = tuple(name.strip() for name in operations.split(",") if name.strip())  # checked by Draws
    maker = Synthesizer(
        Draws(operations=chosen, edits=edits, max_edits=max_edits, span=span, swap_window=swap_window, top_k=top_k),
        infill=infill,
        judge=None if severity == "none" else judge,
        threshold=threshold,
        severity=severity,
        seed=seed,
        variants=variants,
        max_words=max_words,
        runtime=quiet_runtime,
    )
    settings = {"signature": str(maker.signature), "inputs": [entry["sha256"] for entry in raw.inputs], "limit": limit}
    journal = Journal(output, settings)
    if not quiet and journal.taken:
        typer.echo(f"note: {journal.taken} texts were done before, going on behind them", err=True)
    elif not quiet and journal.put_aside:
        typer.echo(f"note: {output}.part was of a run with other settings; beginning anew", err=True)
    _run(maker, raw, limit, journal, quiet)
    skipped = Counter(journal.state["skipped"])
    left = _left(skipped)
    notes += [*raw.notes, *([left] if left else [])]
    rows = _summary(journal.rows())
    result = Result(
        "synth",
        rows,
        raw.inputs,
        [{"spec": "synthesize", "signature": settings["signature"], "higher_is_better": True}],
        notes,
    )
    if show:
        from nlgauge.report.ladder import ladder_text

        for row in journal.rows():
            typer.echo(ladder_text(row, shutil.get_terminal_size().columns) + "\n")
    if html is not None:
        from nlgauge.report.ladder import MOST, write_ladders

        shown = [row for row, _ in zip(journal.rows(), range(MOST), strict=False)]
        write_ladders(shown, settings["signature"], notes, html, total=int(rows[-1]["texts"]))
    if json is not None:
        result.write(json)
    journal.finish()
    if left:
        typer.echo(left, err=True)
    if not quiet:
        typer.echo(render(result))
    return 0


def _run(maker: Synthesizer, raw: Raw, limit: int | None, journal: Journal, quiet: bool) -> None:
    """All texts from where the journal stops on, portion by portion."""
    import sys

    from nlgauge.runtime.runtime import silent

    n = len(raw.texts) if limit is None else min(limit, len(raw.texts))
    state: dict[str, Any] = {"skipped": {}, **journal.state}
    if not journal.state:
        journal.state = state
    progress = silent if quiet or not sys.stderr.isatty() else options.bar
    with progress(n, "texts") as advance:
        advance(journal.taken)
        for start in range(journal.taken, n, PORTION):
            end = min(start + PORTION, n)
            made = maker(raw.texts[start:end])
            rows = []
            for place, one in enumerate(made):
                if one is not None:
                    named = raw.ids[start + place // maker.variants]
                    rows.append(one.as_row(named if maker.variants == 1 else f"{named}/{one.variant}"))
            reasons = Counter(reason for reason in made.reasons[:: maker.variants] if reason is not None)
            state = {"skipped": dict(Counter(state["skipped"]) + reasons)}
            journal.add(end, rows, state)
            advance(end - start)


def _calibrated(path: str, judge: str, runtime: Any) -> tuple[float, dict[str, Any], list[dict[str, str]]]:
    from dataclasses import asdict

    from nlgauge.io.suites.minor import read_minor
    from nlgauge.perturbations.synthesis.severity import calibrate

    pairs, inputs = read_minor(path)
    found = calibrate(judge, pairs, runtime)
    return found.threshold, asdict(found), inputs


def _told(found: Mapping[str, Any]) -> str:
    return (
        f"balanced accuracy {found['balanced_accuracy']:.3f}, of {found['n_minor']} minor pairs"
        f" {100 * found['minor']:.1f} % are found, of {found['n_major']} major ones {100 * found['major']:.1f} %"
    )


def _left(skipped: Mapping[str, int]) -> str:
    """How many texts were left alone, by reason; empty where there are none."""
    total = sum(skipped.values())
    told = ", ".join(f"{reason} {n}" for reason, n in Counter(skipped).most_common())
    return f"left alone: {total} {'text' if total == 1 else 'texts'} ({told})" if total else ""


def _summary(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row an operation and one for all: how many edits, their share, how bad they are on the mean, and how many are major where it is -1 or -5."""
    texts, score, found = 0, 0.0, dict[str, list[float]]()
    for row in rows:
        texts += 1
        score += row["score"]
        for step in row["steps"]:
            found.setdefault(step["operation"], []).append(step["severity"])
    total = sum(map(len, found.values()))
    made = {
        **dict(sorted(found.items())),
        "all": [severity for severities in found.values() for severity in severities],
    }
    return [
        {
            "operation": name,
            "texts": texts,
            "edits": len(own),
            "share": len(own) / total if total else float("nan"),
            "severity": sum(own) / len(own) if own else float("nan"),
            "major": _major(own),
            "score": score / texts if texts and name == "all" else float("nan"),
        }
        for name, own in made.items()
    ]


def _major(severities: Sequence[float]) -> float:
    """The share of -5; NaN where there are none, and where they are graded."""
    from nlgauge.perturbations.synthesis.severity import MAJOR, MINOR

    return (
        sum(s == MAJOR for s in severities) / len(severities)
        if severities and {MINOR, MAJOR}.issuperset(severities)
        else float("nan")
    )
