import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.tables import Key
from nlgauge.io.read import open_data
from nlgauge.io.wmt.annotations import (
    is_esa,
    read_da_scores,
    read_esa_scores,
    read_mqm,
    read_mqm_averages,
)

PARTS = {"source": "eins\nzwei\n", "reference": "one\ntwo\n", "mt-system": "a one\n two \n", "human": "0.25\n-1e-1\n"}


@pytest.fixture
def folder(put):
    def make(changes=(), prefix="newstest2015", lp="de-en"):
        for part, content in {**PARTS, **dict(changes)}.items():
            if content is not None:
                put(f"da/{prefix}.{part}.{lp}", content)
        return "da"

    return make


@pytest.mark.parametrize("prefix", ["newstest2015", "DAseg.newstest2016"])
def test_four_files_become_segments(folder, prefix):
    data = ng.read(folder(prefix=prefix))
    assert data.segments == (
        ng.Segment("de-en:1", "a one", ("one",), "eins", None, "1", "de-en", {"da_z": 0.25}),
        ng.Segment("de-en:2", " two ", ("two",), "zwei", None, "2", "de-en", {"da_z": -0.1}),
    )
    assert len(open_data("da").check().inputs) == 4


def test_language_pairs_are_sorted_and_may_be_packed(folder, put):
    folder(lp="ru-en")
    folder()
    for part, content in PARTS.items():
        put(f"da/newstest2015.{part}.cs-en.gz", gzip.compress(content.encode()))
    put("da/README", "")
    assert ng.read("da").groups == ("cs-en", "de-en", "ru-en")


def test_all_bad_ratings_are_counted(folder, put):
    with pytest.raises(ng.InputError, match=r"de-en:1: rating 'x', expected a number or None; 2 rows are bad: 1, 2$"):
        ng.read(folder({"human": "x\n?\n"}))
    rows = put("da.csv", "LP DATA SYSTEM SID HUMAN\nde-en n A 1 x\nde-en n A 2\nde-en n A 3 1\nde-en n A 3 1\n")
    with pytest.raises(ng.InputError, match=r"^da.csv:2: 'x', expected a number or None; 3 rows are bad: 2, 3, 5$"):
        read_da_scores(rows)


def test_a_rating_that_is_missing_is_counted(folder):
    data = ng.read(folder({"human": "None\n1\n"}))
    assert [dict(s.human) for s in data] == [{}, {"da_z": 1.0}]
    assert data.notes == ("da/newstest2015.human.de-en: 1 segment without a rating",)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"reference": "one\n"},
            "da/newstest2015.source.de-en has 2 lines but da/newstest2015.reference.de-en has 1; parallel files need",
        ),
        ({"human": "1\n2\n3\n"}, "da/newstest2015.source.de-en has 2 lines but da/newstest2015.human.de-en has 3"),
        ({"human": None}, "da: newstest2015.human.de-en is missing beside newstest2015.mt-system.de-en"),
        ({"human": "1\nx\n"}, "da/newstest2015.human.de-en:2: rating 'x', expected a number or None"),
    ],
)
def test_parts_that_do_not_fit_are_refused(folder, changes, says):
    with pytest.raises(ng.InputError) as error:
        ng.read(folder(changes))
    assert str(error.value).startswith(says)


def test_other_folders_are_refused(folder, put):
    folder()
    folder(prefix="newstest2017")
    with pytest.raises(
        ng.InputError, match=r"^da: de-en is there for newstest2015 and newstest2017, expected one test set per folder$"
    ):
        ng.read("da")
    put("empty/x", "")
    for format_, says in (
        (None, "empty is a folder, expected a file, or a folder with sources/"),
        ("wmt-da", "empty: no files SET.source.LP"),
    ):
        with pytest.raises(ng.InputError, match=f"^{says}"):
            ng.read("empty", format_)


CSV = "LP DATA SYSTEM SID HUMAN\ncs-en set uedin.1 12 0.5\ncs-en set A.1+B.2 12 -1.5\nde-en set uedin.1 12 NA\n"


