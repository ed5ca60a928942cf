"""The permutation tests of mt-metrics-eval and nlpstats 0.0.1 with their faults: to check a published p-value.

What is wrong with them: p is hits / B, which can print 0. mt-metrics-eval gives a constant metric p = 0 and has only
one side. It also stops early, which is harmless for ranks but not for the p that it reports. The `both` of nlpstats
tosses one coin per system and one per item, and swaps where they differ. That is not the test of the paper, which
tosses one coin per score.

What is not copied: in both packages the last digits of the rounding decide whether a draw that ties with the data
counts; here it counts. And there numpy's global generator carries over from pair to pair; here every pair is tested as
if the seed were set before it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.differences.result import SLACK, Alternative, Compat
from nlgauge.stats.differences.swaps.coins import Coins, GeneraliseTo, given
from nlgauge.stats.draws import Seed
from nlgauge.stats.grids import Averaging, in_groups

_BLOCK, _EARLY = 1000, (0.02, 0.5)  # mt-metrics-eval checks after each block of draws whether p is outside, and stops


def coins(
    compat: Compat, seed: Seed, draws: int, human: Array, generalise_to: GeneraliseTo, averaging: Averaging
) -> Coins:
    """The swaps that the package makes after `np.random.seed(seed)`."""
    check_option("compat", compat, Compat, error=InputError)
    if isinstance(seed, np.random.Generator):
        raise InputError(
            f"compat={compat!r} repeats that package's stream of numbers and needs the seed as a whole number, got a"
            " generator"
        )
    stream = np.random.RandomState(seed)
    if compat == "mt-metrics-eval":
        if generalise_to != ("systems" if human.shape[1] == 1 else "both"):
            raise InputError(
                f"mt-metrics-eval swaps single scores; it has no generalise_to={generalise_to!r} at this level"
            )
        return given(_scores(stream, draws, human, averaging))
    n_systems, n_items = human.shape
    swapped = np.empty(
        (draws, n_systems if generalise_to != "inputs" else 1, n_items if generalise_to != "systems" else 1),
        dtype=np.bool_,
    )
    for draw in swapped:
        draw[:] = False
        if generalise_to != "inputs":
            draw ^= stream.rand(n_systems, 1) > 0.5
        if generalise_to != "systems":
            draw ^= stream.rand(1, n_items) > 0.5
    return given(swapped)


def p_values(compat: Compat, drawn: Array, observed: Array, alternative: Alternative) -> tuple[Array, Array, Counts]:
    """hits / B for every difference and for its opposite; no draw is left out; shapes (P,)."""
    seen = observed[:, None]
    with np.errstate(invalid="ignore"):
        both = np.abs(drawn) >= np.abs(seen) - SLACK
        hits = [both, both] if alternative == "two-sided" else [drawn >= seen - SLACK, drawn <= seen + SLACK]
    found = [_stopped(side) if compat == "mt-metrics-eval" else side.mean(axis=1) for side in hits]
    return found[0], found[1], np.zeros(len(drawn), dtype=np.int64)


def _scores(stream: np.random.RandomState, draws: int, human: Array, averaging: Averaging) -> npt.NDArray[np.bool_]:
    """One coin per judged score, in the order of the groups: item by item, or system by system."""
    judged = in_groups(~np.isnan(human), averaging)
    swapped = np.zeros((draws, *human.shape), dtype=np.bool_)
    view = swapped.transpose(0, 2, 1) if averaging == "item" else swapped  # (draws, groups, cells)
    for draw in view:
        draw.reshape(judged.shape)[judged] = stream.binomial(1, 0.5, int(judged.sum())) == 0
    return swapped


def _stopped(hits: npt.NDArray[np.bool_]) -> Array:
    """The share of hits up to the end of the first block at which the share is outside the bounds."""
    draws = hits.shape[1]
    p = hits.mean(axis=1)
    for end in range(draws - draws % _BLOCK, 0, -_BLOCK):
        early = hits[:, :end].mean(axis=1)
        p = np.where((early < _EARLY[0]) | (early > _EARLY[1]), early, p)
    return np.asarray(p)
