"""Every format is described whole: what reads it, how it is told, and an example that is read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nlgauge.io import read as reading
from nlgauge.io.fields import NAMES, Fields
from nlgauge.io.files import InputFile, Limits
from nlgauge.io.formats import FORMATS, OURS, named, reader_by_header
from nlgauge.io.wmt.annotations import NEEDS

BY_PROGRAMS = {"Parquet", "lighteval"}  # no text shows such a file


@pytest.mark.parametrize("title", FORMATS)
def test_a_format_has_one_reader_with_a_docstring(title):
    one = FORMATS[title]
    assert one.about
    assert one.use
    assert sum(map(bool, (one.rows, one.held, one.reads))) <= 1
    assert named(one.documented).__doc__
    assert not one.folder or callable(named(one.folder))
    assert not one.of or (one.marks and OURS[one.of].extensions)
    if one.rows or one.held:
        assert one.name
        assert one.extensions or one.of or one.folder


def test_no_name_is_given_twice():
    names = [one.name for one in FORMATS.values() if one.name]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("title", [title for title, one in FORMATS.items() if one.rows or one.held or one.reads])
def test_the_example_of_a_format_is_told_and_read(title, tmp_path):
    one = FORMATS[title]
    assert bool(one.example) is not (title in BY_PROGRAMS)
    for name, content in one.example.items():
        path = Path(tmp_path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    place = tmp_path if one.folder else tmp_path / next(iter(one.example), "")
    if one.reads:
        assert named(one.reads)(place)
    elif one.example:
        told = reading.format_of_folder(place) if one.folder else reading._format_of(InputFile(place))
        assert told == one.name
        assert len(reading.read(place))


def test_the_marks_of_mqm_are_what_its_reader_needs():
    old, new = ({*mark.split()} for mark in OURS["mqm"].marks)
    assert old == set(NEEDS)
    assert new == set(NEEDS) - {"doc_id"} | {"docSegId"}


def test_tables_without_segments_are_told_by_their_header():
    assert reader_by_header("lp data system sid human") == "wmt.annotations:read_da_scores"
    assert reader_by_header("seg_id system mqm_avg_score") == "wmt.annotations:read_mqm_averages"
    assert reader_by_header("id score") == reader_by_header("") == ""


def test_the_fields_of_a_row_are_all_told():
    listed = Fields.__doc__.partition("Whole numbers")[0]
    assert [name for name in NAMES if f"`{name}`" not in listed] == []


def test_every_limit_is_told():
    listed = Limits.__doc__.partition("Attributes:")[2]
    assert [name for name in dataclasses.asdict(Limits()) if f"\n        {name}: " not in listed] == []
