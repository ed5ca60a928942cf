"""`nlgauge meta`: how metrics agree with people, and whose marks of errors agree."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, cast

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.marks import Explanations
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.segment import Dataset, Segment, of_groups, take_as_reference
from nlgauge.core.tables import ScoreTable
from nlgauge.io.evalset import Entry, read_preferences, read_set
from nlgauge.io.files import InputFile, counted
from nlgauge.io.marked import MarkedText, read_marked
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.items import check_answers
from nlgauge.io.wmt.mtme import check_official, read_official
from nlgauge.metaeval.evaluate import Exclude, MetaEvaluation, MetaOptions, criteria_rows, meta_evaluate
from nlgauge.metaeval.spans import SPAN_METHODS, Missing, SpanMethod, evaluate_spans, marks_by
from nlgauge.metaeval.tasks import disagreements, preset

ReferenceSystem = Annotated[
    str | None, Typed("Its texts are the references of all others, as in raw MQM files.", metavar="SYSTEM")
]


# --- `nlgauge meta spans`: marked errors compared with those that people marked

_EVERYTHING = "everything"


@options.verb(without={"width", "verbose", "device", "dtype", "cache", "no_cache", "encoder"})
def spans(
    *,
    data: Annotated[str, Argument("Texts in which people marked errors, or DATA of --judgements.", metavar="DATA")],
    methods: Annotated[
        list[str],
        Argument("Methods spans, words, everything (baseline); or a file of marks.", metavar="METHOD|NAME=FILE..."),
    ],
    judgements: Annotated[str | None, Typed("The marks of people, where DATA has none.", metavar="FILE")] = None,
    lp: options.LanguagePairs = None,
    reference_system: ReferenceSystem = None,
    missing: Annotated[str, Typed("What happens to texts that a method has no marks of.", words="refuse drop")] = (
        "refuse"
    ),
    exclude: Exclude = None,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Compare marked errors by their place with those of people.

    Judge by one to one F, beside the baseline `everything` and the texts left clean. `spans` and `words` mark against
    the references of DATA; NAME=FILE are marks made elsewhere, as of xCOMET or a judge. People's marks are those of
    DATA or of `--judgements` (MQM, ESA, WMT QE, Pearmut).
    """
    shown.check()
    asked = _asked(methods)
    given = [path for path in asked.values() if path is not None]
    files.check(data, judgements, given)
    people = _of_groups(_people(data, judgements), lp)
    if not [name for name, path in asked.items() if path is None and name != _EVERYTHING]:
        idle = {"reference_system": reference_system}
        options.refuse_idle(idle, "is about texts that methods read, and only files of marks are compared")
    entries = [dict(InputFile(data if judgements is None else judgements).entry)]

    @cache
    def texts() -> Dataset:  # read when the first method asks for them
        dataset, read = _marked_texts(data, people, lp, reference_system)
        entries.extend(read)
        return dataset

    stored = {name: read_marked(path) for name, path in asked.items() if path is not None}
    marks: dict[str, list[MarkedText] | Explanations] = {}
    for name in asked:
        if name in stored:
            marks[name] = stored[name]
        elif name == _EVERYTHING and all(text.hypothesis is not None for text in people):
            marks[name] = marks_by("everything", _dataset(people))
        else:
            kept = tuple(one for one in texts() if one.system not in (exclude or []))
            marks[name] = marks_by(cast(SpanMethod, name), Dataset(kept, texts().name))
    entries += [dict(InputFile(path).entry) for path in given]
    rated = {text.system for text in people if text.system is not None}
    found = evaluate_spans(
        people,
        marks,
        exclude=[*(exclude or []), *sorted(rated & {reference_system})],
        missing=cast(Missing, missing),  # checked there
        seed=run.seed,
    )
    result = as_typed(found.result(_once(entries)))
    files.write_segments(found.columns)
    return shown.put_out(result, files, run.quiet)


def _marked_texts(
    data: str,
    people: Sequence[MarkedText],
    lps: list[str] | None,
    reference_system: str | None,
) -> tuple[Dataset, list[Entry]]:
    dataset, entries = read_set([data])
    dataset = of_groups(dataset, lps) if lps else dataset
    if reference_system is not None:
        dataset = take_as_reference(dataset, reference_system)
    wanted = {text.id for text in people} | {(text.system, text.item) for text in people}
    kept = (one for one in dataset if one.id in wanted or (one.system, one.item) in wanted)
    return Dataset(tuple(kept), dataset.name), entries


