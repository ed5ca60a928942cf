"""An audit from end to end: rows and their fields, notes, worst cases, columns of pairs.

What cannot be audited is refused.
"""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.audits.run import audit, checklist_of
from nlgauge.audits.suite import suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import Pair, Skipped, Suite
from nlgauge.metrics.registry import METRICS
from nlgauge.perturbations.checklist import ChecklistRow

PREFERENCE = {"metric", "phenomenon", "group", "n", "wins", "ties", "losses", "accuracy", "low", "high"}
CHECKLIST = {
    "metric",
    "task",
    "criterion",
    "template",
    "n",
    "n_not_applicable",
    "drop",
    "penalty",
    "deviation",
    "low",
    "high",
}
REFERENCE = "the cat sat on the mat"


def pair(key, better, worse, phenomenon="negation", **more):
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
            pair("a", REFERENCE, "the dog sat on the mat"),  # won
            pair("b", "a cat was sitting there", "the cat sat not on the mat"),  # lost: a near-copy
            pair("c", "dogs", "dogs", "typos"),  # tied
        ),
        "words",
    )


def row_of(criterion="adequacy", phenomenon="negation", task="mt"):
    return {"task": task, "criterion": criterion, "phenomenon": phenomenon}


def checklist(*more, skipped=()):
    pairs = (
        pair("a", REFERENCE, "the cat sat not on the mat", **row_of()),
        pair("b", REFERENCE, "the cat sta on the mat", **row_of("fluency", "typos")),
        *more,
    )
    return Suite(pairs, "words", "checklist", skipped)


def test_a_suite_and_metrics_by_keyword():
    found = ng.audit(suite=preference(), metrics=["chrf", "bleu"])
    assert list(found.sides) == ["chrf", "bleu"]
    assert found.design == "preference"
    by = {(r["metric"], r["phenomenon"]): r for r in found.rows}
    assert (by["chrf", "negation"]["wins"], by["chrf", "negation"]["losses"], by["chrf", "typos"]["ties"]) == (1, 1, 1)


def test_rows_of_preference_have_the_fields_of_the_result_file():
    rows = ng.audit(preference(), metrics=["chrf"]).rows
    assert all(row.keys() >= PREFERENCE for row in rows)
    assert [row["phenomenon"] for row in rows] == ["negation", "typos", "mean-adequacy", "mean-fluency", "mean-all"]
    assert not [name for row in rows for name in row if name.startswith("_")]


def test_rows_of_a_checklist_have_the_fields_of_the_result_file():
    rows = ng.audit(checklist(), metrics=["chrf"]).rows
    assert all(row.keys() >= CHECKLIST for row in rows)
    assert [(row["criterion"], row["template"]) for row in rows] == [
        ("fluency", "typos"),
        ("adequacy", "negation"),
    ]  # the order of the table


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
    made = checklist(pair("c", REFERENCE, "the cat not sat", **row_of(phenomenon="negation:mode=add")))
    found = ng.audit(made, metrics=["chrf"], penalties=[ChecklistRow("", "", "negation", penalty=0.2)])
    assert {r["template"]: r["penalty"] for r in found.rows if r["criterion"] == "adequacy"} == {
        "negation": 0.2,
        "negation:mode=add": 0.2,
    }
    assert not any("not used" in note for note in found.notes)


def test_rows_of_a_users_own_checklist_stand_after_the_known():
    left = Skipped(perturbation="antonyms", reason="no antonym", n=4, task="mt", criterion="adequacy")
    made = checklist(pair("c", REFERENCE, "meow", **row_of("style", "meowing")), skipped=[left])
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


def test_pairs_without_a_task_are_no_checklist():
    with pytest.raises(InputError, match="pair 'a' names no task; a checklist needs both"):
        ng.audit(preference(), metrics=["chrf"], design="checklist")


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
    assert [case["id"] for case in found.worst("chrf", phenomenon="typos")] == ["c"]
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
    lines = Suite((pair("a", "the cat\nsat\there", "the dog"),))
    assert ng.audit(lines, metrics=["chrf"]).pair_columns()["better"] == ["the cat sat here"]  # as TSV can hold it
    scores = ng.score(["a cat was sitting there"], [REFERENCE], metrics="chrf")["chrf"].values
    assert columns["chrf.better"][1] == scores[0]


