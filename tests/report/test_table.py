"""Tables of cells, in every form."""

from dataclasses import replace

import pytest

from nlgauge.report.table import Table, comment, latex, markdown

TABLE = Table("scores", ("metric", "x_1"), (("bleu", "1.50"), ("a|b", "-2")), frozenset({(0, 1)}))


def test_text_pads_columns_and_stars_what_is_marked():
    assert TABLE.text().split("\n") == ["scores", "metric    x_1", "------  -----", "bleu    1.50*", "a|b       -2"]


def test_markdown_escapes_bars_and_prints_bold():
    assert TABLE.markdown().split("\n")[-2:] == ["| bleu | **1.50** |", "| a\\|b | -2 |"]


def test_latex_escapes_underscores():
    assert r"x\_1" in TABLE.latex()
    assert r"\textbf{1.50}" in TABLE.latex()


def test_latex_has_a_caption_a_label_and_no_blank_in_bold():
    lines = replace(TABLE, title="p of x_1: 5 %", body=(("bleu", "1.50 "), ("a", "2"))).latex().split("\n")
    above = [r"\begin{table}", r"\centering", r"\caption{p of x\_1: 5 \%}", r"\label{tab:p-of-x-1-5}"]
    assert lines[:5] == [*above, r"\begin{tabular}{lr}"]
    assert r"bleu & \textbf{1.50} \\" in lines
    assert lines[-2:] == [r"\end{tabular}", r"\end{table}"]
    assert replace(TABLE, title="").latex().startswith(r"\begin{tabular}")


def test_latex_escapes_what_its_first_encoding_has_no_glyph_for():
    assert latex("a<b>c|d\\") == r"a\textless{}b\textgreater{}c\textbar{}d\textbackslash{}"
    assert [latex("[a]"), latex("*")] == ["{}[a]", "{}*"]  # no option of the line break before
    assert comment("one\ntwo") == "% one two"  # a line end would print what follows


def test_markdown_shows_stars_and_angles_as_they_are():
    assert markdown("0.5*bleu + <b>, p < 1") == r"0.5\*bleu + \<b>, p < 1"


def test_what_signs_mean_travels_with_the_table():
    table = Table("t", ("m", "x"), (("a", "1"),), frozenset({(0, 1)}), marked_as="best", legend=("~ unsure",))
    assert table.text().split("\n")[-2:] == ["* best", "~ unsure"]
    assert table.markdown().split("\n")[-3:] == ["", "bold: best  ", "~ unsure"]
    assert r"\multicolumn{2}{l}{\footnotesize bold: best} \\" in table.latex().split("\n")
    assert r"\multicolumn{2}{l}{\footnotesize \textasciitilde{} unsure} \\" in table.latex().split("\n")
    assert "best" not in Table("t", ("m",), (("a",),), marked_as="best").text()  # nothing is marked


def test_wide_characters_take_two_columns():
    lines = Table("", ("system", "x"), (("系统", "1"), ("e\u0301", "2"))).text().split("\n")
    assert lines == ["system  x", "------  -", "系统    1", "e\u0301       2"]


def test_a_line_feed_or_a_control_character_in_a_name_breaks_no_table():
    table = Table("", ("sys\ntem", "m"), (("a\nb\r", "1"), ("\x1b[2J\u202e", "2")))
    assert table.text().split("\n") == ["sys tem  m", "-------  -", "a b      1", "\ufffd[2J\ufffd    2"]
    for form in (table.text(), table.markdown(), table.latex()):
        assert not {"\x1b", "\u202e", "\r"} & set(form)
    assert [line.count("|") for line in table.markdown().split("\n")] == [3, 3, 3, 3]
    assert table.latex().count(r"\\") == 3  # the header and two rows


@pytest.mark.parametrize("name", ["[1cm] x", "*x", "[", "*"])
def test_a_name_that_begins_as_an_option_is_no_option_of_the_line_break_before(name):
    rows = Table("", ("system", "m"), (("a", "1"), (name, "2"))).latex().split("\n")
    assert rows[5] == f"{{}}{name} & 2 \\\\"
