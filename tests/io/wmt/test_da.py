from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.io.read import open_data
from nlgauge.io.wmt.da import read_da_scores, read_da_segments

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


def test_language_pairs_are_sorted_or_chosen_and_may_be_packed(folder, put):
    folder(lp="ru-en")
    folder()
    for part, content in PARTS.items():
        put(f"da/newstest2015.{part}.cs-en.gz", gzip.compress(content.encode()))
    put("da/README", "")
    assert read_da_segments("da").groups == ("cs-en", "de-en", "ru-en")
    assert read_da_segments("da", ["ru-en"], criterion="da").segments[0].human == {"da": 0.25}
    with pytest.raises(ng.InputError, match=r"^da: no language pair 'fi-en'; did you mean"):
        read_da_segments("da", ["fi-en"])


def test_all_bad_ratings_are_counted(folder, put):
    with pytest.raises(ng.InputError, match=r"de-en:1: rating 'x', expected a number or None; 2 rows are bad: 1, 2$"):
        read_da_segments(folder({"human": "x\n?\n"}))
    rows = put("da.csv", "LP DATA SYSTEM SID HUMAN\nde-en n A 1 x\nde-en n A 2\nde-en n A 3 1\nde-en n A 3 1\n")
    with pytest.raises(ng.InputError, match=r"^da.csv:2: 'x', expected a number or None; 3 rows are bad: 2, 3, 5$"):
        read_da_scores(rows)


def test_a_rating_that_is_missing_is_counted(folder):
    data = read_da_segments(folder({"human": "None\n1\n"}))
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
        read_da_segments(folder(changes))
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


def test_a_joint_rating_may_count_for_each_and_names_may_be_mended(put):
    table = read_da_scores(put("a.csv", CSV), joined="each", renames={"A.1": "a", "uedin.1": "UEdin.1"})
    assert [key.system for key in table.keys] == ["UEdin.1", "a", "B.2", "UEdin.1"]
    assert table.column().tolist()[:3] == [0.5, -1.5, -1.5]


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
    ("name", "n", "n_pairs"), [("wmt15-da-seg", 2000, 4), ("wmt16-da-seg", 3360, 6)]
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
