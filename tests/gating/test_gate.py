"""`ng.gate`: lists, data sets and files; verdicts and what they are worth; bad input in one line."""

from __future__ import annotations

import json
import time
import warnings

import pytest
from tests.gating.sides import BASE, REFS, better, worse

import nlgauge as ng
from nlgauge.core.segment import Segment


def test_a_verdict_is_true_where_it_passes():
    good = ng.gate(BASE, better(0.5), REFS, metrics=["chrf", "ter"], allow=1)
    assert (good.verdict, bool(good)) == ("PASS", True)
    bad = ng.gate(BASE, worse(0.9), REFS, metrics="chrf", allow=1)
    assert (bad.verdict, bool(bad)) == ("FAIL", False)
    assert repr(bad).startswith("Gate(FAIL: chrf: the mean lost")
    assert [row["metric"] for row in good.rows] == ["chrf", "ter"]
    unsure = ng.gate(BASE[:20], worse(0.5)[:20], REFS[:20], metrics="chrf", allow=2)
    assert unsure.verdict == "INCONCLUSIVE"
    assert str(unsure).startswith("INCONCLUSIVE: too few items")


def test_the_same_seed_gives_the_same_result():
    first, second = (ng.gate(BASE, worse(0.4), REFS, metrics="chrf", seed=3).result().as_json() for _ in range(2))
    assert first == second


def test_ids_and_groups_of_lists():
    ids, groups = [f"i{i}" for i in range(60)], [str(i // 5) for i in range(60)]
    outcome = ng.gate(BASE, worse(0.4), REFS, metrics="chrf", ids=ids, groups=groups)
    assert outcome.rows[0]["n_clusters"] == 12
    assert outcome.items[0]["seg"].startswith("i")


def test_runs_stand_in_lists():
    twice = [[text, text] for text in BASE]
    once_worse = [[text, lower] for text, lower in zip(BASE, worse(0.5), strict=True)]
    outcome = ng.gate(twice, once_worse, REFS, metrics="chrf", allow=5)
    assert (outcome.rows[0]["n"], outcome.rows[0]["repeats"]) == (60, 2)
    assert outcome.rows[0]["flicker"] > 0
    assert any("flicker between runs" in note for note in outcome.notes)


def test_data_sets_pair_by_item(tmp_path):
    def dataset(texts, system):
        rows = zip(texts, REFS, strict=True)
        return ng.Dataset(
            tuple(Segment(f"{system}{i}", t, (r,), None, system, str(i)) for i, (t, r) in enumerate(rows))
        )

    both = ng.Dataset((*dataset(BASE, "old"), *dataset(worse(0.5), "new")))
    outcome = ng.gate(both, both, metrics="chrf", base_system="old", new_system="new", allow=5)
    assert outcome.rows[0]["base"] > outcome.rows[0]["new"]
    outcome.write(tmp_path / "gate.json")
    written = json.loads((tmp_path / "gate.json").read_text())
    assert (written["kind"], written["verdict"]) == ("gate", outcome.verdict)


def test_a_frame_is_a_side():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"hyp": BASE, "ref": REFS, "seg": range(60)})
    assert ng.gate(frame, frame, metrics="chrf").verdict == "PASS"


def test_metric_objects_and_reports():
    outcome = ng.gate(BASE, worse(0.9), REFS, metrics=ng.metric("rouge1"), report_only="ter", allow=0.5)
    assert [row["decides"] for row in outcome.rows] == [True, False]
    assert outcome.verdict == "PASS"


@pytest.mark.parametrize(
    ("base", "new", "more", "message"),
    [
        (["a"], ["a", "b"], {}, "2 hypotheses but 1|1 hypotheses but 2"),
        ({"s": ["a"]}, ["a"], {}, "BASE is a mapping"),
        (["a"], ["a"], {"alpha": 2}, "alpha is 2"),
        (["a"], ["a"], {"allow": {"ter": 1}}, "'ter', which is not among the metrics"),
        ("no.jsonl", ["a"], {}, "no such file"),
    ],
)
def test_bad_input_is_one_line(base, new, more, message):
    with pytest.raises(ng.InputError, match=message) as error:
        ng.gate(base, new, ["a"], metrics="chrf", **more)
    assert "\n" not in str(error.value)


