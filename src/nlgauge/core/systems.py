"""Which systems take part in a comparison of metrics, and which are left out for what reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.errors import InputError, nearest

CUTOFF = 2.5
_CONSISTENT = 1.4826  # a MAD times this estimates the standard deviation of normal data


@dataclass(frozen=True)
class Selection:
    """Systems kept, and why the others are not.

    Attributes:
        kept: in the order given.
        left_out: system -> reason.
    """

    kept: tuple[str, ...]
    left_out: Mapping[str, str]

    @property
    def note(self) -> str:
        """One line: how many before and after, and every system left out with its reason."""
        before = len(self.kept) + len(self.left_out)
        why = "; ".join(f"{system}: {reason}" for system, reason in self.left_out.items())
        return f"{len(self.kept)} of {before} systems" + (f" (left out {why})" if why else "")


def select_systems(
    systems: Sequence[str],
    *,
    references: Collection[str] = (),
    close_references: Collection[str] = (),
    humans: Collection[str] = (),
    outliers: Collection[str] = (),
    rated: Collection[str] | None = None,
    include_humans: bool = False,
    include_outliers: bool = False,
) -> Selection:
    """The systems on which metrics are compared.

    Args:
        systems: all of them.
        references: references the metrics use; an output that is its own reference is never scored.
        close_references: outputs made from those references (post-edits, paraphrases).
        humans: outputs written by people; left out unless `include_humans`.
        outliers: left out unless `include_outliers`.
        rated: systems with human scores, where others are to be left out.

    Raises:
        InputError: an outlier that is no system; a misspelt one would silently stay in.
    """
    for name in outliers:
        if name not in systems:
            raise InputError(f"outlier {name!r} is not among the systems{nearest(name, systems)}")
    left_out: dict[str, str] = {}
    for system in systems:
        if system in references:
            left_out[system] = "is a reference the metrics use"
        elif system in close_references:
            left_out[system] = "is close to a reference the metrics use"
        elif system in humans and not include_humans:
            left_out[system] = "written by people"
        elif system in outliers and not include_outliers:
            left_out[system] = "an outlier"
        elif rated is not None and system not in rated:
            left_out[system] = "has no human score"
    return Selection(tuple(s for s in systems if s not in left_out), left_out)


@dataclass(frozen=True)
class Outliers:
    """What the rule of the median absolute deviation says.

    Attributes:
        names: outliers, in the order given.
        distances: system -> |score - median| / (1.4826 MAD); NaN for all systems if the MAD is 0, since then nothing
            can be said.
    """

    names: tuple[str, ...]
    distances: Mapping[str, float]


def mad_outliers(scores: Mapping[str, float], cutoff: float = CUTOFF) -> Outliers:
    """Systems far from the median of their human scores.

    Args:
        scores: system -> human score, finite.
        cutoff: distances above it are outliers.

    Returns:
        No outlier where the median absolute deviation is 0 (half of the systems share one score): the published rule
        divides by zero there and would remove every other system.

    Raises:
        InputError: a score that is not finite, or none.

    References:
        Mathur, Baldwin and Cohn (2020), "Tangled up in BLEU: Reevaluating the Evaluation of Automatic Machine
        Translation Evaluation Metrics".
    """
    if not scores:
        raise InputError("no system has a human score, expected at least one")
    values = np.array(list(scores.values()), dtype=np.float64)
    for system, value in scores.items():
        if not np.isfinite(value):
            raise InputError(f"the human score of system {system!r} is {value}, expected a finite number")
    from_median = np.abs(values - np.median(values))
    mad = float(np.median(from_median))
    distances = from_median / (_CONSISTENT * mad) if mad > 0 else np.full(len(values), np.nan)
    return Outliers(
        tuple(system for system, distance in zip(scores, distances, strict=True) if distance > cutoff),
        dict(zip(scores, distances.tolist(), strict=True)),
    )
