"""The base of metrics in other environments: requests to a worker, batches, blank texts, and signatures."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.external.client import Client, program
from nlgauge.metrics.external.environments import Environment, recipe_of
from nlgauge.metrics.references import over_references
from nlgauge.metrics.unknown import nonfinite
from nlgauge.runtime.runtime import Runtime

_ROWS, _BATCH = 256, 16  # rows of one request, and of one pass of a model

Policy = Literal["mean", "best"]


@dataclass(frozen=True)
class Opened:
    """A started worker and the entries it adds to the signature."""

    client: Client
    facts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Adapter(Checked, BaseMetric):
    """A metric that a package in another environment computes.

    Args:
        python: the Python of an environment of your own; None takes the one that `nlgauge env` made.
    """

    python: str | None = None
    info: ClassVar[MetricInfo]
    environment: ClassVar[str] = ""  # of `nlgauge env`
    kind: ClassVar[str]  # what the worker calls it
    reads: ClassVar[tuple[str, ...]]  # what a row holds: `hyp` and `src`, `ref` (one) or `refs` (all)
    parts: ClassVar[tuple[str, ...]] = ()
    counts_cut: ClassVar[bool] = False  # whether the worker tells which texts were cut

    @property
    def policy(self) -> Policy:
        """How several references are combined, where a row holds one."""
        return "mean"

    def load_options(self) -> dict[str, Any]:
        """The request that makes the worker load its scorer."""
        raise NotImplementedError

    def identify(self, client: Client) -> dict[str, Any]:
        """Identity of the model, for the signature; it is not loaded."""
        raise NotImplementedError

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Versions and the identity of the model, which the worker tells before it loads anything."""
        return self._opened(runtime).facts

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The scores of the package for each segment.

        A blank side gets the worst value and the flag `empty`, and is not asked about. A number that is not finite is
        NaN and has the flag `nonfinite`.

        Raises:
            InputError: the environment was not made, or its worker fails.
        """
        check_needs(self, segments)

        def single(segments: Sequence[Segment]) -> Scores:
            return self._single(segments, runtime)

        return over_references(segments, self.policy, single) if "ref" in self.reads else single(segments)

    def _single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        rows = [self._row(segment) for segment in segments]
        empty = np.array([any(map(_is_blank, row.values())) for row in rows], dtype=np.bool_)
        distinct: dict[str, list[int]] = {}
        for i in np.flatnonzero(~empty).tolist():
            distinct.setdefault(repr(rows[i]), []).append(i)
        columns = {name: np.full(len(rows), np.nan) for name in ("values", *(f"part.{part}" for part in self.parts))}
        truncated = np.zeros(len(rows), dtype=np.bool_)
        places = list(distinct.values())
        with runtime.progress(len(places), self.info.name) as advance:
            for start in range(0, len(places), _ROWS):
                part = places[start : start + _ROWS]
                found = self._asked(part, rows, segments, runtime)
                for name, column in columns.items():
                    for value, here in zip(found[name], part, strict=True):
                        column[here] = value
                if self.counts_cut:
                    for cut, here in zip(found["truncated"], part, strict=True):
                        truncated[here] = cut
                advance(len(part))
        for column in columns.values():
            column[empty] = self._worst
        broken = nonfinite(columns["values"]) & ~empty
        flags = {"empty": empty, "nonfinite": broken, **({"truncated": truncated} if self.counts_cut else {})}
        values = np.where(np.isfinite(columns["values"]), columns["values"], np.nan)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {part: columns[f"part.{part}"] for part in self.parts},
            flags=flags,
            higher_is_better=self.info.higher_is_better,
        )

    @property
    def _worst(self) -> float:
        low, high = self.info.range
        worst = low if self.info.higher_is_better else high
        return worst if self.info.blank is None else self.info.blank

    def _asked(
        self, places: Sequence[Sequence[int]], rows: Sequence[Any], segments: Sequence[Segment], runtime: Runtime
    ) -> dict[str, Array]:
        """The worker's scores of distinct rows, each of which stands in several places."""
        opened = self._opened(runtime)
        if not opened.client.opened:
            options = {"reads": self.reads, "device": runtime.device, "batch": _BATCH, **self.load_options()}
            opened.client.open({"op": "load", "kind": self.kind, "options": options})
        about = [segments[here[0]].id for here in places]
        found = opened.client.ask({"op": "score", "rows": [rows[here[0]] for here in places]}, about)
        if found["parts"].keys() != {*self.parts} or bool(found["truncated"]) != self.counts_cut:
            opened.client.close()
            raise InputError(f"{self.info.name}: the worker told other columns than those of {self.info.name}")
        cut = {"truncated": found["truncated"]} if self.counts_cut else {}
        columns = {"values": found["values"], **{f"part.{name}": found["parts"][name] for name in self.parts}, **cut}
        return {name: np.array(column, dtype=np.float64) for name, column in columns.items()}

    def _row(self, segment: Segment) -> dict[str, Any]:
        every: dict[str, Any] = {"hyp": _plain(segment.hypothesis), "src": _plain(segment.source or "")}
        every["refs"] = list(map(_plain, segment.references))
        every["ref"] = every["refs"][0] if every["refs"] else ""
        return {name: every[name] for name in self.reads}

    def _opened(self, runtime: Runtime) -> Opened:
        python = self._python()
        key = ("worker", self.kind, str(python), runtime.device, repr(sorted(self.load_options().items())), self.reads)
        return runtime.once(key, lambda: self._open(python))

    def _open(self, python: Path) -> Opened:
        signed = recipe_of(self.environment).signed if self.environment else ()
        client = Client(self.info.name, python, signed)
        hello = client.hello()
        absent = [package for package in signed[:1] if hello["versions"][package] == "absent"]
        if absent:
            raise InputError(
                f"{self.info.name}: {python} has no package {absent[0]}; nlgauge env {self.environment} makes an"
                " environment that has it"
            )
        facts = {"python": hello["python"], **hello["versions"], **self.identify(client)}
        return Opened(client, facts)

    def _python(self) -> Path:
        return program(self.python) if self.python is not None else Environment(self.environment).ready()


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Adapter):
    """A metric that is a checkpoint: a network whose numbers have no bound.

    Args:
        model: a file or folder, or the name of a model on the hub.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text.
    """

    model: str
    references: Policy = "mean"
    blank: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "info", replace(type(self).info, blank=float(self.blank)))

    @property
    def policy(self) -> Policy:
        """How several references are combined."""
        return self.references

    def load_options(self) -> dict[str, Any]:
        """The model."""
        return {"model": self.model}

    def identify(self, client: Client) -> dict[str, Any]:
        """The name of the model without its folder, and what identifies its weights."""
        return model_facts(client, self.model)


def model_facts(client: Client, model: str, option: str = "model", weights: str = "weights") -> dict[str, Any]:
    """The name of a model without its folder, and what identifies its weights, under two names."""
    found = client.ask({"op": "locate", "model": model})
    return {option: Path(model).name if os.path.exists(model) else model, weights: found["identity"]}


def adapted(name: str, **about: Any) -> MetricInfo:
    """Declare a metric of another environment."""
    settled: dict[str, Any] = {"range": (-math.inf, math.inf), "copy_is_best": False, "cached": True}
    return MetricInfo(name, flags={"empty", "nonfinite"}, **{**settled, **about})


def _plain(text: str) -> str:
    """A text without halves of pairs of codes, which no tokenizer reads."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_blank(value: Any) -> bool:
    return is_blank(value) if isinstance(value, str) else all(map(is_blank, value))
