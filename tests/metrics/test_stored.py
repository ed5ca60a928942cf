"""Scores of a file as a metric: joined by id, signed by the file's digest, used like any other."""

import hashlib

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.io.scores import write_beside
from nlgauge.metrics.stored import Stored
from nlgauge.runtime.runtime import Runtime

SEGMENTS = tuple(Segment(i, f"text {i}", ("reference",), system="s", item=i) for i in "abc")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("id\tcomet\terrors\nc\t0.3\t1\na\t0.1\t3\nb\t0.2\t2\n")
    return path


def values(spec):
    return ng.metric(spec).score(SEGMENTS, Runtime()).values


def test_a_column_is_joined_by_id_whatever_its_order(file):
    np.testing.assert_array_equal(values(f'scores:file="{file}",column=comet'), [0.1, 0.2, 0.3])


def test_the_column_may_be_left_out_where_there_is_one(file):
    file.write_text("id\tm\na\t1\nb\t2\nc\t3\n")
    np.testing.assert_array_equal(values(f'scores:file="{file}"'), [1, 2, 3])


def test_several_columns_need_a_name(file):
    with pytest.raises(InputError, match="2 columns of scores"):
        values(f'scores:file="{file}"')


def test_what_the_file_lacks_is_nan_and_counted(file):
    file.write_text("id\tm\na\t1\nb\t\n")
    scores = Stored(file=str(file)).score(SEGMENTS, Runtime())
    np.testing.assert_array_equal(scores.values, [1, np.nan, np.nan])
    assert scores.n_undefined == 2


def test_a_file_about_other_segments_is_refused(file):
    file.write_text("id\tm\nx\t1\n")
    with pytest.raises(
        InputError,
        match=r"no row of .*x.tsv fits any of 3 segments: its first is about segment 'x', the first segment is 'a'",
    ):
        Stored(file=str(file)).score(SEGMENTS, Runtime())


def test_the_digest_is_that_of_the_numbers_that_are_kept(file):
    metric = Stored(file=str(file), column="comet")
    before = metric.score(SEGMENTS, Runtime())
    file.write_text("id\tcomet\na\t7\nb\t8\nc\t9\n")
    again = metric.score(SEGMENTS, Runtime())
    assert again.values.tolist() == before.values.tolist()
    assert str(again.signature) == str(before.signature)  # it was that of the new file
    assert Stored(file=str(file), column="comet").score(SEGMENTS, Runtime()).values.tolist() == [7, 8, 9]


def test_an_error_rate_says_so(file):
    metric = ng.metric(f'scores:file="{file}",column=errors,higher_is_better=false')
    assert not metric.info.higher_is_better
    assert not metric.score(SEGMENTS, Runtime()).higher_is_better
    assert Stored.info.higher_is_better  # of the others


def test_the_signature_holds_the_digest_and_rebuilds_the_metric(file):
    metric = Stored(file=str(file), column="comet")
    signature = signature_of(metric, Runtime())
    assert hashlib.sha256(file.read_bytes()).hexdigest()[:16] in str(signature)
    assert ng.metric(signature.spec) == metric


def test_the_signature_is_one_however_the_path_is_written(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    spellings = (str(file), "x.tsv", "./x.tsv", f"../{file.parent.name}/x.tsv")
    signatures = {str(signature_of(Stored(file=name, column="comet"), Runtime())) for name in spellings}
    assert len(signatures) == 1
    assert "|file:x.tsv|" in signatures.pop()


def test_it_adds_up_with_other_metrics(file):
    found = ng.score(
        ng.Dataset(SEGMENTS),
        metrics=[f'1*scores:file="{file}",column=comet + 1*scores:file="{file}",column=errors[norm=none]'],
    )
    np.testing.assert_allclose(next(iter(found.values())).values, [3.1, 2.2, 1.3])


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("scores", SpecError, "scores needs the option 'file'"),
        ('scores:file="nowhere.tsv"', InputError, "nowhere.tsv"),
        ('scores:file="x.tsv",higher_is_better=maybe', SpecError, "expected true or false"),
        ('scores:file="x.tsv",colunm=m', SpecError, "no option 'colunm'; did you mean 'column'"),
    ],
)
def test_what_cannot_be_read_is_refused(spec, error, message):
    with pytest.raises(error, match=message):
        values(spec)


def test_a_missing_column_is_refused_with_those_there_are(file):
    with pytest.raises(InputError, match=r"no column 'commet'.*'comet'"):
        values(f'scores:file="{file}",column=commet')


def test_no_name_is_no_file():
    with pytest.raises(SpecError, match="expected the name of a file"):
        Stored(file="")


def test_the_direction_is_what_stands_beside_the_file(file):
    write_beside(file, [{"spec": "comet", "signature": "x", "higher_is_better": False}])
    metric = Stored(file=str(file), column="comet")
    assert not metric.info.higher_is_better
    assert not metric.score(SEGMENTS, Runtime()).higher_is_better
    assert "|higher_is_better:false|" in str(signature_of(metric, Runtime()))
    assert metric.notes == ()
    assert Stored(file=str(file), column="comet", higher_is_better=True).info.higher_is_better


def test_without_that_the_name_decides_or_it_rises_and_both_are_said(file):
    file.write_text("id\twer\tmine\na\t0.5\t1\n")
    assert Stored(file=str(file), column="wer").notes == (
        "taken to fall with quality, as the name says; higher_is_better=true if it rises",
    )
    assert Stored(file=str(file), column="mine").notes == (
        "taken to rise with quality; higher_is_better=false if it falls",
    )
    spec = f'1*scores:file="{file}",column=mine[norm=none]'
    assert (
        ng.metric(spec).notes[0].endswith("column=mine: taken to rise with quality; higher_is_better=false if it falls")
    )
