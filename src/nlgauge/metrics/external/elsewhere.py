"""Metrics of the field that are not included: what they are called, in which direction they run, how to bring scores.

A metric that is added to the package loses its row here; a test sees to it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from nlgauge.core.spec import quote


class Elsewhere(NamedTuple):
    """A metric that other programs compute.

    Attributes:
        name: its usual name.
        synonyms: other names, in any spelling: case, blanks and marks do not count.
        higher_is_better: False for error rates; None where nobody told us.
        adapter: the metric of ours that runs its program in an environment of its own; empty if there is none.
    """

    name: str
    synonyms: tuple[str, ...] = ()
    higher_is_better: bool | None = True
    adapter: str = ""


ELSEWHERE = (
    Elsewhere("ADEM"),
    Elsewhere("AlignScore"),
    Elsewhere("AUTODA"),
    Elsewhere("BLEU2VEC"),
    Elsewhere("BLEURT-20", ("bleurt20d12", "bleurt-base-128", "bleurt-large-512"), adapter="bleurt"),
    Elsewhere("COBALT-F"),
    Elsewhere("COMET-22", ("comet20", "wmt20-comet-da", "wmt22-comet-da"), adapter="unbabel-comet"),
    Elsewhere(
        "COMET-Kiwi",
        ("kiwi", "comet-src", "wmt20-comet-qe-da", "wmt22-cometkiwi-da", "wmt23-cometkiwi-da-xl"),
        adapter="unbabel-comet",
    ),
    Elsewhere("DEB"),
    Elsewhere("deltaBLEU", ("discriminative-bleu",)),
    Elsewhere("DepthScore", (), False),
    Elsewhere("DPMFcomb"),
    Elsewhere("DTED", (), None),
    Elsewhere("ESIM"),
    Elsewhere("FactCC"),
    Elsewhere("G-Eval", ("gpteval", "llm-judge")),
    Elsewhere("GEMBA", ("gemba-da", "gemba-mqm")),
    Elsewhere("InferSent"),
    Elsewhere("InfoLM", (), None),
    Elsewhere("LEIC"),
    Elsewhere("MaUdE"),
    Elsewhere("MAUVE"),
    Elsewhere("MEANT", ("meant2.0", "meant2.0-nosrl")),
    Elsewhere("METEOR++ 2.0"),
    Elsewhere("METRICS-F"),
    Elsewhere("MetricX", ("metricx23", "metricx24", "metricx23-qe", "metricx24-hybrid", "metricx24-hybrid-qe"), False),
    Elsewhere("MPEDA"),
    Elsewhere("NGRAM2VEC"),
    Elsewhere("QAEval"),
    Elsewhere("QAFactEval"),
    Elsewhere("QuestEval"),
    Elsewhere("RoMe"),
    Elsewhere("TIGEr"),
    Elsewhere("TransQuest"),
    Elsewhere("TREEAGGREG"),
    Elsewhere("UHH_TSKM"),
    Elsewhere("UniEval"),
    Elsewhere("UOW-REVAL"),
    Elsewhere("UPF-COBALT"),
    Elsewhere("UScore"),
    Elsewhere("ViLBERTScore"),
    Elsewhere("xCOMET", ("xcomet-xl", "xcomet-xxl"), adapter="unbabel-comet"),
    Elsewhere("XMoverScore"),
    Elsewhere("YiSi", ("yisi2",)),
)


def elsewhere(name: str) -> Elsewhere | None:
    """The metric with a name, in any spelling, that is not included; None if the name is of no such metric."""
    return _rows().get(folded(name))


def not_included(name: str) -> str:
    """The end of the error about an unknown metric, if it is one of these: how to bring its scores; else nothing."""
    row = elsewhere(name)
    if row is None:
        return ""
    if row.adapter:
        return (
            f"; {row.name} runs in an environment of its own: see 'nlgauge env --list', then take"
            f" {row.adapter}:model=... as the metric"
        )
    spec = f'scores:file="theirs.tsv",column={quote(name)}'
    return (
        f"; {row.name} is not included: compute it with its own program, write a table with the columns id and {name},"
        f" and take {spec} as the metric"
    )


def folded(name: str) -> str:
    """A name without case, blanks and marks."""
    return "".join(char for char in name.lower() if char.isalnum())


@cache
def _rows() -> dict[str, Elsewhere]:
    return {folded(name): row for row in ELSEWHERE for name in (row.name, *row.synonyms)}
