"""Raw texts: one per line of a text file, or the references of a data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines
from nlgauge.io.formats import by_name
from nlgauge.io.read import open_data


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
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    inputs: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]


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
    lines = Lines(InputFile(name), texts=True)
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
