"""Raw texts: one per line of a text file, or the references of a data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.files.files import InputFile
from nlgauge.io.formats import by_name
from nlgauge.io.parallel import open_texts
from nlgauge.io.read import open_data, read


@dataclass(frozen=True)
class Raw:
    """Texts with their ids.

    Attributes:
        ids: for a text file, the numbers of the lines from 1. For a data set, the id of the first segment that has the
            text, followed by `.2` for its second reference.
        texts: for a text file, all lines, also empty ones. For a data set, each distinct reference once, or each
            hypothesis if there are no references. As long as `ids`.
        inputs: the files that were read, as `{"path", "sha256"}`.
        notes: what a reader must know.
        others: of paraphrases, the other texts of the same item, as long as `ids`; else empty.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    inputs: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    others: tuple[tuple[str, ...], ...] = ()


def read_raw(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Raw:
    """The texts of a file.

    Args:
        path: `.jsonl`, `.tsv`, `.csv` or `.parquet` (also `.gz`), or a folder, is a data set. Any other name (also
            `.gz`), and `-`, is a text file with one text per line.
        columns: of a data set: which column holds which field; see `nlgauge.read`.

    Raises:
        InputError: the file is missing, is empty, is not UTF-8, or has an error in some row.
    """
    name = os.fspath(path)
    if os.path.isdir(name) or by_name(name) is not None:
        return _references(name, columns)
    if columns is not None:
        raise InputError(f"columns are named for a data set; {name} is a text file with one text per line")
    lines = open_texts(name, "src")[0]
    try:
        numbered = list(lines)
        inputs = (lines.file.entry,)
    finally:
        lines.file.close()
    if not numbered:
        raise InputError(f"{lines.file.name} is empty, expected one text per line")
    return Raw(
        tuple(str(number) for number, _ in numbered), tuple(text for _, text in numbered), inputs, tuple(lines.notes())
    )


def read_texts(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Dataset:
    """The segments of a data set; of a text file, whose name says nothing else, each line is a hypothesis.

    Raises:
        InputError: as `read_raw`.
    """
    name = os.fspath(path)
    if not os.path.isfile(name) or by_name(name) is not None or InputFile(name).head(4) == b"PK\x03\x04":
        return read(name, columns=columns)
    raw = read_raw(name, columns)
    return Dataset(tuple(map(Segment, raw.ids, raw.texts)), name, raw.notes)


def read_paraphrases(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, hypotheses: bool = False
) -> Raw:
    """The references of a data set, each beside the other references of its item.

    An item without two texts that differ is left out, and counted in a note.

    Args:
        path: a data set, in which an item has several references: `refs`, or columns `ref1`, `ref2`.
        columns: which column holds which field; see `nlgauge.read`.
        hypotheses: whether hypotheses are texts of people, too, as post-edits are: then they stand beside references.

    Raises:
        InputError: as `read_raw`; or it is no data set, or no item has two texts that differ.
    """
    name = os.fspath(path)
    if not (os.path.isdir(name) or by_name(name) is not None):
        raise InputError(
            f"{name} has one text per line, and paraphrases are texts of one item; expected a data set whose items have"
            " two references or more (refs of .jsonl, columns ref1 and ref2 of .tsv), or pairs hyp and ref"
        )
    source = open_data(name, columns=columns)
    try:
        summary = source.check()
        found: dict[str, dict[str, str]] = {}
        for block in source.blocks():
            for segment in block:
                own = found.setdefault(segment.id if segment.item is None else segment.item, {})
                texts = ((segment.hypothesis,) if hypotheses else ()) + segment.references
                for place, text in enumerate(texts, start=1):
                    own.setdefault(text, segment.id if place == 1 else f"{segment.id}.{place}")
    finally:
        source.close()
    several = [own for own in found.values() if len(own) > 1]
    if not several:
        raise InputError(
            f"{name}: none of {len(found)} items has two {'texts' if hypotheses else 'references'} that differ,"
            " expected paraphrases of each other"
        )
    alone = len(found) - len(several)
    notes = [f"{alone} of {len(found)} items have no second text and are left out"] if alone else []
    rows = [(own[text], text, tuple(other for other in own if other != text)) for own in several for text in own]
    ids, texts, others = zip(*rows, strict=True)
    return Raw(ids, texts, summary.inputs, (*summary.notes, *notes), others)


def _references(path: str, columns: Mapping[str, str] | None) -> Raw:
    source = open_data(path, columns=columns)
    try:
        summary = source.check()
        found: dict[str, str] = {}
        for block in source.blocks():
            for segment in block:
                for place, text in enumerate(segment.references or (segment.hypothesis,), start=1):
                    found.setdefault(text, segment.id if place == 1 else f"{segment.id}.{place}")
    finally:
        source.close()
    return Raw(tuple(found.values()), tuple(found), summary.inputs, summary.notes)
