"""The first screen of a report: who is ahead, by which metrics, and what the metrics are worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nlgauge.core.result import Result
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.bundle.verdict import verdict_of

UP = {"spec": "chrf", "signature": "metric:chrf", "higher_is_better": True, "flags": {}}
DOWN = {"spec": "ter", "signature": "metric:ter", "higher_is_better": False, "flags": {}}


def row(system, metric, value, **more):
    return {
        "system": system,
        "metric": metric,
        "value": value,
        "low": None,
        "high": None,
        "n": 40,
        "n_undefined": 0,
    } | more


def against(base, delta, p):
    return {"baseline": base, "delta": delta, "p": p, "p_adjusted": None}


def verdict(*rows, metrics=(UP, DOWN), **others):
    scored = Result("score", rows, metrics=metrics)
    return verdict_of("r", scored, {"r": scored, **others})


def order(*rows, **how):
    """What is said of the order; what is not known of the metrics follows it."""
    return [one for one in verdict(*rows, **how).sentences if "not known here" not in one]


def test_a_tested_difference_counts_in_the_direction_of_its_metric():
    # ter falls: new has fewer errors and is better by it; chrf does not tell the two apart
    rows = [
        row("old", "chrf", 40.0, baseline="old"),
        row("old", "ter", 50.0, baseline="old"),
        row("new", "chrf", 41.0, **against("old", 1.0, 0.2)),
        row("new", "ter", 45.0, **against("old", -5.0, 0.01)),
        row("bad", "chrf", 30.0, **against("old", -10.0, 0.001)),
        row("bad", "ter", 60.0, **against("old", 10.0, 0.001)),
    ]
    assert order(*rows) == [
        "new is clearly better than old by ter; no clear difference by chrf.",
        "bad is clearly worse than old by both metrics.",
    ]
    alike = [row(name, "chrf", 41.0, **against("old", 1.0, 0.2)) for name in ("x", "y", "z")]
    assert order(rows[0], *alike, metrics=(UP,)) == ["No clear difference between old and x, y or z by chrf."]
    made = verdict(*rows)
    assert made.tested
    cells = {system: [(cell.text, cell.is_best, cell.against) for cell in line] for system, line in made.lines.items()}
    assert cells["new"] == [("41.00", True, "level"), ("45.00", True, "ahead")]
    assert cells["bad"] == [("30.00", False, "behind"), ("60.00", False, "behind")]
    assert cells["old"] == [("40.00", False, ""), ("50.00", False, "")]


def test_an_adjusted_p_decides_where_there_is_one():
    tested = against("old", 1.0, 0.01) | {"p_adjusted": 0.2}
    rows = [row("old", "chrf", 40.0, baseline="old"), row("new", "chrf", 41.0, **tested)]
    assert order(*rows, metrics=(UP,)) == ["No clear difference between old and new by chrf."]
    rows = [*rows, row("old", "ter", 1.0, baseline="old"), row("new", "ter", 2.0, **against("old", 1.0, 0.5))]
    assert order(*rows) == ["No clear difference between old and new by either metric."]


def test_ranks_of_every_pair_say_who_shares_the_first():
    rows = [row(s, m, v, rank=r) for m in ("chrf", "ter") for s, v, r in (("a", 3.0, 1), ("b", 2.0, 1), ("c", 1.0, 3))]
    assert order(*rows) == ["a and b share the first rank by both metrics."]
    assert verdict(*rows).lines["a"][0].text == "3.00 rank 1"
    rows[1]["rank"] = 2
    assert order(*rows) == ["a has the first rank by chrf.", "a and b share the first rank by ter."]


def test_without_a_test_the_best_values_are_named_and_the_test_is_asked_for():
    rows = [row("a", "chrf", 3.0), row("b", "chrf", 2.0), row("a", "ter", 3.0), row("b", "ter", 2.0)]
    assert order(*rows) == [
        "a has the best value by chrf.",
        "b has the best value by ter.",
        "No test was made, so the order may be chance; score with --significance randomization.",
    ]


def test_one_system_is_compared_with_none():
    assert order(row("a", "chrf", 3.0), row("a", "ter", 3.0)) == []
    assert not verdict(row("a", "chrf", 3.0)).lines["a"][0].is_best


def test_a_metric_that_cannot_read_the_texts_does_not_count():
    # ter says that new is better; 30 of 40 texts are German and 30 of 40 German ones were cut: each is reason enough
    rows = [
        row("old", "chrf", 40.0, baseline="old"),
        row("old", "ter", 50.0, baseline="old"),
        row("new", "chrf", 30.0, **against("old", -10.0, 0.001)),
        row("new", "ter", 45.0, **against("old", -5.0, 0.01)),
    ]
    for said, doubt in (
        ("look German: the model reads English; name another", "look German, and the model reads English"),
        ("have a text longer than the model reads, cut to its limit", "are longer than its model reads"),
    ):
        scored = Result("score", rows, metrics=(UP, DOWN), notes=[f"ter: 30 of 40 segments (1, 2, ...) {said}"])
        found = verdict_of("r", scored, {"r": scored})
        first = f"new is clearly worse than old by chrf; ter does not count: 30 of 40 segments {doubt}."
        assert found.sentences[0] == first
        assert (found.lines["new"][1].against, found.lines["new"][1].is_best) == ("", False)
        page = bundle_html({"s.json": scored})
        assert page.count("<bdi>ter</bdi> <span title=") == 2  # the table, and the heading of its section
        assert "<bdi>ter (?) (lower is better)</bdi>" in page  # the chart
        few = replace(scored, notes=[scored.notes[0].replace("30 of 40", "3 of 40")])
        assert "does not count" not in verdict_of("r", few, {"r": few}).sentences[0]


def test_where_no_metric_counts_there_is_no_verdict():
    rows = [row(system, "chrf", value) for system, value in (("a", 3.0), ("b", 2.0))]
    note = "chrf: the sources of 40 of 40 segments (1, ...) look German: it reads English"
    scored = Result("score", rows, metrics=(UP,), notes=[note])
    first = "chrf does not count: the sources of 40 of 40 segments look German, and it reads English."
    assert verdict_of("r", scored, {"r": scored}).sentences[0] == first


def test_what_was_not_audited_is_not_known(made):
    # ter is in no audit: "none found" would be a clean bill
    scored = replace(made()["score"], metrics=[*made()["score"].metrics, DOWN])
    found = verdict_of("r", scored, {"p": made()["preference"]})
    assert [fact.short for fact in found.missed[0]] == ["negation", "typos"]
    assert found.missed[1] is None
    page = bundle_html({"s.json": scored, "p.json": made()["preference"]})
    assert "none found" not in page
    assert page.partition("misses most")[2].partition("</tr>")[0].count("not known") == 1


def test_agreement_of_a_metric_that_learnt_from_ratings_does_not_count(made):
    learnt = replace(made()["meta"], notes=["chrf: trained on human ratings (mine.jsonl); agreement says nothing"])
    found = verdict_of("r", made()["score"], {"m": learnt})
    assert found.sentences[0] == (
        "With people's adequacy no metric agrees more than chance does; chrf does not count: it was trained on human"
        " ratings, perhaps on these."
    )


def test_errors_are_in_words_and_few_in_a_sentence(made):
    worse = made()["checklist"]
    rows = [{**worse.rows[0], "template": f"jumble_{i}"} for i in range(8)]
    found = verdict_of("r", made()["score"], {"c": replace(worse, rows=rows)})
    assert found.sentences[1] == (
        "chrf punishes these errors less than people do: jumble 0, jumble 1, jumble 2, jumble 3, jumble 4 and 3 more."
    )


def test_groups_stand_in_the_table_alone():
    rows = [row(s, "chrf", v, group=g) for g in ("x", "y") for s, v in (("a", 3.0), ("b", 2.0))]
    assert order(*rows, metrics=(UP,)) == []
    assert list(verdict(*rows, metrics=(UP,)).lines) == ["x: a", "x: b", "y: a", "y: b"]


def test_people_and_errors_are_said_of_all_metrics_together(made):
    # chrf agrees beyond chance (0.25 to 0.75); jumble is punished by 0.7 too little at least. Of pairs with negation
    # it prefers the worse in 6 of 8, and .10 to .60 holds one half
    found = verdict_of("r", made()["score"], {"m": made()["meta"], "p": made()["preference"], "c": made()["checklist"]})
    assert found.sentences[:2] == (
        "With people's adequacy chrf agrees.",
        "chrf punishes these errors less than people do: jumble.",
    )
    assert [fact.short for fact in found.missed[0]] == ["jumble", "negation", "typos"]
    assert found.agreement["adequacy"][0].short == "kendall_b 0.50 [0.25, 0.75]"
    worse = made()["preference"]
    worse = replace(worse, rows=[{**one, "high": 0.45} for one in worse.rows])
    found = verdict_of("r", made()["score"], {"p": worse})
    assert "chrf prefers the worse text where it has negation and typos." in found.sentences


def test_an_agreement_that_may_be_chance_is_called_so(made):
    meta = made()["meta"]
    meta = replace(meta, rows=[{**one, "low": -0.1} for one in meta.rows])
    (first, *_) = verdict_of("r", made()["score"], {"m": meta}).sentences
    assert first == "With people's adequacy no metric agrees more than chance does."


def test_what_is_not_known_and_what_makes_numbers_weak_is_said():
    cut = {**UP, "flags": {"truncated": 1}}
    rows = [row("a", "chrf", 3.0, low=1.0, high=5.0, n=12, n_flagged=4)]
    assert verdict(*rows, metrics=(cut,)).sentences == (
        "How well these metrics agree with people is not known here: add a result of nlgauge meta.",
        "Which errors they miss is not known here: add a result of nlgauge audit.",
        "12 items are few: intervals are too narrow, and only large differences show.",
        "Guards distrust 4 outputs; see the column \u201cflagged\u201d.",
        "chrf cuts some texts, which are too long for its model.",
    )


@pytest.mark.parametrize("value", [float("nan"), None])
def test_an_undefined_number_is_never_the_best(value):
    rows = [row("a", "chrf", value), row("b", "chrf", 2.0), row("c", "chrf", 1.0)]
    assert [line[0].is_best for line in verdict(*rows, metrics=(UP,)).lines.values()] == [False, True, False]


def test_the_page_begins_with_the_verdict_and_texts_stay_text(made):
    page = bundle_html({"s.json": made(system="<b>one</b>")["score"], "m.json": made()["meta"]})
    head = page.partition("<nav")[0]
    assert "With people&#39;s adequacy chrf agrees." in head
    assert "&lt;b&gt;one" in head
    assert "<b>one" not in page
    assert page.count('class="verdict"') == 1
    assert 'class="verdict"' not in bundle_html({"m.json": made()["meta"]})


def test_two_audits_have_different_headings(made):
    page = bundle_html({"p.json": made()["preference"], "c.json": made()["checklist"]})
    assert "Worse texts that this metric prefers" in page
    assert "Errors that this metric does not punish as people do" in page
