"""Numbers in shaded cells: what stands in each, its colour, and the ramp that explains the colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nlgauge.report.colours import ink, shade
from nlgauge.report.rows import UNDEFINED, absent, number

_STEPS = 11


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what stands in it.
        colour: behind it; none where there is no number.
        title: what the mouse shows.
        note: what stands below in small letters.
        strong: in bold.
    """

    text: str
    colour: str = ""
    title: str = ""
    note: str = ""
    strong: bool = False

    @property
    def ink(self) -> str:
        """The colour of the text."""
        return ink(self.colour)


def amount(
    value: float | None, low: float = 0.0, high: float = 1.0, *, digits: int = 2, text: str = "", title: str = ""
) -> Cell:
    """A number as a shade from light (`low` and less) to dark (`high` and more); more is darker on every page."""
    if value is None or absent(value):
        return Cell(UNDEFINED)
    share = (value - low) / (high - low) if high > low else 0.0
    return Cell(text or number(value, digits), shade(min(1.0, max(0.0, share))), title)


def ramp(colour: Callable[[float], str], low: float, high: float) -> list[str]:
    """Colours from one end of a scale to the other, for a legend."""
    return [colour(low + (high - low) * k / (_STEPS - 1)) for k in range(_STEPS)]
