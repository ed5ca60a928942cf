from __future__ import annotations

import json
import os

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.segments import TableSource
from nlgauge.io.spans import Inputs, cut, stamp
from nlgauge.metrics.registry import named
from nlgauge.metrics.scoring.job import ComparisonOptions
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


def test_texts_of_another_source_are_another_segment(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [{"id": str(i), "hyp": "h", "refs": ["r"], "src": src} for i, src in enumerate("aba")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = plan_of(path)
    assert (plan.distinct, plan.texts) == (2, 4)  # a and b with the same texts; h, r, a, b


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
    without = make_plan(Inputs(str(data), exclude=("s",)), named(["chrf"]), Runtime(), rows=4)
    whole = plan_of(data)
    assert [part.span for part in without.parts] == [part.span for part in whole.parts]  # the same rows are read
    assert names.isdisjoint(part.name for part in without.parts)
    renamed = make_plan(Inputs(str(data), columns={"src": "system"}), named(["chrf"]), Runtime(), rows=4)
    assert names.isdisjoint(part.name for part in renamed.parts)
    half = make_plan(Inputs(str(data)), named(["chrf"]), Runtime(dtype="float16"), rows=4)
    assert names.isdisjoint(part.name for part in half.parts)
    data.write_text(data.read_text().replace("h 4", "g 4"))
    assert names.isdisjoint(part.name for part in plan_of(data).parts)


def test_texts_in_other_roles_and_metrics_in_another_order_are_other_runs(data, tmp_path):
    """Rows name systems after their files, and the statistics of a part are kept in the order of the metrics."""
    for name in ("one", "two", "three", "renamed"):
        (tmp_path / name).write_text("two\n" if name == "renamed" else f"{name}\n")
    one, two, three, renamed = (str(tmp_path / name) for name in ("one", "two", "three", "renamed"))
    inputs = [
        Inputs(hypotheses=(one,), references=(two, three)),
        Inputs(hypotheses=(one, two), references=(three,)),
        Inputs(hypotheses=(one, renamed), references=(three,)),
        Inputs(hypotheses=(one,), references=(two,), source=three),
    ]
    plans = [make_plan(one, named(["chrf"]), Runtime(), rows=100) for one in inputs]
    plans += [
        make_plan(Inputs(str(data)), named(metrics), Runtime(), rows=99) for metrics in (["chrf", "ter"], ["ter"])
    ]
    plans += [make_plan(Inputs(str(data)), named(["ter", "chrf"]), Runtime(), rows=99)]
    assert len({plan.parts[0].digest for plan in plans}) == len(plans)


def test_what_is_odd_about_texts_stands_in_the_plan(data):
    odd = data.read_text().replace('"h 1"', '"the road is closed"')
    data.write_text(odd.replace('"refs"', '"src": "the road is closed", "refs"'))
    assert any("a hypothesis that is its source" in note for note in plan_of(data).summary.notes)


def test_a_pooled_metric_that_does_not_say_how_parts_are_merged_is_refused(data, monkeypatch):
    monkeypatch.delattr("nlgauge.metrics.lexical.ngrams.cider.Cider.rounds")
    for spec in ("cider", "0.5*cider + 0.5*chrf"):
        with pytest.raises(InputError, match=r"cider.* depends on all segments at once, and does not say how"):
            plan_of(data, spec)


def test_a_field_that_is_lacking_is_refused_before_anything_is_scored(data):
    with pytest.raises(InputError, match="summac needs source; segment 'i0' has none"):
        plan_of(data, "summac")


def test_texts_that_change_while_the_plan_is_made_are_refused(tmp_path, monkeypatch):
    paths = [tmp_path / "hyp", tmp_path / "ref"]

    def late(inputs, rows):
        spans = cut(inputs, rows)
        for path in paths:
            path.write_text("one\ntwo\n")
        return spans

    for path in paths:
        path.write_text("one\n")
    monkeypatch.setattr("nlgauge.scale.plan.cut", late)
    inputs = Inputs(hypotheses=(str(paths[0]),), references=(str(paths[1]),))
    with pytest.raises(InputError, match="hyp changed while it was being read; run again when it is complete"):
        make_plan(inputs, named(["chrf"]), Runtime(), rows=4)


def test_a_file_of_the_hub_is_known_by_its_commit_on_every_machine(data, monkeypatch):
    """Caches have other times of change."""
    path = "hf://datasets/o/n@0123456789012345678901234567890123456789/data.jsonl"
    monkeypatch.setattr("nlgauge.io.spans.fetched", lambda typed: (path, str(data)))
    before = stamp(path)
    os.utime(data, (1, 1))
    assert stamp(path) == before == (data.stat().st_size, 0)


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


def test_a_file_is_no_folder_of_a_run(data):
    with pytest.raises(InputError, match=r"data\.jsonl holds no plan\.json"):
        read_plan(data)


def test_a_folder_without_a_plan(tmp_path):
    with pytest.raises(InputError, match=r"holds no plan\.json"):
        read_plan(tmp_path)


def test_systems_that_cannot_be_compared_are_refused_before_anything_is_scored(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [{"system": s, "seg": i, "hyp": "h", "ref": "h"} for s, items in (("A", "12"), ("B", "13")) for i in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = Inputs(str(path)), named(["chrf"]), Runtime()
    assert make_plan(*asked, rows=4, comparison=ComparisonOptions(intervals=True)).summary.n == 4
    with pytest.raises(InputError, match="system 'B' lacks item '2', which 'A' has"):
        make_plan(*asked, rows=4, comparison=ComparisonOptions(test="bootstrap"))
    with pytest.raises(InputError, match="baseline 'C' is not among the systems"):
        make_plan(*asked, rows=4, comparison=ComparisonOptions(test="bootstrap", baseline="C"))
