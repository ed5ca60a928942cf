"""The statistics of published suites, each worked by hand on a few pairs."""

import math

import pytest

from nlgauge.audits.sides import score_sides
from nlgauge.audits.statistics import ACES_WEIGHTS, aces_category, suite_statistics
from nlgauge.core.suite import Pair, Suite
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import wilson


def pair(i, better, worse, phenomenon="x", **more):
    return Pair(
        id=str(i), phenomenon=phenomenon, better=f"b {better}", worse=f"w {worse}", references=(f"r{i}",), **more
    )


def found(metric, name, *pairs):
    suite = Suite(pairs, name, published=name)
    rows = suite_statistics(suite, score_sides(suite, {"m": metric}, Runtime()).values())
    return {(row["statistic"], row["part"]): row for row in rows}


def test_hwtsc22_leaves_ties_out(told):
    pairs = [pair(1, 2, 1, "unit"), pair(2, 3, 1, "unit"), pair(3, 1, 2, "unit"), pair(4, 1, 1, "unit")]
    rows = found(told, "hwtsc22", *pairs, pair(5, 1, 2, "negation"))
    assert rows["kendall-like", "unit"]["value"] == pytest.approx((2 - 1) / 3)
    assert rows["kendall-like", "unit"]["n"] == 3
    assert rows["kendall-like", "all"]["value"] == pytest.approx((2 - 2) / 4)
    low, high = wilson(2, 3)
    assert (rows["kendall-like", "unit"]["low"], rows["kendall-like", "unit"]["high"]) == (2 * low - 1, 2 * high - 1)


def test_hwtsc22_with_nothing_but_ties_is_undefined(told):
    assert math.isnan(found(told, "hwtsc22", pair(1, 1, 1))["kendall-like", "all"]["value"])


def test_bump_counts_strict_wins(told):
    rows = found(told, "bump", pair(1, 2, 1), pair(2, 1, 1), pair(3, 1, 2), pair(4, 5, 1))
    assert rows["consistency", "all"]["value"] == 0.5


def test_severities_are_counted_by_themselves(told_error):
    pairs = [pair(1, 1, 2, meta={"severity": "critical"}), pair(2, 3, 1, meta={"severity": "critical"})]
    rows = found(told_error, "demetr", *pairs, pair(3, 1, 2, meta={"severity": "minor"}), pair(4, 1, 2))
    assert {key: row["value"] for key, row in rows.items()} == {
        ("accuracy", "severity critical"): 0.5,  # an error rate: lower is better
        ("accuracy", "severity minor"): 1.0,
    }


def test_the_score_of_aces(told):
    names = {
        "addition": "addition", "omission": "omission", "mistranslation": "nonsense", "untranslated": "copy-source",
        "overtranslation": "hyponym-replacement", "undertranslation": "hypernym-replacement",
        "do not translate": "do-not-translate", "real-world knowledge": "antonym-replacement",
        "wrong language": "similar-language-low", "punctuation": "punctuation:deletion_all",
    }  # fmt: skip
    assert {aces_category(name) for name in names.values()} == set(ACES_WEIGHTS)
    won = [pair(i, 2, 1, name, error=name) for i, name in enumerate(names.values())]
    assert found(told, "aces", *won)["ACES-Score", "all"]["value"] == pytest.approx(sum(ACES_WEIGHTS.values()))
    # the mean of the taus of two phenomena of one category: 1 and, a tie being discordant, (1 - 1) / 2
    more = [pair(90, 2, 1, error="lexical-overlap"), pair(91, 1, 1, error="lexical-overlap")]
    rows = found(told, "aces", *won, *more)
    assert rows["tau", "mistranslation"]["value"] == 0.5
    assert rows["ACES-Score", "all"]["value"] == pytest.approx(sum(ACES_WEIGHTS.values()) - 5 * 0.5)
    assert math.isnan(found(told, "aces", *won[:9])["ACES-Score", "all"]["value"])  # a category is missing


