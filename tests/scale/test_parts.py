from __future__ import annotations

import json

import pytest

from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.parts import Scorer, rows_path, sums_of, sums_path
from nlgauge.scale.plan import ROWS, STATS, SUMS, make_plan

parquet = pytest.importorskip("pyarrow.parquet")


def test_a_part_is_its_rows_and_their_sums(tmp_path):
    """Five words of which three are right: per is 0.4; an identical text: 0."""
    rows = [
        {"id": "a", "system": "s", "hyp": "one two three four five", "refs": ["one two three x y"]},
        {"id": "b", "system": "s", "hyp": "one", "refs": ["one"]},
        {"id": "c", "system": "t", "hyp": "two", "refs": ["two"]},
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["wer"]), Runtime(), rows=2)
    for inside in (ROWS, STATS, SUMS):
        (tmp_path / inside).mkdir()
    first = plan.parts[0]
    assert sums_of(tmp_path, first) is None
    assert Scorer(plan, tmp_path).score(first) == 2
    table = parquet.read_table(rows_path(tmp_path, first)).to_pydict()
    assert (table["id"], table["wer"]) == (["a", "b"], [pytest.approx(0.4), 0.0])
    sums = sums_of(tmp_path, first)
    assert sums.n == 2
    group, system, totals, n, n_undefined = sums.metrics["wer"].cells[0]
    assert (group, system, n, n_undefined) == (None, "s", 2, 0)
    assert totals[0] / totals[1] == pytest.approx(2 / 6)  # two edits in six words of references
    assert sums_path(tmp_path, first).name == f"part-000000-{first.digest}.json"
