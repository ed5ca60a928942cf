"""`nlgauge perturb` and `nlgauge audit`: texts made worse on purpose, and what a metric cannot see in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, cast

from nlgauge.audits import run as audits
from nlgauge.audits.deviation import read_penalties
from nlgauge.audits.suites import applied, perturbed_suite, rows_to_perturb
from nlgauge.audits.suites import suite as made_suite
from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import Argument, Checked, Range, Typed, construct
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Dataset
from nlgauge.core.spec import Spec, parse
from nlgauge.core.suite import Suite
from nlgauge.io.evalset import read_set
from nlgauge.io.files import STDIN, InputFile
from nlgauge.io.parallel import read_texts
from nlgauge.io.suites.published import ALIASES, PUBLISHED, name_of, read_published
from nlgauge.io.suites.rows import write_pairs
from nlgauge.io.suites.suites import paraphrases_in, read_suite
from nlgauge.metrics.registry import named
from nlgauge.models.locate import locate
from nlgauge.perturbations.checklist import TASKS, ChecklistRow
from nlgauge.perturbations.paraphrase import How
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.report.tables import Table
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True)
class Chosen:
    """Which perturbations are made."""

    perturbation: Annotated[
        list[str] | None,
        Typed(
            "One of 'nlgauge list perturbations', with options.",
            ("--perturbation", "-p"),
            "NAME",
            words=PERTURBATIONS.names(),
        ),
    ] = None
    task: Annotated[str | None, Typed("All rows of the checklist of a task, or those named.", words=TASKS)] = None
    criterion: Annotated[str | None, Typed("Only the rows of one criterion, as fluency.", metavar="NAME")] = None


@dataclass(frozen=True)
class Making:
    """Options: the texts to perturb, and how they are analysed and joined."""

    field: Annotated[
        str | None, Typed("What is perturbed.  [default: ref where there are references]", words="ref hyp")
    ] = None
    limit: Annotated[
        int | None,
        Range(least=1),
        Typed("At most N texts, drawn by the seed; of a suite that is read, about N pairs.", metavar="N"),
    ] = None
    legacy_join: Annotated[bool, Typed("Join tokens by blanks, as the checklists' released code does.")] = False
    language: Annotated[str, Typed("What analyses texts.", words="builtin spacy spacy:PIPELINE stanza")] = "builtin"


@options.verb(without={"device", "dtype", "cache", "no_cache", "encoder"})
def perturb(
    *,
    data: Annotated[
        list[str],
        Argument(
            "Texts: JSON lines, TSV, CSV, Parquet; references are perturbed, else hypotheses; several: one per system.",
            metavar="DATA...",
        ),
    ],
    columns: options.Columns = None,
    output: Annotated[str, Typed("Pairs, as .jsonl or .tsv (also .gz); - prints them.", ("--output", "-o"), "FILE")],
    chosen: Chosen,
    making: Making,
    run: options.Common,
) -> int:
    """Perturb texts, and write pairs of before and after.

    Each row of the output is a text before (`better`) and after (`worse`) one perturbation, with its references, as
    `nlgauge audit --suite FILE` reads it. References are perturbed, each once, or hypotheses where there are none.

    Take `--field hyp` for a suite on which metrics can fail, or data with two references or more. A better text that is
    the reference itself wins by nearly every metric, and `nlgauge audit` refuses such a suite.

    Where a perturbation does not apply there is no pair: the unchanged text is never scored. Perturbations that read
    words need English; a text in another language is left alone with the reason `language`.

    Draws come from the seed, the perturbation and the id of the text, so the same text gets the same edit in any order.
    Those that bring in other texts (`add_extra_text`, `add_nonsense`, `random_text`) take them from the data, and so
    depend on it. Options follow the name, as in `-p negation:mode=add`. `--language spacy` or `stanza` needs an English
    pipeline that is installed; nothing is downloaded.
    """
    options.check_outputs({"--output": output}, data)
    _check(chosen)
    rows = rows_to_perturb(chosen.perturbation or [], chosen.task, chosen.criterion)
    suite = perturbed_suite(
        _texts(data, options.columns_of(columns)),
        rows,
        seed=run.seed,
        field=cast(Literal["ref", "hyp"] | None, making.field),  # checked there
        limit=making.limit,
        legacy_join=making.legacy_join,
        language=making.language,
    )
    write_pairs(suite, output)
    if not run.quiet:
        aside = output == STDOUT  # where the pairs are, nothing else stands
        echo(_table(suite, rows).text(), err=aside)
        for note in suite.notes:
            echo(f"note: {note}", err=aside)
    return 0


def _check(chosen: Chosen) -> None:
    if chosen.task is None and chosen.criterion is not None:
        raise InputError("--criterion needs --task: criteria differ from task to task")
    if chosen.task is None and not chosen.perturbation:
        raise InputError(
            "nothing to do: name perturbations (-p negation) or a task (--task mt); see 'nlgauge list perturbations'"
        )


def _table(suite: Suite, rows: Sequence[ChecklistRow]) -> Table:
    header = ("perturbation", "criterion", "changed", "left alone", "why")
    body = []
    for row, changed, left in applied(suite, rows):
        why = ", ".join(f"{reason} {n}" for reason, n in left.most_common())
        body.append((row.template, row.criterion or "-", str(changed), str(left.total()), why))
    return Table("", header, tuple(body), left=len(header))


# --- `nlgauge audit`: what a metric cannot see

_RECIPES = ("menli", "checklist")
_CASES = 5  # worst cases on a page, at least


@dataclass(frozen=True)
class Paraphrasing(Checked):
    """Where the paraphrases of a menli suite come from: the options of `--suite menli:paraphrases=FILE`.

    Attributes:
        paraphrases: a file of texts and paraphrases: JSON lines, TSV or CSV, or PAWS.
        out, back: two translation models, folders or ids of the hub; without `back` one of many languages.
        own, other: what such a model's tokenizer calls the language of the texts and the other: eng_Latn, deu_Latn.
    """

    paraphrases: str | None = None
    out: str | None = None
    back: str | None = None
    own: str | None = None
    other: str | None = None
    choose: How = "max_edit_distance"

    def source(self, runtime: Runtime) -> Any:
        """Paraphrases of a file, or what makes them; None for neither."""
        if self.paraphrases is not None and self.out is not None:
            raise InputError("menli:paraphrases and menli:out are both given; choose one")
        if self.out is None and (self.back or self.own or self.other):
            raise InputError("menli:back, own and other say how texts are translated back; add out=MODEL")
        if self.out is not None and (bool(self.own) != bool(self.other) or not (self.back or self.own)):
            raise InputError("menli:out needs back=MODEL, or own and other, the languages of one model of many")
        if self.out is None:
            return None if self.paraphrases is None else paraphrases_in(self.paraphrases)
        from nlgauge.models.generation import Backtranslator  # needs torch

        models = self.out, self.back or self.out
        for model in models:
            locate(model)  # a model that is not there is refused before anything is perturbed
        languages = (self.own, self.other) if self.own and self.other else None
        return Backtranslator(*models, languages=languages, runtime=runtime)


@dataclass(frozen=True)
class AuditRules:
    """How an audit counts."""

    design: Annotated[str | None, Typed("What is asked.  [default: the suite's own]", words="preference checklist")] = (
        None
    )
    ties: Annotated[str, Typed("Preference: how ties count.", words="loss half exclude zero")] = "loss"
    normalise: Annotated[str, Typed("Checklist: the scale of drops.", words="auto self minmax none")] = "auto"
    tolerance: Annotated[float, Typed("How much a score may move where nothing should.")] = 0.05
    references: Annotated[
        str | None,
        Typed(
            "source: compare texts with their source.  [default: own; for bump, summedits and faithbench source]",
            words="own source",
        ),
    ] = None


@options.verb(without={"width"})
def audit(
    *,
    data: Annotated[
        list[str] | None,
        Argument(
            "Texts to make a suite from: JSON lines, TSV, CSV, Parquet; several: one per system; or the file or folder"
            " of a published suite.",
            metavar="[DATA ...]",
        ),
    ] = None,
    columns: options.Columns = None,
    metric: Annotated[list[str], options.specs("Metrics to audit: chrf, bleu, bertscore ...", "--metric", "-m")] = [],  # noqa: B006
    suite: Annotated[
        str | None,
        Typed(
            "A suite of pairs, one made from DATA, or the name of the published suite in DATA: "
            + ", ".join(PUBLISHED)
            + ".  [default: checklist]",
            metavar="FILE|menli[:OPTIONS]|checklist|NAME",
            words=(*_RECIPES, *PUBLISHED, *ALIASES),
        ),
    ] = None,
    lp: options.LanguagePairs = None,
    chosen: Chosen,
    penalties: Annotated[
        str | None, Typed("Human penalties: TSV or JSON lines with template and penalty (0 to 1).", metavar="FILE")
    ] = None,
    rules: AuditRules,
    making: Making,
    worst: Annotated[int, Range(least=0), Typed("Show the N cases that each metric got most wrong.", metavar="N")] = 0,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Find out what a metric cannot see.

    Checklist (`--task`): each row of the task's checklist makes good texts worse in one way. A cell is the metric's
    drop less the penalty of people: 0 agrees, below 0 punishes too little. Drops are divided by the score of the text
    with itself (`self`); of error rates and metrics without references they are scaled over the task (`minmax`). Rows
    of `invariance` should change nothing. Penalties are estimated from printed figures (`~` marks less certain ones);
    `--penalties` reads your own, a table with `template`, `penalty` (0 to 1) and perhaps `task` and `criterion`. `n/a`
    counts texts to which a perturbation does not apply.

    Preference (`--suite`): does the better text of a pair score higher? Ties count as losses unless you say otherwise;
    a metric that knows nothing gets one half, and below it prefers the error. Rows `mean-...` are plain means over
    kinds. Intervals are Wilson's, for as many pairs as are independent: several of one text count for less.

    - `--suite menli` makes pairs from data: a paraphrase against a reference with an error. Paraphrases come from
      a file (`menli:paraphrases=FILE`), else two translation models (`menli:out=MODEL,back=MODEL`, or one of many
      languages, `menli:out=MODEL,own=eng_Latn,other=deu_Latn`), else the other reference farthest away, else small
      changes by rule, which make an easy test. `choose=given`, `first` or `max_edit_distance` takes one of several.
      Metrics without references read source and hypothesis instead.
    - The name of a published suite, beside its file or folder, prints its authors' own statistic.
    - A suite in which every better text is the reference is refused: no metric could fail on it. Perturb hypotheses,
      use `menli`, or say `--design checklist`; `--design preference`, typed out, counts them all the same.

    `†` marks results on errors that the metric's model has learnt from: no blind test. A metric with idf sees one kind
    at a time. `--segments` writes a row per pair with its texts and scores. Scores of models stay in the cache.
    """
    shown.check(worst=worst)
    suite, paraphrasing = _menli(suite)
    published = name_of(suite)
    inputs = options.given(data, None if suite in _RECIPES or published else suite, penalties, paraphrasing.paraphrases)
    files.check(inputs)
    named(metric)  # a misspelt metric is refused before anything is read
    people = None if penalties is None else read_penalties(penalties)
    runtime = run.runtime()
    named_fields = options.columns_of(columns)
    texts = partial(_texts, data, named_fields) if data else None
    if published is not None:
        _refuse_idle(str(suite), chosen, making, run.typed_seed)
        pairs, read_files = _published(published, data, named_fields)
        inputs = [*read_files, *inputs[1:]]
        files.check(inputs)  # what a folder holds is known only now
    else:
        pairs = _suite(texts, suite, named_fields, runtime, chosen, paraphrasing, making, run.typed_seed)
    pairs = pairs.of_groups(lp) if lp else pairs
    if making.limit is not None and (published is not None or suite not in (None, *_RECIPES)):
        pairs = pairs.spread(making.limit)
    how: dict[str, Any] = asdict(rules)
    if rules.design is None and people is not None and suite != "menli":
        how["design"] = "checklist"
    outcome = audits.audit(pairs, metric, penalties=people, runtime=runtime, **how)
    result = as_typed(outcome.result([dict(InputFile(p).entry) for p in inputs if not os.path.isdir(p)]))
    if suite is None or suite in _RECIPES:
        result = replace(result, settings={**result.settings, "seed": run.seed})
    files.write_segments(outcome.pair_columns)
    drawn = outcome.sides if files.html is not None else ()
    files.write(result, {spec: outcome.worst(spec, max(worst, _CASES)) for spec in drawn})
    cases = {spec: outcome.worst(spec, worst) for spec in outcome.sides} if worst else {}
    if not files.printed:
        shown.show(result, run.quiet, worst=cases)
    return 0


