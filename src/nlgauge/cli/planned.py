"""`nlgauge meta --plan`: which items to rate next, and the ranking of systems by the ratings so far."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from nlgauge.cli import judged, options
from nlgauge.cli.terminal import as_typed
from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Dataset
from nlgauge.io.files import InputFile
from nlgauge.io.write import is_cells, kind_of, writing
from nlgauge.metaeval.plan import plan_ratings
from nlgauge.stats.sampling import METHODS

SHARED = ("references", "missing", "language", "exclude")  # what a plan takes of the options about agreement
_KEPT = (*SHARED, "preset")


@dataclass(frozen=True)
class Planned:
    """Which items to rate next, instead of how metrics agree with people."""

    plan: Annotated[
        str | None,
        typer.Option(
            "--plan", metavar="FILE", help="Instead: choose items to rate next, and rank systems by the ratings so far."
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="N|N%", help="Items that the plan in FILE should hold, rated ones included."),
    ] = None
    plan_method: Annotated[
        str | None,
        options.choice(
            "--plan-method", among=METHODS, help="Which items are more probable than others.  [default: informative]"
        ),
    ] = None

    def check(self, typed: Mapping[str, object], *about: object) -> None:
        """Refuse options that change nothing: those about agreement with a plan, those about plans without one.

        Args:
            typed: option -> its value.
            about: groups of options about the agreement of metrics with people.
        """
        own = {"budget": self.budget, "plan_method": self.plan_method}
        if self.plan is None:
            options.refuse_idle(own, "is about a plan of ratings: name its --plan FILE")
            return
        if self.plan == STDOUT:
            raise InputError("--plan keeps a plan for later runs, expected the name of a file")
        others: dict[str, bool] = {}
        for group in about:
            others |= options.changed(group, *(name for name in options.flags_of(group) if name not in _KEPT))
        options.refuse_idle({**typed, **others}, "is about the agreement of metrics, and --plan ranks systems")
        if self.budget is None:
            options.refuse_idle(own, "is about the choice of items, and none are chosen without --budget")
        kind_of(self.plan)

    def run(
        self,
        dataset: Dataset,
        metrics: Sequence[str],
        criterion: list[str] | None,
        given: Mapping[str, Any],
        inputs: Sequence[Mapping[str, str]],
        shown: options.Shown,
        files: options.Files,
        how: options.Common,
    ) -> int:
        """Plan, write the plan where it is new, and show it.

        Args:
            dataset, metrics: as for `plan_ratings`.
            criterion: what was rated, of which there may be one.
            given: further arguments of `plan_ratings`.
            inputs: the files that were read.
            shown, files, how: as for every verb.
        """
        if criterion and len(criterion) > 1:
            raise InputError(f"{len(criterion)} criteria are named, expected one; --plan ranks systems by one")
        path = self.plan or ""
        old = path if os.path.exists(path) else None
        made = plan_ratings(
            dataset,
            metrics,
            criterion[0] if criterion else None,
            plan=old,
            budget=self.budget,
            seed=how.seed,
            **{**given, "method": self.plan_method or METHODS[0]},
        )
        entries = [] if old is None else [dict(InputFile(old).entry)]  # as it was read
        result = as_typed(made.result([*inputs, *entries]))
        if self.budget is not None:
            whole = ("order", "round") if is_cells(path) else ()
            with writing(path) as write:
                write({k: [f"{v:g}" for v in column] if k in whole else column for k, column in made.columns().items()})
        files.write_segments(lambda: judged.joined_columns(made.held), shown.spreadsheet)
        files.write(result)
        if not files.printed:
            shown.show(result, how.quiet)
        return 0
