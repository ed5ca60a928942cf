"""Raw texts: a line each, or the references of a data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines
from nlgauge.io.read import open_data

_DATA = frozenset({".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".parquet"})


@dataclass(frozen=True)
class Raw:
    """Texts with their ids.

    Attributes:
        ids: the number of the line, from 1 on; of a data set the id of the segment that has the text first, with `.2`
            for its second reference.
        texts: empty lines among them; of a data set each distinct reference once, or else each hypothesis. As long as
            `ids`.
        inputs: what was read, `{"path", "sha256"}`.
        notes: what a reader must know.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    inputs: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]


def read_raw(path: str | os.PathLike[str]) -> Raw:
    """The texts of a file.

    Args:
        path: `.jsonl`, `.tsv`, `.csv`, `.parquet` (also `.gz`), or a folder: a data set. Any other name, and `-`: a
            text a line, also `.gz`.

    Raises:
        InputError: missing, empty, no UTF-8, or wrong in some row.
    """
    name = os.fspath(path)
    if os.path.isdir(name) or PurePath(name.removesuffix(".gz")).suffix.lower() in _DATA:
        return _references(name)
    lines = Lines(InputFile(name))
    try:
        numbered = list(lines)
        inputs = (lines.file.entry,)
    finally:
        lines.file.close()
    if not numbered:
        raise InputError(f"{lines.file.name} is empty, expected a text a line")
    return Raw(
        tuple(str(number) for number, _ in numbered), tuple(text for _, text in numbered), inputs, tuple(lines.notes())
    )


def _references(path: str) -> Raw:
    source = open_data(path)
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