def _menli(suite: str | None) -> tuple[str | None, Paraphrasing]:
    """The suite without the options of `menli`, and these."""
    if suite is None or not suite.startswith("menli:"):
        return suite, Paraphrasing()
    spec = parse(suite)
    return "menli", construct(Paraphrasing, dict(spec.options) if isinstance(spec, Spec) else {}, {}, "menli")


def _suite(
    texts: Callable[[], Dataset] | None,
    name: str | None,
    columns: Mapping[str, str] | None,
    runtime: Runtime,
    chosen: Chosen,
    paraphrasing: Paraphrasing,
    making: Making,
    seed: int | None,
) -> Suite:
    if name is not None and name not in _RECIPES:
        _refuse_idle(name, chosen, making, seed)
        if not (name == STDIN or os.path.exists(name) or os.path.splitext(name)[1]):  # a name, not a path
            raise InputError(
                f"no suite {name!r} is known, and there is no file of that name{nearest(name, (*_RECIPES, *PUBLISHED))}"
            )
        return read_suite(name, texts()) if texts is not None else read_suite(name, columns=columns)
    if texts is None:
        raise InputError("nothing to audit on: give data to make a suite from (with --task), or a suite (--suite FILE)")
    how: dict[str, Any] = asdict(making)  # checked there
    return made_suite(
        name or "checklist",
        texts(),
        task=chosen.task,
        criterion=chosen.criterion,
        perturbations=chosen.perturbation or [],
        paraphrases=paraphrasing.source(runtime),
        how=paraphrasing.choose,
        seed=seed or 0,
        **how,
    )


def _texts(paths: Sequence[str], columns: Mapping[str, str] | None) -> Dataset:
    return read_texts(paths[0], columns) if len(paths) == 1 else read_set(paths, columns)[0]


def _published(name: str, data: list[str] | None, columns: Mapping[str, str] | None) -> tuple[Suite, list[str]]:
    if not data or len(data) > 1:
        raise InputError(
            f"--suite {name} names a published suite, expected its file or folder as DATA (nlgauge audit DATA --suite"
            f" {name} ...); it is at {PUBLISHED[name].where}"
        )
    return read_published(name, data[0], columns)


def _refuse_idle(name: str, chosen: Chosen, making: Making, seed: int | None) -> None:
    idle = {
        "--task": chosen.task,
        "--criterion": chosen.criterion,
        "-p": chosen.perturbation,
        "--field": making.field,
        "--legacy-join": making.legacy_join,
        "--seed": seed is not None,
        "--language": making.language if making.language != "builtin" else None,
    }
    used = [option for option, value in idle.items() if value]
    if used:
        raise InputError(f"{used[0]} says how a suite is made from data; {name} is a suite already")
