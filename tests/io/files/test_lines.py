from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.io.files import files
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines, counted, number, ordinal
from nlgauge.io.marked.read import read_marked
from nlgauge.io.preferences import read_relative_ranks
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.da import read_da_scores
from nlgauge.io.wmt.esa import read_esa_scores
from nlgauge.io.wmt.mqm import read_mqm, read_mqm_averages, read_ratings

characters = st.characters(exclude_categories=["Cs"])  # surrogates are no UTF-8


def lines_of(name):
    lines = Lines(InputFile(name))
    return [text for _, text in lines], lines


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\na", ["", "a"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_the_last_line_may_end_or_not(put, content, expected):
    texts, lines = lines_of(put("a.txt", content))
    assert texts == expected
    assert lines.count == len(expected)
    assert lines.notes() == []


@pytest.mark.parametrize(
    "kept", ["\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\0", "\ufeff"]
)
def test_only_lf_splits(put, kept):
    texts, lines = lines_of(put("a.txt", f"a{kept}b\nc\n"))
    assert texts == [f"a{kept}b", "c"]
    assert lines.notes() == []


def test_one_cr_before_lf_is_dropped(put):
    # the second line keeps the first of its two CR, the last CR stands before no LF
    texts, lines = lines_of(put("a.txt", "a\r\nb\r\r\nc\nd\r"))
    assert texts == ["a", "b\r", "c", "d\r"]
    assert lines.notes() == []  # nothing is wrong with it


def test_byte_order_mark_is_dropped_once(put):
    texts, lines = lines_of(put("a.txt", "\ufeff\ufeffa\n\ufeffb\n"))
    assert texts == ["\ufeffa", "\ufeffb"]
    assert lines.notes() == []


def test_nothing_but_a_byte_order_mark_is_no_line(put):
    assert lines_of(put("a.txt", "\ufeff"))[0] == []


def test_numbers_start_at_one_and_passes_repeat(put):
    lines = Lines(InputFile(put("a.txt", "a\r\nb\n")))
    assert list(lines) == list(lines) == [(1, "a"), (2, "b")]
    assert lines.count == 2  # not summed over passes


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line", "offset"),
    [
        (b"ab\n\xff\n", 2, 3),
        (b"\xff", 1, 0),
        (b"a\nb\n\xc3\xa9\xc3\n", 3, 6),  # a lead byte whose second byte is missing
        (b"a\nb\xe2\x82", 2, 3),  # the file ends inside a character
        (b"a\n\xed\xa0\x80", 2, 2),  # an encoded surrogate
    ],
)
def test_not_utf8_is_named_by_line_and_byte(put, monkeypatch, chunk, content, line, offset):
    monkeypatch.setattr(files, "_CHUNK", chunk)
    with pytest.raises(InputError) as error:
        lines_of(put("a.txt", content))
    told = f"a.txt:{line}: not UTF-8 (byte 0x{content[offset]:02x} at offset {offset}); it may be "
    assert str(error.value).startswith(told)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["\ufefftext", "no mark, but every second byte is 0"])
def test_utf16_is_recognised(put, encoding, text):
    with pytest.raises(InputError, match=r"^a\.txt:1: not UTF-8.* iconv -f UTF-16 -t UTF-8 a\.txt > utf8-a\.txt$"):
        lines_of(put("a.txt", text.encode(encoding)))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("naïve café", "WINDOWS-1252"),
        ("Сегодня идёт дождь", "WINDOWS-1251"),
        ("Сегодня идёт дождь", "KOI8-R"),
        ("今日はあめがふっています", "SHIFT_JIS"),
        ("오늘은 비가 많이 옵니다", "EUC-KR"),
        ("今天下雨了，我们回家吧", "GB18030"),
    ],
)
def test_a_file_that_is_no_utf8_names_the_command_that_converts_it(put, text, encoding):
    with pytest.raises(InputError) as error:
        lines_of(put("a b.txt", (text + "\n").encode(encoding)))
    assert str(error.value).endswith(
        f"it may be {encoding}: convert it with iconv -f {encoding} -t UTF-8 'a b.txt' > utf8-'a b.txt'"
    )


def test_bad_rows_are_counted_and_the_first_five_named():
    faults = Faults("a.tsv")
    faults.check()
    faults.add("a.tsv:3", "2 cells, expected 3")
    with pytest.raises(InputError, match=r"^a\.tsv:3: 2 cells, expected 3$"):
        faults.check()
    for line in (5, 6, 9, 12, 40, 41):
        faults.add(f"a.tsv:{line}", "4 cells, expected 3")
    with pytest.raises(InputError, match=r"^a\.tsv:3: 2 cells, expected 3; 7 rows are bad: 3, 5, 6, 9, 12, \.\.\.$"):
        faults.check()


