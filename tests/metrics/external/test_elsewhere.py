"""Metrics that are not included: an unknown name of theirs is answered by how to bring their scores."""

from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.metrics.external.elsewhere import ELSEWHERE, elsewhere, folded, not_included
from nlgauge.metrics.registry import METRICS


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("wmt22_comet_da", "COMET-22"),
        ("Bleurt_20", "BLEURT-20"),
        ("Comet_Kiwi", "COMET-Kiwi"),
        ("yisi-2", "YiSi"),
        ("cometkiwi", "COMET-Kiwi"),
    ],
)
def test_names_are_known_in_any_spelling(typed, name):
    assert elsewhere(typed).name == name


def test_a_metric_of_the_field_is_answered_by_how_to_bring_its_scores():
    with pytest.raises(SpecError) as caught:
        ng.metric("adem")
    assert str(caught.value) == (
        "unknown metric 'adem'; ADEM is not included: compute it with its own program, write a table with the columns"
        ' id and adem, and take scores:file="theirs.tsv",column=adem as the metric'
    )
    ng.metric('scores:file="theirs.tsv",column=adem')  # what the message says is a specification


def test_a_metric_that_runs_elsewhere_is_answered_by_its_environment():
    with pytest.raises(SpecError) as caught:
        ng.metric("cometkiwi")
    assert str(caught.value) == (
        "unknown metric 'cometkiwi'; COMET-Kiwi runs in an environment of its own: see 'nlgauge env --list', then take"
        " unbabel-comet:model=... as the metric"
    )
    assert {row.adapter for row in ELSEWHERE} - {""} <= METRICS.entries.keys()


def test_other_unknown_names_get_the_nearest():
    assert not_included("blue") == ""
    with pytest.raises(SpecError, match="did you mean 'bleu'"):
        ng.metric("blue")


@pytest.mark.parametrize("name", ["LEIC", "meteor++2.0", "MEANT 2.0", "TREEAGGREG", "XMoverScore", "InfoLM", "DEB"])
def test_every_metric_of_the_papers_has_a_place(name):
    with pytest.raises(SpecError, match="is not included: compute it with its own program"):
        METRICS.lookup(elsewhere(name).name)


def test_no_name_is_there_twice_and_none_is_a_metric_of_ours():
    """A metric that is added to the package loses its row in the table."""
    names = [folded(name) for row in ELSEWHERE for name in (row.name, *row.synonyms)]
    assert len(names) == len(set(names))
    assert not set(names) & {folded(name) for name in METRICS.entries}
