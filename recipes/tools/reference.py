"""The reference, docs/reference: made of docstrings, registries and `--help`, so that nothing stands there twice.

    python recipes/tools/reference.py               makes it anew; a test says when it is stale
    python recipes/tools/reference.py FOLDER        in another folder

What audits found stands in a table beside this program (`metrics/audits.tsv`).
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import inspect
import math
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import perturbation_pages
import typer
from markdown_parts import (
    SECTIONS,
    Told,
    anchor,
    arguments,
    attributes,
    body,
    items,
    page,
    plain,
    prose,
    section,
    sentence,
    table,
)

import nlgauge as ng
from nlgauge.cli import options
from nlgauge.cli.main import INNER, TRAIN, VERBS, Verb, _command
from nlgauge.core.metric import show, whole
from nlgauge.core.options import fields_of
from nlgauge.core.scores import MEANINGS
from nlgauge.io.formats import FORMATS, Format, named
from nlgauge.io.results import result_fields
from nlgauge.io.suites.published import PUBLISHED
from nlgauge.io.suites.suites import _READERS, LAYOUTS
from nlgauge.metaeval.measure import ABOUT, takes
from nlgauge.metaeval.tasks import PRESETS
from nlgauge.metrics.registry import METRICS, SUMS, catalogue_row, metric, metric_info, runs_with
from nlgauge.perturbations.checklist import TASKS, checklist_rows
from nlgauge.perturbations.perturb import PERTURBATIONS, info
from nlgauge.stats.correlate import names as statistics
from nlgauge.stats.correlate import statistic
from nlgauge.text.scripts import known_writings, writings

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parents[1]
SOURCE = ROOT / "src"
REFERENCE = ROOT / "docs" / "reference"

Definition = ast.FunctionDef | ast.ClassDef | ast.AnnAssign | ast.Assign
_LONG = 72  # columns of a signature in one line
_SEVERAL = 3  # verbs whose options then stand on the page of all

# Family of metrics -> its title, its first sentence, and the modules of nlgauge.metrics whose metrics belong to it.
FAMILIES: Mapping[str, tuple[str, str, str]] = {
    "words": (
        "Words and characters",
        "They count what two texts share, or the edits between them. They need no model and are fast.",
        r"lexical\.|edits$",
    ),
    "likelihood": (
        "Language models",
        "They ask how likely a text is, or how much it helps to guess another.",
        r"likelihood$|blanc$",
    ),
    "vectors": (
        "Token vectors",
        "They compare what an encoder makes of the tokens. `nlgauge fetch` brings three.",
        r"embedding\.",
    ),
    "entailment": ("Entailment", "They ask whether one text follows from another.", r"nli$|faithful$|checkers$"),
    "trained": (
        "Trained on ratings or errors",
        "A head comes with the package for `sescore`, `rated` and `gauge`; the others are trained on your data.",
        r"learned\.",
    ),
    "others": (
        "Of other programs",
        "They run in an environment of their own, behind an endpoint, or read the scores that a program wrote.",
        r"external$|stored$|judging$",
    ),
}
_USUAL = ("needs", "reads")  # facts that a page tells once, where several of its metrics agree
_ORDER = ("words", "vectors", "entailment", "likelihood", "trained", "others")
# Sets of src/nlgauge/data/agreement.tsv that are shown together, by how their names begin.
_SETS = {
    "other languages": ("wmt16-en-ru", "wmt21-en-de", "wmt24-en-cs", "wmt24-en-zh", "ted-en-de"),
    "WMT16": ("wmt16",),
    "WMT21 to 23": ("wmt21", "wmt22", "wmt23"),
    "TED": ("ted",),
    "data-to-text": ("bagel", "sfhot", "webnlg20"),
    "SummEval": ("summeval",),
    "QAGS-CNN": ("qags",),
}
_AUDITED = (
    "How much of its score a metric takes off for an error: the three that it underrates most beside what people are"
    " estimated to take off, and the harmless change that costs most, for which nothing should come off"
    " ([audit](verbs/audit.md)). The page of each family ends in its table;"
    " [another](../../recipes/tools/metrics/audits.tsv) has presets and 95 % intervals. 50 sentences of news and"
    " encyclopedia (UD English PUD) were damaged; each is its own reference, and source."
)
_AGREED = (
    "Of two outputs for one item, how often a metric puts the one first that people rate higher; a blind choice gets"
    " .50. Each figure is the mean over public sets ([all of them](../../src/nlgauge/data/agreement.tsv): translations"
    " into Russian, German (two), Czech and Chinese; of those into English six language pairs of WMT16, three sets of"
    " WMT21 to 23 and TED; BAGEL, SFHOT and WebNLG 2020 for data-to-text, SummEval for summaries, QAGS-CNN for the"
    " facts in them). It says nothing of another language, task or encoder. `rated` and `sescore` learn from WMT15 and"
    " from synthetic errors, not from these sets; the weights of `gauge` were chosen on most of them."
)
_TOPICS = (  # what holds for several formats, or is no format: title, files, how to pass it, whose docstring tells it
    ("Every format", "any", "`nlgauge score DATA`; in Python `nlgauge.read(path)`", "read"),
    ("Fields of a row", "see the formats below", "`nlgauge score DATA`", "fields:Fields"),
    ("Several data files", "any of these", "`nlgauge score bart.jsonl t5.jsonl`", "segments:JoinedSource"),
    (
        "Other names of fields",
        "any of these, and some logs",
        "`--columns hyp=prediction,ref=references`",
        "fields:fields_by_column",
    ),
    ("Pipes and packed files", "`-`, `<(...)`; `.gz`", "in place of any file", "files:InputFile"),
    ("Limits", "any", "`NLGAUGE_LIMITS=segment=20M,line=1G`", "files:Limits"),
    (
        "Runs in parts",
        "Parquet, JSON lines, text; not packed",
        "`nlgauge score DATA --engine pool -o DIR`",
        "spans:cut",
    ),
    ("A format of your own", "the ending that you choose", "`nlgauge score data.ENDING`", "read:PluginRows"),
    (
        "Logs of other tools",
        "as the tool wrote them",
        "`nlgauge score LOG`, `nlgauge meta LOG --criterion NAME`, `nlgauge gate OLD NEW`",
        "logs",
    ),
    (
        "Ratings",
        "as scores, or fields `human.NAME` of the data",
        "`nlgauge meta DATA --judgements FILE`",
        "nlgauge.io.evalset:read_ratings",
    ),
    (
        "Checks of submissions",
        "`.seg.score`, `.sys.score`",
        "`nlgauge meta check FOLDER FILE`",
        "wmt.submissions:check_submission",
    ),
    (
        "Marked errors",
        "`.jsonl`, `.tsv`, `.seg.rating`",
        "`nlgauge meta spans DATA NAME=FILE`",
        "marked:read_marked",
    ),
    ("Suites", "see the layouts below", "`nlgauge audit --suite FILE`, `nlgauge audit DATA --suite NAME`", "suites"),
)
_OTHERS = (  # what is written, and what other rooms read
    (
        "Penalties of people",
        "`.tsv`, `.csv`, `.jsonl`",
        "`nlgauge audit DATA --task TASK --penalties FILE`",
        "nlgauge.audits.deviation:read_penalties",
    ),
    (
        "Triples",
        "`.jsonl`, also `.gz`",
        "`nlgauge synth TEXTS -o FILE`; `nlgauge train sescore FILE`",
        "nlgauge.training.examples:read_triples",
    ),
    (
        "Baselines",
        "`.json`",
        "`nlgauge gate --save FILE`; `nlgauge gate FILE NEW`",
        "nlgauge.gating.outputs:read_baseline",
    ),
    (
        "Thresholds",
        "`.json`",
        "`nlgauge score --thresholds FILE`",
        "nlgauge.scoring.thresholds:read_thresholds",
    ),
    ("Pairs written", "`.jsonl`, `.tsv` (also `.gz`)", "`nlgauge perturb -o FILE`", "suites.rows:write_pairs"),
    ("Exports of scores", "`.seg.score`, `.sys.score`, `manifest.json`", "in Python", "wmt.export:export_scores"),
    ("Answers written", "`.jsonl`", "in Python", "wmt.items:write_answers"),
    ("Exports of test sets", "a folder with `sources/`", "in Python", "wmt.export:write_eval_set"),
)


def from_checkout(command: str) -> str:
    """The block of a command that made a table."""
    return f"```sh\n# needs a checkout: and the public test sets\n{command}\n```"


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a table beside this program."""
    path = TOOLS / name
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