def test_a_constant_metric_and_ties():
    outcome = ng.gate(["a a"] * 30, ["b b"] * 30, ["c c"] * 30, metrics="rouge1", allow=0.05)
    # nothing changed in any score, and thirty items are too few to know that nothing can
    assert (outcome.verdict, outcome.rows[0]["method"], outcome.rows[0]["delta"]) == ("INCONCLUSIVE", "worst-case", 0)
    assert ng.gate(["a a"] * 90, ["b b"] * 90, ["c c"] * 90, metrics="rouge1", allow=0.05).verdict == "PASS"


def test_a_thousand_items_and_five_metrics_take_seconds():
    refs = [f"{ref} {i}" for i, ref in enumerate(REFS * 17)][:1000]
    base, new = (BASE * 17)[:1000], (worse(0.3) * 17)[:1000]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ng.gate(base, new, refs, metrics=["chrf", "rouge1", "rougeL", "bleu", "wer"], allow=1)
    assert time.process_time() - start < 5  # two are promised, on a machine of its own


# Twelve texts of 51 different words among 52 ("the" stands in two); the other side says one of them twelve times.
SAID = [
    f"the {w}" if w in ("fox", "owl") else f"{w}1 {w}2 {w}3 {w}4 {w}5" for w in "fox ape bee cat dog emu owl".split()
]


def test_metrics_of_a_system_see_each_side_alone():
    # By hand: SAID has 2 * 2 + 5 * 5 = 29 words, of which "the" stands twice: 28 / 29 differ. The copies of its first
    # text have 14 words, of which 2 differ; and each is another's copy, so that self-BLEU is 1.
    same = [SAID[0]] * 7
    rows = {row["metric"]: row for row in ng.gate(SAID, same, metrics=["distinct", "self_bleu"]).rows}
    alone = ng.score(SAID, metrics=["distinct", "self_bleu"])
    assert alone["distinct"].system == pytest.approx(28 / 29)
    for spec, one in alone.items():
        assert rows[spec]["base"] == pytest.approx(one.values.mean())
    assert rows["distinct"]["new"] == pytest.approx(2 / 14)
    both = ng.gate(SAID, SAID, metrics=["distinct", "compression"]).rows
    assert [row["base"] for row in both] == [row["new"] for row in both]
    assert both[0]["base"] == rows["distinct"]["base"]


def test_what_judges_nothing_decides_nothing():
    long = [f"{text} {text}" for text in BASE]
    alone = ng.gate(BASE, long, REFS, metrics="length_ratio")
    assert alone.verdict == "INCONCLUSIVE"
    assert str(alone).startswith("INCONCLUSIVE: no metric here judges the outputs")
    assert "judges none" in alone.reasons[0]
    assert alone.rows[0]["decides"] is False
    assert alone.rows[0]["delta"] == pytest.approx(alone.rows[0]["new"] - alone.rows[0]["base"])
    assert "items changed" not in str(alone)
    assert alone.items == ()
    beside = ng.gate(BASE, BASE, REFS, metrics=["chrf", "length_ratio"])
    assert beside.verdict == "PASS"
    # No rule of those that decide is one for it: no drop need be named, no limits be known, no score be 0 or 1.
    for rules in ({"allow": {"rouge1": 0.1}}, {"sequential": True}, {"min_pass": (1, 1)}):
        of = "exact_match" if "min_pass" in rules else "rouge1"
        found = ng.gate(BASE, long, REFS, metrics=[of, "length_ratio"], **rules)
        assert [row["verdict"] for row in found.rows if not row["decides"]] == ["INCONCLUSIVE"]
    assert [row["decides"] for row in beside.rows] == [True, False]
    assert [one.get("judges") for one in beside.result().as_json()["metrics"]] == [None, False]
