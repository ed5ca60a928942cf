"""The box beside a score: what other results say of the metric, and what is not known."""

import pytest

import nlgauge as ng
from nlgauge.core.result import Result
from nlgauge.core.scores import count_notes
from nlgauge.metrics.learned.regressor import from_ratings
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.trust import doubts_of, trust_of


def test_agreement_is_the_mean_over_groups_with_where_it_was_found(made):
    trust = trust_of(made()["score"], {"r": made()["meta"]})["chrf"]
    (fact,) = trust.agreement
    assert fact.text == "kendall_b 0.500 [0.250, 0.750] with adequacy, level item, n 12"
    assert (fact.where, fact.link) == ("on these texts", "r")  # the same digest of the input
    assert not trust.audited


def test_the_failure_that_is_worst_for_certain_comes_first(made):
    # jumble deviates by 0.7 at least, negation errs on 1 - 0.6, typos on 1 - 0.8; typos of the checklist by 0 at least
    trust = trust_of(made()["score"], {"p": made()["preference"], "c": made()["checklist"]})["chrf"]
    assert [fact.text for fact in trust.faults] == [
        "jumble: drops by 0.10 and people by 0.90, too little (n 9)",
        "negation: right on 2 of 8 pairs, 0.25 (0.10 to 0.60)",
        "typos: right on 4 of 8 pairs, 0.50 (0.20 to 0.80)",
    ]
    assert [fact.where for fact in trust.faults] == ["on these texts", *["on other texts: other.jsonl"] * 2]


def test_texts_are_counted_with_what_happened_to_them(made):
    assert trust_of(made()["score"], {})["chrf"].texts == "7 scored: 2 empty, 0 truncated, 1 undefined"


def test_what_another_signature_got_says_so(made):
    other = made()["meta"]
    other = Result("meta", other.rows, other.inputs, [{**other.metrics[0], "signature": "metric:chrf|nlgauge:2"}])
    (fact,) = trust_of(made()["score"], {"r": other})["chrf"].agreement
    assert fact.where == "on these texts, by another signature"


@pytest.mark.parametrize(("kinds", "said"), [(["score"], 2), (["score", "meta"], 1), (["score", "checklist"], 1)])
def test_what_is_not_known_is_said(made, kinds, said):
    whole = bundle_html({f"{kind}.json": made()[kind] for kind in kinds})
    assert whole.count("Not known: ") == said


def test_an_agreement_whose_interval_holds_chance_says_so(made):
    meta = made()["meta"]
    rows = [{**row, "low": -0.1} for row in meta.rows]
    (fact,) = trust_of(made()["score"], {"r": Result("meta", rows, meta.inputs, meta.metrics)})["chrf"].agreement
    assert fact.text == "kendall_b 0.500 [-0.100, 0.750] with adequacy, level item, n 12; may be chance"


def test_doubts_are_read_from_the_notes_that_are_written():
    german = ["Der Hund schläft auf dem Sofa.", "Die Katze ist nicht im Garten.", "Wir haben das Buch gelesen."] * 4
    scored = ng.compare({"a": german, "b": german[::-1]}, german, metrics=["qbleu1", "chrf"]).result()
    assert doubts_of(scored) == {
        "qbleu1": "24 of 24 segments look German, and its question words and stop words are English"
    }
    (cut,) = count_notes("nli", {"truncated": 4}, 40, "pairs", first={"truncated": ["1 (2)", "3"]})
    learnt = f"set: mine: {from_ratings('mine.jsonl')}"
    metrics = [{"spec": spec, "signature": "", "higher_is_better": True} for spec in ("nli", "mine")]
    made = Result("meta", [], metrics=metrics, notes=[cut, learnt])
    assert doubts_of(made) == {
        "nli": "4 of 40 pairs are longer than its model reads",
        "mine": "it was trained on human ratings, perhaps on these",
    }
