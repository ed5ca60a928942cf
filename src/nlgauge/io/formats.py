"""The formats of segments: one entry for each of ours, and the readers that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import PurePath
from typing import Any, Literal

from nlgauge.core.errors import InputError, NlgaugeError, nearest
from nlgauge.core.options import broken_plugin, find_plugin, load_plugin, plugin_names
from nlgauge.io.files.files import InputFile, unpacked_name
from nlgauge.io.files.lines import refuse

GROUP = "nlgauge.formats"


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format. What reads it is named as `module:name` below `nlgauge.io`, and imported with its first file.

    Attributes:
        about: what it is, in one line.
        rows: what reads a file row by row: a class of `Rows`, given the file.
        held: what reads it into memory: a function that makes a `HeldSource` of a file or a folder.
        folder: whether a folder has this format: a function that is given its path. Empty for a format of files.
        extensions: the ends of names that mean it.
        of: the format whose extensions it shares. It is recognised by its `marks`.
        marks: fields of its first row, or columns of its header; all of one set are there, and `hyp` is not.
        alone: the same where there are no other fields beside them.
        columns: who is told of columns with other names: its reader, given them after the file, or each row.
    """

    about: str
    rows: str = ""
    held: str = ""
    folder: str = ""
    extensions: tuple[str, ...] = ()
    of: str = ""
    marks: tuple[frozenset[str], ...] = ()
    alone: tuple[frozenset[str], ...] = ()
    columns: frozenset[Literal["reader", "row"]] = frozenset()


_MQM = frozenset({"system", "doc", "rater", "source", "target", "category", "severity"})

