"""Other packages' procedures, to check published numbers: what each one accepts and what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, nearest
from nlgauge.stats.correlation.averaging import blocks_of_groups
from nlgauge.stats.correlation.entries import Entries

_THREE = ("pearson", "spearman", "kendall_b")
_PAIRS = (
    "wmt_kendall_like",
    "acc_eq",
    "tau_eq",
    "acc_eq_calibrated",
    "tau_eq_calibrated",
    "pairwise_accuracy",
    "soft_pairwise_accuracy",
)

KNOWN = {"mt-metrics-eval": (*_THREE, "kendall_c", *_PAIRS), "nlpstats": _THREE, "realsumm": _THREE}

_NOTES = {
    "mt-metrics-eval": "as mt-metrics-eval: a group with a missing score drops out unseen, and 0 stands for undefined",
    "nlpstats": "as nlpstats: system means are taken over all segments on either side",
    "realsumm": "as REALSumm: only items with p <= 0.05 are averaged, which raises the mean",
}


def check_compat(compat: str, name: str, averaging: str, level: str) -> None:
    """Refuse an unknown procedure, and what the package in question cannot do."""
    if compat not in KNOWN:
        raise InputError(f"compat is {compat!r}{nearest(compat, KNOWN)}")
    if name not in KNOWN[compat]:
        raise InputError(f"compat={compat!r} has no {name}; it has {', '.join(KNOWN[compat])}")
    if compat == "realsumm" and (averaging != "item" or level != "segment"):
        raise InputError("compat='realsumm' averages over items at segment level; give averaging='item'")
    if compat == "nlpstats" and averaging == "sys":
        raise InputError("compat='nlpstats' has no averaging over systems; choose 'none' or 'item', or level='system'")


def note(compat: str | None, left_out: int = 0, of: int = 0) -> str:
    """A note for the result on what is wrong with a procedure."""
    if compat is None:
        return ""
    return _NOTES[compat] + (f"; {left_out} of {of} left out" if compat == "realsumm" else "")


def check_same_gaps(x: Array, z: Array) -> None:
    """Refuse missing entries unless both sides miss the same ones, as nlpstats does; shapes (M, n) and (n,)."""
    if (np.isnan(x) != np.isnan(z)).any():
        raise InputError("compat='nlpstats' wants scores and judgements to be missing in the same places")


def not_significant(name: str, entries: Entries) -> Mask:
    """The groups whose own p-value is above 0.05, shape (M, G); undefined groups are not among them."""
    from scipy import stats

    tests: dict[str, Any] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
    found = np.zeros((len(entries.x), len(entries.labels)), dtype=np.bool_)
    for m, (row, keep) in enumerate(zip(entries.x, entries.keep, strict=True)):
        for groups, index in blocks_of_groups(entries.groups, keep, len(entries.labels)):
            for g, positions in zip(groups, index, strict=True):
                x, z = row[positions], entries.z[positions]
                if len(x) > 1 and np.ptp(x) > 0 and np.ptp(z) > 0:
                    found[m, g] = float(tests[name](x, z).pvalue) > 0.05
    return found
