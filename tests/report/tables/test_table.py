"""Tables of cells, in every form."""

from nlgauge.report.tables.table import Table, comment, latex, markdown

TABLE = Table("scores", ("metric", "x_1"), (("bleu", "1.50"), ("a|b", "-2")), frozenset({(0, 1)}))


def test_text_pads_columns_and_stars_what_is_marked():
    assert TABLE.text().split("\n") == ["scores", "metric    x_1", "------  -----", "bleu    1.50*", "a|b       -2"]


def test_markdown_escapes_bars_and_prints_bold():
    assert TABLE.markdown().split("\n")[-2:] == ["| bleu | **1.50** |", "| a\\|b | -2 |"]


def test_latex_escapes_underscores():
    assert r"x\_1" in TABLE.latex()
    assert r"\textbf{1.50}" in TABLE.latex()


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
