"""MSLC: outputs of one system at several checkpoints, whose order is the truth; and outputs with gross faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair
from nlgauge.io.files.files import InputFile, entries
from nlgauge.io.files.lines import Lines
from nlgauge.io.suites.rows import SuiteRows

_FAULTS = ("empty-hypothesis", "untranslated", "wrong-language", "mix-language")
_GOOD = "correct-language"
_NEEDED = ("system-outputs", "mapping", "sources", "references")


class Output(NamedTuple):
    """The output of one checkpoint for one item."""

    place: str
    lp: str | None
    item: str
    letter: str
    text: str
    source: str | None
    references: tuple[str, ...]


def checkpoint_pairs(path: str | os.PathLike[str]) -> tuple[list[tuple[str, Pair]], list[str], list[str]]:
    """All pairs of checkpoints of every item, the later one being better; of MSLC 2024, good outputs and faulty ones.

    Args:
        path: the folder `data` of MSLC 2023, with the sources and references beside it; or segments with `letter`; or a
            folder of MSLC 2024, part B, with one language pair or several.

    Returns:
        (place, pair) of each pair; notes; and the files that were read.

    Raises:
        InputError: a part of the folder is missing, files differ in length, an item lacks an output, or has two of one
            checkpoint.
    """
    files: list[str] = []
    if os.path.isdir(path) and any(Path(path).rglob("types.tsv")):
        return _faulty(Path(path), files)
    found = _folder(Path(path), files) if os.path.isdir(path) else _segments(path, files)
    items: dict[tuple[str | None, str], dict[str, Output]] = {}
    letters: dict[str | None, dict[str, None]] = {}
    for output in found:
        own = items.setdefault((output.lp, output.item), {})
        if output.letter in own:
            raise InputError(
                f"{output.place}: item {output.item!r} has a second output of checkpoint {output.letter!r}; the first"
                f" is {own[output.letter].place}"
            )
        own[output.letter] = output
        letters.setdefault(output.lp, {})[output.letter] = None
    placed: list[tuple[str, Pair]] = []
    for (lp, item), own in items.items():
        missing = [letter for letter in sorted(letters[lp], key=place_of) if letter not in own]
        if missing:
            place = next(iter(own.values())).place
            raise InputError(f"{place}: item {item!r} has no output of checkpoint {', '.join(missing)}")
        order = sorted(own, key=place_of)
        if len(order) < 2:
            raise InputError(f"{os.fspath(path)}: one checkpoint of {lp}, expected at least two to compare")
        placed += [_pair(own, order, i, j) for i, j in combinations(range(len(order)), 2)]
    notes = [] if placed else [f"{os.fspath(path)}: no output in it"]
    return placed, notes, files


def place_of(letter: str) -> tuple[int, str]:
    """Where a checkpoint stands in the order of training: 2 before 10, Z before AA."""
    return len(letter), letter


def _pair(own: dict[str, Output], order: list[str], i: int, j: int) -> tuple[str, Pair]:
    worse, better = own[order[i]], own[order[j]]
    steps = j - i
    return better.place, Pair(
        id=f"{better.item}|{worse.letter}<{better.letter}",
        phenomenon=f"{steps}_steps" if steps > 1 else "1_step",
        better=better.text,
        worse=worse.text,
        references=better.references,
        source=better.source,
        group=better.lp,
        error=f"{worse.letter}<{better.letter}",
        meta={"better": better.letter, "worse": worse.letter, "item": better.item},
        cluster=better.item,
    )


def _faulty(folder: Path, files: list[str]) -> tuple[list[tuple[str, Pair]], list[str], list[str]]:
    """Of each language pair, outputs with a gross fault beside the good output for the same source."""
    placed: list[tuple[str, Pair]] = []
    alone = doubled = 0
    for types in sorted(folder.rglob("types.tsv")):
        kinds = [line.split("\t") for line in _lines(types, files)]
        names = ("source", "reference", "hypothesis")
        texts = {name: _lines(types.with_name(f"{name}.txt"), files) for name in names}
        for name, lines in texts.items():
            if len(lines) != len(kinds):
                raise InputError(f"{types.with_name(name)}.txt: {len(lines)} lines, and {types} has {len(kinds)}")
        lp, rows = types.parent.name, list(zip(kinds, *texts.values(), strict=True))
        bad = next((i for i, (kind, *_) in enumerate(rows, start=1) if len(kind) != 5), None)
        if bad is not None:
            raise InputError(f"{types}:{bad}: {len(rows[bad - 1][0])} cells, expected 5: number, kind and three types")
        correct = [(source, output) for (_, kind, *_), source, _, output in rows if kind == _GOOD and source]
        good = dict(correct)
        doubled += len(correct) - len(good)
        for i, ((_, kind, *_), source, reference, output) in enumerate(rows, start=1):
            if kind in _FAULTS and source in good:
                pair = Pair(
                    id=f"{lp}.{i}",
                    phenomenon=kind,
                    better=good[source],
                    worse=output,
                    references=(reference,),
                    source=source,
                    group=lp,
                    error=kind,
                )
                placed.append((f"{types}:{i}", pair))
            elif kind != _GOOD:
                alone += 1
    notes = {
        f"{folder}: {alone} outputs have no good output for the same source beside them, and make no pair": alone,
        f"{folder}: {doubled} good outputs are passed over, since a later one has the same source": doubled,
    }
    return placed, [note for note, n in notes.items() if n], files


def _segments(path: str | os.PathLike[str], files: list[str]) -> Iterator[Output]:
    files.append(os.fspath(path))
    for place, row in SuiteRows(InputFile(path)):
        lp, item, letter = row.text("lp"), row.needed("seg"), row.needed("letter")
        yield Output(place, lp, item, letter, row.needed("hyp"), row.text("src"), row.references())


def _folder(folder: Path, files: list[str]) -> Iterator[Output]:
    absent = [name for name in _NEEDED if not (folder / name).is_dir()]
    if absent:
        raise InputError(
            f"{folder}: no folder {absent[0]!r} in it, expected {', '.join(_NEEDED)}; sources and references are those"
            " of WMT (page 'suites' of the documentation)"
        )
    pairs = [path.name.partition(".")[0] for path in entries(folder / "sources", "*.txt*")]
    if not pairs:
        raise InputError(f"{folder / 'sources'}: no file there, expected such as he-en.txt, one line per output line")
    for lp in pairs:
        yield from _of_pair(folder, lp, files)


def _of_pair(folder: Path, lp: str, files: list[str]) -> Iterator[Output]:
    systems = entries(folder / "system-outputs" / lp, "*.txt*")
    letters = _letters(folder / "mapping" / f"{lp}.tsv", files)
    references = entries(folder / "references", f"{lp}.*")
    if not systems or not references:
        lacking = f"system-outputs/{lp}" if not systems else f"references/{lp}.NAME.txt"
        raise InputError(f"{folder}: there is sources/{lp}.txt, and nothing at {lacking}")
    (source,) = entries(folder / "sources", f"{lp}.txt*")[:1]
    texts = [_lines(path, files) for path in (source, references[0])]
    for system in systems:
        name = system.name.partition(".")[0]
        if name not in letters:
            raise InputError(f"{system}: no line of mapping/{lp}.tsv names {name!r}; it names {', '.join(letters)}")
        lines = _lines(system, files)
        for path, own in zip((source, references[0]), texts, strict=True):
            if len(own) != len(lines):
                raise InputError(
                    f"{path}: {len(own)} lines, and {system} has {len(lines)}; keep the lines of the documents that"
                    f" documents/{lp}.docs lists"
                )
        for i, (text, src, ref) in enumerate(zip(lines, *texts, strict=True), start=1):
            yield Output(f"{system}:{i}", lp, f"{lp}.{i:04d}", letters[name], text, src, (ref,))


def _letters(path: Path, files: list[str]) -> dict[str, str]:
    """System -> its letter in the paper; A is the least trained."""
    letters: dict[str, str] = {}
    for i, line in enumerate(_lines(path, files), start=1):
        name, tab, letter = line.partition("\t")
        if not tab or "\t" in letter or letter in letters.values() or name in letters:
            raise InputError(f"{path}:{i}: {line!r:.60}, expected a system, a tab and its letter, each once")
        letters[name] = letter
    return letters


def _lines(path: Path, files: list[str]) -> list[str]:
    files.append(str(path))
    return [line for _, line in Lines(InputFile(path), texts=True)]
