"""Accuracies on the published suites that lie at hand, against anchors computed with the peers' packages."""

import functools
import json
import os
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.io.suites import PHENOMENA

DATA = Path(os.environ.get("NLGAUGE_DATA", ""))
pytestmark = pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="evaluation data are not at hand")

METRICS = {
    "sentBLEU": "bleu", "sentBLEU-noeff": "bleu:effective_order=false", "chrF": "chrf", "chrF++": "chrf++", "TER": "ter", "ROUGE-L": "rougeL",
}  # fmt: skip
SUITES = ("xpaws-fr-adv", "xpaws-zh-adv")
MEANS = {"adv-fact": "mean-adequacy", "adv-all": "mean-all"}


@functools.cache
def rows(suite):
    found = ng.audit(ng.read_suite(DATA / suite / "adversarial.jsonl.gz"), list(METRICS.values()))
    return {(row["metric"], row["phenomenon"]): row for row in found.rows}


def anchors():
    if "NLGAUGE_DATA" not in os.environ:
        return []
    numbers = json.loads((DATA / "published.json").read_text(encoding="utf-8"))["numbers"]
    return [
        (n["dataset"], METRICS[n["metric"]], n["subset"], n["value"])
        for n in numbers
        if n["dataset"] in SUITES and n["kind"] == "computed" and n["metric"] in METRICS
    ]


@pytest.mark.parametrize("suite", SUITES)
def test_accuracies_are_the_anchors(suite):
    wanted = [(metric, subset, value) for name, metric, subset, value in anchors() if name == suite]
    assert len(wanted) == 14 * len(METRICS)  # 12 phenomena and two means for each
    for metric, subset, value in wanted:
        name = MEANS.get(subset) or PHENOMENA.get(subset, subset)
        assert rows(suite)[metric, name]["accuracy"] == pytest.approx(value, abs=5e-7), (metric, subset)  # printed with six digits


@pytest.mark.parametrize("suite", SUITES)
def test_wins_ties_and_losses_add_up_and_hold_each_other(suite):
    for row in rows(suite).values():
        assert row["wins"] + row["ties"] + row["losses"] == row["n"]
        assert row["low"] <= row["accuracy"] <= row["high"]


def test_rank19_against_the_source():
    """373 pairs, strict wins: the number that `audit --references source` prints must be that of counting by hand."""
    suite = ng.read_suite(DATA / "rank19" / "segments.jsonl.gz")
    (row,) = [r for r in ng.audit(suite, "rouge2", references="source").rows if r["phenomenon"] == "factuality"]
    segments = ng.read(DATA / "rank19" / "segments.jsonl.gz")
    scores = ng.score([s.hypothesis for s in segments], [s.source for s in segments], metrics="rouge2")["rouge2"].values
    held = {(s.item, s.system): v for s, v in zip(segments, scores, strict=True)}
    items = {s.item for s in segments}
    wins = sum(held[i, "correct"] > held[i, "incorrect"] for i in items)
    assert (row["n"], row["wins"]) == (373, wins)
