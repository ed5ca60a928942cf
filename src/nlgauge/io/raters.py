"""A row per rating: the rows that several raters gave to one output become one segment, with all of their ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment

RATER = "rater"  # the field that says who rated
_SAME = {"hypothesis": "hyp", "references": "refs", "source": "src", "context": "context", "table": "table"}


@dataclass
class _Output:
    place: str
    segment: Segment
    ids: set[str] = field(default_factory=set)
    raters: list[str | None] = field(default_factory=list)
    ratings: dict[str, list[float]] = field(default_factory=dict)


class Raters:
    """Joins the rows about one output: those of one group, system and item, or where no item is named, of one id."""

    def __init__(self) -> None:
        self._outputs: dict[tuple[str | None, ...], _Output] = {}

    def add(self, place: str, segment: Segment, rater: str | None) -> None:
        """Add a row.

        Raises:
            InputError: its texts are others than those of an earlier row about the same output.
        """
        own = (segment.id,) if segment.item is None else (segment.group, segment.system, segment.item)
        output = self._outputs.setdefault(own, _Output(place, segment))
        other = next((name for ours, name in _SAME.items() if _differs(output.segment, segment, ours)), None)
        if other is not None:
            raise InputError(
                f"field {other!r} is another than at {output.place}, a rating of the same output; expected one text"
                " for each system and item"
            )
        output.ids.add(segment.id)
        output.raters.append(rater)
        for criterion, given in segment.human.items():
            ratings = output.ratings.setdefault(criterion, [])
            ratings.extend(given if isinstance(given, list | tuple) else [given])

    def segments(self) -> Iterator[Segment]:
        """One segment for each output, in the order of their first rows."""
        for own, output in self._outputs.items():
            one = output.segment
            name = one.id if len(output.ids) == 1 else ":".join(part for part in own if part is not None)
            yield one if len(output.raters) == 1 else replace(one, id=name, human=output.ratings)

    def notes(self, name: str) -> Iterator[str]:
        """What was joined, for a file or frame of this name."""
        n, every = len(self._outputs), [rater for output in self._outputs.values() for rater in output.raters]
        yield f"{name}: {len(every)} ratings of {n} outputs by {len(set(every))} raters; a human score is their mean"
        again = sum(len(output.raters) - len(set(output.raters)) for output in self._outputs.values())
        if again:
            yield f"{name}: {again} rows are by a rater who rated the same output before, all kept"


def _differs(one: Segment, other: Segment, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))
