"""Marks that are made on the spot."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.metaeval.span_methods import marks_by

TEXTS = ng.Dataset(
    (
        ng.Segment("a", "The hat sat.", ("The cat sat.", "A hat sat."), "The dog sat.", "S", "1"),
        ng.Segment("b", "", ("x",), "y", "S", "2"),
    )
)


def marked(references="own", method="words"):
    (first, _) = marks_by(method, TEXTS, references=references)
    return [first.text_of(span) for span in first.spans]


def test_words_are_compared_with_what_is_asked_for():
    assert marked() == []  # each word stands in one of both references
    assert marked("first") == ["hat"]
    assert marked("source") == ["hat"]


def test_everything_is_one_span_and_an_empty_text_has_none():
    found = marks_by("everything", TEXTS)
    assert [[(s.start, s.end, s.severity) for s in one.spans] for one in found] == [[(0, 12, "major")], []]
    assert [(one.id, one.system, one.item) for one in found] == [("a", "S", "1"), ("b", "S", "2")]
    assert found.method["signature"].startswith("method:everything|nlgauge:")


@pytest.mark.parametrize(
    ("method", "references", "message"),
    [
        ("word", "own", "method is 'word'; did you mean 'words'"),
        ("words", "best", "references is 'best'; known: first"),
    ],
)
def test_another_word_is_refused(method, references, message):
    with pytest.raises(InputError, match=message):
        marks_by(method, TEXTS, references=references)
