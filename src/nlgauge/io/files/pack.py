"""Whole files written at once: under their name only when complete, packed where the name ends in `.gz`."""

from __future__ import annotations

import gzip
import os

from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and those above it; one that is there stays.

    Raises:
        InputError: it cannot be made, or a file bears its name.
    """
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {os.fspath(path)}: {error.strerror or error}") from None


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, whole or not at all.

    Args:
        path: `.gz` at its end packs the content; the same content gives the same bytes.
        content: what unpacking gives back.

    Raises:
        InputError: the folder is missing or cannot be written.
    """
    path = os.fspath(path)
    with replacing(path, "wb") as file:
        file.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)
