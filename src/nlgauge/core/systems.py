"""Which systems take part in a comparison of metrics, and which are left out for what reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nlgauge.core.errors import InputError, nearest


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
