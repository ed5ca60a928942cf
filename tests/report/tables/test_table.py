"""Tables of cells, in every form."""

from nlgauge.core.result import Result
from nlgauge.report.tables.table import Table, tsv

TABLE = Table("scores", ("metric", "x_1"), (("bleu", "1.50"), ("a|b", "-2")), frozenset({(0, 1)}))


def test_text_pads_columns_and_stars_what_is_marked():
    assert TABLE.text().split("\n") == ["scores", "metric    x_1", "------  -----", "bleu    1.50*", "a|b       -2"]


def test_markdown_escapes_bars_and_prints_bold():
    assert TABLE.markdown().split("\n")[-2:] == ["| bleu | **1.50** |", "| a\\|b | -2 |"]


def test_latex_escapes_underscores():
    assert r"x\_1" in TABLE.latex()
    assert r"\textbf{1.50}" in TABLE.latex()


def test_tsv_has_every_field_and_nothing_for_nan():
    result = Result("audit", [{"a": 0.5, "b": float("nan")}, {"a": 1, "c": "x\ty"}])
    assert tsv(result).split("\n") == ["a\tb\tc", "0.5\t\t", "1\t\tx y"]