def test_judgements_of_2017(put):
    table = read_da_scores(put("DA-seglevel.csv", CSV))
    assert [tuple(key)[1:] for key in table.keys] == [
        ("uedin.1", "12", "cs-en"),
        ("A.1", "12", "cs-en"),
        ("uedin.1", "12", "de-en"),
    ]
    assert np.nan_to_num(table.column("da"), nan=9).tolist() == [0.5, -1.5, 9]
    assert table.notes == (
        "DA-seglevel.csv: 1 rating of a text that several systems wrote, counted for the first of them",
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "a.csv is empty: no judgement in it"),
        ("LP SYSTEM\n", "a.csv:1: header 'LP SYSTEM', expected 'LP DATA SYSTEM SID HUMAN'"),
        (CSV + "cs-en set x 1\n", "a.csv:5: 4 words, expected 5"),
        (CSV + "cs-en set2 x 1 1\n", "a.csv:5: test set 'set2' after 'set', expected one per file"),
        (CSV + "cs-en set x 1 y\n", "a.csv:5: 'y', expected a number or None"),
        (CSV + "cs-en set x 0 1\n", "a.csv:5: '0', expected a whole number from 1"),
        (
            CSV + "cs-en set uedin.1 12 1\n",
            "a.csv:5: system 'uedin.1', item '12', group 'cs-en' was rated in line 2 already",
        ),
    ],
)
def test_bad_judgements_are_refused_by_line(put, content, says):
    with pytest.raises(ng.InputError) as error:
        read_da_scores(put("a.csv", content))
    assert str(error.value).startswith(says)


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
@pytest.mark.parametrize(
    ("name", "n", "n_pairs"),
    [("wmt15-da-seg", 2000, 4), pytest.param("wmt16-da-seg", 3360, 6, marks=pytest.mark.slow)],
)  # as the data's own pages say
def test_real_judgements_in_four_files(name, n, n_pairs, tmp_path):
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], name, "segments.jsonl.gz"))
    for lp in data.groups:
        own = [s for s in data if s.group == lp]
        columns = {
            "source": [s.source for s in own],
            "reference": [s.references[0] for s in own],
            "mt-system": [s.hypothesis for s in own],
            "human": [repr(s.human["da_z"]) for s in own],
        }
        for part, lines in columns.items():
            (tmp_path / f"set.{part}.{lp}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    back = ng.read(tmp_path)
    assert (len(back), len(back.groups)) == (n, n_pairs)
    assert [(s.group, s.hypothesis, s.source, s.references, s.human) for s in back] == [
        (s.group, s.hypothesis, s.source, s.references, s.human) for s in sorted(data, key=lambda s: s.group)
    ]


# --- Ratings of an ESA campaign in the form in which WMT24 published them

MINOR = '"[{""start_i"":8,""end_i"":11,""severity"":""minor""}]"'
MISSING = '"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""major"",""error_type"":null}]"'
ROWS = [
    f"engjpn7904,ende-tutorial2,1000006,TGT,eng,jpn,0,ende-tutorial2,False,{MINOR},1724108648.696,1724108648.696",
    "engjpn7904,NTTSU,688,TGT,eng,jpn,98,test-en-speech_-u_000,False,[],1724108687.807,1724108688.639",
    "engjpn7905,NTTSU,688,TGT,eng,jpn,90,test-en-speech_-u_000#incomplete,False,[],1724108687.807,1724108688.639",
    f"engjpn7904,Aya23,43,TGT,eng,jpn,77.5,doc,False,{MISSING},1724108687.807,1724108688.639",
    "engjpn7905,Aya23,43,BAD,eng,jpn,18,doc#bad,False,[],1724111006.824,1724111112.084",
    "engzho7902,Aya23,43,TGT,eng,zho,60,doc,False,[],1,2",
]


@pytest.fixture
def path(tmp_path):
    def write(*rows):
        (tmp_path / "wave.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        return tmp_path / "wave.csv"

    return write


def test_scores_and_spans_by_hand(path):
    assert is_esa(ROWS[0])
    assert not is_esa("system,seg,score")
    assert not is_esa("")
    table = read_esa_scores(path(*ROWS))
    assert table.keys == (
        Key(None, "NTTSU", "688", "en-ja"), Key(None, "Aya23", "43", "en-ja"), Key(None, "Aya23", "43", "en-zh")
    )  # fmt: skip
    assert table.column("esa").tolist() == [94.0, 77.5, 60.0]  # (98 + 90) / 2
    assert [[one for _, one in own] for own in table.ratings["esa"]] == [[98.0, 90.0], [77.5], [60.0]]
    assert table.column("esa_spans").tolist() == [0.0, -5.0, 0.0]
    assert [note.split(": ")[1] for note in table.notes] == [
        "1 row of the tutorial left out",
        "1 row with planted errors left out",
        "1 segment rated more than once, with the mean",
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROWS[1].replace(",98,", ",198,"), "wave.csv:1: score 198, expected 0 to 100"),
        (ROWS[1].replace(",98,", ",good,"), "wave.csv:1: score 'good', expected a number"),
        (ROWS[1].replace(",[],", ",x,"), "wave.csv:1: spans 'x', expected a JSON list"),
        (ROWS[0].replace("minor", "grave").replace("tutorial", "x"), "expected a JSON list of objects with a severity"),
        ("a,b\rc,d", "wave.csv:1: 1 cell, expected 12 with TGT or BAD as 4th"),
        (ROWS[1].replace("TGT", "TG\rT"), "wave.csv:1: 1 cell, expected 12"),
        ("a,b,c", "wave.csv:1: 3 cells, expected 12 with TGT or BAD as 4th"),
        (ROWS[0], "wave.csv: no rating in it"),
    ],
)
def test_bad_rows_are_named(path, row, message):
    with pytest.raises(InputError) as told:
        read_esa_scores(path(row))
    assert message in str(told.value)


HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def rows(*errors, header=HEADER):
    """Each error is (system, item, rater, category, severity); texts are made up from system and item."""
    lines = [
        f"{system}\tdoc\t{item}\t{item}\t{rater}\tin {item}\tout <v>{system}</v> {item}\t{category}\t{severity}"
        for system, item, rater, category, severity in errors
    ]
    return "\n".join([header, *lines]) + "\n"


def scores(put, *errors, **options):
    table = read_mqm(put("a.tsv", rows(*errors))).scores(**options)
    return {(key.system, key.item): value for key, value in zip(table.keys, table.column("mqm").tolist(), strict=True)}


def test_weights_worked_by_hand(put):
    # rater 1: 5 + 0.1, rater 2: 25, rater 3: none; -(5.1 + 25 + 0) / 3
    found = scores(
        put,
        ("A", "1", "r1", "Accuracy/Omission", "Major"),
        ("A", "1", "r1", "Fluency/Punctuation", "Minor"),
        ("A", "1", "r2", "Non-translation!", "Major"),
        ("A", "1", "r3", "No-error", "No-error"),
        ("B", "1", "r1", "Style/Awkward", "Neutral"),
    )
    assert found["A", "1"] == pytest.approx(-(5.1 + 25) / 3)
    assert found["B", "1"] == 0
    assert math.copysign(1, found["B", "1"]) == 1  # a perfect text has no minus before its 0


@pytest.mark.parametrize(
    ("category", "severity", "score"),
    [
        ("Fluency/Punctuation", "minor", -0.1),
        ("fluency/punctuation", "Minor", -0.1),
        ("Fluency/Punctuation/Comma", "Minor", -0.1),
        ("Fluency", "Minor", -1),
        ("Fluency/Punctuation", "Major", -5),
        ("Non-translation!", "major", -25),
        ("No-error", "no-error", 0),
    ],
)
def test_the_most_specific_weight_counts_and_case_does_not(put, category, severity, score):
    assert scores(put, ("A", "1", "r", category, severity)) == {("A", "1"): score}


