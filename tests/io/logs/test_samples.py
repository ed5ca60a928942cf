from __future__ import annotations

import math

import pytest

import nlgauge as ng
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample


@pytest.fixture
def log(put):
    return Log(InputFile(put("a.json", "{}")))


def test_groups_are_part_of_ids_where_there_are_several(log):
    log.add(Sample(item="1", hypothesis="a", group="x"))
    log.add(Sample(item="1", hypothesis="b", group="y", system="s"))
    assert [s.id for s in log.source().data] == ["x:1", "y:s:1"]


def test_a_score_that_some_samples_lack_is_undefined_there(log):
    log.add(Sample(item="1", hypothesis="a", scores={"m": 1.0, "n": math.nan}))
    log.add(Sample(item="2", hypothesis="a", scores={}))
    data = log.source(["read"]).data
    assert data.notes == ("a.json: read", "a.json: 1 of 2 scores 'm' undefined", "a.json: 2 of 2 scores 'n' undefined")


def test_an_empty_reference_is_none(log):
    log.add(Sample(item="1", hypothesis="a", references=("",)))
    log.add(Sample(item="2", hypothesis="a", references=("", "b", " ")))
    data = log.source().data
    assert [s.references for s in data] == [(), ("b",)]
    with pytest.raises(ng.InputError, match="needs references; segment '1' has none"):
        ng.score(data, metrics="chrf")


def test_a_log_of_failures_is_refused(log):
    log.add(Sample(item="1", hypothesis=None))
    with pytest.raises(ng.InputError, match=r"^a.json: all 1 sample failed"):
        log.source()
