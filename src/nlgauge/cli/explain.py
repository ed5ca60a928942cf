"""`nlgauge align` and `nlgauge explain`: what a matching metric saw in one pair, and which words are at fault."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from typing import Annotated, Any, cast

import typer

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.result import STDOUT, replacing
from nlgauge.core.segment import Dataset
from nlgauge.io.evalset import read_set
from nlgauge.io.parallel import open_parallel
from nlgauge.io.segments import drained
from nlgauge.report.kinds.align import alignment_html, alignment_svg, alignment_text
from nlgauge.report.kinds.explain import explained_text, totals, unpainted
from nlgauge.scoring.explaining import AGAINST, METHODS, Against, Method
from nlgauge.scoring.explaining import align as measure
from nlgauge.scoring.explaining import explain as explained

_NARROWEST = 24  # columns the text needs; a narrower terminal folds the lines itself


@options.verb(without={"segments", "typed_seed"})
def align(
    *,
    hyp: Annotated[str, Typed("The hypothesis.", metavar="TEXT")],
    ref: Annotated[str, Typed("The reference.", metavar="TEXT")],
    metric: Annotated[str, Typed("A bertscore specification.", ("--metric", "-m"), "SPEC")] = "bertscore",
    svg: Annotated[str | None, Typed("Write the picture as SVG.", metavar="FILE")] = None,
    files: options.Files,
    run: options.Common,
) -> None:
    """Show token similarities, matches and weights of a hypothesis and a reference.

    Precision is made of the best match of each hypothesis word, recall of that of each reference word. The first two
    tables show these matches, their similarity (cosine) and the weight of each word, its share of precision or recall;
    the third shows all similarities, with `◂` for the best of a row, `▴` for the best of a column and `◆` for both. It
    is left out where it does not fit into the terminal. Of equally good matches the first is marked.

    It takes texts, not files. `-q` prints precision, recall and F alone.

    In the picture (`--svg`, `--html`) rows are the words of the hypothesis. Orange rails above and below a cell mark
    the best match of a hypothesis word, blue ones left and right that of a reference word, and a frame marks both. The
    shade covers the range of this one matrix.

    Precision, recall and F are what the metric reports. They differ from the weighted mean of the marked similarities
    where a word has several pieces, where scores are rescaled, or where several references are combined.
    """
    options.check_outputs({"--svg": svg, "--html": files.html, "--json": files.json})
    for option, text in (("--hyp", hyp), ("--ref", ref)):
        if os.path.isfile(text):
            raise InputError(
                f"{option} {text} is a file, expected the text itself; for its first line write {option}"
                f' "$(head -n 1 {shlex.quote(text)})"'
            )
    alignment = measure(hyp, ref, metric, run.runtime())
    for path, draw in ((svg, alignment_svg), (files.html, alignment_html)):
        if path is not None:
            with replacing(path) as file:
                file.write(draw(alignment))
    if files.json is not None:
        as_typed(alignment.result(metric)).write(files.json, "json")
    if svg == STDOUT or files.printed:
        return
    if run.quiet:
        echo(" ".join(f"{value:.4f}" for value in (alignment.precision, alignment.recall, alignment.f1)))
    else:
        columns = shutil.get_terminal_size((100, 24)).columns
        typer.echo(alignment_text(alignment, width=max(_NARROWEST, columns)))  # cleaned there, and isolated


# --- `nlgauge explain`: which words of a text are at fault, and how bad that is

_COLOURS = {"major": typer.colors.RED, "minor": typer.colors.YELLOW}


@dataclass(frozen=True)
class ExplainInput:
    """Options: texts, or files with one per line."""

    hyp: Annotated[str | None, Typed("The hypothesis, or a file with one per line.", metavar="TEXT")] = None
    ref: Annotated[list[str] | None, Typed("A reference, or a file of them; repeat for several.", metavar="TEXT")] = (
        None
    )
    src: Annotated[str | None, Typed("The source in the same language, or a file of them.", metavar="TEXT")] = None

    @property
    def files(self) -> list[str]:
        """Those of the texts that are files."""
        return [text for text in options.given(self.hyp, self.ref, self.src) if os.path.isfile(text)]

    def read(self) -> tuple[Dataset, list[Any]]:
        """The texts as a data set, and the files that were read.

        Raises:
            InputError: there is no hypothesis, or some of the texts are files and others are not.
        """
        if self.hyp is None:
            raise InputError(
                "nothing to explain: give a data file, or --hyp TEXT with --ref TEXT; see 'nlgauge explain --help'"
            )
        files, given = self.files, options.given(self.hyp, self.ref, self.src)
        if files and len(files) < len(given):
            text = next(text for text in given if text not in files)
            raise InputError(f"{files[0]} is a file and {text!r:.60} is none, expected only files or only texts")
        if files:
            return drained(open_parallel([self.hyp], self.ref or [], self.src))
        sources = None if self.src is None else [self.src]
        return Dataset.from_texts([self.hyp], [self.ref or []], sources), []


@options.verb(without={"segments", "typed_seed"})
def explain(
    *,
    data: Annotated[
        list[str] | None,
        Argument(
            "Texts: JSON lines, TSV, CSV, Parquet; several: one per system. In place of --hyp and --ref.",
            metavar="[DATA ...]",
        ),
    ] = None,
    columns: options.Columns = None,
    texts: ExplainInput,
    method: Annotated[
        str, Typed("Words that say something new, all words of no other text, or faithful's evidence.", words=METHODS)
    ] = "spans",
    against: Annotated[
        str | None, Typed("What texts are compared with.  [default: ref, src where there are none]", words=AGAINST)
    ] = None,
    output: Annotated[
        str | None, Typed("Write one row per hypothesis with its spans, as .jsonl.", ("--output", "-o"), "FILE")
    ] = None,
    files: options.Files,
    run: options.Common,
) -> int:
    """Mark the words at fault in texts, with severities, against references or sources.

    A hypothesis is compared with its references, or with its source, in the same language, where it has none. Of
    several texts, that one counts for each word which faults it least.

    In the terminal `[...]` is a major error, `{...}` a minor one, and `[+]` or `{+}` a place where something is
    missing; below stand the characters (from 0, the end not included), and the category where it is known. A score is
    minus 5 for each major and 1 for each minor error, and -25 for a text that says nothing.

    - `spans` marks runs of words that no other text has, if one of them carries content: function words (of English)
      and punctuation alone are left, negations and personal pronouns are not. Numbers, dates, times, units and
      contractions are compared by what they say. All are major. It needs no model.
    - `words` marks the words that no other text has, all as major.
    - `evidence` asks `faithful` whether the source supports each sentence; below .25 it is one major error,
      `unsupported`. No line holds for all texts; a note says where nearly all are below it. The least supported text
      stands first. What it finds stays in the cache, and the same command goes on after a stop.

    `spans` and `words` cannot tell another wording from an error: nearly every paraphrase gets a mark, and what is left
    out, exchanged or said in the wrong order gets none.
    """
    options.refuse_idle({"encoder": run.encoder and method != "evidence"}, "is about models that method evidence asks")
    if data and (texts.hyp, texts.ref, texts.src) != (None, None, None):
        raise InputError(f"{data[0]!r} is given beside --hyp, --ref or --src, which it replaces; leave one out")
    files.check(data, texts.files, output=output)
    dataset, inputs = read_set(data, options.columns_of(columns)) if data else texts.read()
    found = explained(
        dataset,
        method=cast(Method, method),  # checked there
        against=cast(Against | None, against),
        runtime=run.runtime(),
    )
    result = as_typed(found.result(inputs))
    if output is not None:
        with replacing(output) as file:
            file.writelines(json.dumps(row.as_row(), ensure_ascii=False) + "\n" for row in found.rows)
    files.write(result)
    if files.printed or output == STDOUT:
        return 0
    is_painted = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    columns_wide = shutil.get_terminal_size((100, 24)).columns
    typer.echo(explained_text(result, columns_wide, _painted if is_painted else unpainted))  # cleaned there
    if not run.quiet:
        echo(f"\n{totals(result.rows)}\n{found.method['signature']}")
        for note in found.notes:
            echo(f"note: {note}")
    return 0


def _painted(text: str, severity: str) -> str:
    return typer.style(text, fg=_COLOURS[severity], bold=severity == "major")
