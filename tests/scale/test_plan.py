from __future__ import annotations

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.source import TableSource
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.plan import PLAN, make_plan, read_plan

ROWS = [{"id": f"i{i}", "system": None if i % 2 else "s", "hyp": f"h {i // 2}", "refs": ["h"]} for i in range(10)]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def plan_of(data, metric="chrf", rows=4):
    return make_plan(Inputs(str(data)), named([metric]), Runtime(), rows=rows)


def test_a_plan_counts_rows_parts_and_distinct_segments(data):
    plan = plan_of(data)
    assert [part.span.rows for part in plan.parts] == [4, 4, 2]
    assert (plan.summary.n, plan.distinct) == (10, 5)
    assert plan.summary.systems == {"s": 5, None: 5}


def test_rows_of_a_table_are_read_once(data, monkeypatch):
    monkeypatch.delattr(TableSource, "blocks")  # which checks first, and then reads again
    assert plan_of(data).summary.n == 10


def test_a_plan_comes_back_from_its_file(data, tmp_path):
    plan = plan_of(data)
    plan.write(tmp_path)
    again = read_plan(tmp_path)
    assert again.parts == plan.parts
    assert again.summary.systems == plan.summary.systems
    assert (again.signatures, again.stamps, again.inputs) == (plan.signatures, plan.stamps, plan.inputs)


def test_parts_take_other_names_with_other_metrics_texts_and_sizes(data):
    names = {part.name for part in plan_of(data).parts}
    assert {part.name for part in plan_of(data).parts} == names
    assert names.isdisjoint(part.name for part in plan_of(data, "chrf:word_order=2").parts)
    assert names.isdisjoint(part.name for part in plan_of(data, rows=5).parts)
    data.write_text(data.read_text().replace("h 4", "g 4"))
    assert names.isdisjoint(part.name for part in plan_of(data).parts)


def test_what_is_odd_about_texts_stands_in_the_plan(data):
    data.write_text(data.read_text().replace('"refs"', '"src": "h 1", "refs"'))
    assert any("a hypothesis that is its source" in note for note in plan_of(data).summary.notes)


def test_a_pooled_metric_that_does_not_say_how_parts_are_merged_is_refused(data, monkeypatch):
    monkeypatch.delattr("nlgauge.metrics.lexical.ngrams.cider.Cider.rounds")
    for spec in ("cider", "0.5*cider + 0.5*chrf"):
        with pytest.raises(InputError, match=r"cider.* depends on all segments at once, and does not say how"):
            plan_of(data, spec)


def test_a_field_that_is_lacking_is_refused_before_anything_is_scored(data):
    with pytest.raises(InputError, match="summac needs source; segment 'i0' has none"):
        plan_of(data, "summac")


def test_a_file_that_changed_is_refused(data):
    plan = plan_of(data)
    plan.check_unchanged()
    data.write_text(data.read_text() + "\n")
    with pytest.raises(InputError, match="is not what it was when the plan was made"):
        plan.check_unchanged()


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"summary": {"systems": 3}}'])
def test_another_file_is_no_plan(tmp_path, content):
    (tmp_path / PLAN).write_bytes(content)
    with pytest.raises(InputError, match="is no plan"):
        read_plan(tmp_path)


def test_a_folder_without_a_plan(tmp_path):
    with pytest.raises(InputError, match=r"holds no plan\.json"):
        read_plan(tmp_path)
