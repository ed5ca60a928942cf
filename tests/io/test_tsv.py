from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.tsv import TsvRows


def rows_of(name):
    rows = TsvRows(InputFile(name))
    return [row for _, row in rows], rows


def test_cells_are_taken_as_they_are(put):
    # no quoting, no escapes, no trimming; a lone CR and U+2028 are text
    found, _ = rows_of(put("a.tsv", 'hyp\tref\n "a ""b\\t \t x\ry\u2028z\n'))
    assert found == [{"hyp": ' "a ""b\\t ', "refs": [" x\ry\u2028z"]}]


def test_empty_cells_are_absent_but_for_the_hypothesis_and_an_only_reference(put):
    found, _ = rows_of(put("a.tsv", "id\tsystem\tseg\tlp\tsrc\thyp\tref\thuman.x\n\t\t\t\t\t\t\t\n"))
    assert found == [
        {
            "id": None,
            "system": None,
            "seg": None,
            "lp": None,
            "src": None,
            "hyp": "",
            "refs": [""],
            "human": {"x": None},
        }
    ]


def test_items_may_have_unequal_numbers_of_references(put):
    found, _ = rows_of(put("a.tsv", "hyp\tref2\tref\tref10\nx\tb\ta\tc\nx\tb\t\t\nx\t\t\t\n"))
    assert [row["refs"] for row in found] == [["a", "b", "c"], ["b"], [""]]


def test_lists_are_json_in_a_cell(put):
    found, _ = rows_of(
        put(
            "a.tsv",
            'hyp\trefs\tcontext\ttable\thuman\thuman.b\nx\t["a\\tb"]\t[{"speaker":"A","text":"t"}]\t[1]\t{"a":1}\t[1,2]\n',
        )
    )
    assert found == [
        {
            "hyp": "x",
            "refs": ["a\tb"],
            "context": [{"speaker": "A", "text": "t"}],
            "table": [1],
            "human": {"a": 1, "b": [1, 2]},
        }
    ]


@pytest.mark.parametrize(
    ("cell", "number"), [("1", 1.0), ("-2.5e3", -2500.0), ("", None), ("nan", None), ("[1,null]", [1, None])]
)
def test_ratings(put, cell, number):
    assert rows_of(put("a.tsv", f"hyp\thuman.x\na\t{cell}\n"))[0] == [{"hyp": "a", "human": {"x": number}}]


def test_unknown_columns_are_left_out_and_told(put):
    found, rows = rows_of(put("a.tsv", "hyp\tdomain\t\t\nx\ty\tz\tz\n"))
    assert found == [{"hyp": "x"}]
    assert rows.ignored == ["domain", "", ""]


def test_blank_lines(put):
    found, rows = rows_of(put("a.tsv", "hyp\tref\na\tb\n\n\n"))
    assert len(found) == 1
    assert rows.notes() == ["a.tsv: 2 blank lines skipped"]
    assert rows_of(put("b.tsv", "hyp\na\n\nb\n"))[0] == [
        {"hyp": "a"},
        {"hyp": ""},
        {"hyp": "b"},
    ]  # with one column it is an empty hypothesis


def test_byte_order_mark_and_crlf(put):
    found, rows = rows_of(put("a.tsv", "\ufeffhyp\tref\r\na\tb\r\n"))
    assert found == [{"hyp": "a", "refs": ["b"]}]
    assert rows.notes() == ["a.tsv: byte order mark dropped", "a.tsv: CR before LF dropped (2 lines)"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "hypothesis\tref\nx\ty\n",
            "a.tsv:1: the header has no column 'hyp'; columns found: 'hypothesis', 'ref'"
            "; if these are the texts, name them as columns: hyp=hypothesis",
        ),
        ("\nx\n", "a.tsv:1: the header has no column 'hyp'; columns found: ''"),
        ("hyp\tref\tref\nx\ty\tz\n", "a.tsv:1: the header names column 'ref' twice"),
        ("hyp\thuman.a\thuman.a\nx\t1\t2\n", "a.tsv:1: the header names column 'human.a' twice"),
        (
            "hyp\tref\nx\ty\nx\n",
            "a.tsv:3: 1 cell, expected 2 as in the header; a text must hold no tab and no line break",
        ),
        (
            "hyp\tref\nx\ty\tz\n",
            "a.tsv:2: 3 cells, expected 2 as in the header; a text must hold no tab and no line break",
        ),
        ("hyp\thuman.x\nx\tgood\n", "a.tsv:2: field 'human.x' is 'good', expected a number"),
        (
            "hyp\thuman.x\nx\t[1\n",
            "a.tsv:2: field 'human.x' is not valid JSON, expected a number or a list of numbers in the cell",
        ),
        (
            "hyp\trefs\nx\ta text\n",
            (
                "a.tsv:2: field 'refs' is not valid JSON, expected a list of strings in the cell; write a single"
                " reference into a column 'ref'"
            ),
        ),
        ('hyp\trefs\tref1\nx\t["a"]\tb\n', "a.tsv:2: fields 'refs' and 'ref1' are both given, expected one of them"),
        ("hyp\tcontext\nx\thi\n", "a.tsv:2: field 'context' is not valid JSON, expected a list of turns in the cell"),
    ],
)
def test_what_is_wrong_is_named_by_line(put, content, says):
    with pytest.raises(InputError) as error:
        rows_of(put("a.tsv", content))
    assert str(error.value) == says
