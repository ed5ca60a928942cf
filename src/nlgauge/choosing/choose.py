"""Which one or two metrics to take for these texts, and why: the public `choose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.choosing.evidence import Care, tried
from nlgauge.choosing.measure import Examples, Measured, examples_of, measured
from nlgauge.choosing.rule import Decision, Reason, command_of, decided, methods_of, reasons_of
from nlgauge.choosing.trials import MEAN, OUTPUTS, RATED, make_trials, sampled
from nlgauge.core.errors import InputError
from nlgauge.core.metric import MetricLike
from nlgauge.core.options import check_option
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.io.frames import dataset_of
from nlgauge.metaeval.joined import criteria_of
from nlgauge.metrics.registry import named, takes_metrics
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
        about: the metrics, as a result file lists them.
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
    care: Care | None = None,
    criterion: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    data: str = "DATA",
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Choice:
    """Recommend one or two metrics for these texts, with the reasons.

    Some of the outputs are scored by every metric, as they are and with errors put into them. A share of fewer than 10
    errors, copies or harmless changes does not count.

    With 30 pairs of outputs or more that the user rates apart, agreement with these ratings decides, if it is above
    chance for some metric. Else, and where ratings cannot tell, the mean of the shares does, with the weights 8 for
    public sets, times the part of their differences that is not chance, 2 for errors (with `care` 8, of which 70 % for
    those that matter), and .5 each for near-copies, harmless changes and differences of systems. Public sets are of the
    same task and language, and their figures of the same encoder. A metric without them gets the lowest of the others.
    A default is kept unless ratings, public sets or `care` tell another from it: `rated` for translations and text from
    data, `bertscore:value=recall` for summaries, `chrf` in a language without a public set. A second metric must see
    more than half of the errors that the first misses, beyond chance, and must not order the texts as it does.

    Left out, with the reason, is a metric that fails, lacks what it needs, judges nothing (such as a length), gives all
    outputs one score, or of more than half of the outputs cannot read the language, reads the beginning alone or has no
    score.

    Args:
        dataset: outputs with references, sources or both; also as a frame.
        metrics: the metrics to choose from. If None, a short list by task, of those that run without a download.
        task: `mt`, `as`, `qg`, `dg`, `ic` or `d2t`: whose checklist makes the errors. If None, as the data say.
        care: the errors that matter most: `meaning`, `facts`, `coverage` or `fluency`.
        criterion: of the user's ratings; `mean` for the mean of all. If None, the only one, or the mean of all.
        seed: determines the sample and everything else that is drawn.
        limit: look at about this many outputs; None for 240, or 480 that are rated. A metric that reads sources looks
            at no more errors than 100,000 words hold with their sources.
        data: the name of the data in the command that is recommended.
        columns: which column of a frame holds which field, as in `nlgauge.read`.
        runtime: device, precision and cache.

    Raises:
        InputError: there are no outputs, or no metric can score them.
        SpecError: a metric or the task is unknown.
    """
    check_option("care", care, Care | None, error=InputError)
    dataset = dataset if isinstance(dataset, Dataset) and columns is None else dataset_of(dataset, columns)
    if not len(dataset):
        raise InputError(f"{dataset.name or 'the data'}: no outputs to choose a metric for, expected at least one")
    runtime = runtime or Runtime()
    found, task_notes = _measured(dataset, metrics, task, criterion, seed, limit, runtime)
    decision = decided(found, care, seed)
    notes = tuple(dict.fromkeys([*dataset.notes, *task_notes, *found.notes]))
    say(*(f"{spec}: {why}" for spec, why in found.out.items() if why.startswith("it failed")))
    examples = examples_of(found, decision.chosen, [one.metric for one in decision.standings])
    reasons = reasons_of(found, decision, examples)
    command, methods = command_of(found, decision, data), methods_of(found, decision)
    rows = _rows(found, decision, reasons, examples, command, methods)
    return Choice(decision.chosen, tuple(one.text for one in reasons), rows, command, methods, notes, found.about, seed)


def _measured(
    dataset: Dataset,
    metrics: MetricLike | Sequence[MetricLike] | None,
    task: str | None,
    criterion: str | None,
    seed: int,
    limit: int | None,
    runtime: Runtime,
) -> tuple[Measured, tuple[str, ...]]:
    rated = _criterion(dataset, criterion)
    sample = sampled(dataset, limit or (OUTPUTS if rated is None else RATED), seed, rated)
    trials = make_trials(sample, task, seed)
    names = tried(trials.task, sample.segments) if metrics is None else metrics
    if not names:
        raise InputError(
            f"{dataset.name or 'the data'}: outputs without references or sources, and no metric named; name one that"
            " needs neither, as in -m fluency"
        )
    runtime, told = by_texts(runtime, names, [sample.segments])
    built = named(names, runtime.encoder)
    return measured(sample, trials, built, rated, seed, runtime), (*sample.notes, *trials.notes, *told)


def _criterion(dataset: Dataset, criterion: str | None) -> str | None:
    """The criterion whose ratings count; None where nothing is rated.

    Raises:
        InputError: nothing is rated by the criterion.
    """
    known = criteria_of(dataset)
    if criterion is None:
        return None if not known else known[0] if len(known) == 1 else MEAN
    if criterion not in (*known, MEAN) or not known:
        rated = f"rated is {', '.join(known)}" if known else "nothing is rated"
        raise InputError(f"no output has a rating {criterion!r}; {rated}")
    return criterion


def _rows(
    found: Measured, decision: Decision, reasons: Sequence[Reason], examples: Examples, command: str, methods: str
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"said": "reason", "text": one.text, "examples": " ".join(one.examples) or None} for one in reasons
    ]
    rows += [{"said": kind, "text": text} for kind, text in (("command", command), ("methods", methods))]
    rows += decision.rows(found)
    rows += [row for one in examples.chosen for row in one.rows()]
    rows += [one.as_row(decision.weights.get(one.criterion, 0.0)) for one in found.evidence]
    return rows
