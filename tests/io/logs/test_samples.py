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


def test_a_number_and_a_text_of_the_same_digits_are_two_items(log):
    for item, said in ((1, "a"), ("1", "b"), (2, "c")):
        log.add(Sample(item=item, hypothesis=said, repeat=1))
    data = log.source().data
    assert [(s.item, s.hypothesis) for s in data] == [("1", "a"), ('"1"', "b"), ("2", "c")]
    assert data.notes == (
        "a.json: 1 items have a number that is also the name of another item, which stands in quotes",
    )


def test_of_scores_with_one_name_none_is_lost(log):
    log.add(Sample(item="1", hypothesis="a", scores=log.scores([("m", 1.0), ("n", 2.0), ("m", 0.0)])))
    data = log.source().data
    assert data.segments[0].human == {"m": 1.0, "n": 2.0, "m#2": 0.0}
    assert data.notes == ("a.json: several scores are called 'm'; the second is 'm#2', and so on",)


def test_answers_of_two_rows_about_one_item_are_all_runs(log):
    for said in ("a", "b", "c", "d"):  # two rows with two answers each
        log.add(Sample(item="1", hypothesis=said))
    assert [s.id for s in log.source().data] == ["1", "1#2", "1#3", "1#4"]
