"""Stand-ins for the metrics of a run whose folder came from elsewhere: they know how to add up, and run nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.scores import Finish, MetricInfo, Scores, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, Spec, parse
from nlgauge.metrics.base import Metric
from nlgauge.metrics.registry import METRICS, on_encoder
from nlgauge.metrics.shipped import check_shipped, metric_of_file
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.plan import About, Plan


@dataclass(frozen=True)
class Recorded(BaseMetric):
    """A metric of which only the numbers are there: those of a run, with what its plan says of them.

    Attributes:
        signature: what its scores were computed with, as the plan has it.
        about: what the plan says of it.
        finish: how totals become a corpus number.
    """

    signature: Signature
    about: About
    finish: Finish

    @property
    def info(self) -> MetricInfo:
        """Range and direction, as the plan has them."""
        low, high = self.about.low, self.about.high
        return MetricInfo(
            self.signature.spec,
            needs=frozenset(),
            range=(-math.inf if low is None else low, math.inf if high is None else high),
            higher_is_better=self.about.higher_is_better,
            copy_is_best=False,
            parts=self.about.parts,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """As the plan has them."""
        return self.about.notes

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Scores of no segments, which say how others add up.

        Raises:
            InputError: there is a segment: nothing is scored by what a folder names.
        """
        if segments:
            raise InputError(f"{self.signature.spec} stands in the folder of a run; type the metric to score with it")
        return Scores(self.signature, (), np.empty(0), finish=self.finish, higher_is_better=self.about.higher_is_better)


def metrics_of(plan: Plan) -> dict[str, Metric | Recorded]:
    """The metrics of a plan that was read from a file: those that run on what ships, and stand-ins for others.

    Raises:
        InputError: an earlier nlgauge made the plan, and did not write down what it says of its metrics.
    """
    found: dict[str, Metric | Recorded] = {}
    for spec, signed in plan.signatures.items():
        try:
            check_shipped(spec)  # first, since what places it on an encoder loads its class
            found[spec] = metric_of_file(on_encoder(spec, plan.encoder))
        except SpecError:
            if spec not in plan.about:
                raise InputError(
                    f"the plan does not say what is known of {spec}, as that of an earlier nlgauge; run the same"
                    " command again, which scores nothing twice"
                ) from None
            found[spec] = Recorded(read_signature(spec, signed), plan.about[spec], _finish_of(spec))
    return found


def read_signature(spec: str, text: str) -> Signature:
    """A signature from its text."""
    entries = (entry.partition(":") for entry in text.split("|"))
    return Signature(spec, tuple((name, value) for name, _, value in entries))


def _finish_of(spec: str) -> Finish:
    """How a metric of ours that cannot be made here adds up: by a function of its class, else as a mean.

    Only classes of this package are asked, and no object is made of them.
    """
    parsed = None
    with suppress(SpecError):  # such as a class of the user's
        parsed = parse(spec)
    entry = METRICS.entries.get(parsed.name) if isinstance(parsed, Spec) else None
    if entry is None or not isinstance(parsed, Spec) or not entry.target.startswith("nlgauge.metrics."):
        return mean_of_defined
    own = vars(METRICS.lookup(parsed.name)[0]).get("corpus")
    return own.__func__ if isinstance(own, staticmethod) else mean_of_defined
