"""What tables and pages ask of rows, worked on rows written out."""

import csv as reader
import io
from dataclasses import replace

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.result import KINDS, Result
from nlgauge.report.pages import page
from nlgauge.report.tables import (
    Kind,
    Table,
    absent,
    between,
    by_keys,
    claim_of,
    comment,
    compared,
    csv,
    descending,
    kind_of,
    latex,
    markdown,
    means_last,
    measured,
    number,
    p_values,
    percent,
    points_of,
    rank_rule,
    tsv,
    values_of,
    weight_tasks,
    whole,
    with_interval,
)
from nlgauge.report.text import parts_of, printed, render


def test_means_stand_last():
    assert means_last(["mean-all", "b", "a", "b"]) == ["b", "a", "mean-all"]


def test_rows_are_grouped_in_order_of_appearance():
    rows = [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 3}]
    assert values_of(rows, "a") == [2, 1]
    assert by_keys(rows, "a") == {(2,): [rows[0], rows[2]], (1,): [rows[1]]}
    assert list(by_keys(rows, "a", "b")) == [(2, 1), (1, 1), (2, 3)]


def test_tests_stand_apart_from_values_and_their_adjusted_p_counts():
    rows = [
        {"metric": "a", "value": 1.0},
        {"metric": "a", "against": None},
        {"metric": "a", "against": "b", "p": 0.1, "p_adjusted": 0.2, "alternative": "greater"},
        {"metric": "b", "against": "a", "p": 0.9, "alternative": "two-sided"},
    ]
    assert measured(rows) == rows[:2]
    assert compared(rows) == rows[2:]
    assert p_values(compared(rows)) == {("a", "b"): 0.2, ("b", "a"): 0.9}
    assert [claim_of(row) for row in compared(rows)] == ["row better than column", "row and column differ"]


def test_of_a_sweep_the_means_over_sets_are_the_whole():
    def point(dataset, metric="m", phenomenon="mean-all", stat="pearson"):
        about = {"dataset": dataset, "suite": dataset, "metric": metric, "phenomenon": phenomenon}
        return {**about, "stat": stat, "criterion": "q", "level": "item"}

    rows = [point("d"), point("mean"), point("mean", "mean"), point("d", phenomenon="mean-adequacy"), point(None)]
    assert points_of(rows, "mean-all") == rows[:2]
    assert whole(rows) == [rows[1]]
    assert whole(rows, "mean-adequacy") == [rows[3]]  # one set: no mean over sets
    assert list(weight_tasks([*rows, point("d", stat=None)])) == [("pearson", "q", "item")]


NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (NAN, "undefined"), (None, "undefined"), (-0.5, "-0.500"), (-0.0001, "0.000")],
)
def test_numbers_are_shown_with_so_many_digits(value, shown):
    assert number(value, 3) == shown


def test_a_sign_and_a_word_of_ones_own():
    assert (number(0.5, 1, sign="+"), number(-0.5, 1, sign="+")) == ("+0.5", "-0.5")
    assert number(NAN, missing="") == ""


def test_a_change_in_per_cent():
    assert (percent(0.125), percent(-0.5), percent(NAN)) == ("+12.5 %", "-50.0 %", "undefined")


def test_intervals_on_a_page_and_in_a_cell():
    assert (between(0.1, 0.25, 2), between(None, None), between(NAN, NAN)) == ("0.10 to 0.25", "", "")
    assert with_interval({"low": 0.1, "high": 0.25}, "0.2", 2) == "0.2 [0.10, 0.25]"
    assert with_interval({"low": None, "high": None}, "0.2", 2) == "0.2"
    assert with_interval({}, "0.2", 2) == "0.2"


def test_the_greatest_comes_first_and_what_is_absent_last():
    assert sorted([0.1, NAN, 0.5, -1.0], key=descending)[:3] == [0.5, 0.1, -1.0]
    assert sorted([None, 0.5], key=descending) == [0.5, None]


def test_what_is_absent():
    assert [absent(value) for value in (None, NAN, 0.0, 1)] == [True, True, False, False]


# --- Tables of cells, in every form

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


def test_a_rule_stands_above_its_line_but_in_markdown():
    ruled = replace(TABLE, marked=frozenset(), ruled=frozenset({1}))
    assert ruled.text().split("\n") == [
        "scores",
        "metric   x_1",
        "------  ----",
        "bleu    1.50",
        "------  ----",
        "a|b       -2",
    ]
    assert "1.50 \\\\\n\\midrule\na\\textbar{}b" in ruled.latex()
    assert ruled.markdown() == replace(ruled, ruled=frozenset()).markdown()


