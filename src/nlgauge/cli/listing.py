"""`nlgauge list`: what there is, in a line or a few each; and one of them in full."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from json import dumps
from textwrap import wrap
from typing import Annotated, Any, TypeVar

from nlgauge.audits.suites import KINDS as MADE
from nlgauge.cli import options
from nlgauge.cli.main import LISTED, echo
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import show
from nlgauge.core.options import Argument, Typed
from nlgauge.core.result import Result, check_target
from nlgauge.io.formats import FORMATS
from nlgauge.io.read import about_plugin, plugin_formats
from nlgauge.io.results import result_schema
from nlgauge.io.suites.published import PUBLISHED
from nlgauge.io.suites.suites import LAYOUTS
from nlgauge.metaeval.measure import ABOUT, takes
from nlgauge.metaeval.tasks import PRESETS
from nlgauge.metrics.registry import ELSEWHERE, METRICS, SUMS, catalogue_row, metric_info, runs_with
from nlgauge.perturbations.checklist import TASKS, checklist_rows, select_rows
from nlgauge.perturbations.perturb import PERTURBATIONS, PerturbationInfo, info
from nlgauge.report.tables import Table, listed
from nlgauge.stats.correlate import names as statistics
from nlgauge.stats.correlate import statistic

R = TypeVar("R")

_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)  # an option under "Args:" of a docstring
_WIDE, _INDENT = 120, 17  # columns of a list, unless the terminal has others; where the texts beside names begin
_FACTS = "tasks; needs; range, and which end is better; what it runs with; its paper. Of a preset: what it stands for"
_BEGIN = (  # as docs/guides/choose.md has it; the evidence is in docs/studies
    "For translations into English and text made from data begin with rated beside chrf, for several translations of"
    " one text with gauge-rated, where they are very poor with gauge, in other languages with chrf; for summaries with"
    " bertscore:value=recall, and for their facts with faithful beside it. 'nlgauge choose DATA' says why for your"
    " texts."
)
_DOWNLOADS = (
    "What runs without a model, or with the embedded models, downloads nothing. A model of the hub is downloaded once;"
    " 'model=NAME' takes another, or a folder."
)
_SCALED = "a sum of its paper, in which each term is scaled by its own lowest and highest value in the call"
_AVERAGING = {
    "none": "all segments together, which also rewards a metric for knowing which inputs are hard",
    "item": "inside each item, then the mean over items",
    "sys": "inside each system, then the mean over systems; rewards the same",
    "micro": "pairs of all items pooled",
}
_SELECTION = {
    "hits_at_1": "share of draws in which the best of a metric is the best of people",
    "mrr": "mean of 1 / rank that people give it",
    "diff": "what people lose by it, on their scale",
}
_SYSTEMS = {
    "paired_bootstrap": "items are drawn anew, with all systems; takes 100 items or more (short: bootstrap)",
    "paired_randomisation": (
        "outputs for an item change sides, as if systems were alike; for any number of items (short: randomization)"
    ),
}


@options.verb()
def list_known(
    kind: Annotated[str, Argument("What to list.", words=LISTED)],
    names: Annotated[
        list[str] | None,
        Argument(
            "One metric or perturbation, with its options, or one result; of runs, their folders.", metavar="[NAME ...]"
        ),
    ] = None,
    task: Annotated[str | None, Typed("Perturbations: the checklist of a task.", words=TASKS)] = None,
    criterion: Annotated[
        str | None, Typed("Perturbations: only those of one criterion of the task.", metavar="NAME")
    ] = None,
    total: Annotated[bool, Typed("Runs: add up those over different files: their scores as of one run.")] = False,
    json: Annotated[
        str | None,
        Typed(
            "Metrics: write one row per metric as JSON; runs: what they add up to. Alone or with -, print it.",
            metavar="[FILE]",
        ),
    ] = None,
) -> None:
    """List metrics, perturbations, statistics with tests and protocols, formats, suites, fields of results or runs.

    `metrics` says of each metric what it is, its tasks, what it needs, its range and direction, its paper, and how it
    runs.

    A specification is `name:option=value,option=value`, and `bleu,chrf` are two; `bertscore:roberta-large` is short for
    `bertscore:model=roberta-large`. A value that holds a comma, bracket or blank stands in double quotes, with escapes
    as in JSON; any other backslash is itself.

    With a name, `nlgauge list metrics NAME` and `nlgauge list perturbations NAME` show one in full, with what each
    option does. `--json` writes a row per metric, or prints it.

    `perturbations --task TASK` is the checklist of a task, with what people take off for each row.

    `schema` prints the JSON Schema (2020-12) of what `--json` writes, by kind of result, and `schema KIND` that of one,
    which mostly is the name of its verb. It lets fields of later versions pass.

    `runs FOLDER ...` says how far runs in parts are, each a folder that `nlgauge score --engine` writes: parts and
    segments done, rate (over the last 32 parts) and time left; or that it stopped, and its command goes on. The folder
    holds:

    - `rows/`: a row per segment, as `--segments` writes them; `pandas.read_parquet("DIR/rows")` reads all.
    - `result.json`: the result, without the command and what `--thresholds` adds.
    - `plan.json`: files, metrics, and the rows of each part.
    - `sums/`: what the segments of a part add up to. Where they are, the part is done.
    - `stats/`: counts of each segment, for tests and intervals.
    - `pool/`: what metrics that depend on all segments found in them.

    `--total` adds up runs over different files: the chrF of a system is made of summed counts, not the mean of two
    runs. All must be done, by the same metrics in one order with equal signatures. Refused are two runs that count the
    same system of the same files, and metrics that depend on all segments. Systems are not tested.

    What installed packages add is listed, too.
    """
    lists = {
        "metrics": lambda: metric_table(shutil.get_terminal_size((_WIDE, 24)).columns),
        "perturbations": perturbation_table,
        "statistics": _statistics,
        "formats": _formats,
        "suites": _suites,
        "schema": _schema,
    }
    details: Mapping[str, Callable[[str], list[str]]] = {  # of which one can be shown in full
        "metrics": _metric,
        "perturbations": _perturbation,
        "schema": _schema,
    }
    if kind not in LISTED:
        raise InputError(f"unknown list {kind!r}{nearest(kind, LISTED)}")
    if kind != "perturbations" and (task is not None or criterion is not None):
        raise InputError("--task and --criterion go with 'nlgauge list perturbations'")
    if kind == "runs":
        _list_runs(names or [], total, json)
        return
    options.refuse_idle({"total": total}, "goes with 'nlgauge list runs'")
    if len(names or ()) > 1:
        raise InputError(f"'nlgauge list {kind}' shows one in full, and {len(names or ())} names are given")
    name = names[0] if names else None
    if name is not None and kind not in details:
        raise InputError(f"'nlgauge list {kind}' takes no name; {listed([*details])} do")
    if name is not None and (task is not None or criterion is not None):
        raise InputError(f"--task and --criterion list a checklist; {name} is shown without them")
    if json is not None:
        if kind != "metrics":
            raise InputError("--json goes with 'nlgauge list metrics' and 'nlgauge list runs --total'")
        check_target(json)
        rows = [catalogue_row(name)] if name is not None else _whole([*METRICS.names(), *SUMS], catalogue_row)
        Result("list", rows).write(json, "json")
        return
    if task is not None or criterion is not None:
        lines = _checklist(task, criterion)
    elif name is not None:
        lines = details[kind](name)
    else:
        lines = lists[kind]()
    echo("\n".join(lines))


def _list_runs(folders: Sequence[str], total: bool, json: str | None) -> None:
    from nlgauge.cli.scale import runs_added, runs_listed

    if not folders:
        raise InputError("which runs? name the folders of 'nlgauge score --engine': nlgauge list runs FOLDER ...")
    if not total:
        options.refuse_idle({"json": json}, "is about what runs add up to; it goes with --total")
        echo("\n".join(runs_listed(folders)))
        return
    files, shown = options.Files(json=json), options.Shown()
    files.check()
    shown.put_out(runs_added(folders), files, quiet=False, hints=False)  # it has no -v


def metric_table(width: int = _WIDE) -> list[str]:
    """A block of lines per metric, and one line per preset: what it is, and what `_facts` says of it."""
    rows = {row["metric"]: row for row in _whole([*METRICS.names(), *SUMS], catalogue_row)}
    lines = [*_entry("metric", ["what it is", _FACTS], width), ""]
    for name, row in rows.items():
        if row["preset_of"] is None:
            lines += _entry(name, [row["what"].partition(";")[0], "; ".join(filter(None, _facts(row)))], width)
        else:
            own = set(_facts(rows.get(row["preset_of"].partition(":")[0], row)))
            told = [fact for fact in _facts(row)[1:-1] if fact not in own]
            told = [fact if "of the hub" not in fact else "runs with this model of the hub" for fact in told]
            spec = row["preset_of"].replace(",", ", ") if len(row["preset_of"]) > width / 2 else row["preset_of"]
            told += [_SCALED] if name in SUMS else []
            lines += _entry(name, ["; ".join([f"= {spec}", *told])], width)
    told = [
        _BEGIN,
        "nlgauge list metrics NAME shows the options of one, and --json FILE writes all as JSON.",
        _DOWNLOADS,
        f"Not included, but read from the tables of their own programs: {', '.join(ELSEWHERE)}, and any other.",
    ]
    return [*lines, "", *(line for text in told for line in wrap(text, width, break_on_hyphens=False))]


def _entry(name: str, texts: Sequence[str], width: int) -> list[str]:
    room = max(width - _INDENT, _INDENT)
    lines = [line for text in texts for line in wrap(text, room, break_on_hyphens=False, break_long_words=False)]
    first = f"{name:<{_INDENT}}" if len(name) < _INDENT else f"{name}\n{'':<{_INDENT}}"
    return f"\n{'':<{_INDENT}}".join([first + lines[0], *lines[1:]]).split("\n")


def _facts(row: Mapping[str, Any]) -> list[str]:
    low, high = (f"{row[end]:g}" if row[end] is not None else inf for end, inf in (("low", "-inf"), ("high", "inf")))
    tasks = "all tasks" if {*row["tasks"]} == TASKS.keys() else ", ".join(t for t in TASKS if t in row["tasks"])
    return [
        tasks,
        f"needs {', '.join(row['needs']) or 'nothing'}",
        f"{low} to {high}, {metric_info(row['metric']).direction}",
        f"runs with {runs_with(row['metric'])}",
        "; ".join(paper.partition(",")[0] for paper in row["paper"].split("; ")),
    ]


def _whole(names: Sequence[str], line: Callable[[str], R]) -> list[R]:
    """The shown facts of each name; a name whose package is broken is reported on stderr instead."""
    lines = []
    for name in names:
        try:
            lines.append(line(name))
        except SpecError as error:
            echo(f"nlgauge: {error}", err=True)
    return lines


def _defaults(name: str, registry: Any) -> Mapping[str, Any]:
    """Option -> its value unless it is given, MISSING where it must be."""
    cls, preset = registry.lookup(name)
    return {f.name: preset.get(f.name, f.default) for f in dataclasses.fields(cls) if f.init}


def _options(name: str, registry: Any) -> str:
    shown = (
        f"{option}={'...' if value is dataclasses.MISSING else show(value)}"
        for option, value in _defaults(name, registry).items()
    )
    return ", ".join(shown) or "none"


def _explained(name: str, registry: Any) -> list[str]:
    """The description of each option from the class or its bases; lines of at most 120 characters."""
    cls, _ = registry.lookup(name)
    entries: dict[str, str] = {}
    for base in cls.__mro__:
        text = cleandoc(base.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
        for names, what in _ENTRY.findall(text):
            for option in names.split(", "):
                entries.setdefault(option, " ".join(what.split()))
    shown = [(option, entries[option]) for option in _defaults(name, registry) if option in entries]
    return [
        line
        for option, what in shown
        for line in wrap(
            f"{option}: {what}", 120, initial_indent=" " * 8, subsequent_indent=" " * 12, break_on_hyphens=False
        )
    ]


def _metric(name: str) -> list[str]:
    if name in SUMS:
        return [f"{name}: {SUMS[name]}; {_SCALED}"]
    METRICS.lookup(name)  # a name that is unknown is refused with the nearest
    about = metric_info(name)
    low, high = about.range
    return [
        f"{name}: {about.summary}",
        *([f"    from {about.paper}"] if about.paper else []),
        f"    for {', '.join(TASKS[task] for task in TASKS if task in about.tasks) or 'any task'}",
        f"    needs {', '.join(sorted(about.needs)) or 'nothing'}; range {low:g} to {high:g}, {about.direction}",
        f"    options {_options(name, METRICS)}",
        *_explained(name, METRICS),
        f"    runs with {runs_with(name)}",
    ]


def perturbation_table() -> list[str]:
    """One line per perturbation: what it does, what a score should do, an example."""
    rows = _whole(PERTURBATIONS.names(), _perturbation_line)
    table = Table("", ("perturbation", "what it does", "a score should be", "example"), tuple(rows), left=4)
    return [*table.text().split("\n"), "", "nlgauge list perturbations NAME shows the options of one."]


def _perturbation_line(name: str) -> tuple[str, ...]:
    about = info(name)
    return name, about.summary, about.expect, f"{about.example[0]!r} -> {about.example[1]!r}"


def _perturbation(name: str) -> list[str]:
    about = info(name)
    where = ", ".join(f"{row.task}/{row.criterion}" for row in checklist_rows() if row.template == name)
    lines = _about(name, about, where)
    return [*lines[:3], *_explained(name, PERTURBATIONS), *lines[3:]]


def _schema(kind: str | None = None) -> list[str]:
    return [dumps(result_schema(kind), ensure_ascii=False, indent=1)]


def _checklist(task: str | None, criterion: str | None) -> list[str]:
    if task is None:
        raise InputError("--criterion needs --task: criteria differ from task to task")
    lines, before = [], None
    for row in select_rows(task, criterion):
        if row.criterion != before:
            lines.append(f"{TASKS[row.task]}: {row.criterion}")
            before = row.criterion
        people = "not known" if row.penalty != row.penalty else f"{row.penalty:.2f} ({row.certainty} certainty)"
        lines += [f"  {line}" for line in _about(row.template, info(row.template), "", f"people take off {people}")]
    return lines


def _about(name: str, about: PerturbationInfo, where: str, people: str = "") -> list[str]:
    """Lines on one perturbation: what it does, an example, what it needs, where it stands in the checklists."""
    expected = "a score should drop" if about.expect == "lower" else "a score should stay the same"
    return [
        f"{name}: {about.summary}",
        f"    expect {about.expect} ({expected}){'; ' + people if people else ''}",
        f"    needs {', '.join(sorted(about.needs)) or 'nothing'}; options {_options(name, PERTURBATIONS)}",
        f"    {about.example[0]!r} -> {about.example[1]!r}",
        f"    {about.source}" + (f"; {where}" if where else ""),
    ]


def _suites() -> list[str]:
    width = max(map(len, [*LAYOUTS, *MADE]))
    return [
        "made from data (nlgauge audit DATA --suite NAME)",
        *(f"  {line}" for line in _columns(MADE, width)),
        "published, read from the files of their authors (nlgauge audit DATA --suite NAME)",
        *(f"  {line}" for line in _columns({name: LAYOUTS[name] for name in PUBLISHED}, width)),
        "read from a file (nlgauge audit --suite FILE)",
        *(f"  {line}" for line in _columns({name: LAYOUTS[name] for name in LAYOUTS if name not in PUBLISHED}, width)),
    ]


def _statistics() -> list[str]:
    lines = ["statistics (--stat)"]
    lines += _whole(statistics(), _statistic_line)
    for title, about in (
        ("of model selection (nlgauge select)", _SELECTION),
        ("tests between metrics (--test)", ABOUT),
        ("tests between systems (nlgauge score --significance)", _SYSTEMS),
        ("averaging (--averaging)", _AVERAGING),
    ):
        lines += [title, *(f"  {name}: {what}" for name, what in about.items())]
    lines += ["protocols (--preset)"]
    for name, preset in PRESETS.items():
        tasks = ", ".join(f"{task.stat} at level {task.level}" for task in preset.tasks)
        lines += [f"  {name}: {tasks}", f"      {preset.about}", f"      {preset.origin}"]
    return lines


def _statistic_line(name: str) -> str:
    own = takes(name)
    return f"  {name}: {statistic(name).summary}" + (f"; options {', '.join(own)}" if own else "")


def _formats() -> list[str]:
    formats = {one.name: one.about for one in FORMATS.values() if one.name and not one.reads}
    written = formats.pop("written")
    formats |= {**dict(_whole(plugin_formats(), lambda name: (name, about_plugin(name)))), "written": written}
    tables = {
        one.name: f"{one.reads.partition(':')[2]}: {one.about}" for one in FORMATS.values() if one.name and one.reads
    }
    width = max(map(len, [*formats, *tables]))
    return [*_columns(formats, width), "", "Scores and pairs, read in Python:", *_columns(tables, width)]


def _columns(about: Mapping[str, str], width: int) -> list[str]:
    return [f"{name:<{width}}  {what}" for name, what in about.items()]
