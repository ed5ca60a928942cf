"""A suite whose better texts are the references: refused if all are, counted if some are."""

from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.audits.copies import check_copies
from nlgauge.core.errors import InputError
from nlgauge.metrics.registry import named


def pair(i, better="the cat sat", reference="the cat sat", **more):
    more = {"phenomenon": "negation", "worse": "the cat did not sit", **more}
    return ng.Pair(id=str(i), better=better, references=(reference,) if reference else (), **more)


def suite(*pairs):
    return ng.Suite(pairs, "pairs.jsonl")


def told(pairs, metrics="bleu", references="own"):
    return check_copies(suite(*pairs), named(metrics), references)


def test_a_suite_that_cannot_be_failed_is_refused_with_the_ways_out():
    with pytest.raises(InputError) as caught:
        ng.audit(suite(pair(1), pair(2, better="the cat sat ")), "bleu")
    assert str(caught.value) == (
        "pairs.jsonl: in all 2 pairs for bleu the better text is the reference, so that no metric could fail; make"
        " pairs that can be failed: 'nlgauge perturb --field hyp', or 'nlgauge audit DATA --suite menli', which takes"
        " paraphrases"
    )


def test_pairs_of_a_checklist_are_pointed_to_that_design():
    pairs = [pair(1, task="mt", criterion="adequacy")]
    with pytest.raises(InputError, match=r"use them as a checklist \(--design checklist\), or make pairs"):
        told(pairs)
    assert ng.audit(suite(*pairs), "bleu", design="checklist").rows


def test_who_asks_for_preferences_by_name_gets_them_with_a_note():
    found = ng.audit(suite(pair(1)), "bleu", design="preference")
    assert any(note.startswith("in 1 of 1 pairs the better text is a reference") for note in found.notes)


def test_some_copies_are_counted():
    pairs = [pair(1), pair(2, better="a cat sat there")]
    note = "in 1 of 2 pairs the better text is a reference, which nearly every metric prefers"
    note += ": accuracies are higher for it"
    assert told(pairs) == [note]
    assert told(pairs, ["bleu", "chrf"]) == [note]
    assert note in ng.audit(suite(*pairs), "bleu").notes


def test_a_real_suite_needs_no_word():
    assert told([pair(1, better="a cat sat there")]) == []


def test_pairs_that_should_score_the_same_do_not_count():
    assert told([pair(1, expect="same"), pair(2, better="a cat sat there")]) == []


def test_a_metric_without_references_is_not_concerned():
    pairs = [pair(1, source="die Katze sass", setup="any")]
    assert told(pairs, "summac") == []
    with pytest.raises(InputError):
        told(pairs, "bleu")


def test_a_source_in_place_of_the_reference_counts_like_one():
    copy, real = pair(1, source="the cat sat", reference=""), pair(2, source="the dog", reference="")
    assert len(told([copy, real], references="source")) == 1
    with pytest.raises(InputError):
        told([copy], references="source")
