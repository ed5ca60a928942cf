"""The command as tests type it, a refusal as a user sees it, and files of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nlgauge.cli.main import main
from nlgauge.io.results import result_schema

try:
    import jsonschema
except ImportError:
    jsonschema = None


def run(*words: object) -> int:
    """The exit code of `nlgauge` with these words. A result that it wrote as JSON follows its schema."""
    typed = [str(word) for word in words]
    code = main(typed)
    if "--json" in typed[:-1] and code in (0, 3, 4):
        path = Path(typed[typed.index("--json") + 1])
        if path.is_file() and jsonschema is not None:
            check_schema(json.loads(path.read_text(encoding="utf-8")))
    return code


def check_schema(result: Any) -> None:
    """Refuse a result that has other fields than the schema of its kind, or other types."""
    _validator(result["kind"]).validate(result)


@cache
def _validator(kind: str) -> Any:
    return jsonschema.Draft202012Validator(_closed(result_schema(kind)))


def _closed(schema: Any) -> Any:
    """The schema without room for fields of later versions."""
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(part) for name, part in schema.items()}
    return {"additionalProperties": False, **closed} if isinstance(schema.get("properties"), dict) else closed


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
