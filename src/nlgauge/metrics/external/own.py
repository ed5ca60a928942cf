"""A module of the user's, which runs under a Python of the user's."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.scores import TASKS
from nlgauge.metrics.external.adapter import Adapter, adapted
from nlgauge.metrics.external.client import Client, program

_READS = {"references": "refs", "source": "src"}


@dataclass(frozen=True, kw_only=True)
class External(Adapter):
    """A metric from a function of yours in an environment of yours: `score` takes a list of rows and returns numbers.

    A row is a dictionary with `hyp`, and with `refs` (a list) and `src` as `needs` names them.

    Args:
        python: the Python that runs it; None takes the one that runs nlgauge, in a process of its own.
        module: the path of a file that ends in `.py`, or the name of a module that this Python imports. Packages that
            change its numbers stand in its list `PACKAGES`: their versions are signed, as is its file.
        needs: what it reads besides the hypothesis: `references`, `source`, both with a blank between, or nothing.
        low: the lowest value, which a blank text gets.
        high: the highest value.
        higher_is_better: false for an error rate; a blank text then gets the highest value.
    """

    module: str
    needs: str = "references"
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    kind: ClassVar = "module"
    info: ClassVar = adapted(
        "external",
        range=(-math.inf, math.inf),
        summary="a function of yours in an environment of yours; a copy need not be best: nothing is known of it",
        tasks=TASKS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = self.needs.split()
        unknown = [need for need in needs if need not in _READS]
        if unknown:
            raise SpecError(f"external:needs names {unknown[0]!r}{nearest(unknown[0], _READS)}")
        if not self.low < self.high:
            raise SpecError(f"external:low is {self.low:g}, expected below high, which is {self.high:g}")
        object.__setattr__(self, "reads", ("hyp", *(_READS[need] for need in _READS if need in needs)))
        about: dict[str, Any] = {
            "needs": {*needs},
            "range": (self.low, self.high),
            "higher_is_better": self.higher_is_better,
        }
        object.__setattr__(self, "info", replace(type(self).info, **about))

    def load_options(self) -> dict[str, Any]:
        """The module."""
        return {"module": self.module}

    def identify(self, client: Client) -> dict[str, Any]:
        """The name of the module without its folder, its digest, and versions of the packages that it names."""
        found = client.ask({"op": "import", "module": self.module})
        return {"module": Path(self.module).name, "sha256": found["identity"], **found["versions"]}

    def _python(self) -> Path:
        return program(sys.executable if self.python is None else self.python)