def _asked(typed: Sequence[str]) -> dict[str, str | None]:
    """Method -> its file; None for a method that is run on the spot."""
    found: dict[str, str | None] = {}
    for word in typed:
        name, sign, path = word.partition("=")
        if not name or (sign and not path) or (not sign and name not in SPAN_METHODS):
            raise InputError(
                f"{word!r:.80}{nearest(word, SPAN_METHODS)}; expected {', '.join(SPAN_METHODS)}, or NAME=FILE"
            )
        if name in found:
            raise InputError(f"{name!r} is named twice, expected a name of its own for each")
        found[name] = path if sign else None
    return found


def _people(data: str, judgements: str | None) -> list[MarkedText]:
    if judgements is None and os.path.isdir(data):
        raise InputError(f"{data} is a folder of texts; name the file with the marks of people: --judgements FILE")
    return read_marked(judgements or data)


def _of_groups(people: list[MarkedText], lps: list[str] | None) -> list[MarkedText]:
    """The texts of some language pairs; those of a file that names none are all of one."""
    known = dict.fromkeys(text.group for text in people if text.group is not None)
    for name in lps or ():
        if known and name not in known:
            raise InputError(f"no marked text is of language pair or task {name!r}{nearest(name, known)}")
    return [text for text in people if not lps or text.group is None or text.group in lps]


def _dataset(people: Sequence[MarkedText]) -> Dataset:
    """The marked texts themselves, each once however many people marked it."""
    once = {text.key: text for text in people}
    return Dataset(
        tuple(
            Segment("\t".join(key), text.hypothesis or "", system=text.system, item=text.item)
            for key, text in once.items()
        )
    )


