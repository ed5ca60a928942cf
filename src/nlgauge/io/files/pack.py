"""Write a file in one step: it gets its name only when it is complete, and is packed if the name ends in `.gz`."""

from __future__ import annotations

import gzip
import os

from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and its parents. A folder that exists is left as it is.

    Raises:
        InputError: the folder cannot be made, or a file has its name.
    """
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {os.fspath(path)}: {error.strerror or error}") from None


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file completely or not at all.

    Args:
        path: the file. If it ends in `.gz` the content is packed; the same content always gives the same bytes.
        content: the content before packing.

    Raises:
        InputError: the folder is missing or cannot be written.
    """
    path = os.fspath(path)
    with replacing(path, "wb") as file:
        file.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)
