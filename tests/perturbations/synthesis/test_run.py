"""Long runs: portions, what was left alone, and the summary, worked by hand."""

import math

import pytest

from nlgauge.perturbations.synthesis import run as module
from nlgauge.perturbations.synthesis.draws import Draws
from nlgauge.perturbations.synthesis.run import run_synthesis, summary_rows
from nlgauge.perturbations.synthesis.synthesize import Syntheses, Synthesizer

TEXTS = ["The old ferry leaves the harbour.", "", "Two engineers repaired the bridge.", "Rain."]


class Kept:
    """A journal in memory."""

    def __init__(self):
        self.taken, self.state, self.portions = 0, {}, []

    def add(self, taken, rows, state):
        self.taken, self.state = taken, dict(state)
        self.portions.append(list(rows))

    def rows(self):
        return (row for portion in self.portions for row in portion)


def maker(variants=1):
    draws = Draws(operations=("swap", "delete"))
    return Synthesizer(draws, infill="lexicon", judge=None, severity="none", seed=3, variants=variants)


def run(kept, variants=1, **options):
    ids = [str(i) for i in range(1, 5)]
    return run_synthesis(maker(variants), TEXTS, ids, kept, **options)


def test_triples_bear_the_ids_of_their_texts_and_what_is_left_alone_is_counted():
    kept = Kept()
    outcome = run(kept)
    assert [row["id"] for row in kept.rows()] == ["1", "3"]
    assert outcome.skipped == {"empty": 1, "one word": 1}
    assert outcome.left_alone == "left alone: 2 texts (empty 1, one word 1)"
    result = outcome.result([{"path": "p", "sha256": "s"}], ["read"])
    assert (result.kind, list(result.notes)) == ("synth", ["read", outcome.left_alone])
    assert result.rows[-1]["texts"] == 2
    assert result.metrics[0]["signature"] == str(outcome.signature)


def test_variants_bear_their_number_and_only_the_first_texts_are_taken():
    kept = Kept()
    outcome = run(kept, variants=2, limit=1)
    assert [row["id"] for row in kept.rows()] == ["1/0", "1/1"]
    assert outcome.left_alone == ""


def test_a_text_is_left_alone_only_if_all_its_variants_are():
    (made,) = maker()(TEXTS[:1])
    given = maker(variants=2)
    outcomes = Syntheses(["no edit fits", made, "no edit fits", "no edit fits"], given.signature)

    class Maker:
        variants, signature = 2, given.signature

        def __call__(self, texts):
            return outcomes

    kept = Kept()
    outcome = run_synthesis(Maker(), TEXTS[:2], ["1", "2"], kept)
    assert outcome.left_alone == "left alone: 1 text (no edit fits 1)"
    assert len(list(kept.rows())) == 1


def test_a_run_goes_on_where_it_was_to_the_same_triples(monkeypatch):
    whole, kept = Kept(), Kept()
    run(whole)
    monkeypatch.setattr(module, "PORTION", 1)
    run(kept, limit=2)
    outcome = run(kept)
    assert len(kept.portions) == 4
    assert list(kept.rows()) == list(whole.rows())
    assert outcome.skipped == {"empty": 1, "one word": 1}


def triple(*steps):
    severities = [{"operation": operation, "severity": severity} for operation, severity in steps]
    return {"score": sum(severity for _, severity in steps), "steps": severities}


def test_the_summary_has_a_row_per_operation_and_one_for_all():
    swap, every = summary_rows([triple(("swap", -1.0), ("swap", -5.0)), triple(("swap", -5.0))])
    assert (swap["operation"], swap["edits"], swap["share"]) == ("swap", 3, 1.0)
    assert swap["severity"] == pytest.approx(-11 / 3)
    assert swap["major"] == pytest.approx(2 / 3)
    assert math.isnan(swap["score"])
    assert (every["operation"], every["texts"], every["score"]) == ("all", 2, -5.5)  # -6 and -5


def test_only_severities_of_two_kinds_have_a_share_of_major_ones():
    def majors(*severities):
        return summary_rows([triple(*(("swap", severity) for severity in severities))])[0]["major"]

    assert majors(-1, -5, -5, -1) == 0.5
    assert majors(-1, -1) == 0
    assert math.isnan(majors(-1.5, -5))  # graded
    assert math.isnan(majors(-2.5))


def test_no_triples_have_one_row_without_numbers():
    (every,) = summary_rows([])
    assert (every["edits"], every["texts"]) == (0, 0)
    assert all(math.isnan(every[name]) for name in ("share", "severity", "major", "score"))
