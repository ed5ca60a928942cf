from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
from nlgauge.report.explanation.page import pieces, result_html

ABOUT = {"spec": "explain", "signature": "toy", "higher_is_better": True}


def test_pieces_join_to_the_text():
    spans = (ErrorSpan(3, 3, "minor", missing=True), ErrorSpan(4, 7, "major", category="name"))
    found = pieces(Explanation("1", "The Cat sat", (), spans).as_row())
    assert "".join(piece["text"] for piece in found) == "The Cat sat"
    assert [piece["severity"] for piece in found] == [None, "minor", None, "major", None]


def test_every_text_is_escaped():
    evil = "<script>alert(1)</script>"
    one = Explanation(evil, evil, (evil,), (ErrorSpan(0, 8, "major", category=evil),), evil)
    html = result_html(Explanations((one,), ABOUT, (evil,)).result([{"path": evil, "sha256": evil}]))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '<mark class="major"' in html


def test_a_gap_is_a_plus_and_the_totals_stand_above():
    html = result_html(
        Explanations((Explanation("1", "a b", ("a c b",), (ErrorSpan(2, 2, "minor", missing=True),)),), ABOUT).result()
    )
    assert ">+</mark>" in html
    assert "1 texts: 0 without a mark, 0 major and 1 minor errors" in html
