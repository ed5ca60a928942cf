"""Training texts are found in a suite by digests: whole texts and sentences, whatever the case and punctuation."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.audits import overlap
from nlgauge.audits.overlap import digests_of, overlap_notes, write_digests
from nlgauge.core.suite import Pair, Suite


def suite(*texts, published="bump"):
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
    monkeypatch.setattr(overlap, "files", lambda package: tmp_path)
    (tmp_path / "heads").mkdir()
    (tmp_path / "digests.npz").rename(tmp_path / "heads" / "digests.npz")
    overlap._shipped.cache_clear()
    yield
    overlap._shipped.cache_clear()


def test_case_punctuation_and_blanks_make_no_difference():
    one, other = digests_of(["The cat sat on the mat."]), digests_of(["the  CAT sat, on the mat"])
    assert one.tolist() == other.tolist() != []
    assert digests_of(["The cat sat.", "", "。"]).tolist() == []  # fewer than four words


def test_a_text_counts_by_itself_and_by_its_sentences():
    whole = digests_of(["It rained all day. The road was wet."])
    assert len(whole) == 3
    assert np.isin(digests_of(["The road was wet!"]), whole).all()


def test_texts_that_a_head_was_trained_on_are_counted(trained):
    found = suite("the cat sat on the mat", "Here the road was dry.", "He left. The road was wet and dark.")
    (note,) = overlap_notes(found, ["metric:nli|model:nli|formula:e"])
    assert note == (
        "the training texts of nli hold 2 of 3 better texts, 0 of 1 worse texts, 0 of 1 sources, whole or a sentence of"
        " them"
    )
    (note,) = overlap_notes(found, ["terms:((0.3, Regressor(model='rated', references='mean')),)"])
    assert note.startswith("the training texts of rated hold 1 of 3 better texts")
    assert overlap_notes(suite("Nobody has read this text."), ["model:rated"]) == [
        "no text of the suite, and no sentence of one, stands in the training texts of rated"
    ]
    assert overlap_notes(found, ["metric:chrf|char_order:6", "metric:bertscore|model:embedded"]) == []


def test_an_audit_of_a_published_suite_tells_it(trained):
    notes = ng.audit(
        suite("the cat sat on the mat", published="bump"), metrics=["chrf", "rated"], references="source"
    ).notes
    assert sum("the training texts of rated" in note for note in notes) == 1
    plain = ng.audit(suite("the cat sat on the mat", published=None), metrics=["rated"], references="source").notes
    assert not any("training texts" in note for note in plain)


def test_the_shipped_digests_are_those_of_the_heads():
    overlap._shipped.cache_clear()
    names = {path.stem for path in overlap.files("nlgauge.data").joinpath("heads").glob("*.safetensors")}
    assert set(overlap._shipped()) == {overlap._SAME_TEXTS.get(name, name) for name in names}
    assert all(len(own) > 1900 and (np.diff(own.astype(np.int64)) > 0).all() for own in overlap._shipped().values())
