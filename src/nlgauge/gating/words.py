"""Why is the verdict what it is? One sentence for each metric, for a reader who has no manual at hand."""

from __future__ import annotations

import math

from nlgauge.stats.gates import FEW, Bound

SAME_TEXTS = "same texts"
_MUCH = 0.5  # of the variance: from here on doubling the runs gains a quarter of it


def reason(bound: Bound, verdict: str) -> str:
    """The sentence about one metric."""
    if bound.method == SAME_TEXTS:
        return "the texts are the same"
    allowed = f"{bound.allow:g} is allowed"
    if bound.method == "fixed" and not bound.error:
        return f"the mean of these items {_changed(bound.delta)}; {allowed}"
    if verdict == "FAIL":
        return f"the mean lost {_number(-bound.delta)}, surely more than {_number(-bound.high)}; {allowed}"
    if verdict == "PASS":
        if bound.low >= 0:
            return f"the mean gained {_number(bound.delta)}, surely at least {_number(bound.low)}"
        return f"the mean {_changed(bound.delta)} and lost no more than {_number(-bound.low)}; {allowed}"
    lost = "" if math.isnan(bound.low) else f" and may have lost up to {_number(-min(bound.low, 0.0))}"
    return f"the mean {_changed(bound.delta)}{lost}; {allowed}; {_way_out(bound)}"


def _way_out(bound: Bound) -> str:
    """What would decide."""
    if bound.method == "fixed":
        return "more runs of each item would tell"
    if bound.n_clusters is not None and bound.n_clusters < FEW:
        few = f"{bound.n_clusters} groups are too few to pass, expected {FEW} or more"
        return f"{few}; if their items are independent, say --clusters none (clusters='none')"
    if not bound.allow:
        return "no number of items shows that nothing at all was lost, so allow a drop"
    few = ""
    if bound.method == "unseen":
        few = f"{_items(bound.n)} may miss losses that are rare and large; "
    elif bound.method == "worst-case" and bound.n_changed < FEW:
        few = f"only {bound.n_changed} of {bound.n} items changed; "
    elif bound.method == "worst-case":
        few = f"fewer than {FEW} {'items' if bound.n_clusters is None else 'groups'} changed otherwise than the rest; "
    needed = bound.items_needed
    if needed is None:
        return f"{few}you have {_items(bound.n)}, and how many would do is not known"
    if needed <= bound.n:
        return f"{few}you have {_items(bound.n)}, and the change is too close to the allowance to tell"
    return f"{few}you have {_items(bound.n)}; an allowance of {bound.allow:g} needs about {rounded(needed):,}"


def rounded(needed: int) -> int:
    """Two digits, rounded up: no more is known of a number of items."""
    step: int = 10 ** max(0, len(str(needed)) - 2)
    return -(-needed // step) * step


def _items(n: int) -> str:
    return f"{n} item{'' if n == 1 else 's'}"


def _changed(delta: float) -> str:
    return "did not change" if delta == 0 else f"{'gained' if delta > 0 else 'lost'} {_number(abs(delta))}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def flickers(share: float) -> str:
    """What several runs of each item say of the choice between more runs and more items."""
    what = f"{100 * share:.0f} % of the variance of differences is flicker between runs of an item"
    return f"{what}; {'more runs' if share > _MUCH else 'more items, rather than runs,'} narrow the bounds"
