"""Rows as one flat table: every field of the result file, what its metric was, and how it was compared."""

import csv as reader
import io

from nlgauge.core.result import Result
from nlgauge.report.flat import csv, tsv

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