def test_the_rule_of_ranks_is_that_of_metrics_where_systems_have_one_too():
    systems, metrics = "rank: a rank begins where every system above is better", "rank: a metric opens a rank"
    assert rank_rule([systems, metrics]) == "a metric opens a rank"
    assert rank_rule([systems]) == rank_rule([])


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


# --- Rows as one flat table: every field of the result file, what its metric was, and how it was compared

METRIC = {"spec": "m", "signature": "metric:m", "higher_is_better": False}


def test_tsv_has_every_field_and_nothing_for_nan():
    result = Result("audit", [{"a": 0.5, "b": float("nan")}, {"a": 1, "c": "x\ty"}])
    assert tsv(result).split("\n") == ["a\tb\tc", "0.5\t\t", "1\t\tx y"]


def test_numbers_are_in_full():
    assert tsv(Result("meta", [{"metric": "k", "value": 1 / 3}])).split("\n")[1] == f"k\t{1 / 3!r}"


def test_csv_quotes_what_it_must():
    text = csv(Result("score", [{"system": 'a, "b"\nc', "value": 0.1}]))
    assert list(reader.reader(io.StringIO(text))) == [["system", "value"], ['a, "b"\nc', "0.1"]]


def test_rows_bring_the_signature_of_their_metric_and_the_settings_of_the_test():
    rows = [{"metric": "m", "value": 1.0}, {"metric": "sum of two", "value": 2.0}]
    settings = {"test": "bootstrap", "draws": 1000, "seed": 0, "adjust": None}
    assert csv(Result("score", rows, metrics=[METRIC], settings=settings)).split("\n") == [
        "metric,value,signature,higher_is_better,test,draws,seed",
        "m,1.0,metric:m,False,bootstrap,1000,0",
        "sum of two,2.0,,,bootstrap,1000,0",
    ]


def test_a_field_of_the_rows_is_not_given_twice():
    result = Result("meta", [{"metric": "m", "test": "williams"}], settings={"test": "williams", "seed": 0})
    assert tsv(result).split("\n")[0] == "metric\ttest\tseed"


def test_of_people_alone_the_rows_are_theirs():
    people = [{"system": "a", "value": 4.5, "rank": None}]
    assert csv(Result("meta", (), people=people, settings={"draws": 9})).split("\n") == ["system,value,rank", "a,4.5,"]
    assert csv(Result("meta", [{"metric": "m"}], people=people)).split("\n") == ["metric", "m"]


def test_no_cell_is_a_formula_in_a_spreadsheet():
    names = ["=1+1", "+a", "-a", "@x", "＝x", "-0.5", "plain", "a=b"]
    rows = [{"system": name, "metric": "m", "value": -0.25, "n": -3} for name in names]
    result = Result("score", rows=rows)
    shown = ["'=1+1", "'+a", "'-a", "'@x", "'＝x", "-0.5", "plain", "a=b"]
    assert [line.split("\t") for line in tsv(result, spreadsheet=True).split("\n")[1:]] == [
        [name, "m", "-0.25", "-3"] for name in shown
    ]
    assert [row[0] for row in reader.reader(io.StringIO(csv(result, spreadsheet=True)))][1:] == shown
    assert [row[0] for row in reader.reader(io.StringIO(csv(result)))][1:] == names
    blank = Result("score", rows=[{"system": mark + "=1", "value": 1.0} for mark in "\t\r"])
    assert "'\t=1" in csv(blank, spreadsheet=True)
    assert "'\r=1" in csv(blank, spreadsheet=True)


# --- The table of kinds: each has a module that shows it, and every form is there or refused


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_tables_or_a_page_of_its_own(name):
    kind = kind_of(name)
    assert kind.parts or kind.page
    assert bool(kind.page) is not bool(kind.heading)  # what has a page of its own says its heading there


@pytest.mark.parametrize("name", [name for name in KINDS if kind_of(name).parts])
def test_a_result_without_rows_is_shown_too(name):
    pytest.importorskip("jinja2")
    empty = Result(name, [], notes=["a note"])
    assert "a note" in render(empty, "markdown")
    assert "<h1>" in page(empty)
    assert isinstance(printed(empty), str)


def test_what_is_of_no_kind_shows_nothing():
    assert kind_of("list") == Kind()
    listed = Result("list", [{"metric": "bleu"}])
    with pytest.raises(InputError, match="a result of kind 'list' has no tables"):
        render(listed)
    assert printed(listed) == "metric\nbleu"
    (table,) = parts_of(listed)
    assert table.body == (("bleu",),)
