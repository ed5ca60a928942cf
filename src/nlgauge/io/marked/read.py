"""Marked texts of any format: which reader a file wants is told by how it begins."""

from __future__ import annotations

import os

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile, by_content
from nlgauge.io.files.records import Records
from nlgauge.io.marked.mqm import read_mqm_spans
from nlgauge.io.marked.rows import read_marked_rows, read_rating_spans
from nlgauge.io.marked.tables import STARTS, read_span_table
from nlgauge.io.marked.texts import MarkedText

_MQM = {"rater", "source", "target", "category", "severity"}  # columns of annotations of MQM
_FORMATS = (
    "JSON lines with spans or errors, SYSTEM with a rating of mt-metrics-eval, annotations of MQM, or a table with"
    " start_indices (WMT25) or start_ids (WMT QE)"
)


def read_marked(path: str | os.PathLike[str] | InputFile, *, inclusive: bool = False) -> list[MarkedText]:
    """Marked texts of a file in any of the formats that the readers of this room know.

    Args:
        path: the file; `-` is standard input.
        inclusive: whether `end_i` of JSON lines is the last character and not the one behind it.

    Raises:
        InputError: the file is in no such format, or what its reader raises.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    if by_content(file) == "jsonl":
        return read_marked_rows(file, inclusive=inclusive)
    if inclusive:
        raise InputError(f"{file.name}: inclusive is about the ends of ESA's JSON, and this file is a table")
    cells = Records(file, "\t").header()
    if set(STARTS) & set(cells):
        return read_span_table(file)
    if set(cells) >= _MQM:
        return read_mqm_spans(file)
    if len(cells) in (2, 3) and (cells[1] == "None" or cells[1].startswith("{")):
        return read_rating_spans(file)
    raise InputError(f"{file.name} holds no marked errors that can be read, expected {_FORMATS}")
