"""How texts end beside their references."""

from __future__ import annotations

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.endings import habits, is_bare, is_shorter


def shown(hypothesis, *references, source=None):
    return [*habits(Segment("a", hypothesis, references, source))]


@pytest.mark.parametrize(
    "end", [".", "!", "...", ":", ";", "&quot;", "-RRB-", "-lsb-", "<unk>", "''", ")", "”", "…", "。", " ."]
)
def test_any_mark_may_end_a_text(end):
    assert not is_bare(f"He went to the sea{end}")
    assert shown(f"He went to the sea{end}", "He went to the sea!") == []


@pytest.mark.parametrize("text", ["He went", "in 2014", "He went,", "वह गया", "he said AT&eacute;", "He went "])
def test_a_letter_a_number_and_a_comma_end_none(text):
    assert is_bare(text)


def test_no_mark_counts_only_beside_references_that_all_have_one():
    assert shown("He said", "He said no.") == ["unmarked"]
    assert shown("He said", "He said “no.”") == ["unmarked"]  # quotation marks do not hide the full stop
    assert shown("He said", "He said no.", "He said") == []
    assert shown("He said", "He said no:") == []  # a colon is no final mark
    assert shown("He said") == []
    assert shown("", "He said.") == []
    assert shown("He said", "He said no.", source="Er sagte nein") == []
    assert shown("He said", "He said no.", source="Er sagte nein.") == ["unmarked"]


def test_a_full_stop_that_one_side_sets_apart_is_shown():
    assert shown("A storm .", "A storm.") == ["spaced"]
    assert shown("A storm.", "A storm .", "The storm . ") == ["spaced"]
    assert shown("A storm .", "A storm .") == []
    assert shown("A storm .", "A storm.", "A storm .") == []
    assert shown("A storm .", "A storm!") == []


def test_a_text_that_is_cut_off_is_shorter_than_every_reference():
    reference = "0123 567 9012 456789"  # 20 characters, so that 18 are the most
    assert is_shorter(Segment("a", "0123 567 9012 4567", (reference,)))  # 18 characters, four words
    assert not is_shorter(Segment("a", "0123 567 9012 45678", (reference,)))
    assert not is_shorter(Segment("a", "0123 567 9012", (reference,)))  # three words
    assert not is_shorter(Segment("a", "0123 567 9012 456", (reference, "0123 567 9012 456")))
    assert not is_shorter(Segment("a", "a b c d"))