OURS: Mapping[str, Format] = {
    "jsonl": Format(
        about=(
            "JSON lines (.jsonl .ndjson .json .jl, .gz), or one array of objects: one row per segment, with the names"
            " of our fields"
        ),
        rows="jsonl:JsonRows",
        extensions=(".jsonl", ".ndjson", ".json", ".jsonlines", ".jl"),
        columns=frozenset({"row"}),
    ),
    "tsv": Format(
        about="TSV (.tsv, .gz): the same names as columns of a header",
        rows="delimited:tab_rows",
        extensions=(".tsv", ".tab"),
        columns=frozenset({"reader"}),
    ),
    "csv": Format(
        about=(
            "CSV (.csv, .gz): our own names; COMET's src, mt, ref, score; rated outputs for meaning representations"
            " (BAGEL, SFHOT)"
        ),
        rows="delimited:DelimitedRows",
        extensions=(".csv",),
        columns=frozenset({"reader"}),
    ),
    "parquet": Format(
        about="Parquet (.parquet): the same names as columns; needs the extra 'parquet'",
        rows="parquet:ParquetRows",
        extensions=(".parquet",),
        columns=frozenset({"reader", "row"}),
    ),
    "summeval": Format(
        about="SummEval's model_annotations.aligned.jsonl, also paired or scored: expert and crowd ratings as lists",
        rows="summeval:SummEvalRows",
        of="jsonl",
        marks=(frozenset({"decoded", "model_id"}),),
    ),
    "paws": Format(
        about=(
            "PAWS, PAWS-X and QQP (.tsv, .gz): sentence1 is the reference, sentence2 the hypothesis, label the rating"
        ),
        rows="delimited:tab_rows",
        of="tsv",
        marks=(frozenset({"sentence1", "sentence2", "label"}),),
        columns=frozenset({"reader"}),
    ),
    "mqm": Format(
        about="MQM annotations (.tsv, .gz): one marked error a row, scored with the standard weights",
        held="wmt.mqm:open_mqm",
        of="tsv",
        marks=(_MQM | {"doc_id"}, _MQM | {"docSegId"}),
    ),
    "mtme": Format(
        about="mt-metrics-eval: the folder of one test set, with its human scores of segments",
        held="wmt.mtme:open_mtme",
        folder="wmt.mtme:is_mtme",
    ),
    "inspect": Format(
        about="inspect_ai: .eval (zip, also Zstandard) and its JSON, with scores, epochs as runs",
        held="logs.inspect:open_inspect",
        extensions=(".eval",),
        of="jsonl",
        marks=(frozenset({"status", "eval"}),),
    ),
    "lm-eval": Format(
        about="lm-evaluation-harness: samples_TASK_DATE.jsonl, answers after one filter",
        held="logs.lmeval:open_lmeval",
        of="jsonl",
        marks=(frozenset({"doc_id", "doc", "target"}), frozenset({"doc_id", "filtered_resps"})),
        columns=frozenset({"reader"}),
    ),
    "promptfoo": Format(
        about="promptfoo: -o results.json, and results.jsonl with one result per line",
        held="logs.promptfoo:open_promptfoo",
        of="jsonl",
        marks=(frozenset({"evalId", "results"}), frozenset({"promptIdx", "testIdx"})),
        columns=frozenset({"reader"}),
    ),
    "every-eval-ever": Format(
        about="Every Eval Ever: instance lines, UUID_samples.jsonl",
        held="logs.every:open_every",
        of="jsonl",
        marks=(frozenset({"schema_version", "evaluation_id", "sample_id"}),),
    ),
    "deepeval": Format(
        about="deepeval: test_run_DATE.json, and .latest_test_run.json",
        held="logs.deepeval:open_deepeval",
        of="jsonl",
        marks=(frozenset({"testCases"}), frozenset({"testRunData"})),
        columns=frozenset({"reader"}),
    ),
    "mlflow": Format(
        about="MLflow: eval_results_table.json, columns and data",
        held="logs.mlflow:open_mlflow",
        of="jsonl",
        marks=(frozenset({"columns", "data"}),),
        columns=frozenset({"reader"}),
    ),
    "mlflow-traces": Format(
        about="MLflow: traces with their feedback, one per line, in a list, or as `mlflow traces search` prints them",
        held="logs.mlflow_traces:open_traces",
        of="jsonl",
        marks=(frozenset({"trace_id", "trace", "assessments"}),),
        alone=(frozenset({"info", "data"}), frozenset({"traces"}), frozenset({"traces", "next_page_token"})),
        columns=frozenset({"reader"}),
    ),
    "openai-evals": Format(
        about="openai/evals: the events of a run, joined by sample_id",
        held="logs.openai_evals:open_evals",
        of="jsonl",
        marks=(frozenset({"run_id", "event_id", "sample_id", "type"}),),
        alone=(frozenset({"spec"}),),
        columns=frozenset({"reader"}),
    ),
    "openai-batch": Format(
        about="OpenAI's batch output: one answer per line, joined by custom_id",
        held="logs.openai:open_batch",
        of="jsonl",
        marks=(frozenset({"custom_id", "response"}),),
    ),
    "helm": Format(
        about="HELM: the folder of a run, with the statistics of each instance",
        held="logs.helm:open_helm",
        folder="logs.helm:is_helm",
    ),
    "lighteval": Format(
        about="lighteval: details_TASK_DATE.parquet, answers and scores of a task; needs the extra 'parquet'",
        held="logs.lighteval:open_lighteval",
        of="parquet",
        marks=(frozenset({"doc", "model_response", "metric"}), frozenset({"predictions", "gold", "metrics"})),
        columns=frozenset({"reader"}),
    ),
    "wmt-da": Format(
        about=("WMT15 and WMT16 direct assessment: a folder of SET.source.LP, .reference.LP, .mt-system.LP, .human.LP"),
        held="wmt.da:open_da",
        folder="wmt.da:is_da",
    ),
}
# Read as segments, by `read` and `open_data`, which tell most of them apart themselves.
FORMATS: Mapping[str, str] = {name: one.about for name, one in OURS.items()}
# Read as tables of scores or as pairs, by the function named.
TABLES: Mapping[str, str] = {
    "scores": "read_scores: JSON lines, TSV, CSV or Parquet with id, or system and seg; sacrerouge's JSON lines",
    "wmt-scores": (
        "read_scores, read_submission: METRIC.seg.score and METRIC.sys.score (.gz) of WMT17 to WMT24; written and"
        " checked too"
    ),
    "mtme-scores": "read_scores: NAME-REF.LEVEL.score and LP.NAME.LEVEL.score of mt-metrics-eval; written too",
    "mtme-ratings": (
        "read_ratings: LP.NAME.seg.rating of mt-metrics-eval, marked errors scored with the standard weights"
    ),
    "wmt17-da": "read_da_scores: DA-seglevel.csv, LP DATA SYSTEM SID HUMAN",
    "esa": "read_esa_scores: ratings of an ESA campaign, the CSV of WMT24, 12 columns without a header",
    "mqm-averages": "read_mqm_averages: system mqm_avg_score seg_id",
    "summeval-scores": "read_summeval_scores: the metric scores of SummEval's scored version",
    "relative-ranks": "read_relative_ranks: RR-seglevel.csv and DArr-seglevel.csv, LP DATA SID BETTER WORSE",
    "pairs": "read_pairs: JSON lines with better_id and worse_id",
    "verdicts": "read_verdicts: JSON lines with item, judge and score, or first, second and verdict",
    "judge-card": "read_card: what is known of a judge, JSON; write_card writes it",
    "comet-ranking": "read_ranking: CSV with src, ref, pos, neg",
}


