"""Which metric to take for these texts, and why: the public `choose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.choosing.evidence import MOST_OUTPUTS, sampled, settled_task, tried
from nlgauge.choosing.known import Known, ask_people, try_out
from nlgauge.choosing.rule import command_of, decided, methods_of, reasons_of, rows_of
from nlgauge.core.errors import InputError
from nlgauge.core.metric import MetricLike
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.io.frames import dataset_of
from nlgauge.metaeval.joined import chosen_criteria, criteria_of
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.registry import takes_metrics
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import by_texts


@dataclass(frozen=True, repr=False)
class Choice(Outcome):
    """A recommendation with its evidence.

    Attributes:
        metrics: the recommended metrics, one or two specifications as typed.
        sentences: the reasons, one after the other.
        rows: flat objects: the evidence by metric and criterion, the standing of each metric, and what is said.
        command: the command that scores with these metrics.
        methods: a paragraph for a paper.
        notes: what a reader must know.
        about: the metrics that were scored, as a result file lists them.
        seed: of everything that was drawn.
    """

    metrics: tuple[str, ...]
    sentences: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    command: str
    methods: str
    notes: tuple[str, ...]
    about: Sequence[Mapping[str, Any]]
    seed: int = 0

    def __repr__(self) -> str:
        return f"Choice({' and '.join(self.metrics)}: {len(self.rows)} rows)"

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `choose`."""
        settings = {"confidence": 0.95, "seed": self.seed}
        return Result("choose", self.rows, inputs, self.about, self.notes, settings)


@warning
@takes_metrics
def choose(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    task: str | None = None,
    criterion: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    data: str | Sequence[str] = "DATA",
    judgements: str | None = None,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Choice:
    """Recommend one or two metrics for these texts, with the reasons.

    Public sets with ratings decide: the three nearest to the texts, of the same task and language, with figures of the
    same encoder. A metric without such a figure counts as the lowest. A default is kept unless public sets tell another
    from it: `rated` for translations and text from data, `bertscore:value=recall` for summaries, `bertscore` for
    captions, questions and dialogue, of which there is no set, and `chrf` in other languages than English.

    Where outputs are rated, all metrics are compared with the ratings as `meta_evaluate` does, and one is taken in its
    place if it agrees better with them (Kendall's tau-b, p < .05 after Holm). Else only the recommended metrics are
    scored, on a few outputs.

    A second metric looks for wrong facts in English texts: `nli-robust` in translations, `faithful` in summaries.

    Left out, with the reason, is a metric that lacks what it needs, judges nothing (such as a length), or of more than
    half of the outputs cannot read the language; and, where it is scored, one that fails, gives all outputs one score,
    or of more than half of the outputs reads the beginning alone or has no score.

    Args:
        dataset: outputs with references, sources or both; also as a frame.
        metrics: the metrics to choose from. If None, a short list by task, of those that run without a download.
        task: `mt`, `as`, `qg`, `dg`, `ic` or `d2t`. If None, as the data say.
        criterion: of the user's ratings; `mean` for the mean of all. If None, the only one, or the mean of all.
        seed: determines the sample and everything else that is drawn.
        limit: look at about this many outputs; None for 480, or fewer that are long.
        data: the name of the data in the commands that are recommended, or several.
        judgements: the name of the table of ratings in them, if it is another one.
        columns: which column of a frame holds which field, as in `nlgauge.read`.
        runtime: device, precision and cache.

    Raises:
        InputError: there are no outputs, or no metric can score them.
        SpecError: a metric or the task is unknown.
    """
    dataset = dataset if isinstance(dataset, Dataset) and columns is None else dataset_of(dataset, columns)
    name = dataset.name or "the data"
    if not len(dataset):
        raise InputError(f"{name}: no outputs to choose a metric for, expected at least one")
    named = criteria_of(dataset) if criterion is None else chosen_criteria(dataset, criterion)
    rated = None if not named else named[0] if len(named) == 1 else MEAN
    segments = [s for s in dataset if rated is None or (s.human if rated == MEAN else rated in s.human)]
    sample = Dataset(tuple(sampled(segments, limit or MOST_OUTPUTS, seed=seed)), dataset.name, dataset.notes)
    notes = [f"{len(sample)} of {len(dataset)} outputs are looked at"] if len(sample) < len(dataset) else []
    task, guessed = settled_task(sample, task)
    names = tried(task, sample.segments) if metrics is None else metrics
    if not names:
        way = "fetch Unbabel/wmt20-comet-qe-da, then -m comet-qe" if task == "mt" else "as in -m fluency"
        none = f"{name}: outputs without references, and no metric here that reads the rest"
        raise InputError(f"{none}, as texts of the task {task!r}; name another with --task, or a metric: {way}")
    runtime, encoder = by_texts(runtime or Runtime(), names, [sample.segments])
    asked = [names] if isinstance(names, str) or not isinstance(names, Sequence) else [*names]
    known = Known(sample, dataset, task, asked, rated, runtime, seed)
    if rated is not None:
        try_out(known, known.left)
    decision = decided(known)
    while not {one["spec"] for one in known.about} >= {*decision.chosen}:
        try_out(known, decision.chosen)  # one that is of no use is ruled out, and the choice made again
        decision = decided(known)
    if rated is not None:
        ask_people(known, decision.chosen[0])
        decision = decided(known)
    say(*(f"{spec}: {why}" for spec, why in known.out.items() if why.startswith("it failed")))
    named_data = [data] if isinstance(data, str) else data
    texts = reasons_of(known, decision, named_data, judgements)
    command, methods = command_of(known, decision, named_data), methods_of(known, decision)
    said = [*(("reason", text) for text in texts), ("command", command), ("methods", methods)]
    rows = [{"said": kind, "text": text} for kind, text in said] + rows_of(known, decision)
    told = tuple(dict.fromkeys([*dataset.notes, *notes, *guessed, *encoder, *known.notes]))
    return Choice(decision.chosen, texts, rows, command, methods, told, known.about, seed)
