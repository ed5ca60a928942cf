"""Parallel text files with one segment per line, as sacrebleu reads them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.files.files import STDIN, InputFile, unpacked_name
from nlgauge.io.files.lines import Lines
from nlgauge.io.source import BLOCK, BLOCK_CHARACTERS, OPTIONAL, Summary, in_blocks

_MOST_COMPARED, _SHOWN = 200_000, 60  # lines of files of unequal length; characters of a line in an error
PathLike = str | os.PathLike[str]


def open_parallel(
    hypotheses: Sequence[PathLike], references: Sequence[PathLike] = (), source: PathLike | None = None
) -> ParallelSource:
    """Open parallel text files. Line i of every file belongs to item i.

    Args:
        hypotheses: one file per system. The system is named after the file, without its extension, and with as many
            folders before it as are needed to tell the files apart.
        references: one file for each reference of the items.
        source: the file of the inputs.

    Returns:
        The segments item by item, with all systems of an item together. The item is the line number as text, and the id
        is `system:item`. An empty line is an empty text.

    Raises:
        InputError: there is no hypothesis file, one file is given for two systems, `-` is given more than once, or a
            file is missing.
    """
    if isinstance(hypotheses, str | os.PathLike) or isinstance(references, str | os.PathLike):
        raise InputError("hypotheses and references are lists of paths, one path came; write [path]")
    paths = [*hypotheses, *references, *([] if source is None else [source])]
    times = [os.fspath(path) for path in paths].count(STDIN)
    if times > 1:
        raise InputError(
            f"'-' (standard input) is given {times} times, expected once; it can be read for one file only"
        )
    return ParallelSource(
        system_names([os.fspath(path) for path in hypotheses]),
        [Lines(InputFile(path), texts=True) for path in hypotheses],
        [Lines(InputFile(path), texts=True) for path in references],
        None if source is None else Lines(InputFile(source), texts=True),
    )


class ParallelSource:
    """A `Source` over text files of equal length, or over a part of them that has some lines `before` it."""

    def __init__(
        self,
        systems: Sequence[str],
        hypotheses: Sequence[Lines],
        references: Sequence[Lines],
        source: Lines | None,
        before: int = 0,
    ) -> None:
        self.systems = tuple(systems)
        self._before = before
        self._hypotheses, self._references, self._source = list(hypotheses), list(references), source
        self._files = [*hypotheses, *references, *([] if source is None else [source])]
        self._summary: Summary | None = None

    def check(self) -> Summary:
        """Read everything once and count the lines of every file; see `Source.check`.

        Raises:
            InputError: a file is empty, or two files differ in length. The error names both and both counts.
        """
        if self._summary is None:
            self._summary = self._check()
        return self._summary

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The segments item by item, after a check. A block holds complete items. See `Source.blocks`."""
        self.check()
        return in_blocks(self._segments(), size, characters, together=len(self.systems))

    def close(self) -> None:
        """Delete the temporary copy of standard input, if there is one."""
        for lines in self._files:
            lines.file.close()

    def _check(self) -> Summary:
        first = self._hypotheses[0]
        for lines in self._files:
            for _ in lines:
                pass
            if not lines.count:
                raise InputError(f"{lines.file.name} is empty, expected one segment per line")
        for lines in self._files:
            if lines.count != first.count:
                raise InputError(
                    f"{first.file.name} has {_count(first)} but {lines.file.name} has {_count(lines)}; parallel files"
                    f" need one line per segment each{_parting(first, lines)}"
                )
        present = {
            "system",
            "item",
            *(["references"] if self._references else []),
            *(["source"] if self._source else []),
        }
        return Summary(
            n=first.count * len(self.systems),
            systems=dict.fromkeys(self.systems, first.count),
            groups={None: first.count * len(self.systems)},
            criteria=(),
            lacking={name: f"{self.systems[0]}:1" for name in OPTIONAL if name not in present},
            present=frozenset(present),
            inputs=tuple(lines.file.entry for lines in self._files),
            notes=tuple(note for lines in self._files for note in lines.notes()),
        )

    def _segments(self) -> Iterator[Segment]:
        sources = [] if self._source is None else [self._source]
        first_reference = len(self._hypotheses)
        first_source = first_reference + len(self._references)
        for row in zip(*self._hypotheses, *self._references, *sources, strict=True):
            item = str(self._before + row[0][0])
            references = tuple([text for _, text in row[first_reference:first_source]])
            source = row[first_source][1] if sources else None
            for system, (_, hypothesis) in zip(self.systems, row, strict=False):  # the other files follow in the row
                yield Segment(f"{system}:{item}", hypothesis, references, source, system, item)


