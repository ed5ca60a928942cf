"""Write a file in one step: it gets its name only when it is complete, and is packed if the name ends in `.gz`."""

from __future__ import annotations

import gzip
import os
import unicodedata
from pathlib import PurePath

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


def check_file_name(name: str, what: str, *, may_hold_blanks: bool = False) -> None:
    """Refuse a name from the data that cannot become the name of a file inside its folder, such as `../../x`.

    Args:
        name: the name.
        what: what bears it, for the error, such as "metric name".
        may_hold_blanks: whether blanks are allowed; other white space and control characters never are.

    Raises:
        InputError: the name is empty, `.` or `..`, leads to another folder, or has characters that are not allowed.
    """
    within = bool(name) and name not in (".", "..") and PurePath(name).name == name and "\\" not in name
    shown = not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name)
    if not (within and shown and (may_hold_blanks or not any(map(str.isspace, name)))):
        without = "'/' and '\\'" if may_hold_blanks else "blanks, '/' and '\\'"
        raise InputError(f"{what} {name!r}, expected one without {without}; it becomes the name of a file")


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
