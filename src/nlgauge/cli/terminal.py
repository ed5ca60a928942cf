"""What is printed: as it is to a file or a pipe, and without hidden characters to a terminal, which would obey them."""

from __future__ import annotations

import sys

import typer

from nlgauge.report.labels import visible


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