def _once(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({entry["path"]: entry for entry in entries}.values())


# --- `nlgauge meta`: metrics compared with human judgements


@dataclass(frozen=True)
class ScoreOptions:
    """Scores made elsewhere."""

    scores: Annotated[
        list[str] | None, Typed("Scores made elsewhere; every column of numbers is a metric.", metavar="FILE")
    ] = None
    lower: Annotated[
        list[str] | None, Typed("A column of --scores that falls with quality.", ("--lower-is-better",), "NAME")
    ] = None

    def read(self) -> tuple[dict[str, ScoreTable], list[Entry]]:
        """Column -> its table, and the files read.

        Raises:
            InputError: a name is in two files.
        """
        columns: dict[str, ScoreTable] = {}
        paths = self.scores or []
        for path, table in zip(paths, map(read_scores, paths), strict=True):
            for name in table.columns:
                if name in columns:
                    raise InputError(f"{path}: column {name!r} is in {columns[name].name} as well; rename one")
                columns[name] = table
        return columns, [dict(InputFile(path).entry) for path in paths]


@options.verb()
def meta(
    *,
    data: options.Rated,
    held: options.Judged,
    scored: ScoreOptions,
    lp: options.LanguagePairs = None,
    pairs: Annotated[
        str | None, Typed("Better/worse pairs: JSON lines with two ids, or RR-seglevel.csv.", metavar="FILE")
    ] = None,
    reference_system: ReferenceSystem = None,
    how: MetaOptions,
    criteria: Annotated[bool, Typed("Show how the criteria agree with each other, too.")] = False,
    disagree: Annotated[
        int | None, Range(least=1), Typed("Show the N segments that a metric and people rank apart.", metavar="N")
    ] = None,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Compare metrics with human judgements.

    Texts have ratings in `human`, or `--judgements` joins a table of them. Metrics are scored here (`-m`), or read with
    `--scores`; `-m human.NAME` takes a column of ratings for a metric, higher being better. `human.NAME.z`, and
    `-c NAME.z`, take the severity of raters out. Rows join by `id`, or by `system`, `seg` and group; what matches
    nothing is counted, and a rated segment without a score is refused unless `--missing` says otherwise.

    Level: `segment` puts all segments of a group together, and rewards a metric for knowing which inputs are hard;
    `item` compares outputs for one input, and is the safer choice where systems are known; `system` compares systems,
    at least three. Kendall-like statistics and preferences compare outputs for one input at any level. Groups are
    averaged plainly. Values are in the direction that the metric declares, so a useful TER has a positive one; columns
    of `--scores` whose direction is not certain are noted (`--lower-is-better`).

    Table: value with 95 % interval, `n` of what it rests on. `*` says that no other metric is significantly better,
    which is not a rank. With `--test` a new rank begins where every metric above beats every metric below. `--adjust`
    corrects p for the number of tests. `--references` changes numbers by more than most metrics differ.

    A preset sets all options of a protocol, and options beside it win. Of two metrics or more it makes its test, where
    it has one: not with `--test none`, another `--stat` or `--level`. Presets `wmt21` to `wmt26` read the folder of a
    test set and print the official table; controls below it compare nothing.

    Options of one statistic stand behind its name: `--stat wmt_kendall_like:threshold=20,ties=half`. They are `ties`,
    `threshold` (the least difference of two ratings that makes a pair; of binary labels the score from which one is 1),
    `epsilon` (scores no further apart are tied), `interval` of a share, and `folds` (ties are calibrated, or thresholds
    found, on other items); and of all statistics `undefined=zero` (items without a value count as 0) and `common=true`
    (only items on which all metrics are defined).

    `--raters` needs no metric: it shows how far raters agree, and the ceiling, which is what one of them (or half) who
    is left out reaches as a metric of the others, beside metrics and controls by every statistic.

    `nlgauge meta spans` compares marked errors, and `nlgauge meta check` a submission with what its set asks for; a
    file called `spans` is `./spans`.

    Scores of models stay in the cache.
    """
    shown.check()
    files.check(data, scored.scores, held.judgements, pairs)
    dataset, inputs, official = _read(data, how.preset, held, lp, reference_system)
    tables, entries = scored.read()
    given, inputs, runtime = _stored(scored, official, tables), [*inputs, *entries], run.runtime()
    typed = how.given() if run.typed_seed is None else {**how.given(), "seed": run.typed_seed}
    preferences, ranked = read_preferences(pairs) if pairs is not None else (None, None)
    outcome = meta_evaluate(
        dataset,
        held.metric or [],
        held.criterion or None,
        pairs=preferences,
        runtime=runtime,
        **given,
        **typed,
    )
    result = as_typed(outcome.result([*inputs, *([ranked] if ranked else [])]))
    if criteria:
        result = replace(result, rows=[*result.rows, *_agreement(outcome)])
    if disagree is not None:
        result = replace(result, disagreements=disagreements(outcome.held, disagree))
    files.write_segments(outcome.held.columns)
    files.write(result)
    if not files.printed:
        shown.show(result, run.quiet)
    return 0


def _stored(scored: ScoreOptions, official: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Scores made elsewhere and their directions, as arguments; official scores rise with quality."""
    own = [name for name in official if name not in tables]
    return {
        "scores": {**official, **tables} or None,
        "lower_is_better": scored.lower or [],
        "higher_is_better": own,
    }


def _read(
    data: list[str],
    protocol: str | None,
    held: options.Judged,
    lps: list[str] | None,
    reference_system: str | None,
) -> tuple[Dataset, list[Entry], Mapping[str, Any]]:
    """Texts with ratings, the files read, and the official scores where the protocol takes them from a folder."""
    chosen = None if protocol is None else preset(protocol)
    scores: Mapping[str, Any] = {}
    is_official = chosen is not None and chosen.official and len(data) == 1 and os.path.isdir(data[0])
    if chosen is None or not is_official or held.judgements is not None:
        dataset, entries = held.read(data)
        dataset = of_groups(dataset, lps) if lps else dataset
    else:
        run = read_official(data[0], chosen.humans, lps)
        dataset, entries, scores = run.dataset, [file.entry for file in run.files], run.scores
    return dataset if reference_system is None else take_as_reference(dataset, reference_system), entries, scores


def _agreement(outcome: MetaEvaluation) -> list[dict[str, Any]]:
    tasks = dict.fromkeys((row["level"], row["stat"]) for row in outcome.rows)
    return [row for level, stat in tasks for row in criteria_rows(outcome.held, stat, level)]


# --- `nlgauge meta check`: a submission, and what its set asks for

_REFUSED = 3  # a submission with faults, as a gate that fails


@options.verb()
def check(
    *,
    data: Annotated[str, Argument("The folder of a test set, or items of WMT26.", metavar="SET")],
    submission: Annotated[str, Argument("NAME.seg.score or NAME.sys.score, or answers to the items.", metavar="FILE")],
    lp: options.LanguagePairs = None,
) -> int:
    """Say what the organisers of a test set would refuse in a submission.

    There is a line for each fault, and with faults the command ends with 3.
    """
    if os.path.isdir(data):
        wanted, faults = check_official(data, submission, lp)
    else:
        dataset = read_set([data])[0]
        wanted, faults = check_answers(submission, (of_groups(dataset, lp) if lp else dataset).segments)
    for fault in faults:
        echo(f"{submission}: {fault}")
    said = f"{counted(len(faults), 'fault')}, expected" if faults else "as the organisers ask:"
    echo(f"{submission}: {said} {wanted}")
    return _REFUSED if faults else 0
