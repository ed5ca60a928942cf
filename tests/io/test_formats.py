from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.io import preferences, scores, summeval
from nlgauge.io.formats import FORMATS, TABLES
from nlgauge.io.held import HeldSource
from nlgauge.io.read import _FOLDERS, _ROWS, open_data
from nlgauge.io.wmt import da, mqm
from nlgauge.io.wmt import submissions as wmt


def test_every_format_has_a_reader():
    assert set(FORMATS) == {*_ROWS, *_FOLDERS, "mqm"}
    for name, description in TABLES.items():
        readers = description.partition(":")[0].split(", ")
        assert any(
            hasattr(module, reader) for module in (da, mqm, preferences, scores, summeval, wmt) for reader in readers
        ), name


def test_a_format_may_be_named_whatever_the_file_is_called(put):
    row = {"id": "d", "model_id": "M", "decoded": "t", "expert_annotations": [{"fluency": 1}]}
    put("data.txt", json.dumps(row) + "\n")
    assert ng.read("data.txt", format="summeval").segments[0].human == {"fluency": [1.0]}
    put("table.txt", "hyp\tref\nx\ty\n")
    assert ng.read("table.txt", format="tsv").segments[0].references == ("y",)
    assert ng.read("table.txt", format="tsv", columns={"ref": "src"}).segments[0].source == "y"


def test_our_own_names_win_over_a_likeness(put):
    put("a.jsonl", '{"hyp": "x", "decoded": "y", "model_id": "M"}\n')
    assert ng.read("a.jsonl").segments[0].hypothesis == "x"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"format": "jsnol"}, "unknown format 'jsnol'; did you mean 'jsonl'?"),
        ({"format": "wmt17-da"}, "format 'wmt17-da' holds no texts; read it with read_da_scores"),
        (
            {"format": "mqm", "columns": {"a": "hyp"}},
            "columns are named for JSON, CSV, TSV and Parquet, the format of a.jsonl is 'mqm'",
        ),
        ({"format": "mtme"}, "a.jsonl: no sources/SRC-TGT.txt in it"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(put, options, says):
    put("a.jsonl", '{"hyp": "x"}\n')
    with pytest.raises(ng.InputError) as error:
        ng.read("a.jsonl", **options)
    assert str(error.value).startswith(says)


def test_annotations_on_standard_input(put, feed):
    put("other", "")
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    feed(header + "A\td\t1\t1\tr\tin\tout\tAccuracy\tMajor\n")
    source = open_data("-", format="mqm")
    assert source.data.segments[0].human == {"mqm": -5.0}
    assert [entry["path"] for entry in source.check().inputs] == ["-"]


def test_no_segment_is_refused():
    with pytest.raises(ng.InputError, match=r"^d is empty: no segment in it, expected at least one$"):
        HeldSource(ng.Dataset((), "d"), [])


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
@pytest.mark.parametrize(
    ("name", "n", "n_systems", "n_items", "criteria"),
    [
        # counts as the data's own pages give them
        ("wmt15-da-seg/segments", 2000, 1, 2000, {"da_z"}),
        ("wmt16-da-seg/segments_from_en", 560, 1, 560, {"da_z"}),
        ("bagel/segments", 404, 1, 202, {"informativeness", "naturalness", "quality"}),
        ("sfhot/segments", 875, 1, 398, {"informativeness", "naturalness", "quality"}),
        ("rank19/segments", 746, 2, 373, {"fact"}),
        ("qags-cnn/segments", 235, 1, 235, {"fact"}),
        (
            "webnlg2020-humaneval/segments",
            2847,
            16,
            178,
            {"Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure"},
        ),
        ("answerability-qg/segments", 2734, 1, 2734, {"answerability", "rater1", "rater2"}),
        ("coco-val-refs/segments", 1945, 1, 1945, set()),
        ("comet-samples/segments", 400, 1, 400, {"da_z"}),
        ("comet-samples/segments_mqm", 198, 1, 198, {"score"}),
        ("comet-samples/segments_rank", 129, 1, None, set()),
    ],
)
def test_real_data(name, n, n_systems, n_items, criteria):
    summary = open_data(Path(os.environ["NLGAUGE_DATA"], f"{name}.jsonl.gz")).check()
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], f"{name}.jsonl.gz"))
    assert (len(data), len(data.systems), set(summary.criteria)) == (n, n_systems, criteria)
    assert n_items is None or len(data.items) == n_items
