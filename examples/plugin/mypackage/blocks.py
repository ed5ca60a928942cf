"""A format: two lines a segment, with a blank line between segments."""

from __future__ import annotations

from collections.abc import Iterator

from nlgauge.io import InputFile, Lines


def blocks(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Blocks of a reference and a hypothesis, with a blank line after each."""
    held: list[str] = []
    for number, line in Lines(file):
        held = [*held, line] if line else []
        if len(held) == 2:
            yield number, {"ref": held[0], "hyp": held[1]}
