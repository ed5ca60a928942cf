"""Records of data-to-text, from which a text was made: read from a table or from a line of text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment

_TRIPLE = ("subject", "predicate", "object")
# A slot is `attribute=value`. A quoted value ends at the quote that a separator follows, so that it may hold others.
_END = r"(?=\s*(?:[,;)]|$)|[^\S\n\t]*[\n\t])"
_VALUE = rf"""(?>'.*?'{_END}|".*?"{_END}|(?!['"])[^,;()\n\t]*+)[^\S\n\t]*+"""
_NAME = r"""[^=,;()'"\n\t]++=[^\S\n\t]*+"""
_SLOT = re.compile(rf"{_NAME}({_VALUE})")
_SLOTS = rf"{_NAME}{_VALUE}(?>(?:[,;\n\t]\s*+{_NAME}{_VALUE})*)[,;]?\s*+"
_ACT = rf"\??\w*+\s*+\(\s*+(?:{_SLOTS})?\)"
_ACTS, _BARE = re.compile(rf"\s*+{_ACT}(?>(?:[\s&,;]*+{_ACT})*)[\s,;]*+"), re.compile(rf"\s*+{_SLOTS}")
_BETWEEN = re.compile(r"\s*[;\n\t]\s*")
_FORMS = (
    'expected a pair [attribute, value], a triple [subject, predicate, object], an object, or "subject | predicate |'
    ' object", each value a text or a number'
)


def values_of_table(segment: Segment) -> tuple[str, ...]:
    """The records of the segment's table.

    Of a pair (attribute, value) that is the value; of a triple, subject and object. An object is a triple if it has
    subject, predicate and object, and else one pair per field. A record without a value (null) says nothing.

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
    """The records of the segment's source.

    The source is `subject | predicate | object ; ...`, `attribute | value ; ...`, or `act(attribute=value, ...)`. A
    value with a separator or a bracket in it stands in quotes.

    Raises:
        InputError: it has none of these forms.
    """
    text = segment.source or ""
    is_act = _ACTS.fullmatch(text) is not None
    if "|" in text and not is_act:
        listed = [_said(record) for record in _BETWEEN.split(text) if record]
        if all(said is not None for said in listed):
            return tuple(value for said in listed if said is not None for value in said)
    elif is_act or _BARE.fullmatch(text):
        values = tuple(_plain(value.strip().strip("'\" ")) for value in _SLOT.findall(text))
        if is_act or any(values):
            return values
    raise InputError(
        f"segment {segment.id!r}: source is {text[:60]!r}, expected records like 'subject | predicate | object ;"
        " ...' or 'act(attribute=value, ...)', with quotes around a value that has a comma or a bracket"
    )


def _said(record: Any) -> list[str] | None:
    if isinstance(record, str):
        record = [part.strip().strip('"') for part in record.split("|")]
    if isinstance(record, Mapping):
        if set(_TRIPLE) <= record.keys():
            record = [record[name] for name in _TRIPLE]
        else:
            record = [record[name] for name in record]
            return None if any(map(_is_nested, record)) else [_plain(one) for one in record if not _is_absent(one)]
    if not isinstance(record, Sequence) or len(record) not in (2, 3) or any(map(_is_nested, record)):
        return None
    said = [_plain(one) for one in (record[:1] if len(record) == 3 else ()) if not _is_absent(one)]
    return [] if _is_absent(record[-1]) else [" ".join([*said, _plain(record[-1])])]


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str))


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> str:
    return str(value).replace("_", " ")  # as names are written in triples
