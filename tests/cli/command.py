"""The command as tests type it, a refusal as a user sees it, and files of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nlgauge.cli.main import main


def run(*words: object) -> int:
    """The exit code of `nlgauge` with these words."""
    return main([str(word) for word in words])


def refused(capsys: Any, *words: object) -> str:
    """The one line of an error; nothing stands on stdout."""
    code = run(*words)
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return str(err)


def write(path: Path, rows: Iterable[object]) -> Path:
    """A file with a row per line: a text as it is, anything else as JSON."""
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
