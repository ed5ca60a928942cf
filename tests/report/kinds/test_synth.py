"""The table of a synthesis, worked on rows written out."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.result import Result
from nlgauge.report.kinds.synth import MOST, ladder_text, ladders_html, rungs, synth_head, synth_table
from nlgauge.report.labels import columns

NAN = float("nan")


def row(operation, edits, share, severity, major, score=NAN):
    return {
        "operation": operation,
        "texts": 2,
        "edits": edits,
        "share": share,
        "severity": severity,
        "major": major,
        "score": score,
    }


def test_each_operation_has_a_line_and_all_have_one():
    rows = [row("delete", 1, 0.25, -5.0, 1.0), row("swap", 3, 0.75, -1.5, NAN), row("all", 4, 1.0, -2.375, NAN, -4.75)]
    result = Result("synth", rows)
    assert synth_head(result) == "2 triples, 2.00 edits each on the mean, mean score -4.75"
    assert synth_table(result).body == (
        ("delete", "1", "25.0 %", "-5.00", "100.0 %"),
        ("swap", "3", "75.0 %", "-1.50", "-"),  # graded severities have no share of major ones
        ("all", "4", "100.0 %", "-2.38", "-"),  # -2.375, to even
    )


def test_without_edits_there_is_no_table():
    result = Result("synth", [row("all", 0, NAN, NAN, NAN)])
    assert synth_head(result) == "no triples: every text was left alone"
    assert synth_table(result) is None


# --- The ladder of a synthesis, worked by hand: its marks are those of wdiff, and no text can break out of it

ROW = {
    "id": "s1",
    "refs": ["The old ferry leaves, at last."],
    "score": -12.0,
    "hyp": "The tiny ferry at, leaves very last",
    "steps": [
        {
            "operation": "replace",
            "start": 4,
            "end": 7,
            "new": "tiny",
            "severity": -5.0,
            "text": "The tiny ferry leaves, at last.",
        },
        {
            "operation": "insert",
            "start": 26,
            "end": 26,
            "new": "very ",
            "severity": -1.0,
            "text": "The tiny ferry leaves, at very last.",
        },
        {
            "operation": "swap",
            "start": 15,
            "end": 25,
            "new": "at, leaves",
            "severity": -1.0,
            "text": "The tiny ferry at, leaves very last.",
        },
        {
            "operation": "delete",
            "start": 35,
            "end": 36,
            "new": "",
            "severity": -5.0,
            "text": "The tiny ferry at, leaves very last",
        },
    ],
}


def ladder_row(*steps, text="a b c", score=-1.0):
    return {"refs": [text], "score": score, "steps": [dict(step, severity=-1.0) for step in steps]}


def test_each_edit_is_marked_where_it_happened():
    assert [one[1:] for one in rungs(ROW)] == [
        ("", None),
        ("replace", -5),
        ("insert", -1),
        ("swap", -1),
        ("delete", -5),
    ]
    assert rungs(ROW)[1][0] == (("", "The "), ("gone", "old"), ("new", "tiny"), ("", " ferry leaves, at last."))
    assert rungs(ROW)[2][0] == (("", "The tiny ferry leaves, at "), ("new", "very"), ("", " last."))
    assert rungs(ROW)[4][0] == (("", "The tiny ferry at, leaves very last"), ("gone", "."))


def test_the_two_that_changed_places_are_marked_and_not_what_stands_between():
    one = ladder_row({"operation": "swap", "start": 0, "end": 5, "new": "c b a", "text": "c b a"})
    assert rungs(one)[1][0] == (("moved", "c"), ("", " b "), ("moved", "a"))


def test_a_mark_and_a_word_that_changed_places_are_marked_without_the_blanks():
    one = ladder_row({"operation": "swap", "start": 1, "end": 6, "new": ". b c", "text": "a. b c"}, text="a c b.")
    assert rungs(one)[1][0] == (("", "a"), ("moved", "."), ("", " b "), ("moved", "c"))


def test_blanks_that_go_with_a_word_are_shown_once():
    one = ladder_row({"operation": "delete", "start": 2, "end": 4, "new": "", "text": "a c"})
    assert rungs(one)[1][0] == (("", "a "), ("gone", "b"), ("", " c"))


def test_in_a_terminal_the_edits_are_marked_as_wdiff_marks_them():
    assert ladder_text(ROW, 90).split("\n") == [
        "s1  score −12",
        "0                  The old ferry leaves, at last.",
        "1  replace     −5  The [-old-]{+tiny+} ferry leaves, at last.",
        "2  insert      −1  The tiny ferry leaves, at {+very+} last.",
        "3  swap        −1  The tiny ferry {~at~}, {~leaves~} very last.",
        "4  delete      −5  The tiny ferry at, leaves very last[-.-]",
    ]


@given(st.integers(24, 100), st.text(max_size=60))
def test_lines_fit_the_width_and_hold_nothing_a_terminal_obeys(width, text):
    one = ladder_row({"operation": "insert", "start": 0, "end": 0, "new": f"{text} ", "text": f"{text} a b c"})
    shown = ladder_text({**one, "id": text}, max(width, 60))
    assert not [c for c in shown if c != "\n" and unicodedata.category(c) == "Cc"]
    assert all(columns(line) <= max(width, 60) for line in shown.split("\n")[1:])


def test_a_page_shows_marks_by_more_than_colour_and_escapes_texts():
    nasty = '<script>alert(1)</script> & "b"'
    page = ladders_html(
        [
            {**ROW, "id": nasty},
            ladder_row({"operation": "insert", "start": 0, "end": 0, "new": f"{nasty} ", "text": f"{nasty} a b c"}),
        ],
        f"synthesis:stratified|infill:{nasty}",
        [nasty],
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4
    assert "<del>old</del><ins>tiny</ins>" in page
    assert re.search(r"ins \{[^}]*underline", page)
    assert re.search(r"del \{[^}]*line-through", page)
    assert "score −12" in page
    assert "http" not in page.replace("Content-Security-Policy", "").replace("http-equiv", "")


def test_a_page_of_many_shows_the_first():
    page = ladders_html([ROW] * (MOST + 1), "synthesis:stratified")
    assert page.count("<h2>") == MOST + 1  # and the signature
    assert f"The first {MOST} of {MOST + 1}." in page