@pytest.mark.parametrize(
    ("phenomenon", "category"),
    [
        ("hallucination-number-level-2", "mistranslation"),
        ("anaphoric_intra_they:deletion", "mistranslation"),
        ("xnli-omission-neutral", "mistranslation"),
        ("untranslated-vs-synonym", "untranslated"),
        ("real-world-knowledge-entailment", "real-world knowledge"),
        ("commonsense-only-ref-ambiguous", "real-world knowledge"),
        ("weather", None),
    ],
)
def test_categories_of_aces(phenomenon, category):
    assert aces_category(phenomenon) == category


def test_mslc_follows_the_training_by_item_and_by_checkpoint(told):
    # item 1: A 1, B 3, C 2; item 2: A 1, B 2, C 6
    scores = {"1": {"A": 1, "B": 3, "C": 2}, "2": {"A": 1, "B": 2, "C": 6}}
    pairs = [
        pair(
            f"{item}{a}{b}", own[b], own[a], "1_step" if ord(b) - ord(a) == 1 else "2_steps",
            group="x-en", meta={"better": b, "worse": a, "item": item},
        )
        for item, own in scores.items()
        for a, b in ("AB", "BC", "AC")
    ]  # fmt: skip
    rows = found(told, "mslc", *pairs)
    values = {statistic: row["value"] for (statistic, _), row in rows.items()}
    assert values["kendall by item"] == pytest.approx(((2 - 1) / 3 + 1) / 2)
    assert values["neighbours in order by item"] == pytest.approx(3 / 4)
    assert values["kendall of checkpoints"] == 1  # means 1, 2.5, 4
    assert values["neighbours in order of checkpoints"] == 1


def test_mslc_orders_numbered_checkpoints_by_their_numbers(told):
    scores = {"2": 1, "9": 2, "10": 3}
    pairs = [
        pair(f"{a}<{b}", scores[b], scores[a], group="x-en", meta={"better": b, "worse": a, "item": "1"})
        for a, b in (("2", "9"), ("9", "10"), ("2", "10"))
    ]
    assert found(told, "mslc", *pairs)["kendall of checkpoints", "x-en"]["value"] == 1


def test_summedits_tells_consistent_from_inconsistent(told):
    seed = {"source": "doc", "meta": {"domain": "news"}}
    pairs = [  # the seed scores 5; consistent edits 4 and 1, inconsistent ones 2 and 3
        pair(1, 5, 4, "consistent_edit", expect="same", **seed),
        pair(2, 5, 1, "consistent_edit", expect="same", **seed),
        pair(3, 5, 2, "negation", **seed),
        pair(4, 5, 3, "negation", **seed),
    ]
    rows = found(told, "summedits", *pairs)
    assert rows["auc", "news"]["value"] == pytest.approx(4 / 6)  # of 3 x 2 pairs, those of 1 are wrong
    assert rows["auc", "news"]["n"] == 5
    # threshold 4: two of three consistent ones above, both others below
    assert rows["balanced accuracy, best threshold", "news"]["value"] == pytest.approx((2 / 3 + 1) / 2)


def test_llmbar_averages_the_adversarial_subsets(told):
    pairs = [pair(1, 2, 1, "Natural"), pair(2, 1, 2, "Manual"), pair(3, 2, 1, "GPTOut"), pair(4, 1, 2, "GPTOut")]
    rows = found(told, "llmbar", *pairs)
    assert rows["accuracy", "adversarial mean"]["value"] == pytest.approx((0 + 1 / 2) / 2)
    assert rows["accuracy", "all"]["value"] == 0.5


def test_a_suite_without_a_name_has_none(told):
    suite = Suite((pair(1, 2, 1, meta={"severity": "minor"}),))
    assert suite_statistics(suite, score_sides(suite, {"m": told}, Runtime()).values()) == []