def plugin_formats() -> list[str]:
    """The formats that installed packages add."""
    return [name for name in plugin_names(GROUP) if name not in OURS]


def about_plugin(name: str) -> str:
    """The first line of what the reader of an installed package says of itself.

    Raises:
        SpecError: it cannot be loaded, or is no reader.
    """
    return (_reader(name)[1].__doc__ or "no description").strip().splitlines()[0]


def _reader(name: str) -> tuple[metadata.EntryPoint, Callable[[InputFile], Iterable[Any]]]:
    """The entry point of a format, and the function that it names."""
    point = find_plugin(GROUP, name)
    assert point is not None  # its name was found before
    read = load_plugin(point, "format")
    if not callable(read):
        raise broken_plugin(point, "format", f"is {type(read).__name__} {read!r:.60}, expected a function of a file")
    return point, read


def check_format(name: str) -> None:
    """Refuse a name that is neither one of our formats of segments nor one that an installed package adds."""
    if name in OURS or find_plugin(GROUP, name) is not None:
        return
    if name in TABLES:
        raise InputError(f"format {name!r} holds no texts; read it with {TABLES[name].partition(':')[0]}")
    raise InputError(f"unknown format {name!r}{nearest(name, [*OURS, *plugin_formats()])}")


def by_name(path: str) -> str | None:
    """The format that the name of a file says, also before `.gz`, `.bz2` or `.xz`; None if it says none.

    What an installed package adds under some name reads the files with that extension.
    """
    extension = PurePath(unpacked_name(path)).suffix.lower()
    ours = next((name for name, one in OURS.items() if extension in one.extensions), None)
    if ours is None and extension.removeprefix(".") in plugin_names(GROUP):
        return extension.removeprefix(".")
    return ours


def by_fields(usual: str, fields: Iterable[str]) -> str:
    """`usual`, or the format of the same extension whose marks are among the fields of the first row."""
    there = frozenset(fields)
    alike = (
        name
        for name, one in OURS.items()
        if one.of == usual and (there in one.alone or any(marks <= there for marks in one.marks))
    )
    return usual if "hyp" in there else next(alike, usual)


def expected_names() -> str:
    """The extensions that are read, for an error."""
    *others, last = [
        *(one.extensions[0] for one in OURS.values() if one.extensions),
        *(f".{name}" for name in plugin_formats()),
    ]
    return f"{', '.join(others)} or {last}"


def named(target: str) -> Callable[..., Any]:
    """A function or class below `nlgauge.io`, as `module:name`."""
    module, _, name = target.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"nlgauge.io.{module}"), name)
    return found


class PluginRows:
    """The rows that a reader of an installed package makes of a file.

    Args:
        file: the file.
        name: the name of the format.

    Attributes:
        ignored: nothing; unknown fields are noted with the rows.

    Raises:
        SpecError: the reader cannot be loaded, fails, or gives something else than (line number, fields).
    """

    def __init__(self, file: InputFile, name: str) -> None:
        self.file = file
        self.ignored: list[str] = []
        self.refuse: Callable[[str, str], object] = refuse
        self._point, self._read = _reader(name)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        try:
            for given in self._read(self.file):
                if not (isinstance(given, tuple) and len(given) == 2 and type(given[0]) is int):
                    raise broken_plugin(
                        self._point, "format", f"gives {given!r:.60} for a row, expected (line number, fields)"
                    )
                yield given
        except NlgaugeError:
            raise
        except Exception as error:  # their reader may meet anything
            reason = f"{type(error).__name__}: {error!s:.160}".splitlines()[0]
            raise broken_plugin(self._point, "format", f"cannot read {self.file.name} ({reason})") from None

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return f"{self.file.name}:{number}"

    def notes(self) -> list[str]:
        """Nothing is dropped that is known here."""
        return []