# --- Metrics


@cache
def classes() -> dict[type, list[str]]:
    """Class of a metric -> its names, in the order of the registry."""
    found: dict[type, list[str]] = {}
    for name in METRICS.names():
        found.setdefault(METRICS.lookup(name)[0], []).append(name)
    return found


def family(cls: type) -> str:
    """The family of a class, by its module."""
    module = cls.__module__.removeprefix("nlgauge.metrics.")
    return next(name for name, (_, _, pattern) in FAMILIES.items() if re.match(pattern, module))


def place(name: str) -> str:
    """Where a metric stands, seen from docs/reference: its family's page, and the heading."""
    cls = METRICS.lookup(name)[0]
    return f"metrics/{family(cls)}.md#{classes()[cls][0].replace('/', '')}"


def all_metrics() -> str:
    """The table of all metrics."""
    parts = []
    for kind in _ORDER:
        title, about, _ = FAMILIES[kind]
        rows = []
        for cls, names in classes().items():
            if family(cls) == kind:
                row = catalogue_row(names[0])
                others = [name for name in names[1:] if not name.startswith("paper/")]
                shown = f"[`{names[0]}`]({place(names[0])})" + "".join(f", `{name}`" for name in others)
                rows.append([shown, row["what"].partition(";")[0], ", ".join(row["needs"]), runs_with(names[0])])
        parts += [f"## {title}", about, table(("metric", "what it is", "needs", "runs with"), rows)]
    composed = [
        ["[`0.3*chrf + 0.7*bertscore`](metrics/composed.md#sums)", "a weighted sum", "what its terms need"],
        [
            "[`paper/...`](metrics/composed.md#presets-of-papers)",
            "the exact settings of papers",
            "what the metric needs",
        ],
    ]
    parts += ["## Made of other metrics", table(("metric", "what it is", "needs"), composed)]
    parts += [
        "## Agreement with people",
        _AGREED,
        from_checkout("python recipes/choose/table.py DATA"),
        agreement(),
        "## What audits found",
        _AUDITED,
        f"People take off: {by_people()}.",
        from_checkout("python recipes/tools/metrics/audits.py DATA/ud/pud.test.jsonl.gz"),
    ]
    lead = (
        "Every metric by family: what it is, what it needs, and a link to its options and references."
        " [Choosing](../guides/choose.md) says which to take."
    )
    return page("Metrics", lead, "```sh\nnlgauge list metrics bertscore\n```", *parts)


