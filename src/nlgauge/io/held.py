"""A source of segments that were read into memory, from one file or from several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.files.files import InputFile
from nlgauge.io.source import BLOCK, BLOCK_CHARACTERS, Summary, Tally, in_blocks


class HeldSource:
    """A `Source` over a dataset in memory.

    Args:
        data: the segments. Their notes say what was left out.
        files: all files that were read for them.

    Raises:
        InputError: there is no segment.
    """

    def __init__(self, data: Dataset, files: Sequence[InputFile]) -> None:
        if not data.segments:
            raise InputError(f"{data.name} is empty: no segment in it, expected at least one")
        self.data = data
        self._files = list(files)
        self._summary: Summary | None = None

    def check(self) -> Summary:
        """Count the segments; see `Source.check`."""
        if self._summary is None:
            tally = Tally()
            for segment in self.data:
                tally.add(segment)
            inputs: list[Mapping[str, str]] = [file.entry for file in self._files]
            self._summary = tally.summary(inputs, self.data.notes)
        return self._summary

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The segments in order; see `Source.blocks`."""
        return in_blocks(self.data, size, characters)

    def close(self) -> None:
        """Delete temporary copies of what cannot be read twice."""
        for file in self._files:
            file.close()
