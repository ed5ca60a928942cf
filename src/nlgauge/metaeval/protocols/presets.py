"""Protocols by name: what a paper or a shared task means when it reports "the correlation"."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Literal

from nlgauge.core.errors import InputError, nearest


@dataclass(frozen=True)
class Task:
    """One table of numbers: a statistic at a level.

    Attributes:
        stat: the name of the statistic.
        level: `segment`, `item` (also called `summary`) or `system`.
        averaging: how values are averaged; None is the usual way at the level.
        test: the test that `auto` stands for; None is the usual one of the statistic.
    """

    stat: str
    level: str
    averaging: str | None = None
    test: str | None = None


@dataclass(frozen=True)
class Preset:
    """A protocol.

    Attributes:
        tasks: what the protocol reports.
        about: level, averaging, ties, systems and references in a sentence or two.
        origin: the paper or shared task that the protocol comes from.
        references: how several references are used, as in `meta_evaluate`; None leaves this to each metric.
        criterion: what is rated. None is the only criterion in the data; `all` is every criterion.
        test: the test that belongs to the protocol; None where there is none.
        options: the options of the statistics.
        system_scores, aggregate: as in `meta_evaluate`, for level `system`.
        official: the folder of a test set is read as the organisers ran the task: its systems, its standard reference
            and human scores, and the scores of its metrics beside those scored here.
        humans: whether outputs that people wrote then count as systems.
        weights: the weight of each task in the official average; 0 for a task that is not in it. Empty where there is
            no such average. Correlations are brought to 0 to 1 before they are averaged.
        ranks: where a new rank begins, as in `meta_evaluate`.
        differs: where the official procedure is another one; "" if it is known and the same, but for the tests.
    """

    tasks: tuple[Task, ...]
    about: str
    origin: str
    references: str | None = None
    criterion: str | None = None
    test: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    system_scores: Literal["rated", "all"] = "rated"
    aggregate: Literal["corpus", "mean"] = "corpus"
    official: bool = False
    humans: bool = True
    weights: tuple[float, ...] = ()
    ranks: Literal["all", "any", "wmt"] = "all"
    differs: str = ""


def _read() -> dict[str, Preset]:
    """The protocols of the data file, in its order."""
    table = tomllib.loads(resources.files("nlgauge.data").joinpath("protocols.toml").read_text(encoding="utf-8"))
    return {
        name: Preset(
            **{
                **row,
                "tasks": tuple(Task(**task) for task in row["tasks"]),
                "weights": tuple(row.get("weights", ())),
            }
        )
        for name, row in table.items()
    }


PRESETS: dict[str, Preset] = _read()


def preset(name: str) -> Preset:
    """Return the protocol with this name.

    Raises:
        InputError: the name is unknown; the error gives the nearest known name.
    """
    if name not in PRESETS:
        raise InputError(f"unknown preset {name!r}{nearest(name, PRESETS)}")
    return PRESETS[name]