def agreement() -> str:
    """How often metrics order two outputs as people do, by kinds of sets."""
    found: dict[str, dict[str, list[float]]] = {}
    with (SOURCE / "nlgauge/data/agreement.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            kind = next(name for name, begins in _SETS.items() if row["set"].startswith(begins))
            found.setdefault(row["metric"], {}).setdefault(kind, []).append(float(row["value"]))
    sizes = {kind: max(len(own.get(kind, ())) for own in found.values()) for kind in _SETS}
    rows = []
    for name, own in found.items():
        whole_sets = {kind: own.get(kind, []) for kind in _SETS if len(own.get(kind, ())) == sizes[kind]}
        rows.append([f"`{name}`", *(f"{sum(v) / len(v):.3f}" if (v := whole_sets.get(kind)) else "" for kind in _SETS)])
    return table(("metric", *_SETS), rows)


def by_people() -> str:
    """What people are estimated to take off for the errors that audits found underrated."""
    cells = [cell for row in rows_of("metrics/audits.tsv") for cell in row.values()]
    found = {told[1]: told[2] for cell in cells if (told := re.match(r"(.+?) -?[\d.]+ \[.*\] \((.+)\)$", cell))}
    return ", ".join(f"{error} {share}" for error, share in sorted(found.items(), key=lambda one: one[1], reverse=True))


def metrics_of(kind: str) -> str:
    """The page of a family."""
    title, about, _ = FAMILIES[kind]
    kin = {cls: names for cls, names in classes().items() if family(cls) == kind}
    told = Told({names[0]: options_of(cls, names) for cls, names in kin.items()})
    known = {cls: dict(facts(cls, names)) for cls, names in kin.items()}
    told_of_all = [word for word in _USUAL if all(word in one for one in known.values())]
    common = {word: Counter(one[word] for one in known.values()).most_common(1)[0] for word in told_of_all}
    usual = {word: what for word, (what, n) in common.items() if n >= _SEVERAL}
    parts = [f"Where an entry does not say otherwise: {in_bold(usual)}"] if usual else []
    parts += ["## Options of several metrics", told.head()] if told.shared else []
    for cls, names in kin.items():
        own = {word: what for word, what in known[cls].items() if usual.get(word) != what}
        parts += entry(cls, names, own, told)
    found = {row.pop("metric"): list(row.values()) for row in rows_of("metrics/audits.tsv")}
    audited = [
        [f"`{names[0]}`", *map(_without_interval, found[names[0]])] for names in kin.values() if names[0] in found
    ]
    if audited:
        head = ("metric", "underrated most", "second", "third", "harmless, costs most")
        about_table = "[What the table holds](../metrics.md#what-audits-found)."
        parts += ["## What audits found", about_table, table(head, audited)]
    lead = f"{about} [All metrics](../metrics.md) has what they run with, and `nlgauge list metrics NAME` their tasks."
    return page(title, lead, f"```sh\nnlgauge list metrics {next(iter(kin.values()))[0]}\n```", *parts)


def _without_interval(cell: str) -> str:
    """What an audit found, without its interval and what people take off."""
    return cell.partition(" [")[0]


def options_of(cls: type, names: Sequence[str]) -> list[list[str]]:
    """The options of a metric, each with its default and what it does."""
    own = arguments(cls)
    rows = []
    for field in fields_of(cls).values():
        preset = METRICS.lookup(names[0])[1].get(field.name, field.default)
        default = "must be given" if preset is dataclasses.MISSING else f"`{show(preset)}`" if show(preset) else ""
        words = ", ".join(f"`{word}`" for word in field.choices)
        what = plain(own.get(field.name, ""))
        listed = f" One of {words}." if words and not all(word in what for word in field.choices) else ""
        rows.append([f"`{field.name}`", default, sentence(what) + listed])
    return rows


def in_bold(told: Mapping[str, str]) -> str:
    """Facts in a row, each behind its word."""
    return " ".join(f"**{word}**: {what}." for word, what in told.items())


def entry(cls: type, names: Sequence[str], known: Mapping[str, str], told: Told) -> Iterator[str]:
    """A metric: what it is, what is known of it beside the usual, its options, its references."""
    name = names[0]
    about = metric_info(name)
    yield f"## {name}"
    yield sentence(plain(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]))
    yield from body(cls.__doc__)
    yield in_bold(known)
    yield told.own(name, "#options-of-several-metrics")
    if references := section(cls.__doc__, "References"):
        first, *more = references.split("\n\n")
        yield f"**From** {plain(' '.join(first.split()))}"
        yield from (plain(" ".join(part.split())) for part in more)
    elif about.paper:
        yield f"**From** {about.paper}."


