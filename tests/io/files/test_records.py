from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.records import Records, cells_between_tabs

cells = st.lists(st.text(st.sampled_from('ab ",\n\t|é'), max_size=6), min_size=2, max_size=4).filter(any)


def records(put, name, content, delimiter=","):
    return Records(InputFile(put(name, content)), delimiter)


@given(rows=st.lists(cells, min_size=1, max_size=4), mark=st.sampled_from(",;\t"))
def test_what_the_standard_library_writes_is_read_back(rows, mark, tmp_path_factory):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", delimiter=mark).writerows([["hyp", "ref"], *rows])
    path = tmp_path_factory.getbasetemp() / "records.csv"
    path.write_text(written.getvalue(), encoding="utf-8")
    kept = [row for row in rows if "".join(row).strip(" \t")]  # others are rows of separators, or of blanks
    assert [row for _, row in Records(InputFile(path)) if "".join(row).strip(" \t")] == [["hyp", "ref"], *kept]


def test_quotes_inside_an_unquoted_cell_are_text_and_line_numbers_count_lines(put):
    found = records(put, "a.csv", 'a,5" disk\n"b\nc",d\n\n"e ""f""",g\n')
    assert list(found) == [(1, ["a", '5" disk']), (2, ["b\nc", "d"]), (5, ['e "f"', "g"])]
    assert found.notes() == ["a.csv: 1 blank line skipped"]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_rows_of_separators_alone_are_skipped_as_blank_lines_are(put, name, mark):
    content = f"hyp{mark}ref\r\na{mark}b\r\n{mark}\r\n{mark}{mark} \r\nc{mark}d\r\n{mark}\r\n"
    found = records(put, name, content, "\t" if mark == "\t" else ",")
    assert list(found) == [(1, ["hyp", "ref"]), (2, ["a", "b"]), (5, ["c", "d"])]
    assert found.notes() == [f"{name}: 3 blank lines skipped"]


@pytest.mark.parametrize(
    "content",
    [
        "hyp,ref\nit rains; a lot,yes\n",
        'hyp;ref\n"it rains; a lot";yes\n',
        'sep=;\r\nhyp;ref\r\n"it rains; a lot";yes\r\n',
        '"sep=;"\nhyp;ref\n"it rains; a lot";yes\n',
        "sep=,\nhyp,ref\nit rains; a lot,yes\n",
        "hyp\tref\nit rains; a lot\tyes\n",
        "hyp,ref\rit rains; a lot,yes\r",
        "hyp, ref\nit rains; a lot, yes\n",
        'hyp, ref\n"it rains; a lot", "yes"\n',
        " hyp ,ref\r\rit rains; a lot,yes",
        "\ufeffsep=|\nhyp|ref\nit rains; a lot|yes\n",
    ],
)
def test_the_header_tells_how_a_spreadsheet_parted_the_cells(put, content):
    assert [cells for _, cells in records(put, "a.csv", content)] == [["hyp", "ref"], ["it rains; a lot", "yes"]]


def test_lines_that_end_in_cr_are_numbered(put):
    assert list(records(put, "a.csv", 'h,"r"\r"a\rb",c\r')) == [(1, ["h", "r"]), (2, ["a\nb", "c"])]
    with pytest.raises(InputError, match=r"^a\.csv:3: a double quote that begins a cell in this row is never closed"):
        list(records(put, "a.csv", 'h,r\rb,c\r"a,c\r'))


def test_a_cr_in_a_text_ends_no_line(put):
    assert list(records(put, "a.tsv", "hyp\tref\na\rb\tc\n", "\t")) == [(1, ["hyp", "ref"]), (2, ["a\rb", "c"])]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('"the ""safe"" bridge"', 'the "safe" bridge'),
        ('"""Hi"""', '"Hi"'),
        ('""""', '"'),
        ('"so" it rains', '"so" it rains'),  # the others are texts of a file without quoting
        ('"so it rains"', '"so it rains"'),
        ('""so"" it rains', '""so"" it rains'),
        ('""so""', '""so""'),
        ('a ""b"" c', 'a ""b"" c'),
        ('"a ""b" c"', '"a ""b" c"'),
        ('""', '""'),
        ('"', '"'),
    ],
)
def test_a_cell_between_tabs_is_unquoted_where_the_sign_is_sure(cell, text):
    assert cells_between_tabs(f"x\t{cell}\t") == ["x", text, ""]


def test_cells_between_tabs_are_all_quoted_where_the_header_is(put):
    content = '"hyp"\t"ref"\n"it rains"\t"a\tb ""c"""\n"d\ne"\tf\n'
    assert [row for _, row in records(put, "a.tsv", content, "\t")] == [
        ["hyp", "ref"],
        ["it rains", 'a\tb "c"'],
        ["d\ne", "f"],
    ]