def test_published_scores_of_rated_talks(put):
    # categories and severities of mqm_ted_ende.tsv, scores of mqm_ted_ende.avg_seg_scores.tsv,
    # google/wmt-mqm-human-evaluation at b957b78
    found = scores(
        put,
        ("Facebook-AI", "1", "rater1", "Terminology/Inappropriate for context", "Minor"),
        ("Facebook-AI", "2", "rater1", "No-error", "No-error"),
        ("Facebook-AI", "5", "rater1", "Style/Awkward", "Minor"),
        ("Facebook-AI", "5", "rater1", "Terminology/Inappropriate for context", "Minor"),
        ("HuaweiTSC", "1", "rater3", "Fluency/Register", "Major"),
    )
    assert found == {
        ("Facebook-AI", "1"): -1,
        ("Facebook-AI", "2"): 0,
        ("Facebook-AI", "5"): -2,
        ("HuaweiTSC", "1"): -5,
    }


def test_blank_lines_are_skipped_and_told(put):
    content = rows(("A", "1", "r", "Accuracy", "Major"))
    table = read_mqm(put("a.tsv", content + "\n" + content.split("\n")[1] + "\n\n")).scores()
    assert table.column().tolist() == [-10]
    assert table.notes == ("a.tsv: 2 blank lines skipped",)


def test_own_weights_and_single_raters(put):
    markings = read_mqm(
        put(
            "a.tsv",
            rows(
                ("A", "1", "r1", "Accuracy", "Major"),
                ("A", "1", "r2", "Accuracy", "Minor"),
                ("A", "2", "r2", "Accuracy", "Critical"),
            ),
        )
    )
    table = markings.scores({"Major": 10, "Minor": 1, "Critical": 25}, group="xx-yy")
    assert table.column("mqm").tolist() == [-5.5, -25]
    assert {key.group for key in table.keys} == {"xx-yy"}


def test_a_severity_without_a_weight_is_refused_by_line(put):
    markings = read_mqm(put("a.tsv", rows(("A", "1", "r", "Accuracy", "Minor"), ("A", "2", "r", "Accuracy", "Majr"))))
    with pytest.raises(
        ng.InputError,
        match=(
            r"^a\.tsv:3: severity 'Majr' has no weight; did you mean 'major'\?; give weights=\{\*\*WEIGHTS, 'Majr':"
            r" \.\.\.\} where it is meant$"
        ),
    ):
        markings.scores()


def test_names_of_columns_since_2023(put):
    header = HEADER.replace("doc_id", "docSegId").replace("seg_id", "globalSegId") + "\tmetadata"
    content = header + '\nA\td\t1\t7\tr\tin "word\tout\tAccuracy\tMajor\t{}\n'
    data = ng.read(put("a.tsv", content))
    rated = ng.Segment("A:7", "out", (), 'in "word', "A", "7", None, {"mqm": -5.0}, raters={"mqm": ("r",)})
    assert data.segments == (rated,)


@pytest.mark.parametrize("rest", ["", "\t"])  # an editor fills the row up to the header, or does not
def test_a_remark_at_the_end_of_the_header_is_no_column(put, rest):
    content = f"{HEADER}\t# Documentation: https://example.org\nA\td\t1\t7\tr\tin\tout\tAccuracy\tMajor{rest}\n"
    assert read_mqm(put("a.tsv", content)).scores().columns["mqm"].tolist() == [-5]


def test_planted_errors_are_not_the_systems(put):
    table = read_mqm(
        put("a.tsv", rows(("A", "1", "r", "Found", "HOTW-test"), ("A", "1", "r", "Accuracy", "Minor")))
    ).scores()
    assert table.column().tolist() == [-1]
    assert table.notes == ("a.tsv: 1 row of planted errors not counted",)