def facts(cls: type, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is asked of a metric first, each with its answer."""
    name, about = names[0], metric_info(names[0])
    low, high = about.range
    yield "needs", ", ".join(sorted(about.needs)) or "nothing but the hypothesis"
    yield "range", f"{low:g} to {high:g}; {about.direction}"
    with suppress(ng.NlgaugeError):
        yield "reads", reads(metric(name))
    if about.parts:
        yield "parts", ", ".join(f"`{part}`" for part in about.parts)
    presets = [
        f"`{other}` = `{catalogue_row(other)['preset_of']}`" for other in names[1:] if not other.startswith("paper/")
    ]
    if presets:
        yield "presets", "; ".join(presets)


def reads(one: Any) -> str:
    """What a metric reads, by its own account of Russian and Chinese text."""
    russian, chinese = (known_writings()[code] for code in writings(["Поезд опоздал", "火车晚点了"]).tolist())
    unread = whole(one).unread
    if unread(russian) is not None:
        return "English" if "English" in str(unread(russian)) else "Latin letters"
    return "every script" if unread(chinese) is None else "languages with blanks between words"


def composed() -> str:
    """The page of metrics made of other metrics."""
    from nlgauge.metrics.wrapped import Combination

    parts: list[str] = []
    doc = inspect.cleandoc(Combination.__doc__ or "")
    parts += ["## Sums", sentence(plain(doc.split("\n\n")[0])), *body(doc)]
    rows = [
        [f"`{name}`", f"`{catalogue_row(name)['preset_of']}`"]
        for name in (*METRICS.names(), *SUMS)
        if name.startswith("paper/")
    ]
    rows = [[name, "" if spec == "`None`" else spec] for name, spec in rows]
    parts += [
        "## Presets of papers",
        "They name the models and settings of a paper; models of the hub are downloaded once.",
        table(("name", "stands for"), rows),
    ]
    lead = "A metric may be made of others, wherever a metric is named."
    command = '```sh\nnlgauge score examples/weather.jsonl -m "0.3*chrf + 0.7*bertscore"\n```'
    return page("Sums and presets", lead, command, *parts)


# --- Perturbations, statistics, formats, results, notes


def perturbations() -> str:
    """The table of all perturbations."""
    where = {name: stem for stem, (_, names) in perturbation_pages.PAGES.items() for name in names}
    rows = []
    for name in PERTURBATIONS.names():
        about = info(name)
        used = [row for row in checklist_rows() if row.template == name]
        told = "; ".join(
            f"{TASKS[row.task].removesuffix(' generation')}, {row.criterion}"
            + ("" if row.penalty != row.penalty else f" {row.penalty:.2f}")
            for row in used
        )
        rows.append([f"[`{name}`](perturbations/{where[name]}.md#{name})", about.summary, about.expect, told])
    lead = (
        "Each changes a text in one known way. `lower` means that a score should drop, `same` that it should stay. The"
        " last column has the checklists of Sai et al. (2021), task and criterion, with the share that people take off."
    )
    return page(
        "Perturbations",
        lead,
        "```sh\nnlgauge perturb examples/weather.jsonl -p negation -p typos -o pairs.jsonl\n```",
        table(("perturbation", "what it does", "a score should be", "checklists, and what people take off"), rows),
    )


def statistics_page() -> str:
    """Statistics, tests between metrics, averaging and protocols."""
    from nlgauge.cli.listing import _AVERAGING, _SELECTION, _SYSTEMS
    from nlgauge.stats import correlate

    rows = []
    for name in statistics():
        one = statistic(name)
        chance = "" if one.chance is None or math.isnan(one.chance) else f"{one.chance:g}"
        rows.append([f"`{name}`", sentence(one.summary), ", ".join(f"`{o}`" for o in takes(name)), chance])
    options_of_all = [
        [f"`{name}`", sentence(plain(what))]
        for group in (correlate.PlainOptions, correlate.Options)
        for name, what in attributes(group).items()
    ]
    parts = [
        "Agreement of a metric with people, `--stat NAME` of [meta](verbs/meta.md), `correlation(NAME, ...)` in"
        " [Python](python/nlgauge.md#correlation).",
        "```sh\nnlgauge list statistics\n```",
        "## Statistics",
        table(("name", "what it is", "options", "by chance"), rows),
        "By chance: what random scores reach, where it is known"
        " ([`Correlation`](python/nlgauge.stats.md#correlation) has `chance`).",
        *body(correlate.Statistic.__doc__),
        "## Options",
        table(("option", "what it does"), options_of_all),
        "## Averaging",
        table(
            ("`--averaging`", "which entries are correlated together"),
            [[f"`{k}`", sentence(v)] for k, v in _AVERAGING.items()],
        ),
        "## Tests between metrics",
        table(("`--test`", "what it does"), [[f"`{k}`", sentence(v)] for k, v in ABOUT.items()]),
        "[`permutation_test`](python/nlgauge.stats.md#permutation_test) says how scores trade places;"
        " [intervals and tests](../studies/intervals.md) how often each is wrong.",
        "## Tests between systems",
        table(("`--significance`", "what it does"), [[f"`{k}`", sentence(v)] for k, v in _SYSTEMS.items()]),
        "## Model selection",
        table(("`nlgauge select`", "what it is"), [[f"`{k}`", sentence(v)] for k, v in _SELECTION.items()]),
        "## Protocols",
        table(
            ("`--preset`", "statistics", "what it reports", "from"),
            [
                [
                    f"`{k}`",
                    ", ".join(dict.fromkeys(f"`{t.stat}` ({t.level})" for t in p.tasks)),
                    " ".join(filter(None, [p.about, p.differs])),
                    p.origin,
                ]
                for k, p in PRESETS.items()
            ],
        ),
    ]
    return page("Statistics", *parts)


def described_formats() -> list[tuple[str, Format, Any]]:
    """Title, what is known of it, and what has the docstring, of each format and each layout of suites."""
    before, after = (
        {title: Format(about=about, use=use, told=told) for title, about, use, told in some}
        for some in (_TOPICS, _OTHERS)
    )
    listed = [(title, one, named(one.documented)) for title, one in {**before, **FORMATS, **after}.items()]
    for name, about in LAYOUTS.items():
        known = PUBLISHED.get(name)
        use = f"`nlgauge audit {f'DATA --suite {name}' if name in PUBLISHED else '--suite FILE'}`"
        if name != "pairs":  # which has its place above
            listed.append((name, Format(about=about, use=use), known.make or known.read if known else _READERS[name]))
    return listed


def formats() -> str:
    """Formats that are read and written, each with the docstring of its reader, and layouts of suites.

    A log is given in place of any data set, and a suite by its name, as the page says of all of them; what a name or a
    docstring says of one is not said twice.
    """
    listed, parts, told = described_formats(), [], set[int]()
    for title, one, reader in listed:
        doc = "" if id(reader) in told else inspect.cleandoc(reader.__doc__ or "")
        told.add(id(reader))
        columns = re.search(r"^columns: (.*(?:\n    .*)*)", section(doc, "Args"), flags=re.M) if one.held else None
        raises = section(doc, "Raises")
        given = "" if one.use == Format.use else f" Passed: {one.use}."
        parts += [
            f"## {title}",
            ""
            if title in LAYOUTS
            else f"{sentence(one.about.removeprefix(f'{title}: '))}{given}"
            if one.name
            else f"Files: {one.about}.{given}",
            sentence(plain(doc.split("\n\n")[0])) if doc and not one.name else "",
            *body(doc),
            f"**`--columns`**: {plain(' '.join(columns[1].split()))}" if columns else "",
            items([f"`{name}`", "", meaning] for name, meaning in fields_of_object(reader).items()),
            shown(one.example),
            f"**Refused**: {plain(' '.join(raises.split()).removeprefix('InputError: '))}" if raises else "",
        ]
    lead = (
        "What nlgauge reads and writes: data, ratings, scores of other programs, suites and logs. What a format does"
        " not allow is refused before anything is scored, with the place and what to do."
    )
    return page("Formats", lead, "```sh\nnlgauge list formats\n```", *parts)


def shown(example: Mapping[str, str]) -> str:
    """The first two lines of the file of an example, or of its files behind their names."""
    heads = {name: "\n".join(content.splitlines()[:2]) for name, content in example.items()}
    several = "\n".join(f"{name}:\n{textwrap.indent(head, '    ')}" for name, head in heads.items())
    return f"```text\n{''.join(heads.values()) if len(heads) == 1 else several}\n```" if heads else ""


def fields_of_object(reader: Any) -> dict[str, str]:
    """Field -> meaning, and its default where that is a number, of what a file is read into as one object."""
    if not isinstance(reader, type) or not dataclasses.is_dataclass(reader):
        return {}
    numbers = {one.name: f"{one.default:,}: " for one in dataclasses.fields(reader) if type(one.default) is int}
    return {name: numbers.get(name, "") + plain(what) for name, what in attributes(reader).items()}


def results() -> str:
    """Fields of result files, by kind."""
    rows = result_fields()
    kinds: dict[str, list[list[str]]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append([f"`{row['field']}`", "", row["meaning"]])
    told = Told(kinds)
    parts = ["## Of several kinds", told.head()]
    for kind in kinds:
        parts += ["## Every result" if kind == "*" else f"## {kind}", told.own(kind, "#of-several-kinds")]
    lead = (
        "Every verb writes its result as one JSON object with `--json FILE`; `rows` holds flat objects. What is"
        " undefined (NaN) or does not apply is null, and unknown fields may come with new versions. `nlgauge list"
        " schema` prints these tables as JSON Schema, with the type of each field."
    )
    return page(
        "Result files", lead, "```sh\nnlgauge score examples/weather.jsonl -m chrf --json result.json\n```", *parts
    )


def notes() -> str:
    """Flags and guards, and what each means."""
    from nlgauge.metrics import guards, languages
    from nlgauge.metrics.signs import SIGN_MEANINGS, Alike, Signs

    ways = [[f"`{name}`", sentence(what)] for name, what in guards._WAYS_IN_WORDS.items()]
    signs = [[f"`{name}`", sentence(what)] for name, what in SIGN_MEANINGS.items()]
    flags = [[f"`{name}`", sentence(what)] for name, what in MEANINGS.items()]
    lead = (
        "A flag marks texts whose score needs care; scores, notes and result files count them. A guard distrusts a text"
        " whatever the metric is; [comparing systems](../guides/compare.md) says what to do about them, and [a"
        " study](../studies/guards.md) what they miss."
    )
    return page(
        "Flags and guards",
        lead,
        "```sh\nnlgauge score examples/guards.jsonl -m chrf\n```",
        table(("flag", "a text has it that is, or has"), flags),
        "## Guards",
        *body(guards.__doc__),
        *body(guards.GuardRules.__doc__),
        *body(guards.GuardCounts.__doc__),
        "## Ways of writing",
        *body(guards.Ways.__doc__),
        table(("way", "meaning"), ways),
        "## Signs of a broken step",
        *body(Signs.__doc__),
        table(("sign", "meaning"), signs),
        *body(Alike.__doc__),
        "## Languages",
        *body(languages.UnreadScripts.__doc__),
        *body(languages.LanguageCounts.__doc__),
    )


# --- Verbs


def verbs() -> str:
    """The table of all verbs."""
    rows = [[f"[`nlgauge {name}`](verbs/{name}.md)", verb.summary] for name, verb in VERBS.items()]
    rows += [[f"[`nlgauge {name}`](verbs/meta.md#{anchor(name)})", verb.summary] for name, verb in INNER.items()]
    trained = ", ".join(f"[`{name}`](verbs/train.md#{name})" for name in TRAIN)
    rows += [[f"`nlgauge train ...`: {trained}", "Train or fit one of these."]]
    lead = (
        "One command, `nlgauge`, has these verbs. `-h` after any of them lists its options. `nlgauge"
        " --install-completion` makes bash, zsh or fish complete verbs, options, choices and names of metrics."
    )
    codes = [
        ["0", "done; of a gate, PASS"],
        ["1", "a fault of nlgauge itself, with its traceback"],
        ["2", "wrong input or a wrong command line: one line says what, where, and what to do"],
        ["3", "a number is below its floor (`--fail-under`), a fault that `meta check` found; of a gate, FAIL"],
        ["4", "of a gate, INCONCLUSIVE"],
        ["129, 130, 143", "stopped by SIGHUP, Ctrl-C or SIGTERM; the message says what was kept"],
    ]
    shared = [("Files", options.Files), ("What is printed", options.Shown), ("How it runs", options.Common)]
    return page(
        "Verbs",
        lead,
        "```sh\nnlgauge score examples/weather.jsonl -m chrf\n```",
        table(("verb", "what it does"), rows),
        "## Options of several",
        shared_options(training=False).head(),
        "## Exit codes",
        "With 3 and 4 the result was written.",
        table(("code", "meaning"), codes),
        *(part for title, group in shared for part in (f"## {title}", *body(group.__doc__))),
    )


def verb_page(name: str) -> str:
    """The page of a verb; that of `train` has those of its group."""
    verb = VERBS[name]
    if name != "train":
        parts = [verb.summary, f"```text\n{verb.example}\n```", *described(name, verb)]
        for words, one in INNER.items():
            if words.split()[0] == name:
                parts += [f"## {words}", one.summary, f"```text\n{one.example}\n```", *described(words, one)]
        return page(name, *parts)
    parts = ["## Options of several", shared_options(training=True).head()]
    for kind, one in TRAIN.items():
        parts += [f"## {kind}", one.summary, f"```text\n{one.example}\n```", *described(kind, one)]
    return page("train", verb.summary, *parts)


def described(name: str, verb: Verb) -> Iterator[str]:
    """What a verb says of itself, its options under their headings, and where the fields of its result stand."""
    yield from body(verb.load().__doc__)
    place = "#options-of-several" if name in TRAIN else "../verbs.md#options-of-several"
    for head, rows in options_by_head(name, verb).items():
        if rows:
            yield f"**{head}**"
            yield shared_options(training=name in TRAIN).own(name, place, rows)
    kind = name.split()[-1]
    if kind in {row["kind"] for row in result_fields()}:
        yield f"Fields of its result file: [{kind}](../results.md#{kind})."


def options_by_head(name: str, verb: Verb) -> dict[str, list[list[str]]]:
    """Heading of the help of a verb -> its arguments or options, each with what it means."""
    command = _command(name, verb, verb.load())
    context = typer.Context(command, info_name=f"nlgauge {name}", terminal_width=10_000)
    heads: Mapping[str, str] = getattr(command.callback, "sections", {})
    parts: dict[str, list[list[str]]] = {"Arguments": [], **{head: [] for head in heads.values()}}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and param.name != "help":
            is_option = param.param_type_name == "option"
            head = heads.get(param.name, "Options") if is_option else "Arguments"
            shown = _typed(record[0]) if is_option else str(param.metavar or param.name)
            listed = shown.replace("|", "` or `")  # renderers disagree on a bar in code
            meaning, _, default = re.sub(r"  \[", " [", record[1]).partition(" [default: ")
            value, _, limits = re.sub(r"; (?=[^;\]]*x[<>])", "] [", default).removesuffix("]").partition("] [")
            in_code = plain(value) if " " in value or not value else f"`{value}`"
            about = ", ".join(filter(None, [in_code, plain(limits)]))
            parts.setdefault(head, []).append([f"`{listed}`", about, plain(meaning)])
    return parts


@cache
def shared_options(*, training: bool) -> Told:
    """The options of all verbs, or of all below `train`."""
    verbs = TRAIN if training else {name: verb for name, verb in {**VERBS, **INNER}.items() if name != "train"}
    entries = {
        name: [row for rows in options_by_head(name, verb).values() for row in rows] for name, verb in verbs.items()
    }
    return Told(entries, several=2 if training else _SEVERAL, pages=not training)


def _typed(record: str) -> str:
    """An option and what stands for its value, without the types of Python."""
    return re.sub(r"<int[^>]*>", "N", re.sub(r"<float[^>]*>", "NUMBER", record.replace("<str>", "TEXT")))


# --- Python: every public name, from the source alone


def packages() -> list[str]:
    """The packages with a front door."""
    rooms = [f"nlgauge.{path.parent.name}" for path in sorted(SOURCE.glob("nlgauge/*/__init__.py"))]
    return [package for package in ("nlgauge", *rooms) if homes(package)]


def python() -> str:
    """The list of packages."""
    rows = []
    for package in packages():
        doc = (ast.get_docstring(_tree(package)) or "").split("\n\n")[0]
        rows.append([f"[`{package}`](python/{package}.md)", sentence(plain(doc)), str(len(homes(package)))])
    lead = "Public names by package; what is not listed may change. See [Python and notebooks](../guides/python.md)."
    return page(
        "Python",
        lead,
        '```python\nimport nlgauge as ng\n\nng.score(["a cat"], refs=["the cat"], metrics="chrf")\n```',
        table(("package", "what it is", "names"), rows),
    )


def package_page(package: str) -> str:
    """The page of a package, with every name in its `__all__`."""
    tree, own = _tree(package), homes(package)
    readers = [(title, reader) for title, _, reader in described_formats() if callable(reader)]
    is_format = {f"{reader.__module__}.{reader.__qualname__}": title for title, reader in readers}
    parts = [
        *prose(ast.get_docstring(tree) or ""),
        "[Python and notebooks](../../guides/python.md) shows the way." if package == "nlgauge" else "",
    ]
    for name in sorted(own, key=str.lower):
        place = is_format.get(f"{own[name]}.{name}")
        told = f"[What it reads or writes](../formats.md#{anchor(place)})" if place else ""
        parts += [f"## `{name}`", *entry_of(own[name], name, told)]
    return page(package, *parts)


def entry_of(home: str, name: str, told: str = "") -> Iterator[str]:
    """What is said of a public name of a module: its signature, its docstring, and its methods.

    Args:
        home: the module.
        name: the name.
        told: where the page of formats says what stands between the summary and the sections of the docstring.
    """
    definition = _definition(home, name)
    yield from _shown(definition, name, told)
    yield from _methods(definition, name)


def _shown(definition: Definition, name: str, told: str = "") -> Iterator[str]:
    """The signature and the docstring of a name; of a docstring that stands elsewhere the summary and the sections."""
    docstring = _docstring(definition)
    fields = _fields_told(definition)
    if told:  # which has what is refused, and the fields of a file that is one object
        there = ("Attributes", "Raises") if fields else ("Raises",)
        named = "|".join(name for name in SECTIONS if name not in there)
        kept = re.findall(rf"^(?:{named}):\n(?:    .*\n?|\n(?=    ))*", docstring, flags=re.M)
        docstring = "\n\n".join([docstring.split("\n\n")[0], told, *kept])
    yield f"```python\n{f'class {name}' if fields else _head(definition, name)}\n```"
    for part in prose(docstring):
        yield re.sub(r"^- `(\w+)`", lambda item: f"- `{fields.get(item[1], item[1])}`", part, flags=re.M)


def _docstring(definition: Definition) -> str:
    return (ast.get_docstring(definition) or "") if isinstance(definition, ast.FunctionDef | ast.ClassDef) else ""


def _fields_told(definition: Definition) -> dict[str, str]:
    """Field -> the line that declares it, of a class whose docstring tells all of them; else nothing.

    Such a class needs no signature, which would list them twice.
    """
    if not isinstance(definition, ast.ClassDef):
        return {}
    declared = {
        ast.unparse(d.target): ast.unparse(d) for d in definition.body if isinstance(d, ast.AnnAssign) and _is_field(d)
    }
    told = re.findall(r"^(\w+): ", section(_docstring(definition), "Attributes"), flags=re.M)
    return declared if declared and declared.keys() <= set(told) else {}


def _methods(definition: Definition, name: str) -> Iterator[str]:
    """What a class offers beside its fields, as far as it says what it does: first what needs no list of arguments."""
    if not isinstance(definition, ast.ClassDef):
        return
    offered = [
        inner
        for inner in definition.body
        if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_") and _docstring(inner)
    ]
    lines = {inner.name: line for inner in offered if (line := _in_a_line(inner))}
    if lines:
        yield "**Methods**"
        yield "\n".join(lines.values())
    for inner in offered:
        if inner.name not in lines:
            yield f"### `{name}.{inner.name}`"
            yield from _shown(inner, inner.name)


def _in_a_line(method: ast.FunctionDef) -> str:
    """A method with what it does and raises, as an item of a list; empty if there is more to say."""
    before = re.split(r"\n\n(?=Raises:\n)", _docstring(method))[0]
    if re.search(rf"^({'|'.join(SECTIONS)}):|^    |^- ", before, flags=re.M):
        return ""
    raises = " ".join(section(_docstring(method), "Raises").split())
    told = " ".join([*before.split(), *([f"Raises {raises}"] if raises else [])])
    return f"- `{' '.join(_head(method, method.name).split())}`: {plain(told)}"


def _head(definition: Definition, name: str) -> str:
    match definition:
        case ast.FunctionDef():
            kept = definition.args.args[1:] if _is_method(definition) else definition.args.args
            given = ast.arguments(**{**dict(ast.iter_fields(definition.args)), "args": kept})
            if any(ast.unparse(mark) in ("property", "cached_property") for mark in definition.decorator_list):
                return f"{name}: {ast.unparse(definition.returns) if definition.returns else 'Any'}"
            back = f" -> {ast.unparse(definition.returns)}" if definition.returns else ""
            return signature(name, ast.unparse(given)) + back
        case ast.ClassDef():
            made = next((d for d in definition.body if isinstance(d, ast.FunctionDef) and d.name == "__init__"), None)
            if made:
                return f"class {_head(made, name)}".removesuffix(" -> None")
            fields = [d for d in definition.body if isinstance(d, ast.AnnAssign) and _is_field(d)]
            return f"class {signature(name, ', '.join(map(ast.unparse, fields)))}"
        case ast.AnnAssign():
            return f"{name}: {ast.unparse(definition.annotation)}"
    return ast.unparse(definition).partition("\n")[0][:_LONG]


def _is_method(function: ast.FunctionDef) -> bool:
    return bool(function.args.args) and function.args.args[0].arg in ("self", "cls")


def _is_field(line: ast.AnnAssign) -> bool:
    return not ast.unparse(line.annotation).startswith("ClassVar") and not ast.unparse(line.target).startswith("_")


def signature(name: str, given: str) -> str:
    """A call with its arguments, one per line where they are long."""
    if len(name) + len(given) < _LONG:
        return f"{name}({given})"
    lines, depth, line = [], 0, ""
    for char in given:
        depth += (char in "([{") - (char in ")]}")
        line += char
        if char == "," and not depth:
            lines.append(line.strip())
            line = ""
    return f"{name}(\n" + "".join(f"    {one}\n" for one in [*lines, f"{line.strip()},"]) + ")"


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    inside = path / "__init__.py"
    return ast.parse((inside if inside.exists() else path.with_suffix(".py")).read_text(encoding="utf-8"))


def homes(package: str) -> dict[str, str]:
    """Public name -> the module that defines it, as the package imports it for type checkers."""
    imported: dict[str, str] = {}
    public: list[str] = []
    for node in ast.walk(_tree(package)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("nlgauge."):
            imported |= {alias.name: node.module for alias in node.names}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = ast.literal_eval(node.value)
    return {name: imported[name] for name in public if name in imported}


def _definition(module: str, name: str) -> Definition:
    """Where a module defines a name.

    Raises:
        LookupError: it does not.
    """
    for node in _tree(module).body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                return node
            case ast.AnnAssign() if ast.unparse(node.target) == name:
                return node
            case ast.Assign() if name in map(ast.unparse, node.targets):
                return node
    raise LookupError(f"{module} does not define {name}")


# --- All of it


def pages() -> dict[str, str]:
    """Address in docs/reference -> the page; those of `perturbation_pages` are left out, which run perturbations."""
    return {
        "metrics.md": all_metrics(),
        **{f"metrics/{kind}.md": metrics_of(kind) for kind in _ORDER},
        "metrics/composed.md": composed(),
        "perturbations.md": perturbations(),
        "statistics.md": statistics_page(),
        "formats.md": formats(),
        "results.md": results(),
        "notes.md": notes(),
        "verbs.md": verbs(),
        **{f"verbs/{name}.md": verb_page(name) for name in VERBS},
        "python.md": python(),
        **{f"python/{package}.md": package_page(package) for package in packages()},
    }


def write(folder: Path) -> None:
    """Make the folder anew."""
    made = pages() | {
        f"perturbations/{stem}.md": perturbation_pages.page(stem, body) for stem in perturbation_pages.PAGES
    }
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else REFERENCE)
