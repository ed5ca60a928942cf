"""Can a metric fail a suite? Hardly, where the better text is the very reference that the metric is given."""

from __future__ import annotations

from collections.abc import Mapping

from nlgauge.audits.sides import pairs_for
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.base import Metric


def check_copies(
    suite: Suite, metrics: Mapping[str, Metric], references: str = "own", refuse: bool = True
) -> list[str]:
    """Refuse a suite of preferences that no metric with references can fail, and count such pairs elsewhere.

    A copy of the reference gets the best score of nearly every metric, so such a pair tells no metric from another.

    Args:
        suite: the pairs.
        metrics: specification as typed -> metric.
        references: `own`, or `source` if the texts are compared with their source.
        refuse: whether a suite of nothing but such pairs is refused. It is counted where preferences were asked for.

    Returns:
        A note if the better text is a reference in some of the pairs that a metric scores; else nothing.

    Raises:
        InputError: it is one in all pairs that a metric scores, or no pair has what a metric reads.
    """
    noted: dict[str, None] = {}
    for spec, metric in metrics.items():
        places = pairs_for(spec, metric, suite, references)  # which refuses a suite without what the metric reads
        if "references" not in metric.info.needs:
            continue
        pairs = [suite.pairs[place] for place in places if suite.pairs[place].expect == "lower"]
        n = sum(_is_copy(pair, references) for pair in pairs)
        if refuse and n and n == len(pairs):
            raise InputError(f"{suite.name or 'the suite'}: {_refusal(spec, pairs)}")
        if n:
            noted[
                f"in {n} of {len(pairs)} pairs the better text is a reference, which nearly every metric prefers:"
                " accuracies are higher for it"
            ] = None
    return list(noted)


def _is_copy(pair: Pair, references: str) -> bool:
    held = (pair.source or "",) if references == "source" else pair.references
    return pair.better.strip() in {text.strip() for text in held}


def _refusal(spec: str, pairs: list[Pair]) -> str:
    is_checklist = all(pair.task and pair.criterion for pair in pairs)
    return (
        f"in all {len(pairs)} pairs for {spec} the better text is the reference, so that no metric could fail;"
        f"{' use them as a checklist (--design checklist), or' if is_checklist else ''} make pairs that can be failed:"
        " 'nlgauge perturb --field hyp', or 'nlgauge audit DATA --suite menli', which takes paraphrases"
    )
