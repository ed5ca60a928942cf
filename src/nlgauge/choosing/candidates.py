"""Which metrics are tried where none is named: a short list by task, all of which run without a download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import metric
from nlgauge.text.scripts import leaning

_COMMON = ("bleu", "chrf", "meteor", "bertscore", "cosine", "gauge")
TRIED: Mapping[str, tuple[str, ...]] = {
    "mt": (*_COMMON, "ter", "nli-robust", "rated", "sescore"),
    "as": (
        *("rouge1", "rouge2", "rougeL", "chrf", "meteor", "bertscore", "bertscore:value=recall", "cosine"),
        *("gauge:task=as", "faithful", "supert"),
    ),
    "d2t": (*_COMMON, "rougeL", "nli-robust", "rated", "sescore", "parent"),
    "ic": (*_COMMON, "rougeL", "cider", "nli-robust"),
    "qg": (*_COMMON, "rougeL", "nli-robust", "qrouge"),
    "dg": (*_COMMON, "rougeL", "nli-robust"),
}
# What to keep where the evidence tells no metric from it: public figures of summaries are of 56 outputs of one set.
DEFAULTS: Mapping[str, str] = {"as": "bertscore:value=recall"}
UNREFERENCED = ("gruen", "faithful", "supert")  # where there are no references
_LOOKED_AT = 20


def tried(task: str, segments: Sequence[Segment]) -> list[str]:
    """The metrics of the list of a task that these segments have the fields for.

    A metric that compares an output with its source is left out where sources are in another language, or where the
    task is translation.
    """
    names = TRIED[task] if any(s.references for s in segments) else UNREFERENCED
    reads_source = task != "mt" and _one_language(segments)
    found = []
    for name in names:
        needs = metric(name).info.needs
        if "source" in needs and not reads_source:
            continue
        if all(any(getattr(s, need) for s in segments) for need in needs):
            found.append(name)
    return found


def _one_language(segments: Sequence[Segment]) -> bool:
    """Whether sources are not told to be in another language than outputs."""
    looked = [s for s in segments if s.source][:_LOOKED_AT]
    other = 0
    for s in looked:
        one, two = leaning(s.hypothesis), leaning(s.source or "")
        other += one is not None and two is not None and one != two
    return bool(looked) and 2 * other < len(looked)
