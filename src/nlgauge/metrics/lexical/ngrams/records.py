"""What a text was made from in data-to-text: records read from a table or from a line of text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment

_TRIPLE = ("subject", "predicate", "object")
_SLOT = re.compile(r"""([\w ]+?)\s*=\s*('[^']*'|"[^"]*"|[^,;()]+)""")
_ACT = re.compile(r"\s*\w+\s*\(\s*\)\s*")
_BETWEEN = re.compile(r"\s*[;\n\t]\s*")
_FORMS = (
    'expected a pair [attribute, value], a triple [subject, predicate, object], an object, or "subject | predicate |'
    ' object"'
)


def values_of_table(segment: Segment) -> tuple[str, ...]:
    """What each record of the segment's table says.

    Of a pair (attribute, value) that is the value; of a triple, subject and object. An object is a triple if it has
    subject, predicate and object, and else one pair per field.

    Raises:
        InputError: a record has none of these forms.
    """
    values: list[str] = []
    for place, record in enumerate(segment.table):
        said = _said(record)
        if said is None:
            raise InputError(f"segment {segment.id!r}: table[{place}] is {str(record)[:60]!r}, {_FORMS}")
        values += said
    return tuple(values)


def values_of_source(segment: Segment) -> tuple[str, ...]:
    """What each record of the segment's source says.

    The source is `subject | predicate | object ; ...`, `attribute | value ; ...`, or `act(attribute=value, ...)`.

    Raises:
        InputError: it has none of these forms.
    """
    text = segment.source or ""
    if "|" in text:
        listed = [_said(record) for record in _BETWEEN.split(text) if record]
        if all(said is not None for said in listed):
            return tuple(value for said in listed if said is not None for value in said)
    elif (slots := _SLOT.findall(text)) or _ACT.fullmatch(text):
        return tuple(value.strip("'\" ") for _, value in slots)
    raise InputError(
        f"segment {segment.id!r}: source is {text[:60]!r}, expected records like 'subject | predicate | object ;"
        " ...' or 'act(attribute=value, ...)'"
    )


def _said(record: Any) -> list[str] | None:
    if isinstance(record, str):
        record = [part.strip().strip('"') for part in record.split("|")]
    if isinstance(record, Mapping):
        if set(_TRIPLE) <= record.keys():
            record = [record[name] for name in _TRIPLE]
        else:
            return [_plain(value) for value in record.values()]
    if not isinstance(record, Sequence) or len(record) not in (2, 3):
        return None
    return [_plain(record[1]) if len(record) == 2 else f"{_plain(record[0])} {_plain(record[2])}"]


def _plain(value: Any) -> str:
    return str(value).replace("_", " ")  # as names are written in triples