def test_columns_are_empty_where_a_pair_is_made_for_other_metrics():
    made = Suite((*preference(), pair("d", "x", "y", references=(), source="z", setup="src")), "words")
    found = ng.audit(made, metrics=["chrf"])
    assert np.isnan(found.pair_columns()["chrf.won"]).tolist() == [False, False, False, True]
    assert any(note.startswith("1 of 4 pairs are made for metrics of another kind") for note in found.notes)


def test_outcomes_in_columns_mind_the_tolerance_of_the_audit():
    made = Suite((pair("a", REFERENCE, "the cat sat on the mat.", "synonyms", expect="same"),))
    margin = ng.audit(made, metrics=["chrf"]).sides["chrf"].margin[0] / 100
    won = [
        ng.audit(made, metrics=["chrf"], tolerance=t).pair_columns()["chrf.won"][0]
        for t in (margin * 0.9, margin * 1.1)
    ]
    assert won == [0, 1]


def test_the_result_is_what_the_rows_say():
    found = ng.audit(preference(), metrics=["chrf", "ter"])
    result = found.result([{"path": "p", "sha256": "0"}])
    shown = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert (shown["schema"], shown["kind"]) == (1, "audit")
    assert [m["higher_is_better"] for m in shown["metrics"]] == [True, False]
    assert shown["rows"][0]["accuracy"] == 0.5
    assert shown["notes"] == list(found.notes)


def test_undefined_numbers_are_null_in_the_result():
    result = ng.audit(checklist(pair("c", REFERENCE, "meow", **row_of("style", "meowing"))), metrics=["chrf"]).result()
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


def test_a_checklist_costs_no_more_than_its_distinct_texts(monkeypatch):
    """The same through a metric of the package, counted where it scores."""
    cls, _ = METRICS.lookup("chrf")
    calls = []
    whole = cls.score

    def counting(self, segments, runtime):
        calls.append([s.hypothesis for s in segments])
        return whole(self, segments, runtime)

    monkeypatch.setattr(cls, "score", counting)
    data = Dataset(
        tuple(
            Segment(str(i), t, (t,), group="qg")
            for i, t in enumerate(["What is it?", "Who went there?", "What is it?"])
        )
    )
    made = suite("checklist", data)
    ng.audit(made, metrics=["chrf"])
    scored = [text for call in calls for text in call]
    distinct = {(text, p.references) for p in made for text in (p.better, p.worse)}
    assert len(scored) <= len(distinct) < 2 * len(made)


def test_metrics_may_be_objects():
    metric = ng.metric("chrf:word_order=2")
    (spec,) = ng.audit(preference(), metrics=[metric]).sides
    assert ng.metric(spec) == metric


def test_the_signature_is_that_of_scoring():
    scored = ng.score(["a"], [REFERENCE], metrics="chrf")["chrf"]
    assert ng.audit(preference(), metrics="chrf").sides["chrf"].signature == str(scored.signature)


def test_pairs_that_are_cut_or_empty_are_counted_by_metric():
    pairs = (pair("1", "a b c", ""), pair("2", "a b c", "a b"))
    with pytest.warns(ng.ScoreWarning, match=r"^chrf: 1 of 2 pairs have an empty side"):
        result = audit(Suite(pairs), ["chrf"]).result()
    assert result.metrics[0]["flags"] == {"empty": 1}
    assert "chrf: 1 of 2 pairs (1) have an empty side; they get the worst value" in result.notes


def test_worst_cases_of_a_checklist_are_farthest_from_the_penalty():
    # people take off 0.89 for a negation and 0.12 for typos: a drop of 0 and one of 1 are 0.89 and 0.88 from them
    suite = checklist(
        pair("c", REFERENCE, REFERENCE, **row_of()), pair("d", REFERENCE, "xyz", **row_of("fluency", "typos"))
    )
    found = audit(suite, ["chrf"])
    cases = found.worst("chrf", 2)
    assert [case["id"] for case in cases] == ["c", "d"]
    assert [(round(case["drop"], 2), case["penalty"]) for case in cases] == [(0.0, 0.89), (1.0, 0.12)]
    assert [case["id"] for case in found.worst("chrf", 1, "typos")] == ["d"]


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
    made = Suite((pair("a", "a cat was there", "the cat sat not on the mat", source="die Katze sitzt nicht"),))
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
