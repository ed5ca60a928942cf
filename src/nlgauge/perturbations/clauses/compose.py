"""Several perturbations on one text at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

from nlgauge.core.errors import SpecError
from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Edit, Inapplicable, Perturbation, PerturbationInfo, attack
from nlgauge.perturbations.registry import perturbation


@dataclass(frozen=True)
class Composed:
    """Several perturbations whose edits are all made on the same text.

    Attributes:
        parts: the perturbations in order; each is applied to the original text.
        info: joined from the parts; the expectation is `lower` if that of any part is.
    """

    parts: tuple[Perturbation, ...]
    info: PerturbationInfo = field(init=False)  # of the object: its class could not declare it

    def __post_init__(self) -> None:
        infos = [part.info for part in self.parts]
        object.__setattr__(
            self,
            "info",
            PerturbationInfo(
                "+".join(i.name for i in infos),
                ", and ".join(i.summary for i in infos),
                "lower" if any(i.expect == "lower" for i in infos) else "same",
                infos[0].example,
                frozenset[str]().union(*(i.needs for i in infos)),
                infos[0].source,
            ),
        )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """All edits; inapplicable if any part is, or if two parts touch the same words."""
        return _together(self.parts, case, rng)


def compose(parts: Sequence[str | Perturbation]) -> Composed:
    """A perturbation that does what all of these do.

    Args:
        parts: two or more specifications (`negation:mode=add`) or perturbation objects.

    Raises:
        SpecError: there are fewer than two, or one is unknown.
    """
    if isinstance(parts, str) or len(parts) < 2:
        raise SpecError(f"compose got {parts!r:.80}, expected a list of two or more perturbations")
    return Composed(tuple(perturbation(part) for part in parts))


@dataclass(frozen=True, kw_only=True)
class NumberAndNegation(Checked):
    """Change the numbers of a text and negate it.

    Args:
        mode: what the negation does: `flip`, `add` or `remove`.
        skip_dates: leave years and dates as they are, as `number_error` does.
    """

    mode: Literal["flip", "add", "remove"] = "flip"
    skip_dates: bool = True
    info: ClassVar = attack(
        "change the numbers and negate a clause", ("The train has 8 coaches.", "The train does not have 5 coaches.")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Edits of both; inapplicable where either is."""
        from nlgauge.perturbations.clauses.negation import Negation
        from nlgauge.perturbations.words.numbers import NumberError

        return _together((NumberError(skip_dates=self.skip_dates), Negation(mode=self.mode)), case, rng)


def _together(parts: Sequence[Perturbation], case: Case, rng: random.Random) -> Change | Inapplicable:
    edits: list[Edit] = []
    meta: dict[str, object] = {}
    for part in parts:
        change = part(case, rng)
        if isinstance(change, Inapplicable):
            return change
        edits += [edit for edit in change.edits if edit not in edits]  # two parts may mend the same article
        meta[part.info.name] = dict(change.meta)
    edits.sort()
    if any(a.end > b.start or (a.start == b.start and a.end == b.end) for a, b in pairwise(edits)):
        return Inapplicable("edits overlap")
    return Change(edits, meta)
