"""The random draws of stratified synthesis: number, kind, place and length of edits."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.options import Range, Typed, checked

Operation = Literal["insert", "delete", "replace", "swap"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
# Far outside this range, drawing again until the number fits would hardly end.
_Mean = Annotated[float, Range(least=0.01, most=100, meaning="the mean of a Poisson distribution")]
_Count = Annotated[int, Range(least=1)]


@dataclass(frozen=True, kw_only=True)
class Draws:
    """The distributions of stratified synthesis. What is drawn is a proposal, which the stratum may refuse.

    Attributes:
        operations: the kinds of edits; each is drawn equally often.
        edits: the mean of the Poisson distribution of the number of edits, drawn again until it is 1 to `max_edits`
            (lambda_e).
        max_edits: the largest number of edits of a text (M_max).
        span: the mean of the Poisson distribution of how many tokens are deleted or replaced, drawn again until it is
            above 0 (lambda_d, lambda_r).
        swap_window: two tokens that change places are 1 to this many tokens apart; all distances are proposed equally
            often, and the far ones are refused more often (lambda_s).
        top_k: one of this many best fitting words is drawn; all are equally likely.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", section 3.2 and appendix. The paper does not say what happens to a draw of 0 edits. The released
        code draws 1 + Poisson(1.5) cut at 5 (mean 2.4); here it is Poisson(5) drawn again (mean 3.6).
    """

    operations: Annotated[
        tuple[Operation, ...], Typed("Some of insert, delete, replace, swap, with commas.", metavar="LIST")
    ] = OPERATIONS
    edits: Annotated[_Mean, Typed("Mean of the Poisson distribution of the number of edits.")] = 5.0
    max_edits: Annotated[_Count, Typed("Most edits; a draw of 0 or more than these is drawn again.")] = 5
    span: Annotated[_Mean, Typed("Mean of the Poisson distribution of tokens deleted or replaced.")] = 1.5
    swap_window: Annotated[_Count, Typed("How far apart two tokens that change places may be.")] = 4
    top_k: Annotated[_Count, Typed("Each word is drawn from so many words that fit best.")] = 4

    def __post_init__(self) -> None:
        for name in self.operations:
            if name not in OPERATIONS:
                raise SpecError(
                    f"operations has {name!r}, expected some of {', '.join(OPERATIONS)}{nearest(str(name), OPERATIONS)}"
                )
        if not self.operations or len(set(self.operations)) < len(self.operations):
            raise SpecError(
                f"operations is {','.join(self.operations) or 'empty'}, expected some of {', '.join(OPERATIONS)}, each"
                " once"
            )
        checked(self)
        if self.edits > 4 * self.max_edits + 10:
            raise SpecError(
                f"edits is {self.edits} with max_edits {self.max_edits}: hardly a draw would be kept; lower edits or"
                " raise max_edits"
            )

    def count(self, rng: random.Random) -> int:
        """How many edits a text gets, 1 to `max_edits`."""
        while not 1 <= (drawn := _poisson(self.edits, rng)) <= self.max_edits:
            pass
        return drawn

    def length(self, rng: random.Random) -> int:
        """How many tokens are deleted or replaced, 1 or more."""
        while not (drawn := _poisson(self.span, rng)):
            pass
        return drawn

    def distance(self, rng: random.Random) -> int:
        """How far two tokens that change places are apart, 1 to `swap_window`."""
        return rng.randint(1, self.swap_window)


def _poisson(mean: float, rng: random.Random) -> int:
    """One draw, by walking up the distribution function."""
    left, drawn = rng.random(), 0
    term = math.exp(-mean)
    while left >= term and term > 0.0:
        left -= term
        drawn += 1
        term *= mean / drawn
    return drawn
