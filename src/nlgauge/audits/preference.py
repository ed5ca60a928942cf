"""Does the metric prefer the better text? Accuracy by phenomenon, with ties counted apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nlgauge.audits.sides import Sides
from nlgauge.core.suite import Pair, Suite
from nlgauge.perturbations.paraphrase import edit_distance
from nlgauge.stats.correlation.preferences import accuracy_of
from nlgauge.stats.shares import mean_of_shares, wilson

ADEQUACY = (
    "addition", "omission", "name_error", "negation", "number_error", "pronoun_error", "mismatch_adj", "mismatch_noun", "mismatch_verb",
)  # fmt: skip
FLUENCY = ("typos", "jumble_words", "subject_verb_disagreement")
ALL_GROUPS = "all"


def preference_rows(
    suite: Suite,
    sides: Sides,
    *,
    ties: str = "loss",
    tolerance: float = 0.05,
    confidence: float = 0.95,
    distances: bool = True,
) -> list[dict[str, Any]]:
    """A row a phenomenon and group, and the means over phenomena.

    Where there are several groups, the rows of group `all` count the pairs of all of them. A pair whose texts should
    score the same is won where they differ by at most `tolerance` of the better text's score; such phenomena stand
    outside the means.

    Args:
        suite: the pairs.
        sides: the scores of one metric.
        ties: `loss`, `half`, `exclude` or `zero`.
        tolerance: relative difference that counts as the same.
        confidence: of the intervals (Wilson's).
        distances: say how far the texts are from their references; these do not depend on the metric, and take time.

    References:
        Chen and Eger (2023), "MENLI", section 3.1.
    """
    pairs = [suite.pairs[place] for place in sides.places]
    groups = list(dict.fromkeys(p.group for p in pairs))
    rows: list[dict[str, Any]] = []
    for group in [*groups, ALL_GROUPS] if len(groups) > 1 else groups:
        inside = [i for i, p in enumerate(pairs) if group == ALL_GROUPS or p.group == group]
        own = [
            _row(sides, pairs, part, name, group, ties, tolerance, confidence, distances)
            for name, part in _by_phenomenon(pairs, inside)
        ]
        rows += [*own, *_means(own, sides.spec, group, confidence)]
    return rows


def won(sides: Sides, pairs: Sequence[Pair], tolerance: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 where a pair is won, 0.5 where it is tied, 0 where it is lost or undefined, shape (n,)."""
    margin = sides.margin
    outcome = np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0))
    same = np.array([p.expect == "same" for p in pairs], dtype=bool)
    room = tolerance * np.maximum(np.abs(sides.better), 1e-12)
    return np.where(same, (np.abs(margin) <= room).astype(np.float64), outcome)


def _by_phenomenon(pairs: Sequence[Pair], inside: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    parts: dict[str, list[int]] = {}
    for i in inside:
        parts.setdefault(pairs[i].phenomenon, []).append(i)
    return iter(parts.items())


def _row(
    sides: Sides,
    pairs: Sequence[Pair],
    part: list[int],
    name: str,
    group: str | None,
    ties: str,
    tolerance: float,
    confidence: float,
    distances: bool,
) -> dict[str, Any]:
    outcome = won(sides, pairs, tolerance)[part]
    wins, tied = int((outcome == 1).sum()), int((outcome == 0.5).sum())
    losses = len(part) - wins - tied
    share = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    counted = float(share.denominator)
    low, high = wilson(float(share.numerator), counted, confidence)
    return {
        "metric": sides.spec,
        "phenomenon": name,
        "group": group,
        "expect": pairs[part[0]].expect,
        "n": len(part),
        "wins": wins,
        "ties": tied,
        "losses": losses,
        "accuracy": float(share.numerator) / counted if counted else float("nan"),
        "low": low,
        "high": high,
        "n_undefined": int(np.isnan(sides.margin[part]).sum()),
        **(_distances(pairs, part, outcome) if distances else {}),
        "_won": float(share.numerator),
        "_counted": counted,
    }


def _distances(
    pairs: Sequence[Pair], part: list[int], outcome: np.ndarray[Any, np.dtype[np.float64]]
) -> dict[str, float]:
    """Mean edit distance, in words per word of the longer text, from the reference to both sides of passed and of failed pairs."""
    held = [(i, pairs[i].references[0]) for i in part if pairs[i].references and pairs[i].setup != "src"]
    if not held:
        return {}
    passed = {i: bool(w == 1) for i, w in zip(part, outcome, strict=True)}
    far = {i: edit_distance(ref, pairs[i].better, level="word", norm="max") for i, ref in held}
    near = [edit_distance(ref, pairs[i].worse, level="word", norm="max") for i, ref in held]
    mean = {state: [far[i] for i, _ in held if passed[i] == state] for state in (True, False)}
    return {
        "distance_passed": float(np.mean(mean[True])) if mean[True] else float("nan"),
        "distance_failed": float(np.mean(mean[False])) if mean[False] else float("nan"),
        "distance_worse": float(np.mean(near)),
    }


def _means(rows: Sequence[dict[str, Any]], spec: str, group: str | None, confidence: float) -> Iterator[dict[str, Any]]:
    counted = [row for row in rows if row["expect"] == "lower"]
    for name, wanted in (("mean-adequacy", ADEQUACY), ("mean-fluency", FLUENCY), ("mean-all", None)):
        own = [
            row for row in counted if wanted is None or row["phenomenon"].partition(":")[0] in wanted
        ]  # options aside
        if not own:
            continue
        value, low, high = mean_of_shares([row["_won"] for row in own], [row["_counted"] for row in own], confidence)
        totals = {key: sum(row[key] for row in own) for key in ("n", "wins", "ties", "losses")}
        undefined = sum(row["n_undefined"] for row in own)
        yield {
            "metric": spec,
            "phenomenon": name,
            "group": group,
            "expect": "lower",
            **totals,
            "accuracy": value,
            "low": low,
            "high": high,
            "n_undefined": undefined,
            "n_phenomena": len(own),
        }
