"""How a page names files: without their folders, for a page is passed on to others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from nlgauge.core.result import Result

_IN, _END = r"""[^\s"',;:|\[\]()]""", r"""[^\s"',;:|\[\]().]"""
# An absolute path, or one from the home folder, where a text begins or after a blank, a quote, a bracket or a sign.
_PATH = re.compile(rf"""(?<![^\s"'(\[=,:|])(?:~?/|[A-Za-z]:\\){_IN}*[/\\]{_IN}*{_END}""")

_CALLED = ("system", "baseline", "group", "item", "criterion", "phenomenon")  # of rows: what data call something


def without_folders(result: Result) -> Result:
    """The result with every absolute path cut to the name of its file; names that look like paths stay whole.

    Files with equal names keep the folders that tell them apart. Inputs show no folder at all where that is possible.
    """
    inputs = [entry["path"] for entry in result.inputs]
    texts = [*_texts(result.rows), *_texts(result.metrics), *result.notes, result.command or ""]
    names = names_of([*inputs, *(path for text in texts for path in _PATH.findall(text))])

    called = {str(row[key]) for row in result.rows for key in _CALLED if row.get(key) is not None} - {*inputs}
    called = {name for name in called if "/" in name or "\\" in name}

    def cut(found: re.Match[str]) -> str:
        path = found.group()
        return path if path not in inputs and any(path in name for name in called) else names[path]

    def shown(value: Any) -> Any:
        return _PATH.sub(cut, value) if isinstance(value, str) else value

    def each(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{key: shown(value) for key, value in row.items()} for row in rows]

    return replace(
        result,
        inputs=[{**entry, "path": names[entry["path"]]} for entry in result.inputs],
        rows=each(result.rows),
        metrics=each(result.metrics),
        notes=[shown(note) for note in result.notes],
        command=shown(result.command),
    )


def bare(text: str) -> str:
    """A text with every absolute path in it cut to the name of its file, or more where names are equal."""
    names = names_of(_PATH.findall(text))
    return _PATH.sub(lambda found: names[found.group()], text)


def _texts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(value for row in rows for value in row.values() if isinstance(value, str)))


def names_of(paths: Sequence[str]) -> dict[str, str]:
    """path -> its shortest end that no other path has."""
    parts = {path: _split(path).parts for path in paths}
    names = {}
    for path, own in parts.items():
        for n in range(1, len(own) + 1):
            ends = Counter(other[-n:] for other in parts.values())
            if ends[own[-n:]] == 1 or n == len(own):
                names[path] = "/".join(own[-n:]) if n < len(own) else path
                break
        else:
            names[path] = path
    return names


def _split(path: str) -> PurePath:
    return PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