def test_rated_texts_become_segments(put):
    content = rows(
        ("A", "1", "r1", "Accuracy", "Major"),
        ("A", "1", "r1", "Accuracy", "Minor"),
        ("B", "1", "r1", "No-error", "No-error"),
    )
    for name, packed in (("a.tsv", content.encode()), ("b.tsv.gz", gzip.compress(content.encode()))):
        data = ng.read(put(name, packed))
        assert data.segments == (
            ng.Segment("A:1", "out A 1", (), "in 1", "A", "1", None, {"mqm": -6.0}, raters={"mqm": ("r1",)}),
            ng.Segment("B:1", "out B 1", (), "in 1", "B", "1", None, {"mqm": 0.0}, raters={"mqm": ("r1",)}),
        )
        assert data.notes == ()


def test_texts_that_differ_between_rows_are_counted(put):
    content = rows(("A", "1", "r1", "Accuracy", "Major")) + rows(("A", "1", "r2", "Accuracy", "Major")).split("\n", 1)[
        1
    ].replace("out", "aus")
    data = read_mqm(put("a.tsv", content)).dataset()
    assert [s.hypothesis for s in data] == ["out A 1"]
    assert data.segments[0].id == "A:1"
    assert data.notes == ("a.tsv: 1 row with another text than the first of the segment, which is kept",)


def test_one_number_for_two_places_is_refused(put):
    content = rows(("A", "1", "r", "Accuracy", "Major")) + "A\tdoc2\t1\t1\tr\tin\tout\tAccuracy\tMinor\n"
    put("a.tsv", content)
    with pytest.raises(
        ng.InputError,
        match=r"^a\.tsv:3: seg_id '1' is segment 1 of 'doc2', but segment 1 of 'doc' in line 2; without the column",
    ):
        read_mqm("a.tsv")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "a.tsv is empty, expected a header and one error per line"),
        (HEADER + "\n", "a.tsv is empty: no row in it, expected one error per line"),
        (
            HEADER.replace("rater", "judge") + "\n",
            "a.tsv:1: the header has no column 'rater'; columns found: 'system', 'doc'",
        ),
        (HEADER + "\nA\tB\n", "a.tsv:2: 2 cells, expected 9 as in the header"),
    ],
)
def test_bad_annotations_are_refused(put, content, says):
    with pytest.raises(ng.InputError) as error:
        read_mqm(put("a.tsv", content))
    assert str(error.value).startswith(says)


def test_published_averages_between_any_blanks(put):
    table = read_mqm_averages(put("a.tsv", "system mqm_avg_score seg_id\nA\t-5.666667 1\nA -0.000000 2\nB\tNone\t1\n"))
    assert [str(key) for key in table.keys] == [f"system '{s}', item '{i}'" for s, i in ("A1", "A2", "B1")]
    assert table.column("mqm").tolist()[:2] == [-5.666667, 0]
    assert np.isnan(table.column()).sum() == 1
    for content, says in (
        ("system score\n", "header 'system score', expected"),
        ("system mqm_avg_score seg_id\nA 1\n", "2 cells, expected 3"),
        ("seg_id system mqm_avg_score\n1 A x\n", "score 'x', expected"),
    ):
        with pytest.raises(ng.InputError, match=says):
            read_mqm_averages(put("b.tsv", content))


marks = st.tuples(
    st.sampled_from("AB"),
    st.sampled_from("12"),
    st.sampled_from(["r1", "r2"]),
    st.just("Accuracy"),
    st.sampled_from(["Major", "Minor", "Neutral"]),
)


@given(errors=st.lists(marks, min_size=1, max_size=12), data=st.data())
def test_the_order_of_rows_changes_no_score(errors, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "marks.tsv"

    def read(order):
        path.write_text(rows(*order), encoding="utf-8")
        table = read_mqm(path).scores()
        # whole weights: sums are exact in any order
        return {(key.system, key.item): value for key, value in zip(table.keys, table.column().tolist(), strict=True)}

    assert read(errors) == read(data.draw(st.permutations(errors)))
