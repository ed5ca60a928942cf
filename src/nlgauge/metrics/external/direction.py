"""Whether scores that were made elsewhere rise or fall with quality: what is recorded, what the name says, or a guess.

A guess is always said, so that an error rate that is taken the wrong way round does not go unnoticed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import SpecError
from nlgauge.core.spec import Spec, parse
from nlgauge.metrics.external.elsewhere import elsewhere, folded
from nlgauge.metrics.registry import METRICS

GUESSED = "taken to rise with quality"
BY_NAME = "taken to fall with quality, as the name says"
NEGATED = "taken to rise with quality: an error rate, of which no value is above 0"
_SYNONYMS = {"word error rate": "wer", "character error rate": "cer", "extended edit distance": "eed"}  # of ours
# A word of a name that is no metric's, and says that less is better: val_loss, gpt2-ppl, toxicity.
_FALLS = re.compile(
    r"(?i)(?<![a-z])(?:ppl|perplexity|nll|loss|hter|toxicity|error[\W_]?rate|edit[\W_]?distance)(?![a-z])"
)
_REFERENCE = re.compile(r"-(?:ref[A-Z]?(?:\.ref[A-Z])*|src|all)$")  # as mt-metrics-eval names a metric: BLEU-refA


class Direction(NamedTuple):
    """Whether higher is better, and what a reader must know of it; nothing if it is recorded, or known by the name."""

    higher_is_better: bool
    told: str = ""


def direction_of(column: str, values: Array, recorded: bool | None = None) -> Direction:
    """The direction of a column of scores.

    Args:
        column: its name: of a metric, or a specification as typed.
        values: the scores; error rates of which none is above 0 were negated by who made them.
        recorded: what the file itself says; None if it says nothing.
    """
    if recorded is not None:
        return Direction(recorded)
    known = by_name(column)
    if known is None:
        return Direction(True, GUESSED)
    if known:
        return Direction(True)
    defined = values[~np.isnan(values)]
    is_negated = bool((defined <= 0).all() and (defined < 0).any())
    return Direction(True, NEGATED) if is_negated else Direction(False, BY_NAME)


def by_name(column: str) -> bool | None:
    """Whether a metric of this name is better when it is higher; None if no metric is known by it, nor a word in it."""
    try:
        parsed = parse(column)
    except SpecError:
        parsed = Spec(column)
    if not isinstance(parsed, Spec):
        return True  # a weighted sum, in which error rates are negated
    for name in (parsed.name, _REFERENCE.sub("", parsed.name)):
        own, row = _own_names().get(folded(name)), elsewhere(name)
        if own is not None:
            higher: bool = METRICS.lookup(own)[0].info.higher_is_better  # type: ignore[attr-defined]
            return higher
        if row is not None:
            return row.higher_is_better
    return False if _FALLS.search(column) else None


@cache
def _own_names() -> dict[str, str]:
    """Our metrics by folded name; those that take their numbers from elsewhere have no direction of their own."""
    names = {name: name for name in METRICS.entries if name != "scores"} | _SYNONYMS
    return {folded(name): own for name, own in names.items()}
