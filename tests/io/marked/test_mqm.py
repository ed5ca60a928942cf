from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked.mqm import marked_places, read_mqm_spans

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def written(path, *rows):
    path.write_text("\n".join([HEADER, *("\t".join(row) for row in rows)]) + "\n")
    return path


def test_places_are_those_of_the_text_without_signs():
    assert marked_places("The <v>cat</v> sat on <v>it</v>.") == [(4, 7), (15, 17)]
    assert marked_places("The cat") == []


@pytest.mark.parametrize("text", ["a <v>b", "a</v> b", "<v>a <v>b</v></v>"])
def test_signs_come_in_pairs(text):
    with pytest.raises(InputError, match="without its partner"):
        marked_places(text)


def test_rows_of_a_rater_are_one_marked_text(tmp_path):
    path = written(
        tmp_path / "mqm.tsv",
        ("A", "d", "1", "1", "r1", "x y", "The <v>cat</v> sat", "Accuracy/Mistranslation", "Major"),
        ("A", "d", "1", "1", "r1", "<v>x</v> y", "The cat sat", "Accuracy/Omission", "Minor"),
        ("A", "d", "1", "1", "r2", "x y", "The cat sat", "No-error", "No-error"),
        ("A", "d", "1", "1", "r3", "x y", "The cat sat", "Style", "Minor"),
    )
    first, second, third = read_mqm_spans(path)
    assert first.spans == (
        ErrorSpan(4, 7, "major", category="Accuracy/Mistranslation"),
        ErrorSpan(0, 1, "minor", "src", category="Accuracy/Omission"),
    )
    assert (first.hypothesis, first.system, first.item, first.rater) == ("The cat sat", "A", "1", "r1")
    assert (second.spans, third.spans) == ((), ())


def test_a_text_that_changes_is_refused(tmp_path):
    path = written(
        tmp_path / "mqm.tsv",
        ("A", "d", "1", "1", "r1", "x", "one", "No-error", "No-error"),
        ("A", "d", "1", "1", "r1", "x", "two", "No-error", "No-error"),
    )
    with pytest.raises(InputError, match="another text than in an earlier row"):
        read_mqm_spans(path)
