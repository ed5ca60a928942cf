"""Baselines beside a test: where they lie, and how they are written."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing

FOLDER = "__nlgauge__"
_KINDS = "LMN"  # letters of any script with their marks, and digits


def baseline_path(test: Path, name: str) -> Path:
    """The file of a baseline: `__nlgauge__/NAME.json` beside the test file.

    Raises:
        InputError: the name could lead elsewhere.
    """
    name = unicodedata.normalize("NFC", name)  # as some file systems would otherwise do it for one machine alone
    is_good = [unicodedata.category(one)[0] in _KINDS or one in "_-.[]" for one in name]
    if not name or not all(is_good) or name[0] in "-.[]":
        raise InputError(
            f"{name!r} is no name of a baseline, expected letters, digits, _, -, brackets and dots, as 'summaries'"
        )
    return test.parent / FOLDER / f"{name}.json"


def write_all(texts: Mapping[str, str]) -> None:
    """Write baselines, each completely or not at all; path -> content."""
    for path, text in texts.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with replacing(path) as file:
            file.write(text)
