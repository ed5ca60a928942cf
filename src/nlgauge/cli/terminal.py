"""The command line as it was typed, and text for the terminal."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from nlgauge.core.errors import InputError
from nlgauge.report.labels import visible

if TYPE_CHECKING:
    from nlgauge.core.result import Result

_NOT_OF_RESULTS = (
    "--quiet",
    "-q",
    "--verbose",
    "-v",
    "--no-cache",
)  # where a result is kept and what is said beside it
_OUTPUTS = (
    *("--json", "--html", "--segments", "--svg", "--save-norm", "--fit-thresholds", "--output", "-o"),
    *("--junit", "--markdown", "--save"),
)
_WITH_A_PLACE = (*_OUTPUTS, "--cache")
_BYTES = re.compile("[\udc80-\udcff]")  # bytes that are no letters, as Python keeps them
_arguments: ContextVar[Sequence[str]] = ContextVar("arguments of the command", default=())


@contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Keep the arguments of the command that runs inside."""
    token = _arguments.set(arguments)
    try:
        yield
    finally:
        _arguments.reset(token)


def check_read(arguments: Sequence[str]) -> None:
    """Refuse arguments whose letters Python has not read, because it was told not to read UTF-8.

    A name of a file that is no UTF-8 is taken where Python reads UTF-8: it opens the file, and is no text.

    Raises:
        InputError: one has letters beyond those of the encoding. Texts and names of columns would be others.
    """
    unread = next((word for word in arguments if _BYTES.search(word)), None)
    if sys.getfilesystemencoding() != "utf-8" and unread is not None:
        raise not_read(os.fsencode(unread).decode("utf-8", "replace"))


def not_read(word: str) -> InputError:
    """The error about an argument or a name of a file with letters that Python does not take."""
    encoding = sys.getfilesystemencoding()
    return InputError(
        f"Python takes arguments and names of files as {encoding} here, which {word!r} is not; unset PYTHONUTF8, or set"
        " it to 1"
    )


def as_typed(result: Result) -> Result:
    """The result with the command that made it, without the places of files that it wrote.

    So the same command gives the same bytes wherever they are kept.
    """
    return replace(result, command=shlex.join(["nlgauge", *_of_results(_arguments.get())]))


def _of_results(arguments: Sequence[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        if word in _WITH_A_PLACE:
            next(words, None)
        elif word not in _NOT_OF_RESULTS and not word.startswith(tuple(f"{name}=" for name in _WITH_A_PLACE)):
            yield word


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text to standard output, or to standard error.

    Args:
        text: lines, with names and texts of the user in them.
        err: print to standard error.
        nl: end the line.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is not None and stream.isatty():
        text = visible(text, "\n\t")
    typer.echo(text, err=err, nl=nl)
