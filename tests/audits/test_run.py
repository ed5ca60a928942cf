"""Training texts are found in a suite by digests: whole texts and sentences, whatever the case and punctuation."""

import dataclasses
import json
import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.audits import run
from nlgauge.audits.preference import score_sides
from nlgauge.audits.run import (
    ACES_WEIGHTS,
    aces_category,
    audit,
    checklist_of,
    digests_of,
    overlap_notes,
    suite_statistics,
    write_digests,
)
from nlgauge.audits.suites import suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import Pair, Skipped, Suite
from nlgauge.perturbations.checklist import ChecklistRow
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import wilson


def overlap_suite(*texts, published="bump"):
    pairs = [
        Pair(id=str(i), phenomenon="x", better=t, worse="A wholly other text.", source="s") for i, t in enumerate(texts)
    ]
    return Suite(tuple(pairs), "s", published=published)


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Digests of two heads in place of the shipped ones."""
    write_digests(
        tmp_path / "digests.npz",
        {
            "nli": digests_of(["The cat sat on the mat.", "It rained all day. The road was wet and dark."]),
            "rated": digests_of(["The cat sat on the mat."]),
        },
    )
    monkeypatch.setattr(run, "files", lambda package: tmp_path)
    (tmp_path / "heads").mkdir()
    (tmp_path / "digests.npz").rename(tmp_path / "heads" / "digests.npz")
    run._shipped.cache_clear()
    yield
    run._shipped.cache_clear()


def test_case_punctuation_and_blanks_make_no_difference():
    one, other = digests_of(["The cat sat on the mat."]), digests_of(["the  CAT sat, on the mat"])
    assert one.tolist() == other.tolist() != []
    assert digests_of(["The cat sat.", "", "。"]).tolist() == []  # fewer than four words


def test_a_text_counts_by_itself_and_by_its_sentences():
    whole = digests_of(["It rained all day. The road was wet."])
    assert len(whole) == 3
    assert np.isin(digests_of(["The road was wet!"]), whole).all()


def test_texts_that_a_head_was_trained_on_are_counted(trained):
    found = overlap_suite("the cat sat on the mat", "Here the road was dry.", "He left. The road was wet and dark.")
    (note,) = overlap_notes(found, ["metric:nli|model:nli|formula:e"])
    assert note == (
        "the training texts of nli hold 2 of 3 better texts, 0 of 1 worse texts, 0 of 1 sources, whole or a sentence of"
        " them"
    )
    (note,) = overlap_notes(found, ["terms:((0.3, Regressor(model='rated', references='mean')),)"])
    assert note.startswith("the training texts of rated hold 1 of 3 better texts")
    assert overlap_notes(overlap_suite("Nobody has read this text."), ["model:rated"]) == [
        "no text of the suite, and no sentence of one, stands in the training texts of rated"
    ]
    assert overlap_notes(found, ["metric:chrf|char_order:6", "metric:bertscore|model:embedded"]) == []


def test_an_audit_of_a_published_suite_tells_it(trained):
    notes = ng.audit(
        overlap_suite("the cat sat on the mat", published="bump"), metrics=["chrf", "rated"], references="source"
    ).notes
    assert sum("the training texts of rated" in note for note in notes) == 1
    plain = ng.audit(
        overlap_suite("the cat sat on the mat", published=None), metrics=["rated"], references="source"
    ).notes
    assert not any("training texts" in note for note in plain)


def test_the_shipped_digests_are_those_of_the_heads():
    run._shipped.cache_clear()
    names = {path.stem for path in run.files("nlgauge.data").joinpath("heads").glob("*.safetensors")}
    assert set(run._shipped()) == {run._SAME_TEXTS.get(name, name) for name in names}
    assert all(len(own) > 1900 and (np.diff(own.astype(np.int64)) > 0).all() for own in run._shipped().values())


# --- The statistics of published suites, each worked by hand on a few pairs


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
    assert np.isnan(rows["balanced accuracy", "news"]["value"])  # there is no other document to find a threshold on


def test_summedits_takes_thresholds_from_other_documents(told):
    pairs = []
    for n in range(4):  # a text and its consistent edit score 5 and 4, the other edit 2: any threshold between is right
        of_document = {"source": f"doc {n}", "meta": {"domain": "news"}}
        pairs.append(pair(f"same {n}", 5, 4, "consistent_edit", expect="same", **of_document))
        pairs.append(pair(f"negated {n}", 5, 2, "negation", **of_document))
    assert found(told, "summedits", *pairs)["balanced accuracy", "news"]["value"] == 1


def test_llmbar_averages_the_adversarial_subsets(told):
    pairs = [pair(1, 2, 1, "Natural"), pair(2, 1, 2, "Manual"), pair(3, 2, 1, "GPTOut"), pair(4, 1, 2, "GPTOut")]
    rows = found(told, "llmbar", *pairs)
    assert rows["accuracy", "adversarial mean"]["value"] == pytest.approx((0 + 1 / 2) / 2)
    assert rows["accuracy", "all"]["value"] == 0.5


def test_a_suite_without_a_name_has_none(told):
    suite = Suite((pair(1, 2, 1, meta={"severity": "minor"}),))
    assert suite_statistics(suite, score_sides(suite, {"m": told}, Runtime()).values()) == []


# --- An audit from end to end: rows and their fields, notes, worst cases, columns of pairs
#
# What cannot be audited is refused.

REFERENCE = "the cat sat on the mat"


def run_pair(key, better, worse, phenomenon="negation", **more):
    return Pair(
        id=key,
        phenomenon=phenomenon,
        better=better,
        worse=worse,
        references=more.pop("references", (REFERENCE,)),
        **more,
    )


def preference():
    return Suite(
        (
            run_pair("a", REFERENCE, "the dog sat on the mat"),  # won
            run_pair("b", "a cat was sitting there", "the cat sat not on the mat"),  # lost: a near-copy
            run_pair("c", "dogs", "dogs", "typos"),  # tied
        ),
        "words",
    )


def row_of(criterion="adequacy", phenomenon="negation", task="mt"):
    return {"task": task, "criterion": criterion, "phenomenon": phenomenon}


def checklist(*more, skipped=()):
    pairs = (
        run_pair("a", REFERENCE, "the cat sat not on the mat", **row_of()),
        run_pair("b", REFERENCE, "the cat sta on the mat", **row_of("fluency", "typos")),
        *more,
    )
    return Suite(pairs, "words", "checklist", skipped)


def test_a_suite_and_metrics_by_keyword():
    found = ng.audit(suite=preference(), metrics=["chrf", "bleu"])
    assert list(found.sides) == ["chrf", "bleu"]
    assert found.design == "preference"
    by = {(r["metric"], r["phenomenon"]): r for r in found.rows}
    assert (by["chrf", "negation"]["wins"], by["chrf", "negation"]["losses"], by["chrf", "typos"]["ties"]) == (1, 1, 1)


def test_a_deviation_is_the_drop_less_the_shipped_penalty():
    (row,) = [r for r in ng.audit(checklist(), metrics=["chrf"]).rows if r["template"] == "negation"]
    scores = ng.score([REFERENCE, "the cat sat not on the mat"], [REFERENCE] * 2, metrics="chrf")["chrf"].values
    assert row["drop"] == pytest.approx((scores[0] - scores[1]) / scores[0], abs=1e-12)  # the same sums in float64
    assert row["deviation"] == pytest.approx(row["drop"] - row["penalty"], abs=1e-12)
    assert 0.5 < row["penalty"] < 1


def test_penalties_of_the_users_come_instead_of_the_shipped():
    found = ng.audit(
        checklist(), metrics=["chrf"], penalties=[ChecklistRow("", "", "negation", penalty=0.25, certainty="user")]
    )
    by = {r["template"]: r for r in found.rows}
    assert by["negation"]["penalty"] == 0.25
    assert math.isnan(by["typos"]["penalty"])
    assert not math.isnan(by["typos"]["drop"])
    assert any(note.startswith("no penalty for typos") for note in found.notes)
    assert not any("recovered" in note for note in found.notes)
    assert any("recovered" in note for note in ng.audit(checklist(), metrics=["chrf"]).notes)


def test_penalties_that_no_row_takes_are_noted_and_misspelt_ones_refused():
    found = ng.audit(
        checklist(),
        metrics=["chrf"],
        penalties=[ChecklistRow("", "", "negation", penalty=0.2), ChecklistRow("", "", "synonyms", penalty=0.1)],
    )
    assert any(note.startswith("penalties given for synonyms are not used") for note in found.notes)
    with pytest.raises(
        InputError, match="a penalty is given for 'negatoin', which is no perturbation; did you mean 'negation'"
    ):
        ng.audit(checklist(), metrics=["chrf"], penalties=[ChecklistRow("", "", "negatoin", penalty=0.2)])
    with pytest.raises(InputError, match="the suite asks for preferences"):
        ng.audit(preference(), metrics=["chrf"], penalties=[ChecklistRow("", "", "negation", penalty=0.2)])


def test_a_penalty_serves_a_row_with_options():
    made = checklist(run_pair("c", REFERENCE, "the cat not sat", **row_of(phenomenon="negation:mode=add")))
    found = ng.audit(made, metrics=["chrf"], penalties=[ChecklistRow("", "", "negation", penalty=0.2)])
    assert {r["template"]: r["penalty"] for r in found.rows if r["criterion"] == "adequacy"} == {
        "negation": 0.2,
        "negation:mode=add": 0.2,
    }
    assert not any("not used" in note for note in found.notes)


def test_rows_of_a_users_own_checklist_stand_after_the_known():
    left = Skipped(perturbation="antonyms", reason="no antonym", n=4, task="mt", criterion="adequacy")
    made = checklist(run_pair("c", REFERENCE, "meow", **row_of("style", "meowing")), skipped=[left])
    rows = checklist_of(made)
    assert [r.template for r in rows] == ["typos", "negation", "antonyms", "meowing"]
    found = {r["template"]: r for r in ng.audit(made, metrics=["chrf"]).rows}
    assert (found["antonyms"]["n"], found["antonyms"]["n_not_applicable"]) == (0, 4)
    assert math.isnan(found["meowing"]["penalty"])


def test_what_was_left_alone_is_noted_with_its_reasons():
    skipped = [
        Skipped(perturbation="negation", reason="no finite verb", n=1),
        Skipped(perturbation="negation", reason="language", n=3),
    ]
    found = ng.audit(dataclasses.replace(preference(), skipped=skipped), metrics=["chrf"])
    assert "texts left alone: negation to 4 (language 3, no finite verb 1)" in found.notes


def test_a_checklist_may_be_asked_for_preferences():
    found = ng.audit(checklist(), metrics=["chrf"], design="preference")
    assert {r["phenomenon"]: r["accuracy"] for r in found.rows if not r["phenomenon"].startswith("mean")} == {
        "negation": 1,
        "typos": 1,
    }


def test_worst_cases_are_lost_pairs_the_worst_first():
    found = ng.audit(preference(), metrics=["chrf"])
    worst = found.worst("chrf")
    assert [case["id"] for case in worst] == ["b", "c"]
    assert worst[0]["margin"] == worst[0]["score_better"] - worst[0]["score_worse"] < 0
    assert (worst[0]["reference"], worst[0]["better"]) == (REFERENCE, "a cat was sitting there")
    assert [case["id"] for case in found.worst("chrf", 1)] == ["b"]
    with pytest.raises(InputError, match="metric 'chr' was not audited; did you mean 'chrf'"):
        found.worst("chr")


def test_worst_cases_of_an_error_rate_are_those_where_the_worse_text_has_fewer_errors():
    worst = ng.audit(preference(), metrics=["ter"]).worst("ter")
    assert worst[0]["id"] == "b"
    assert worst[0]["score_better"] > worst[0]["score_worse"]


def test_columns_of_pairs_hold_scores_and_outcomes():
    columns = ng.audit(preference(), metrics=["chrf"]).pair_columns()
    assert columns["id"] == ["a", "b", "c"]
    assert columns["chrf.won"].tolist() == [1, 0, 0.5]
    assert (columns["better"][1], columns["worse"][1]) == (preference().pairs[1].better, preference().pairs[1].worse)
    lines = Suite((run_pair("a", "the cat\nsat\there", "the dog"),))
    assert ng.audit(lines, metrics=["chrf"]).pair_columns()["better"] == ["the cat sat here"]  # as TSV can hold it
    scores = ng.score(["a cat was sitting there"], [REFERENCE], metrics="chrf")["chrf"].values
    assert columns["chrf.better"][1] == scores[0]


def test_columns_are_empty_where_a_pair_is_made_for_other_metrics():
    made = Suite((*preference(), run_pair("d", "x", "y", references=(), source="z", setup="src")), "words")
    found = ng.audit(made, metrics=["chrf"])
    assert np.isnan(found.pair_columns()["chrf.won"]).tolist() == [False, False, False, True]
    assert any(note.startswith("1 of 4 pairs are made for metrics of another kind") for note in found.notes)


def test_outcomes_in_columns_mind_the_tolerance_of_the_audit():
    made = Suite((run_pair("a", REFERENCE, "the cat sat on the mat.", "synonyms", expect="same"),))
    margin = ng.audit(made, metrics=["chrf"]).sides["chrf"].margin[0] / 100
    won = [
        ng.audit(made, metrics=["chrf"], tolerance=t).pair_columns()["chrf.won"][0]
        for t in (margin * 0.9, margin * 1.1)
    ]
    assert won == [0, 1]


def test_undefined_numbers_are_null_in_the_result():
    result = ng.audit(
        checklist(run_pair("c", REFERENCE, "meow", **row_of("style", "meowing"))), metrics=["chrf"]
    ).result()
    (row,) = [
        r for r in json.loads(json.dumps(result.as_json(), allow_nan=False))["rows"] if r["template"] == "meowing"
    ]
    assert (row["penalty"], row["deviation"]) == (None, None)
    assert row["drop"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["chrff"]}, "unknown metric 'chrff'; did you mean 'chrf'"),
        ({"metrics": []}, "no metric is named"),
        ({"ties": "los"}, "ties is 'los'; did you mean 'loss'"),
        ({"normalise": "minmaks"}, "did you mean 'minmax'"),
        ({"design": "chcklist"}, "did you mean 'checklist'"),
        ({"tolerance": 1}, "tolerance is 1, expected 0 or more and below 1 \\(a share\\)"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"references": "sorce"}, "references is 'sorce', expected own or source"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises((InputError, SpecError), match=message):
        ng.audit(**{"suite": preference(), "metrics": ["chrf"], **options})


def test_an_audit_scores_each_distinct_text_once(told, monkeypatch):
    """Texts that several templates leave equal, and the text before, are one text each."""
    monkeypatch.setattr("nlgauge.audits.run.named", lambda metrics, encoder: {"told": told})
    texts = [f"The old man has {n} red apples and he does not like them. {n}" for n in (12, 30)]
    data = Dataset(tuple(Segment(str(i), t, (t,), group="mt") for i, t in enumerate(texts)))
    keep = ["negation", "synonyms", "contractions", "add_extra_text"]
    made = suite("checklist", data, perturbations=keep)
    made = dataclasses.replace(
        made,
        pairs=tuple(p if p.worse.split()[-1].isdigit() else dataclasses.replace(p, worse=f"{p.worse} 7") for p in made),
    )
    again = tuple(
        dataclasses.replace(p, id=f"{p.id}+", criterion="fluency") for p in made
    )  # another row with the same texts
    audit(dataclasses.replace(made, pairs=(*made.pairs, *again)), ["told"])
    scored = [text for call in told.calls for text in call]
    distinct = {p.worse for p in made} | {p.better for p in made}
    assert len(scored) == len(set(scored)) == len(distinct)
    assert len(distinct) < 2 * 2 * len(made)


def test_metrics_may_be_objects():
    metric = ng.metric("chrf:word_order=2")
    (spec,) = ng.audit(preference(), metrics=[metric]).sides
    assert ng.metric(spec) == metric


def test_the_signature_is_that_of_scoring():
    scored = ng.score(["a"], [REFERENCE], metrics="chrf")["chrf"]
    assert ng.audit(preference(), metrics="chrf").sides["chrf"].signature == str(scored.signature)


def test_pairs_that_are_cut_or_empty_are_counted_by_metric():
    pairs = (run_pair("1", "a b c", ""), run_pair("2", "a b c", "a b"))
    with pytest.warns(ng.ScoreWarning, match=r"^chrf: 1 of 2 pairs have an empty side"):
        result = audit(Suite(pairs), ["chrf"]).result()
    assert result.metrics[0]["flags"] == {"empty": 1}
    assert "chrf: 1 of 2 pairs (1) have an empty side; they get the worst value" in result.notes


def test_worst_cases_of_a_checklist_are_farthest_from_the_penalty():
    # people take off 0.89 for a negation and 0.12 for typos: a drop of 0 and one of 1 are 0.89 and 0.88 from them
    suite = checklist(
        run_pair("c", REFERENCE, REFERENCE, **row_of()), run_pair("d", REFERENCE, "xyz", **row_of("fluency", "typos"))
    )
    found = audit(suite, ["chrf"])
    cases = found.worst("chrf", 2)
    assert [case["id"] for case in cases] == ["c", "d"]
    assert [(round(case["drop"], 2), case["penalty"]) for case in cases] == [(0.0, 0.89), (1.0, 0.12)]


@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        (checklist(), {"ties": "half"}, "ties goes with design 'preference', and this audit is a checklist"),
        (
            preference(),
            {"normalise": "minmax"},
            "normalise goes with design 'checklist', and this audit is a preference",
        ),
    ],
)
def test_options_of_the_other_design_are_refused(suite, options, message):
    with pytest.raises(InputError, match=message):
        audit(suite, ["chrf"], **options)


def test_columns_of_a_frame_of_pairs_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"good": ["the cat sat"], "bad": ["the cta sat"], "gold": ["a cat sat"]})
    found = audit(frame, "chrf", columns={"better": "good", "worse": "bad", "ref": "gold"})
    assert [(pair.better, pair.worse, pair.references) for pair in found.suite] == [
        ("the cat sat", "the cta sat", ("a cat sat",))
    ]
    with pytest.raises(InputError, match="columns are named for a frame; a Suite has none"):
        audit(found.suite, "chrf", columns={"better": "good"})


def test_tasks_and_criteria_of_a_users_checklist_may_be_written_in_other_letters():
    made = Suite(tuple(dataclasses.replace(p, task="MT", criterion=p.criterion.capitalize()) for p in checklist()))
    rows = audit(made, ["chrf"], design="checklist").rows
    assert {(row["task"], row["criterion"], row["n"]) for row in rows} == {("mt", "fluency", 1), ("mt", "adequacy", 1)}
    assert all(row["penalty"] > 0 for row in rows)


def test_a_text_left_alone_under_two_criteria_is_counted_once():
    counts = ((2, "fluency"), (1, "adequacy"))
    skipped = [Skipped(perturbation="typos", reason="short", n=n, task="mt", criterion=c) for n, c in counts]
    notes = audit(checklist(skipped=skipped), ["chrf"]).notes
    assert "texts left alone: typos to 2 (short 2)" in notes


def test_worst_cases_show_what_the_metric_compared_with():
    made = Suite((run_pair("a", "a cat was there", "the cat sat not on the mat", source="die Katze sitzt nicht"),))
    assert audit(made, ["chrf"]).worst("chrf")[0]["reference"] == REFERENCE
    (case,) = audit(made, ["chrf"], references="source").worst("chrf")
    assert case["reference"] == "die Katze sitzt nicht"


def test_pairs_of_a_file_do_not_say_how_many_texts_were_left_alone():
    notes = audit(Suite(checklist().pairs), ["chrf"], design="checklist").notes
    told = "these pairs do not say how many texts were left alone: 'n/a' (n_not_applicable) counts none"
    assert [note for note in notes if "left alone" in note] == [told]
    assert not any("left alone" in note for note in audit(checklist(), ["chrf"]).notes)


def test_texts_are_audited_by_the_checklists_of_their_task():
    texts = ng.Dataset.from_texts(["A cat was not here."] * 3, ["A dog was not there."] * 3)
    found = audit(texts, ["chrf"], task="d2t")
    by_suite = audit(ng.suite("checklist", texts, task="d2t"), ["chrf"])
    assert repr(found.rows) == repr(by_suite.rows)  # with NaN
    with pytest.raises(InputError, match=r"expected a Suite or a frame of pairs, got list; nlgauge\.suite makes"):
        audit(["a text"], ["chrf"])
    with pytest.raises(InputError, match=r"expected a Dataset or a frame, got list; .* nlgauge\.Dataset\.from_texts"):
        audit(["a text"], ["chrf"], task="mt")