def test_a_file_of_another_kind_is_not_read_to_its_end_for_a_number():
    faults = Faults("a.tsv")
    for line in range(1, 1000):
        faults.add(f"a.tsv:{line}", "no")
    with pytest.raises(InputError, match=r"^a\.tsv:1: no; 1000 rows and perhaps more are bad: 1, 2, 3, 4, 5, \.\.\.$"):
        faults.add("a.tsv:1000", "no")


@given(
    texts=st.lists(st.text(characters.filter(lambda c: c not in "\n\r"), max_size=12), max_size=8),
    ended=st.booleans(),
    chunk=st.integers(1, 9),
)
def test_lines_come_back_as_written(texts, ended, chunk):
    # whatever the size of the pieces read; only a byte order mark at the very beginning is not text
    if texts and texts[0].startswith("\ufeff"):
        texts[0] = "x" + texts[0]
    if texts and not ended and not texts[-1]:
        ended = True  # "a\n" + "" without its LF is "a\n": nothing shows that an empty line was meant
    content = "\n".join(texts) + ("\n" if texts and ended else "")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHUNK", chunk)
        path = Path(folder, "a.txt")
        path.write_bytes(content.encode())
        assert lines_of(path)[0] == texts


@pytest.mark.parametrize("cell", ["", " ", "None", "none", "nan", "NaN", "NA", "null", "None\r"])
def test_what_stands_for_no_number(cell):
    assert math.isnan(number(cell))


@pytest.mark.parametrize(
    ("cell", "value"), [("1", 1.0), ("-0.5", -0.5), ("+.5e-3", 0.0005), ("5.", 5.0), (" 2\r", 2.0), ("1E2", 100.0)]
)
def test_numbers(cell, value):
    assert number(cell) == value


# Python's float() takes every one of these but "0,5", "x" and "1e999"
@pytest.mark.parametrize("cell", ["1_000", "inf", "-Infinity", "١", "0x1p3", "1e999", "0,5", "x", "1 2", "--1"])
def test_what_is_neither_is_refused(cell):
    with pytest.raises(ValueError, match=r"expected a (finite )?number|too large"):
        number(cell)


def test_a_comma_gets_advice():
    with pytest.raises(ValueError, match=r"^'0,5', expected a number or None; write the decimal mark as a dot$"):
        number("0,5")


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_what_repr_writes_is_the_same_float(value):
    assert number(repr(value)) == value


@pytest.mark.parametrize("cell", ["0", "-1", "1.0", "", "٣", "+1", "x"])
def test_ordinals_count_from_one(cell):
    assert ordinal("12") == 12
    with pytest.raises(ValueError, match="expected a whole number from 1"):
        ordinal(cell)


def test_counts_in_words():
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert counted(2, "entry", "entries") == "2 entries"


DA = "LP DATA SYSTEM SID HUMAN\ncs-en nt A 1 0.5\ncs-en nt B 1 0.6\n"
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nA\td\t1\t1\tr\tin\tout\tStyle\tMajor\n"
SPANS = "segment_id\tstart_indices\tend_indices\terror_types\n1\t-1\t-1\tno-error\n"


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("DA-seglevel.csv", DA, lambda path: read_da_scores(path).keys),
        (
            "RR-seglevel.csv",
            "LP DATA SID BETTER WORSE\ncs-en nt 1 A B 9\n",
            lambda path: read_relative_ranks(path).pairs,
        ),
        ("mqm.avg", "system mqm_avg_score seg_id\nA -1 1\n", lambda path: read_mqm_averages(path).keys),
        ("mqm.tsv", MQM, lambda path: [mark.target for mark in read_mqm(path).marks]),
        ("en-de.mqm.seg.rating", 'A\t{"errors": []}\n', lambda path: read_ratings(path).keys),
        ("BLEU-refA.seg.score", "A 1\nA 2\nB 3\nB 4\n", lambda path: read_scores(path).keys),
        ("BLEU-refA.sys.score", "A\t1\nB\t3\n", lambda path: read_scores(path).keys),
        ("m.seg.score", "m\tcs-en\tnt\tA\t1\t0.5\n", lambda path: read_scores(path).keys),
        ("esa.csv", "r,A,1,TGT,eng,jpn,50,doc,False,[],1,2\n", lambda path: read_esa_scores(path).keys),
        ("spans.tsv", SPANS, read_marked),
        ("spans.seg.rating", 'A\t{"errors": []}\n', read_marked),
    ],
)
def test_blank_lines_in_the_files_of_shared_tasks_say_nothing(put, name, text, read):
    first, _, rest = text.partition("\n")
    plain = read(put(name, text))
    for padded in (text + "\n", text + " \t\n\n", f"\n{first}\n\n{rest}"):
        assert read(put(name, padded)) == plain
