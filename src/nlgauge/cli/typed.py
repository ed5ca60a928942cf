"""The command as typed, which stands in every result that it makes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from nlgauge.core.result import Result

_arguments: ContextVar[Sequence[str]] = ContextVar("arguments of the command", default=())


@contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Keep the arguments of the command that runs inside."""
    token = _arguments.set(arguments)
    try:
        yield
    finally:
        _arguments.reset(token)


def as_typed(result: Result) -> Result:
    """The result with the command that made it."""
    return replace(result, command=shlex.join(["nlgauge", *_arguments.get()]))
