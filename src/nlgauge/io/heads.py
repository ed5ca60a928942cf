"""The fields that a file of JSON begins with, where its first line is not a whole value."""

from __future__ import annotations

import json
import re

_COLUMNS = re.compile(r'\s*\{\s*"columns"\s*:\s*(\[[^\]]*\])')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]')


def first_fields(head: str) -> list[str]:
    """The names of the fields of the object that a text begins with, or of the first object of an array.

    The text may end anywhere: fields after its end are not found.

    Args:
        head: the beginning of JSON.

    Returns:
        The names in order, without those of inner objects; empty if the text begins with something else.
    """
    start = head.lstrip(" \t\r\n")[:1]
    if start not in ("{", "["):
        return []
    level = 1 if start == "{" else 2  # how deep the first object lies
    depth, found = 0, dict[str, None]()
    last = ""
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth < level and found:
                break
        elif token == ":":
            if depth == level and last:
                found[last] = None
            last = ""
            continue
        last = token[1:-1] if token[0] == '"' else ""
    return list(found)


def columns_in(head: str) -> list[str]:
    """The fields of a table that is one object with `columns` and `data`: its columns where one of them is `hyp`."""
    match = _COLUMNS.match(head.removeprefix("\ufeff"))
    try:
        names = json.loads(match[1]) if match else []
    except ValueError:
        names = []
    return names if "hyp" in names else first_fields(head)
