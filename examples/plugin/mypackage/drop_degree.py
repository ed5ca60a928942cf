"""A perturbation: leave out a word such as "very"."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core import checked
from nlgauge.perturbations import Case, Change, Draft, Inapplicable, PerturbationInfo


@dataclass(frozen=True, kw_only=True)
class DropDegree:
    """Leave out a word that says how much."""

    which: Literal["one", "all"] = "one"
    info: ClassVar = PerturbationInfo(
        "drop_degree", "leave out a word that says how much", "lower", ("It is very cold.", "It is cold.")
    )

    def __post_init__(self) -> None:
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits of a text, or the reason why there are none. All that is random comes from `rng`."""
        found = [t.index for t in case.doc.tokens if t.lower in ("very", "extremely", "hardly") and t.tag == "RB"]
        if not found:
            return Inapplicable("no word of degree")
        draft = Draft(case.doc)  # mends blanks, "a" and "an", and the capital of a sentence
        for index in found if self.which == "all" else [rng.choice(found)]:
            draft.delete(index, index)
        return draft.finish(dropped=len(found))
