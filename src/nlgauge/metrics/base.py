"""What a metric is, which ones there are, and how a specification becomes one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar, Protocol, runtime_checkable

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.registry import Entry, Registry
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Spec, parse
from nlgauge.runtime.runtime import Runtime


@runtime_checkable
class Metric(Protocol):
    """A frozen dataclass whose fields are its options, with a `score`.

    Optional members: `pooled` (True where a score depends on the other segments of the call),
    `facts(runtime)` (what options resolve to, for the signature, found without loading a model),
    `trained_on` (ids of the perturbations that its model was shown in training), `notes` (what a reader of its numbers
    must know).
    """

    info: ClassVar[MetricInfo]

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value a segment, in the order given."""
        ...


_LEXICAL = "nlgauge.metrics.lexical"
_NLI = "nlgauge.metrics.nli.menli:Nli"
_NLI_R = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
_NLI_D = "microsoft/deberta-large-mnli"
_XNLI_R = "FacebookAI/xlm-roberta-base"  # to be fine-tuned: the authors' own weights are a pickle on a drive
_XNLI_D = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
METRICS = Registry(
    kind="metric",
    group="nlgauge.metrics",
    entries={
        "bleu": Entry(f"{_LEXICAL}.bleu:Bleu"),
        "chrf": Entry(f"{_LEXICAL}.chrf:ChrF"),
        "chrf++": Entry(f"{_LEXICAL}.chrf:ChrF", {"word_order": 2}),
        "ter": Entry(f"{_LEXICAL}.ter:Ter"),
        "rouge": Entry(f"{_LEXICAL}.rouge:Rouge"),
        "rouge1": Entry(f"{_LEXICAL}.rouge:Rouge", {"variant": "1"}),
        "rouge2": Entry(f"{_LEXICAL}.rouge:Rouge", {"variant": "2"}),
        "rougeL": Entry(f"{_LEXICAL}.rouge:Rouge", {"variant": "L"}),
        "rougeLsum": Entry(f"{_LEXICAL}.rouge:Rouge", {"variant": "Lsum"}),
        "bertscore": Entry("nlgauge.metrics.embedding.bertscore:BertScore"),
        "cosine": Entry("nlgauge.metrics.embedding.cosine:Cosine"),
        "nli": Entry(_NLI),
        "nli-robust": Entry(_NLI, {"model": "nli-robust"}),
        "summac": Entry("nlgauge.metrics.nli.summac:SummaC"),
        "sescore": Entry("nlgauge.metrics.learned.sescore:SEScore"),
        "regressor": Entry("nlgauge.metrics.learned.regressor:Regressor"),
        "scores": Entry("nlgauge.metrics.stored:Stored"),
        "paper/bertscore": Entry(
            "nlgauge.metrics.embedding.bertscore:BertScore", {"model": "roberta-large", "layer": 17}
        ),
        "paper/nli-r": Entry(_NLI, {"model": _NLI_R}),
        "paper/nli-d": Entry(_NLI, {"model": _NLI_D}),
        "paper/nli-r-sum": Entry(_NLI, {"model": _NLI_R, "formula": "e-c", "direction": "backward"}),
        "paper/nli-d-sum": Entry(_NLI, {"model": _NLI_D, "formula": "e-c", "direction": "backward"}),
        "paper/nli-r-src": Entry(_NLI, {"model": _NLI_R, "formula": "-c", "direction": "forward", "anchor": "source"}),
        "paper/nli-d-src": Entry(_NLI, {"model": _NLI_D, "formula": "-c", "direction": "forward", "anchor": "source"}),
        "paper/xnli-r": Entry(_NLI, {"model": _XNLI_R, "anchor": "source"}),
        "paper/xnli-d": Entry(_NLI, {"model": _XNLI_D, "anchor": "source"}),
    },
)

# Names of sums, which take no options: write the sum out to change it.
SUMS: dict[str, str] = {
    "paper/menli-r": "0.2*paper/nli-r + 0.8*paper/bertscore:idf=true",
    "paper/menli-d": "0.2*paper/nli-d + 0.8*paper/bertscore:idf=true",
}


def metric(spec: str | Metric) -> Metric:
    """The metric a specification names; a metric is returned as it is.

    Raises:
        SpecError: unknown name or option, with the nearest known; a value of the wrong type; a text off the grammar.
    """
    if not isinstance(spec, str):
        if isinstance(spec, type) or not isinstance(spec, Metric):
            what = f"the class {spec.__name__}" if isinstance(spec, type) else type(spec).__name__
            raise SpecError(f"expected a metric specification or a metric object, got {what}")
        return spec
    parsed = parse(spec)
    if isinstance(parsed, Spec) and parsed.name in SUMS:
        if parsed.options:
            raise SpecError(
                f"{parsed.name} is the sum {SUMS[parsed.name]!r} and takes no options; write the sum out to change it"
            )
        parsed = parse(SUMS[parsed.name])
    if isinstance(parsed, Spec):
        built: Metric = METRICS.build(parsed)
        return built
    from nlgauge.metrics.combine import combination  # imported late: it builds its terms by calling us

    return combination(parsed)


def trained_on(metric: Any) -> tuple[str, ...]:
    """Ids of the perturbations that the metric's model, or that of any of its terms, was shown in training; an audit marks these."""
    return tuple(getattr(metric, "trained_on", ()))


def check_needs(metric: Any, segments: Sequence[Segment]) -> None:
    """Refuse segments that lack what the metric reads, naming the first."""
    for need in sorted(metric.info.needs):
        if all(map(attrgetter(need), segments)):  # the usual case, without a loop of our own
            continue
        for segment in segments:
            value = getattr(segment, need)
            if value is None or (need != "source" and len(value) == 0):
                raise InputError(f"{metric.info.name} needs {need}; segment {segment.id!r} has none")
