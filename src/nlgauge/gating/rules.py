"""What must hold for a change to pass? The rules of a gate, checked before anything is scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import Range, Typed, check_option
from nlgauge.stats.gate_bounds import DRAWS

Undefined = Literal["fail", "worst", "drop"]
Clusters = Literal["group", "none"]
Items = Literal["sample", "fixed"]
Drops = float | Mapping[str, float]  # one for all metrics, or specification -> its own
_HUNDREDTH = 0.01
_SHARE = Annotated[float, Range(above=0, below=0.5, meaning="a share, such as 0.05")]
_DROP = Annotated[float, Range(least=0, most=1e300, meaning="a drop in units of the metric")]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a gate; drops are in the units of each metric.

    Those that are typed as they are say so here; the command line makes the others of what is typed there.

    Attributes:
        allow: the drop of the mean that is allowed; `""` in a mapping stands for metrics that it does not name. None is
            a hundredth of the scale, and .01 where the scale has no limits.
        alpha: the chance of a false PASS, and that of a false FAIL, at a drop equal to `allow`.
        allow_item: the drop that no single item may exceed.
        min_pass: (M, N): an item must pass M of N runs.
        undefined: what becomes of scores that NEW lacks and BASE has.
        report_only: specifications that do not decide.
        sequential: whether one may look again after every further item.
        clusters: `group` draws whole groups of items, `none` takes items as independent.
        items: `sample` asks what the items say of others like them, `fixed` of these items alone.
        draws, seed: of the bootstrap.
    """

    allow: Drops | None = None
    alpha: Annotated[_SHARE, Typed("The chance of a false PASS, and of a false FAIL.", metavar="SHARE")] = 0.05
    allow_item: Drops | None = None
    min_pass: tuple[int, int] | None = None
    undefined: Annotated[Undefined, Typed("What a score is that NEW lacks and BASE has.")] = "fail"
    report_only: frozenset[str] = field(default_factory=frozenset)
    sequential: Annotated[bool, Typed("Judge so that one may look again after every further item.")] = False
    clusters: Annotated[Clusters, Typed("Take groups of items as clusters, or not.")] = "group"
    items: Annotated[Items, Typed("A sample of what is to come, or all that is asked for.")] = "sample"
    draws: Annotated[int, Range(least=100), Typed("Resamples.", ("--draws", "-n"), metavar="N")] = DRAWS
    seed: int = 0

    def check(self, specs: Iterable[str]) -> None:
        """Refuse rules that do not fit the metrics, or lie out of their range.

        Raises:
            InputError: as it says.
        """
        known = list(specs)
        check_option("undefined", self.undefined, Undefined, error=InputError)
        check_option("clusters", self.clusters, Clusters, error=InputError)
        check_option("items", self.items, Items, error=InputError)
        if self.items == "fixed" and self.sequential:
            raise InputError("sequential judges further items, and with items fixed there are none; choose one of both")
        check_option("alpha", self.alpha, _SHARE, error=InputError)
        for name, drops in (("allow", self.allow), ("allow_item", self.allow_item)):
            for spec, drop in drops.items() if isinstance(drops, Mapping) else [("", drops)]:
                if spec and spec not in known:
                    raise InputError(f"{name} names {spec!r}, which is not among the metrics{nearest(spec, known)}")
                about = f"{name} of {spec}" if spec else name
                check_option(about, drop, _DROP | None, error=InputError)
        if self.min_pass is not None:
            check_option("min_pass", self.min_pass, tuple[int, int], error=InputError)
            if not 0 < self.min_pass[0] <= self.min_pass[1]:
                raise InputError(f"min_pass is {self.min_pass}, expected M of N runs with M from 1 to N, as (8, 10)")
        if not [spec for spec in known if spec not in self.report_only]:
            raise InputError("every metric is only reported, expected one or more that decide")

    def allowed(self, spec: str, scale: float | None = None) -> float:
        """The drop of the mean that is allowed by a metric.

        Args:
            spec: the metric as typed.
            scale: the width of its scale; None where it has no limits.

        Raises:
            InputError: none is.
        """
        if self.allow is None:
            return _HUNDREDTH * (1.0 if scale is None else scale)
        drop = _of(self.allow, spec)
        if drop is None:
            raise InputError(f"no drop is allowed or forbidden for {spec}; name one, 0 if none may be lost")
        return drop

    def allowed_item(self, spec: str) -> float | None:
        """The drop that no single item may exceed by a metric; None where there is no limit."""
        return _of(self.allow_item, spec)


def _of(drops: Drops | None, spec: str) -> float | None:
    if isinstance(drops, Mapping):
        drop = drops.get(spec, drops.get(""))
        return None if drop is None else float(drop)
    return None if drops is None else float(drops)


def m_of_n(typed: str) -> tuple[int, int]:
    """`8/10` as (8, 10).

    Raises:
        InputError: it is something else.
    """
    match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", typed)
    if match is None or not 0 < int(match[1]) <= int(match[2]):
        raise InputError(f"{typed!r} is no demand on runs, expected M/N with M from 1 to N, as 8/10")
    return int(match[1]), int(match[2])
