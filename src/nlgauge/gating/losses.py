"""Which items lost most? Their texts on both sides, and the items that break a limit of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.core.result import NewRow
from nlgauge.gating.outputs import Outputs
from nlgauge.gating.scored import Differences
from nlgauge.stats.gates import rarely_passing

WORST = 5  # items that are shown for each metric


def worst_items(spec: str, found: Differences, base: Outputs, new: Outputs, most: int = WORST) -> list[NewRow]:
    """The items that lost most by a metric, the worst first; those that lost nothing are left out.

    Of several runs the text is that of the worst run in NEW, and of the best run in BASE.
    """
    loss = np.where(found.lost, -np.inf, found.values)
    order = [i for i in np.argsort(loss, kind="stable")[:most].tolist() if loss[i] < 0]
    items = list(base.items)
    return [_row(spec, items[i], i, found, base, new) for i in order]


def _row(spec: str, item: str, i: int, found: Differences, base: Outputs, new: Outputs) -> NewRow:
    sign = -1 if found.falls else 1
    before, after = (sign * runs[i] for runs in found.runs)
    best = 0 if np.isnan(before).all() else int(np.nanargmax(before))
    worst = int(np.isnan(after).argmax()) if np.isnan(after).any() else int(after.argmin())
    run = new.items[item][worst]
    return {
        "metric": spec,
        "seg": item,
        "group": run.group,
        "delta": float(found.values[i]),
        "base": float(found.base[i]),
        "new": float(found.new[i]),
        "base_hyp": base.items[item][best].hypothesis,
        "new_hyp": run.hypothesis,
        "ref": run.references[0] if run.references else None,
    }


def broken(found: Differences, items: Sequence[str], allow_item: float | None) -> list[str]:
    """The items that lose more than one item may, the worst first."""
    if allow_item is None:
        return []
    values = np.where(np.isnan(found.values), 0.0, found.values)
    return [items[i] for i in np.argsort(values, kind="stable").tolist() if values[i] < -allow_item - 1e-12]


def flaky(found: Differences, items: Sequence[str], demand: tuple[int, int] | None, alpha: float) -> list[str]:
    """The items whose runs in NEW pass clearly more rarely than M of N; a run without a score does not pass."""
    if demand is None:
        return []
    passes = [int((one == 1).sum()) for one in found.runs[1]]
    flagged = rarely_passing(passes, [len(one) for one in found.runs[1]], demand[0] / demand[1], alpha=alpha)
    return [item for item, is_flagged in zip(items, flagged, strict=True) if is_flagged]
