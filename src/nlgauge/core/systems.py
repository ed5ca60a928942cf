"""Which systems take part in a comparison of metrics, which do not, and for what reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nlgauge.core.errors import InputError, nearest


@dataclass(frozen=True)
class Selection:
    """The systems that are kept, and the reasons why others are left out.

    Attributes:
        kept: the systems that take part, in their original order.
        left_out: system -> the reason.
    """

    kept: tuple[str, ...]
    left_out: Mapping[str, str]

    @property
    def note(self) -> str:
        """One line that says how many systems there were, how many are kept, and why each other one is left out."""
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
    """Select the systems on which metrics are compared.

    Args:
        systems: all systems.
        references: the references that the metrics use. An output that is itself one of them is always left out.
        close_references: outputs that were made from those references, such as post-edits or paraphrases.
        humans: outputs written by people. They are left out unless `include_humans` is set.
        outliers: systems that are left out unless `include_outliers` is set.
        rated: systems with human scores. If it is given, all others are left out.

    Raises:
        InputError: an outlier is not among the systems. If its name is misspelt, it would otherwise stay in unnoticed.
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
