"""Statistics of real judgements.

Numbers of nlpstats, and of papers and released tables where the data are at hand (NLGAUGE_DATA).
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from nlgauge.stats.correlate import correlation
from nlgauge.stats.intervals import bootstrap_correlation, fisher_ends

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "correlations.json").read_text(encoding="utf-8"))
LEVELS = {"system": {"level": "system"}, "input": {"averaging": "item"}, "global": {"averaging": "none"}}
NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}
EACH = pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['level']}-{case['coefficient']}")

DATA = os.environ.get("NLGAUGE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="NLGAUGE_DATA names no folder of evaluation data")


@EACH
@pytest.mark.parametrize("compat", [None, "nlpstats"])
def test_agrees_with_nlpstats(case, compat):
    # the gaps are on both sides, so that its means over all segments are those over the rated ones
    found = correlation(
        NAMES[case["coefficient"]], GOLDEN["scores"], GOLDEN["human"], compat=compat, **LEVELS[case["level"]]
    )
    assert found.value == pytest.approx(case["value"], abs=1e-12)  # float64 sums in another order


@EACH
def test_fisher_agrees_with_nlpstats(case):
    found = correlation(NAMES[case["coefficient"]], GOLDEN["scores"], GOLDEN["human"], **LEVELS[case["level"]])
    n = found.n_used
    if case["level"] == "input":  # it takes the largest number of systems of any item
        n = max(sum(v is not None for v in column) for column in zip(*GOLDEN["human"], strict=True))
    assert [float(end) for end in fisher_ends(found.stat, found.value, n)] == pytest.approx(case["fisher"], abs=1e-12)


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN["cases"] if c["level"] == "system"], ids=lambda case: case["coefficient"]
)
def test_the_bootstrap_over_both_finds_nlpstats_interval(case):
    # two streams of 1000 draws of 8 systems. Over 40 seeds the lower end has an sd of up to 0.08, the upper of 0.001:
    # three of them for the difference of two
    found = bootstrap_correlation(
        NAMES[case["coefficient"]],
        GOLDEN["scores"],
        GOLDEN["human"],
        level="system",
        resample="both",
        draws=GOLDEN["draws"],
    )
    low, high = case["bootstrap_both"]
    assert (found.low, found.high) == (pytest.approx(low, abs=0.34), pytest.approx(high, abs=0.0045))


def rows(folder, name="segments.jsonl.gz"):
    with gzip.open(Path(DATA) / folder / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def published(dataset, metric, stat, kind):
    numbers = json.loads((Path(DATA) / "published.json").read_text(encoding="utf-8"))["numbers"]
    return [n for n in numbers if (n["dataset"], n["metric"], n["stat"], n["kind"]) == (dataset, metric, stat, kind)]


@needs_data
def test_sentence_bleu_shipped_with_wmt15():
    scores = {row["id"]: row["scores"]["sentBLEU-moses"] for row in rows("wmt15-da-seg", "metric_scores.jsonl.gz")}
    segments = rows("wmt15-da-seg")
    for number in published("wmt15-da-seg", "sentBLEU-moses", "pearson", "computed"):
        pair = [row for row in segments if row["lp"] == number["subset"]]
        found = correlation("pearson", [scores[row["id"]] for row in pair], [row["human"]["da_z"] for row in pair])
        assert found.value == pytest.approx(number["value"], abs=5e-7)  # written with six decimals
        assert found.n_used == 500


@pytest.fixture(scope="module")
def sentence_bleu():
    bleu = pytest.importorskip("sacrebleu").BLEU()
    return lambda hyp, ref: bleu.sentence_score(hyp, [ref]).score


@needs_data
def test_menli_table_18_on_bagel(sentence_bleu):
    segments = rows("bagel")
    scores = [np.mean([sentence_bleu(row["hyp"], ref) for ref in row["refs"]]) for row in segments]
    numbers = [
        n
        for n in published("bagel", "sentBLEU-noeff", "spearman", "published")
        if n["protocol"] == "d2t-mean" and n["criterion"] != "avg"
    ]
    assert len(numbers) == 3
    for number in numbers:
        found = correlation("spearman", scores, [row["human"][number["criterion"]] for row in segments])
        assert found.value == pytest.approx(number["value"], abs=5e-4)  # printed with three decimals


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("stat", ["kendall", "spearman"])
def test_summary_level_on_summeval(sentence_bleu, stat):
    # one reference of eleven would do to test the averaging, but the numbers at hand are means over all
    segments = rows("summeval")
    scores = _summeval_scores(sentence_bleu, segments)
    numbers = [n for n in published("summeval", "sentBLEU-noeff", stat, "computed") if n["subset"] == "summary"]
    assert len(numbers) >= 4
    for number in (n for n in numbers if n["criterion"] in segments[0]["human"]):
        judged = [row["human"][number["criterion"]] for row in segments]
        found = correlation(NAMES[stat], scores, judged, [row["seg"] for row in segments])
        assert found.value == pytest.approx(number["value"], abs=5e-6)  # six decimals of a mean of 1600 x 11 scores
        assert found.n_used + found.n_undefined == 100


_SCORED = {}


def _summeval_scores(sentence_bleu, segments):
    if not _SCORED:
        _SCORED["all"] = [np.mean([sentence_bleu(row["hyp"], ref) for ref in row["refs"]]) for row in segments]
    return _SCORED["all"]