def system_names(paths: Sequence[str]) -> list[str]:
    """A distinct name for each hypothesis file.

    The name is the file name without folder, `.gz` and the like, and extension. If files would share a name, they get
    the first of these that tells them apart: the name with its extension, then with one folder before it, then with two
    and so on, and at last the path as typed.
    """
    if not paths:
        raise InputError("no hypothesis file is given, expected at least one")
    twice = [path for path, times in Counter(paths).items() if times > 1]
    if twice:
        raise InputError(f"hypothesis file {twice[0]} is given twice, expected one file per system")
    # A name that is no UTF-8 could not be written into a result; its odd bytes are shown as \\xff.
    paths = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths]
    names = [_stem(path) for path in paths]
    depth = max(len(PurePath(path).parts) for path in paths)
    for level in range(depth + 1):
        shared = {name for name, times in Counter(names).items() if times > 1}
        if not shared:
            return names
        again = [path for path, name in zip(paths, names, strict=True) if name in shared]
        longer = {path: _named(path, level) for path in again}
        names = [longer.get(path, name) for path, name in zip(paths, names, strict=True)]
    return names if len(set(names)) == len(names) else list(paths)


def _stem(path: str) -> str:
    if path == STDIN:
        return "stdin"
    return PurePath(unpacked_name(path)).stem


def _named(path: str, folders: int) -> str:
    if path == STDIN:
        return path
    if not folders:
        return PurePath(path).name
    return "/".join([*PurePath(path).parent.parts[-folders:], _stem(path)])


def _count(lines: Lines) -> str:
    return f"{lines.count} {'line' if lines.count == 1 else 'lines'}"


def _parting(one: Lines, other: Lines) -> str:
    """Where the longer file has what the shorter lacks, for the end of an error; empty where nothing tells.

    The lines before that place fit each other, and so do those after it if the longer file is moved up. Two lines fit
    as well as they share words and are of one length.
    """
    longer, shorter = (one, other) if one.count > other.count else (other, one)
    if longer.count > _MOST_COMPARED:
        return ""
    texts, others = ([text for _, text in lines] for lines in (longer, shorter))
    extra, n = len(texts) - len(others), len(others)
    name = longer.file.name
    if not any(map(str.strip, texts[n:])):
        return f"; {_lines(n + 1, len(texts))} of {name} {'is' if extra == 1 else 'are'} blank, at its end"
    words = [frozenset(text.lower().split()) for text in texts]
    held = [frozenset(text.lower().split()) for text in others]
    # fit[k]: how well all lines fit if the longer file has its extra lines before line k, from 0
    fit = [0.0]
    fit[0] = sum(_alike(texts[i + extra], others[i], words[i + extra], held[i]) for i in range(n))
    for i in range(n):
        before = _alike(texts[i], others[i], words[i], held[i])
        fit.append(fit[-1] + before - _alike(texts[i + extra], others[i], words[i + extra], held[i]))
    best = max(range(n + 1), key=fit.__getitem__)
    told = f"; {_lines(best + 1, best + extra)} of {name} {'has' if extra == 1 else 'have'} no partner"
    shown = texts[best] if len(texts[best]) <= _SHOWN else texts[best][: _SHOWN - 3] + "..."
    what = "is blank" if not texts[best].strip() else f"is {shown!r}"
    return f"{told}, as it seems: line {best + 1} {what}"


def _alike(one: str, other: str, words: frozenset[str], others: frozenset[str]) -> float:
    """How well two lines fit, from 0 to 2: the share of their words that is common, and the ratio of their lengths."""
    if not one or not other:
        return 2.0 * (one == other)
    return len(words & others) / max(len(words | others), 1) + min(len(one), len(other)) / max(len(one), len(other))


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
