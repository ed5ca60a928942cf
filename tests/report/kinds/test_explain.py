from __future__ import annotations

import pytest

from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
from nlgauge.report.kinds.explain import described, explain_html, explained_text, marked, pieces, totals

pytest.importorskip("jinja2")


HAT = ErrorSpan(19, 22, "major")
GAP = ErrorSpan(12, 12, "minor", category="omission", missing=True)
ABOUT = {"spec": "explain", "signature": "toy", "higher_is_better": True}


def result(*rows):
    return Explanations(rows, ABOUT).result()


ONE = Explanation("1", "The cat sat on the hat.", ("The cat sat on the mat.",), (GAP, HAT, ErrorSpan(4, 7, "minor")))


def test_marks_are_readable_without_colours():
    assert marked(ONE.as_row()) == "The {cat} sat {+} on the [hat]."


def test_a_painter_sees_each_mark_and_its_severity():
    seen = []
    marked(ONE.as_row(), lambda text, severity: seen.append((text, severity)) or text)
    assert seen == [("{cat}", "minor"), ("{+}", "minor"), ("[hat]", "major")]


def test_each_span_has_a_line():
    row = ONE.as_row()
    assert described(row, HAT.as_row()) == 'major  19-22  "hat"'
    assert described(row, GAP.as_row()) == "minor  12-12  something is missing"
    assert described(row, ErrorSpan(19, 22, "major", category="name").as_row()) == 'major  19-22  "hat"  name'


def test_several_texts_have_their_ids_and_the_legend_stands_once():
    text = explained_text(result(ONE, Explanation("b", "Fine.", ("Fine.",), ())))
    assert text.startswith("1  score -7\nThe {cat} sat {+} on the [hat].\n")
    assert "\n\nb  score 0\nFine.\n\n" in text
    assert text.count("something is missing here") == 1
    assert "here" not in explained_text(result(Explanation("b", "Fine.", ("Fine.",), ())))


def test_texts_with_evidence_are_listed_by_their_least_supported_sentence():
    claim = {"start": 0, "end": 2, "sentence": "A.", "contradiction": 0.1, "evidence": "B.", "reason": None}
    supports = {"sure": (0.9, 0.8), "doubtful": (0.9, 0.1), "fair": (0.5,)}
    rows = [Explanation(i, "A.", (), (), claims=tuple({**claim, "support": x} for x in s)) for i, s in supports.items()]
    text = explained_text(result(*rows))
    assert [line.split()[0] for line in text.splitlines() if "score" in line] == ["doubtful", "fair", "sure"]
    assert [row["id"] for row in result(*rows).rows] == list(supports)  # the file keeps their order


def test_what_would_control_a_terminal_is_shown_as_a_mark():
    row = Explanation("a\x1b[2J", "red \x1b[31m hat", (), (ErrorSpan(4, 9, "major", category="\x1b"),)).as_row()
    assert "\x1b" not in explained_text(result(Explanation("a\x1b[2J", "red \x1b[31m hat", (), ()))) + marked(row)
    assert "\x1b" not in described(row, row["spans"][0])


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\x1b", "\u2028", "\x85"])
def test_so_is_what_stands_alone_between_two_marks(hidden):
    row = Explanation("1", f"a {hidden} b", (), (ErrorSpan(0, 1, "major"), ErrorSpan(4, 5, "major"))).as_row()
    assert hidden not in marked(row)
    assert hidden not in described(row, ErrorSpan(1, 4, "minor").as_row())


def test_totals_count_texts_and_errors():
    rows = [ONE.as_row(), Explanation("b", "Fine.", ("Fine.",), ()).as_row()]
    assert totals(rows) == "2 texts: 1 without a mark, 1 major and 2 minor errors, mean score -3.50"
    assert totals([]) == "0 texts: 0 without a mark, 0 major and 0 minor errors, mean score nan"


def test_spans_that_overlap_are_shown_without_a_character_twice():
    row = Explanation("1", "abcdef", (), (ErrorSpan(0, 4, "major"), ErrorSpan(2, 6, "minor"))).as_row()
    assert marked(row) == "[abcd]{ef}"


def test_pieces_join_to_the_text():
    spans = (ErrorSpan(3, 3, "minor", missing=True), ErrorSpan(4, 7, "major", category="name"))
    found = pieces(Explanation("1", "The Cat sat", (), spans).as_row())
    assert "".join(piece["text"] for piece in found) == "The Cat sat"
    assert [piece["severity"] for piece in found] == [None, "minor", None, "major", None]


def test_every_text_is_escaped():
    evil = "<script>alert(1)</script>"
    one = Explanation(evil, evil, (evil,), (ErrorSpan(0, 8, "major", category=evil),), evil)
    html = explain_html(Explanations((one,), ABOUT, (evil,)).result([{"path": evil, "sha256": evil}]))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '<mark class="major"' in html


def test_a_gap_is_a_plus_and_the_totals_stand_above():
    html = explain_html(
        Explanations((Explanation("1", "a b", ("a c b",), (ErrorSpan(2, 2, "minor", missing=True),)),), ABOUT).result()
    )
    assert ">+</mark>" in html
    assert "1 text: 0 without a mark, 0 major and 1 minor error," in html
