"""Direction and signature of the columns of a file of scores, in FILE.meta.json beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing
from nlgauge.core.segment import unique
from nlgauge.core.spec import version
from nlgauge.core.tables import Origin
from nlgauge.io.files.files import InputFile

SUFFIX = ".meta.json"


def write_beside(
    path: str | os.PathLike[str],
    metrics: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Mapping[str, bool | None]] | None = None,
) -> None:
    """Write what is known of the columns of a file of rows that is written already.

    Args:
        path: the file of rows. Nothing is written beside a pipe or a terminal.
        metrics: the metrics as a result file has them: `spec`, which is the name of a column, `signature` and
            `higher_is_better`.
        parts: specification -> part -> whether higher is better; None for a part that is no score.
    """
    path = os.fspath(path)
    if not os.path.isfile(path):
        return
    about = {
        "schema": 1,
        "kind": "segments",
        "version": version("nlgauge"),
        "sha256": InputFile(path).entry["sha256"],
        "metrics": [
            {key: metric[key] for key in ("spec", "signature", "higher_is_better")}
            | ({"parts": known} if (known := dict((parts or {}).get(metric["spec"], {}))) else {})
            for metric in metrics
        ],
    }
    with replacing(path + SUFFIX) as file:
        json.dump(about, file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_beside(file: InputFile) -> tuple[dict[str, Origin], list[str]]:
    """The metadata of a file of scores: column -> origin; and notes.

    If the file has changed since, its directions hold, and its signatures do not.

    Raises:
        InputError: it cannot be read, or is not what `write_beside` writes.
    """
    path = file.path + SUFFIX
    wrong = f"{path} is not what nlgauge writes beside {file.path}; delete it, or write both again with --segments"
    try:
        with open(path, encoding="utf-8") as opened:
            about = json.load(opened, object_pairs_hook=unique)
        same = about["sha256"] == file.entry["sha256"]
        origins: dict[str, Origin] = {}
        parts: set[str] = set()
        for metric in about["metrics"]:
            spec, signature = str(metric["spec"]), str(metric["signature"]) if same else ""
            origins[spec] = Origin(metric["higher_is_better"], signature)
            for part, up in metric.get("parts", {}).items():
                parts.add(f"{spec}.{part}")
                origins[f"{spec}.{part}"] = Origin(up, f"{signature}|part:{part}" if same else "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{wrong} ({type(error).__name__}: {error})") from None
    if not all(isinstance(up, bool) or (up is None and name in parts) for name, (up, _) in origins.items()):
        raise InputError(f"{wrong} (higher_is_better is neither true nor false)")
    changed = f"{file.name} has changed since {path} was written; its directions are used, its signatures are not"
    return origins, [] if same else [changed]
