"""Write pairs in the form in which they are read: JSON lines or TSV. A file is written completely or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT, replacing
from nlgauge.core.suite import Pair, Suite

_COLUMNS = ("id", "phenomenon", "task", "criterion", "expect", "setup", "lp", "src", "ref", "better", "worse", "error")


def write_pairs(suite: Suite, path: str | os.PathLike[str]) -> None:
    """Write a suite so that `read_suite` reads it again.

    Args:
        suite: the pairs.
        path: `.jsonl`, which has every field (`meta` is not read again), or `.tsv`, which has only the first reference,
            and neither context nor `meta` nor `cluster`; also with `.gz`. `-` is JSON lines on standard output.

    Raises:
        InputError: the extension is another one, a text for TSV has a tab or a line break, or the file cannot be
            written.
    """
    name = os.fspath(path)
    plain = name.removesuffix(".gz")
    if name != STDOUT and not plain.endswith((".jsonl", ".tsv")):
        raise InputError(f"{name}: pairs are written as .jsonl or .tsv (also .gz)")
    lines = _tsv(suite, name) if plain.endswith(".tsv") else (msgspec.json.encode(_row(pair)) for pair in suite)
    with replacing(path, "wb") as file:
        if name.endswith(".gz"):
            with gzip.GzipFile(
                filename="", fileobj=file, mode="wb", mtime=0
            ) as packed:  # no name, no time: equal content, equal bytes
                packed.writelines(line + b"\n" for line in lines)
        else:
            file.writelines(line + b"\n" for line in lines)


def _row(pair: Pair) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": pair.id,
        "phenomenon": pair.phenomenon,
        "task": pair.task,
        "criterion": pair.criterion,
        "expect": pair.expect,
        "setup": pair.setup,
        "lp": pair.group,
        "src": pair.source,
        "refs": list(pair.references),
        "better": pair.better,
        "worse": pair.worse,
        "error": pair.error,
        "context": [dict(turn) for turn in pair.context],
        "meta": dict(pair.meta),
        "cluster": pair.cluster,
    }
    return {key: _clean(value) for key, value in row.items() if value is not None and value != [] and value != {}}


def _clean(value: Any) -> Any:
    """Escape lone surrogates, which JSON cannot hold, as is done elsewhere."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    return value


def _tsv(suite: Suite, name: str) -> Iterator[bytes]:
    yield "\t".join(_COLUMNS).encode()
    for pair in suite:
        row = {**_row(pair), "ref": pair.references[0] if pair.references else ""}
        cells = [str(row.get(column) or "") for column in _COLUMNS]
        if any(c in cell for cell in cells for c in "\t\n\r"):
            raise InputError(f"{name}: pair {pair.id!r} holds a tab or a line break, which TSV cannot; write .jsonl")
        yield "\t".join(cells).encode("utf-8", "backslashreplace")
