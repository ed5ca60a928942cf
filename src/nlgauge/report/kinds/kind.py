"""How is a kind of result shown? Its tables, what is said of them, and its page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from nlgauge.core.result import KINDS
from nlgauge.report.paper import Paper, Part


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How results of one kind are shown.

    Attributes:
        parts: the tables of the result on a paper, and prose between them; None where it has no tables.
        heading: of the page, which shows these parts.
        page: `module:function` of a page of its own in its place, imported when it is asked for. The function takes a
            result, and by keyword what only this page shows.
        signed: whether signatures and notes follow the tables in a terminal.
    """

    parts: Callable[[Paper], Sequence[Part]] | None = None
    heading: str = ""
    page: str = ""
    signed: bool = True


def kind_of(name: str) -> Kind:
    """A kind by its name: `KIND` of the module that is called so; one that shows nothing for another name."""
    kind: Kind = import_module(f"nlgauge.report.kinds.{name}").KIND if name in KINDS else Kind()
    return kind
